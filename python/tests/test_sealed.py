"""Rounds with a shuffler: what leaves a client is sealed to the server's key."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import KEY, SHARE_KEY, new_round
from numpy.typing import NDArray

from hushgrad import (
    AlreadyCharged,
    BudgetExhausted,
    InvalidParameter,
    Ledger,
    LedgerState,
    Policy,
    PolicyRefused,
    Round,
    ShuffledPolicy,
)

Row = NDArray[np.float32]

ITEM = 5 + 32 + 16  # a report, the encapsulated key and the tag

PINS = ShuffledPolicy(
    shufflers=("shuffler.example",),
    seal_keys=(hashlib.sha256(KEY).hexdigest(),),
    max_epsilon_local=4,
    max_epsilon=1,
    max_delta=1e-6,
)


@pytest.fixture
def server() -> Round:
    """Return a round behind a shuffler."""
    return new_round(shuffler="shuffler.example", seal_key=KEY, min_reports=10_000)


@pytest.fixture
def client(server: Round) -> Round:
    """Return the same round, opened under a policy that pins its shuffler and its key."""
    return Round(server.description, Policy(shuffled=PINS))


def test_reports_leave_sealed_and_with_one_size(server: Round, client: Round, row: Row) -> None:
    assert (client.sealed, client.shuffler, client.seal_key) == (True, "shuffler.example", KEY)
    assert client.report_bytes == server.report_bytes == ITEM
    items = client.encode(np.stack([row] * 3))
    assert len(items) == 3 * ITEM
    assert len({items[i : i + ITEM] for i in range(0, len(items), ITEM)}) == 3
    assert not new_round().sealed


def test_sealed_reports_are_not_counted_by_who_carries_them(
    server: Round, client: Round, row: Row
) -> None:
    five = client.encode(np.stack([row] * 5))  # as many bytes as 53 reports that are not sealed
    with pytest.raises(InvalidParameter) as refused:
        server.aggregator().add(five)
    assert refused.value.param == "shuffler"


def test_a_sealed_round_states_both_guarantees(server: Round, client: Round) -> None:
    assert server.central is None
    assert client.guarantee.trust == "local"
    assert client.guarantee.epsilon == 4
    assert client.central is not None
    assert client.central.trust == "shuffle"
    assert client.central.epsilon < 1
    assert client.central.delta == 1e-6
    assert pickle.loads(pickle.dumps(client)).central == client.central
    assert Round(server.description, Policy(max_epsilon=4)).central is None


@pytest.mark.parametrize(
    ("pins", "param"),
    [
        (None, "epsilon"),
        (replace(PINS, shufflers=("other.example",)), "shuffler"),
        (replace(PINS, seal_keys=("00" * 32,)), "seal_key"),
        (replace(PINS, max_epsilon_local=3.9), "epsilon"),
        (replace(PINS, max_epsilon=0.01), "epsilon"),
        (replace(PINS, max_delta=0), "epsilon"),
    ],
)
def test_a_policy_that_does_not_pin_it_refuses_a_sealed_round(
    server: Round, pins: ShuffledPolicy | None, param: str
) -> None:
    with pytest.raises(PolicyRefused) as refused:
        Round(server.description, Policy(shuffled=pins))
    assert refused.value.param == param


def test_what_is_no_fingerprint_is_no_pin(server: Round) -> None:
    with pytest.raises(InvalidParameter) as refused:
        Round(server.description, Policy(shuffled=replace(PINS, seal_keys=("abc",))))
    assert refused.value.param == "seal_keys[0]"


def test_a_round_has_a_seal_key_exactly_if_it_has_a_shuffler() -> None:
    for changes in ({"seal_key": KEY}, {"shuffler": "shuffler.example"}):
        with pytest.raises(InvalidParameter):
            new_round(**changes)
    with pytest.raises(InvalidParameter) as refused:
        new_round(shuffler="shuffler.example", seal_key=b"no key")
    assert refused.value.param == "seal_key"


def test_the_central_budget_pays_what_the_shuffled_report_costs(
    client: Round, row: Row, tmp_path: Path
) -> None:
    assert client.central is not None
    with Ledger(tmp_path / "ledger", "keyboard") as ledger:
        with pytest.raises(LedgerState):
            ledger.set_central_budget(1.0, 1e-5)  # there is no first budget
        ledger.set_budget(9.0)
        with pytest.raises(LedgerState):
            ledger.spent_central()
        ledger.set_central_budget(0.01, 1e-5)
        with pytest.raises(BudgetExhausted, match="central"):
            client.encode(row, ledger=ledger)
        ledger.set_central_budget(1.0, 1e-5)
        assert len(client.encode(row, ledger=ledger)) == ITEM
        assert ledger.spent().epsilon == 4
        assert 0 < ledger.spent_central().epsilon <= client.central.epsilon


def test_rounds_of_two_servers_seal_a_share_to_each(row: Row) -> None:
    server = new_round(
        mechanism="gaussian-shares",
        epsilon=1.0,
        delta=1e-6,
        min_reports=1000,
        sparsity=None,
        shuffler="shuffler.example",
        seal_key=KEY,
        share_key=SHARE_KEY,
    )
    both = replace(PINS, share_keys=(hashlib.sha256(SHARE_KEY).hexdigest(),))
    demand = Policy(max_epsilon=1, max_delta=1e-6, shuffled=both)
    with pytest.raises(PolicyRefused) as refused:
        Round(server.description, demand)
    assert refused.value.param == "mechanism"
    client = Round(server.description, replace(demand, mechanisms=("gaussian-shares",)))
    assert client.guarantee.trust == "two-servers"
    assert client.share_key == SHARE_KEY
    with pytest.raises(PolicyRefused) as refused:
        Round(server.description, replace(demand, mechanisms=("gaussian-shares",), shuffled=PINS))
    assert refused.value.param == "share_key"
    assert client.central == client.guarantee
    assert len(client.encode(row)) == client.report_bytes


def sums(**changes: Any) -> Round:
    """Return a client's round whose reports are sums of at most 50 records."""
    made = new_round(
        mechanism="gaussian-shares",
        epsilon=1.0,
        delta=1e-6,
        sparsity=None,
        shuffler="shuffler.example",
        seal_key=KEY,
        share_key=SHARE_KEY,
        **{"records": 50, **changes},
    )
    both = replace(PINS, share_keys=(hashlib.sha256(SHARE_KEY).hexdigest(),))
    demand = Policy(1, max_delta=1e-6, shuffled=both, mechanisms=("gaussian-shares",))
    return Round(made.description, demand)


