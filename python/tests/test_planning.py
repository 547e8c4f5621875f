"""Plans and accounts."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import KEY, SHARE_KEY, new_round
from numpy.typing import NDArray

from hushgrad import (
    BudgetExhausted,
    InvalidParameter,
    Ledger,
    NoiseAboveSignal,
    Policy,
    Round,
    account,
    compare,
    plan,
)


def gradients(n: int = 300, dim: int = 20) -> NDArray[np.float64]:
    """Return public gradients: one direction, and as much again of their own."""
    rng = np.random.default_rng(1)
    return (1 + rng.standard_normal((n, dim))) / np.sqrt(2 * dim)


def test_a_plan_opens_rounds_that_keep_its_promise() -> None:
    coco: dict[str, Any] = {"trust": "shuffler", "mechanism": "coco"}
    run = plan(dim=100, clients=2000, l1=5, l2=1, rounds=4, cohort=500, epsilon=2, **coco)
    assert (run.mechanism, run.dim, run.clients, run.cohort) == ("coco", 100, 2000, 500)
    assert (run.epsilon, run.rounds, run.affordable) == (2.0, 4, 4)
    assert run.noise is not None
    assert run.noise > 0
    assert run.learning_rate > 0
    assert "coco" in run.explanation
    round_ = run.round("first")
    assert (round_.epsilon, round_.scale, round_.min_reports) == (2.0, run.scale, 500)
    Round(round_.description, Policy(max_epsilon=2, min_reports=500))
    promise = account(round_, clients=500, participations=run.promise.participations)
    assert promise == run.promise
    assert promise.epsilon_central is not None
    assert promise.epsilon_central < 2


@pytest.mark.parametrize("mechanism", ["auto", "coco", "sumdp", "gaussian-shares"])
def test_a_plan_needs_norms_and_says_which_it_used(mechanism: str) -> None:
    public: dict[str, Any] = {"dim": 100, "clients": 2000, "rounds": 2, "budget": 1}
    with pytest.raises(InvalidParameter, match="Better, give public gradients"):
        plan(**public, mechanism=mechanism)
    for name in ("l1", "l2"):
        for wrong in (None, 0, -1.0, math.inf):
            norms: dict[str, Any] = {"l1": 5, "l2": 1, name: wrong}
            with pytest.raises(InvalidParameter) as refused:
                plan(**public, **norms, mechanism=mechanism, clip=1.0)
            assert refused.value.param == name
            assert "public data" in refused.value.rule
    run = plan(**public, l1=5, l2=1.25, mechanism=mechanism)
    assert (run.l1, run.l2) == (5, 1.25)
    assert run.explanation.startswith("norms of a gradient, as given: L1 5, L2 1.25\n")
    assert math.isfinite(run.learning_rate)


@pytest.mark.parametrize("sample", [gradients(), gradients().astype(np.float32)])
def test_public_gradients_take_the_place_of_norms(
    sample: NDArray[np.float32] | NDArray[np.float64],
) -> None:
    run = plan(dim=20, clients=20_000, public=sample, trust="nobody", budget=2, rounds=4)
    assert (run.trust, run.budget, run.affordable) == ("nobody", 2.0, 4)
    assert run.promise.participations == 1
    assert run.promise.epsilon_local_total == run.epsilon == 2.0
    # The first sum is over float32 numbers in the helper, too: only the order of additions differs.
    assert run.l1 == pytest.approx(float(np.abs(sample).sum(axis=1).mean()), rel=1e-5)
    assert run.l2 == pytest.approx(float(np.linalg.norm(sample, axis=1).mean()), rel=1e-5)
    assert "the mean of 300 public gradients" in run.explanation
    assert run.slope is not None
    assert 0 < run.slope <= 1.01
    assert run.signal_to_noise is not None
    assert run.signal_to_noise > 1
    assert (run.expected_accuracy, run.warm_factor) == (None, None)


def examples(n: int = 600, features: int = 8) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return public examples of three classes, sorted by class."""
    rng = np.random.default_rng(2)
    labels = np.sort(rng.integers(0, 3, n))
    centres = 2 * rng.standard_normal((3, features))
    return centres[labels] + rng.standard_normal((n, features)), labels


