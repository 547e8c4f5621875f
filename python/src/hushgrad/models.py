"""Models of other libraries, as names and arrays, and which of their arrays train.

Flower and NVFlare send a model as named arrays. ``train`` of their adapters takes some of the
names. With PyTorch and with Keras start with :func:`trainable`, with JAX and Flax with
:func:`flatten`, and with the linear models of scikit-learn with :func:`coefficients`. No such
library is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from .errors import invalid

Arrays: TypeAlias = dict[str, NDArray[Any]]
"""A model: arrays by their names."""

Tree: TypeAlias = Mapping[str, Any]
"""Arrays in mappings in mappings, as in JAX."""


def trainable(model: object) -> list[str]:
    """Return the names of the arrays of a model that train.

    Parameters
    ----------
    model : torch.nn.Module or keras.Model
        A module of PyTorch, also one with adapters of PEFT: the parameters with
        ``requires_grad``, by their names in ``state_dict()``. Buffers, such as the running mean of
        batch norm, are none. Of a parameter with several names it is the last one, which
        ``load_state_dict`` loads last. Or a model of Keras: the ``trainable_weights``, by their
        places in ``get_weights()``. These are the names that Flower's ArrayRecord gives them.

    Raises
    ------
    InvalidParameter
        If it is no such model.
    """
    given = cast("Any", model)
    if hasattr(model, "named_parameters"):
        train = {id(array) for array in given.parameters() if array.requires_grad}
        every = given.state_dict(keep_vars=True).items()
        return list({id(array): str(name) for name, array in every if id(array) in train}.values())
    if hasattr(model, "trainable_weights"):
        train = {id(weight) for weight in given.trainable_weights}
        return [str(i) for i, weight in enumerate(given.weights) if id(weight) in train]
    rule = "must be a module of PyTorch or a model of Keras"
    raise invalid("model", type(model).__name__, rule)


def gradients(
    model: object, loss: Callable[[Any, Any], Any], batches: Iterable[tuple[Any, Any]]
) -> Arrays:
    """Return the gradients of a module of PyTorch, one for each batch.

    :func:`hushgrad.plan` takes them as ``public``: then a batch is as many public examples as a
    client holds. Batches of one example are what :func:`hushgrad.flower.add_updates` takes, times
    minus the learning rate. It works with every module and every version of PyTorch, and takes one
    backward pass for each batch. ``torch.func.vmap`` is faster where it works.

    Parameters
    ----------
    model : torch.nn.Module
        The module, in the mode in which it trains. With batch norm that is evaluation mode:
        otherwise a batch of one is an error of PyTorch, and the running numbers move. The gradients
        that the parameters have are set to zero.
    loss : callable
        Gets what the module returns and the labels, and returns a mean, as
        ``torch.nn.CrossEntropyLoss()`` does.
    batches : iterable of pair
        Inputs and labels, as a DataLoader has them.

    Returns
    -------
    dict of str to numpy.ndarray
        Arrays of shape (batches, ...) by the names that :func:`trainable` returns.

    Raises
    ------
    InvalidParameter
        If it is no module of PyTorch, or if there is no batch.
    """
    given = cast("Any", model)
    if not hasattr(model, "named_parameters"):
        raise invalid("model", type(model).__name__, "must be a module of PyTorch")
    parameters = given.state_dict(keep_vars=True)
    rows: dict[str, list[NDArray[Any]]] = {name: [] for name in trainable(model)}
    count = 0
    for x, y in batches:
        count += 1
        given.zero_grad()
        loss(given(x), y).backward()
        for name, row in rows.items():
            found = parameters[name].grad
            still = np.zeros(tuple(parameters[name].shape), np.float32)
            row.append(still if found is None else np.array(found.detach().cpu()))
    if count == 0:
        raise invalid("batches", "none", "must be at least one")
    given.zero_grad()
    return {name: np.stack(row) for name, row in rows.items()}


def flatten(tree: Tree) -> Arrays:
    """Return the arrays of a tree of mappings, as JAX and Flax have them, by their paths.

    ``{"params": {"head": {"kernel": k}}}`` becomes ``{"params/head/kernel": k}``. Empty mappings
    are left out.

    Raises
    ------
    InvalidParameter
        If a key is no text or has a "/", or if a list or a tuple stands in the tree.
    """
    return dict(_leaves(tree, ""))


def _leaves(tree: Tree, path: str) -> Iterator[tuple[str, NDArray[Any]]]:
    for key, value in cast("Mapping[object, object]", tree).items():
        if not isinstance(key, str) or not key or "/" in key:
            raise invalid("tree", f"the key {key!r}", "must have texts without '/' as keys")
        name = path + key
        if isinstance(value, Mapping):
            yield from _leaves(cast("Tree", value), f"{name}/")
        elif isinstance(value, list | tuple):
            rule = f"must have mappings and arrays alone, and {name!r} is none"
            raise invalid("tree", type(cast("object", value)).__name__, rule)
        else:
            yield name, np.asarray(value)


def unflatten(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Return the tree of which :func:`flatten` returns these arrays.

    Raises
    ------
    InvalidParameter
        If a name is also the path of another array.
    """
    tree: dict[str, Any] = {}
    for name, array in arrays.items():
        *path, last = name.split("/")
        branch: dict[str, Any] = tree
        for key in path:
            branch = branch.setdefault(key, {})
            if not isinstance(branch, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise invalid("arrays", repr(name), "must not have the path of another array")
        if last in branch:
            raise invalid("arrays", repr(name), "must not be the path of another array")
        branch[last] = array
    return tree


def coefficients(estimator: object) -> Arrays:
    """Return ``coef_`` and ``intercept_`` of a linear model of scikit-learn.

    An estimator with ``fit_intercept=False`` has no ``intercept_`` here: it does not train.

    Raises
    ------
    InvalidParameter
        If the estimator has none, as before its first ``fit`` or ``partial_fit``.
    """
    names = _names(estimator)
    for name in names:
        if not hasattr(estimator, name):
            got, rule = type(estimator).__name__, f"must be a linear model that has {name}"
            raise invalid("estimator", got, f"{rule}: fit it, or set_coefficients")
    return {name: np.array(getattr(estimator, name)) for name in names}


def set_coefficients(estimator: object, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Put what :func:`coefficients` has returned into an estimator, which gets copies.

    The estimator may be one that was never fit. Zeros are a first model, of the shapes
    (classes, features) and (classes,), or (1, features) and (1,) for two classes. A ``partial_fit``
    goes on from there. To predict without it, a classifier needs its ``classes_``.

    Raises
    ------
    InvalidParameter
        If an array is missing.
    """
    names = _names(estimator)
    for name in names:
        if name not in arrays:
            raise invalid("arrays", ", ".join(sorted(arrays)) or "none", f"must have {name!r}")
    for name in names:
        setattr(estimator, name, np.array(arrays[name]))


def _names(estimator: object) -> list[str]:
    """Return the names of what an estimator trains."""
    return ["coef_", "intercept_"] if getattr(estimator, "fit_intercept", True) else ["coef_"]
