"""Plans and accounts."""

from __future__ import annotations

import math
from typing import Any

import pytest
from conftest import new_round

from hushgrad import InvalidParameter, Policy, Round, account, plan


def test_a_plan_opens_rounds_that_keep_its_promise() -> None:
    run = plan(dim=100, clients=2000, l1=5, l2=1, rounds=4, cohort=500, epsilon=2, mechanism="coco")
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


@pytest.mark.parametrize("mechanism", ["auto", "coco", "sumdp", "sumdp-shares"])
def test_a_plan_needs_norms_and_says_which_it_used(mechanism: str) -> None:
    public: dict[str, Any] = {"dim": 100, "clients": 2000, "rounds": 2, "budget": 1}
    with pytest.raises(TypeError, match="'l1' and 'l2'"):
        plan(**public, mechanism=mechanism)
    for name in ("l1", "l2"):
        for wrong in (0, -1.0, math.inf):
            norms: dict[str, Any] = {"l1": 5, "l2": 1, name: wrong}
            with pytest.raises(InvalidParameter) as refused:
                plan(**public, **norms, mechanism=mechanism, clip=1.0)
            assert refused.value.param == name
            assert "public data" in refused.value.rule
    run = plan(**public, l1=5, l2=1.25, mechanism=mechanism)
    assert (run.l1, run.l2) == (5, 1.25)
    assert run.explanation.startswith("norms of a gradient, as given: L1 5, L2 1.25\n")
    assert math.isfinite(run.learning_rate)


def test_centred_inputs_have_steps_of_their_own() -> None:
    plain, centred = (
        plan(dim=100, clients=2000, l1=5, l2=1, rounds=4, epsilon=2, mechanism="coco", centred=how)
        for how in (False, True)
    )
    assert centred.learning_rate != plain.learning_rate
    assert "rate 640" in centred.explanation
    assert (centred.epsilon, centred.scale) == (plain.epsilon, plain.scale)


def test_a_limit_on_a_report_is_kept_and_slots_are_passed_on() -> None:
    free, limited = (
        plan(
            dim=800,
            clients=3000,
            l1=5,
            l2=1,
            rounds=3,
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
