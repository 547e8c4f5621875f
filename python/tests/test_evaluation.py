"""What clients answer about their data, and what the answers come to.

The randomness is the operating system's, and has no seed. A statistical test allows 6 standard
errors, which 1 in 5e8 normal errors exceeds. There are about 200 of them: all of these
tests together fail by chance in less than 1 in 10^6 runs. Standard errors of shares are on the
large side, which makes it rarer.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from hushgrad import (
    BudgetExhausted,
    Estimate,
    Infeasible,
    InvalidParameter,
    Ledger,
    NoiseAboveSignal,
    Policy,
    Reports,
    Round,
    Series,
    ShuffledPolicy,
)
from hushgrad.evaluation import (
    Column,
    Confusion,
    Measure,
    Metrics,
    Question,
    Scores,
    Survey,
    ask,
    clients_for,
    describe,
)

ACCURACY = Metrics({"accuracy": (0, 1)})
Rows = NDArray[np.float64]


def asked(survey: Survey, rows: Rows, *, records: bool = False) -> Mapping[str, Measure]:
    """Return what clients answer, of whom each has a row, or one has all rows as its records."""
    server = survey.round("r", min_reports=1)
    client = Round(server.description, Policy(max_epsilon=20, max_delta=1e-3))
    counts = server.aggregator()
    counts.add(client.encode_records(rows) if records else client.encode(rows))
    return survey.read(counts.estimate())


def asked_exactly(question: Question, rows: Rows) -> Estimate:
    """Return the estimate of answers without privacy."""
    server = Round.new(
        "r", dim=question.dim, epsilon=math.inf, scale=1, min_reports=1, mechanism="none"
    )
    counts = server.aggregator()
    counts.add(Round(server.description, Policy(max_epsilon=math.inf)).encode(rows))
    return counts.estimate()


def exact(question: Question, rows: Rows) -> Mapping[str, Measure]:
    """Return what answers come to without privacy."""
    return question.read(asked_exactly(question, rows))


def by_sign(question: Question, rows: Rows) -> Mapping[str, Measure]:
    """Return what answers come to in a round that estimates how many reports have the sign plus."""
    mean = rows.mean(axis=0)
    estimate = asked_exactly(question, rows)
    plus = Series(mean / question.l1, np.full(question.dim, 1e-9))
    garbage = np.append(np.full(question.dim - 1, 9.0), mean[-1])
    return question.read(replace(estimate, mean=garbage, columns={"plus": plus}))


def data(n: int) -> dict[str, NDArray[Any]]:
    """Return what n clients hold: a class, what a model makes of it, and a number."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, n)
    score = 1 / (1 + np.exp(-rng.normal(2 * truth - 1, 1)))
    return {
        "truth": truth,
        "score": score,
        "predicted": (score > 0.4).astype(int),
        "loss": np.where(truth == 1, -np.log(score), -np.log1p(-score)),
        "age": np.minimum(rng.gamma(4, 10, n), 100),
    }


def known(n: int) -> list[tuple[Question, Rows, dict[str, Any]]]:
    """Return questions, what n clients of one example each answer, and what is true of them."""
    d = data(n)
    truth, predicted, score, age = d["truth"], d["predicted"], d["score"], d["age"]
    right = truth == predicted
    loss = np.minimum(d["loss"], 2)
    both = Metrics({"accuracy": (0, 1), "loss": (0, 2)})
    table = np.zeros((2, 2))
    np.add.at(table, (truth, predicted), 1 / n)
    bins = np.minimum((score * 10).astype(int), 9)
    zeros, ones = np.sort(bins[truth == 0]), bins[truth == 1]
    before = [np.searchsorted(zeros, ones, side).mean() for side in ("left", "right")]
    rate = [np.mean(truth[bins == b]) for b in range(10)]
    confusion, scores, column = Confusion(2), Scores(), Column(0, 100)
    diagonal = table[[0, 1], [0, 1]]
    return [
        (
            both,
            both.records({"accuracy": right, "loss": d["loss"]}),
            {"accuracy": np.mean(right), "loss": np.mean(loss)},
        ),
        (
            confusion,
            confusion.records(truth, predicted),
            {
                "accuracy": np.mean(right),
                "shares": table,
                "recall": diagonal / table.sum(axis=1),
                "precision": diagonal / table.sum(axis=0),
            },
        ),
        (
            scores,
            scores.records(truth, score),
            {
                "auc": np.mean(before) / len(zeros),
                "rate": rate,
                "positives": np.mean(truth),
                "excess": np.mean((bins + 0.5) / 10) - np.mean(truth),
            },
        ),
        (
            column,
            column.records(age),
            {"mean": np.mean(age), "histogram": np.histogram(age, 16, (0, 100))[0] / n},
        ),
    ]


