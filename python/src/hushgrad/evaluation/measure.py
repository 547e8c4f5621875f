"""What an answered question says, with error bars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..aggregator import Estimate

Row = NDArray[np.float64]
Number = float | NDArray[np.float64]

NORMAL = 1.959963984540054
"""Standard errors on either side of an estimate that make an interval of 95 %."""


@dataclass(frozen=True, eq=False)
class Measure:
    """A named number, or an array of them, of the clients that answered.

    The interval holds the mean over these clients 95 times in 100. With few clients of a local
    mechanism it does so more often. It does not say how the clients were chosen from others.

    Attributes
    ----------
    value : float or numpy.ndarray of float64
        The estimate, within the declared range.
    std_err : float or numpy.ndarray of float64
        Its standard error.
    low, high : float or numpy.ndarray of float64
        The ends of the interval, within the declared range.
    """

    value: Number
    std_err: Number
    low: Number
    high: Number

    def __str__(self) -> str:
        """Return the value and half the width of an interval of 95 %."""
        half = NORMAL * np.asarray(self.std_err)
        shown = [np.array2string(np.asarray(each), precision=4) for each in (self.value, half)]
        return " ± ".join(shown)


Measures = Mapping[str, Measure]


def bounded(value: Number, std_err: Number, least: Number, most: Number) -> Measure:
    """Return an estimate of a number that is known to be in [least, most]."""
    half = NORMAL * np.asarray(std_err)
    each = [within(one, least, most) for one in (value, value - half, value + half)]
    return Measure(_plain(each[0]), _plain(std_err), _plain(each[1]), _plain(each[2]))


def within(value: Number, least: Number, most: Number) -> Row:
    """Return a value, or the end of [least, most] that is nearer."""
    return np.minimum(np.maximum(value, least), most)


def _plain(value: object) -> Number:
    """Return a float for an array of no dimension."""
    array = np.asarray(value, np.float64)
    return float(array) if array.ndim == 0 else array


class Shares:
    """Estimated shares of cells that are known to sum to 1.

    What the estimates sum to is moved to 1, each by its variance: the least squares of errors that
    are independent. No error is larger by that, and errors of several cells together are less.

    Parameters
    ----------
    value, std_err : numpy.ndarray of float64, shape (cells,)
        The estimates and their standard errors.
    """

    def __init__(self, value: Row, std_err: Row) -> None:
        self._variance = std_err**2
        total = float(self._variance.sum())
        self._part = self._variance / total if total > 0 else np.zeros_like(value)
        self.value: Row = value + self._part * (1 - value.sum())

    def covariance(self, a: Row, b: Row) -> NDArray[np.float64]:
        """Return the covariance of weighted sums. The last axis of the weights is the cells'."""
        return (a * b) @ self._variance - (a @ self._variance) * (b @ self._part)

    def sums(self, weights: Row, *, least: Number = 0.0, most: Number = 1.0) -> Measure:
        """Return weighted sums of the shares. The last axis of the weights is the cells'."""
        std_err = np.sqrt(np.maximum(0, self.covariance(weights, weights)))
        return bounded(weights @ self.value, std_err, least, most)

    def ratios(self, over: Row, under: Row, over_slope: Row, under_slope: Row) -> Measure:
        """Return ratios in [0, 1] of functions of the shares, with intervals of Fieller.

        An interval has the ratios r for which over - r * under is no more than its standard error
        allows. It is [0, 1] where under may be 0.

        Parameters
        ----------
        over, under : numpy.ndarray of float64, shape (n,)
            The two functions.
        over_slope, under_slope : numpy.ndarray of float64, shape (n, cells)
            Their derivatives by the shares.
        """
        v_over, v_under = (self.covariance(s, s) for s in (over_slope, under_slope))
        both = self.covariance(over_slope, under_slope)
        a = under**2 - NORMAL**2 * v_under
        b = over * under - NORMAL**2 * both
        c = over**2 - NORMAL**2 * v_over
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(np.maximum(0, b**2 - a * c))
            ends = [np.where(a > 0, (b + sign * root) / a, (1 + sign) / 2) for sign in (-1, 1)]
            value = np.where(under > 0, over / under, 0.5)
            spread = np.maximum(0, v_over - 2 * value * both + value**2 * v_under)
            std_err = np.where(under > 0, np.sqrt(spread) / under, np.inf)
        value, low, high = (within(each, 0.0, 1.0) for each in (value, *ends))
        return Measure(*(_plain(np.squeeze(each)) for each in (value, std_err, low, high)))


def positive(estimate: Estimate, most: float) -> tuple[Row, Row]:
    """Return the means of coordinates that are never negative, and their standard errors.

    Parameters
    ----------
    most : float
        The L1 norm of the largest answer. A round that estimates the share of reports with the
        sign plus has it as its scale, and that share is the mean over it.
    """
    plus = estimate.columns.get("plus")
    if plus is None or plus.std_err is None:
        return estimate.mean, estimate.std_err
    return plus.value * most, plus.std_err * most
