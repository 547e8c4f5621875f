"""The hushgrad command: serves, shuffles, encodes, plans and accounts.

Use it on servers, and wherever ``hushgrad help`` is typed. Start with ``hushgrad help``, or with
:func:`path` in a program that starts the command itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

__all__ = ["main", "path"]


def path() -> Path:
    """Return the program, which is written in Go.

    Raises
    ------
    FileNotFoundError
        If the package was not installed.
    """
    suffix = ".exe" if sys.platform == "win32" else ""
    found = Path(__file__).resolve().parent / "_bin" / f"hushgrad{suffix}"
    if not found.is_file():
        raise FileNotFoundError(f"there is no program {found}: install the package with pip")
    return found


def main() -> NoReturn:
    """Become the command, or run it where the system cannot replace a process."""
    arguments = [str(path()), *sys.argv[1:]]
    if sys.platform == "win32":
        sys.exit(subprocess.run(arguments).returncode)
    os.execv(arguments[0], arguments)
