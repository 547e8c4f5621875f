"""Planned runs on the digits of scikit-learn: nothing in them was searched.

Clip, learning rate and mechanism are :func:`hushgrad.plan`'s, from the public pictures of a
division.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np

from ..federated import Shuffled
from ..federated.steps import Steps
from ..federation import Federation
from ..planning import Plan, plan
from ..policy import Policy, ShuffledPolicy
from . import gaussian
from .division import CLIENTS, PUBLIC, Division, divided
from .learners import Learner, Network, Softmax, accuracy, flat
from .promise import Promise
from .report import Row

DELTA = 1e-6
PER_CLIENT = 5  # pictures that a client has at least


@dataclass(frozen=True)
class Way:
    """A way to train.

    Attributes
    ----------
    key, name : str
        What it is, for a program and for a reader.
    epsilon : float or None
        The ε that was asked for.
    promise : Promise
        The ε that holds.
    run : callable
        Trains on a division, and returns the accuracy on its test and what a client sends in a
        round, in bytes.
    """

    key: str
    name: str
    epsilon: float | None
    promise: Promise
    run: Callable[[Division, int], tuple[float, float]]


def measured(way: Way, divisions: range, rounds: int, say: Callable[[str], None]) -> Row:
    """Train on several divisions. The time of a round has a share of the plan's."""
    found: list[tuple[float, float]] = []
    start = time.monotonic()
    for seed in divisions:
        found.append(way.run(divided(seed), seed))
        say(f"{way.name}: division {seed}, accuracy {found[-1][0]:.3f}")
    return Row(
        way.name,
        way.epsilon,
        way.promise,
        [accuracy for accuracy, _ in found],
        statistics.fmean(sent for _, sent in found),
        (time.monotonic() - start) / len(divisions) / rounds,
    )


def _planned(learner: Learner, division: Division, seed: int, **given: Any) -> Plan:  # noqa: ANN401
    """Plan a run of all clients in all rounds from public pictures."""
    common: dict[str, Any] = {"clients": CLIENTS, "cohort": CLIENTS, "delta": DELTA, **given}
    if not learner.network:
        return plan(public=division.public, per_client=PER_CLIENT, centred=True, **common)
    x, labels = division.public
    rng, first = np.random.default_rng(seed), learner.first(seed)
    groups = [rng.choice(PUBLIC, PER_CLIENT, replace=False) for _ in range(PUBLIC)]
    rows = np.array([flat(learner.gradient(first, (x[g], labels[g]))) for g in groups])
    return plan(public=rows, dim=rows.shape[1], network=True, force=True, **common)


def _federation(learner: Learner, division: Division, seed: int, **given: Any) -> Federation:  # noqa: ANN401
    clients = [partial(_gradient, learner, share) for share in division.shares]
    return Federation(clients, learner.first(seed), **given)


def _gradient(learner: Learner, share: Any, model: Any) -> Any:  # noqa: ANN401
    return learner.gradient(model, share)


def _trained(learner: Learner, division: Division, run: Plan, federation: Federation) -> Any:  # noqa: ANN401
    history = federation.fit(run)
    sent = statistics.fmean(history.column("hushgrad.bytes-per-report"))
    return accuracy(learner, federation.model, division.test), sent


def local(learner: Learner, name: str, epsilon: float, rounds: int) -> Way:
    """Return reports that need no trust."""

    def run(division: Division, seed: int) -> tuple[float, float]:
        made = _planned(learner, division, seed, trust="nobody", epsilon=epsilon, rounds=rounds)
        return _trained(learner, division, made, _federation(learner, division, seed))

    promise = Promise("everybody", epsilon, rounds * epsilon, 0.0)
    key = "network" if learner.network else "local"
    return Way(key, f"hushgrad, {name}", epsilon, promise, run)


