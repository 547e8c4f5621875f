"""Flower: evaluation by private reports."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr")

from flower_messages import (
    NODES,
    Nodes,
    be_a_task,
    context,
    described,
    model,
    never,
    reason,
    trained,
)
from flwr.app import ConfigRecord, Context, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp.strategy import FedAvg
from pages import DOCS, blocks, needs_docs

from hushgrad import Ledger, Policy, Round
from hushgrad.evaluation import Confusion, Metrics, Survey, ask
from hushgrad.flower import HushgradAggregation, HushgradMod, PlainReply

BOTH = Metrics({"accuracy": (0, 1), "loss": (0, 4)})
App = Callable[[Message, Context], Message]


@pytest.fixture(autouse=True)
def task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a task of Flower."""
    be_a_task(monkeypatch)


def evaluated(**metrics: float | list[float]) -> App:
    """Return a ClientApp that finds these metrics, and says more than it is asked."""

    def app(message: Message, _: Context) -> Message:
        assert "arrays" in message.content.array_records
        found = MetricRecord({"num-examples": 17, **metrics})
        return Message(RecordDict({"metrics": found, "arrays": model(1)}), reply_to=message)

    return app


FOUND = evaluated(accuracy=0.75, loss=1.0)


def strategy(survey: Survey | None, **given: Any) -> HushgradAggregation:
    """Return an aggregation with a question."""
    given = {"epsilon": 4, "scale": 1, "sparsity": 2, "mechanism": "coco"} | given
    return HushgradAggregation(FedAvg(), evaluation=survey, **given)


def sent(made: HushgradAggregation) -> list[Message]:
    """Return what the clients are asked."""
    return list(made.configure_evaluate(1, model(), ConfigRecord(), Nodes()))


def small(question: Any = BOTH, **given: Any) -> Survey:
    """Return a survey of the nodes."""
    asked: dict[str, Any] = {"clients": NODES, "budget": 20, "force": True, **given}
    return ask(question, **asked)


def test_nothing_but_a_report_of_the_metrics_leaves() -> None:
    mod = HushgradMod(Policy(max_epsilon=20))
    for message in sent(strategy(small())):
        record = message.content.config_records["hushgrad"]
        assert (record["names"], record["high"]) == (["accuracy", "loss"], [1, 4])
        reply = mod(message, context(), FOUND)
        assert list(reply.content) == ["hushgrad"]
        assert list(reply.content.config_records["hushgrad"]) == ["report"]
        size = Round(bytes(record["round"])).report_bytes  # type: ignore[arg-type]
        assert len(bytes(reply.content.config_records["hushgrad"]["report"])) == size  # type: ignore[arg-type]


def test_the_server_gets_values_with_their_errors() -> None:
    made = strategy(small())
    mod = HushgradMod(Policy(max_epsilon=20))
    metrics = made.aggregate_evaluate(1, [mod(m, context(), FOUND) for m in sent(made)])
    assert metrics is not None
    numbers = {name: value for name, value in metrics.items() if isinstance(value, float)}
    # 1 in 5e8 normal errors is larger than 6 standard errors.
    assert abs(numbers["accuracy"] - 0.75) < 6 * numbers["accuracy.std-err"]
    assert abs(numbers["loss"] - 1) < 6 * numbers["loss.std-err"]
    assert 0 <= numbers["accuracy.low"] <= numbers["accuracy"] <= numbers["accuracy.high"] <= 1
    assert metrics["hushgrad.reports"] == NODES
    assert metrics["hushgrad.epsilon-local"] == 20
    assert "num-examples" not in metrics


