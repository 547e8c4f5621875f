"""The records that a server and its clients exchange, and models as rows of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord
from numpy.typing import NDArray

from ..errors import invalid

RECORD = "hushgrad"
"""Name of the ConfigRecord in both directions."""

ROUND = "round"
"""Key of the description of the round, in the record of a server."""

UNIT = "unit"
"""Key of what a report protects, in the record of a server."""

REPORT = "report"
"""Key of the packed reports, in the record of a client."""

REFUSED = "hushgrad refused: "
"""How the reason of an error begins when a client refused to take part."""

FAILED = "hushgrad: the app failed, and the log of the node says why"
"""The reason of an error when the app of a client failed."""

Rows = NDArray[np.float32] | NDArray[np.float64]


def parameters(model: ArrayRecord) -> dict[str, NDArray[np.floating]]:
    """Return the arrays of floating-point numbers. Only these are trained."""
    arrays = {name: array.numpy() for name, array in model.items()}
    return {name: array for name, array in arrays.items() if array.dtype.kind == "f"}


def difference(trained: ArrayRecord, model: ArrayRecord) -> Rows:
    """Return trained - model as one row, in the order of the model.

    A number that is not finite counts as 0: a client that sent nothing would reveal that its
    training failed.

    Raises
    ------
    InvalidParameter
        If the two have other names or shapes.
    """
    after, before = parameters(trained), parameters(model)
    if _shapes(after) != _shapes(before):
        raise invalid("arrays", _shapes(after), "must have the names and shapes of the model")
    kind = _kind(before)
    parts = [(after[name].astype(kind) - before[name].astype(kind)).ravel() for name in before]
    return _finite(np.concatenate(parts))


def updates(made: ArrayRecord, model: ArrayRecord) -> Rows:
    """Return one row for each record, in the order of the model.

    A number that is not finite counts as 0.

    Parameters
    ----------
    made : ArrayRecord
        Arrays with the names of the model's, each of shape (records, ...): an update of the
        model's array for each record.
    model : ArrayRecord
        The model.

    Raises
    ------
    InvalidParameter
        If the names or shapes are others, or if there is no record.
    """
    rows, before = parameters(made), parameters(model)
    count = min((len(array) if array.ndim else 0 for array in rows.values()), default=0)
    wanted = {name: (count, *array.shape) for name, array in before.items()}
    if count < 1 or _shapes(rows) != wanted:
        rule = "must have the names of the model, and a first axis with at least one record"
        raise invalid("arrays", _shapes(rows), rule)
    kind = _kind(before)
    return _finite(np.hstack([np.reshape(rows[name].astype(kind), (count, -1)) for name in before]))


def _shapes(arrays: dict[str, NDArray[np.floating]]) -> dict[str, tuple[int, ...]]:
    return {name: array.shape for name, array in arrays.items()}


def _kind(arrays: dict[str, NDArray[np.floating]]) -> np.dtype[Any]:
    wide = any(array.dtype.itemsize > 4 for array in arrays.values())
    return np.dtype(np.float64 if wide else np.float32)


def _finite(rows: NDArray[Any]) -> Rows:
    return np.nan_to_num(rows, nan=0.0, posinf=0.0, neginf=0.0)


def moved(model: ArrayRecord, row: NDArray[np.float64]) -> ArrayRecord:
    """Return the model plus a row. Arrays that are not trained stay as they are."""
    result, start = ArrayRecord(), 0
    trained = parameters(model)
    for name, array in model.items():
        if name not in trained:
            result[name] = array
            continue
        before = trained[name]
        step = np.reshape(row[start : start + before.size], before.shape)
        start += before.size
        result[name] = Array(np.asarray(before + step, dtype=before.dtype))
    return result
