"""Pictures of digits, and features of them that a linear model can learn from.

The pictures are MNIST's, or generated ones where there is no folder with its files.
The features are a fixed function of one picture. They learn nothing from the data, so that they
cost no privacy.
"""

from __future__ import annotations

import gzip
import zlib
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SIDE = 28
CLASSES = 10
FEATURES = 4 * 5 * 5 + 1
MAX_PICTURES = 1_000_000
GENERATED = {"train": 6000, "t10k": 1000}

Pictures = NDArray[np.uint8]
Labels = NDArray[np.uint8]
Features = NDArray[np.float32]
Floats = NDArray[np.float64]

_GLYPHS = (
    *("01110 10001 10011 10101 11001 10001 01110", "00100 01100 00100 00100 00100 00100 01110"),
    *("01110 10001 00001 00110 01000 10000 11111", "11110 00001 00001 01110 00001 00001 11110"),
    *("00010 00110 01010 10010 11111 00010 00010", "11111 10000 11110 00001 00001 10001 01110"),
    *("00110 01000 10000 11110 10001 10001 01110", "11111 00001 00010 00100 01000 01000 01000"),
    *("01110 10001 10001 01110 10001 10001 01110", "01110 10001 10001 01111 00001 00010 01100"),
)


@cache
def load(folder: str, part: str) -> tuple[Pictures, Labels]:
    """Return the pictures and labels of a part.

    Parameters
    ----------
    folder : str
        Folder with the four files of the MNIST database, compressed or not. Empty: generated
        digits, which are easier.
    part : {"train", "t10k"}
        For training or for the test.

    Returns
    -------
    pictures : numpy.ndarray of uint8, shape (n, 28, 28)
        Brightnesses.
    labels : numpy.ndarray of uint8, shape (n,)
        The digits.

    Raises
    ------
    FileNotFoundError
        If the folder has no such files.
    ValueError
        If a file has another form.
    """
    if not folder:
        return generated(GENERATED[part], part)
    pictures = _read(Path(folder), f"{part}-images-idx3-ubyte", (SIDE, SIDE))
    labels = _read(Path(folder), f"{part}-labels-idx1-ubyte", ())
    if len(pictures) != len(labels) or labels.max() >= CLASSES:
        raise ValueError(f"{folder}: the files of {part} do not belong together")
    return pictures, labels


def _read(folder: Path, name: str, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Read a file of the MNIST database with entries of one shape."""
    path = next((p for p in (folder / name, folder / f"{name}.gz") if p.is_file()), None)
    if path is None:
        raise FileNotFoundError(f"{folder / name}: there is no such file, compressed or not")
    most = 8 + 4 * len(shape) + MAX_PICTURES * int(np.prod(shape))
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        raw = file.read(most + 1)
    head = 4 * (2 + len(shape))
    sizes = tuple(np.frombuffer(raw[4:head], ">u4").tolist())
    good = raw[:4] == bytes([0, 0, 8, 1 + len(shape)]) and sizes[1:] == shape and sizes[0] > 0
    if not good or len(raw) != head + int(np.prod(sizes)) or len(raw) > most:
        raise ValueError(f"{path}: is no file of pictures or labels as MNIST has them")
    return np.reshape(np.frombuffer(raw, np.uint8, offset=head), sizes)


def generated(count: int, part: str) -> tuple[Pictures, Labels]:
    """Return generated digits: a small font, moved, slanted, stretched and blurred.

    The same part has the same pictures. It is data, and no noise of a report.
    """
    rng = np.random.default_rng(zlib.crc32(part.encode()))
    glyphs = np.array([[list(map(float, row)) for row in g.split()] for g in _GLYPHS])
    glyphs = np.pad(glyphs, ((0, 0), (1, 1), (1, 1)))
    labels = rng.integers(0, CLASSES, count).astype(np.uint8)
    rows, columns = np.mgrid[:SIDE, :SIDE] - (SIDE - 1) / 2
    pictures = np.empty((count, SIDE, SIDE), np.uint8)
    for i, label in enumerate(labels):
        slant, turn, height, width = rng.normal((0, 0, 0.36, 0.34), (0.15, 0.1, 0.04, 0.04))
        down, right = rng.normal(0, 1.5, 2)
        y = (rows - down) * height + turn * columns * height + 4
        x = (columns - right) * width + slant * rows * width + 3
        picture = _between(glyphs[label], y, x) * rng.uniform(0.6, 1)
        noisy = 255 * picture + rng.normal(0, 8, picture.shape)
        pictures[i] = np.maximum(0, np.minimum(noisy, 255)).astype(np.uint8)
    return pictures, labels


def _between(glyph: Floats, y: Floats, x: Floats) -> Floats:
    """Return the values of a glyph between its points, on a line in each direction."""
    y, x = np.maximum(0, np.minimum(y, 7.999)), np.maximum(0, np.minimum(x, 5.999))
    i, j = y.astype(int), x.astype(int)
    v, u = y - i, x - j
    top = glyph[i, j] * (1 - u) + glyph[i, j + 1] * u
    return top * (1 - v) + (glyph[i + 1, j] * (1 - u) + glyph[i + 1, j + 1] * u) * v


def edges(pictures: Pictures) -> Features:
    """Return the oriented edges of pictures, for a linear model.

    How much the brightness changes across a vertical, a horizontal, a falling and a rising
    line, each averaged over the 5 × 5 blocks of 4 × 4 pixels in the middle, where digits are.
    Then the square roots, without their mean and with Euclidean norm 1. The last feature is the
    constant 0.1. After Dalal and Triggs, "Histograms of Oriented Gradients for Human Detection",
    2005, and Tramèr and Boneh, "Differentially Private Learning Needs Better Features", 2021.

    Parameters
    ----------
    pictures : numpy.ndarray of uint8, shape (n, 28, 28)

    Returns
    -------
    numpy.ndarray of float32, shape (n, 101)
    """
    grey = pictures.astype(np.float32) / 255
    across, down = np.zeros_like(grey), np.zeros_like(grey)
    across[:, 1:-1, 1:-1] = (grey[:, 1:-1, 2:] - grey[:, 1:-1, :-2]) / 2
    down[:, 1:-1, 1:-1] = (grey[:, 2:, 1:-1] - grey[:, :-2, 1:-1]) / 2
    length = np.hypot(across, down) + np.float32(1e-12)
    straight, slanted = (across**2 - down**2) / length, 2 * across * down / length
    channels = [np.maximum(c, 0) for c in (straight, -straight, slanted, -slanted)]
    middle = np.stack(channels, 1)[:, :, 4:24, 4:24]
    blocks = np.reshape(middle, (len(grey), 4, 5, 4, 5, 4))
    found = np.reshape(np.sqrt(np.mean(blocks, axis=(3, 5))), (len(grey), -1))
    found -= found.mean(axis=1, keepdims=True)
    found /= np.linalg.norm(found, axis=1, keepdims=True) + np.float32(1e-12)
    return np.hstack([found, np.full((len(found), 1), 0.1, np.float32)])


@cache
def share(folder: str, client: int, clients: int) -> tuple[Features, Labels]:
    """Return the training data of one client: every clients-th picture."""
    pictures, labels = load(folder, "train")
    return edges(pictures[client::clients]), labels[client::clients]


@cache
def test(folder: str) -> tuple[Features, Labels]:
    """Return the pictures of the test."""
    pictures, labels = load(folder, "t10k")
    return edges(pictures), labels
