"""Wrong arguments: each is named, and none ends the helper or what it has counted."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DIM, new_round
from numpy.typing import NDArray

from hushgrad import (
    AlreadyCharged,
    InvalidParameter,
    Ledger,
    LedgerError,
    LedgerInUse,
    LedgerState,
    Policy,
    Round,
    ShuffledPolicy,
    TooFewReports,
    _arguments,
    account,
    plan,
    verify,
)

Row = NDArray[np.float32]


def refused(call: Callable[[], object], param: str) -> InvalidParameter:
    """Call what must refuse a parameter, in one line, and return the error."""
    with pytest.raises(InvalidParameter) as error:
        call()
    assert error.value.param == param
    assert error.value.got
    assert error.value.rule
    assert "\n" not in str(error.value)
    return error.value


@pytest.mark.parametrize(
    "wrong",
    ["text", None, 5, [b"12345"], np.zeros(5), memoryview(b"1234567890")[::2]],
    ids=lambda wrong: type(wrong).__name__,
)
def test_what_are_no_bytes_loses_no_report(
    server: Round, client: Round, row: Row, wrong: Any
) -> None:
    counts = server.aggregator()
    counts.add(client.encode(np.tile(row, (3, 1))))
    refused(lambda: counts.add(wrong), "reports")
    if wrong is not None:  # no snapshot
        refused(lambda: server.aggregator(wrong), "snapshot")
    description: Any = wrong
    refused(lambda: Round(description), "description")
    assert counts.estimate().reports == 3


def test_arguments_that_are_too_long_lose_no_report(
    server: Round, client: Round, row: Row, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = server.aggregator()
    counts.add(client.encode(np.tile(row, (3, 1))))
    refused(lambda: new_round(id="a" * 2_000_000), "arguments")
    monkeypatch.setattr(_arguments, "MAX_PAYLOAD", 9)
    refused(lambda: counts.add(bytes(10)), "reports")
    monkeypatch.undo()
    assert counts.estimate().reports == 3


@pytest.mark.parametrize(
    ("param", "wrong"),
    [
        ("id", 5),
        ("dim", "7"),
        ("dim", [4]),
        ("epsilon", "4"),
        ("epsilon", True),
        ("epsilon", [4]),
        ("epsilon", np.array([4.0, 5.0])),
        ("epsilon", 10**400),
        ("scale", "wide"),
        ("delta", b"0"),
        ("min_reports", 2.5),
        ("min_reports", np.array([3, 4])),
        ("target_reports", False),
        ("mechanism", 5),
        ("relation", 5),
        ("columns", "frequency"),
        ("columns", 5),
        ("columns", [5]),
        ("seal_key", "key"),
        ("features", 5),
        ("sparsity", True),
        ("sparsity", [2]),
        ("sparsity", object()),
        ("sparsity", np.arange(2)),
        ("sparsity", math.nan),
    ],
)
def test_a_round_names_an_argument_of_a_wrong_type(param: str, wrong: Any) -> None:
    refused(lambda: new_round(**{param: wrong}), param)


def test_a_wrong_type_says_what_to_write(client: Round, row: Row) -> None:
    rule = "must be a whole number, of type int: write 4"
    assert refused(lambda: new_round(dim=4.0), "dim").rule == rule
    assert refused(lambda: new_round(dim=4.5), "dim").rule == "must be a whole number"
    rule = "must be a number, and neither a text nor nan nor -inf"
    assert refused(lambda: new_round(epsilon=math.nan), "epsilon").rule == rule
    whole: Any = np.ones(DIM, np.int64)
    assert ".astype(np.float32)" in refused(lambda: client.encode(whole), "rows").rule


@pytest.mark.parametrize("param", ["dim", "epsilon", "scale", "min_reports", "relation", "columns"])
def test_nothing_is_no_argument(param: str) -> None:
    given: dict[str, Any] = {"dim": 4, "epsilon": 4, "scale": 1, "min_reports": 1, param: None}
    assert refused(lambda: Round.new("r", **given), param).got == "None"


@pytest.mark.parametrize(
    ("policy", "param"),
    [
        ({"max_epsilon": "4"}, "max_epsilon"),
        ({"max_epsilon": None}, "max_epsilon"),
        ({"min_reports": None}, "min_reports"),  # it is no demand of 0
        ({"min_reports": math.nan}, "min_reports"),
        ({"max_dim": 2.5}, "max_dim"),
        ({"mechanisms": "coco"}, "mechanisms"),
        ({"relation": None}, "relation"),
        ({"features": 3}, "features"),
        ({"trust_shuffler": "no"}, "policy.trust_shuffler"),
    ],
)
def test_a_policy_names_an_argument_of_a_wrong_type(
    server: Round, policy: dict[str, Any], param: str
) -> None:
    given: dict[str, Any] = {"max_epsilon": 4, **policy}
    demands = Policy(**given)
    refused(lambda: Round(server.description, demands), param)


@pytest.mark.parametrize(
    ("policy", "param", "rule"),
    [
        ({"max_epsilon": -1.0}, "max_epsilon", "must be at least 0"),
        ({"max_delta": -1e-6}, "max_delta", "must be in [0, 1]"),
        ({"max_delta": 1.5}, "max_delta", "must be in [0, 1]"),
        ({"min_reports": -1}, "min_reports", "must be at least 0"),
        ({"max_dim": -1}, "max_dim", "must be at least 0"),
        ({"mechanisms": ("coco", "cocoa")}, "mechanisms[1]", "must be one of"),
        ({"mechanisms": ()}, "mechanisms", "must be some of"),
        ({"shuffled": (-1, 1, 0)}, "shuffled.max_epsilon_local", "must be at least 0"),
        ({"shuffled": (1, -1, 0)}, "shuffled.max_epsilon", "must be at least 0"),
        ({"shuffled": (1, 1, 2)}, "shuffled.max_delta", "must be in [0, 1]"),
    ],
)
def test_a_policy_that_no_round_can_meet_is_a_wrong_argument(
    server: Round, policy: dict[str, Any], param: str, rule: str
) -> None:
    if pins := policy.pop("shuffled", None):
        policy["shuffled"] = ShuffledPolicy(("shuffler.example",), ("00" * 32,), *pins)
    given: dict[str, Any] = {"max_epsilon": 4, **policy}
    demands = Policy(**given)
    error = refused(lambda: Round(server.description, demands), param)
    assert rule in error.rule


def test_names_of_shufflers_are_no_letters(server: Round) -> None:
    name: Any = "shuffler.example"
    policy = Policy(shuffled=ShuffledPolicy(name, ("00" * 32,), 1, 1, 0))
    refused(lambda: Round(server.description, policy), "shufflers")


def test_what_is_no_object_of_the_package_is_named(
    server: Round, client: Round, row: Row, tmp_path: Path
) -> None:
    other: Any = {"max_epsilon": 4}
    refused(lambda: Round(server.description, other), "policy")
    refused(lambda: client.encode(row, ledger=other), "ledger")
    refused(lambda: client.encode(row, unit=other), "unit")
    refused(lambda: server.aggregator().merge(other), "other")
    paths: list[Any] = [None, "", 5]
    for path in paths:
        refused(lambda path=path: Ledger(path, "p"), "path")
    refused(lambda: Ledger(tmp_path / "ledger", other), "purpose")


def test_calls_beside_rounds_name_an_argument_of_a_wrong_type(server: Round) -> None:
    wrong: Any = "7"
    refused(lambda: plan(dim=10, clients=wrong, l1=1, l2=1), "clients")
    refused(lambda: plan(dim=10, clients=10, l1=wrong, l2=1), "l1")
    refused(lambda: plan(dim=10, clients=10, l1=1, l2=1, mechanism=wrong), "mechanism")
    refused(lambda: account(server, clients=wrong), "clients")
    refused(lambda: verify(server, samples=wrong), "samples")


def test_a_number_that_is_not_finite_is_found_in_any_frame() -> None:
    client = Round(new_round().description, Policy(max_epsilon=4))
    rows = np.zeros((200_000, DIM), np.float32)
    rows[150_000, 2] = np.nan
    with pytest.raises(InvalidParameter, match=r"rows\[150000\]"):
        client.encode(rows)


def test_errors_of_ledgers_and_estimates_say_the_rule(
    server: Round, client: Round, row: Row, tmp_path: Path
) -> None:
    with pytest.raises(TooFewReports) as few:
        server.aggregator().estimate()
    with pytest.raises(LedgerError) as lost:
        Ledger(tmp_path / "no", "p", must_exist=True)
    with Ledger(tmp_path / "ledger", "p") as ledger:
        with pytest.raises(LedgerInUse) as twice:
            Ledger(tmp_path / "ledger", "p")
        with pytest.raises(LedgerState) as unset:
            ledger.spent()
        ledger.set_budget(10)
        client.encode(row, ledger=ledger)
        with pytest.raises(AlreadyCharged) as again:
            client.encode(row, ledger=ledger)
    errors = [e.value for e in (few, lost, twice, unset, again)]
    params = ["reports", "path", "path", "purpose", "round"]
    assert [error.param for error in errors] == params
    assert all(error.got and error.rule for error in errors)
    assert (few.value.got, few.value.rule) == ("0", "must be at least min_reports, 3")
