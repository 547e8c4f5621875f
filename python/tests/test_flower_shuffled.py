"""Flower: sealed reports through a real ``hushgrad shuffle`` to a real ``hushgrad serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr")

from daemons import free_address
from flower_engine import run_metrics
from flower_messages import NODES, Nodes, be_a_task, context, model, never, reason, trained
from flower_parties import NAME, Parties, parties
from flwr.app import ConfigRecord, Message
from flwr.serverapp.strategy import FedAvg
from pages import DOCS, blocks, needs_docs

from hushgrad import InvalidParameter, Ledger, Policy
from hushgrad.flower import (
    HushgradAggregation,
    HushgradMod,
    PlainReply,
    Shuffled,
)
from hushgrad.server import Client, Operator, ServerUnreachable

__all__ = ["parties"]  # a fixture


@pytest.fixture(autouse=True)
def task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a task of Flower."""
    be_a_task(monkeypatch)


@pytest.fixture
def strategy(parties: Parties) -> HushgradAggregation:
    """Return an aggregation whose reports are sealed."""
    return aggregation(parties)


def aggregation(parties: Parties, patience: float = 300.0) -> HushgradAggregation:
    """Return an aggregation whose reports are sealed, and which waits for the shuffler."""
    return HushgradAggregation(
        FedAvg(),
        epsilon=8,
        scale=2,
        sparsity=2,
        mechanism="coco",
        min_reports=5,
        shuffled=Shuffled(parties.operator, parties.shuffler, NAME, patience=patience),
    )


def node(parties: Parties, **changes: Any) -> dict[str, Any]:
    """Return the settings of a node that pins the shuffler and the server's key."""
    return {
        "hushgrad_max_epsilon": 8.0,
        "hushgrad_shuffler": NAME,
        "hushgrad_seal_key": parties.fingerprint,
        "hushgrad_max_central_epsilon": 8.0,
        **changes,
    }


def ask(strategy: HushgradAggregation) -> list[Message]:
    """Return what the server sends."""
    return list(strategy.configure_train(1, model(), ConfigRecord(), Nodes()))


def test_sealed_reports_come_to_a_step(parties: Parties, strategy: HushgradAggregation) -> None:
    for rounds in (1, 2):
        settings = context(**node(parties))
        replies = [HushgradMod()(message, settings, trained) for message in ask(strategy)]
        sizes = {len(bytes(r.content.config_records["hushgrad"]["report"])) for r in replies}  # type: ignore[arg-type]
        stepped, metrics = strategy.aggregate_train(1, replies)
        assert stepped is not None
        assert metrics is not None
        assert metrics["hushgrad.reports"] == NODES
        assert [metrics["hushgrad.bytes-per-report"]] == list(sizes)
        assert metrics["hushgrad.epsilon-local-total"] == 8.0 * rounds
        # 7 coordinates, 2 rounds and 6 standard errors: a false alarm in 10^7 runs
        step = np.concatenate([stepped["w"].numpy().ravel(), stepped["b"].numpy()])
        wanted = [0.5, -1, 1.5, 0.25, 0.25, 0.25, 0.25]  # half the way to the target, clipped
        noise = metrics["hushgrad.std-err"]
        assert isinstance(noise, float)
        assert np.all(np.abs(step - wanted) < 6 * np.sqrt(7) * noise)


@needs_docs
def test_the_lines_for_sealed_reports_open_a_round(parties: Parties) -> None:
    *_, lines = blocks(DOCS / "flower.md", "python")
    changes = {
        "127.0.0.1:7118": parties.addresses[0],
        "127.0.0.1:7124": parties.addresses[1],
        "shuffler.example": NAME,
        "sparsity=64": "sparsity=2",  # of a model of seven parameters
        "strategy.start(grid, arrays, num_rounds=20)": "sent = ask(strategy)",
    }
    for old, new in changes.items():
        assert old in lines
        lines = lines.replace(old, new)
    names: dict[str, Any] = {"ask": ask}
    exec(lines, names)
    assert len(names["sent"]) == NODES


@pytest.mark.usefixtures("ray")
def test_a_run_of_the_simulation_engine_with_sealed_reports(parties: Parties) -> None:
    rounds = run_metrics(*parties.addresses, parties.fingerprint)
    assert [r["hushgrad.reports"] for r in rounds] == [10] * 5
    assert [r["hushgrad.bytes-per-report"] for r in rounds] == [53] * 5  # 5, sealed


