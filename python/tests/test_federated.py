"""What the adapters have in common, without any framework."""

from __future__ import annotations

import logging
import math
import os
import signal
import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from conftest import KEY, SHARE_KEY, new_round
from numpy.typing import NDArray

from hushgrad import (
    AggregatorLost,
    HushgradError,
    InvalidParameter,
    Policy,
    PolicyRefused,
    Round,
    _bridge,
    account,
)
from hushgrad.aggregator import Aggregator
from hushgrad.federated import (
    Answers,
    Node,
    Run,
    chosen,
    count,
    difference,
    differences,
    measures,
    moved,
    noisy,
)
from hushgrad.planning import Promise, accounts

Row = NDArray[np.float32]
TRAINED = ("w", "b")
NAMES = {"server": "the server", "client": "the client"}


def model(value: float) -> dict[str, NDArray[Any]]:
    """Return a model with a matrix, a vector, and a counter that is not trained."""
    return {
        "w": np.full((2, 2), value, np.float32),
        "n": np.array([7]),
        "b": np.full(3, value, np.float32),
    }


def test_a_model_moves_by_the_difference() -> None:
    row = difference(model(3), model(1), TRAINED, never)
    assert row.dtype == np.float32
    assert row.tolist() == [2.0] * 7
    after = moved(model(1), TRAINED, row.astype(np.float64))
    assert {name: array.dtype for name, array in after.items()} == {
        name: array.dtype for name, array in model(3).items()
    }
    assert all((array == model(3)[name]).all() for name, array in after.items())


def never(text: str) -> None:
    """Fail where nothing is to be warned of."""
    raise AssertionError(text)


def test_a_difference_is_finite_and_as_wide_as_the_model() -> None:
    warned: list[str] = []
    before, after = model(0), model(1)
    before["b"], after["b"] = before["b"].astype(np.float64), np.array([np.nan, np.inf, 1])
    row = difference(after, before, TRAINED, warned.append)
    assert row.dtype == np.float64
    assert row.tolist() == [1, 1, 1, 1, 0, 0, 1]
    (text,) = warned
    assert "diverged: 2 of the 7 numbers of its update are not finite (b)" in text
    assert "Lower the learning rate or the number of local steps" in text
    # A model that has come diverged stays so: no number of the difference is finite.
    before["b"] = np.full(3, np.inf)
    assert difference(after, before, TRAINED, warned.append).tolist() == [1, 1, 1, 1, 0, 0, 0]
    assert "diverged: 3 of the 7" in warned[1]


def test_arrays_that_a_training_leaves_as_they_came_are_named() -> None:
    warned: list[str] = []
    difference(model(1) | {"b": np.zeros(3, np.float32)}, model(0), TRAINED, warned.append)
    (text,) = warned
    assert "left 1 of 2 arrays as they came (b)" in text
    assert "leave them out of the server's choice of what trains" in text
    difference(model(0), model(0), TRAINED, never)  # an update of zeros is one like any other


def test_a_server_says_which_arrays_get_noise() -> None:
    assert noisy(model(0), TRAINED) == "noise goes into all 7 numbers of w, b; n stay as they are"
    many = {f"layer{i}": np.zeros(2) for i in range(25)}
    assert noisy(many, chosen(many, None)).endswith("layer9 and 15 more")


def test_several_models_differ_row_by_row() -> None:
    numbers = np.array([[[0, 1], [2, 3]], [[4, 5], [6, 7]]], np.float64)
    rows = differences({"w": numbers, "b": np.ones((2, 3))}, model(1), TRAINED, print)
    assert rows.tolist() == [[-1, 0, 1, 2, 0, 0, 0], [3, 4, 5, 6, 0, 0, 0]]
    for bad in ({"w": np.ones((2, 2, 2)), "b": np.ones((3, 3))}, {}, model(1)):
        with pytest.raises(InvalidParameter):
            differences(bad, model(1), TRAINED, never)
    with pytest.raises(InvalidParameter):
        differences({"w": np.ones((0, 2, 2)), "b": np.ones((0, 3))}, model(1), TRAINED, never)


@pytest.mark.parametrize("change", [{"b": np.zeros(4, np.float32)}, {"c": np.zeros(1, np.float32)}])
def test_models_of_other_names_or_shapes_have_no_difference(change: Any) -> None:
    with pytest.raises(InvalidParameter) as refused:
        difference(model(1) | change, model(1), TRAINED, never)
    assert refused.value.param == "arrays"