def test_a_run_is_rehearsed_on_public_examples() -> None:
    x, y = examples()
    run = plan(clients=20_000, public=(x, y), budget=4)
    assert (run.trust, run.dim, run.promise.epsilon_local_total) == ("nobody", 27, 4.0)
    assert run.expected is not None
    assert run.expected.before < 0.6 < run.expected.accuracy <= 1
    assert 0 < run.expected.error < 0.2
    assert run.expected.without_privacy > 0.9
    assert f"expected accuracy  {run.expected.accuracy:.3f}" in run.explanation
    assert "on public examples" in " ".join(run.explanation.split())
    narrow = plan(clients=20_000, public=(x.astype(np.float32), list(y)), budget=4, dim=27)
    assert narrow.dim == 27
    for public, param in (
        ((x, y[1:]), "labels"),
        ((x, y - 1), "labels"),
        ((x, y.astype(float)), "labels"),
        ((x[:50], y[:50]), "public"),
        ((x[0], y), "public"),
        ((x, y, y), "public"),
        ((np.where(x > 3, np.nan, x), y), "public"),
    ):
        with pytest.raises(InvalidParameter) as refused:
            plan(clients=20_000, public=public, budget=4)  # type: ignore[arg-type]
        assert refused.value.param == param
    with pytest.raises(InvalidParameter, match="27 parameters"):
        plan(clients=20_000, public=(x, y), budget=4, dim=28)


def test_trusts_are_compared() -> None:
    rows = compare(clients=2000, public=examples(), budget=2)
    assert [r.trust for r in rows] == ["nobody", "own-site", "shuffler", "two-servers", "server"]
    nobody, site, _, _, server = rows
    assert (nobody.epsilon, nobody.delta, nobody.against) == (2.0, 0.0, "everybody")
    assert (site.mechanism, site.expected) == ("", None)
    assert "clients hold their own data" in site.why
    assert server.error < nobody.error
    assert nobody.off is not None
    assert nobody.expected is not None
    assert server.expected is not None
    assert server.expected.accuracy > 0.9


def test_norms_alone_say_nothing_of_the_signal() -> None:
    run = plan(dim=100, clients=2000, l1=5, l2=1, rounds=4, epsilon=2, mechanism="coco")
    assert (run.trust, run.budget) == ("nobody", 0.0)
    assert (run.slope, run.signal_to_noise, run.warm_factor) == (None, None, None)


def test_more_noise_than_signal_is_refused_with_what_would_not_be() -> None:
    few: dict[str, Any] = {"dim": 20, "clients": 20, "public": gradients(), "trust": "nobody"}
    instead = r"What would not be refused, and may still learn little: about \d+ clients, or ε = "
    with pytest.raises(NoiseAboveSignal, match=instead):
        plan(**few, budget=0.5)
    run = plan(**few, budget=0.5, force=True)
    assert run.signal_to_noise is not None
    assert run.signal_to_noise < 1


def test_a_public_model_is_expected_to_gain_or_the_run_is_refused() -> None:
    many: dict[str, Any] = {"dim": 20, "public": gradients(), "trust": "nobody", "budget": 2}
    run = plan(**many, clients=50_000, zero_shot=0.8)
    assert run.expected_accuracy is not None
    assert 0.8 < run.expected_accuracy < 1
    assert run.warm_factor is not None
    assert 0 < run.warm_factor <= 1
    with pytest.raises(NoiseAboveSignal, match=r"accuracy of 0\.8"):
        plan(**many, clients=50, zero_shot=0.8)


def test_two_servers_plan_sums() -> None:
    run = plan(dim=20, clients=500, public=gradients(), trust="two-servers", budget=1)
    assert (run.mechanism, run.trust) == ("gaussian-shares", "two-servers")
    assert run.promise.epsilon_local is None
    assert run.promise.epsilon_central is not None
    assert 0.99 < run.promise.epsilon_central <= 1


