"""Rounds: descriptions, policies and reports."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from conftest import DIM, new_round
from numpy.typing import NDArray

from hushgrad import HushgradError, InvalidParameter, Policy, PolicyRefused, Round

Row = NDArray[np.float32]


def test_a_round_says_what_it_is(server: Round, client: Round) -> None:
    assert (server.id, server.mechanism, server.dim, server.report_bytes) == ("r", "coco", DIM, 5)
    assert (server.epsilon, server.delta, server.scale, server.min_reports) == (4.0, 0.0, 0.5, 3)
    assert server.params["sparsity"] == 2
    assert server.guarantee.trust == "local"
    assert server.guarantee.epsilon <= 4.0
    assert client.digest == server.digest
    assert client != server  # it has a policy
    assert client == Round(server.description, Policy(max_epsilon=4.0))
    assert repr(server) == "<Round 'r': coco, dim=4, epsilon=4.0, delta=0.0, min_reports=3>"
    assert "epsilon=4.5031138," in repr(new_round(epsilon=4.5031138))  # all digits


def test_auto_names_what_it_has_chosen() -> None:
    assert new_round(mechanism="auto").mechanism in ("coco", "collision", "signsketch")


def test_rounds_have_fresh_public_randomness() -> None:
    assert new_round().description != new_round().description


def test_a_round_travels_between_processes(client: Round, row: Row) -> None:
    travelled = pickle.loads(pickle.dumps(client))
    assert travelled == client
    assert len(travelled.encode(row)) == 5


@pytest.mark.parametrize(
    ("policy", "param"),
    [
        (Policy(), "epsilon"),
        (Policy(max_epsilon=3.9), "epsilon"),
        (Policy(max_epsilon=4, min_reports=4), "min_reports"),
        (Policy(max_epsilon=4, max_dim=3), "dim"),
        (Policy(max_epsilon=4, mechanisms=("collision",)), "mechanism"),
        (Policy(max_epsilon=4, features="edges:00"), "features"),
    ],
)
def test_a_policy_refuses_what_falls_short(server: Round, policy: Policy, param: str) -> None:
    with pytest.raises(PolicyRefused) as refused:
        Round(server.description, policy)
    assert refused.value.param == param
    assert refused.value.got
    assert refused.value.rule
    assert isinstance(refused.value, PermissionError)


def test_a_round_names_the_features_that_a_client_asks_for(server: Round) -> None:
    named = new_round(features="edges:01")
    assert named.features == "edges:01"
    assert server.features == ""
    assert (
        Round(named.description, Policy(max_epsilon=4, features="edges:01")).features == "edges:01"
    )
    with pytest.raises(PolicyRefused):
        Round(named.description, Policy(max_epsilon=4, features="edges:02"))


def test_guarantees_that_need_trust_are_refused_unless_trusted() -> None:
    shuffled = new_round(
        mechanism="sumdp", epsilon=1.0, delta=1e-6, sparsity=None, range=0.8, levels=1
    )
    with pytest.raises(PolicyRefused):
        Round(shuffled.description, Policy(max_epsilon=1, max_delta=1e-6))
    Round(shuffled.description, Policy(max_epsilon=1, max_delta=1e-6, trust_shuffler=True))


def test_no_policy_no_report(server: Round, row: Row) -> None:
    for round_ in (server, Round(server.description)):
        with pytest.raises(PolicyRefused) as refused:
            round_.encode(row)
        assert refused.value.param == "policy"


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, ">f2", ">f4", ">f8"])
def test_every_float_type_and_order_gives_one_report_per_row(kind: Any) -> None:
    plain = new_round(mechanism="none", epsilon=math.inf, sparsity=None)
    client = Round(plain.description, Policy(max_epsilon=math.inf))
    rows = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 0, -1, -2]]).astype(kind)
    want = rows.astype(np.float64).mean(axis=0)
    for same in (rows, np.asfortranarray(rows), np.repeat(rows, 2, axis=0)[::2]):
        counts = plain.aggregator()
        assert counts.add(client.encode(same)) == 3
        assert counts.estimate().mean.tolist() == want.tolist()
    assert len(client.encode(rows[0])) == plain.report_bytes


@pytest.mark.parametrize(
    "rows",
    [
        [1, 2, 3, 4],
        (1.0, 2, 3, 4),
        [[1, 2, 3, 4]] * 2,
        [np.array([1, 2, 3, 4], np.float32)] * 2,
        [np.float16(1), np.float16(2), np.float16(3), np.float16(4)],
    ],
)
def test_lists_of_numbers_are_rows(rows: Any) -> None:
    plain = new_round(mechanism="none", epsilon=math.inf, sparsity=None, min_reports=1)
    counts = plain.aggregator()
    counts.add(Round(plain.description, Policy(max_epsilon=math.inf)).encode(rows))
    assert counts.estimate().mean.tolist() == [1, 2, 3, 4]


def test_a_matrix_of_several_frames_gives_one_report_per_row() -> None:
    server = new_round(dim=1000, sparsity=8)
    client = Round(server.description, Policy(max_epsilon=4))
    assert server.aggregator().add(client.encode(np.zeros((3000, 1000), np.float32))) == 3000


@pytest.mark.parametrize(
    "bad",
    [
        ["0.1", "0.2", "0.3", "0.4"],
        [True] * DIM,
        [[0.1] * DIM, [0.2]],
        [0.1] * (DIM - 1),
        [],
        {0.1, 0.2, 0.3, 0.4},
        [np.ma.masked_array(np.zeros(DIM))],
        np.zeros(DIM, np.int64),
        np.zeros(DIM, np.longdouble),
        np.zeros(DIM, np.complex128),
        np.zeros(DIM, object),
        np.zeros(DIM - 1),
        np.zeros((0, DIM)),
        np.zeros((1, 1, DIM)),
        np.float64(1),
        np.ma.masked_array(np.zeros(DIM)),
    ],
)
def test_rows_of_another_type_or_shape_are_refused(client: Round, bad: Any) -> None:
    with pytest.raises(InvalidParameter) as refused:
        client.encode(bad)
    assert refused.value.param == "rows"


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_rows_with_a_number_that_is_not_finite_are_refused(client: Round, number: float) -> None:
    rows = np.zeros((3, DIM), np.float32)
    rows[1, 2] = number
    with pytest.raises(InvalidParameter, match=r"rows\[1\]"):
        client.encode(rows)


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"dim": 0}, "dim"),
        ({"dim": 4.5}, "dim"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": -math.inf}, "epsilon"),
        ({"scale": math.inf}, "scale"),
        ({"relation": "add-one"}, "relation"),
        ({"sparsity": 2.5}, "sparsity"),
        ({"sparsety": 2}, "params"),
        ({"min_reports": 1 << 70}, "min_reports"),
        ({"min_reports": math.nan}, "min_reports"),
        ({"min_reports": "3"}, "min_reports"),
        ({"min_reports": True}, "min_reports"),
        ({"mechanism": "unheard"}, "mechanism"),
        ({"id": "a b"}, "id"),
    ],
)
def test_a_round_with_a_bad_parameter_names_it(changes: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        new_round(**changes)
    assert refused.value.param == param
    assert isinstance(refused.value, ValueError)


def test_numpy_numbers_are_numbers() -> None:
    made = new_round(
        dim=np.int64(4), epsilon=np.float64(4), min_reports=np.int32(3), sparsity=np.int64(2)
    )
    assert made.params["sparsity"] == 2


@pytest.mark.parametrize("cut", [0, 1, 20])
def test_bytes_that_describe_no_round_are_refused(server: Round, cut: int) -> None:
    with pytest.raises(HushgradError):
        Round(server.description[:cut], Policy(max_epsilon=4))
    with pytest.raises(HushgradError):
        Round(server.description + b"\0", Policy(max_epsilon=4))
