"""Models as rows of numbers. A model is a mapping from names to arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import invalid

Model = Mapping[str, NDArray[Any]]
Names = Sequence[str]
"""The arrays that train, in the order of a row; see :func:`hushgrad.federated.chosen`."""

Row = NDArray[np.float32] | NDArray[np.float64]
Warn = Callable[[str], None]
"""Takes a warning for the operator of a node, who alone may read it: it is about private data."""

_NAMED = 10  # arrays that a text names


def float_arrays(model: Model) -> dict[str, NDArray[np.floating]]:
    """Return the arrays of floating-point numbers, in the order of the model. No others train."""
    return {name: array for name, array in model.items() if array.dtype.kind == "f"}


def size(model: Model, names: Names) -> int:
    """Return how many numbers the arrays of these names have."""
    return sum(model[name].size for name in names)


def difference(trained: Model, model: Model, names: Names, warn: Warn) -> Row:
    """Return trained - model as one row of the arrays that train, in the order of their names.

    A number that is not finite counts as 0: a client that sent nothing would reveal that its
    training failed.

    Parameters
    ----------
    trained, model : mapping
        The model after the training, and as it came. What does not train may be missing from
        the first, and is not looked at.
    names : sequence of str
        The arrays that train.
    warn : callable
        Gets a warning if numbers are not finite, or if some arrays are as they came although
        others have changed.

    Returns
    -------
    numpy.ndarray of float32 or float64, shape (dim,)
        The difference, float64 if one of the arrays is wider than float32.

    Raises
    ------
    InvalidParameter
        If an array that trains is missing or has another shape, or if the model does not have
        an array of the trained one.
    """
    one = {name: array[np.newaxis] for name, array in trained.items()}
    return differences(one, model, names, warn)[0]


def differences(trained: Model, model: Model, names: Names, warn: Warn) -> Row:
    """Return one row for each of several trained models.

    Parameters
    ----------
    trained : mapping
        The models one after the other: each array has one axis more than the model's,
        which comes first.
    model, names, warn
        As for :func:`difference`.

    Returns
    -------
    numpy.ndarray of float32 or float64, shape (n, dim)
        The differences, as :func:`difference` returns them.

    Raises
    ------
    InvalidParameter
        As for :func:`difference`, or if there are no models.
    """
    count = _count(trained, model, names)
    wide = any(model[name].dtype.itemsize > 4 for name in names)
    kind = np.float64 if wide else np.float32
    with np.errstate(invalid="ignore", over="ignore"):  # the warning below says it
        parts = {
            name: np.reshape(trained[name].astype(kind) - model[name].astype(kind), (count, -1))
            for name in names
        }
    _check(parts, warn)
    rows = np.concatenate(list(parts.values()), axis=1)
    return np.nan_to_num(rows, copy=False, nan=0.0, posinf=0.0, neginf=0.0)


def _count(trained: Model, model: Model, names: Names) -> int:
    """Return how many models there are. An error names arrays of the model, and no others."""
    if not trained.keys() <= model.keys():
        raise invalid("arrays", "others", "must have names of the model alone")
    count = max((len(trained[n]) for n in names if n in trained and trained[n].ndim), default=0)
    for name in names:
        after, shape = trained.get(name), (count, *model[name].shape)
        if after is None or after.dtype.kind != "f" or after.shape != shape:
            got = "none" if after is None else f"shape {after.shape[1:]} of {after.dtype}"
            rule = f"must have {name!r} as it came: floating-point numbers of shape {shape[1:]}"
            raise invalid("arrays", got, rule)
    if count < 1:
        raise invalid("arrays", "no models", "must be at least one")
    return count


def _check(parts: Model, warn: Warn) -> None:
    """Warn of a training that has diverged, and of arrays that it has left as they came."""
    lost = {name: int(np.sum(~np.isfinite(part))) for name, part in parts.items()}
    if any(lost.values()):
        size = sum(part.size for part in parts.values())
        warn(
            f"the training has diverged: {sum(lost.values())} of the {size} numbers of its update "
            f"are not finite ({listed([name for name, n in lost.items() if n])}). They count as 0 "
            "in the report. Lower the learning rate or the number of local steps"
        )
    same = [name for name, part in parts.items() if not part.any()]
    if 0 < len(same) < len(parts):
        warn(
            f"the training has left {len(same)} of {len(parts)} arrays as they came "
            f"({listed(same)}). The estimate has noise there all the same. If no client trains "
            "them, leave them out of the server's choice of what trains"
        )


def listed(names: Iterable[str]) -> str:
    """Return the first of the names."""
    every = list(names)
    rest = len(every) - _NAMED
    return ", ".join(every[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def noisy(model: Model, names: Names) -> str:
    """Say which arrays a round trains, for the log of a server. It is public."""
    text = f"noise goes into all {size(model, names)} numbers of {listed(names)}"
    if others := [name for name in model if name not in set(names)]:
        text += f"; {listed(others)} stay as they are"
    return text


def moved(model: Model, names: Names, row: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return the model plus a row of the arrays that train. The others stay as they are."""
    result, start = dict(model), 0
    for name in names:
        before = model[name]
        step = np.reshape(row[start : start + before.size], before.shape)
        start += before.size
        result[name] = np.asarray(before + step, dtype=before.dtype)
    return result
