"""The task: softmax regression on MNIST, with NumPy alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hushgrad.bench import digits

SIDE = 14
CLASSES = 10
Floats = NDArray[np.float32]


def load(folder: str, part: str) -> tuple[Floats, NDArray[np.uint8]]:
    """Return the pictures and labels of a part, "train" or "t10k".

    A picture is 14 × 14 mean brightnesses in [-0.13, 0.87] and a constant 1.
    """
    pictures, labels = digits.load(folder, part)
    shape = (len(pictures), SIDE, 2, SIDE, 2)
    pooled = pictures.reshape(shape).mean(axis=(2, 4)).reshape(-1, SIDE * SIDE) / 255 - 0.13
    ones = np.ones((len(pooled), 1))
    return np.hstack([pooled, ones]).astype(np.float32), labels


def share(folder: str, site: int, sites: int) -> tuple[Floats, NDArray[np.uint8]]:
    """Return the training records of one site: every sites-th picture."""
    pictures, labels = load(folder, "train")
    return pictures[site::sites], labels[site::sites]


def initial() -> Floats:
    """Return the first model."""
    return np.zeros((SIDE * SIDE + 1, CLASSES), np.float32)


def changes(model: Floats, pictures: Floats, labels: NDArray[np.uint8]) -> Floats:
    """Return the negative gradient of each record, of shape (records, pixels, classes)."""
    scores = pictures @ model
    chances = np.exp(scores - scores.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    wanted = np.eye(CLASSES, dtype=np.float32)[labels]
    return pictures[:, :, np.newaxis] * (wanted - chances)[:, np.newaxis, :]


def accuracy(model: Floats, folder: str) -> float:
    """Return the share of test pictures that the model names right."""
    pictures, labels = load(folder, "t10k")
    return float(np.mean(np.argmax(pictures @ model, axis=1) == labels))
