"""NVFlare: evaluation by private reports.

The noise is the operating system's, and has no seed. An interval of 6 standard errors leaves out 1
in 5e8 normal errors.
"""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("nvflare")

from nvflare.apis.dxo import DXO, DataKind, MetaKey
from nvflare.apis.shareable import Shareable
from nvflare.app_common.np.recipes import NumpyFedAvgRecipe
from nvflare.fuel.utils import fobs
from nvflare.fuel.utils.class_loader import load_class
from nvflare_site import Model, Site, model, params, receive, result, send
from pages import DOCS, needs_docs
from test_nvflare_run import run, workspace

from hushgrad import InvalidParameter, Ledger, Round
from hushgrad.bench.parties import Parties, Servers
from hushgrad.evaluation import Column, Confusion, Metrics, Question, Scores, Survey, ask
from hushgrad.evaluation.carried import carried, restored
from hushgrad.nvflare import HushgradAggregator, HushgradPrivatize, PlainReply, private_recipe
from hushgrad.nvflare import messages as m
from hushgrad.server import Operator

__all__ = ["workspace"]  # a fixture

HERE = Path(__file__).resolve().parent
SITES = 10
BOTH = Metrics({"accuracy": (0, 1), "loss": (0, 4)})
JOB = HushgradPrivatize(max_epsilon=20)


@cache
def small(question: Question = BOTH, **given: Any) -> Survey:
    """Return a survey of the sites."""
    asked: dict[str, Any] = {"clients": SITES, "budget": 20, "force": True, **given}
    return ask(question, **asked)


def asking(survey: Survey, **given: Any) -> HushgradAggregator:
    """Return an aggregator with a question."""
    noisy: dict[str, Any] = {"epsilon": 4, "scale": 1, "mechanism": "coco", "min_reports": 2}
    noisy |= {"params": {"sparsity": 2}, **given}
    return HushgradAggregator(**noisy, evaluation=survey)


def evaluated(trained: Model | None = None, **metrics: object) -> Shareable:
    """Return what a training script sends with metrics of the model that came, and with others."""
    about = {MetaKey.INITIAL_METRICS: {"secret": 17.0, **metrics}}
    return DXO(DataKind.WEIGHTS, data=trained or model(1), meta=about).to_shareable()


FOUND: dict[str, Any] = {"accuracy": 0.75, "loss": 1.0}


