"""NVFlare, the site: what leaves it, and what it refuses."""

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

from conftest import pins, two_servers
from nvflare.apis.dxo import DataKind
from nvflare.apis.fl_constant import FLContextKey, ReturnCode
from nvflare.apis.shareable import Shareable, make_reply
from nvflare.fuel.utils import fobs
from nvflare_site import Model, Site, model, params, result, task

from hushgrad import InvalidParameter, Ledger, Round
from hushgrad.nvflare import HushgradPrivatize
from hushgrad.nvflare import messages as m

JOB = HushgradPrivatize(max_epsilon=4)
POLICY: dict[str, Any] = {"hushgrad-max-epsilon": 4.0}


@pytest.fixture
def round_() -> Round:
    """Return a round for the model."""
    return Round.new("r", dim=7, epsilon=4, scale=1, sparsity=2, mechanism="coco", min_reports=3)


@pytest.fixture
def exact() -> Round:
    """Return a round without privacy, whose mean is exact."""
    return Round.new("r", dim=7, epsilon=math.inf, scale=1, mechanism="none", min_reports=1)


def mean(round_: Round, answer: Shareable) -> list[float]:
    """Return the mean of the reports of an answer."""
    counts = round_.aggregator()
    counts.add(params(answer)[m.REPORT])
    return counts.estimate().mean.tolist()


def refusal(answer: Shareable) -> str:
    """Return why a site refused."""
    assert answer.get_return_code() == ReturnCode.OK
    assert list(params(answer)) == [m.REFUSED]
    return params(answer)[m.REFUSED]


@pytest.mark.parametrize("own", [False, True])
def test_nothing_but_the_report_leaves(round_: Round, own: bool) -> None:
    site = Site(JOB, scope=POLICY, own=own)
    answer = site.answer(task(round_), result(model(1)))
    assert set(params(answer)) == {m.ROUND, m.REPORT}
    assert params(answer)[m.ROUND] == round_.digest
    assert len(params(answer)[m.REPORT]) == round_.report_bytes
    assert b"secret" not in fobs.dumps(answer)
    assert len(fobs.dumps(answer)) < 1000


@pytest.mark.parametrize(
    ("job", "scope", "named"),
    [
        (HushgradPrivatize(), None, "policy"),
        (HushgradPrivatize(max_epsilon=3), None, "epsilon"),
        (HushgradPrivatize(), {"hushgrad-max-epsilon": 3.0}, "epsilon"),
        # A job does not loosen what the site demands.
        (JOB, {"hushgrad-max-epsilon": 3.0}, "epsilon"),
        (JOB, POLICY | {"hushgrad-min-reports": 9}, "min_reports"),
        (JOB, {"hushgrad-ledger": "file"}, "epsilon"),
        (HushgradPrivatize(max_epsilon=3), POLICY, "epsilon"),
        (HushgradPrivatize(max_epsilon=4, min_reports=9), POLICY, "min_reports"),
        (JOB, {"hushgrad-max-epsilom": 4.0}, "epsilom"),
        (JOB, POLICY | {"hushgrad-ledger": "/nowhere/ledger"}, "Ledger"),
    ],
)
@pytest.mark.parametrize("own", [False, True])
def test_what_a_policy_refuses_does_not_leave(
    round_: Round, job: HushgradPrivatize, scope: dict[str, Any] | None, named: str, own: bool
) -> None:
    answer = Site(job, scope=scope, own=own).answer(task(round_), result(model(1)))
    assert named in refusal(answer)
    assert b"secret" not in fobs.dumps(answer)


def test_a_filter_of_the_site_needs_none_of_the_job(round_: Round) -> None:
    answer = Site(scope=POLICY, own=True).answer(task(round_), result(model(1)))
    assert m.REPORT in params(answer)
    assert "policy" in refusal(Site(own=True).answer(task(round_), result(model(1))))


@pytest.mark.parametrize(
    "trained",
    [
        {"secret": np.zeros(7, np.float32)},
        {"w": np.zeros((2, 3), np.float32), "b": np.zeros(3, np.float32)},
        {"w": np.array(0, np.float32), "b": np.array(0, np.float32)},
        {"w": "secret", "b": [0.0]},
    ],
)
def test_a_refusal_quotes_nothing_that_the_training_made(
    round_: Round, trained: dict[str, Any]
) -> None:
    answer = Site(JOB).answer(task(round_), result(trained))
    assert "must" in refusal(answer)
    assert b"secret" not in fobs.dumps(answer)


def test_a_round_for_another_model_is_refused(round_: Round) -> None:
    larger = model() | {"c": np.zeros(1, np.float32)}
    data = task(round_, before=larger, train=("w", "b", "c"))
    assert "dim" in refusal(Site(JOB).answer(data, result(larger)))
    assert "model" in refusal(
        Site(JOB).answer(task(round_, before={"w": "text"}), result(model()))  # type: ignore[dict-item]
    )
    cut = task(round_)
    cut.set_header(m.ROUND, round_.description[:9])
    assert refusal(Site(JOB).answer(cut, result(model())))


