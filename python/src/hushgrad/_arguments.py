"""Arguments on their way to the helper, checked where the caller knows their names.

A wrong argument is refused before anything is sent: it must not end the helper, with which the
aggregators of the process would end.
"""

from __future__ import annotations

import math
import operator
import reprlib
from collections.abc import Iterable
from typing import SupportsFloat, SupportsIndex, cast

from .errors import InvalidParameter, invalid

MAX_PAYLOAD = 1 << 30
"""Bytes that the helper takes with one request."""


def number(name: str, value: object) -> float | str:
    """Return a number as the helper reads it: +Inf is a text."""
    try:
        real = float(value) if isinstance(value, SupportsFloat) else math.nan
    except (TypeError, OverflowError):
        real = math.nan
    if isinstance(value, bool) or math.isnan(real) or real == -math.inf:
        raise _wrong(name, value, "must be a number, and neither a text nor nan nor -inf")
    return "inf" if real == math.inf else real


def whole(name: str, value: object) -> int:
    """Return a whole number."""
    try:
        if isinstance(value, SupportsIndex) and not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass  # an array
    rule = "must be a whole number"
    if isinstance(value, float) and value.is_integer():
        rule += f", of type int: write {int(value)}"
    raise _wrong(name, value, rule)


def text(name: str, value: object) -> str:
    """Return a text."""
    if not isinstance(value, str):
        raise _wrong(name, value, "must be a text")
    return value


def texts(name: str, values: object) -> list[str]:
    """Return several texts. One text alone would be taken for its letters."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise _wrong(name, values, "must be a tuple of texts")
    return [text(name, value) for value in cast("Iterable[object]", values)]


def parameter(name: str, value: object) -> float | int | str:
    """Return a parameter of a mechanism: a whole number, another number or a text."""
    if isinstance(value, str):
        return value
    for kind in (whole, number):
        try:
            return kind(name, value)
        except InvalidParameter:
            continue
    raise _wrong(name, value, "must be a number or a text")


def data(name: str, value: object) -> memoryview:
    """Return bytes that lie one after the other, of a number that fits into one request."""
    try:
        view = memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        raise _wrong(name, value, "must be bytes") from None
    if view.format != "B" or not view.c_contiguous:
        got = f"{type(value).__name__} of format {view.format!r}"
        raise invalid(name, got, "must be bytes, one after the other")
    if view.nbytes > MAX_PAYLOAD:
        raise invalid(name, f"{view.nbytes} bytes", f"must have at most {MAX_PAYLOAD}")
    return view


def _wrong(name: str, value: object, rule: str) -> InvalidParameter:
    """Return the error for an argument, in one line."""
    plain = value is None or isinstance(value, str | bytes | float | int)
    return invalid(name, reprlib.repr(value) if plain else type(value).__name__, rule)