def test_a_round_has_to_meet_the_policies_of_node_and_app(server: Round) -> None:
    four, three = {"hushgrad-max-epsilon": 4.0}, {"hushgrad-max-epsilon": 3}
    for settings, app in ((four, None), ({}, Policy(4.0)), (four, Policy(4.0)), (four, Policy(9))):
        assert Node(settings).accept(server.description, app, **NAMES).policy == Policy(
            4.0, trust_shuffler=False
        )
    for settings, app in (
        (three, Policy(4.0)),
        (four, Policy(3.0)),
        ({}, None),
        ({"hushgrad-ledger": "file"}, Policy(4.0)),
        (four | {"hushgrad-min-reports": 4}, None),
    ):
        with pytest.raises(PolicyRefused):
            Node(settings).accept(server.description, app, **NAMES)
    with pytest.raises(InvalidParameter, match="sent by the server"):
        Node(four).accept(None, None, **NAMES)


def test_a_node_without_settings_leaves_evaluation_to_the_app() -> None:
    assert Node({"other": 1}).allow_evaluate
    assert not Node({"hushgrad-max-epsilon": 4}).allow_evaluate
    node = Node({"hushgrad-allow-evaluate": True, "hushgrad-ledger": "a", "hushgrad-purpose": "b"})
    assert (node.allow_evaluate, node.ledger, node.purpose) == (True, "a", "b")
    counted = Node({"hushgrad-ledger": "a", "hushgrad-counter": "c/counter"})
    assert (node.counter, counted.counter) == (None, "c/counter")
    with pytest.raises(InvalidParameter, match=r"hushgrad-counter: .*hushgrad-ledger"):
        Node({"hushgrad-counter": "c/counter"})
    units = [
        Node(each).unit for each in ({}, {"hushgrad-ledger": "a"}, {"hushgrad-unit": "example"})
    ]
    assert units == ["example", "client", "example"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max-epsilom", 4.0),
        ("max-epsilon", "4"),
        ("max-epsilon", True),
        ("max-delta", None),
        ("min-reports", 3.5),
        ("min-reports", math.inf),
        ("trust-shuffler", 1),
        ("allow-evaluate", "yes"),
        ("ledger", 3),
        ("purpose", b"x"),
        ("unit", "site"),
    ],
)
def test_a_setting_that_is_wrong_is_named(name: str, value: object) -> None:
    with pytest.raises(InvalidParameter) as refused:
        Node({f"hushgrad-{name}": value})
    assert refused.value.param == f"hushgrad-{name}"


def ignore(_: object, __: HushgradError) -> None:
    """Take note of no rejected report."""


def test_one_report_of_each_client_counts(server: Round, client: Round, row: Row) -> None:
    good = [client.encode(row) for _ in range(3)]
    bad = [b"", b"\xff" * 5, good[0][:4], good[0] + good[1]]
    answers = Answers(list(enumerate([*good, *bad])), refused=1, failed=2)
    rejected: dict[int, HushgradError] = {}
    counts = count(server, answers, rejected.__setitem__)
    assert counts.estimate().reports == 3
    assert answers == Answers(list(enumerate(good)), refused=1, failed=6, counted=3)
    assert list(rejected) == [3, 4, 5, 6]
    assert "10 bytes" in str(rejected[6])


def test_all_reports_of_a_client_count_or_none(server: Round, client: Round, row: Row) -> None:
    pack = client.encode(np.tile(row, (5, 1)))
    answers = Answers([("a", pack), ("b", pack[:-1]), ("c", pack[:5])])
    counts = count(server, answers, ignore, unit="example")
    assert counts.estimate().reports == answers.counted == 6
    assert ([sender for sender, _ in answers.reports], answers.failed) == (["a", "c"], 1)


