"""The programs that the package starts, which are written in Go: the helper and the command."""

from __future__ import annotations

import sys
from pathlib import Path

from .errors import HelperFailed


def helper() -> Path:
    """Return the helper.

    Raises
    ------
    HelperFailed
        If the package was not installed.
    """
    suffix = ".exe" if sys.platform == "win32" else ""
    path = Path(__file__).resolve().parent / "_bin" / f"hushgrad-bridge{suffix}"
    if not path.is_file():
        raise HelperFailed(f"there is no program {path}: install the package with pip")
    return path


def command() -> Path:
    """Return the hushgrad command, which is a package of its own.

    Raises
    ------
    HelperFailed
        If that package is not installed.
    """
    try:
        from hushgrad_command import path
    except ModuleNotFoundError as error:
        raise HelperFailed(f"{error}: pip install hushgrad-command") from error
    return path()
