"""The two programs in Go: the package's helper, and the hushgrad command of a package beside it."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hushgrad_command
import pytest

import hushgrad
from hushgrad import HelperFailed, _bridge, _programs

PT_DYNAMIC, PT_INTERP = 2, 3  # of ELF


def run(*command: object) -> subprocess.CompletedProcess[str]:
    """Run a program."""
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=60
    )


def installed() -> Path:
    """Return the console script that pip has made."""
    suffix = ".exe" if sys.platform == "win32" else ""
    return Path(sys.executable).parent / f"hushgrad{suffix}"


@pytest.mark.parametrize("how", [[installed()], [sys.executable, "-m", "hushgrad_command"]])
def test_the_command_has_the_version_of_the_package(how: list[object]) -> None:
    version, usage, wrong = run(*how, "version"), run(*how, "--help"), run(*how, "unheard")
    assert version.returncode == 0
    assert version.stdout.splitlines()[0] == f"hushgrad {hushgrad.__version__}"
    assert usage.returncode == 0
    assert "run the gRPC parameter server" in usage.stdout
    assert wrong.returncode != 0
    assert "unheard" in wrong.stderr


def test_the_command_describes_a_round() -> None:
    given = ("--mechanism", "collision", "--dim", 10, "--epsilon", 4, "--param", "sparsity=2")
    described = run(installed(), "round", *given)
    assert described.returncode == 0, described.stderr
    assert '"collision"' in described.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="the system cannot replace a process")
def test_the_command_replaces_python(monkeypatch: pytest.MonkeyPatch) -> None:
    became: list[tuple[str, list[str]]] = []

    def become(path: str, arguments: list[str]) -> None:
        became.append((path, arguments))
        raise SystemExit(0)

    monkeypatch.setattr(os, "execv", become)
    monkeypatch.setattr(sys, "argv", ["hushgrad", "account", "-h"])
    with pytest.raises(SystemExit):
        hushgrad_command.main()
    ((path, arguments),) = became
    assert path == str(_programs.command())
    assert arguments == [path, "account", "-h"]


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_programs, "__file__", str(tmp_path / "_programs.py"))
    with pytest.raises(HelperFailed, match="hushgrad-bridge"):
        _bridge.Helper()
    monkeypatch.setattr(hushgrad_command, "__file__", str(tmp_path / "__init__.py"))
    with pytest.raises(FileNotFoundError, match="install the package"):
        hushgrad_command.main()
    monkeypatch.setitem(sys.modules, "hushgrad_command", None)
    with pytest.raises(HelperFailed, match="pip install hushgrad-command"):
        _programs.command()


def segments(program: Path) -> Iterator[int]:
    """Return the types of the segments of a program for 64-bit Linux."""
    data = program.read_bytes()
    assert data[:6] == b"\x7fELF\x02\x01"  # 64 bits, little-endian
    (start,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    assert count > 0
    for i in range(count):
        yield struct.unpack_from("<I", data, start + i * size)[0]


@pytest.mark.skipif(sys.platform != "linux", reason="reads ELF")
@pytest.mark.parametrize("program", [_programs.helper, _programs.command])
def test_the_programs_need_no_c_library(program: Callable[[], Path]) -> None:
    kinds = set(segments(program()))
    assert not kinds & {PT_DYNAMIC, PT_INTERP}
    # The check sees what a program for glibc has.
    assert kinds | {PT_DYNAMIC, PT_INTERP} <= set(segments(Path(sys.executable).resolve())) | kinds
