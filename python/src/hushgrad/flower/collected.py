"""Records that a ClientApp gives in parts, for one report of their sum."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial

import numpy as np
from flwr.app import ArrayRecord
from numpy.typing import NDArray

from ..errors import HushgradError
from ..federated import models
from ..rounds import RecordSum, Round
from . import records

Updates = Mapping[str, NDArray[np.floating]]

_collector: ContextVar[Callable[[Updates], None] | None] = ContextVar("collector", default=None)


def add_updates(updates: Updates) -> None:
    """Add the updates of some records to the report of the training that is under way.

    Call it in the ClientApp, as often as there are parts: all records need not be in memory
    together. The ClientApp then returns no arrays. It works below a :class:`HushgradMod` with
    ``unit="example"``, in a round whose reports are sums of records. Each record's update is
    clipped by itself.

    Parameters
    ----------
    updates : mapping of str to numpy.ndarray of floats, shape (records, ...)
        What each record alone would add to each array that trains, by the array's name. Other
        arrays of the model may be there, and are not looked at.
        For one step of gradient descent this is minus the learning rate times the gradients.

    Raises
    ------
    HushgradError
        If no such training is under way.
    InvalidParameter
        If the updates have other names or shapes than the model, or if the records are more than
        the round has room for.
    """
    collect = _collector.get()
    if collect is None:
        raise HushgradError(
            "add_updates: no sum of records is under way: call it in a ClientApp below "
            "HushgradMod(unit='example'), in a round with the parameter records"
        )
    collect(updates)


@contextmanager
def collecting(
    round_: Round, model: ArrayRecord, names: models.Names, warn: models.Warn
) -> Generator[RecordSum]:
    """Collect what :func:`add_updates` gets."""
    total = RecordSum(round_)
    zero = {name: np.zeros_like(array) for name, array in records.arrays(model).items()}
    token = _collector.set(partial(_add, total, zero, names, warn))
    try:
        yield total
    finally:
        _collector.reset(token)


def _add(
    total: RecordSum, zero: models.Model, names: models.Names, warn: models.Warn, updates: Updates
) -> None:
    total.add(models.differences(updates, zero, names, warn))
