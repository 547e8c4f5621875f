"""The programs of the page for phones and hospitals, as a reader runs them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from pages import DOCS, needs_docs, programs, saved

pytestmark = needs_docs
PAGE = DOCS / "guides.md"


def printed(name: str, folder: Path) -> list[float]:
    """Return the numbers at the ends of the lines that a program prints."""
    assert list(programs(PAGE)) == ["phones.py", "hospitals.py"]
    (program,) = (path for path in saved(PAGE, folder) if path.name == name)
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return [float(number) for number in re.findall(r": ([0-9.]+)$", done.stdout, re.MULTILINE)]


def test_phones_send_one_report_for_life(tmp_path: Path) -> None:
    reports, epsilon, right = printed("phones.py", tmp_path)
    assert (reports, epsilon) == (1, 4)
    assert right > 0.85


def test_hospitals_protect_a_record(tmp_path: Path) -> None:
    epsilon, right = printed("hospitals.py", tmp_path)
    assert 1.5 < epsilon <= 2
    assert right > 0.85
