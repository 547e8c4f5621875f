"""Flower: one report for each record of a client."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr")

from flower_messages import Nodes, be_a_task, context, described, model, never, reason
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.serverapp.strategy import FedAvg
from numpy.typing import NDArray

from hushgrad import HushgradError, InvalidParameter, Ledger, Policy, Round
from hushgrad.flower import HushgradAggregation, HushgradMod, add_updates

POLICY = Policy(max_epsilon=4)


@pytest.fixture(autouse=True)
def task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a task of Flower."""
    be_a_task(monkeypatch)


@pytest.fixture
def round_() -> Round:
    """Return a round for the model."""
    return Round.new("r", dim=7, epsilon=4, scale=1, sparsity=2, mechanism="coco", min_reports=3)


def per_record(rows: NDArray[Any]) -> Any:
    """Return an app that trains a model of zeros by one of these rows for each record."""

    def train(message: Message, _: Context) -> Message:
        arrays = ArrayRecord(
            {
                "b": Array(np.ascontiguousarray(rows[:, 4:])),
                "w": Array(np.reshape(rows[:, :4], (len(rows), 2, 2))),
            }
        )
        metrics = MetricRecord({"num-examples": len(rows)})
        return Message(RecordDict({"arrays": arrays, "metrics": metrics}), reply_to=message)

    return train


def rows(count: int) -> NDArray[np.float32]:
    """Return updates in which no two numbers are equal."""
    return np.reshape(np.arange(count * 7) / 100, (count, 7)).astype(np.float32)


def test_each_record_has_a_report(round_: Round) -> None:
    mod = HushgradMod(POLICY, unit="example")
    reply = mod(described(round_, unit="example"), context(), per_record(rows(5)))
    assert list(reply.content) == ["hushgrad"]
    sent = reply.content.config_records["hushgrad"]["report"]
    assert isinstance(sent, bytes)
    assert len(sent) == 5 * round_.report_bytes


def test_the_mean_is_one_of_records() -> None:
    strategy = HushgradAggregation(
        FedAvg(),
        epsilon=math.inf,
        scale=1.0,
        mechanism="none",
        unit="example",
        min_reports=30,
        max_records=15,
    )
    mod = HushgradMod(Policy(max_epsilon=math.inf), unit="example")
    sent = list(strategy.configure_train(1, model(), ConfigRecord(), Nodes()))
    shares = [rows(1), rows(9), rows(20), rows(16), rows(15)]  # two have too many
    answers = [
        mod(message, context(), per_record(share))
        for message, share in zip(sent, shares, strict=False)
    ]
    stepped, metrics = strategy.aggregate_train(1, answers)
    assert metrics is not None
    assert metrics["hushgrad.reports"] == 25
    assert metrics["hushgrad.failed"] == 2
    assert stepped is None  # 30 are required

    strategy = HushgradAggregation(
        FedAvg(), epsilon=math.inf, scale=1.0, mechanism="none", unit="example", min_reports=3
    )
    sent = list(strategy.configure_train(1, model(), ConfigRecord(), Nodes()))
    answers = [
        mod(message, context(), per_record(share))
        for message, share in zip(sent, shares, strict=False)
    ]
    stepped, metrics = strategy.aggregate_train(1, answers)
    assert metrics is not None
    assert metrics["hushgrad.bytes-per-report"] == 28
    assert stepped is not None
    mean = np.vstack(shares).mean(axis=0)
    np.testing.assert_allclose(stepped["w"].numpy().ravel(), mean[:4], rtol=1e-6)
    np.testing.assert_allclose(stepped["b"].numpy(), mean[4:], rtol=1e-6)


def hospitals(**changes: Any) -> HushgradAggregation:
    """Return an aggregation of sums of records, with little noise."""
    given: dict[str, Any] = {"epsilon": 20, "delta": 0.01, "scale": 1.0, "records": 9000}
    given |= {"mechanism": "gaussian-site", "unit": "example", "min_reports": 3, **changes}
    return HushgradAggregation(FedAvg(), **given)


def in_parts(share: NDArray[np.floating]) -> Any:
    """Return an app that gives its records in parts, and returns no arrays."""

    def train(message: Message, _: Context) -> Message:
        for start in range(0, len(share), 400):
            part = share[start : start + 400]
            add_updates({"w": np.reshape(part[:, :4], (-1, 2, 2)), "b": part[:, 4:]})
        return Message(RecordDict(), reply_to=message)

    return train


def test_hospitals_send_sums_of_their_records() -> None:
    strategy = hospitals()
    demand = Policy(max_epsilon=20, max_delta=0.01)
    mod = HushgradMod(demand, unit="example")
    sent = list(strategy.configure_train(1, model(), ConfigRecord(), Nodes()))
    spread = np.random.default_rng(1).normal(0.1, 0.05, size=(5000, 7))
    shares = np.split(spread, [100, 1500, 2500, 4000])
    apps = [per_record(share) for share in shares[:2]] + [in_parts(share) for share in shares[2:]]
    answers = [mod(msg, context(), app) for msg, app in zip(sent, apps, strict=False)]
    stepped, metrics = strategy.aggregate_train(1, answers)
    assert metrics is not None
    assert stepped is not None
    counted = len(answers)
    seen = np.vstack(shares[:counted])
    assert metrics["hushgrad.records"] == len(seen)
    assert metrics["hushgrad.reports"] == counted
    assert metrics["hushgrad.epsilon-local"] == 20
    short = np.minimum(1, 1 / np.linalg.norm(seen, axis=1))[:, None]
    step = np.concatenate([stepped["w"].numpy().ravel(), stepped["b"].numpy()])
    noise = metrics["hushgrad.std-err"]
    assert isinstance(noise, float)
    assert noise < 0.01
    # 7 normal variables are beyond 6 standard errors once in 7e7 tries.
    assert (np.abs(step - (seen * short).mean(axis=0)) < 6 * noise).all()


