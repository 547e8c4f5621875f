"""Models as rows of numbers. A model is a mapping from names to arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import invalid

Model = Mapping[str, NDArray[Any]]
Row = NDArray[np.float32] | NDArray[np.float64]


def trained_arrays(model: Model) -> dict[str, NDArray[np.floating]]:
    """Return the arrays of floating-point numbers, in the order of the model.

    Only these are trained.
    """
    return {name: array for name, array in model.items() if array.dtype.kind == "f"}


def difference(trained: Model, model: Model) -> Row:
    """Return trained - model as one row, in the order of the model.

    A number that is not finite counts as 0: a client that sent nothing would reveal that its
    training failed.

    Returns
    -------
    numpy.ndarray of float32 or float64, shape (dim,)
        The difference of all trained arrays, float64 if one of them is wider than float32.

    Raises
    ------
    InvalidParameter
        If the two have other names or shapes.
    """
    return differences({name: array[np.newaxis] for name, array in trained.items()}, model)[0]


def differences(trained: Model, model: Model) -> Row:
    """Return one row for each of several trained models.

    Parameters
    ----------
    trained : mapping
        The models one after the other: each array has one axis more than that of the model,
        which comes first.

    Returns
    -------
    numpy.ndarray of float32 or float64, shape (n, dim)
        The differences, as :func:`difference` returns them.

    Raises
    ------
    InvalidParameter
        If the two have other names or shapes.
    """
    after, before = trained_arrays(trained), trained_arrays(model)
    count = max((len(array) for array in after.values() if array.ndim), default=0)
    kinds = {name: (count, *array.shape) for name, array in before.items()}
    if {name: array.shape for name, array in after.items()} != kinds:
        raise invalid("arrays", sorted(after), "must have the names and shapes of the model")
    if count < 1:
        raise invalid("arrays", "no models", "must be at least one")
    wide = any(array.dtype.itemsize > 4 for array in before.values())
    kind = np.float64 if wide else np.float32
    parts = [
        np.reshape(after[name].astype(kind) - before[name].astype(kind), (count, -1))
        for name in before
    ]
    return np.nan_to_num(np.concatenate(parts, axis=1), nan=0.0, posinf=0.0, neginf=0.0)


def moved(model: Model, row: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return the model plus a row. Arrays that are not trained stay as they are."""
    result, start = dict(model), 0
    for name, before in trained_arrays(model).items():
        step = np.reshape(row[start : start + before.size], before.shape)
        start += before.size
        result[name] = np.asarray(before + step, dtype=before.dtype)
    return result
