"""Pictures in the form of MNIST, which the tests of the examples train on."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def write(folder: Path, part: str, count: int) -> None:
    """Write pictures of ten patterns that are easy to tell apart, in the form of MNIST."""
    rng = np.random.default_rng(1)  # data, not noise of reports
    labels = np.arange(count, dtype=np.uint8) % 10
    pictures = rng.integers(0, 40, (count, 28, 28), np.uint8)
    for i, label in enumerate(labels):
        pictures[i, 2 * label + 4 : 2 * label + 8, 4:24] += 200
    for name, kind, data in (("images", 3, pictures), ("labels", 1, labels)):
        head = bytes([0, 0, 8, kind]) + b"".join(n.to_bytes(4, "big") for n in data.shape)
        (folder / f"{part}-{name}-idx{kind}-ubyte").write_bytes(head + data.tobytes())