@pytest.mark.parametrize(
    "public",
    [
        gradients()[:1],
        gradients(dim=19),
        gradients()[0],
        np.zeros((3, 20)),
        np.full((3, 20), np.inf),
        np.ones((3, 20), int),
        [],
        "gradients",
    ],
)
def test_wrong_public_gradients_are_named(public: Any) -> None:
    with pytest.raises(InvalidParameter) as refused:
        plan(dim=20, clients=2000, public=public)
    assert refused.value.param == "public"


def test_what_does_not_fit_together_is_named() -> None:
    both: dict[str, Any] = {"public": gradients(), "l2": 1.0}
    wrong: tuple[tuple[str, dict[str, Any]], ...] = (
        ("public", both),
        ("trust", {"public": gradients(), "trust": "hope"}),
        ("trust", {"public": gradients(), "trust": "server"}),
        ("zero shot", {"public": gradients(), "zero_shot": 1.5}),
    )
    for param, given in wrong:
        with pytest.raises(InvalidParameter) as refused:
            plan(dim=20, clients=2000, **given)
        assert refused.value.param == param


def test_centred_inputs_have_steps_of_their_own() -> None:
    plain, centred = (
        plan(dim=100, clients=2000, l1=5, l2=1, rounds=4, epsilon=2, mechanism="coco", centred=how)
        for how in (False, True)
    )
    assert centred.learning_rate != plain.learning_rate
    assert "rate 640" in centred.explanation
    assert (centred.epsilon, centred.scale) == (plain.epsilon, plain.scale)


def test_networks_have_small_steps() -> None:
    rng = np.random.default_rng(5)
    public = rng.standard_normal((50, 40)) * 0.02 + 0.05
    common: dict[str, Any] = {"dim": 40, "clients": 500, "epsilon": 8, "rounds": 4, "force": True}
    plain, network = (plan(public=public, network=n, **common) for n in (False, True))
    assert plain.learning_rate > 2 == network.learning_rate
    assert (plain.mechanism, plain.scale) == (network.mechanism, network.scale)
    examples = (rng.standard_normal((100, 3)), rng.integers(0, 2, 100))
    wrongs: list[dict[str, Any]] = [{"l1": 5, "l2": 1}, {"public": examples, "dim": 0}]
    for wrong in wrongs:
        with pytest.raises(InvalidParameter, match=r"network: .*public gradients"):
            plan(**{**common, **wrong}, network=True)


def test_a_limit_on_a_report_is_kept_and_slots_are_passed_on() -> None:
    free, limited = (
        plan(
            dim=800,
            clients=3000,
            l1=5,
            l2=1,
            rounds=3,
            trust="shuffler",
            budget=0.2,
            mechanism="coco",
            max_epsilon=most,
        )
        for most in (0.0, 0.5)
    )
    assert limited.epsilon == 0.5 < free.epsilon
    assert limited.noise is not None
    assert free.noise is not None
    assert limited.noise > free.noise
    assert "a larger local ε" in free.explanation
    round_ = Round.new(
        "r",
        dim=800,
        mechanism=free.mechanism,
        epsilon=free.epsilon,
        scale=free.scale,
        min_reports=3000,
        **free.params,
    )
    assert account(round_, clients=3000, participations=3) == free.promise
    central = free.promise.epsilon_central
    assert central is not None
    assert central <= 0.2
    with pytest.raises(InvalidParameter):
        plan(dim=800, clients=3000, l1=5, l2=1, epsilon=1, max_epsilon=2)


def test_accounts_of_several_rounds_compose() -> None:
    round_ = new_round(epsilon=1.0)
    one, four = (account(round_, clients=1000, participations=n) for n in (1, 4))
    assert one.epsilon_local == four.epsilon_local == 1.0
    assert four.epsilon_local_total == 4.0
    assert one.epsilon_central is not None
    assert four.epsilon_central is not None
    assert one.epsilon_central < four.epsilon_central < 4 * one.epsilon_central


