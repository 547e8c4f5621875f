"""Gradients as rows of numbers, on their way to the helper."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .errors import invalid

Floats = NDArray[np.float32] | NDArray[np.float64]
Matrix = NDArray[np.float32 | np.float64]

_FRAME_BYTES = 4 << 20
_MAX_ROWS = 1 << 16


def checked(rows: Floats, dim: int) -> Matrix:
    """Return rows of dim numbers as a matrix of little-endian numbers, one row after the other.

    Raises
    ------
    InvalidParameter
        If the rows have another type or shape.
    """
    if not isinstance(rows, np.ndarray) or isinstance(rows, np.ma.MaskedArray):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise invalid("rows", type(rows).__name__, "must be a numpy array without a mask")
    if rows.dtype.kind != "f" or rows.dtype.itemsize not in (4, 8):
        raise invalid("rows", rows.dtype, "must be of type float32 or float64")
    if rows.ndim not in (1, 2) or rows.shape[-1] != dim or len(rows) == 0:
        rule = f"must be of shape ({dim},) or (n, {dim}) with n of at least 1"
        raise invalid("rows", rows.shape, rule)
    little = np.dtype[np.float32 | np.float64](f"<f{rows.dtype.itemsize}")
    return np.ascontiguousarray(np.atleast_2d(rows), dtype=little)


def frames(matrix: Matrix) -> Iterator[tuple[int, Matrix]]:
    """Yield parts of whole rows that fit into one request each, and the number of the first row."""
    step = max(1, min(_MAX_ROWS, _FRAME_BYTES // (matrix.itemsize * matrix.shape[1])))
    for start in range(0, len(matrix), step):
        yield start, matrix[start : start + step]
