"""Records that a training script gives in parts, for one report of their sum."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import HushgradError

if TYPE_CHECKING:
    from .task import Task

Updates = Mapping[str, NDArray[np.floating]]

_lock = threading.Lock()
_open: dict[str, Task] = {}
"""Tasks that are under way in this process, by the names of their sites."""


def add_updates(updates: Updates) -> None:
    """Add the updates of some records to the report of the task that is under way.

    Call it in the training script, as often as there are parts: all records need not be in memory
    together. The script then sends a model without parameters, ``flare.FLModel(params={})``. The
    filter :class:`HushgradPrivatize` has to have ``unit="example"``, and the round's reports have
    to be sums of records. Each record's update is clipped by itself. What is added in a round that
    the site refuses is dropped.

    The script runs in the process of the filter, which is NVFlare's default: not with
    ``launch_external_process``.

    Parameters
    ----------
    updates : mapping of str to numpy.ndarray of floats, shape (records, ...)
        What each record alone would add to each array of the model that trains, by the array's
        name. For one step of gradient descent this is minus the learning rate times the gradients.

    Raises
    ------
    HushgradError
        If no such task is under way in this process, or tasks of several sites are.
    InvalidParameter
        If the updates have other names or shapes than the model, or if the records are more than
        the round has room for.
    """
    with _lock:
        tasks = list(_open.values())
    if len(tasks) != 1:
        raise HushgradError(
            f"add_updates: {len(tasks)} tasks with a round are under way in this process, and it "
            "must be one: call it in a training script that NVFlare runs in the process of the "
            "filter HushgradPrivatize, before it sends its result"
        )
    tasks[0].add(updates)


def begin(site: str, task: Task) -> None:
    """Let :func:`add_updates` add to a task."""
    with _lock:
        _open[site] = task


def end(site: str) -> None:
    """Let nothing more be added to the task of a site."""
    with _lock:
        _open.pop(site, None)