@pytest.mark.parametrize(("epsilon", "delta"), [(0.25, 1e-6), (1.0, 1e-6), (4.0, 1e-8)])
def test_gaussian_noise_composes_as_dp_accounting_says(epsilon: float, delta: float) -> None:
    dp_accounting = pytest.importorskip("dp_accounting")
    pld = pytest.importorskip("dp_accounting.pld")
    gaussian = pytest.importorskip("dp_accounting.gaussian_mechanism")
    round_ = new_round(
        mechanism="gaussian-shares",
        epsilon=epsilon,
        delta=delta,
        sparsity=None,
        shuffler="shuffler.example",
        seal_key=KEY,
        share_key=SHARE_KEY,
    )
    own = new_round(mechanism="gaussian-site", epsilon=epsilon, delta=delta, sparsity=None)
    noise = dp_accounting.GaussianDpEvent(gaussian.get_sigma_gaussian(epsilon, delta))
    # Of 30 rounds with ε = 4 the accountant says infinity.
    for rounds in (1, 2, 30 if epsilon < 4 else 10):
        promise = account(round_, clients=1000, participations=rounds, delta=delta)
        exact = pld.PLDAccountant().compose(noise, rounds).get_epsilon(delta)
        site = account(own, clients=1000, participations=rounds, delta=delta)
        # Never below the exact value. PLDAccountant is within 1e-8 of it, above.
        for epsilon_total in (promise.epsilon_central, site.epsilon_local_total):
            assert epsilon_total is not None
            assert exact * (1 - 1e-8) <= epsilon_total <= exact * (1 + 1e-5)
        assert site.delta_local == delta


def test_no_privacy_is_no_promise() -> None:
    promise = account(new_round(mechanism="none", epsilon=math.inf, sparsity=None), clients=10)
    assert promise.epsilon_local is None
    assert promise.epsilon_central is None


def test_numbers_out_of_range_are_named() -> None:
    with pytest.raises(InvalidParameter) as refused:
        plan(dim=100, clients=1, l1=5, l2=1)
    assert refused.value.param == "clients"
    with pytest.raises(InvalidParameter) as refused:
        account(new_round(), clients=1)
    assert refused.value.param == "clients"


@pytest.mark.parametrize("trust", ["", "two-servers"])
def test_hospitals_are_planned_by_their_records(trust: str) -> None:
    run = plan(clients=12, records=12_000, dim=500, l1=20.0, l2=1.0, trust=trust, budget=2.0)
    own = run.trust == "own-site"
    assert run.mechanism == ("gaussian-site" if own else "gaussian-shares")
    assert (run.records, run.cohort, run.rounds, run.affordable) == (12_000, 12, 30, 30)
    assert run.params == {"records": 12_000}
    assert run.promise.unit == "record"
    whole = "in all 30 rounds together" if own else "the 30 rounds in which a record takes part"
    assert whole in " ".join(run.explanation.split())
    total = run.promise.epsilon_local_total if own else run.promise.epsilon_central
    assert total is not None
    assert 1.999 < total <= 2.0
    if own:
        assert account(run.round("first"), clients=12, participations=30) == run.promise
    every = compare(clients=12, records=12_000, dim=500, l1=20.0, l2=1.0, budget=2.0)
    rows = {row.trust: row for row in every}
    assert rows["server"].error < rows["two-servers"].error < rows["own-site"].error
    assert rows["own-site"].epsilon <= 2.0
    with pytest.raises(InvalidParameter, match="records"):
        plan(clients=12, records=11, dim=500, l1=20.0, l2=1.0, trust=trust)


def test_own_noise_is_planned() -> None:
    run = plan(
        dim=20, clients=100, l1=4, l2=1, trust="two-servers", own_budget=8, rounds=2, budget=1
    )
    assert run.promise.epsilon_central == pytest.approx(1, rel=1e-3)
    assert run.promise.epsilon_local_total == pytest.approx(8, rel=1e-3)
    with pytest.raises(InvalidParameter, match="own budget"):
        plan(dim=20, clients=100, l1=4, l2=1, trust="nobody", own_budget=8, rounds=2, budget=1)


