"""Questions about what clients hold, as vectors of a known norm."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _arguments
from ..aggregator import Estimate
from ..errors import invalid
from .measure import Measures, Row, bounded, within

Matrix = NDArray[np.float64]


class Question(ABC):
    """What clients are asked. A subclass says how a client answers and how answers are read.

    Attributes
    ----------
    dim : int
        Coordinates of an answer.
    l1, l2, largest : float
        Bounds of an answer: its norms, and the absolute value of every coordinate.
    shares : int
        The first coordinates that are never negative.
    """

    dim: int
    l1: float
    l2: float
    largest: float
    shares: int

    @abstractmethod
    def divided(self, clients: int) -> Matrix:
        """Return the answers of clients who differ as much as answers can, one a row.

        Estimates have their largest standard errors then, or nearly.
        """

    @abstractmethod
    def read(self, estimate: Estimate) -> Measures:
        """Return what the answers come to, by name.

        Parameters
        ----------
        estimate : Estimate
            The estimate of a round of :class:`Survey`.
        """

    def sparsities(self) -> list[int]:
        """Return the numbers of signed coordinates of a report that can hold every answer."""
        most = max(1, math.floor(self.l1 / self.largest))
        return sorted({min(2**i, most) for i in range(most.bit_length() + 1)})


class Metrics(Question):
    """The mean of named numbers, such as an accuracy and a loss.

    Parameters
    ----------
    ranges : mapping of str to pair of float
        For each name the least and the largest value that counts. Others count as the nearer one.
        What is no number counts as the middle: a client that sent nothing would reveal it.
    """

    def __init__(self, ranges: Mapping[str, tuple[float, float]]) -> None:
        if not ranges:
            raise invalid("ranges", "no names", "must be at least one")
        self.names = tuple(_arguments.texts("ranges", ranges))
        self.low = np.array([low for low, _ in ranges.values()], np.float64)
        self.high = np.array([high for _, high in ranges.values()], np.float64)
        checked_range(self.low, self.high)
        self.dim = len(self.names)
        self.l1, self.l2, self.largest = self.dim / 2, math.sqrt(self.dim) / 2, 0.5
        self.shares = 0

    def answer(self, values: Mapping[str, ArrayLike]) -> Row:
        """Return a client's answer: the mean of its examples' values.

        Parameters
        ----------
        values : mapping of str to float, or to array of shape (n,)
            By name, the value of each example, or a client's own mean.
        """
        return self.records(values).mean(axis=0)

    def records(self, values: Mapping[str, ArrayLike]) -> Matrix:
        """Return the answer of each example alone, one a row. See :meth:`answer`."""
        if missing := [name for name in self.names if name not in values]:
            raise invalid("values", sorted(values), f"must have {', '.join(missing)}")
        columns = [column(name, values[name]) for name in self.names]
        of_one_length(columns)
        middle = (self.low + self.high) / 2
        rows = np.stack(columns, axis=1)
        rows = within(np.where(np.isnan(rows), middle, rows), self.low, self.high)
        return (rows - middle) / (self.high - self.low)

    def divided(self, clients: int) -> Matrix:
        """Return the answers of clients who are at the ends of all ranges, half of them at each."""
        bit = (np.arange(clients)[:, np.newaxis] >> np.arange(self.dim) % 8) & 1
        return np.asarray(bit - 0.5, np.float64)

    def read(self, estimate: Estimate) -> Measures:
        """Return the mean over the clients of each number, by its name."""
        width = self.high - self.low
        value = (self.low + self.high) / 2 + estimate.mean * width
        each = zip(value, estimate.std_err * width, self.low, self.high, strict=True)
        return {name: bounded(*one) for name, one in zip(self.names, each, strict=True)}


def checked_range(low: ArrayLike, high: ArrayLike) -> None:
    """Raise an error unless low < high."""
    width = np.asarray(high, np.float64) - np.asarray(low, np.float64)
    if not np.all(np.isfinite(width) & (width > 0)):
        raise invalid("range", f"{low} to {high}", "must be finite, and low must be below high")


def column(name: str, values: object) -> Row:
    """Return one number for each example, of which there is at least one."""
    try:
        array = np.atleast_1d(np.asarray(values, np.float64))
    except (TypeError, ValueError):
        raise invalid(name, type(values).__name__, "must be numbers") from None
    if array.ndim != 1 or len(array) == 0:
        raise invalid(name, array.shape, "must be a number or of shape (n,), with n of at least 1")
    return array


def labels(name: str, values: object, classes: int) -> NDArray[np.intp]:
    """Return whole numbers in [0, classes)."""
    array = column(name, values)
    bad = ~((array >= 0) & (array < classes)) | (array != np.floor(array))
    if np.any(bad):
        raise invalid(name, array[bad][0], f"must be whole numbers in [0, {classes})")
    return array.astype(np.intp)


def of_one_length(columns: Sequence[NDArray[np.generic]]) -> None:
    """Raise an error where examples differ in number."""
    if len({len(each) for each in columns}) > 1:
        raise invalid("answer", "arrays of several lengths", "must have one length")
