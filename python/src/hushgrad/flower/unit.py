"""Whose data a report protects."""

from __future__ import annotations

from typing import Literal

from ..errors import invalid

Unit = Literal["client", "example"]
"""All data of a client, or one record of it."""


def checked(unit: Unit) -> Unit:
    """Return a unit.

    Raises
    ------
    InvalidParameter
        If there is no such unit.
    """
    if unit not in ("client", "example"):
        raise invalid("unit", repr(unit), "must be 'client' or 'example'")
    return unit