def _of_servers(
    division: Division,
    seed: int,
    epsilon: float,
    rounds: int,
    **given: Any,  # noqa: ANN401
) -> Plan:
    given |= {"trust": "two-servers", "budget": epsilon, "rounds": rounds}
    return _planned(Softmax(), division, seed, **given)


def two_servers(name: str, epsilon: float, rounds: int) -> Way:
    """Return sums by two servers, which are real processes."""

    def run(division: Division, seed: int) -> tuple[float, float]:
        from ..server import Client, Operator
        from .parties import NAME, Servers

        made = _of_servers(division, seed, epsilon, rounds)
        with ExitStack() as stack:
            parties = stack.enter_context(Servers())
            operator = stack.enter_context(Operator.connect(parties.operator))
            shuffler = stack.enter_context(Client.connect(parties.shuffler))
            seal, share = (sha256(key).hexdigest() for key in (parties.seal_key, parties.share_key))
            pins = ShuffledPolicy((NAME,), (seal,), made.epsilon, 0.0, 0.0, share_keys=(share,))
            federation = _federation(
                *(Softmax(), division, seed),
                servers=Shuffled(operator, shuffler, NAME, share_key=parties.share_key),
                policy=Policy(
                    made.epsilon,
                    max_delta=made.delta,
                    mechanisms=("gaussian-shares",),
                    shuffled=pins,
                ),
            )
            return _trained(Softmax(), division, made, federation)

    promise = Promise("either server alone", None, epsilon, DELTA)
    return Way("two-servers", f"hushgrad, two servers, {name}", epsilon, promise, run)


def _by_flower(
    mods: list[Any],
    strategy: Any,  # noqa: ANN401
    division: Division,
    seed: int,
    rounds: int,
    steps: Steps,
) -> tuple[float, float]:
    """Train with a mod or a strategy of Flower. The steps are a plan's."""
    from . import builtin

    update, step, first = _stepping(division, seed, steps)
    _, sent = builtin.train(mods, strategy, first, update, step, clients=CLIENTS, rounds=rounds)
    return accuracy(Softmax(), steps.averaged, division.test), sent


def _stepping(division: Division, seed: int, steps: Steps) -> tuple[Any, Any, Any]:
    """Return what a client adds to a model, a server's step, and the first model."""
    learner = Softmax()
    first = learner.first(seed)["model"]

    def update(client: int, model: Any) -> Any:  # noqa: ANN401
        return -learner.gradient({"model": np.asarray(model)}, division.shares[client])["model"]

    def step(model: Any, mean: Any) -> Any:  # noqa: ANN401
        before = {"model": np.asarray(model, np.float64)}
        made = steps.step(before, np.asarray(mean, np.float64).ravel(), last=False)
        return before["model"] + made["model"]

    return update, step, first


def _fedavg() -> Any:  # noqa: ANN401
    """Return Flower's strategy, with all clients in every round."""
    from flwr.serverapp.strategy import FedAvg

    return FedAvg(fraction_evaluate=0.0, min_train_nodes=CLIENTS, min_available_nodes=CLIENTS)


def central(name: str, epsilon: float, rounds: int) -> Way:
    """Return central DP: DifferentialPrivacyServerSideFixedClipping of Flower.

    The server clips the L2 norm of every gradient to the clip, and adds Gaussian noise of deviation
    noise_multiplier · clip / clients to each coordinate of the mean. The multiplier is the exact
    one for replacing a client, whose gradient is up to 2 clips away. The clip is the two servers',
    and so are momentum and averaging. The learning rate is the plan's for this noise, to which it
    is inverse.
    """
    multiplier = gaussian.deviation(2, epsilon, DELTA, rounds)

    def run(division: Division, seed: int) -> tuple[float, float]:
        from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping

        made = _of_servers(division, seed, epsilon, rounds)
        steps = Steps(made.learning_rate * math.sqrt(2), made.momentum, made.averaging)
        strategy = DifferentialPrivacyServerSideFixedClipping(
            _fedavg(), multiplier, made.scale, CLIENTS
        )
        return _by_flower([], strategy, division, seed, rounds, steps)

    promise = Promise("everybody but the server", None, epsilon, DELTA)
    return Way("central", f"central DP of Flower, {name}", epsilon, promise, run)