@pytest.mark.parametrize("at", range(4))
def test_answers_without_noise_are_what_is_true(at: int) -> None:
    question, rows, true = known(2000)[at]
    assert rows.shape == (2000, question.dim)
    assert np.abs(rows).max() <= question.largest
    assert np.abs(rows).sum(axis=1).max() <= question.l1 + 1e-12
    assert np.linalg.norm(rows, axis=1).max() <= question.l2 + 1e-12
    for read in (exact, by_sign) if question.shares else (exact,):
        found = read(question, rows)
        for name, value in true.items():
            np.testing.assert_allclose(found[name].value, value, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize("budget", [1, 4])
def test_answers_of_private_reports_are_within_their_errors(at: int, budget: float) -> None:
    question, rows, true = known(20_000)[at]
    survey = ask(question, clients=len(rows), budget=budget)
    assert (survey.plan.epsilon, survey.plan.promise.epsilon_local_total) == (budget, budget)
    read = asked(survey, rows)
    for name, value in true.items():
        found = read[name]
        off = np.abs(np.asarray(found.value) - value) / found.std_err
        # A ratio is not normal where its denominator is small: there the interval is asked.
        wide = np.asarray(found.std_err) > 0.1 if name in ("rate", "auc") else np.zeros_like(off)
        assert np.all((off < 6) | (wide == 1)), name
        assert np.all(np.asarray(found.low) <= found.value)
        assert np.all(np.asarray(found.high) >= found.value)


def test_quantiles_are_in_their_bins() -> None:
    question, age = Column(0, 100, quantiles=(0.1, 0.5, 0.9)), data(20_000)["age"]
    quantiles = np.quantile(age, [0.1, 0.5, 0.9])
    for read in (exact(question, question.records(age)),):
        found = read["quantiles"]
        np.testing.assert_allclose(found.value, quantiles, atol=100 / 16)
        assert np.all((found.low <= quantiles) & (quantiles <= found.high))
        np.testing.assert_allclose(np.subtract(found.high, found.low), 100 / 16)
    # Six bins are more than 20 standard errors of the distribution function at ε = 4.
    found = asked(ask(question, clients=20_000, budget=4), question.records(age))["quantiles"]
    assert np.all(np.abs(found.value - quantiles) < 6 * 100 / 16)
    assert np.all(np.subtract(found.high, found.low) < 6 * 100 / 16)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    right = np.arange(100) < 85
    survey = ask(ACCURACY, clients=100, force=True)
    rows = ACCURACY.records({"accuracy": right})
    held = 0
    for _ in range(400):
        found = asked(survey, rows)["accuracy"]
        held += float(found.low) <= 0.85 <= float(found.high)
    # 380 are expected, with a standard deviation of 4.4: 350 or fewer come once in 10^9 runs.
    assert held > 350


def test_an_accuracy_has_the_error_of_randomized_response() -> None:
    for budget in (0.5, 1.0, 4.0):
        survey = ask(ACCURACY, clients=10_000, budget=budget)
        least = 0.5 / math.tanh(budget / 2) / math.sqrt(10_000)
        # The mean of 4000 rehearsed reports is within 6 of its standard errors of 0.
        assert 0.99 * least < float(survey.expected["accuracy"].std_err) < 1.001 * least


def test_ten_thousand_clients_tell_an_accuracy_to_2_2_points() -> None:
    right = np.arange(10_000) < 8_700
    survey = ask(ACCURACY, clients=10_000, budget=1)
    found = asked(survey, ACCURACY.records({"accuracy": right}))["accuracy"]
    assert float(found.high) - float(found.low) <= 2 * 0.022
    assert abs(float(found.value) - 0.87) < 6 * float(found.std_err)
    # The same interval takes as many clients by the closed form.
    number = clients_for(ACCURACY, 0.044)
    assert number == pytest.approx((1.96 * 0.5 / math.tanh(0.5) / 0.022) ** 2, rel=0.02)


def test_twelve_hundred_clients_and_two_servers_tell_it_to_a_point() -> None:
    pytest.importorskip("grpc")
    from hushgrad.bench.parties import Servers
    from hushgrad.server import Client, Operator

    survey = ask(ACCURACY, clients=1200, budget=1, trust="two-servers", delta=1e-6)
    assert 1.96 * float(survey.expected["accuracy"].std_err) < 0.01
    assert 1150 < clients_for(ACCURACY, 0.02, trust="two-servers") <= 1200
    with (
        Servers("shuffler.test", floor=100) as parties,
        Operator.connect(parties.operator) as operator,
        Client.connect(parties.shuffler) as shuffler,
    ):
        opened = operator.open_round(
            survey.round("accuracy"), shuffler="shuffler.test", share_key=parties.share_key
        )
        pins = ShuffledPolicy(
            shufflers=("shuffler.test",),
            seal_keys=(hashlib.sha256(parties.seal_key).hexdigest(),),
            share_keys=(hashlib.sha256(parties.share_key).hexdigest(),),
            max_epsilon_local=0,
            max_epsilon=0,
            max_delta=1e-6,
        )
        policy = Policy(1, 1e-6, shuffled=pins, mechanisms=("gaussian-shares",))
        right = np.arange(1200) < 1_044
        rows = ACCURACY.records({"accuracy": right})
        shuffler.submit(opened, Round(opened.description, policy).encode(rows))
        operator.close_round(opened.id)
        found = survey.read(operator.estimate(opened.id))["accuracy"]
    assert float(found.high) - float(found.low) <= 2 * 0.01
    assert abs(float(found.value) - 0.87) < 6 * float(found.std_err)
    assert found.std_err == pytest.approx(survey.expected["accuracy"].std_err, rel=0.01)


def test_a_hospital_answers_for_each_record_alone() -> None:
    survey = ask(ACCURACY, clients=3, records=3000, budget=1)
    assert survey.plan.mechanism == "gaussian-site"
    assert survey.plan.promise.unit == "record"
    right = np.arange(1000) < 870
    found = asked(survey, ACCURACY.records({"accuracy": right}), records=True)["accuracy"]
    assert abs(float(found.value) - 0.87) < 6 * float(found.std_err)
    # One of three sites has a third of the records, and one noise in place of three.
    wanted = float(survey.expected["accuracy"].std_err) * math.sqrt(3)
    assert float(found.std_err) == pytest.approx(wanted, rel=0.01)
    assert clients_for(ACCURACY, 0.02, records_per_client=1000) < 10


def test_a_ledger_pays_for_an_answer(tmp_path: Path) -> None:
    survey = ask(ACCURACY, clients=10_000, budget=1)
    with Ledger(tmp_path / "ledger", "survey") as ledger:
        ledger.set_budget(epsilon=2)

        def report(name: str) -> Reports:
            description = survey.round(name).description
            client = Round(description, Policy(max_epsilon=1))
            return client.encode(ACCURACY.answer({"accuracy": [1, 0, 1]}), ledger=ledger)

        assert len(report("a")) == len(report("b")) == 5
        assert ledger.spent().epsilon == 2
        with pytest.raises(BudgetExhausted):
            report("c")


def test_a_budget_of_several_rounds_is_shared_by_them() -> None:
    survey = ask(ACCURACY, clients=10_000, budget=2, rounds=4)
    assert survey.plan.epsilon == 0.5
    assert survey.plan.promise.epsilon_local_total == 2
    assert survey.round("r").min_reports == 10_000


def test_more_trust_and_more_clients_make_less_noise() -> None:
    def error(**given: Any) -> float:
        return float(ask(ACCURACY, **given).expected["accuracy"].std_err)

    nobody = error(clients=10_000)
    assert error(clients=40_000) == pytest.approx(nobody / 2, rel=0.02)
    assert error(clients=10_000, trust="shuffler") < nobody / 1.9
    assert error(clients=10_000, trust="two-servers") < nobody / 10


def test_shares_are_estimated_by_the_sign_that_they_have() -> None:
    survey = ask(Confusion(4), clients=10_000, budget=1)
    assert survey.round("r").columns == ("plus",)
    # 2·e^½/(e − 1)/√n is the least error of frequencies (Wang et al. 2017), 1.92/√n.
    errors = np.asarray(survey.expected["shares"].std_err)
    assert float(errors.mean()) * 100 < 2.1


def test_what_is_no_answer_counts_as_the_middle() -> None:
    question = Metrics({"accuracy": (0, 1), "loss": (1, 3)})
    values: dict[str, ArrayLike] = {
        "accuracy": [math.nan, 2, 0.5],
        "loss": [math.inf, -1, math.nan],
    }
    np.testing.assert_array_equal(question.records(values), [[0, 0.5], [0.5, -0.5], [0, 0]])
    np.testing.assert_allclose(question.answer(values), [1 / 6, 0])
    column = Column(0, 4, bins=2)
    rows = column.records([-1, 2, 4, 9, math.nan])
    np.testing.assert_array_equal(rows[:, :2], [[1, 0], [0, 1], [0, 1], [0, 1], [0.5, 0.5]])
    np.testing.assert_array_equal(rows[:, 2], [-0.5, -0.5, 0.5, 0.5, 0])
    np.testing.assert_array_equal(Scores(2).records([1, 0], [0.5, math.nan]).argmax(axis=1), [3, 1])


def test_an_answer_is_the_mean_of_a_client() -> None:
    np.testing.assert_array_equal(
        Confusion(2).answer([0, 1, 1, 1], [0, 0, 1, 1]), [0.25, 0, 0.25, 0.5]
    )
    np.testing.assert_array_equal(Scores(2).answer([0, 1], [0.1, 0.9]), [0.5, 0, 0, 0.5])
    np.testing.assert_allclose(Column(0, 4, bins=2).answer([1, 4]), [0.5, 0.5, 0.25])


def test_a_measure_prints_its_interval() -> None:
    assert str(Measure(0.871, 0.01, 0.8514, 0.8906)) == "0.871 ± 0.0196"


def test_an_estimate_beyond_the_range_is_its_end() -> None:
    found = asked(ask(ACCURACY, clients=4, force=True), np.full((4, 1), 0.5))["accuracy"]
    assert 0 <= float(found.low) <= float(found.value) <= float(found.high) <= 1


def test_rounds_that_say_nothing_are_refused() -> None:
    with pytest.raises(NoiseAboveSignal, match="clients_for"):
        ask(ACCURACY, clients=15)
    with pytest.raises(Infeasible):
        clients_for(ACCURACY, 1e-9)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda: Metrics({}), "ranges"),
        (lambda: Metrics({"a": (1, 1)}), "range"),
        (lambda: Metrics({"a": (0, math.inf)}), "range"),
        (lambda: Confusion(1), "classes"),
        (lambda: Scores(1), "bins"),
        (lambda: Column(0, 1, bins=1), "bins"),
        (lambda: Column(2, 1), "range"),
        (lambda: Column(0, 1, quantiles=[1]), "quantiles"),
        (lambda: ACCURACY.answer({"loss": 1}), "values"),
        (lambda: ACCURACY.answer({"accuracy": []}), "accuracy"),
        (lambda: ACCURACY.answer({"accuracy": [[1]]}), "accuracy"),
        (lambda: Metrics({"a": (0, 1), "b": (0, 1)}).answer({"a": [1], "b": [0, 1]}), "answer"),
        (lambda: Confusion(2).answer([0, 1], [2, 0]), "predicted"),
        (lambda: Confusion(2).answer([0.5], [0]), "truth"),
        (lambda: Confusion(2).answer([0], [-1]), "predicted"),
        (lambda: Confusion(2).answer([0, 1], [0]), "answer"),
        (lambda: Scores().answer([math.nan], [0]), "truth"),
        (lambda: Column(0, 1).answer("ab"), "values"),
        (lambda: ask(ACCURACY, clients=100, rounds=0), "rounds"),
        (lambda: ask(ACCURACY, clients=100, trust="everybody"), "trust"),
        (lambda: clients_for(ACCURACY, 0), "width"),
        (lambda: clients_for(ACCURACY, 0.1, measure="loss"), "measure"),
    ],
)
def test_what_cannot_be_asked_or_answered_is_refused(wrong: Any, named: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        wrong()
    assert caught.value.param == named


def test_a_number_is_described_before_and_after_clients_answer() -> None:
    age = Column(0, 100, bins=4, quantiles=(0.5,))
    planned = describe(age, clients=20_000, budget=4, width=4)
    before = repr(planned).splitlines()
    assert before[0].startswith("20000 clients, before any: a number in [0, 100], ")
    assert [line.split()[0] for line in before[1:]] == ["mean", "50", "histogram", "a"]
    assert before[-1] == f"a mean within ± 2 takes {planned.clients_needed} clients"
    assert planned.clients_needed is not None
    assert 100 < planned.clients_needed < 20_000
    server = planned.survey.round("age")
    client = Round(server.description, Policy(max_epsilon=4))
    counts = server.aggregator()
    counts.add(client.encode(age.records(np.tile([10.0, 10.0, 60.0, 90.0], 5000))))
    read = planned.read(counts.estimate())
    lines = repr(read).splitlines()
    assert lines[0].startswith("20000 reports: ")
    assert len(lines) == 1 + 1 + 1 + 4 + 1
    # 1 in 5e8 normal errors is larger than 6 standard errors.
    mean = read.measures["mean"]
    assert abs(float(mean.value) - 42.5) < 6 * float(mean.std_err) < 5
    assert lines[1] == f"mean        {mean.value:.4g} ± {1.95996398 * float(mean.std_err):.2g}"
    bars = [line.count("█") for line in lines[3:7]]
    assert bars[0] == 32 > bars[2] > bars[1]
    wrong: Any = "age"
    with pytest.raises(InvalidParameter, match=r"column: .*describe\(Column"):
        describe(wrong, clients=10)
    with pytest.raises(InvalidParameter, match="width"):
        describe(age, clients=10, width=0)
