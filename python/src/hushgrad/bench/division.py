"""The digits of scikit-learn, divided into a public part, clients and a test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import library

CLASSES = 10
CLIENTS = 200
PUBLIC = 300
"""Pictures that are public: all that is chosen is chosen by them."""

TRAIN = 1137
"""Pictures of the clients, 5 or 6 for each of 200. The other 360 are the test."""

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]
Examples = tuple[Floats, Labels]


@dataclass(frozen=True, eq=False)
class Division:
    """One way to divide the 1797 pictures.

    A picture is its 64 pixels less the public pictures' mean, with a mean square of 1.

    Attributes
    ----------
    public, test : pair of numpy.ndarray
        Pictures of shape (n, 64) and labels of shape (n,).
    shares : list of pair
        The same for each client.
    """

    public: Examples
    shares: list[Examples]
    test: Examples


def divided(seed: int) -> Division:
    """Return the division of a seed. It divides data, and has nothing to do with noise.

    Raises
    ------
    ImportError
        If scikit-learn is not installed.
    """
    datasets: Any = library("sklearn.datasets", "the digits (scikit-learn)")
    pixels, labels = datasets.load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(labels))
    x, y = np.asarray(pixels, np.float64)[order], np.asarray(labels, np.intp)[order]
    x = x - x[:PUBLIC].mean(axis=0)
    x = x / np.sqrt(np.mean(x**2, axis=1, keepdims=True))
    train = x[PUBLIC : PUBLIC + TRAIN], y[PUBLIC : PUBLIC + TRAIN]
    shares = [(train[0][i::CLIENTS], train[1][i::CLIENTS]) for i in range(CLIENTS)]
    return Division((x[:PUBLIC], y[:PUBLIC]), shares, (x[PUBLIC + TRAIN :], y[PUBLIC + TRAIN :]))
