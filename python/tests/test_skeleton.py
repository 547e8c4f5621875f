"""The project that ``hushgrad new --lang python`` writes."""

import subprocess
import sys
from pathlib import Path

from test_programs import installed


def run(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program, and return it with what it printed."""
    return subprocess.run(
        [str(w) for w in words], cwd=cwd, capture_output=True, text=True, timeout=120, check=False
    )


def test_the_project_in_python_runs(tmp_path: Path) -> None:
    project = tmp_path / "mymodel"
    written = run(installed(), "new", "--lang", "python", "--venv=false", project)
    assert written.returncode == 0, written.stderr
    trained = run(sys.executable, "train.py", "--clients", 20_000, cwd=project)
    assert trained.returncode == 0, trained.stderr
    assert "round  1   1250 reports" in trained.stdout
    assert "against everybody, the server included" in trained.stdout
    own = run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=project)
    assert own.returncode == 0, own.stdout
    assert " passed" in own.stdout