def test_reports_of_varying_length_count_once_for_each_client() -> None:
    server = new_round(
        mechanism="sumdp", epsilon=1.0, delta=1e-6, sparsity=None, range=0.8, levels=1
    )
    policy = Policy(max_epsilon=1, max_delta=1e-6, trust_shuffler=True)
    client = Round(server.description, policy)
    one, two = client.encode(np.zeros(4)), client.encode(np.zeros((2, 4)))
    assert server.report_bytes == 0
    answers = Answers([("a", one), ("b", two), ("c", one)])
    count(server, answers, ignore)
    assert [sender for sender, _ in answers.reports] == ["a", "c"]
    assert answers.failed == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_reports_are_added_again_when_the_helper_dies(
    server: Round, client: Round, row: Row, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Answers([(i, client.encode(row)) for i in range(4)])
    added = 0
    add = Aggregator.add

    def dies(self: Aggregator, reports: bytes) -> int:
        nonlocal added
        added += 1
        if added == 3:
            os.kill(_bridge.helper().pid, signal.SIGKILL)
        return add(self, reports)

    monkeypatch.setattr(Aggregator, "add", dies)
    counts = count(server, answers, ignore)
    assert counts.estimate().reports == 4
    assert added == 7  # two, the one that died, and all of them
    assert (len(answers.reports), answers.failed) == (4, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_a_helper_that_dies_twice_is_an_error(
    server: Round, client: Round, row: Row, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Answers([("a", client.encode(row))])

    def dies(_: Aggregator, __: bytes) -> int:
        raise AggregatorLost("its helper has ended")

    monkeypatch.setattr(Aggregator, "add", dies)
    with pytest.raises(AggregatorLost):
        count(server, answers, ignore)


def test_a_run_promises_what_its_worst_round_does(server: Round) -> None:
    run = Run(1e-6, logging.getLogger("test"))
    assert run.promise(server, 0) == {}
    many = run.promise(server, 10_000)
    few = run.promise(server, 2)
    again = run.promise(server, 10_000)
    assert [m["hushgrad.epsilon-local-total"] for m in (many, few, again)] == [4, 8, 12]
    central = [m["hushgrad.epsilon-central-if-shuffled"] for m in (many, few, again)]
    assert central[0] < 1
    assert 4 < central[1] <= 8  # of two rounds with the fewest reports
    assert central[1] < central[2] <= 12
    assert all(m["hushgrad.delta"] == 1e-6 for m in (many, few, again))


def test_a_run_promises_what_the_client_has_that_was_asked_most_often(server: Round) -> None:
    run, every = Run(1e-6, logging.getLogger("test")), Run(1e-6, logging.getLogger("test"))
    totals = [run.promise(server, 100, asked=asked) for asked in (1, 1, 2, 2, 3)]
    assert [m["hushgrad.epsilon-local-total"] for m in totals] == [4, 4, 8, 8, 12]
    known = [every.promise(server, 100) for _ in range(3)]
    central = "hushgrad.epsilon-central-if-shuffled"
    assert totals[-1][central] == known[-1][central]
    assert run.promise(server, 100, asked=99)["hushgrad.epsilon-local-total"] == 24  # six rounds


@pytest.mark.parametrize(
    ("mechanism", "name", "other"),
    [
        ("gaussian-shares", "epsilon-two-servers", "epsilon-central-if-shuffled"),
        ("sumdp", "epsilon-central-if-shuffled", "epsilon-two-servers"),
    ],
)
def test_a_mechanism_without_a_local_guarantee_has_no_local_metric(
    mechanism: str, name: str, other: str
) -> None:
    sealed = {"shuffler": "shuffler.example", "seal_key": KEY, "share_key": SHARE_KEY}
    server = new_round(
        mechanism=mechanism,
        epsilon=2.0,
        delta=1e-6,
        sparsity=None,
        **(sealed if mechanism == "gaussian-shares" else {"levels": 1, "range": 0.8}),
    )
    assert server.guarantee.trust != "local"
    run = Run(1e-6, logging.getLogger("test"))
    last = 0.0
    for rounds in range(1, 8):
        promised = run.promise(server, 1000)
        assert set(promised) == {f"hushgrad.{name}", "hushgrad.delta"}
        assert f"hushgrad.{other}" not in promised
        value, delta = promised[f"hushgrad.{name}"], promised["hushgrad.delta"]
        if mechanism == "sumdp" or rounds == 1:  # sumdp's composition at 1e-6 is not known
            assert value == 2.0 * rounds
            assert Fraction(delta) >= rounds * Fraction(1e-6)
            assert delta == pytest.approx(rounds * 1e-6)
        else:  # Gaussian noise composes
            assert last < value < 2.0 * rounds
            assert delta == 1e-6
        last = value


def test_reports_whose_composition_is_not_known_add_up() -> None:
    server = new_round(mechanism="gaussian", epsilon=0.3, delta=1e-6, sparsity=None)
    run = Run(1e-6, logging.getLogger("test"))
    run.promise(server, 10)
    promised = [run.promise(server, 10) for _ in range(2)][-1]
    assert promised["hushgrad.epsilon-local"] == 0.3
    assert promised["hushgrad.epsilon-local-total"] == math.nextafter(3 * 0.3, 1)
    assert Fraction(promised["hushgrad.delta-local"]) >= 3 * Fraction(1e-6)


def test_what_rounds_cost_is_found_once_for_several(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def spied(round_: Round, **arguments: Any) -> list[Promise]:
        asked.append(arguments["participations"])
        return accounts(round_, **arguments)

    monkeypatch.setattr("hushgrad.federated.run.accounts", spied)
    run = Run(1e-6, logging.getLogger("test"))
    for i in range(9):
        promised = run.promise(new_round(id=str(i)), 1000)
        alone = account(new_round(), clients=1000, participations=i + 1)
        assert promised["hushgrad.epsilon-central-if-shuffled"] == alone.epsilon_central
    assert asked == [1, 9]
    run.promise(new_round(), 999)
    run.promise(new_round(epsilon=3.0), 1000)
    run.promise(new_round(epsilon=3.0, sparsity=1), 1000)
    assert asked == [1, 9, 10, 11, 12]


def test_the_noise_of_a_small_round_is_what_it_is() -> None:
    server = new_round(dim=2000, sparsity=20)
    client = Round(server.description, Policy(max_epsilon=4))
    counts = server.aggregator()
    row = np.zeros(2000, np.float32)
    row[:20] = 0.5
    counts.add(client.encode(np.tile(row, (200, 1))))
    estimate = counts.estimate()
    # A coordinate is hit by L = 2 * 200 / slots reports, as a Poisson number with either sign, so
    # that its squared error has the variance (2 + 1/L) of its average squared. Of the sum of 2000
    # that is a standard deviation of 5 %, and a third is 6 of them: once in 1e8 tries.
    expected = 400 / float(server.params["slots"])
    assert math.sqrt((2 + 1 / expected) / 2000) < 0.052
    error = float(np.linalg.norm(estimate.mean - row))
    assert estimate.noise_norm**2 == pytest.approx(error**2, rel=1 / 3)
    signal = math.sqrt(float(np.sum(estimate.mean**2)) - estimate.noise_norm**2)
    worth = measures(estimate, 1)
    assert worth["hushgrad.signal-to-noise"] == pytest.approx(signal / estimate.noise_norm)


def test_a_few_reports_that_agree_have_noise(server: Round, client: Round) -> None:
    counts = server.aggregator()
    counts.add(client.encode(np.zeros((3, 4))))
    estimate = replace(counts.estimate(), noise_norm=0.0)
    noise = float(np.linalg.norm(estimate.std_err))
    far = replace(estimate, mean=np.full(4, noise))  # of the norm 2 * noise
    assert measures(far, 15)["hushgrad.signal-to-noise"] == pytest.approx(math.sqrt(3))
    exact = replace(far, std_err=np.zeros(4))
    assert measures(exact, 15)["hushgrad.signal-to-noise"] == math.inf


def test_what_an_estimate_is_worth(server: Round, client: Round) -> None:
    counts = server.aggregator()
    counts.add(client.encode(np.tile(np.array([0.4, -0.3, 0.2, -0.1], np.float32), (20_000, 1))))
    estimate = counts.estimate()
    worth = measures(estimate, 100_000)
    assert worth["hushgrad.bytes-per-report"] == 5
    assert worth["hushgrad.std-err"] == pytest.approx(float(np.sqrt(np.mean(estimate.std_err**2))))
    # The norm is 0.55 and the noise's 2 times the error of a coordinate. Reports are
    # random: the ratio is within a third of this but once in 1e9 tries.
    assert worth["hushgrad.signal-to-noise"] == pytest.approx(
        0.55 / (2 * worth["hushgrad.std-err"]), rel=1 / 3
    )
