"""Flower: from the replies of clients to a step of the model."""

from __future__ import annotations

import logging
import math
import os
import signal
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr")

from flower_messages import (
    NODES,
    TARGET,
    Nodes,
    be_a_task,
    context,
    described,
    model,
    never,
    trained,
)
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Error, Message, RecordDict
from flwr.serverapp.strategy import FedAdam, FedAvg, FedAvgM, FedYogi, Strategy

from hushgrad import Aggregator, Policy, Round, _bridge, plan
from hushgrad.flower import HushgradAggregation, HushgradMod, PlainReply


@pytest.fixture(autouse=True)
def task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a task of Flower."""
    be_a_task(monkeypatch)


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


def state_dict() -> ArrayRecord:
    """Return a model as PyTorch has it, with counters, a mask and numbers of several types."""
    arrays: dict[str, Any] = {
        "conv.weight": np.full((2, 3), 0.5, np.float16),
        "bn.num_batches_tracked": np.array(7),
        "bn.running_mean": np.zeros(3, np.float64),
        "mask": np.array([True, False]),
        "head.bias": np.float32(0.25) * np.ones((), np.float32),
        "ids": np.arange(4, dtype=np.uint8),
    }
    return ArrayRecord({name: Array(np.asarray(array)) for name, array in arrays.items()})


@pytest.mark.parametrize(
    "inner",
    [FedAvg(), FedAvgM(server_learning_rate=1.0, server_momentum=0.5), FedAdam(), FedYogi()],
    ids=lambda inner: type(inner).__name__,
)
def test_counters_and_masks_never_become_parameters(
    inner: Strategy, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "flwr")
    strategy = HushgradAggregation(inner, epsilon=8, scale=1, sparsity=2, mechanism="coco")
    mod, start = HushgradMod(Policy(max_epsilon=8)), state_dict()
    arrays = start

    def train(message: Message, _: Context) -> Message:
        """Train as PyTorch does: counters count."""
        sent = message.content.array_records["arrays"]
        assert list(sent) == list(start)
        after = {
            name: Array(np.asarray(array.numpy() + array.numpy().dtype.type(1)))
            for name, array in sent.items()
        }
        return Message(RecordDict({"arrays": ArrayRecord(after)}), reply_to=message)

    for server_round in range(1, 6):
        sent = list(strategy.configure_train(server_round, arrays, ConfigRecord(), Nodes()))
        dims = {Round(bytes(m.content.config_records["hushgrad"]["round"])).dim for m in sent}  # type: ignore[arg-type]
        assert dims == {10}
        stepped, _ = strategy.aggregate_train(
            server_round, [mod(message, context(), train) for message in sent]
        )
        assert stepped is not None
        arrays = stepped
        assert list(arrays) == list(start)
        for name, array in arrays.items():
            before = start[name].numpy()
            assert (array.numpy().dtype, array.numpy().shape) == (before.dtype, before.shape)
            if before.dtype.kind != "f":
                assert array.numpy().tobytes() == before.tobytes()
    (said,) = [text for text in caplog.messages if "noise goes into" in text]
    assert said == (
        "hushgrad: noise goes into all 10 numbers of conv.weight, bn.running_mean, head.bias; "
        "bn.num_batches_tracked, mask, ids stay as they are"
    )
    assert any(
        arrays[name].numpy().tobytes() != start[name].numpy().tobytes()
        for name in ("conv.weight", "bn.running_mean", "head.bias")
    )


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


@pytest.mark.parametrize(("method", "calls"), [("add", 4), ("estimate", 1)])
def test_a_killed_helper_loses_no_report(
    monkeypatch: pytest.MonkeyPatch, method: str, calls: int
) -> None:
    strategy = HushgradAggregation(FedAvg(), server_lr=2.0, **EXACT)
    got = replies(strategy, HushgradMod(NO_PRIVACY))
    called = getattr(Aggregator, method)
    seen: list[int] = []

    def killed_before(*given: Any) -> Any:
        seen.append(_bridge.helper().pid)
        if len(seen) == calls:
            os.kill(seen[-1], signal.SIGKILL)
        return called(*given)

    monkeypatch.setattr(Aggregator, method, killed_before)
    stepped, metrics = strategy.aggregate_train(1, got)
    assert len(set(seen)) == 2
    assert stepped is not None
    assert metrics is not None
    np.testing.assert_allclose(stepped["w"].numpy(), TARGET, rtol=1e-6)
    assert [metrics[f"hushgrad.{name}"] for name in ("reports", "failed")] == [NODES, 0]


def test_refused_rounds_cost_nothing(caplog: pytest.LogCaptureFixture) -> None:
    strategy = HushgradAggregation(FedAvg(), epsilon=2, scale=1, sparsity=2, mechanism="coco")
    refusing, taking = HushgradMod(Policy(max_epsilon=1)), HushgradMod(Policy(max_epsilon=2))
    arrays, metrics = strategy.aggregate_train(1, replies(strategy, refusing))
    (warning,) = [text for text in caplog.messages if "given up" in text]
    assert f"clients refused: {NODES}, the first: fl: refused by the client's policy" in warning
    assert arrays is None  # the model stays
    assert metrics is not None
    assert metrics["hushgrad.refused"] == NODES
    assert "hushgrad.epsilon-local-total" not in metrics
    lost = replies(strategy, taking)[:1]  # too few for a step, and the others may have been sent
    assert strategy.aggregate_train(2, lost)[0] is None
    _, metrics = strategy.aggregate_train(3, replies(strategy, taking))
    assert metrics is not None
    assert metrics["hushgrad.epsilon-local-total"] == 4.0
    assert metrics["hushgrad.epsilon-central-if-shuffled"] == 4.0


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


def test_the_summary_has_all_digits_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []

    def note(text: str, *values: object) -> None:
        logged.append(text % values)

    monkeypatch.setattr("hushgrad.flower.aggregation.log.info", note)
    HushgradAggregation(FedAvg(), epsilon=4.5031138, scale=1, sparsity=2).summary()
    assert "ε = 4.5031138 for a report of a client" in logged[0]
    assert "against everybody" in logged[1]
    logged.clear()
    shares = plan(clients=8, records=9_000, dim=30, l1=5, l2=1, budget=2)
    HushgradAggregation.from_plan(shares).summary()
    assert f"gaussian-site, ε = {shares.epsilon} for a report of a record" in logged[0]
    assert "against everybody outside of its node" in logged[1]
