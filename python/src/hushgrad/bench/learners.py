"""Models of the digits of scikit-learn, with their gradients in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from .division import CLASSES, Examples, Floats, Labels

Model = Mapping[str, Floats]

PIXELS = 64


class Learner(Protocol):
    """A model: its first weights, its scores and its gradient."""

    network: bool
    """Whether it has hidden units."""

    def first(self, seed: int) -> dict[str, Floats]:
        """Return the first model."""
        ...

    def scores(self, model: Model, x: Floats) -> Floats:
        """Return a score for each picture and class."""
        ...

    def gradient(self, model: Model, examples: Examples) -> dict[str, Floats]:
        """Return the gradient of the mean cross-entropy."""
        ...


class Softmax:
    """Softmax regression with 650 weights."""

    network = False

    def first(self, seed: int) -> dict[str, Floats]:
        """Return zeros."""
        return {"model": np.zeros((PIXELS + 1, CLASSES))}

    def scores(self, model: Model, x: Floats) -> Floats:
        """Return a score for each picture and class."""
        return np.asarray(_with_one(x) @ model["model"])

    def gradient(self, model: Model, examples: Examples) -> dict[str, Floats]:
        """Return the gradient of the mean cross-entropy."""
        x, labels = examples
        return {"model": np.transpose(_with_one(x)) @ _wrong(self.scores(model, x), labels)}


class Network:
    """A network with 32 hidden units and 2410 weights, which begins as PyTorch's layers do."""

    network = True
    hidden = 32

    def first(self, seed: int) -> dict[str, Floats]:
        """Return random weights, uniform within 1/√inputs."""
        rng = np.random.default_rng(seed)
        sizes = {"1": (PIXELS, self.hidden), "2": (self.hidden, CLASSES)}
        return {
            f"{kind}{layer}": rng.uniform(-1, 1, shape) / np.sqrt(inputs)
            for layer, (inputs, outputs) in sizes.items()
            for kind, shape in (("weight", (inputs, outputs)), ("bias", (outputs,)))
        }

    def scores(self, model: Model, x: Floats) -> Floats:
        """Return a score for each picture and class."""
        return np.asarray(self._hidden(model, x) @ model["weight2"] + model["bias2"])

    def gradient(self, model: Model, examples: Examples) -> dict[str, Floats]:
        """Return the gradient of the mean cross-entropy."""
        x, labels = examples
        hidden = self._hidden(model, x)
        above = _wrong(self.scores(model, x), labels)
        below = (above @ np.transpose(model["weight2"])) * (hidden > 0)
        return {
            "weight1": np.transpose(x) @ below,
            "bias1": below.sum(axis=0),
            "weight2": np.transpose(hidden) @ above,
            "bias2": above.sum(axis=0),
        }

    def _hidden(self, model: Model, x: Floats) -> Floats:
        return np.maximum(x @ model["weight1"] + model["bias1"], 0)


def accuracy(learner: Learner, model: Model, examples: Examples) -> float:
    """Return the share of pictures that a model names right."""
    x, labels = examples
    return int(np.count_nonzero(learner.scores(model, x).argmax(axis=1) == labels)) / len(labels)


def flat(model: Model) -> Floats:
    """Return all numbers of a model as one row."""
    return np.concatenate([np.ravel(array) for array in model.values()])


def _with_one(x: Floats) -> Floats:
    return np.hstack([x, np.ones((len(x), 1))])


def _wrong(scores: Floats, labels: Labels) -> Floats:
    """Return the derivative of the mean cross-entropy by the scores."""
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    return (chances - np.eye(CLASSES)[labels]) / len(labels)
