"""Ledgers: a client's budget over rounds, processes and crashes."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import new_round
from numpy.typing import NDArray

from hushgrad import (
    AlreadyCharged,
    BudgetExhausted,
    InvalidParameter,
    Ledger,
    LedgerError,
    LedgerInUse,
    LedgerState,
    Policy,
    Round,
    _bridge,
)

Row = NDArray[np.float32]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a ledger."""
    return tmp_path / "ledger"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    """Return an open ledger with a budget of 9 in total."""
    with Ledger(path, "keyboard") as opened:
        opened.set_budget(9.0)
        yield opened


def opened_round() -> Round:
    """Return a new round under a policy that accepts it."""
    return Round(new_round().description, Policy(max_epsilon=4.0))


def test_the_run_ends_when_the_budget_ends(ledger: Ledger, row: Row) -> None:
    for _ in range(2):
        assert len(opened_round().encode(row, ledger=ledger)) == 5
    assert ledger.spent().epsilon == 8.0
    with pytest.raises(BudgetExhausted) as refused:
        opened_round().encode(row, ledger=ledger)
    assert refused.value.param
    assert isinstance(refused.value, PermissionError)


def test_a_restored_copy_of_the_folder_is_refused(tmp_path: Path, row: Row) -> None:
    folder, counter = tmp_path / "kept", tmp_path / "counters" / "ledger"
    folder.mkdir()
    counter.parent.mkdir()
    with Ledger(folder / "ledger", "keyboard", counter=counter) as ledger:
        ledger.set_budget(9.0)
    shutil.copytree(folder, tmp_path / "backup")
    with Ledger(folder / "ledger", "keyboard", must_exist=True, counter=counter) as ledger:
        opened_round().encode(row, ledger=ledger)
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "backup", folder)
    with pytest.raises(LedgerError, match=r"older copy.*put the newest copy of the ledger back"):
        Ledger(folder / "ledger", "keyboard", must_exist=True, counter=counter)
    with pytest.raises(LedgerError, match=r"counter.*put it back, or open the ledger once"):
        Ledger(folder / "ledger", "keyboard", must_exist=True, counter=tmp_path / "other")
    with pytest.raises(InvalidParameter, match=r"counter: .*another directory"):
        Ledger(folder / "ledger", "keyboard", counter=folder / "counter")


def test_without_a_budget_nothing_is_encoded(path: Path, row: Row) -> None:
    with Ledger(path, "keyboard") as empty, pytest.raises(BudgetExhausted):
        opened_round().encode(row, ledger=empty)


def test_a_round_is_charged_once(ledger: Ledger, row: Row) -> None:
    round_ = opened_round()
    round_.encode(row, ledger=ledger)
    with pytest.raises(AlreadyCharged):
        round_.encode(row, ledger=ledger)


def test_a_round_without_a_policy_is_not_charged(ledger: Ledger) -> None:
    with pytest.raises(InvalidParameter):
        ledger.reserve(new_round())
    assert ledger.spent().epsilon == 0


def test_a_bad_gradient_costs_nothing(ledger: Ledger, row: Row) -> None:
    round_ = opened_round()
    with pytest.raises(InvalidParameter):
        round_.encode(row * np.float32(np.nan), ledger=ledger)
    assert ledger.spent().epsilon == 0
    round_.encode(row, ledger=ledger)


def test_several_rows_need_the_unit_example(ledger: Ledger, row: Row) -> None:
    rows = np.stack([row, row])
    round_ = opened_round()
    with pytest.raises(InvalidParameter) as refused:
        round_.encode(rows, ledger=ledger)
    assert refused.value.param == "rows"
    assert len(round_.encode(rows, ledger=ledger, unit="example")) == 10
    assert ledger.spent().epsilon == 4.0


def test_a_reservation_is_spent_once_or_cancelled(ledger: Ledger, row: Row) -> None:
    round_ = opened_round()
    with ledger.reserve(round_):
        assert ledger.spent().epsilon == 4.0
    assert ledger.spent().epsilon == 0
    with ledger.reserve(round_) as reservation:
        with pytest.raises(InvalidParameter):
            opened_round().encode(row, ledger=reservation)
        round_.encode(row, ledger=reservation)
        with pytest.raises(LedgerState):
            round_.encode(row, ledger=reservation)
    reservation.receipt("counted")
    with pytest.raises(LedgerState):
        reservation.cancel()
    assert ledger.spent().epsilon == 4.0


def test_one_report_in_a_life(path: Path, row: Row) -> None:
    with Ledger(path, "keyboard") as ledger:
        ledger.set_budget(9.0, once=True)
        assert len(opened_round().encode(row, ledger=ledger)) == 5
        with pytest.raises(BudgetExhausted, match="one report"):
            opened_round().encode(row, ledger=ledger)


def test_a_ledger_is_open_in_one_place(ledger: Ledger, path: Path) -> None:
    with pytest.raises(LedgerInUse):
        Ledger(path, "keyboard")
    ledger.close()
    with Ledger(path, "keyboard", must_exist=True) as again:
        assert again.spent().epsilon == 0
    with pytest.raises(LedgerState, match="closed"):
        ledger.spent()


def test_a_closed_ledger_is_free_while_an_error_of_it_is_kept(path: Path) -> None:
    with Ledger(path, "keyboard") as first, pytest.raises(BudgetExhausted) as kept:
        first.reserve(opened_round())
    with Ledger(path, "keyboard", must_exist=True):
        assert kept.value.param


def test_a_closed_ledger_is_free_however_many_handles_wait(ledger: Ledger, path: Path) -> None:
    helper = _bridge.helper()
    for handle in range(1 << 40, (1 << 40) + 50_000):  # unknown to the helper, which ignores them
        helper.forget(handle)
    ledger.close()
    with Ledger(path, "keyboard", must_exist=True) as again:
        assert again.spent().epsilon == 0


def test_a_ledger_that_is_gone_or_something_else_is_refused(path: Path) -> None:
    with pytest.raises(LedgerError):
        Ledger(path, "keyboard", must_exist=True)
    path.write_bytes(b"something else" * 1000)
    with pytest.raises(LedgerError):
        Ledger(path, "keyboard")


def test_a_purpose_without_a_budget_has_spent_nothing_known(path: Path) -> None:
    with Ledger(path, "camera") as other, pytest.raises(LedgerState):
        other.spent()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_a_ledger_outlives_its_helper(ledger: Ledger, row: Row) -> None:
    opened_round().encode(row, ledger=ledger)
    reserved = opened_round()
    reservation = ledger.reserve(reserved)
    helper = _bridge.helper()
    os.kill(helper.pid, signal.SIGKILL)
    helper._process.wait()  # pyright: ignore[reportPrivateUsage]
    assert ledger.spent().epsilon == 8.0
    assert len(reserved.encode(row, ledger=reservation)) == 5
    with pytest.raises(BudgetExhausted):
        opened_round().encode(row, ledger=ledger)
