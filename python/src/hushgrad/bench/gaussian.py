"""What Gaussian noise promises: exactly, and not by a formula for small ε."""

from __future__ import annotations

import math


def epsilon(sensitivity: float, deviation: float, delta: float, releases: int = 1) -> float:
    """Return the smallest ε at δ of some releases together, rounded up.

    After Balle and Wang, "Improving the Gaussian Mechanism for Differential Privacy", 2018,
    Theorem 8. Releases of the same data are one of sqrt(releases) times the sensitivity.

    Parameters
    ----------
    sensitivity : float
        Euclidean distance of two neighbouring inputs, at most.
    deviation : float
        Standard deviation of the noise of each coordinate, in the same units, positive.
    delta : float
        In (0, 1).
    releases : int
        At least 1.
    """
    mu = sensitivity / deviation * math.sqrt(releases)
    low, high = 0.0, 1.0
    while _delta(high, mu) > delta:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _delta(middle, mu) > delta else (low, middle)
    return high


def deviation(sensitivity: float, epsilon_: float, delta: float, releases: int) -> float:
    """Return the smallest deviation whose releases promise ε at δ together."""
    low, high = 0.0, sensitivity
    while epsilon(sensitivity, high, delta, releases) > epsilon_:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        good = epsilon(sensitivity, middle, delta, releases) <= epsilon_
        low, high = (low, middle) if good else (middle, high)
    return high


def _delta(epsilon_: float, mu: float) -> float:
    """Return the δ at ε of a normal variable and one that is moved by mu deviations."""
    far = _log_tail(mu / 2 + epsilon_ / mu)
    return math.exp(_log_tail(epsilon_ / mu - mu / 2)) - math.exp(epsilon_ + far)


def _log_tail(x: float) -> float:
    """Return the logarithm of the chance that a normal variable exceeds x."""
    if x < 30:
        return math.log(math.erfc(x / math.sqrt(2)) / 2)
    return -x * x / 2 - math.log(x * math.sqrt(2 * math.pi))  # at least the tail