def test_a_model_and_its_difference_make_the_same_report(exact: Round) -> None:
    site = Site(HushgradPrivatize(max_epsilon=math.inf))
    after: Model = {
        "w": np.array([[4, 5], [6, 7]], np.float32),
        "b": np.array([1, 2, 3], np.float32),
    }
    want = [4.0, 5, 6, 7, 1, 2, 3]  # in the order that the server says
    whole = site.answer(task(exact), result(after | {"steps": np.array([9])}))
    assert mean(exact, whole) == want
    alone = site.answer(task(exact, before=model(9)), result(after, DataKind.WEIGHT_DIFF))
    assert mean(exact, alone) == want
    moved = {name: array + 1 for name, array in after.items()}
    backwards = dict(reversed(moved.items()))
    assert mean(exact, site.answer(task(exact, before=model(1)), result(backwards))) == want


def test_a_training_that_changes_the_model_in_place_is_seen(exact: Round) -> None:
    site = Site(HushgradPrivatize(max_epsilon=math.inf))
    answer = site.answer(task(exact), result(model(2)), inplace=True)
    assert mean(exact, answer) == [2.0] * 7


def test_a_task_does_not_see_the_model_of_the_one_before(exact: Round) -> None:
    site = Site(HushgradPrivatize(max_epsilon=math.inf))
    for value in (1, 5):
        answer = site.answer(task(exact, before=model(value)), result(model(value + 2)))
        assert mean(exact, answer) == [2.0] * 7


def test_one_report_for_each_record_where_site_and_job_allow_it(exact: Round) -> None:
    rows: Model = {
        "w": np.arange(12, dtype=np.float32).reshape(3, 2, 2),
        "b": np.zeros((3, 3), np.float32),
    }
    job = HushgradPrivatize(max_epsilon=math.inf, unit="example")
    scope = {"hushgrad-max-epsilon": math.inf, "hushgrad-unit": "example"}
    data, records = task(exact, unit="example"), result(rows, DataKind.WEIGHT_DIFF)
    for site in (Site(job), Site(job, scope=scope), Site(job, scope=scope, own=True)):
        answer = site.answer(data, records)
        assert len(params(answer)[m.REPORT]) == 3 * exact.report_bytes
        assert mean(exact, answer) == [4, 5, 6, 7, 0, 0, 0]
    for site in (
        Site(HushgradPrivatize(max_epsilon=math.inf)),
        Site(job, scope={"hushgrad-max-epsilon": math.inf}),
        Site(job, scope={"hushgrad-max-epsilon": math.inf}, own=True),
        Site(HushgradPrivatize(max_epsilon=math.inf), scope=scope, own=True),
    ):
        assert "unit" in refusal(site.answer(data, records))
    assert "unit" in refusal(Site(job).answer(task(exact, unit="all"), records))
    empty: Model = {name: array[:0] for name, array in rows.items()}
    assert refusal(Site(job).answer(data, result(empty, DataKind.WEIGHT_DIFF)))


@pytest.mark.parametrize("own", [False, True])
def test_the_ledger_of_a_site_ends_its_part(tmp_path: Path, own: bool) -> None:
    path = tmp_path / "ledger"
    scope = POLICY | {"hushgrad-ledger": str(path), "hushgrad-purpose": "mnist"}
    site = Site(JOB, scope=scope, own=own)

    def part() -> Shareable:
        made = Round.new(
            "r", dim=7, epsilon=4, scale=1, sparsity=2, mechanism="coco", min_reports=3
        )
        return site.answer(task(made), result(model(1)))

    with Ledger(path, "mnist") as ledger:
        ledger.set_budget(9)
    assert "arrays" in refusal(
        site.answer(
            task(
                Round.new(
                    "r", dim=7, epsilon=4, scale=1, sparsity=2, mechanism="coco", min_reports=3
                )
            ),
            result({}),
        )
    )
    assert [m.REPORT in params(part()) for _ in range(2)] == [True, True]
    assert refusal(part()).startswith("BudgetExhausted")
    with Ledger(path, "mnist") as ledger:
        assert ledger.spent().epsilon == 8


def test_a_site_with_a_counter_refuses_a_restored_ledger(tmp_path: Path, round_: Round) -> None:
    path, counter = tmp_path / "kept" / "ledger", tmp_path / "counter"
    path.parent.mkdir()
    with Ledger(path, "nvflare", counter=counter) as ledger:
        ledger.set_budget(9)
    older = path.read_bytes()
    scope = POLICY | {"hushgrad-ledger": str(path), "hushgrad-counter": str(counter)}
    assert m.REPORT in params(Site(JOB, scope=scope).answer(task(round_), result(model(1))))
    path.write_bytes(older)
    refused = refusal(Site(JOB, scope=scope).answer(task(round_), result(model(1))))
    assert "put the newest copy of the ledger back" in refused


def test_records_have_a_purpose_of_their_own(tmp_path: Path, round_: Round) -> None:
    path = tmp_path / "ledger"
    with Ledger(path, "nvflare-records") as ledger:
        ledger.set_budget(4)
    scope = POLICY | {"hushgrad-ledger": str(path), "hushgrad-unit": "example"}
    rows: Model = {name: np.stack([array] * 3) for name, array in model(1).items()}
    answer = Site(scope=scope, own=True).answer(task(round_, unit="example"), result(rows))
    assert m.REPORT in params(answer)
    with Ledger(path, "nvflare-records") as ledger:
        assert ledger.spent().epsilon == 4


