"""Columns of a table, by what everybody knows about them.

Use it to turn each client's row into numbers that a linear model learns from. Nobody's row is
needed to say what the columns are.
Start with :class:`Columns`. ``examples/tabular`` of the repository has the same columns in Go.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from . import _arguments
from .errors import invalid

_MAX_COLUMNS = 1000
_MAX_VALUES = 1000
_MAX_HASHED_VALUES = 10_000
_MAX_FILE_BYTES = 4 << 20
_MOST_SPREADS = 3.0
_LOG_SHARE = 1e-3
_EVEN_SPREAD = 1 / math.sqrt(3)

_NEXT_COLUMN = re.compile(r"\s*[;\s]\s*([^=;\s]+=)")
"""Where a column begins behind anything else than a comma."""

_OTHER_RANGE = re.compile(r"(-?[0-9.]+)\s*(?:-|–|:|to)\s*(-?[0-9.]+)")
"""A range with anything else than .. between its ends."""


@dataclass
class _Column:
    name: str
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    centre: float = 0.0
    spread: float = _EVEN_SPREAD
    values: dict[str, int] = field(default_factory=dict[str, int])
    buckets: int = 0

    @property
    def is_number(self) -> bool:
        return not self.values and not self.buckets

    @property
    def names(self) -> list[str]:
        if self.is_number:
            return [self.name]
        if self.buckets:
            return [f"{self.name}#{i}" for i in range(self.buckets)]
        return [f"{self.name}={v}" for v in self.values]

    def place(self, v: float) -> float:
        share = (v - self.low) / (self.high - self.low)
        if self.log:
            share = math.log1p(share / _LOG_SHARE) / math.log1p(1 / _LOG_SHARE)
        return 2 * share - 1

    def write(self, into: NDArray[np.float64], cell: str) -> bool:
        """Write what a cell becomes, and say whether it fits."""
        if not self.is_number:
            if cell == "" or (self.values and cell not in self.values):
                return False
            into[self._bucket(cell) if self.buckets else self.values[cell]] = 1
            return True
        v = _number(cell)
        if v is None:
            return False
        inside = min(max(v, self.low), self.high)
        apart = (self.place(inside) - self.centre) / self.spread
        into[0] = min(max(apart, -_MOST_SPREADS), _MOST_SPREADS)
        return inside == v

    def _bucket(self, value: str) -> int:
        digest = hashlib.sha256(f"{self.name}\0{value}".encode()).digest()
        return int.from_bytes(digest[:8], "big") % self.buckets


@runtime_checkable
class Frame(Protocol):
    """A table such as a ``pandas.DataFrame``."""

    def to_dict(self, orient: Literal["records"], /) -> Sequence[Mapping[Any, object]]:
        """Return the rows."""
        ...


# What a cell that holds nothing is called where it is no text: None, and pandas' words.
_NOTHING = ("None", "nan", "NaT", "<NA>")


def _text(cell: object) -> str:
    text = str(cell)
    return "" if text in _NOTHING and not isinstance(cell, str) else text.strip()


class Columns:
    """Columns with ranges or lists of values that are public.

    Parameters
    ----------
    text : str
        Columns between commas: a range ``age=17..90``, with a mean and a spread where they are
        known, ``age=17..90~40±15``, or ``~log`` where most numbers are small; a list
        ``sector=a|b``, or a file of many values ``city=@cities.txt``; ``city=#64`` has any values
        share 64 buckets by a public hash, and so has ``city=@cities.txt#64``. Ranges and lists must
        not be read off the rows.

    Raises
    ------
    InvalidParameter
        If the text is not as above, with what to type.

    Attributes
    ----------
    names : list of str
        A name for each number of a row.
    outside : dict of str to int
        How many cells of each column did not fit, in the calls of :meth:`numbers` so far. It is
        for simulations: a client must not reveal it.
    """

    def __init__(self, text: str) -> None:
        self._columns = [_parse(f) for f in _arguments.text("columns", text).split(",")]
        known = [c.name for c in self._columns]
        if len(known) > _MAX_COLUMNS:
            raise invalid("columns", len(known), f"must be at most {_MAX_COLUMNS}")
        if len(set(known)) < len(known):
            twice = next(n for n in known if known.count(n) > 1)
            raise invalid("columns", twice, "must name each column once")
        self.names = [n for c in self._columns for n in c.names]
        self.outside = dict.fromkeys(known, 0)

    def numbers(self, rows: Iterable[Mapping[str, object]] | Frame) -> NDArray[np.float64]:
        """Return the numbers of each row, such as a row of ``csv.DictReader`` or of a DataFrame.

        A number is centred, scaled and cut at three spreads. Without a declared spread it counts
        as spread evenly over its range. A number beyond its range becomes the nearest end. A number
        that is missing becomes the centre, and a value that is not listed zeros.

        Returns
        -------
        numpy.ndarray
            An array of shape (rows, len(names)), of numbers from -3 to 3.

        Raises
        ------
        InvalidParameter
            If a row is no mapping from names of columns to cells.
        """
        made: list[NDArray[np.float64]] = []
        rule = f"must be mappings from names to cells, such as {{{self._columns[0].name!r}: 1}}"
        try:
            listed = rows.to_dict("records") if isinstance(rows, Frame) else rows
        except TypeError:  # the frame of another library than pandas
            raise invalid("rows", f"a {type(rows).__name__}", rule) from None
        for row in listed:
            if not isinstance(row, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise invalid("rows", repr(row)[:200], rule)
            numbers, at = np.zeros(len(self.names)), 0
            for c in self._columns:
                width = len(c.names)
                if not c.write(numbers[at : at + width], _text(row.get(c.name, ""))):
                    self.outside[c.name] += 1
                at += width
            made.append(numbers)
        return np.vstack([np.zeros((0, len(self.names))), *made])


def _number(text: str) -> float | None:
    try:
        v = float(text) if "_" not in text else math.nan
    except ValueError:
        return None
    return v if math.isfinite(v) else None


def _parse(text: str) -> _Column:
    name, described, known = text.partition("=")
    column, known = _Column(name.strip()), known.strip()
    if not described or not column.name:
        rule = "must be columns like age=17..90 or sector=public|private, between commas"
        raise invalid("columns", text[:200], rule)
    if known[:1] in ("@", "#"):
        _parse_many(column, text, known)
    elif ".." in known:
        _parse_range(column, text, known)
    else:
        _list(column, text, [v.strip() for v in known.split("|")], _MAX_VALUES)
    return column


def _parse_range(c: _Column, text: str, known: str) -> None:
    ends, _, more = known.partition("~")
    low, _, high = ends.partition("..")
    a, b = _number(low), _number(high)
    if (a is None or b is None) and _NEXT_COLUMN.search(text):
        columns = _NEXT_COLUMN.sub(r",\1", text)
        raise invalid("columns", text[:200], f"must have commas between columns: type {columns}")
    if a is not None and b is not None and b < a:
        rule = f"must begin with the smaller number: type {c.name}={b:g}..{a:g}"
        raise invalid("columns", text[:200], rule)
    if a is None or b is None or not a < b or not math.isfinite(b - a):
        rule = f"must be a range from a number to a larger one, such as {c.name}=0..100"
        raise invalid("columns", text[:200], rule)
    c.low, c.high = a, b
    c.log = more.strip() == "log"
    if "~" not in known or c.log:
        return
    mean, _, width = more.replace("+-", "±").partition("±")
    centre, spread = _number(mean), _number(width)
    known_mean = centre is not None and a <= centre <= b
    known_spread = spread is not None and (b - a) / 256 <= spread <= b - a
    if centre is None or spread is None or not known_mean or not known_spread:
        rule = (
            "must have log, or a mean within the range and a spread from 1/256 of it to all of it, "
            f"behind the ~: type {c.name}={a:g}..{b:g}~{(a + b) / 2:g}±{(b - a) / 6:g}"
        )
        raise invalid("columns", text[:200], rule)
    c.centre, c.spread = c.place(centre), 2 * spread / (b - a)


def _parse_many(c: _Column, text: str, known: str) -> None:
    path, hashed, buckets = known.rpartition("#")
    if not path.startswith("@") and known.startswith("@"):  # there is no #
        path, hashed = known, ""
    if hashed and path and buckets.strip(" 0123456789"):  # the # is of the path
        path, hashed = known, ""
    if hashed:
        digits = buckets.strip()
        c.buckets = (
            int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else 0
        )
        if not 2 <= c.buckets <= _MAX_VALUES:
            rule = f"must have from 2 to {_MAX_VALUES} buckets behind the #: type {c.name}=#64"
            raise invalid("columns", text[:200], rule)
    if not path:
        return
    most = _MAX_HASHED_VALUES if c.buckets else _MAX_VALUES
    try:
        with Path(path[1:].strip()).open("rb") as f:
            content = f.read(_MAX_FILE_BYTES + 1)
        lines = content.decode("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as e:
        rule = f"must name a file of UTF-8 with a value in each line behind the @: {e}"
        raise invalid("columns", text[:200], rule) from None
    if len(content) > _MAX_FILE_BYTES:
        raise invalid("columns", text[:200], f"must name a file of at most {_MAX_FILE_BYTES} bytes")
    _list(c, text, [v.strip() for v in lines if v.strip()], most)


def _list(c: _Column, text: str, values: list[str], most: int) -> None:
    if len(values) == 1 and (ends := _OTHER_RANGE.fullmatch(values[0])):
        rule = f"must have .. between the ends of a range: type {c.name}={ends[1]}..{ends[2]}"
        raise invalid("columns", text[:200], rule)
    c.values = {v: i for i, v in enumerate(values)}
    if "" in c.values or len(c.values) < len(values) or not 2 <= len(values) <= most:
        rule = f"must list from 2 to {most} values, each once: type {c.name}=a|b, or {c.name}=#64"
        if len(values) == 1 and _number(values[0]) is not None:  # of 17,5..90
            rule += f", or a range {c.name}=0..100, with points in its numbers"
        raise invalid("columns", text[:200], rule)
