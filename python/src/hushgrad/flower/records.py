"""The records that a server and its clients exchange, and models as rows of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord
from numpy.typing import NDArray

from ..federated import models

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


def parameters(model: ArrayRecord) -> dict[str, NDArray[Any]]:
    """Return the arrays of floating-point numbers. Only these are trained."""
    return models.trained_arrays(_arrays(model))


def difference(trained: ArrayRecord, model: ArrayRecord) -> models.Row:
    """Return trained - model as one row; see :func:`hushgrad.federated.difference`."""
    return models.difference(_arrays(trained), _arrays(model))


def differences(trained: ArrayRecord, model: ArrayRecord) -> models.Row:
    """Return one row for each of several models; see :func:`hushgrad.federated.differences`."""
    return models.differences(_arrays(trained), _arrays(model))


def moved(model: ArrayRecord, row: NDArray[np.float64]) -> ArrayRecord:
    """Return the model plus a row. Arrays that are not trained stay as they are."""
    before = _arrays(model)
    after = models.moved(before, row)
    changed = {n: Array(a) if a is not before[n] else model[n] for n, a in after.items()}
    return ArrayRecord(changed)


def _arrays(model: ArrayRecord) -> dict[str, NDArray[Any]]:
    return {name: array.numpy() for name, array in model.items()}
