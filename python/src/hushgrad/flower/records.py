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

LOG_PROOF = "log_proof"
"""Key of the proof that the round is in the server's log, in the record of a server, if any."""

UNIT = "unit"
"""Key of what a report protects, in the record of a server."""

TRAIN = "train"
"""Key of the names of the arrays that train, in the record of a server."""

REPORT = "report"
"""Key of the packed reports, in the record of a client."""

REFUSED = "hushgrad refused: "
"""How the reason of an error begins when a client refused to take part."""

FAILED = "hushgrad: the app failed, and the log of the node says why"
"""The reason of an error when the app of a client failed."""


def difference(
    trained: ArrayRecord, model: ArrayRecord, names: models.Names, warn: models.Warn
) -> models.Row:
    """Return trained - model as one row; see :func:`hushgrad.federated.difference`."""
    return models.difference(arrays(trained), arrays(model), names, warn)


def differences(
    trained: ArrayRecord, model: ArrayRecord, names: models.Names, warn: models.Warn
) -> models.Row:
    """Return one row for each of several models; see :func:`hushgrad.federated.differences`."""
    return models.differences(arrays(trained), arrays(model), names, warn)


def part(model: ArrayRecord, names: models.Names) -> ArrayRecord:
    """Return the part of a model that trains, and the model itself if that is all of it.

    Strategies of Flower get no other arrays: they multiply every array by weights, which makes
    floating-point numbers of a counter.
    """
    return model if len(names) == len(model) else ArrayRecord({name: model[name] for name in names})


def moved(model: ArrayRecord, names: models.Names, row: NDArray[np.float64]) -> ArrayRecord:
    """Return the part of a model that trains, plus a row."""
    after = models.moved(arrays(part(model, names)), names, row)
    return ArrayRecord({name: Array(array) for name, array in after.items()})


def whole(model: ArrayRecord, names: models.Names, stepped: ArrayRecord) -> ArrayRecord:
    """Return a model with the arrays of a step, in the types of the model."""
    return ArrayRecord(
        {
            name: Array(np.asarray(stepped[name].numpy(), array.dtype)) if name in names else array
            for name, array in model.items()
        }
    )


def arrays(model: ArrayRecord) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model as NumPy has them."""
    return {name: array.numpy() for name, array in model.items()}