def test_records_are_collected_below_the_mod_alone() -> None:
    with pytest.raises(HushgradError, match="no sum of records is under way"):
        add_updates({"w": np.zeros((1, 2, 2)), "b": np.zeros((1, 3))})
    plain = HushgradMod(POLICY, unit="example")
    round_ = Round.new("r", dim=7, epsilon=4, scale=1, sparsity=2, mechanism="coco", min_reports=3)
    reply = plain(described(round_, unit="example"), context(), in_parts(rows(3)))
    assert "app failed" in reason(reply)


def test_a_client_has_one_sum() -> None:
    strategy = hospitals()
    mod = HushgradMod(Policy(max_epsilon=20, max_delta=0.01), unit="example")
    sent = list(strategy.configure_train(1, model(), ConfigRecord(), Nodes()))
    answers = [mod(message, context(), per_record(rows(5))) for message in sent]
    record = answers[0].content.config_records["hushgrad"]
    report = record["report"]
    assert isinstance(report, bytes)
    record["report"] = report * 2
    _, metrics = strategy.aggregate_train(1, answers)
    assert metrics is not None
    assert metrics["hushgrad.failed"] == 1
    assert metrics["hushgrad.reports"] == len(answers) - 1


def test_the_central_epsilon_is_that_of_many_records() -> None:
    strategy = HushgradAggregation(
        FedAvg(), epsilon=4, scale=1, sparsity=2, mechanism="coco", unit="example", min_reports=3
    )
    mod = HushgradMod(POLICY, unit="example")
    sent = list(strategy.configure_train(1, model(), ConfigRecord(), Nodes()))
    answers = [mod(message, context(), per_record(rows(2000))) for message in sent]
    _, metrics = strategy.aggregate_train(1, answers)
    assert metrics is not None
    assert metrics["hushgrad.reports"] == 20_000
    assert metrics["hushgrad.epsilon-local"] == 4.0
    central = metrics["hushgrad.epsilon-central-if-shuffled"]
    assert isinstance(central, float)
    assert 0 < central < 1


def test_the_ledger_pays_for_records_apart_from_clients(tmp_path: Path, round_: Round) -> None:
    path = tmp_path / "ledger"
    with Ledger(path, "flower") as ledger:
        ledger.set_budget(100)
    node = context(hushgrad_max_epsilon=4.0, hushgrad_ledger=str(path), hushgrad_unit="example")
    mod = HushgradMod(unit="example")
    assert "budget" in reason(mod(described(round_, unit="example"), node, never))
    with Ledger(path, "flower-records") as ledger:
        ledger.set_budget(6)
    train = per_record(rows(50))
    assert not mod(described(round_, unit="example"), node, train).has_error()
    with Ledger(path, "flower-records") as ledger:
        assert ledger.spent().epsilon == 4.0
    again = Round.new("r2", dim=7, epsilon=4, scale=1, sparsity=2, min_reports=3)
    assert "budget" in reason(mod(described(again, unit="example"), node, never))


@pytest.mark.parametrize(
    ("of_mod", "of_round", "of_node", "named"),
    [
        ("example", "example", {}, ""),
        ("example", "example", {"hushgrad_unit": "example"}, ""),
        ("client", "client", {"hushgrad_unit": "example"}, ""),
        ("example", "example", {"hushgrad_unit": "client"}, "hushgrad-unit"),
        ("example", "example", {"hushgrad_max_delta": 0.0}, "hushgrad-unit"),
        ("example", "client", {}, "must be 'example'"),
        ("client", "example", {}, "must be 'client'"),
    ],
)
def test_a_node_says_what_is_protected(
    round_: Round, of_mod: Any, of_round: str, of_node: dict[str, Any], named: str
) -> None:
    if of_node:
        of_node = {"hushgrad_max_epsilon": 4.0, **of_node}
    mod = HushgradMod(POLICY, unit=of_mod)

    def train(message: Message, given: Context) -> Message:
        if named:
            return never(message, given)
        if of_mod == "example":
            return per_record(rows(2))(message, given)
        return Message(RecordDict({"arrays": model(1.0)}), reply_to=message)

    reply = mod(described(round_, unit=of_round), context(**of_node), train)
    if named:
        assert reason(reply).startswith("hushgrad refused: unit: ")
        assert named in reason(reply)
    else:
        assert not reply.has_error()


@pytest.mark.parametrize("made", [rows(0), rows(3)[:, :6], rows(3)[:, [0, 1, 2, 3, 4, 5, 6, 6]]])
def test_models_of_another_shape_are_refused(round_: Round, made: NDArray[Any]) -> None:
    mod = HushgradMod(POLICY, unit="example")
    reply = mod(described(round_, unit="example"), context(), per_record(made))
    assert reason(reply).startswith("hushgrad refused: arrays: ")


def test_the_server_refuses_what_makes_no_sense() -> None:
    with pytest.raises(InvalidParameter, match="min_reports"):
        HushgradAggregation(FedAvg(), epsilon=4, scale=1, unit="example")
    with pytest.raises(InvalidParameter, match="unit"):
        HushgradAggregation(FedAvg(), epsilon=4, scale=1, unit="record")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="max_records"):
        HushgradAggregation(
            FedAvg(), epsilon=4, scale=1, unit="example", min_reports=3, max_records=0
        )
    with pytest.raises(InvalidParameter, match="unit"):
        HushgradMod(unit="record")  # type: ignore[arg-type]