def asked(
    aggregator: HushgradAggregator, *sites: Site, found: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return the metrics of a round in which sites train and evaluate."""
    for i, site in enumerate(sites or [Site(JOB)] * SITES):
        answer = site.answer(send(aggregator), evaluated(**(found or FOUND)))
        receive(aggregator, i, answer)
    return aggregator.aggregate_model().metrics or {}


def test_nothing_but_two_reports_leaves() -> None:
    aggregator = asking(small())
    data = send(aggregator)
    question = fobs.loads(fobs.dumps(data.get_header(m.QUESTION)))
    assert (question["names"], question["high"]) == (["accuracy", "loss"], [1, 4])
    answer = Site(JOB).answer(data, evaluated(**FOUND))
    made = params(answer)
    assert set(made) == {m.ROUND, m.REPORT, m.QUESTION, m.ANSWER}
    round_ = Round(question["round"])
    assert (made[m.QUESTION], len(made[m.ANSWER])) == (round_.digest, round_.report_bytes)
    assert b"secret" not in fobs.dumps(answer)
    assert b"metrics" not in fobs.dumps(answer)


def test_the_server_gets_values_with_their_errors() -> None:
    metrics = asked(asking(small()))
    assert abs(metrics["accuracy"] - 0.75) < 6 * metrics["accuracy.std-err"]
    assert abs(metrics["loss"] - 1) < 6 * metrics["loss.std-err"]
    assert 0 <= metrics["accuracy.low"] <= metrics["accuracy"] <= metrics["accuracy.high"] <= 1
    for name in ("hushgrad.reports", "hushgrad.evaluation.reports"):
        assert metrics[name] == SITES
    assert metrics["hushgrad.evaluation.epsilon-local"] == 20
    assert metrics["hushgrad.epsilon-local"] == 4
    assert "secret" not in metrics


def test_the_promise_of_a_job_is_of_training_and_evaluation_together() -> None:
    aggregator = asking(small(budget=4, rounds=2))
    totals: list[float] = []
    for number in range(4):
        aggregator.reset_stats()
        data = send(aggregator, number=number, rounds=4)
        assert (data.get_header(m.QUESTION) is not None) == (number in (1, 3))
        metrics = asked(aggregator)
        totals.append(metrics["hushgrad.epsilon-local-total"])
        assert 0 < metrics["hushgrad.epsilon-central-if-shuffled"] <= totals[-1]
        assert metrics["hushgrad.delta"] == (2e-6 if number else 1e-6)
        assert ("accuracy" in metrics) == (number in (1, 3))
    assert totals == [4, 10, 14, 20]


def test_a_round_without_a_report_of_training_promises_for_its_question() -> None:
    aggregator = asking(small(budget=4))
    metrics = asked(aggregator, *[Site(HushgradPrivatize(max_epsilon=20))] * SITES)
    assert metrics["hushgrad.epsilon-local-total"] == 8
    aggregator = asking(small(budget=4), epsilon=8)
    metrics = asked(aggregator, *[Site(HushgradPrivatize(max_epsilon=4))] * SITES)
    counted = ("hushgrad.reports", "hushgrad.refused", "hushgrad.evaluation.reports")
    assert [metrics[name] for name in counted] == [0, SITES, SITES]
    assert metrics["hushgrad.epsilon-local-total"] == 4
    assert "hushgrad.epsilon-local" not in metrics


def test_the_ledger_pays_for_both_from_one_budget(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    with Ledger(path, "nvflare") as ledger:
        ledger.set_budget(9)
    scope = {"hushgrad-max-epsilon": 4.0, "hushgrad-ledger": str(path)}
    site, aggregator = Site(own=True, scope=scope), asking(small(budget=6, rounds=3))

    def part(**found: Any) -> dict[str, Any]:
        aggregator.reset_stats()
        return params(site.answer(send(aggregator), evaluated(**found)))

    def total() -> float:
        with Ledger(path, "nvflare") as ledger:
            return ledger.spent().epsilon

    assert set(part(**FOUND)) == {m.ROUND, m.REPORT, m.QUESTION, m.ANSWER}
    assert total() == 6
    without = part(accuracy=1.0)  # the round is another one, and nothing of it is paid twice
    assert m.REPORT not in without
    assert without[m.REFUSED].startswith("BudgetExhausted")
    assert "must have loss" in without[m.UNANSWERED]
    assert total() == 6
    last = part(**FOUND)  # 3 are left, which is too little for a report of training
    assert (m.REPORT in last, m.ANSWER in last) == (False, True)
    assert total() == 8
    assert part(**FOUND)[m.UNANSWERED].startswith("BudgetExhausted")


@pytest.mark.parametrize(
    ("scope", "named"),
    [
        ({"hushgrad-max-epsilon": 5.0}, "epsilon"),
        ({"hushgrad-max-epsilon": 20.0, "hushgrad-min-reports": 9}, "min_reports"),
        ({"hushgrad-max-epsilon": 20.0, "hushgrad-max-dim": 1}, "dim"),
    ],
)
@pytest.mark.parametrize("own", [False, True])
def test_a_policy_decides_about_the_question(scope: dict[str, Any], named: str, own: bool) -> None:
    site = Site(JOB, scope=scope, own=own)
    answer = params(site.answer(send(asking(small())), evaluated(**FOUND)))
    assert named in answer[m.UNANSWERED]
    assert m.ANSWER not in answer


def test_a_site_refuses_a_question_of_another_round() -> None:
    for changes, named in (
        ({"names": ["accuracy"], "low": [0.0], "high": [1.0]}, "dim"),
        ({"low": [0.0]}, "question"),
        ({"high": [1.0, 0.0]}, "range"),
        ({"round": None}, "round"),
    ):
        data = send(asking(small()))
        question = data.get_header(m.QUESTION)
        assert question is not None
        data.set_header(m.QUESTION, question | changes)
        made = params(Site(JOB).answer(data, evaluated(**FOUND)))
        assert named in made[m.UNANSWERED]
        assert m.REPORT in made


def test_a_metric_that_is_missing_is_named_and_nothing_else_of_the_result_is() -> None:
    for script in (evaluated(accuracy=1.0), result(model(1))):
        answer = Site(JOB).answer(send(asking(small())), script)
        made = params(answer)
        assert "the metrics of the FLModel must have" in made[m.UNANSWERED]
        assert "loss" in made[m.UNANSWERED]
        assert m.REPORT in made
        assert b"secret" not in fobs.dumps(answer)
    aggregator = asking(small(Confusion(2)))
    for given in (None, [1.0, 0.0, 0.0], "secret", {"secret": 1}):
        made = params(Site(JOB).answer(send(aggregator), evaluated(answer=given)))
        assert "answer" in made[m.UNANSWERED]
        assert "secret" not in made[m.UNANSWERED]


def test_a_script_that_only_evaluates_is_heard() -> None:
    metrics = result({"accuracy": 0.5, "loss": 2.0}, DataKind.METRICS)  # type: ignore[dict-item]
    made = params(Site(JOB).answer(send(asking(small())), metrics))
    assert set(made) == {m.REFUSED, m.QUESTION, m.ANSWER}


def test_a_task_does_not_answer_the_question_of_the_one_before() -> None:
    site = Site(JOB)
    assert m.ANSWER in params(site.answer(send(asking(small())), evaluated(**FOUND)))
    plain = HushgradAggregator(4, 1, 2, "coco", {"sparsity": 2})
    assert set(params(site.answer(send(plain), evaluated(**FOUND)))) == {m.ROUND, m.REPORT}


def test_what_is_no_answer_is_a_failure_and_too_few_give_none() -> None:
    aggregator, other = asking(small()), asking(small())
    good = [Site(JOB).answer(send(aggregator), evaluated(**FOUND)) for _ in range(5)]
    params(good[0])[m.ANSWER] = b"\xff" * 50
    params(good[1])[m.ANSWER] = "text"
    params(good[2])[m.QUESTION] = params(Site(JOB).answer(send(other), evaluated(**FOUND)))[
        m.QUESTION
    ]
    params(good[3])[m.UNANSWERED] = "because"
    for i, answer in enumerate(good):
        receive(aggregator, i, answer)
    receive(aggregator, 4, good[4])  # a second time
    metrics = aggregator.aggregate_model().metrics or {}
    counted = [metrics[f"hushgrad.evaluation.{n}"] for n in ("reports", "refused", "failed")]
    assert counted == [1, 1, 3]
    assert "accuracy" not in metrics
    assert [metrics[f"hushgrad.{n}"] for n in ("reports", "refused", "failed")] == [5, 0, 1]


def test_a_site_that_refuses_all_has_not_answered() -> None:
    aggregator = asking(small())
    broken = Site(JOB, scope={"hushgrad-max-epsilom": 1})
    metrics = asked(aggregator, broken, Site(JOB), Site(JOB))
    assert metrics["hushgrad.evaluation.refused"] == metrics["hushgrad.refused"] == 1
    assert metrics["hushgrad.evaluation.reports"] == 2


def test_a_plain_model_ends_the_job_with_a_question_too() -> None:
    aggregator = asking(small())
    send(aggregator)
    receive(aggregator, 1, evaluated(**FOUND))
    with pytest.raises(PlainReply):
        aggregator.aggregate_model()


@pytest.mark.parametrize("records", [0, 10_000])
def test_hospitals_answer_for_each_record(records: int) -> None:
    question = Metrics({"accuracy": (0, 1)})
    given: dict[str, Any] = {"unit": "example", "min_reports": SITES}
    survey = ask(question, clients=SITES, records=1000, budget=8) if records else small(question)
    aggregator = asking(survey, **given)
    site = Site(HushgradPrivatize(max_epsilon=20, max_delta=1e-6, unit="example"))
    rows: Model = {name: np.stack([array] * 100) for name, array in model(1).items()}
    for i in range(SITES):
        sent = evaluated(rows, accuracy=np.arange(100) < 70)
        receive(aggregator, i, site.answer(send(aggregator), sent))
    metrics = aggregator.aggregate_model().metrics or {}
    assert metrics["hushgrad.evaluation.reports"] == (SITES if records else 100 * SITES)
    assert abs(metrics["accuracy"] - 0.7) < 6 * metrics["accuracy.std-err"] < 0.2


def test_a_site_answers_by_one_report_however_many_examples_it_has() -> None:
    lists: dict[str, Any] = {"accuracy": [1.0, 0.0, math.nan], "loss": [0.0, 4.0, math.inf]}
    metrics = asked(asking(small()), found=lists)
    assert metrics["hushgrad.evaluation.reports"] == SITES


def test_a_whole_answer_comes_by_its_name() -> None:
    question = Confusion(2)
    answer = question.answer([0, 1, 1, 1], [0, 1, 1, 0]).tolist()
    metrics = asked(asking(small(question)), found={"answer": answer})
    off = np.abs(np.array(metrics["shares"]) - [0.25, 0, 0.25, 0.5])
    assert np.all(off < 6 * np.array(metrics["shares.std-err"]))


@pytest.mark.parametrize(
    "question",
    [BOTH, Confusion(3), Scores(4, low=-1, high=3), Column(18, 90, bins=8, quantiles=(0.1, 0.5))],
)
def test_a_job_carries_a_question(question: Question, tmp_path: Path) -> None:
    survey = small(question, rounds=3)
    (tmp_path / "client.py").write_text("")
    recipe = private_recipe(
        NumpyFedAvgRecipe,
        asking(survey),
        name="job",
        model=np.zeros(2),
        min_clients=2,
        train_script=str(tmp_path / "client.py"),
    )
    recipe.export(str(tmp_path / "out"))
    written = tmp_path / "out" / "job" / "app" / "config" / "config_fed_server.json"
    each = json.loads(written.read_text())["workflows"][0]["args"]["aggregator"]
    again = load_class(each["path"])(**each["args"])
    assert again.evaluation == carried(survey)
    made = restored(again.evaluation)
    assert made.rounds == 3
    names = ("mechanism", "dim", "epsilon", "delta", "scale", "params", "columns", "min_reports")
    one, other = made.round("r", min_reports=7), survey.round("r", min_reports=7)
    assert [getattr(one, n) for n in names] == [getattr(other, n) for n in names]
    counts = other.aggregator()
    client = Round(other.description, HushgradPrivatize(max_epsilon=20, max_delta=1).policy())
    counts.add(client.encode(question.divided(40)))
    estimate = counts.estimate()
    for name, measure in survey.read(estimate).items():
        assert np.all(made.read(estimate)[name].value == measure.value)
        assert np.all(made.read(estimate)[name].high == measure.high)


def test_a_question_that_a_job_cannot_carry_is_named() -> None:
    class Other(Metrics):
        pass

    with pytest.raises(InvalidParameter, match="evaluation: got Other"):
        asking(small(Other({"accuracy": (0, 1)})))
    whole = carried(small())
    for broken in ({}, whole | {"kind": "poll"}, whole | {"about": {"bins": 3}}):
        with pytest.raises(InvalidParameter, match=r"hushgrad\.evaluation returns"):
            asking(broken)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="range"):
        asking(whole | {"about": {"ranges": {"accuracy": [1, 0]}}})  # type: ignore[arg-type]


def test_a_question_that_opens_no_round_ends_the_job() -> None:
    broken = carried(small())
    broken["shape"] = broken["shape"] | {"mechanism": "unheard"}
    with pytest.raises(SystemError, match="mechanism"):
        send(asking(broken))  # type: ignore[arg-type]


def test_the_question_is_asked_evenly_and_in_the_last_round() -> None:
    aggregator = asking(small(rounds=3))

    def rounds(total: int | None) -> list[int]:
        found: list[int] = []
        for number in range(total or 6):
            aggregator.reset_stats()
            data = send(aggregator, number=number, rounds=total)
            found += [number] * (data.get_header(m.QUESTION) is not None)
        return found

    assert rounds(9) == [2, 5, 8]
    assert rounds(7) == [2, 4, 6]
    assert rounds(2) == [0, 1]
    assert rounds(None) == [0, 1, 2]


@pytest.fixture
def parties() -> Iterator[Parties]:
    """Start a server and a shuffler."""
    pytest.importorskip("grpc")
    with Servers("shuffler.test") as made:
        yield made


def test_two_servers_count_the_answers(parties: Parties, tmp_path: Path) -> None:
    survey = ask(Metrics({"accuracy": (0, 1)}), clients=4, budget=20, trust="two-servers")
    where = {"operator": parties.operator, "shuffler": parties.shuffler, "name": "shuffler.test"}
    aggregator = HushgradAggregator(
        *(8, 2, 4, "gaussian-shares"),
        delta=1e-6,
        shuffled={**where, "share_key": b64encode(parties.share_key).decode()},
        evaluation=survey,
    )
    seal, share = (sha256(key).hexdigest() for key in (parties.seal_key, parties.share_key))
    pins = {"shuffler": "shuffler.test", "seal-key": seal, "share-key": share}
    scope: dict[str, Any] = {"max-epsilon": 20.0, "max-delta": 1e-5, **pins}
    for i in range(4):
        ledger = tmp_path / f"ledger-{i}"
        with Ledger(ledger, "nvflare") as made:
            made.set_budget(50, 1e-4)
        own = {f"hushgrad-{name}": v for name, v in {**scope, "ledger": str(ledger)}.items()}
        answer = Site(own=True, scope=own).answer(send(aggregator), evaluated(accuracy=0.75))
        assert set(params(answer)) == {m.ROUND, m.REPORT, m.QUESTION, m.ANSWER}
        receive(aggregator, i, answer)
    metrics = aggregator.aggregate_model().metrics or {}
    assert metrics["hushgrad.evaluation.reports"] == metrics["hushgrad.reports"] == 4
    assert abs(metrics["accuracy"] - 0.75) < 6 * metrics["accuracy.std-err"]
    both = 8 + (survey.plan.promise.epsilon_central or math.nan)
    assert metrics["hushgrad.epsilon-two-servers"] == both
    assert "hushgrad.epsilon-local-total" not in metrics
    send(aggregator)
    aggregator.reset_stats()
    with Operator.connect(parties.operator) as operator:
        states = [r.state for r in operator.rounds()]
    assert sorted(states) == ["aborted"] * 2 + ["closed"] * 2


@needs_docs
def test_the_page_evaluates_in_the_simulator(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    script = HERE / "nvflare_evaluation.py"
    printed = run(workspace, script, workspace, DOCS / "nvflare.md")

    def logged(name: str) -> list[dict[str, str]]:
        found = re.findall(rf"hushgrad: {name}-\d: (reports .*)", printed)
        return [dict(part.split() for part in each.split(", ")) for each in found]

    trained, answers = logged("round"), logged("evaluation")
    assert [r["reports"] for r in trained] == ["4"] * 4
    assert len(answers) == 2
    for number, answer in zip((1, 3), answers, strict=True):
        counts = [answer[name] for name in ("reports", "refused", "failed", "accuracy")]
        assert counts[:3] == ["4", "0", "0"]
        value, error = float(answer["accuracy"]), float(answer["accuracy.std-err"])
        right = (3500 + 250 * number) / 5000  # of the models that the sites got in these rounds
        assert abs(value - right) < 6 * error < 0.1