def test_honest_noise_is_planned() -> None:
    task = partial(plan, dim=20, clients=100, l1=4.0, l2=1.0, rounds=2)
    run = task(trust="two-servers", honest_budget=1.0)
    assert run.promise.epsilon_central == pytest.approx(2, rel=1e-3)
    assert run.promise.epsilon_if_honest == pytest.approx(1, rel=1e-3)
    assert run.promise.honest_reports == 90
    half = task(trust="two-servers", honest_budget=1.0, honest=0.5, budget=4.0)
    assert half.promise.honest_reports == 50
    bare = task(trust="two-servers", budget=1.0)
    assert (bare.promise.epsilon_if_honest, bare.promise.honest_reports) == (None, 0)
    with pytest.raises(InvalidParameter, match="honest budget"):
        task(trust="nobody", honest_budget=1.0)


def test_public_gradients_have_the_dimension() -> None:
    run = plan(clients=20_000, public=gradients(), budget=2, rounds=4)
    assert run.dim == gradients().shape[1]
    with pytest.raises(InvalidParameter, match="public"):
        plan(clients=20_000, public=gradients(), dim=gradients().shape[1] + 1, budget=2)
    with pytest.raises(InvalidParameter, match="public"):
        plan(clients=20_000, public=gradients()[0], budget=2)


def test_proofs_are_planned() -> None:
    run = plan(
        dim=20, clients=100, l1=4, l2=1, trust="two-servers", proof="prio3", rounds=2, budget=1
    )
    assert run.params["proof"] == "prio3"
    with pytest.raises(InvalidParameter, match="proof"):
        plan(dim=20, clients=100, l1=4, l2=1, trust="shuffler", proof="prio3", rounds=2, budget=1)


def test_gradients_by_name_are_rows() -> None:
    rng = np.random.default_rng(1)
    named = {"weight": rng.normal(size=(40, 3, 2)), "bias": rng.normal(size=(40, 4))}
    rows = np.hstack([np.reshape(named["weight"], (40, 6)), named["bias"]])
    given: dict[str, Any] = {"clients": 1000, "epsilon": 4, "force": True}
    assert plan(public=named, **given).explanation == plan(public=rows, **given).explanation
    wrong: list[dict[str, Any]] = [{}, {"a": np.ones(())}, {"a": np.ones((2, 3)), "b": np.ones(3)}]
    for each in wrong:
        with pytest.raises(InvalidParameter, match=r"of shape \(gradients, ...\) by name"):
            plan(public=each, **given)


def test_a_ledger_of_twice_the_delta_pays_for_all_planned_rounds(tmp_path: Path) -> None:
    run = plan(clients=8, records=24_000, dim=20, l1=8, l2=2.2, rounds=10, budget=2)
    policy = Policy(max_epsilon=run.epsilon, max_delta=run.delta)
    rounds = [Round(run.round(f"r{i}").description, policy) for i in range(run.affordable + 1)]
    with Ledger(tmp_path / "ledger", "flower-records") as ledger:
        ledger.set_budget(epsilon=2, delta=2 * run.delta)
        for made in rounds[:10]:
            made.encode_records(np.zeros((3, 20)), ledger=ledger)
        with pytest.raises(BudgetExhausted):
            rounds[10].encode_records(np.zeros((3, 20)), ledger=ledger)


def test_gradients_of_a_matrix_are_asked_for_by_name() -> None:
    rows: Any = gradients()
    each = rows.reshape(300, 5, 4)
    with pytest.raises(InvalidParameter, match=r"public: .*a row for each example: give {'w'"):
        plan(public=each, clients=6000, rounds=2, budget=2, trust="shuffler")
    assert plan(public={"w": each}, clients=6000, rounds=2, budget=2, trust="shuffler").dim == 20
