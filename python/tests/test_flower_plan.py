"""Flower: a planned run is what the plan says."""

from __future__ import annotations

import logging
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr")

from flower_messages import Clients, Floats, be_a_task
from flwr.app import Array, ArrayRecord, ConfigRecord, MetricRecord
from flwr.serverapp.strategy import FedAdam, FedAvg, FedAvgM, Strategy

from hushgrad import InvalidParameter, Plan, Round, plan
from hushgrad.flower import HushgradAggregation, InTurn


@pytest.fixture(autouse=True)
def task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a task of Flower."""
    be_a_task(monkeypatch)


TARGETS = np.random.default_rng(1).standard_normal((40, 30))


def pull(node: int, model: Floats) -> Floats:
    """Return the gradient of half of the squared distance to a node's target."""
    return model - TARGETS[node]


def planned(**changes: Any) -> Plan:
    """Return a plan of clients whose targets are known to it."""
    given: dict[str, Any] = {"dim": 30, "clients": 40, "public": -TARGETS, "rounds": 4}
    given |= {"epsilon": 4, "cohort": 40, "force": True, **changes}
    return plan(**given)


def start(dim: int = 30) -> ArrayRecord:
    """Return a model of zeros."""
    return ArrayRecord({"model": Array(np.zeros(dim))})


@pytest.mark.parametrize("rate", [1.0, 0.25])
def test_clients_that_return_a_gradient_train_as_planned(rate: float) -> None:
    run = planned(mechanism="none", epsilon=0, trust="nobody")
    strategy = HushgradAggregation.from_plan(run, client_lr=rate)
    evaluated: list[Floats] = []

    def evaluate(_: int, arrays: ArrayRecord) -> MetricRecord:
        evaluated.append(arrays["model"].numpy())
        return MetricRecord()

    grid = Clients(40, pull, rate)
    result = strategy.start(grid, start(), num_rounds=run.affordable, evaluate_fn=evaluate)
    model, velocity, average, weight = (np.zeros(30) for _ in range(4))
    for r in range(run.affordable):
        gradient = np.mean([pull(node, model) for node in range(40)], axis=0)
        velocity = run.momentum * velocity - run.learning_rate * gradient
        model = model + velocity
        average = run.averaging * average + (1 - run.averaging) * model
        weight = run.averaging * weight + 1 - run.averaging
        np.testing.assert_allclose(evaluated[r + 1], average / weight, rtol=1e-5)
    assert 0 < run.momentum < 1
    assert 0 < run.averaging < 1
    np.testing.assert_allclose(result.arrays["model"].numpy(), average / weight, rtol=1e-5)


def test_the_average_is_of_what_trains_and_of_one_run() -> None:
    exact: dict[str, Any] = {"epsilon": math.inf, "scale": 1.0, "mechanism": "none"}
    inner = FedAvg(fraction_evaluate=0)
    strategy = HushgradAggregation(inner, averaging=0.5, train="model", **exact)
    body = np.random.default_rng(1).standard_normal(100)
    first = {"model": Array(np.zeros(30)), "body": Array(body)}
    for rounds, average in ((2, (0.25 * 1 + 0.5 * 2) / 0.75), (1, 1.0)):
        grid = Clients(2, lambda node, model: np.full(30, -1.0))
        result = strategy.start(grid, ArrayRecord(first), num_rounds=rounds)
        np.testing.assert_allclose(result.arrays["model"].numpy(), average)
        assert result.arrays["body"].numpy().tobytes() == body.tobytes()
    for averaging in (1.0, -0.1, math.nan):
        with pytest.raises(InvalidParameter, match="averaging"):
            HushgradAggregation(FedAvg(), averaging=averaging, **exact)


@pytest.mark.parametrize("rate", [1.0, 0.25])
def test_the_rounds_are_those_of_the_plan(rate: float) -> None:
    run = planned(trust="nobody")
    grid = Clients(40, pull, rate)
    HushgradAggregation.from_plan(run, client_lr=rate).start(grid, start(), run.affordable)
    assert len(grid.rounds) == run.rounds == 4
    for made in grid.rounds:
        want = run.round("r", min_reports=made.min_reports)
        for name in ("mechanism", "dim", "epsilon", "delta", "relation", "params", "min_reports"):
            assert getattr(made, name) == getattr(want, name), name
        assert made.scale == run.scale * rate
        assert made.min_reports == 20
        assert made.guarantee == want.guarantee


def test_clients_take_part_in_turn_and_no_more_often_than_planned() -> None:
    run = planned(cohort=0, budget=4, epsilon=0)
    assert (run.cohort, run.promise.participations, run.affordable) == (10, 1, 4)
    grid = Clients(40, pull)
    result = HushgradAggregation.from_plan(run).start(grid, start(), num_rounds=6)
    assert [len(asked) for asked in grid.asked] == [10] * 4  # and none in two rounds more
    assert sorted(node for asked in grid.asked for node in asked) == list(range(40))
    totals = [m["hushgrad.epsilon-local-total"] for m in result.train_metrics_clientapp.values()]
    assert totals == [4] * 4  # each client was in one round


def test_nodes_that_were_asked_least_are_next() -> None:
    strategy, grid, asked = InTurn(3, 3), Clients(5, pull), Counter[int]()
    for server_round in range(1, 6):
        sent = list(strategy.configure_train(server_round, start(), ConfigRecord(), grid))
        assert len(sent) == 3
        asked.update(message.metadata.dst_node_id for message in sent)
        assert strategy.asked == max(asked.values())
        assert max(asked.values()) - min(asked[node] for node in range(5)) <= 1
    assert list(strategy.configure_train(6, start(), ConfigRecord(), grid)) == []
    for wrong, name in (((0, 1), "cohort"), ((1, 0), "most")):
        with pytest.raises(InvalidParameter) as refused:
            InTurn(*wrong)
        assert refused.value.param == name


