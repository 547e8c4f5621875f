"""Models as rows of numbers. A model is a mapping from names to arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import invalid

Model = Mapping[str, NDArray[Any]]
Row = NDArray[np.float32] | NDArray[np.float64]
Warn = Callable[[str], None]
"""Takes a warning for the operator of a node, who alone may read it: it is about private data."""

_NAMED = 10  # arrays that a warning names


def trained_arrays(model: Model) -> dict[str, NDArray[np.floating]]:
    """Return the arrays of floating-point numbers, in the order of the model.

    Only these are trained.
    """
    return {name: array for name, array in model.items() if array.dtype.kind == "f"}


def difference(trained: Model, model: Model, warn: Warn) -> Row:
    """Return trained - model as one row, in the order of the model.

    A number that is not finite counts as 0: a client that sent nothing would reveal that its
    training failed.

    Parameters
    ----------
    trained, model : mapping
        The model after the training, and as it came.
    warn : callable
        Gets a warning if numbers are not finite, or if some arrays are as they came although
        others have changed.

    Returns
    -------
    numpy.ndarray of float32 or float64, shape (dim,)
        The difference of all trained arrays, float64 if one of them is wider than float32.

    Raises
    ------
    InvalidParameter
        If the two have other names or shapes.
    """
    one = {name: array[np.newaxis] for name, array in trained.items()}
    return differences(one, model, warn)[0]


def differences(trained: Model, model: Model, warn: Warn) -> Row:
    """Return one row for each of several trained models.

    Parameters
    ----------
    trained : mapping
        The models one after the other: each array has one axis more than the model's,
        which comes first.
    model, warn
        As for :func:`difference`.

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
    with np.errstate(invalid="ignore", over="ignore"):  # the warning below says it
        parts = {
            name: np.reshape(after[name].astype(kind) - before[name].astype(kind), (count, -1))
            for name in before
        }
    _check(parts, warn)
    rows = np.concatenate(list(parts.values()), axis=1)
    return np.nan_to_num(rows, copy=False, nan=0.0, posinf=0.0, neginf=0.0)


def _check(parts: Model, warn: Warn) -> None:
    """Warn of a training that has diverged, and of arrays that it has left as they came."""
    lost = {name: int(np.sum(~np.isfinite(part))) for name, part in parts.items()}
    if any(lost.values()):
        size = sum(part.size for part in parts.values())
        warn(
            f"the training has diverged: {sum(lost.values())} of the {size} numbers of its update "
            f"are not finite ({_named([name for name, n in lost.items() if n])}). They count as 0 "
            "in the report. Lower the learning rate or the number of local steps"
        )
    same = [name for name, part in parts.items() if not part.any()]
    if 0 < len(same) < len(parts):
        warn(
            f"the training has left {len(same)} of {len(parts)} arrays as they came "
            f"({_named(same)}). The estimate has noise there all the same. If no client trains "
            "them, leave them out of the model that the server sends, and keep them at the clients"
        )


def _named(names: Sequence[str]) -> str:
    """Return the first of the names."""
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def noisy(model: Model) -> str:
    """Say which arrays a round trains, for the log of a server. It is public."""
    trained = trained_arrays(model)
    size = sum(array.size for array in trained.values())
    text = f"noise goes into all {size} numbers of {_named(list(trained))}"
    if others := [name for name in model if name not in trained]:
        text += f"; {_named(others)} stay as they are"
    return text


def moved(model: Model, row: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return the model plus a row. Arrays that are not trained stay as they are."""
    result, start = dict(model), 0
    for name, before in trained_arrays(model).items():
        step = np.reshape(row[start : start + before.size], before.shape)
        start += before.size
        result[name] = np.asarray(before + step, dtype=before.dtype)
    return result
