"""Libraries that are used where they are installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def library(name: str, what: str) -> Any:  # noqa: ANN401
    """Return a module of a library that this package does not install.

    Parameters
    ----------
    name : str
        The module.
    what : str
        What needs it, for the error.

    Raises
    ------
    ImportError
        If it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ImportError(f"{what} needs {package}: pip install {package}", name=name) from error