def local_dp(name: str, epsilon: float, rounds: int, *, clips: int) -> Way:
    """Return Flower's LocalDpMod: Gaussian noise in every reply.

    Two updates of at most the clipping norm are up to two norms apart: that is the sensitivity that
    the clipping needs. With one norm, the ε that holds is larger than the one that was asked for.
    Clip and steps are those that two servers have whose mean has this noise.
    """
    ratio = clips * math.sqrt(2 * math.log(1.25 / DELTA)) / epsilon  # LocalDpMod's formula
    of_servers = ratio * math.sqrt(CLIENTS / 2)  # deviation that each of two servers would add
    as_noisy = gaussian.epsilon(2, of_servers, DELTA, rounds)

    def run(division: Division, seed: int) -> tuple[float, float]:
        from flwr.clientapp.mod import LocalDpMod

        made = _of_servers(division, seed, as_noisy, rounds, force=True)
        mod = LocalDpMod(made.scale, clips * made.scale, epsilon, DELTA)
        steps = Steps(made.learning_rate, made.momentum, made.averaging)
        return _by_flower([mod], _fedavg(), division, seed, rounds, steps)

    promise = Promise(
        "everybody",
        gaussian.epsilon(2, ratio, DELTA),
        gaussian.epsilon(2, ratio, DELTA, rounds),
        DELTA,
    )
    return Way("local-dp", f"LocalDpMod, sensitivity {clips} × clip, {name}", epsilon, promise, run)


def secagg(name: str, rounds: int, shares: int) -> Way:
    """Return Flower's SecAgg+: the server learns sums, without noise and without an ε."""

    def run(division: Division, seed: int) -> tuple[float, float]:
        from . import builtin

        given: dict[str, Any] = {"mechanism": "none", "trust": "nobody", "rounds": rounds}
        made = _planned(Softmax(), division, seed, **given)
        steps = Steps(made.learning_rate, made.momentum, made.averaging)
        update, step, first = _stepping(division, seed, steps)
        _, sent = builtin.secagg(
            *(first, update, step), clients=CLIENTS, rounds=rounds, shares=shares
        )
        return accuracy(Softmax(), steps.averaged, division.test), sent

    promise = Promise("nobody", None, None, 0.0)
    return Way("secagg", f"SecAgg+ of Flower, {shares} shares, {name}", None, promise, run)


def no_privacy(learner: Learner, name: str, rounds: int) -> Way:
    """Return plain training, planned as well."""

    def run(division: Division, seed: int) -> tuple[float, float]:
        made = _planned(learner, division, seed, mechanism="none", trust="nobody", rounds=rounds)
        result, _ = _trained(learner, division, made, _federation(learner, division, seed))
        return result, 4.0 * made.dim

    return Way("none", f"no privacy, {name}", None, Promise("nobody", None, None, 0.0), run)


def ways(names: Iterable[str], rounds: int) -> Iterator[Way]:
    """Yield the ways of these names."""
    softmax, network = "650 weights", "network of 2410 weights"
    every = [
        *(local(Softmax(), softmax, epsilon, rounds) for epsilon in (4.0, 8.0)),
        *(two_servers(softmax, epsilon, rounds) for epsilon in (4.0, 8.0)),
        *(central(softmax, epsilon, rounds) for epsilon in (4.0, 8.0)),
        *(
            local_dp(softmax, epsilon, rounds, clips=clips)
            for clips in (1, 2)
            for epsilon in (4.0, 8.0)
        ),
        secagg(softmax, rounds, 3),
        local(Network(), network, 8.0, rounds),
        no_privacy(Softmax(), softmax, rounds),
        no_privacy(Network(), network, rounds),
    ]
    kept = set(names)
    yield from (way for way in every if way.key in kept)
