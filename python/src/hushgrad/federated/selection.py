"""Which arrays of a model train. The server chooses them, and tells the clients their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeAlias, cast

from numpy.typing import NDArray

from ..errors import InvalidParameter, invalid
from .models import Model, float_arrays, listed, size

Train: TypeAlias = str | Sequence[str] | Callable[[str, NDArray[Any]], bool] | None
"""What a server may say: nothing, names and patterns, or a function of a name and its array."""


def chosen(model: Model, train: Train) -> tuple[str, ...]:
    """Return the names of the arrays that train, in the order of the model.

    Parameters
    ----------
    model : mapping
        The server's model.
    train : str, sequence of str, or callable, optional
        A name or a pattern as of :mod:`fnmatch`, such as ``"head.*"``, or several of them. A
        callable gets the name and the array, and says whether it trains. Without it all arrays
        of floating-point numbers train. Other arrays never do.

    Raises
    ------
    InvalidParameter
        If a name or a pattern has no such array, or if no array trains.
    """
    floats = float_arrays(model)
    if train is None:
        names = set(floats)
    elif callable(train):
        names = {name for name, array in floats.items() if train(name, array)}
    else:
        names = {name for each in _texts(train) for name in _matches(each, model)}
    if not names:
        raise invalid("train", "no array", f"must leave an array that trains, of: {listed(floats)}")
    return tuple(name for name in floats if name in names)


def _texts(train: object) -> list[str]:
    """Return names and patterns."""
    texts = [train] if isinstance(train, str) else train
    if isinstance(texts, Iterable):
        every = list(cast("Iterable[object]", texts))
        if all(isinstance(each, str) for each in every):
            return cast("list[str]", every)
    raise invalid("train", type(train).__name__, "must be names, patterns or a function")


def _matches(text: str, model: Model) -> list[str]:
    """Return the arrays of floating-point numbers that have a name or match a pattern."""
    floats = float_arrays(model)
    named = [text] if text in model else [name for name in model if fnmatchcase(name, text)]
    found = [name for name in named if name in floats]
    if found:
        return found
    if named:
        raise _whole(named[0], model)
    raise invalid("train", repr(text), f"must match an array of the model: {listed(model)}")


def _whole(name: str, model: Model) -> InvalidParameter:
    """Return the error for an array that cannot train."""
    rule = f"must be arrays of floating-point numbers, and {name!r} has {model[name].dtype}"
    return invalid("train", repr(name), rule)


def received(model: Model, names: object, dim: int) -> tuple[str, ...]:
    """Return the names that a server sent, if a client's model has them and they fill a round.

    Parameters
    ----------
    model : mapping
        The model that came.
    names : object
        What came as the names.
    dim : int
        Numbers of the round's gradient.

    Raises
    ------
    InvalidParameter
        If there are no names, if the model lacks one, or if the arrays have another size.
    """
    texts = tuple(_texts(names))
    for name in texts:
        if name not in model:
            rule = f"must be arrays of the model that came, which has no {name!r}"
            raise invalid("train", repr(name), rule)
        if model[name].dtype.kind != "f":
            raise _whole(name, model)
    numbers = size(model, texts)
    if numbers != dim or len(set(texts)) != len(texts):
        raise invalid("dim", dim, f"must be the {numbers} numbers of the arrays that train")
    return texts
