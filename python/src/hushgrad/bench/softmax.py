"""Softmax regression with NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .digits import CLASSES, FEATURES, Features, Labels

Weights = NDArray[np.float32]


def initial() -> Weights:
    """Return the first model, shape (101, 10)."""
    return np.zeros((FEATURES, CLASSES), np.float32)


def train(weights: Weights, features: Features, labels: Labels, steps: int, rate: float) -> Weights:
    """Return the model after some steps of gradient descent on all pictures."""
    wanted = np.eye(CLASSES, dtype=np.float32)[labels]
    for _ in range(steps):
        scores: Weights = np.matmul(features, weights)
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        slope: Weights = np.matmul(np.transpose(features), chances - wanted)
        weights = np.asarray(weights - rate / len(labels) * slope, np.float32)
    return weights


def accuracy(weights: Weights, features: Features, labels: Labels) -> float:
    """Return the share of pictures that the model names right."""
    scores: Weights = np.matmul(features, weights)
    return int(np.count_nonzero(scores.argmax(axis=1) == labels)) / len(labels)


class Average:
    """The exponential average of models over rounds, which has less noise than the last one.

    Parameters
    ----------
    decay : float
        Share of the average that stays in each round, in [0, 1). 0 is the last model.
    """

    def __init__(self, decay: float) -> None:
        self.decay = decay
        self._sum = initial()
        self._weight = 0.0

    def add(self, weights: Weights) -> Weights:
        """Return the average after one more model."""
        self._sum = np.asarray(self.decay * self._sum + weights, np.float32)
        self._weight = self.decay * self._weight + 1
        return np.asarray(self._sum / self._weight, np.float32)
