"""The programs of the package, which are written in Go: the helper and the hushgrad command."""

from __future__ import annotations

import sys
from pathlib import Path

from .errors import HelperFailed


def program(name: str) -> Path:
    """Return a program of the package.

    Raises
    ------
    HelperFailed
        If the package was not installed.
    """
    suffix = ".exe" if sys.platform == "win32" else ""
    path = Path(__file__).resolve().parent / "_bin" / f"{name}{suffix}"
    if not path.is_file():
        raise HelperFailed(f"there is no program {path}: install the package with pip")
    return path