def test_a_site_sends_one_report_in_a_round(tmp_path: Path, round_: Round) -> None:
    with Ledger(tmp_path / "ledger", "nvflare") as ledger:
        ledger.set_budget(100)
    site = Site(JOB, scope=POLICY | {"hushgrad-ledger": str(tmp_path / "ledger")})
    assert m.REPORT in params(site.answer(task(round_), result(model(1))))
    assert "AlreadyCharged" in refusal(site.answer(task(round_), result(model(1))))


def test_rounds_of_two_servers_need_a_ledger(tmp_path: Path) -> None:
    data = task(two_servers(dim=7))
    bare, site = Site(scope=pins(), own=True), tmp_path / "ledger"
    for _ in range(20):
        assert "hushgrad-ledger: is required" in refusal(bare.answer(data, result(model(1))))
    with Ledger(site, "nvflare") as ledger:
        ledger.set_budget(9.0, 1e-5)
    paid = Site(scope=pins() | {"hushgrad-ledger": str(site)}, own=True)
    assert m.REPORT in params(paid.answer(data, result(model(1))))
    for _ in range(19):
        assert "AlreadyCharged" in refusal(paid.answer(data, result(model(1))))


def test_a_job_alone_lets_no_site_answer_two_servers_without_a_ledger() -> None:
    round_ = Round.new(
        *("r",),
        dim=7,
        epsilon=1,
        scale=1,
        min_reports=9,
        mechanism="sumdp",
        delta=1e-6,
        levels=1,
        range=0.8,
    )
    job = HushgradPrivatize(max_epsilon=1, max_delta=1e-6, trust_shuffler=True)
    site = Site(job)
    assert "hushgrad-ledger" in refusal(site.answer(task(round_), result(model(1))))
    # A site of the simulator has no ledger. It remembers what it has answered.
    site.context.set_prop(FLContextKey.SIMULATE_MODE, True, private=True, sticky=True)
    assert m.REPORT in params(site.answer(task(round_), result(model(1))))
    assert "must be new" in refusal(site.answer(task(round_), result(model(1))))


def test_a_diverged_site_sends_a_report_and_says_so_in_its_log(
    round_: Round, caplog: pytest.LogCaptureFixture
) -> None:
    assert set(params(Site(JOB).answer(task(round_), result(model(1))))) == {m.ROUND, m.REPORT}
    assert "diverged" not in caplog.text
    answer = Site(JOB).answer(task(round_), result(model(math.nan)))
    assert set(params(answer)) == {m.ROUND, m.REPORT}
    (logged,) = [r for r in caplog.records if "diverged" in r.getMessage()]
    assert logged.levelname == "ERROR"
    assert "round r: the training has diverged: 7 of the 7 numbers" in logged.getMessage()
    assert "Lower the learning rate" in logged.getMessage()
    frozen = model(1) | {"b": model()["b"]}
    assert m.REPORT in params(Site(JOB).answer(task(round_), result(frozen)))
    assert "left 1 of 2 arrays as they came (b)" in caplog.text


def test_an_error_leaves_without_content(round_: Round) -> None:
    failed = make_reply(ReturnCode.EXECUTION_EXCEPTION)
    failed["data"] = "secret"
    answer = Site(JOB).answer(task(round_), failed)
    assert answer.get_return_code() == ReturnCode.EXECUTION_EXCEPTION
    assert b"secret" not in fobs.dumps(answer)


@pytest.mark.parametrize("kind", [DataKind.WEIGHTS, DataKind.WEIGHT_DIFF, DataKind.METRICS])
def test_without_a_round_nothing_leaves(kind: str) -> None:
    answer = Site(JOB).answer(task(None), result(model(1), kind))
    assert answer.get_return_code() == ReturnCode.TASK_RESULT_FILTER_ERROR
    assert b"secret" not in fobs.dumps(answer)


def test_evaluation_leaves_where_it_is_allowed() -> None:
    job = HushgradPrivatize(max_epsilon=4, allow_evaluate=True)
    allowed = POLICY | {"hushgrad-allow-evaluate": True}
    metrics = result({"loss": np.zeros(1)}, DataKind.METRICS)
    for site in (Site(job), Site(job, scope=allowed), Site(job, scope=allowed, own=True)):
        assert site.answer(task(None), metrics) is metrics
        assert site.answer(task(None), result(model(1))).get_return_code() != ReturnCode.OK
    for site in (
        Site(job, scope=POLICY),
        Site(JOB, scope=allowed),
        Site(JOB, scope=allowed, own=True),
        Site(job, scope=POLICY, own=True),
    ):
        assert site.answer(task(None), metrics).get_return_code() != ReturnCode.OK


def test_a_unit_that_is_none_is_named() -> None:
    with pytest.raises(InvalidParameter) as refused:
        HushgradPrivatize(unit="site")
    assert refused.value.param == "unit"