def test_the_promise_of_a_run_is_of_training_and_evaluation_together() -> None:
    made = strategy(small(budget=4, rounds=2))
    mod = HushgradMod(Policy(max_epsilon=4))
    totals: list[object] = []
    for server_round in (1, 2):
        asked = made.configure_train(server_round, model(), ConfigRecord(), Nodes())
        _, after = made.aggregate_train(1, [mod(m, context(), trained) for m in asked])
        found = made.aggregate_evaluate(1, [mod(m, context(), FOUND) for m in sent(made)])
        for metrics, own in ((after, 4), (found, 2)):
            assert metrics is not None
            assert metrics["hushgrad.epsilon-local"] == own
            totals.append(metrics["hushgrad.epsilon-local-total"])
            shuffled = metrics["hushgrad.epsilon-central-if-shuffled"]
            assert isinstance(shuffled, float)
            assert 0 < shuffled <= 6 * server_round
        assert found is not None
        assert found["hushgrad.delta"] == 2e-6
    assert totals == [4, 6, 10, 12]
    assert sent(made) == []  # the question has had its two rounds
    assert made.aggregate_evaluate(1, []) is None


def test_the_ledger_pays_for_both_from_one_budget(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    node = context(hushgrad_max_epsilon=4.0, hushgrad_ledger=str(path))
    with Ledger(path, "flower") as ledger:
        ledger.set_budget(9)
    made = strategy(small(budget=6, rounds=3))

    def total() -> float:
        with Ledger(path, "flower") as ledger:
            return ledger.spent().epsilon

    assert not HushgradMod()(sent(made)[0], node, FOUND).has_error()
    assert total() == 2
    asked = made.configure_train(1, model(), ConfigRecord(), Nodes())
    assert not HushgradMod()(next(iter(asked)), node, trained).has_error()
    assert total() == 6
    again = sent(made)[0]
    assert HushgradMod()(again, node, evaluated(accuracy=1.0)).has_error()
    assert total() == 6  # nothing has left
    assert not HushgradMod()(again, node, FOUND).has_error()
    assert "budget" in reason(HushgradMod()(sent(made)[0], node, never))
    assert total() == 8


@pytest.mark.parametrize(
    ("node", "named"),
    [
        ({"hushgrad_max_epsilon": 3.0}, "epsilon"),
        ({"hushgrad_max_epsilon": 4.0, "hushgrad_min_reports": 9}, "min_reports"),
        ({}, "policy"),
    ],
)
def test_a_policy_decides_before_anything_is_evaluated(node: dict[str, Any], named: str) -> None:
    (first, *_) = sent(strategy(small(budget=4)))
    assert named in reason(HushgradMod()(first, context(**node), never))


def test_a_question_of_another_round_is_refused_before_anything_is_evaluated() -> None:
    mod = HushgradMod(Policy(max_epsilon=20))
    for changes, named in (
        ({"names": ["accuracy"], "low": [0.0], "high": [1.0]}, "dim"),
        ({"low": [0.0]}, "question"),
        ({"high": [1.0, 0.0]}, "range"),
        ({"unit": "example"}, "unit"),
    ):
        (first, *_) = sent(strategy(small()))
        record = dict(first.content.config_records["hushgrad"])
        first.content["hushgrad"] = ConfigRecord(record | changes)
        assert named in reason(mod(first, context(), never))


def test_without_a_question_the_error_says_what_to_type() -> None:
    mod = HushgradMod(Policy(max_epsilon=4))
    for message in sent(strategy(None)):
        said = reason(mod(message, context(), never))
        assert said.startswith("hushgrad refused: ")
        assert "evaluation=ask(Metrics({'accuracy': (0, 1)})" in said
        assert "fraction_evaluate=0" in said
    said = reason(mod(described(None, MessageType.EVALUATE), context(), never))
    assert "evaluation=" in said


def test_a_metric_that_is_missing_is_named_and_nothing_else_of_the_reply_is() -> None:
    (first, *_) = sent(strategy(small()))
    mod = HushgradMod(Policy(max_epsilon=20))
    said = reason(mod(first, context(), evaluated(accuracy=1.0, secret=3.0)))
    assert "must have loss" in said
    assert "secret" not in said
    (first, *_) = sent(strategy(small(Confusion(2))))
    for app in (FOUND, evaluated(answer=[1.0, 0.0, 0.0])):
        said = reason(mod(first, context(), app))
        assert "answer" in said
        assert "secret" not in said
        assert "3" not in said


def test_metrics_without_the_mod_end_the_run() -> None:
    made = strategy(small())
    with pytest.raises(PlainReply):
        made.aggregate_evaluate(1, [FOUND(m, context()) for m in sent(made)])


def test_too_few_reports_give_no_answer() -> None:
    made = strategy(small(), min_reports=NODES)
    mod = HushgradMod(Policy(max_epsilon=20))
    metrics = made.aggregate_evaluate(1, [mod(m, context(), FOUND) for m in sent(made)[1:]])
    assert metrics is not None
    assert metrics["hushgrad.reports"] == NODES - 1
    assert metrics["hushgrad.epsilon-local-total"] == 20
    assert "accuracy" not in metrics
    assert made.aggregate_evaluate(1, []) is None


def test_a_whole_answer_comes_by_its_name() -> None:
    question = Confusion(2)
    made, mod = strategy(small(question)), HushgradMod(Policy(max_epsilon=20))
    app = evaluated(answer=question.answer([0, 1, 1, 1], [0, 1, 1, 0]).tolist())
    replies = [mod(m, context(), app) for m in sent(made)]
    metrics = made.aggregate_evaluate(1, replies)
    assert metrics is not None
    shares, errors = metrics["shares"], metrics["shares.std-err"]
    assert isinstance(shares, list)
    assert isinstance(errors, list)
    off = np.abs(np.array(shares) - [0.25, 0, 0.25, 0.5])
    assert np.all(off < 6 * np.array(errors))


def test_a_client_sends_one_report_however_many_examples_it_has() -> None:
    made = strategy(small())
    mod = HushgradMod(Policy(max_epsilon=20))
    app = evaluated(accuracy=[1.0, 0.0, 1.0], loss=[0.0, 4.0, 2.0])
    metrics = made.aggregate_evaluate(1, [mod(m, context(), app) for m in sent(made)])
    assert metrics is not None
    assert metrics["hushgrad.reports"] == NODES
    assert metrics["hushgrad.failed"] == 0


@pytest.mark.parametrize("records", [0, 10_000])
def test_hospitals_answer_for_each_record(records: int) -> None:
    question = Metrics({"accuracy": (0, 1)})
    survey = ask(question, clients=NODES, records=1000, budget=8) if records else small(question)
    made = strategy(survey, unit="example", min_reports=NODES)
    mod = HushgradMod(Policy(max_epsilon=20, max_delta=1e-6), unit="example")
    app = evaluated(accuracy=[1.0] * 70 + [0.0] * 30)
    metrics = made.aggregate_evaluate(1, [mod(m, context(), app) for m in sent(made)])
    assert metrics is not None
    accuracy, error = metrics["accuracy"], metrics["accuracy.std-err"]
    assert isinstance(accuracy, float)
    assert isinstance(error, float)
    assert metrics["hushgrad.reports"] == (NODES if records else 100 * NODES)
    assert abs(accuracy - 0.7) < 6 * error < 0.2


def test_numbers_that_are_not_finite_are_reported_all_the_same() -> None:
    (first, *_) = sent(strategy(small()))
    mod = HushgradMod(Policy(max_epsilon=20))
    assert not mod(first, context(), evaluated(accuracy=math.nan, loss=math.inf)).has_error()
    (first, *_) = sent(strategy(small(Confusion(2))))
    assert not mod(first, context(), evaluated(answer=[math.nan] * 4)).has_error()


@needs_docs
def test_the_lines_for_evaluation_ask_the_clients() -> None:
    (lines,) = [code for code in blocks(DOCS / "flower.md", "python") if "evaluation=" in code]
    names: dict[str, Any] = {}
    exec(lines, names)
    (first, *_) = sent(names["strategy"])
    reply = names["app"](first, context())
    assert list(reply.content) == ["hushgrad"]
