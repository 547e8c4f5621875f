"""Flower: rounds of two servers, which are real processes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr")

from flower_engine import printed_json
from flower_messages import NODES, Nodes, be_a_task, context, model, never, reason, trained
from flower_parties import NAME, Parties, parties
from flwr.app import ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.serverapp.strategy import FedAvg

from hushgrad import Ledger
from hushgrad.evaluation import Metrics
from hushgrad.evaluation import ask as ask_for
from hushgrad.flower import HushgradAggregation, HushgradMod, Shuffled, add_updates

__all__ = ["parties"]  # a fixture


@pytest.fixture(autouse=True)
def task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a task of Flower."""
    be_a_task(monkeypatch)


def two_servers(parties: Parties, epsilon: float, scale: float, **more: Any) -> HushgradAggregation:
    """Return an aggregation whose reports are sealed to two servers."""
    return HushgradAggregation(
        FedAvg(),
        epsilon=epsilon,
        delta=1e-6,
        scale=scale,
        mechanism="gaussian-shares",
        shuffled=Shuffled(parties.operator, parties.shuffler, NAME, share_key=parties.share_key),
        **more,
    )


def both(parties: Parties, folder: Path, node: int, **more: Any) -> dict[str, Any]:
    """Return the settings of a node that accepts rounds of the two servers, with its ledger."""
    path = folder / f"ledger-{node}"
    if not path.exists():
        with Ledger(path, "flower") as ledger:
            ledger.set_budget(20, 1e-5)  # one budget is enough for two servers
    return {
        "hushgrad_max_epsilon": 8.0,
        "hushgrad_max_delta": 1e-6,
        "hushgrad_shuffler": NAME,
        "hushgrad_seal_key": parties.fingerprint,
        "hushgrad_share_key": hashlib.sha256(parties.share_key).hexdigest(),
        "hushgrad_ledger": str(path),
        "hushgrad_purpose": "flower",
        **more,
    }


def ask(strategy: HushgradAggregation) -> list[Message]:
    """Return what the server sends."""
    return list(strategy.configure_train(1, model(), ConfigRecord(), Nodes()))


@pytest.mark.parametrize("params", [{}, {"proof": "prio3"}], ids=["", "with-proofs"])
def test_the_shuffler_is_the_second_of_two_servers(
    parties: Parties, params: dict[str, Any], tmp_path: Path
) -> None:
    strategy = two_servers(parties, 8, 2, min_reports=5, **params)
    asked = ask(strategy)
    first = both(parties, tmp_path, 0)
    pins = {name: pin for name, pin in first.items() if name != "hushgrad_share_key"}
    refused = HushgradMod()(asked[0], context(**pins), never)
    assert "hushgrad" in reason(refused)
    settings = [context(**both(parties, tmp_path, node)) for node in range(NODES)]
    replies = [HushgradMod()(*each, trained) for each in zip(asked, settings, strict=True)]
    # The ledger refuses every copy of a round.
    replies += [HushgradMod()(*each, never) for each in zip(asked, settings, strict=True)]
    stepped, metrics = strategy.aggregate_train(1, replies)
    assert stepped is not None
    assert metrics is not None
    assert [metrics[f"hushgrad.{name}"] for name in ("reports", "refused")] == [NODES, NODES]
    assert metrics["hushgrad.epsilon-two-servers"] == 8.0
    step = np.concatenate([stepped["w"].numpy().ravel(), stepped["b"].numpy()])
    wanted = [0.5, -1, 1.5, 0.25, 0.25, 0.25, 0.25]  # half the way to the target, clipped
    noise = metrics["hushgrad.std-err"]
    assert isinstance(noise, float)
    assert np.all(np.abs(step - wanted) < 6 * np.sqrt(7) * noise)
    with Ledger(tmp_path / "ledger-0", "flower") as ledger:
        assert 0 < ledger.spent().epsilon <= 8


