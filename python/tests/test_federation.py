"""A run without a framework: what it trains, what it spends, and how it ends."""

from __future__ import annotations

import io
import math
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hushgrad
from hushgrad import Federation, History, InvalidParameter, Ledger, Plan, Policy, plan
from hushgrad._progress import Progress

Floats = NDArray[np.float64]
TARGETS = np.random.default_rng(1).standard_normal((40, 30))


def pull(target: Floats, model: Floats) -> Floats:
    """Return the gradient of half of the squared distance to a target."""
    return model - target


def pulls() -> list[Any]:
    """Return clients with a target each."""
    return [partial(pull, target) for target in TARGETS]


def short(model: Floats) -> Floats:
    """Return an array of another shape."""
    return model[1:]


def planned(**changes: Any) -> Plan:
    """Return a plan of clients whose targets are known to it."""
    given: dict[str, Any] = {"dim": 30, "clients": 40, "public": -TARGETS, "rounds": 4}
    given |= {"epsilon": 4, "cohort": 40, "trust": "nobody", "force": True, **changes}
    return plan(**given)


def without_privacy(**changes: Any) -> Plan:
    """Return a plan whose means are exact."""
    return planned(mechanism="none", epsilon=0, **changes)


@pytest.mark.parametrize("kind", ["function", "gradient", "update"])
def test_it_trains_as_planned(kind: str) -> None:
    run = without_privacy()
    rate = 0.25 if kind == "update" else 1.0

    def client(target: Floats) -> Any:
        if kind == "function":
            return partial(pull, target)
        if kind == "gradient":
            return SimpleNamespace(gradient=partial(pull, target))

        def update(model: Floats) -> Floats:
            return -rate * pull(target, model)

        return SimpleNamespace(update=update)

    evaluated: list[Floats] = []

    def evaluate(model: Floats) -> dict[str, float]:
        evaluated.append(model)
        return {"norm": 1}

    federation = Federation(map(client, TARGETS), np.zeros(30))
    history = federation.fit(run, client_lr=rate, evaluate=evaluate)
    model, velocity, average, weight = (np.zeros(30) for _ in range(4))
    for r in range(run.affordable):
        velocity = run.momentum * velocity - run.learning_rate * (model - TARGETS.mean(axis=0))
        model = model + velocity
        average = run.averaging * average + (1 - run.averaging) * model
        weight = run.averaging * weight + 1 - run.averaging
        np.testing.assert_allclose(evaluated[r], average / weight, rtol=1e-5)
    np.testing.assert_allclose(federation.model, average / weight, rtol=1e-5)
    assert len(history) == 4
    assert history.column("norm") == [1.0] * 4


def test_a_part_of_a_named_model_trains() -> None:
    first = {"head": np.zeros(30), "body": np.ones(3), "steps": np.array([7])}

    def head(target: Floats, model: dict[str, Floats]) -> dict[str, Floats]:
        return {"head": pull(target, model["head"])}

    clients = [partial(head, target) for target in TARGETS]
    federation = Federation(clients, first, train="head")
    federation.fit(without_privacy())
    assert np.abs(federation.model["head"]).sum() > 0
    assert (federation.model["body"] == 1).all()
    assert federation.model["steps"].tolist() == [7]
    assert first["head"].sum() == 0  # which is the caller's


def test_the_reports_are_private_and_accounted() -> None:
    run = planned()
    history = Federation(pulls(), np.zeros(30)).fit(run)
    first, last = history[0], history[-1]
    assert (first["hushgrad.reports"], first["hushgrad.epsilon-local"]) == (40, 4)
    assert last["hushgrad.epsilon-local-total"] == 16 == run.promise.epsilon_local_total
    assert first["hushgrad.std-err"] > 0


def test_the_budget_ends_the_run() -> None:
    run = planned(cohort=0, budget=4, epsilon=0)
    assert (run.cohort, run.promise.participations, run.affordable) == (10, 1, 4)
    asked: list[int] = []

    def client(number: int, model: Floats) -> Floats:
        asked.append(number)
        return model

    federation = Federation([partial(client, i) for i in range(40)], np.zeros(30))
    assert "all 3 rounds are done" in repr(federation.fit(run, rounds=3))
    rest = federation.fit(run, rounds=3)
    assert len(rest) == 1
    assert "the budget of the clients is spent after 4 rounds" in repr(rest)
    assert sorted(asked) == list(range(40))  # each once
    assert rest[-1]["hushgrad.epsilon-local-total"] == 4  # of the one report of a client
    assert len(federation.fit(run)) == 0
    with pytest.raises(InvalidParameter, match="make a new Federation"):
        federation.fit(planned(cohort=0, budget=4, epsilon=0))


def test_ledgers_pay_and_end_the_run(tmp_path: Path) -> None:
    run = planned(rounds=3)
    ledgers = [Ledger(tmp_path / str(i), "run", must_exist=False) for i in range(40)]
    try:
        for ledger in ledgers:
            ledger.set_budget(epsilon=8)
        history = Federation(pulls(), np.zeros(30), ledgers=ledgers).fit(run)
        assert [metrics["hushgrad.reports"] for metrics in history] == [40, 40]
        assert history.ended == "the ledgers refuse after 2 rounds"
        assert ledgers[0].spent().epsilon == 8
    finally:
        for ledger in ledgers:
            ledger.close()


