"""Which arrays train: what a server chooses, and what a client makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hushgrad import InvalidParameter
from hushgrad.federated import chosen, difference, differences, moved, noisy, received

Arrays = dict[str, NDArray[Any]]
HEAD = ("head.weight", "head.bias")


def network(value: float = 0.0) -> Arrays:
    """Return a model as PyTorch has it: a frozen body, batch norm, and a head of two types."""
    return {
        "body.weight": np.full((3, 2), value, np.float16),
        "bn.running_var": np.full(3, value, np.float32),
        "bn.num_batches_tracked": np.array(7),
        "head.weight": np.full((2, 3), value, np.float32),
        "head.bias": np.full(2, value, np.float64),
        "w[0]": np.full(1, value, np.float32),
    }


def matrix(_: str, array: NDArray[Any]) -> bool:
    """Choose what has two axes."""
    return array.ndim == 2


def every(_: str, __: NDArray[Any]) -> bool:
    """Choose all."""
    return True


def none(_: str, __: NDArray[Any]) -> bool:
    """Choose nothing."""
    return False


FLOATS = ("body.weight", "bn.running_var", *HEAD, "w[0]")


@pytest.mark.parametrize(
    ("train", "names"),
    [
        (None, FLOATS),
        ("head.weight", HEAD[:1]),
        ("head.*", HEAD),
        (("head.bias", "head.weight"), HEAD),  # in the order of the model
        (["*.weight", "head.*"], ("body.weight", *HEAD)),
        ("bn.*", ("bn.running_var",)),  # a pattern leaves counters out
        ("w[0]", ("w[0]",)),  # a name is no pattern
        (matrix, ("body.weight", "head.weight")),
        (every, FLOATS),
    ],
)
def test_a_server_chooses_by_names_patterns_and_functions(
    train: Any, names: tuple[str, ...]
) -> None:
    assert chosen(network(), train) == names


@pytest.mark.parametrize(
    ("train", "said"),
    [
        ("bn.num_batches_tracked", r"and 'bn.num_batches_tracked' has int64"),
        (["head.*", "bn.num_*"], r"'bn.num_batches_tracked'.*floating-point"),
        ("heads.*", r"'heads\.\*'.*must match an array.*body\.weight, bn\.running_var"),
        (["head.*", "tail"], r"got 'tail'"),
        ((), r"no array.*body\.weight"),
        (none, r"no array.*must leave an array"),
        (3, r"int.*names, patterns or a function"),
        ([b"head"], r"list.*names, patterns or a function"),
    ],
)
def test_a_choice_without_an_array_is_an_error_that_names_it(train: Any, said: str) -> None:
    with pytest.raises(InvalidParameter, match=said) as refused:
        chosen(network(), train)
    assert refused.value.param == "train"


def test_a_model_without_floating_point_numbers_does_not_train() -> None:
    with pytest.raises(InvalidParameter, match="no array"):
        chosen({"steps": np.array(7)}, None)


def test_a_client_takes_the_names_in_the_order_of_the_server() -> None:
    assert received(network(), ["head.bias", "head.weight"], 8) == ("head.bias", "head.weight")
    for names, dim, said in (
        (None, 8, "names, patterns"),
        (["head.weight", "tail"], 6, "has no 'tail'"),
        (["bn.num_batches_tracked"], 1, "'bn.num_batches_tracked' has int64"),
        (HEAD, 9, "got 9, rule: must be the 8 numbers"),
        (["head.weight", "head.weight"], 12, "12 numbers"),
    ):
        with pytest.raises(InvalidParameter, match=said):
            received(network(), names, dim)


def test_only_what_trains_is_in_a_difference() -> None:
    after = network(1) | {"head.weight": np.reshape(np.arange(6, dtype=np.float32), (2, 3))}
    row = difference(after, network(), HEAD, never)
    assert row.tolist() == [0, 1, 2, 3, 4, 5, 1, 1]
    assert row.dtype == np.float64
    backwards = difference(after, network(), HEAD[::-1], never)
    assert backwards.tolist() == [1, 1, 0, 1, 2, 3, 4, 5]
    alone = {name: after[name] for name in HEAD}  # a client may leave out what does not train
    assert (difference(alone, network(), HEAD, never) == row).all()
    back = moved(network(), HEAD, row.astype(np.float64))
    assert back["head.weight"].tobytes() == after["head.weight"].tobytes()
    kept = [name for name in network() if name not in HEAD]
    assert all(back[name].tobytes() == network()[name].tobytes() for name in kept)
    assert {n: a.dtype for n, a in back.items()} == {n: a.dtype for n, a in network().items()}


def test_records_have_an_axis_more_where_they_train_alone() -> None:
    after = network(1) | {"head.weight": np.ones((4, 2, 3)), "head.bias": np.zeros((4, 2))}
    rows = differences(after, network(), HEAD, lambda text: None)
    assert rows.tolist() == [[1.0] * 6 + [0.0] * 2] * 4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"head.bias": None}, "got none, rule: must have 'head.bias'"),
        ({"head.bias": np.zeros(3)}, r"shape \(3,\) of float64.*'head.bias'.*shape \(2,\)"),
        ({"head.bias": np.zeros(2, int)}, "int64, rule: must have 'head.bias'"),
        ({"secret": np.zeros(2)}, "must have names of the model alone"),
    ],
)
def test_a_training_that_lost_an_array_is_refused(change: Any, said: str) -> None:
    after = {name: array for name, array in (network(1) | change).items() if array is not None}
    with pytest.raises(InvalidParameter, match=said) as refused:
        difference(after, network(), HEAD, never)
    assert "secret" not in str(refused.value)


def test_a_server_names_what_stays() -> None:
    assert noisy(network(), HEAD) == (
        "noise goes into all 8 numbers of head.weight, head.bias; "
        "body.weight, bn.running_var, bn.num_batches_tracked, w[0] stay as they are"
    )


def never(text: str) -> None:
    """Fail where nothing is to be warned of."""
    raise AssertionError(text)