@pytest.mark.usefixtures("ray")
def test_a_million_parameters_go_through_the_simulation_engine_and_two_servers(
    parties: Parties,
) -> None:
    script = Path(__file__).with_name("flower_two_servers.py")
    keys = (parties.fingerprint, parties.share_key.hex())
    made = printed_json(script, *parties.addresses, *keys)
    metrics, noise = made["metrics"], made["metrics"]["hushgrad.std-err"]
    assert metrics["hushgrad.reports"] == NODES
    assert 2e6 < metrics["hushgrad.bytes-per-report"] < 4e6
    # Mean and deviation of 10^6 errors, each within 6 standard errors: a false alarm in 10^8 runs.
    assert abs(made["mean"] - 0.001) < 6 * noise / 1000 < 0.001
    assert abs(made["deviation"] / noise - 1) < 6 / np.sqrt(2e6)
    # No node of a run answers a round twice, whatever process has its message.
    assert len(made["again"]) == NODES
    assert all("this node has answered it" in reason for reason in made["again"]), made["again"]


def test_hospitals_send_sums_to_two_servers(parties: Parties, tmp_path: Path) -> None:
    strategy = two_servers(parties, 8, 2, unit="example", records=5000, min_reports=NODES)
    unit = {"hushgrad_unit": "example"}
    settings = [context(**both(parties, tmp_path, node, **unit)) for node in range(NODES)]

    def train(message: Message, _: Context) -> Message:
        for count in (100, 300):
            add_updates({"w": np.full((count, 2, 2), 0.5), "b": np.full((count, 3), -0.25)})
        return Message(RecordDict(), reply_to=message)

    mod = HushgradMod(unit="example")
    replies = [mod(*each, train) for each in zip(ask(strategy), settings, strict=True)]
    stepped, metrics = strategy.aggregate_train(1, replies)
    assert stepped is not None
    assert metrics is not None
    assert metrics["hushgrad.records"] == 400 * NODES
    assert metrics["hushgrad.epsilon-two-servers"] == 8.0
    noise = metrics["hushgrad.std-err"]
    assert isinstance(noise, float)
    assert noise < 0.01
    # The model came with other weights: updates are what is added to them.
    came = model()
    for name, update in (("w", 0.5), ("b", -0.25)):
        step = stepped[name].numpy() - came[name].numpy()
        assert (np.abs(step - update) < 6 * np.sqrt(7) * noise).all()


def test_nodes_evaluate_by_two_servers(parties: Parties, tmp_path: Path) -> None:
    question = ask_for(Metrics({"accuracy": (0, 1)}), clients=NODES, budget=8, trust="two-servers")
    strategy = two_servers(parties, 8, 2, min_reports=NODES, evaluation=question)

    def evaluate(message: Message, _: Context) -> Message:
        found = MetricRecord({"accuracy": 0.75})
        return Message(RecordDict({"metrics": found}), reply_to=message)

    asked = list(strategy.configure_evaluate(1, model(), ConfigRecord(), Nodes()))
    settings = [context(**both(parties, tmp_path, node)) for node in range(NODES)]
    replies = [HushgradMod()(*each, evaluate) for each in zip(asked, settings, strict=True)]
    # The ledger refuses every copy of a round of evaluation, too.
    again = HushgradMod()(asked[0], settings[0], evaluate)
    assert "ledger" in reason(again) or "twice" in reason(again) or "answered" in reason(again)
    metrics = strategy.aggregate_evaluate(1, replies)
    assert metrics is not None
    accuracy, error = metrics["accuracy"], metrics["accuracy.std-err"]
    assert isinstance(accuracy, float)
    assert isinstance(error, float)
    assert metrics["hushgrad.epsilon-two-servers"] == pytest.approx(8, rel=1e-3)
    # 1 in 5e8 normal errors is larger than 6 standard errors.
    assert abs(accuracy - 0.75) < 6 * error < 0.9