def test_a_site_sends_the_sum_of_its_records(row: Row, tmp_path: Path) -> None:
    client = sums()
    assert client.about_records
    assert not sums(records=None).about_records
    report = client.encode_records(np.stack([row] * 20))
    assert len(report) == client.report_bytes
    lengths = {len(client.encode_records([part])) for part in (row, row[None].astype("f8"))}
    assert lengths == {client.report_bytes}
    with pytest.raises(InvalidParameter, match=r"rows\[50\].*records"):
        client.encode_records(np.stack([row] * 30) for _ in range(2))
    with pytest.raises(InvalidParameter, match=r"records.*at least 1"):
        client.encode_records([])
    with pytest.raises(InvalidParameter, match="records"):
        client.encode_records(row[:2])
    nothing = np.full((3, 4), np.nan, np.float32)
    assert len(client.encode_records(nothing)) == client.report_bytes
    with pytest.raises(InvalidParameter, match="records"):
        sums(records=None).encode_records(row)
    with Ledger(tmp_path / "site", purpose="study") as ledger:
        ledger.set_budget(3.0, 1e-5)

        def broken() -> Iterator[Row]:
            yield row
            raise KeyError("a patient")

        with pytest.raises(KeyError):
            client.encode_records(broken(), ledger=ledger)
        assert ledger.spent().epsilon == 0
        client.encode_records((row for _ in range(9)), ledger=ledger)
        assert 0 < ledger.spent().epsilon <= 1  # at the budget's larger delta
        with pytest.raises(AlreadyCharged):
            client.encode_records(row, ledger=ledger)


def test_a_server_makes_no_sum(row: Row) -> None:
    with pytest.raises(PolicyRefused):
        new_round().encode_records(row)
