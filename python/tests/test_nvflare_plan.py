"""NVFlare: a planned job is what the plan says."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("nvflare")

from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.np.recipes import NumpyFedAvgRecipe
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare_site import Model, Site, receive, result, send

from hushgrad import InvalidParameter, Plan, Round, plan
from hushgrad.nvflare import HushgradAggregator, HushgradPrivatize, private_recipe
from hushgrad.nvflare import messages as m

JOB = HushgradPrivatize(max_epsilon=math.inf, max_delta=1e-6, unit="example")
TARGETS = np.random.default_rng(1).standard_normal((10, 7))


def planned(**changes: Any) -> Plan:
    """Return a plan of sites whose targets are known to it, all in every round."""
    given: dict[str, Any] = {"dim": 7, "clients": 10, "cohort": 10, "public": -TARGETS}
    given |= {"rounds": 4, "epsilon": 4, "trust": "nobody", "force": True, **changes}
    return plan(**given)


def start() -> Model:
    """Return a model of zeros."""
    return {"w": np.zeros((2, 2)), "b": np.zeros(3), "steps": np.array([7])}


@pytest.mark.parametrize("rate", [1.0, 0.25])
def test_sites_that_return_a_gradient_train_as_planned(rate: float) -> None:
    run = planned(mechanism="none", epsilon=0)
    aggregator = HushgradAggregator.from_plan(run, client_lr=rate)
    whole = FLModel(params_type=ParamsType.FULL, params=start())
    model, velocity, average, weight = (np.zeros(7) for _ in range(4))
    for number in range(run.affordable):
        aggregator.reset_stats()
        sent: Model = whole.params  # type: ignore[assignment]
        row = np.concatenate([sent["w"].ravel(), sent["b"]])
        np.testing.assert_allclose(row, model, rtol=1e-5)
        for site in range(10):
            data = send(aggregator, sent, number=number, rounds=run.affordable)
            after = row - rate * (row - TARGETS[site])
            trained: Model = {"w": np.reshape(after[:4], (2, 2)), "b": after[4:]}
            receive(aggregator, site, Site(JOB).answer(data, result(trained)))
        whole = FLModelUtils.update_model(whole, aggregator.aggregate_model())
        gradient = np.mean(model - TARGETS, axis=0)
        velocity = run.momentum * velocity - run.learning_rate * gradient
        model = model + velocity
        average = run.averaging * average + (1 - run.averaging) * model
        weight = run.averaging * weight + 1 - run.averaging
    last: Model = whole.params  # type: ignore[assignment]
    ended = np.concatenate([last["w"].ravel(), last["b"]])
    np.testing.assert_allclose(ended, average / weight, rtol=1e-5)
    assert last["steps"].tolist() == [7]


def test_a_last_round_that_is_given_up_leads_to_the_average_all_the_same() -> None:
    exact: dict[str, Any] = {"epsilon": math.inf, "scale": 1.0, "mechanism": "none"}
    aggregator = HushgradAggregator(**exact, min_reports=1, averaging=0.5)
    before = start()
    for number, update in ((0, 1.0), (1, 1.0), (2, None)):
        aggregator.reset_stats()
        data = send(aggregator, before, number=number, rounds=3)
        if update is not None:
            trained = {name: before[name] + update for name in ("w", "b")}
            receive(aggregator, 0, Site(JOB).answer(data, result(trained)))
        step: Model = aggregator.aggregate_model().params  # type: ignore[assignment]
        before = before | {name: before[name] + step[name] for name in ("w", "b")}
    np.testing.assert_allclose(before["b"], (0.25 * 1 + 0.5 * 2) / 0.75)


def test_the_rounds_are_those_of_the_plan(tmp_path: Path) -> None:
    run = planned()
    aggregator = HushgradAggregator.from_plan(run, client_lr=0.5, train=["w", "b"])
    made = Round(bytes(send(aggregator, start()).get_header(m.ROUND) or b""))
    want = run.round("r", min_reports=5)
    for name in ("mechanism", "dim", "epsilon", "delta", "params", "min_reports", "guarantee"):
        assert getattr(made, name) == getattr(want, name), name
    assert made.scale == run.scale / 2
    assert (aggregator.train, aggregator.unit) == (["w", "b"], "client")
    (tmp_path / "client.py").write_text("")
    recipe = private_recipe(  # its parameters fit into the files of a job
        NumpyFedAvgRecipe,
        aggregator,
        JOB,
        name="job",
        model=np.zeros(7),
        min_clients=run.clients,
        num_rounds=run.affordable,
        train_script=str(tmp_path / "client.py"),
    )
    recipe.export(str(tmp_path / "out"))
    assert (tmp_path / "out" / "job" / "app" / "config" / "config_fed_server.json").is_file()


def test_hospitals_train_as_planned() -> None:
    run = plan(clients=8, records=9_000, dim=7, l1=2, l2=1, budget=2)
    aggregator = HushgradAggregator.from_plan(run)
    data = send(aggregator, start())
    made = Round(bytes(data.get_header(m.ROUND) or b""))
    assert data.get_header(m.UNIT) == "example"
    assert (made.about_records, made.params) == (True, run.round("r").params)


def test_hospitals_train_as_planned_with_two_servers() -> None:
    where = {"operator": "127.0.0.1:1", "shuffler": "127.0.0.1:2", "name": "shuffler.example"}
    run = plan(clients=8, records=9_000, dim=7, l1=2, l2=1, budget=2, trust="two-servers")
    aggregator = HushgradAggregator.from_plan(run, shuffled=where)
    assert (aggregator.mechanism, aggregator.shuffled) == ("gaussian-shares", where)


def test_a_plan_that_nvflare_cannot_run_is_refused() -> None:
    given: dict[str, Any] = {"clients": 400, "dim": 7, "l1": 2, "l2": 1, "rounds": 2, "budget": 1}
    for trust in ("shuffler", "two-servers"):
        with pytest.raises(InvalidParameter, match=f"shuffled: .*trusts {trust}"):
            HushgradAggregator.from_plan(plan(**given, trust=trust))
    with pytest.raises(InvalidParameter, match="got 200 of 400 clients in a round"):
        HushgradAggregator.from_plan(plan(**given, trust="nobody"))
