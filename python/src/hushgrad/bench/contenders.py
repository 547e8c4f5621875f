"""Ways to train privately in Flower, each with the settings that suit it best here.

The settings were chosen on 10 000 pictures of the training set, which the models of that search
were not trained on, and not on the test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256

from flwr.clientapp.mod import LocalDpMod
from flwr.clientapp.typing import Mod
from flwr.serverapp.strategy import (
    DifferentialPrivacyServerSideFixedClipping,
    FedAvgM,
    Strategy,
)

from ..flower import HushgradAggregation, HushgradMod, Shuffled
from ..policy import Policy, ShuffledPolicy
from ..server import Client, Operator
from . import gaussian
from .parties import NAME, Servers
from .promise import Promise
from .settings import MECHANISM, NO_PRIVACY, noisy, settings

DELTA = 1e-5


@dataclass(frozen=True)
class Contender:
    """A way to train.

    Attributes
    ----------
    key, name : str
        What it is, for a program and for a reader.
    epsilon : float
        The ε that was asked for.
    promise : Promise
        The ε that holds.
    start : callable
        Returns the mods of the ClientApp and the strategy of the ServerApp for one run. Processes
        that the run needs end with the stack.
    gain : float
        A client sends its update times this.
    averaging : float
        Decay of the average of the models that is tested, in [0, 1).
    """

    key: str
    name: str
    epsilon: float
    promise: Promise
    start: Callable[[ExitStack], tuple[list[Mod], Strategy]]
    gain: float = 1.0
    averaging: float = 0.0


def _server(clients: int, rate: float, momentum: float) -> FedAvgM:
    """Return the strategy that all contenders step with."""
    return FedAvgM(
        fraction_evaluate=0.0,
        min_train_nodes=clients,
        min_available_nodes=clients,
        server_learning_rate=rate,
        server_momentum=momentum,
    )


def hushgrad(epsilon: float, clients: int, rounds: int) -> Contender:
    """Return this package, with the settings that the example app has."""
    s = settings(epsilon)
    return Contender(
        "hushgrad",
        "hushgrad",
        epsilon,
        Promise("everybody", epsilon, rounds * epsilon, 0.0),
        lambda _: (
            [HushgradMod(Policy(max_epsilon=epsilon))],
            HushgradAggregation(
                _server(clients, 1.0, s.momentum),
                epsilon=epsilon,
                mechanism=MECHANISM,
                scale=s.scale,
                sparsity=s.sparsity,
                server_lr=s.server_lr,
            ),
        ),
        averaging=s.averaging,
    )


def two_servers(epsilon: float, clients: int, rounds: int) -> Contender:
    """Return this package's sums by two servers, each of which adds the whole noise."""
    multiplier = gaussian.deviation(
        2, epsilon, DELTA, rounds
    )  # of one server, in units of the clip
    each = gaussian.epsilon(2, multiplier, DELTA)
    s = noisy(math.sqrt(2) * multiplier / clients)

    def start(stack: ExitStack) -> tuple[list[Mod], Strategy]:
        parties = stack.enter_context(Servers())
        operator = stack.enter_context(Operator.connect(parties.operator))
        shuffler = stack.enter_context(Client.connect(parties.shuffler))
        seal, share = (sha256(key).hexdigest() for key in (parties.seal_key, parties.share_key))
        pins = ShuffledPolicy((NAME,), (seal,), each, 0.0, 0.0, share_keys=(share,))
        demand = Policy(each, max_delta=DELTA, mechanisms=("gaussian-shares",), shuffled=pins)
        strategy = HushgradAggregation(
            _server(clients, 1.0, s.momentum),
            epsilon=each,
            delta=DELTA,
            mechanism="gaussian-shares",
            scale=s.clip,
            server_lr=s.server_lr,
            min_reports=clients,
            shuffled=Shuffled(operator, shuffler, NAME, share_key=parties.share_key),
        )
        return [HushgradMod(demand)], strategy

    return Contender(
        "two-servers",
        "hushgrad, two servers",
        epsilon,
        Promise("either server alone", None, epsilon, DELTA),
        start,
        averaging=s.averaging,
    )


def local_dp(epsilon: float, clients: int, rounds: int, *, honest: bool) -> Contender:
    """Return Flower's LocalDpMod: Gaussian noise in every reply.

    Two updates of at most the clipping norm are up to twice that apart. That is the honest
    sensitivity. With the norm itself, the ε that holds is larger than the one that was asked for.
    """
    clips = 2 if honest else 1
    ratio = clips * math.sqrt(2 * math.log(1.25 / DELTA)) / epsilon  # LocalDpMod's formula
    s = noisy(ratio / math.sqrt(clients))
    return Contender(
        "local-honest" if honest else "local-clip",
        f"LocalDpMod, sensitivity {clips} × clip",
        epsilon,
        Promise(
            "everybody",
            gaussian.epsilon(2, ratio, DELTA),
            gaussian.epsilon(2, ratio, DELTA, rounds),
            DELTA,
        ),
        lambda _: (
            [LocalDpMod(s.clip, clips * s.clip, epsilon, DELTA)],
            _server(clients, s.server_lr, s.momentum),
        ),
        averaging=s.averaging,
    )


def central_dp(epsilon: float, clients: int, rounds: int) -> Contender:
    """Return Flower's central DP: the server clips and adds the noise."""
    multiplier = gaussian.deviation(2, epsilon, DELTA, rounds)  # in units of the clip
    s = noisy(multiplier / clients)
    gain = s.server_lr / (1 - s.momentum)
    return Contender(
        "central",
        "central DP of Flower",
        epsilon,
        Promise("everybody but the server", None, epsilon, DELTA),
        lambda _: (
            [],
            # The noise comes after the inner strategy, which must not remember what has none.
            DifferentialPrivacyServerSideFixedClipping(
                _server(clients, 1.0, 0.0), multiplier, gain * s.clip, clients
            ),
        ),
        gain=gain,
        averaging=s.averaging,
    )


def no_privacy(clients: int) -> Contender:
    """Return plain training."""
    return Contender(
        "none",
        "no privacy",
        math.inf,
        Promise("nobody", None, None, 0.0),
        lambda _: ([], _server(clients, NO_PRIVACY.server_lr, NO_PRIVACY.momentum)),
        averaging=NO_PRIVACY.averaging,
    )


def chosen(
    names: Collection[str], epsilons: Iterable[float], clients: int, rounds: int
) -> Iterator[Contender]:
    """Yield the contenders of these names at these values of ε."""
    makers: dict[str, Callable[[float], Contender]] = {
        "hushgrad": lambda epsilon: hushgrad(epsilon, clients, rounds),
        "two-servers": lambda epsilon: two_servers(epsilon, clients, rounds),
        "local-honest": lambda epsilon: local_dp(epsilon, clients, rounds, honest=True),
        "local-clip": lambda epsilon: local_dp(epsilon, clients, rounds, honest=False),
        "central": lambda epsilon: central_dp(epsilon, clients, rounds),
    }
    kept = list(epsilons)
    for name, make in makers.items():
        if name in names:
            yield from map(make, kept)
    if "none" in names:
        yield no_privacy(clients)
