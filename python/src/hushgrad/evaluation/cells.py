"""Questions whose answers are shares of cells: tables of counts without the counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _arguments
from ..aggregator import Estimate
from ..errors import invalid
from .measure import NORMAL, Measure, Measures, Row, Shares, bounded, positive, within
from .question import Matrix, Question, checked_range, column, labels, of_one_length


class _Cells(Question):
    """A question to which an example answers with one of several cells."""

    def __init__(self, cells: int) -> None:
        self.dim = self.shares = cells
        self.l1 = self.l2 = self.largest = 1.0

    def divided(self, clients: int) -> Matrix:
        """Return the answers of clients of whom as many are in each cell."""
        return self._one_hot(np.arange(clients) % self.shares)

    def _one_hot(self, cells: NDArray[np.intp]) -> Matrix:
        """Return rows that are 1 in one cell."""
        rows = np.zeros((len(cells), self.dim))
        rows[np.arange(len(cells)), cells] = 1.0
        return rows

    def _shares(self, estimate: Estimate) -> Shares:
        value, std_err = positive(estimate, self.l1)
        return Shares(value[: self.shares], std_err[: self.shares])


class Confusion(_Cells):
    """How often a model takes one class for another.

    It reads "shares", of shape (classes, classes): of the examples, how many have the true class
    of the row and were given the class of the column; "accuracy"; and "recall" and "precision" of
    each class.

    Parameters
    ----------
    classes : int
        Number of classes, at least 2.
    """

    def __init__(self, classes: int) -> None:
        self.classes = _several("classes", classes)
        super().__init__(classes**2)

    def answer(self, truth: ArrayLike, predicted: ArrayLike) -> Row:
        """Return a client's answer.

        Parameters
        ----------
        truth, predicted : array of whole numbers in [0, classes), shape (n,)
            For each example its class, and the class that the model gives it.
        """
        return self.records(truth, predicted).mean(axis=0)

    def records(self, truth: ArrayLike, predicted: ArrayLike) -> Matrix:
        """Return the answer of each example alone, one a row. See :meth:`answer`."""
        row, col = (
            labels(name, given, self.classes)
            for name, given in (("truth", truth), ("predicted", predicted))
        )
        of_one_length([row, col])
        return self._one_hot(row * self.classes + col)

    def read(self, estimate: Estimate) -> Measures:
        """Return the shares of the table, and what follows from them."""
        shares, k = self._shares(estimate), self.classes
        cell = np.reshape(np.eye(k * k), (k, k, k * k))
        right = np.stack([cell[i, i] for i in range(k)])
        return {
            "accuracy": shares.sums(right.sum(axis=0)),
            "recall": _parts(shares, right, cell.sum(axis=1)),
            "precision": _parts(shares, right, cell.sum(axis=0)),
            "shares": shares.sums(cell),
        }


class Scores(_Cells):
    """How well the scores of a model of two classes rank and are calibrated.

    It reads "auc", the probability that an example of class 1 has a higher score than one of
    class 0, where equal bins count half; "rate", the share of class 1 in each bin; "positives", the
    share of class 1; and "excess", the mean score less that share, where a score counts as the
    middle of its bin.

    Parameters
    ----------
    bins : int
        Number of equal bins of scores, at least 2.
    low, high : float
        The range of scores. Others count as the nearer one.
    """

    def __init__(self, bins: int = 10, *, low: float = 0.0, high: float = 1.0) -> None:
        self.edges = _edges(low, high, _several("bins", bins))
        super().__init__(2 * bins)

    def answer(self, truth: ArrayLike, score: ArrayLike) -> Row:
        """Return a client's answer.

        Parameters
        ----------
        truth : array of 0 and 1, shape (n,)
            The class of each example.
        score : array of float, shape (n,)
            The model's score of class 1. What is no number counts as the middle of the range.
        """
        return self.records(truth, score).mean(axis=0)

    def records(self, truth: ArrayLike, score: ArrayLike) -> Matrix:
        """Return the answer of each example alone, one a row. See :meth:`answer`."""
        low, high = self.edges[0], self.edges[-1]
        classes, scores = labels("truth", truth, 2), column("score", score)
        of_one_length([classes, scores])
        scores = np.where(np.isnan(scores), (low + high) / 2, scores)
        return self._one_hot(classes * (self.dim // 2) + _bin(self.edges, scores))

    def read(self, estimate: Estimate) -> Measures:
        """Return what the scores are worth."""
        shares, bins = self._shares(estimate), self.dim // 2
        zero, one = np.eye(self.dim)[:bins], np.eye(self.dim)[bins:]
        middle = (self.edges[1:] + self.edges[:-1]) / 2
        positives = one.sum(axis=0)
        below = np.tril(np.ones((bins, bins)), -1) + np.eye(bins) / 2
        # A quadratic form of the shares: pairs of an example of each class, and those in order.
        ordered, pairs = (
            np.transpose(one) @ each @ zero + np.transpose(zero) @ np.transpose(each) @ one
            for each in (below, np.ones((bins, bins)))
        )
        s = shares.value
        return {
            "auc": shares.ratios(
                np.array([s @ ordered @ s / 2]),
                np.array([s @ pairs @ s / 2]),
                (ordered @ s)[np.newaxis],
                (pairs @ s)[np.newaxis],
            ),
            "rate": _parts(shares, one, zero + one),
            "positives": shares.sums(positives),
            "excess": shares.sums(
                np.concatenate([middle, middle]) - positives,
                least=float(self.edges[0]) - 1,
                most=float(self.edges[-1]),
            ),
        }


class Column(_Cells):
    """How a number that clients hold is spread: its mean, a histogram and quantiles.

    It reads "mean", "histogram", the share of values in each bin, and "quantiles".

    A client that holds several values answers with their shares, so that clients count alike.

    Parameters
    ----------
    low, high : float
        The declared range. Other values count as the nearer end, and what is no number is spread
        over all bins.
    bins : int
        Number of equal bins, at least 2. The last one has its upper end, too.
    quantiles : sequence of float
        The probabilities, each in (0, 1), of the quantiles that are read.
    """

    def __init__(
        self,
        low: float,
        high: float,
        *,
        bins: int = 16,
        quantiles: Sequence[float] = (0.25, 0.5, 0.75),
    ) -> None:
        super().__init__(_several("bins", bins))
        self.edges = _edges(low, high, bins)
        self.quantiles = np.asarray(quantiles, np.float64)
        if self.quantiles.ndim != 1 or not np.all((self.quantiles > 0) & (self.quantiles < 1)):
            raise invalid("quantiles", list(quantiles), "must be in (0, 1)")
        # One coordinate more says how far a value is from the middle of its bin, so that the mean
        # does not depend on the bins. It is at most 1/bins.
        self.dim = bins + 1
        self.l1, self.l2 = 1 + 1 / bins, math.hypot(1, 1 / bins)

    def answer(self, values: ArrayLike) -> Row:
        """Return a client's answer.

        Parameters
        ----------
        values : float, or array of shape (n,)
            What the client holds.
        """
        return self.records(values).mean(axis=0)

    def records(self, values: ArrayLike) -> Matrix:
        """Return the answer of each value alone, one a row. See :meth:`answer`."""
        low, high = self.edges[0], self.edges[-1]
        given = column("values", values)
        missing = np.isnan(given)
        given = within(np.where(missing, low, given), float(low), float(high))
        bins = _bin(self.edges, given)
        rows = self._one_hot(bins)
        middle = (self.edges[1:] + self.edges[:-1]) / 2
        rows[:, -1] = 2 * (given - middle[bins]) / (high - low)
        rows[missing] = np.append(np.full(self.shares, 1 / self.shares), 0)
        return rows

    def read(self, estimate: Estimate) -> Measures:
        """Return the mean, the histogram and the quantiles."""
        shares, (low, high) = self._shares(estimate), (float(self.edges[0]), float(self.edges[-1]))
        center, half = (low + high) / 2, (high - low) / 2
        away = (self.edges[1:] + self.edges[:-1]) / 2 - center
        variance = shares.covariance(away, away) + (half * estimate.std_err[-1]) ** 2
        mean = center + float(away @ shares.value) + half * float(estimate.mean[-1])
        below = shares.sums(np.tril(np.ones((self.shares, self.shares))))
        return {
            "mean": bounded(mean, math.sqrt(max(0.0, float(variance))), low, high),
            "histogram": shares.sums(np.eye(self.shares)),
            "quantiles": self._quantiles(below),
        }

    def _quantiles(self, below: Measure) -> Measure:
        """Return quantiles of the distribution function, which below has at the bins' upper ends.

        An interval has the bins that a quantile may be in. It ends where bins end.
        """
        ends = self.edges
        value, low, high = (
            np.concatenate([[0.0], np.asarray(each)[:-1], [1.0]])
            for each in (below.value, below.low, below.high)
        )
        rising = np.maximum.accumulate(value)
        at = np.interp(self.quantiles, rising, ends)
        may = [np.flatnonzero((low[:-1] <= q) & (high[1:] >= q)) for q in self.quantiles]
        first, last = (ends[[bins[i] - i for bins in may]] for i in (0, -1))
        return Measure(at, (last - first) / (2 * NORMAL), first, last)


def _parts(shares: Shares, part: Matrix, whole: Matrix) -> Measure:
    """Return how large parts of the cells are beside wholes: weights of the cells in each row."""
    return shares.ratios(part @ shares.value, whole @ shares.value, part, whole)


def _several(name: str, value: int) -> int:
    """Return a whole number of at least 2."""
    if _arguments.whole(name, value) < 2:
        raise invalid(name, value, "must be at least 2")
    return value


def _edges(low: float, high: float, bins: int) -> Row:
    """Return the ends of equal bins."""
    checked_range(low, high)
    return np.linspace(low, high, bins + 1)


def _bin(edges: Row, values: Row) -> NDArray[np.intp]:
    """Return the bin of each value. Values outside are in the first or in the last one."""
    return np.searchsorted(edges[1:-1], values, side="right")
