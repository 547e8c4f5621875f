"""NVFlare, the server: the rounds that it opens and the reports that it counts."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

import json
import logging
import math
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("nvflare")

from nvflare.apis.dxo import DataKind, from_shareable
from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.np.recipes import NumpyFedAvgRecipe
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.fuel.utils.class_loader import load_class
from nvflare_site import Model, Site, model, params, receive, result, send
from pages import DOCS, blocks, needs_docs

from hushgrad import InvalidParameter, Ledger, Round, _bridge
from hushgrad.nvflare import HushgradAggregator, HushgradPrivatize, PlainReply, private_recipe
from hushgrad.nvflare import messages as m

SITES = 10
EXACT: dict[str, Any] = {"epsilon": math.inf, "scale": 1.0, "mechanism": "none", "min_reports": 1}
NOISY: dict[str, Any] = {"epsilon": 2.0, "scale": 1.0, "params": {"sparsity": 2}, "min_reports": 4}
JOB = HushgradPrivatize(max_epsilon=math.inf, unit="example")


def step(aggregator: HushgradAggregator) -> tuple[Model, dict[str, float]]:
    """Return the step of a round, and its metrics."""
    made = aggregator.aggregate_model()
    assert made.params_type == ParamsType.DIFF
    assert made.params is not None
    return made.params, made.metrics or {}


def train(aggregator: HushgradAggregator, after: Model | None = None, sites: int = SITES) -> None:
    """Let some sites train in a round."""
    for i in range(sites):
        answer = Site(JOB).answer(send(aggregator), result(after or model(1)))
        receive(aggregator, i, answer)


def test_the_model_moves_by_the_mean_difference() -> None:
    aggregator = HushgradAggregator(**EXACT, server_lr=2.0)
    for i in range(SITES):
        receive(aggregator, i, Site(JOB).answer(send(aggregator), result(model(i))))
    made = aggregator.aggregate_model()
    before = FLModel(params_type=ParamsType.FULL, params=model(0))
    after: Model = FLModelUtils.update_model(before, made).params  # type: ignore[assignment]
    assert {n: a.tolist() for n, a in after.items()} == {
        "w": [[9, 9], [9, 9]],
        "b": [9, 9, 9],
        "steps": [7],
    }
    assert {n: a.dtype for n, a in after.items()} == {n: a.dtype for n, a in model(0).items()}
    assert made.metrics is not None
    assert made.metrics["hushgrad.reports"] == SITES
    assert made.metrics["hushgrad.bytes-per-report"] == 28


def test_counters_and_masks_never_become_parameters() -> None:
    aggregator = HushgradAggregator(
        epsilon=8.0, scale=1.0, params={"sparsity": 2}, min_reports=4, momentum=0.5
    )
    start: Model = {
        "conv.weight": np.full((2, 3), 0.5, np.float16),
        "bn.num_batches_tracked": np.array(7),
        "bn.running_mean": np.zeros(3, np.float64),
        "mask": np.array([True, False]),
        "head.bias": np.array(0.25, np.float32),
        "ids": np.arange(4, dtype=np.uint8),
    }
    whole = FLModel(params_type=ParamsType.FULL, params={n: a.copy() for n, a in start.items()})
    for _ in range(5):
        aggregator.reset_stats()
        sent: Model = whole.params  # type: ignore[assignment]
        after = {name: np.asarray(array + array.dtype.type(1)) for name, array in sent.items()}
        for i in range(SITES):
            data = send(aggregator, sent)
            assert Round(bytes(data.get_header(m.ROUND) or b"")).dim == 10
            receive(aggregator, i, Site(JOB).answer(data, result(after)))
        whole = FLModelUtils.update_model(whole, aggregator.aggregate_model())
    for name, before in start.items():
        array = np.asarray(whole.params[name])  # type: ignore[index]
        assert (array.dtype, np.shape(array)) == (before.dtype, before.shape)
        if before.dtype.kind != "f":
            assert array.tobytes() == before.tobytes()
    assert whole.params["conv.weight"].tobytes() != start["conv.weight"].tobytes()  # type: ignore[index]


def test_momentum_carries_a_step_on() -> None:
    aggregator = HushgradAggregator(**EXACT, momentum=0.5)
    steps: list[float] = []
    for value in (1, 1, 0):
        aggregator.reset_stats()
        train(aggregator, model(value), sites=1)
        steps.append(step(aggregator)[0]["b"][0])
    assert steps == [1, 1.5, 0.75]


def test_all_sites_of_a_round_get_the_same_round_and_the_next_ones_another() -> None:
    aggregator = HushgradAggregator(**NOISY)
    first = {send(aggregator).get_header(m.ROUND) for _ in range(3)}
    assert len(first) == 1
    aggregator.aggregate_model()
    second = send(aggregator).get_header(m.ROUND)
    aggregator.reset_stats()
    assert len({*first, second, send(aggregator).get_header(m.ROUND)}) == 3


def test_metrics_say_what_holds(caplog: pytest.LogCaptureFixture) -> None:
    aggregator = HushgradAggregator(**NOISY)
    for rounds in (1, 2):
        train(aggregator)
        with caplog.at_level(logging.INFO, "hushgrad.nvflare"):
            _, metrics = step(aggregator)
        assert metrics["hushgrad.epsilon-local"] == 2.0
        assert metrics["hushgrad.epsilon-local-total"] == 2.0 * rounds
        assert metrics["hushgrad.delta"] == 1e-6
        assert 0 < metrics["hushgrad.epsilon-central-if-shuffled"] <= 2.0 * rounds
        assert metrics["hushgrad.std-err"] > 0
        assert f"round-0: reports {SITES}, refused 0, failed 0" in caplog.text


def test_one_report_of_each_record_counts() -> None:
    aggregator = HushgradAggregator(**EXACT, unit="example")
    for i, count in enumerate((2, 3)):
        rows: Model = {
            "w": np.full((count, 2, 2), i, np.float32),
            "b": np.zeros((count, 3), np.float32),
        }
        receive(aggregator, i, Site(JOB).answer(send(aggregator), result(rows)))
    moved, metrics = step(aggregator)
    assert metrics["hushgrad.reports"] == 5
    np.testing.assert_allclose(moved["w"], 3 / 5, rtol=1e-6)


def test_a_site_sends_one_sum_of_its_records() -> None:
    budget: dict[str, Any] = {"epsilon": 20, "delta": 0.01, "scale": 8}
    aggregator = HushgradAggregator(
        **budget, mechanism="gaussian-site", params={"records": 9000}, unit="example", min_reports=3
    )
    job = HushgradPrivatize(max_epsilon=20, max_delta=0.01, unit="example")
    for i, count in enumerate((200, 3000, 1000)):
        rows: Model = {
            "w": np.full((count, 2, 2), i, np.float32),
            "b": np.zeros((count, 3), np.float32),
        }
        receive(aggregator, i, Site(job).answer(send(aggregator), result(rows)))
    moved, metrics = step(aggregator)
    assert metrics["hushgrad.reports"] == 3
    assert metrics["hushgrad.records"] == 4200
    # 7 normal variables are beyond 6 standard errors once in 7e7 tries.
    assert metrics["hushgrad.std-err"] < 0.02
    assert (np.abs(moved["w"] - 5000 / 4200) < 6 * metrics["hushgrad.std-err"]).all()
    assert (np.abs(moved["b"]) < 6 * metrics["hushgrad.std-err"]).all()


def test_what_is_no_report_is_a_failure_and_too_few_reports_no_step() -> None:
    aggregator = HushgradAggregator(**NOISY)
    site, other = Site(JOB), HushgradAggregator(**NOISY)
    good = [site.answer(send(aggregator), result(model(1))) for _ in range(9)]
    bad: list[object] = [b"", b"\xff" * 5, b"12345678901"]
    for answer, report in zip(good, bad, strict=False):
        params(answer)[m.REPORT] = report
    params(good[3])[m.REPORT] *= 2
    good[4] = site.answer(send(other), result(model(1)))  # of another round
    good[5] = Site(HushgradPrivatize()).answer(send(aggregator), result(model(1)))  # refused
    params(good[8])[m.REPORT] = "text"
    for i, answer in enumerate(good):
        receive(aggregator, i, answer)
    receive(aggregator, 7, good[7])  # a second time
    moved, metrics = step(aggregator)
    assert moved == {}
    counted = [metrics[f"hushgrad.{name}"] for name in ("reports", "refused", "failed")]
    assert counted == [2, 1, 7]


@pytest.mark.parametrize("kind", [DataKind.WEIGHTS, DataKind.WEIGHT_DIFF, DataKind.METRICS])
def test_a_plain_model_ends_the_job(kind: str) -> None:
    aggregator = HushgradAggregator(**NOISY)
    train(aggregator)
    receive(aggregator, SITES, result(model(1), kind))
    with pytest.raises(PlainReply, match=r"site-10.*HushgradPrivatize"):
        aggregator.aggregate_model()


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_reports_outlive_the_helper() -> None:
    aggregator = HushgradAggregator(**EXACT)
    train(aggregator)
    os.kill(_bridge.helper().pid, signal.SIGKILL)
    assert step(aggregator)[1]["hushgrad.reports"] == SITES


def test_an_answer_after_the_round_changes_nothing() -> None:
    aggregator = HushgradAggregator(**EXACT)
    train(aggregator)
    late = Site(JOB).answer(send(aggregator), result(model(1)))
    aggregator.aggregate_model()
    receive(aggregator, 99, late)
    assert step(aggregator) == ({}, {})


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"mechanism": "unheard"}, "mechanism"),
        ({"params": {"sparsety": 2}}, "params"),
        ({"min_reports": 0}, "min_reports"),
    ],
)
def test_a_round_that_cannot_be_opened_ends_the_job(changes: dict[str, Any], named: str) -> None:
    with pytest.raises(SystemError, match=named):
        send(HushgradAggregator(**NOISY | changes))


def test_a_model_that_is_none_of_numpy_ends_the_job() -> None:
    with pytest.raises(SystemError, match="NumPy"):
        send(HushgradAggregator(**NOISY), before={"w": "text"})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    "changes", [{"unit": "site"}, {"momentum": 1.0}, {"momentum": math.nan}, {"averaging": 1.0}]
)
def test_a_parameter_that_breaks_a_rule_is_named(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter) as refused:
        HushgradAggregator(**NOISY, **changes)
    assert refused.value.param == next(iter(changes))


def test_a_recipe_carries_both_parts_and_not_the_package(tmp_path: Path) -> None:
    script = tmp_path / "client.py"
    script.write_text("")
    aggregator = HushgradAggregator(
        **NOISY, unit="example", train=["numpy_*"], server_lr=0.5, momentum=0.25
    )
    recipe = private_recipe(
        NumpyFedAvgRecipe,
        aggregator,
        HushgradPrivatize(max_epsilon=3, unit="example"),
        name="job",
        model=np.zeros((2, 2), np.float32),
        min_clients=2,
        train_script=str(script),
    )
    recipe.export(str(tmp_path / "out"))
    app = tmp_path / "out" / "job" / "app"
    assert [p.name for p in (app / "custom").rglob("*") if p.is_file()] == ["client.py"]
    client = json.loads((app / "config" / "config_fed_client.json").read_text())
    for chain in ("task_data_filters", "task_result_filters"):
        (entry,) = client[chain]
        assert set(entry["tasks"]) == {"train", "validate", "submit_model"}
        (each,) = entry["filters"]
        made = load_class(each["path"])(**each["args"])
        assert isinstance(made, HushgradPrivatize)
        assert (made.max_epsilon, made.unit) == (3, "example")
    server = json.loads((app / "config" / "config_fed_server.json").read_text())
    each = server["workflows"][0]["args"]["aggregator"]
    again = load_class(each["path"])(**each["args"])
    names = [*NOISY, "unit", "train", "server_lr", "momentum", "averaging", "central_delta"]
    assert [getattr(again, n) for n in names] == [getattr(aggregator, n) for n in names]


@needs_docs
def test_the_page_shows_a_job_and_a_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("client.py").write_text("")
    job, planned, *_, ledger = blocks(DOCS / "nvflare.md", "python")
    gradients = np.random.default_rng(1).standard_normal((300, 64)) + 1
    names: dict[str, Any] = {"model": np.zeros((8, 8), np.float32), "gradients": gradients}
    exec(job, names)
    exec(planned, names)
    assert names["aggregator"].mechanism == names["run"].mechanism
    names["recipe"].export("out")
    assert Path("out/job/app/custom/client.py").is_file()
    assert "/var/lib/hushgrad/ledger" in ledger
    Ledger("ledger", "nvflare", must_exist=False).close()
    exec(ledger.replace("/var/lib/hushgrad/ledger", "ledger"))
    with Ledger("ledger", "nvflare", must_exist=True) as made:
        assert made.spent().epsilon == 0


def test_a_recipe_without_a_policy_leaves_it_to_the_sites() -> None:
    refused = Site(HushgradPrivatize()).answer(send(HushgradAggregator(**NOISY)), result(model(1)))
    assert list(from_shareable(refused).data) == [m.REFUSED]