def test_hospitals_send_sums_of_their_records() -> None:
    run = plan(clients=8, records=9000, dim=30, l1=5, l2=1, budget=8, rounds=2)
    records = np.random.default_rng(2).standard_normal((8, 1000, 30)) / 50 + 0.1
    clients = [partial(pull, mine) for mine in records]
    federation = Federation(clients, np.zeros(30))
    history = federation.fit(run)
    assert history[0]["hushgrad.records"] == 8000
    assert np.all(federation.model > 0)  # which a mean far above its noise makes sure


def test_a_client_that_fails_is_named_and_no_round_before_is_lost() -> None:
    broken: list[int] = []

    def client(number: int, model: Floats) -> Floats:
        if number in broken:
            raise ValueError("no such file")
        return pull(TARGETS[number], model)

    run = planned(rounds=4)
    federation = Federation([partial(client, i) for i in range(40)], np.zeros(30))
    assert len(federation.fit(run, rounds=2)) == 2
    before = federation.model.tobytes()
    broken.append(7)
    with pytest.raises(hushgrad.HushgradError) as failed:
        federation.fit(run)
    assert str(failed.value).startswith("client 7: got ValueError: no such file, rule: must return")
    assert "call fit again with the same plan" in str(failed.value)
    assert isinstance(failed.value.__cause__, ValueError)
    assert federation.model.tobytes() == before
    broken.clear()
    rest = federation.fit(run)
    assert [metrics["hushgrad.reports"] for metrics in rest] == [40]  # the lost round is paid for
    assert rest[-1]["hushgrad.epsilon-local-total"] <= 16
    assert federation.model.tobytes() != before


def test_a_gradient_that_is_not_finite_counts_as_zero(caplog: pytest.LogCaptureFixture) -> None:
    exact: list[Floats] = []
    for wrong in (np.nan, np.inf, 0.0):

        def client(number: int, model: Floats, wrong: float = wrong) -> Floats:
            return np.full(30, wrong) if number == 7 else pull(TARGETS[number], model)

        clients = [partial(client, i) for i in range(40)]
        federation, run = Federation(clients, np.zeros(30)), without_privacy(rounds=1)
        (metrics,) = federation.fit(run)
        assert (metrics["hushgrad.reports"], metrics["hushgrad.failed"]) == (40, 0)
        exact.append(federation.model)
    np.testing.assert_allclose(exact[0], exact[2])
    np.testing.assert_allclose(exact[1], exact[2])
    said = [record.getMessage() for record in caplog.records if "diverged" in record.getMessage()]
    assert len(said) == 2
    assert all(
        text.startswith("hushgrad: client 7: the training has diverged: 30 ") for text in said
    )
    assert all("Lower the learning rate" in text for text in said)


def test_frames_are_those_of_pandas() -> None:
    pytest.importorskip("pandas")
    history = Federation(pulls(), np.zeros(30)).fit(planned(), evaluate=lambda model: 0.5)
    frame = history.to_frame()
    assert (frame.index.name, list(frame.index)) == ("round", [1, 2, 3, 4])
    assert list(frame["accuracy"]) == [0.5] * 4
    server = hushgrad.Round.new("r", dim=3, epsilon=4, scale=1, sparsity=2, min_reports=1)
    counts = server.aggregator()
    counts.add(hushgrad.Round(server.description, Policy(4)).encode(np.zeros((50, 3))))
    estimate = counts.estimate()
    frame = estimate.to_frame()
    assert list(frame.columns) == ["mean", "std_err"]
    assert frame["mean"].to_numpy().tolist() == estimate.mean.tolist()
    assert frame["std_err"].to_numpy().tolist() == estimate.std_err.tolist()


def test_wrong_arguments_are_named() -> None:
    run, zeros = planned(), np.zeros(30)
    clients = pulls()
    wrong: list[tuple[str, str, Any]] = [
        ("clients", "at least one", lambda: Federation([], zeros)),
        ("clients[1]", "must be a function", lambda: Federation([clients[0], 3], zeros)),  # type: ignore[list-item]
        ("ledgers", "one for each of the 40", lambda: Federation(clients, zeros, ledgers=[])),
        ("plan", "plan(clients=3, ...)", lambda: Federation(clients[:3], zeros).fit(run)),
        ("plan", "plan(dim=31, ...)", lambda: Federation(clients, np.zeros(31)).fit(run)),
        ("rounds", "at least 1", lambda: Federation(clients, zeros).fit(run, rounds=0)),
        ("client_lr", "positive", lambda: Federation(clients, zeros).fit(run, client_lr=0)),
        ("policy", "pins", lambda: Federation(clients, zeros, servers=SimpleNamespace())),  # type: ignore[arg-type]
    ]
    for param, rule, call in wrong:
        with pytest.raises(InvalidParameter) as refused:
            call()
        assert refused.value.param == param
        assert rule in str(refused.value)
    two = planned(trust="two-servers", epsilon=0, budget=8, mechanism="auto")
    with pytest.raises(InvalidParameter, match=r"servers: .*the plan trusts two-servers"):
        Federation(clients, zeros).fit(two)
    servers: Any = SimpleNamespace()
    with pytest.raises(InvalidParameter, match="must be None: the plan trusts nobody"):
        Federation(clients, zeros, servers=servers, policy=Policy(math.inf)).fit(run)
    with pytest.raises(InvalidParameter, match="must have 'model' as it came"):
        Federation([short] * 40, zeros).fit(run)
    with pytest.raises(hushgrad.PolicyRefused):
        Federation(clients, zeros, policy=Policy(max_epsilon=1)).fit(run)


