"""Flower: the mod, the aggregation, and both in Flower's simulation."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr")

from flwr.app import (
    Array,
    ArrayRecord,
    ConfigRecord,
    Context,
    Error,
    Message,
    MessageType,
    MetricRecord,
    RecordDict,
)
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg, FedAvgM
from flwr.supercore.task_identity import TaskIdentity

from hushgrad import Ledger, Policy, Round
from hushgrad.flower import HushgradAggregation, HushgradMod, PlainReply

TARGET = np.array([[1.0, -2.0], [3.0, 0.5]], np.float32)
NODES = 10


def model(value: float = 0.0) -> ArrayRecord:
    """Return a model with a matrix, a vector, and a counter that is not trained."""
    return ArrayRecord(
        {
            "w": Array(np.full((2, 2), value, np.float32)),
            "b": Array(np.full(3, value, np.float32)),
            "steps": Array(np.array([7])),
        }
    )


def trained(message: Message, _: Context) -> Message:
    """Go halfway to the target, and say too much about it."""
    before = message.content.array_records["arrays"]
    after = ArrayRecord(
        {
            "w": Array(before["w"].numpy() + (TARGET - before["w"].numpy()) / 2),
            "b": Array(before["b"].numpy() + np.float32(0.25)),
            "steps": Array(before["steps"].numpy() + 1),
        }
    )
    metrics = MetricRecord({"num-examples": 3, "loss": 0.125})
    return Message(RecordDict({"arrays": after, "metrics": metrics}), reply_to=message)


def context(**node_config: Any) -> Context:
    """Return the context of a node."""
    config = {name.replace("_", "-"): value for name, value in node_config.items()}
    return Context(1, 2, config, RecordDict(), {})


def described(round_: Round | None, kind: str = MessageType.TRAIN) -> Message:
    """Return what a server sends."""
    content = RecordDict({"arrays": model(), "config": ConfigRecord({"server-round": 1})})
    if round_ is not None:
        content["hushgrad"] = ConfigRecord({"round": round_.description})
    return Message(content, dst_node_id=2, message_type=kind)


@pytest.fixture(autouse=True)
def task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a task of Flower, which only tasks of its engine are."""
    for name in ("_run_id", "_node_id", "_task_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


@pytest.fixture
def round_() -> Round:
    """Return a round for the model."""
    return Round.new("r", dim=7, epsilon=4, scale=1, sparsity=2, mechanism="coco", min_reports=3)


def reason(reply: Message) -> str:
    """Return why a reply is an error."""
    assert reply.has_error()
    assert reply.error.reason is not None
    return reply.error.reason


def test_nothing_but_the_report_leaves(round_: Round) -> None:
    reply = HushgradMod(Policy(max_epsilon=4))(described(round_), context(), trained)
    assert list(reply.content) == ["hushgrad"]
    assert list(reply.content.config_records["hushgrad"]) == ["report"]
    assert len(bytes(reply.content.config_records["hushgrad"]["report"])) == round_.report_bytes  # type: ignore[arg-type]


def never(message: Message, _: Context) -> Message:
    """Fail where nothing may be trained."""
    raise AssertionError(f"trained for {message}")


@pytest.mark.parametrize(
    ("mod", "node", "kind", "named"),
    [
        (HushgradMod(), {}, MessageType.TRAIN, "policy"),
        (HushgradMod(Policy(max_epsilon=3)), {}, MessageType.TRAIN, "epsilon"),
        (HushgradMod(), {"hushgrad_max_epsilon": 3.0}, MessageType.TRAIN, "epsilon"),
        # An app does not loosen what the node demands.
        (HushgradMod(Policy(max_epsilon=4)), {"hushgrad_max_epsilon": 3.0}, "train", "epsilon"),
        (HushgradMod(Policy(max_epsilon=4)), {"hushgrad_min_reports": 9}, "train", "min_reports"),
        (HushgradMod(Policy(max_epsilon=3)), {"hushgrad_max_epsilon": 4.0}, "train", "epsilon"),
        (HushgradMod(Policy(max_epsilon=4)), {"hushgrad_max_epsilom": 4.0}, "train", "epsilom"),
        (HushgradMod(Policy(max_epsilon=4)), {"hushgrad_max_epsilon": "4"}, "train", "number"),
        (HushgradMod(Policy(max_epsilon=4)), {}, MessageType.EVALUATE, "evaluate"),
        (HushgradMod(Policy(max_epsilon=4)), {}, MessageType.QUERY, "query"),
        (
            HushgradMod(Policy(max_epsilon=4), allow_evaluate=True),
            {"hushgrad_max_epsilon": 4.0},
            MessageType.EVALUATE,
            "evaluate",
        ),
    ],
)
def test_a_refusal_comes_before_the_training(
    round_: Round, mod: HushgradMod, node: dict[str, Any], kind: str, named: str
) -> None:
    reply = mod(described(round_, kind), context(**node), never)
    assert reason(reply).startswith("hushgrad refused: ")
    assert named in reason(reply)


def test_without_a_round_or_for_another_model_nothing_is_trained() -> None:
    mod = HushgradMod(Policy(max_epsilon=4))
    assert "HushgradAggregation" in reason(mod(described(None), context(), never))
    other = Round.new("r", dim=8, epsilon=4, scale=1, sparsity=2, mechanism="coco", min_reports=3)
    assert "dim" in reason(mod(described(other), context(), never))
    cut = described(other)
    cut.content["hushgrad"] = ConfigRecord({"round": other.description[:9]})
    assert reason(mod(cut, context(), never))


def test_evaluation_passes_where_it_is_allowed(round_: Round) -> None:
    mod = HushgradMod(Policy(max_epsilon=4), allow_evaluate=True)
    assert not mod(described(round_, MessageType.EVALUATE), context(), trained).has_error()
    node = context(hushgrad_max_epsilon=4.0, hushgrad_allow_evaluate=True)
    assert not mod(described(round_, MessageType.EVALUATE), node, trained).has_error()


def test_the_ledger_of_a_node_ends_its_part(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    node = context(hushgrad_max_epsilon=4.0, hushgrad_ledger=str(path))

    def part(train: Any = trained) -> Message:
        round_ = Round.new(
            "r", dim=7, epsilon=4, scale=1, sparsity=2, mechanism="coco", min_reports=3
        )
        return HushgradMod()(described(round_), node, train)

    assert "no such file" in reason(part(never)).lower()
    with Ledger(path, "flower") as ledger:
        ledger.set_budget(9)

    def fails(message: Message, _: Context) -> Message:
        return Message(Error(2, "out of memory"), reply_to=message)

    assert "memory" in reason(part(fails))
    assert [part().has_error() for _ in range(2)] == [False, False]
    assert "budget" in reason(part(never))
    with Ledger(path, "flower") as ledger:
        assert ledger.spent().epsilon == 8


def test_a_diverged_client_sends_a_report_all_the_same(round_: Round) -> None:
    def diverged(message: Message, given: Context) -> Message:
        reply = trained(message, given)
        reply.content.array_records["arrays"]["b"] = Array(np.full(3, np.nan, np.float32))
        return reply

    assert not HushgradMod(Policy(max_epsilon=4))(
        described(round_), context(), diverged
    ).has_error()


class Nodes(Grid):
    """A grid that only names nodes: the aggregation is called without an engine."""

    def get_node_ids(self) -> list[int]:
        return list(range(1, NODES + 1))

    set_run = run = create_message = push_messages = pull_messages = send_and_receive = None  # type: ignore[assignment]


def replies(strategy: HushgradAggregation, mod: HushgradMod) -> list[Message]:
    """Return what the clients answer."""
    sent = strategy.configure_train(1, model(), ConfigRecord(), Nodes())
    return [mod(message, context(), trained) for message in sent]


EXACT: dict[str, Any] = {"epsilon": math.inf, "scale": 1.0, "mechanism": "none"}
NO_PRIVACY = Policy(max_epsilon=math.inf)


def test_the_inner_strategy_steps_by_the_mean_update() -> None:
    for inner in (FedAvg(), FedAvgM(server_learning_rate=1.0, server_momentum=0.0)):
        strategy = HushgradAggregation(inner, server_lr=2.0, **EXACT)
        stepped, metrics = strategy.aggregate_train(1, replies(strategy, HushgradMod(NO_PRIVACY)))
        assert stepped is not None
        assert metrics is not None
        np.testing.assert_allclose(stepped["w"].numpy(), TARGET, rtol=1e-6)
        np.testing.assert_allclose(stepped["b"].numpy(), 0.5, rtol=1e-6)
        assert stepped["w"].numpy().dtype == np.float32
        assert stepped["steps"].numpy().tolist() == [7]
        assert metrics["hushgrad.reports"] == NODES
        assert metrics["hushgrad.bytes-per-report"] == 28


def test_metrics_say_what_holds() -> None:
    strategy = HushgradAggregation(FedAvg(), epsilon=2, scale=1, sparsity=2, mechanism="coco")
    mod = HushgradMod(Policy(max_epsilon=2))
    for rounds in (1, 2):
        _, metrics = strategy.aggregate_train(1, replies(strategy, mod))
        assert metrics is not None
        assert metrics["hushgrad.epsilon-local"] == 2.0
        assert metrics["hushgrad.epsilon-local-total"] == 2.0 * rounds
        assert metrics["hushgrad.delta"] == 1e-6
        central = metrics["hushgrad.epsilon-central-if-shuffled"]
        assert isinstance(central, float)
        assert 0 < central <= 2.0 * rounds
        noise = metrics["hushgrad.std-err"]
        assert isinstance(noise, float)
        assert noise > 0


def test_a_plain_reply_stops_the_run() -> None:
    strategy = HushgradAggregation(FedAvg(), **EXACT)
    sent = list(strategy.configure_train(1, model(), ConfigRecord(), Nodes()))
    with pytest.raises(PlainReply, match="HushgradMod"):
        strategy.aggregate_train(1, [trained(sent[0], context())])


def test_what_is_no_report_is_a_failure_and_too_few_reports_no_step() -> None:
    strategy = HushgradAggregation(
        FedAvg(), epsilon=4, scale=1, sparsity=2, mechanism="coco", min_reports=4
    )
    mod = HushgradMod(Policy(max_epsilon=4))
    got = replies(strategy, mod)
    bad: list[bytes | str] = [b"", b"\xff" * 5, b"12345678901", "text"]
    for reply, report in zip(got, bad, strict=False):
        reply.content["hushgrad"] = ConfigRecord({"report": report})
    twice = got[4].content.config_records["hushgrad"]["report"]
    assert isinstance(twice, bytes)
    got[4].content["hushgrad"] = ConfigRecord({"report": twice + twice})
    got[5] = Message(Error(2, "out of memory"), reply_to=got[5])
    got[6] = HushgradMod()(described(None), context(), never)
    stepped, metrics = strategy.aggregate_train(1, got)
    assert stepped is None
    assert metrics is not None
    assert [metrics[f"hushgrad.{name}"] for name in ("reports", "refused", "failed")] == [3, 1, 6]


def test_a_run_in_the_simulation_engine() -> None:
    pytest.importorskip("ray")
    program = Path(__file__).with_name("flower_run.py")
    done = subprocess.run(
        [sys.executable, str(program)],
        env=os.environ | {"FLWR_TELEMETRY_ENABLED": "0"},
        timeout=300,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    rounds = json.loads(done.stdout.splitlines()[-1])
    assert [r["hushgrad.reports"] for r in rounds] == [10, 10, 10]
    assert [r["hushgrad.refused"] for r in rounds] == [0, 0, 0]
    assert [r["hushgrad.epsilon-local-total"] for r in rounds] == [8.0, 16.0, 24.0]
