"""Gradients as rows of numbers, on their way to the helper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .errors import invalid

Floats = (
    NDArray[np.float16]
    | NDArray[np.float32]
    | NDArray[np.float64]
    | Sequence[float]
    | Sequence[Sequence[float]]
    | Sequence[NDArray[np.floating]]
)
Matrix = NDArray[np.float32 | np.float64]

_TYPES = "must be of type float16, float32 or float64, as .astype(np.float32) makes them"
_FRAME_BYTES = 4 << 20
_MAX_ROWS = 1 << 16


def checked(rows: Floats, dim: int, name: str = "rows") -> Matrix:
    """Return rows of dim numbers as a matrix of little-endian numbers, one row after the other.

    The name is what the caller's rows are called in errors.

    Raises
    ------
    InvalidParameter
        If the rows have another type or shape.
    """
    array = _array(rows, name)
    if array.dtype.kind != "f" or array.dtype.itemsize not in (2, 4, 8):
        raise invalid(name, array.dtype, _TYPES)
    if array.ndim not in (1, 2) or array.shape[-1] != dim or len(array) == 0:
        rule = f"must be of shape ({dim},) or (n, {dim}) with n of at least 1"
        raise invalid(name, array.shape, rule)
    # Every float16 is a float32.
    little = np.dtype[np.float32 | np.float64](f"<f{max(4, array.dtype.itemsize)}")
    return np.ascontiguousarray(np.atleast_2d(array), dtype=little)


def _array(rows: object, name: str) -> NDArray[Any]:
    """Return an array as it is, and a list or a tuple as an array."""
    masked = isinstance(rows, np.ma.MaskedArray)
    if isinstance(rows, np.ndarray) and not masked:
        return cast("NDArray[Any]", rows)
    each = cast("Sequence[object]", rows) if isinstance(rows, list | tuple) else ()
    if masked or any(isinstance(row, np.ma.MaskedArray) for row in each) or not each:
        rule = "must be a numpy array without a mask, or a list of numbers or of such arrays"
        raise invalid(name, type(cast("object", rows)).__name__, rule)
    try:
        made = np.asarray(each)
    except ValueError:
        raise invalid(name, "rows of several lengths", "must have one length") from None
    return made.astype(np.float64) if made.dtype.kind in "iu" else made


def frames(matrix: Matrix) -> Iterator[tuple[int, Matrix]]:
    """Yield parts of whole rows that fit into one request each, and the number of the first row."""
    step = max(1, min(_MAX_ROWS, _FRAME_BYTES // (matrix.itemsize * matrix.shape[1])))
    for start in range(0, len(matrix), step):
        yield start, matrix[start : start + step]