def test_a_report_that_the_server_cannot_open_is_a_failure(
    parties: Parties, strategy: HushgradAggregation
) -> None:
    settings = context(**node(parties))
    replies = [HushgradMod()(message, settings, trained) for message in ask(strategy)]
    sealed = bytes(replies[0].content.config_records["hushgrad"]["report"])  # type: ignore[arg-type]
    replies[0].content["hushgrad"] = ConfigRecord({"report": sealed[:-1] + bytes([sealed[-1] ^ 1])})
    replies[1].content["hushgrad"] = ConfigRecord({"report": sealed[:-1]})
    _, metrics = strategy.aggregate_train(1, replies)
    assert metrics is not None
    assert [metrics[f"hushgrad.{n}"] for n in ("reports", "failed")] == [NODES - 2, 2]


@pytest.mark.parametrize("count", [4, 6])  # below min_reports, and below the shuffler's floor
def test_too_few_sealed_reports_are_no_step(parties: Parties, count: int) -> None:
    strategy = aggregation(parties, patience=2)
    settings = context(**node(parties))
    replies = [HushgradMod()(message, settings, trained) for message in ask(strategy)]
    stepped, metrics = strategy.aggregate_train(1, replies[:count])
    assert stepped is None
    assert metrics is not None
    assert parties.operator.rounds()[-1].state == "aborted"


@pytest.mark.parametrize("code", ["DEADLINE_EXCEEDED", "CANCELLED"])
def test_a_round_without_enough_reports_ends_whoever_sees_the_deadline_first(
    parties: Parties, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    close = parties.operator.close_round

    def seen_first(*args: Any, **named: Any) -> Any:
        try:
            return close(*args, **named)
        except ServerUnreachable as error:  # with either code, by chance
            raise ServerUnreachable("CloseRound: the stream ended", code=code) from error

    monkeypatch.setattr(parties.operator, "close_round", seen_first)
    strategy = aggregation(parties, patience=0.5)
    settings = context(**node(parties))
    replies = [HushgradMod()(message, settings, trained) for message in ask(strategy)]
    stepped, _ = strategy.aggregate_train(1, replies[:6])
    assert stepped is None
    assert parties.operator.rounds()[-1].state == "aborted"


def test_a_plain_reply_ends_the_round_on_the_server(
    parties: Parties, strategy: HushgradAggregation
) -> None:
    sent = ask(strategy)
    with pytest.raises(PlainReply):
        strategy.aggregate_train(1, [trained(sent[0], context())])
    assert parties.operator.rounds()[-1].state == "aborted"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"hushgrad_shuffler": "another.test"}, "shuffler: got"),
        ({"hushgrad_seal_key": "00" * 32}, "seal_key"),
        ({"hushgrad_max_epsilon": 7.9}, "epsilon"),
        ({"hushgrad_max_central_epsilon": 0.1}, "epsilon"),
        ({"hushgrad_seal_key": ""}, "hushgrad-seal-key"),
        ({"hushgrad_central_delta": "small"}, "hushgrad-central-delta"),
    ],
)
def test_a_node_that_pins_others_refuses(
    parties: Parties, strategy: HushgradAggregation, changes: dict[str, Any], named: str
) -> None:
    reply = HushgradMod()(ask(strategy)[0], context(**node(parties, **changes)), never)
    assert reason(reply).startswith("hushgrad refused: ")
    assert named in reason(reply)


def test_a_node_with_pins_refuses_what_is_not_sealed(parties: Parties) -> None:
    plain = HushgradAggregation(FedAvg(), epsilon=4, scale=1, sparsity=2, mechanism="coco")
    reply = HushgradMod()(ask(plain)[0], context(**node(parties)), never)
    assert 'shuffler: got ""' in reason(reply)


def test_the_ledger_pays_against_the_server_too(
    parties: Parties, strategy: HushgradAggregation, tmp_path: Path
) -> None:
    path = tmp_path / "ledger"
    with Ledger(path, "flower") as ledger:
        ledger.set_budget(100)
        ledger.set_central_budget(8, 1e-5)
    settings = context(**node(parties, hushgrad_ledger=str(path)))
    assert not HushgradMod()(ask(strategy)[0], settings, trained).has_error()
    with Ledger(path, "flower") as ledger:
        assert ledger.spent().epsilon == 8
        assert 0 < ledger.spent_central().epsilon <= 8


def test_a_server_that_is_away_is_an_error_with_a_name() -> None:
    with (
        Operator.connect(free_address(), timeout=1) as operator,
        Client.connect(free_address(), timeout=1) as shuffler,
    ):
        strategy = HushgradAggregation(
            FedAvg(), epsilon=4, scale=1, sparsity=2, shuffled=Shuffled(operator, shuffler, NAME)
        )
        with pytest.raises(ServerUnreachable):
            ask(strategy)
        with pytest.raises(InvalidParameter, match="name"):
            Shuffled(operator, shuffler, "")


def test_policies_of_the_app_count_as_well(parties: Parties, strategy: HushgradAggregation) -> None:
    mod = HushgradMod(Policy(max_epsilon=7))
    assert "epsilon" in reason(mod(ask(strategy)[0], context(**node(parties)), never))
