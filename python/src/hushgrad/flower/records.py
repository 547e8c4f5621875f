"""The records that a server and its clients exchange, and models as rows of numbers."""

from __future__ import annotations

import numpy as np
from flwr.app import Array, ArrayRecord
from numpy.typing import NDArray

from ..errors import invalid

RECORD = "hushgrad"
"""Name of the ConfigRecord in both directions."""

ROUND = "round"
"""Key of the description of the round, in the record of a server."""

REPORT = "report"
"""Key of the report, in the record of a client."""

REFUSED = "hushgrad refused: "
"""How the reason of an error begins when a client refused to take part."""

Row = NDArray[np.float32] | NDArray[np.float64]


def parameters(model: ArrayRecord) -> dict[str, NDArray[np.floating]]:
    """Return the arrays of floating-point numbers. Only these are trained."""
    arrays = {name: array.numpy() for name, array in model.items()}
    return {name: array for name, array in arrays.items() if array.dtype.kind == "f"}


def difference(trained: ArrayRecord, model: ArrayRecord) -> Row:
    """Return trained - model as one row, in the order of the model.

    A number that is not finite counts as 0: a client that sent nothing would reveal that its
    training failed.

    Raises
    ------
    InvalidParameter
        If the two have other names or shapes.
    """
    after, before = parameters(trained), parameters(model)
    kinds = {name: array.shape for name, array in before.items()}
    if {name: array.shape for name, array in after.items()} != kinds:
        raise invalid("arrays", sorted(after), "must have the names and shapes of the model")
    wide = any(array.dtype.itemsize > 4 for array in before.values())
    kind = np.float64 if wide else np.float32
    parts = [(after[name].astype(kind) - before[name].astype(kind)).ravel() for name in before]
    return np.nan_to_num(np.concatenate(parts), nan=0.0, posinf=0.0, neginf=0.0)


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