def test_two_servers_count(tmp_path: Path) -> None:
    pytest.importorskip("grpc")
    from hashlib import sha256

    from hushgrad import ShuffledPolicy
    from hushgrad.bench.parties import NAME, Servers
    from hushgrad.federated import Shuffled
    from hushgrad.server import Client, Operator

    run = planned(trust="two-servers", epsilon=0, budget=8, rounds=2)
    with (
        Servers() as parties,
        Operator.connect(parties.operator) as operator,
        Client.connect(parties.shuffler) as shuffler,
    ):
        seal, share = (sha256(key).hexdigest() for key in (parties.seal_key, parties.share_key))
        pins = ShuffledPolicy((NAME,), (seal,), run.epsilon, 0.0, 0.0, share_keys=(share,))
        servers = Shuffled(operator, shuffler, NAME, share_key=parties.share_key)
        demand = Policy(
            run.epsilon, max_delta=run.delta, mechanisms=("gaussian-shares",), shuffled=pins
        )
        federation = Federation(pulls(), np.zeros(30), servers=servers, policy=demand)
        history = federation.fit(run)
        assert [metrics["hushgrad.reports"] for metrics in history] == [40, 40]
        assert history[-1]["hushgrad.epsilon-two-servers"] <= 8
        bad = Federation([short] * 40, np.zeros(30), servers=servers, policy=demand)
        with pytest.raises(InvalidParameter, match="as it came"):
            bad.fit(run)
        assert all(status.state != "open" for status in operator.rounds())


def test_a_history_reads() -> None:
    history = Federation(pulls(), np.zeros(30)).fit(planned(), evaluate=lambda model: 0.5)
    lines = repr(history).splitlines()
    assert lines[0].startswith("4 rounds of 40 clients, ")
    assert lines[0].endswith("ε = 4 a report, trust nobody")
    assert lines[1].split()[0] == "round"
    assert lines[1].endswith("accuracy")
    assert lines[5].split()[0] == "4"
    assert lines[5].endswith("0.5")
    assert lines[6] == "ended: all 4 rounds are done"
    many = History(history.plan, [history[0]] * 30)
    assert len(repr(many).splitlines()) == 1 + 1 + 13 + 1
    assert "under way" in repr(many)
    assert [metrics["accuracy"] for metrics in history[1:]] == [0.5] * 3


def test_a_history_and_an_estimate_become_frames_and_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    frame: Any = SimpleNamespace(DataFrame=_frame, Index=_index)
    monkeypatch.setitem(sys.modules, "pandas", frame)
    history = Federation(pulls(), np.zeros(30)).fit(planned(), evaluate=lambda model: 0.5)
    data, index = history.to_frame()
    assert (len(data), index) == (4, ([1, 2, 3, 4], "round"))
    server = hushgrad.Round.new("r", dim=3, epsilon=4, scale=1, sparsity=2, min_reports=1)
    counts = server.aggregator()
    counts.add(hushgrad.Round(server.description, Policy(4)).encode(np.zeros((50, 3))))
    estimate = counts.estimate()
    assert repr(estimate).startswith("Estimate of 3 coordinates from 50 reports: ")
    assert set(estimate.to_frame()[0]) == {"mean", "std_err"}
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas: pip install pandas"):
        history.to_frame()
    matplotlib: Any = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pyplot: Any = pytest.importorskip("matplotlib.pyplot")
    _, (left, right) = pyplot.subplots(1, 2)
    assert history.plot(left) is left
    assert left.lines[0].get_ydata().tolist() == [0.5] * 4
    assert estimate.plot(right) is right
    pyplot.close("all")


def _frame(data: Any, index: Any = None) -> Any:
    return data, index


def _index(values: Any, name: str) -> Any:
    return list(values), name


def test_a_bar_is_shown_where_it_takes_a_while() -> None:
    for shown, wait, drawn in ((True, 3.0, True), (True, 1.0, False), (None, 3.0, False)):
        out, now = io.StringIO(), [0.0]
        bar = Progress(4, "round", shown, out=out, clock=lambda now=now: now[0])
        now[0] = wait
        bar.step(1, "accuracy 0.5")
        bar.end()
        assert bool(out.getvalue()) is drawn
        if drawn:
            assert "round 1 of 4, 9 s left, accuracy 0.5\n" in out.getvalue()