def test_a_strategy_that_steps_in_another_way_is_refused() -> None:
    run = planned()
    inner = FedAvgM(server_momentum=run.momentum)
    assert HushgradAggregation.from_plan(run, inner).strategy is inner
    wrong: list[Strategy] = [
        FedAvg(),
        FedAvgM(server_momentum=0.9),
        FedAvgM(server_momentum=run.momentum, server_learning_rate=0.5),
        FedAdam(),
    ]
    for each in wrong:
        with pytest.raises(InvalidParameter, match=r"FedAvgM\(server_momentum=0\.5\)"):
            HushgradAggregation.from_plan(run, each)
    for rate in (0.0, math.inf, math.nan):
        with pytest.raises(InvalidParameter, match="client_lr"):
            HushgradAggregation.from_plan(run, client_lr=rate)


def test_what_is_given_replaces_the_plan() -> None:
    run = planned()
    strategy = HushgradAggregation.from_plan(run, min_reports=7, scale=9.0, train="model")
    grid = Clients(40, pull)
    strategy.start(grid, start(), num_rounds=1)
    assert (grid.rounds[0].min_reports, grid.rounds[0].scale) == (7, 9.0)


def test_a_run_that_is_given_up_returns_the_model_that_it_began_with(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "flwr")
    run = planned(mechanism="none", epsilon=0, trust="nobody", rounds=2)
    strategy = HushgradAggregation.from_plan(run, min_reports=41)
    first = start()
    result = strategy.start(Clients(40, pull), first, num_rounds=run.affordable)
    np.testing.assert_array_equal(result.arrays["model"].numpy(), first["model"].numpy())
    assert f"round 1 asks {run.cohort} of 40 nodes" in caplog.text
    assert "no round counted" in caplog.text


@pytest.mark.parametrize("trust", ["shuffler", "two-servers"])
def test_a_plan_that_trusts_others_needs_them(trust: str) -> None:
    run = plan(dim=30, clients=400, l1=5, l2=1, trust=trust, rounds=2, budget=1)
    with pytest.raises(InvalidParameter, match=f"shuffled: .*trusts {trust}"):
        HushgradAggregation.from_plan(run)


def test_hospitals_train_as_planned() -> None:
    run = plan(clients=8, records=9_000, dim=30, l1=5, l2=1, budget=2)
    strategy = HushgradAggregation.from_plan(run)
    sent = list(strategy.configure_train(1, start(), ConfigRecord(), Clients(8, pull)))
    record = sent[0].content.config_records["hushgrad"]
    made = Round(bytes(record["round"]))  # type: ignore[arg-type]
    want = run.round("r", min_reports=4)
    assert record["unit"] == "example"
    assert (len(sent), made.about_records, made.min_reports) == (8, True, 4)
    assert (made.params, made.epsilon, made.delta) == (want.params, want.epsilon, want.delta)
    assert made.scale == run.scale
    turns = plan(clients=8, records=9_000, dim=30, l1=5, l2=1, trust="nobody", budget=4)
    with pytest.raises(InvalidParameter, match="a report for each record"):
        HushgradAggregation.from_plan(turns)


def test_all_hospitals_are_asked_where_one_may_be_down() -> None:
    run = plan(clients=9, records=9_000, dim=30, l1=5, l2=1, budget=2)
    fewer = {"min_train_nodes": 9, "min_available_nodes": 9, "fraction_evaluate": 0}
    every = FedAvgM(server_momentum=run.momentum, **fewer)  # type: ignore[arg-type]
    for strategy, asked in ((None, 9), (every, 10)):
        aggregation = HushgradAggregation.from_plan(run, strategy)
        sent = aggregation.configure_train(1, start(), ConfigRecord(), Clients(10, pull))
        assert len(list(sent)) == asked


def digits(seed: int) -> tuple[Any, ...]:
    """Return public digits, the shares of 200 clients, and a test."""
    load: Any = pytest.importorskip("sklearn.datasets").load_digits
    x, y = load(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    x, y = np.hstack([x[order] / 16, np.ones((len(y), 1))]), y[order]
    shares = [(x[300:1437][i::200], y[300:1437][i::200]) for i in range(200)]
    return (x[:300, :-1], y[:300]), shares, (x[1437:], y[1437:])


def test_digits_are_learned_as_the_plan_expects() -> None:
    public, shares, (x, y) = digits(1)
    run = plan(
        public=public, clients=200, per_client=5, trust="nobody", rounds=12, epsilon=8, cohort=200
    )

    def gradient(node: int, model: Floats) -> Floats:
        mine, labels = shares[node]
        scores = mine @ model
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        return mine.T @ (chances - np.eye(10)[labels]) / len(labels)

    first = ArrayRecord({"model": Array(np.zeros((65, 10)))})
    strategy = HushgradAggregation.from_plan(run)
    result = strategy.start(Clients(200, gradient), first, num_rounds=run.affordable)
    scores: Any = x @ result.arrays["model"].numpy()
    accuracy = float((scores.argmax(axis=1) == y).mean())
    # Chance gives 0.1, and a run about 0.90 with a standard deviation of 0.02.
    assert accuracy > 0.75
