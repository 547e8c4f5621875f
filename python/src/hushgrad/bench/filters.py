"""NVFlare's own filters on the digits of scikit-learn: SVTPrivacy and PercentilePrivacy.

The filters are NVFlare's classes. A client hands them its update, minus the gradient. The server
steps by the mean of what they let through, with a learning rate, a momentum and an average of the
models. Clip, fraction and learning rate were searched on divisions 1 to 3, with their tests. That
favours the filters: what is planned beside them saw the public pictures alone.
"""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from nvflare.apis.dxo import DXO, DataKind, from_shareable
from nvflare.apis.fl_context import FLContext
from nvflare.app_common.filters.percentile_privacy import PercentilePrivacy
from nvflare.app_common.filters.svt_privacy import SVTPrivacy

from ..federated.steps import Steps
from .division import Division
from .learners import Softmax, accuracy
from .planned import Way
from .promise import Promise

DIM = 650
DELTA = 1e-6
MOMENTUM, AVERAGING = 0.5, 0.8
_POINTS = 4000  # of the threshold's noise


@dataclass(frozen=True)
class Svt:
    """Settings of SVTPrivacy, in its own words, and the server's learning rate.

    Attributes
    ----------
    fraction : float
        Of the coordinates, how many are sent.
    gamma : float
        The clip of each coordinate.
    threshold, query, release : float
        Shares of ε: of the threshold's noise, of the comparisons' and of the values'.
    rate : float
        Learning rate of the server.
    replace : bool
        Whether a coordinate may be drawn twice, and is then sent once: fewer are sent. The ε holds
        either way.
    """

    fraction: float
    gamma: float
    threshold: float
    query: float
    release: float
    rate: float
    replace: bool = False

    def made(self) -> SVTPrivacy:
        """Return the filter."""
        return SVTPrivacy(
            fraction=self.fraction,
            epsilon=self.threshold + self.query,
            gamma=self.gamma,
            tau=0.1 * self.gamma,  # NVFlare's default
            replace=self.replace,
            epsilon_threshold=self.threshold,
            epsilon_query=self.query,
            epsilon_release=self.release,
        )


def held(settings: Svt, delta: float, dim: int = DIM) -> float:
    """Return the ε at δ that holds for one update of a client, whatever its data.

    What SVTPrivacy says of itself is the sum of its three shares. The proof of the sparse vector
    technique does not give that: it is for a search that stops at the c-th value above the
    threshold. The filter compares all values, again and again until c are above, and sends c of
    those.

    This holds: a comparison has Laplace noise of 2·c·γ/ε_query, and what it compares moves by at
    most γ, so that it costs ε_query/(2·c). There are at most dim in a pass. δ is for more passes.
    The c values have noise of 2·γ·c/ε_release, and move by at most 2·γ: ε_release in all. That is
    for noise of real numbers. The filter's are of floating-point numbers of NumPy's generator.
    """
    count = min(math.ceil(dim * settings.fraction), dim)
    passes = 1
    while _more_passes(settings, passes, count, dim) > delta:
        passes += 1
    return passes * dim * settings.query / (2 * count) + settings.release


def _more_passes(settings: Svt, passes: int, count: int, dim: int) -> float:
    """Return at least the chance that fewer than count of dim zeros are above after some passes."""
    # In units of γ. The threshold is 0.1 and Laplace noise. A larger one is worse.
    tails = np.append(np.geomspace(0.5, 1e-16, _POINTS), 0.0)  # chances that the noise is above
    noise = -np.log(2 * np.maximum(tails, 1e-300)) / settings.threshold
    threshold = 0.1 + noise
    wide = 2 * count / settings.query
    above = 0.5 * np.exp(-threshold / wide)
    ever = 1 - (1 - above) ** passes
    low = count / dim  # Chernoff's bound of fewer than this share
    with np.errstate(divide="ignore", invalid="ignore"):
        far = low * np.log(low / ever) + (1 - low) * np.log((1 - low) / (1 - ever))
    fewer = np.where(ever > low, np.exp(-(dim * far)), 1.0)
    # Each interval of thresholds by its worse end, and all that are below 0.1 by that.
    return float(0.5 * fewer[0] + np.sum((tails[:-1] - tails[1:]) * fewer[1:]))


def _trained(
    filters: Callable[[], Any], rate: float, division: Division, rounds: int
) -> tuple[float, float]:
    """Train with a filter of each client, and return the accuracy and the bytes of an update."""
    logging.getLogger("nvflare").setLevel(logging.ERROR)
    for name in ("SVTPrivacy", "PercentilePrivacy"):
        logging.getLogger(name).setLevel(logging.ERROR)
    learner, context = Softmax(), FLContext()
    steps = Steps(rate, MOMENTUM, AVERAGING)
    clients = [(filters(), share) for share in division.shares]
    model, sent = learner.first(0), 0
    for _ in range(rounds):
        total = np.zeros_like(model["model"])
        for each, share in clients:
            update = -learner.gradient(model, share)["model"].astype(np.float32)
            dxo = DXO(DataKind.WEIGHT_DIFF, data={"model": update}, meta={})
            left = from_shareable(each.process(dxo.to_shareable(), context)).data["model"]
            sent = left.nbytes
            total += left
        step = steps.step(model, np.ravel(total / len(clients)), last=False)
        model = {name: array + step[name] for name, array in model.items()}
    return accuracy(learner, steps.averaged, division.test), float(sent)


def svt(name: str, epsilon: float | None, settings: Svt, rounds: int) -> Way:
    """Return training with SVTPrivacy at each client."""

    def run(division: Division, seed: int) -> tuple[float, float]:
        return _trained(settings.made, settings.rate, division, rounds)

    one = held(settings, DELTA / rounds)
    promise = Promise("everybody", one, rounds * one, DELTA)
    return Way("svt", f"NVFlare's SVTPrivacy, {name}", epsilon, promise, run)


def percentile(name: str, percent: int, gamma: float, rate: float, rounds: int) -> Way:
    """Return training with PercentilePrivacy at each client, which is not random and has no ε."""

    def run(division: Division, seed: int) -> tuple[float, float]:
        return _trained(lambda: PercentilePrivacy(percent, gamma), rate, division, rounds)

    promise = Promise("nobody", None, None, 0.0)
    return Way("percentile", f"NVFlare's PercentilePrivacy, {name}", None, promise, run)


def _one(epsilon: float, gamma: float, rate: float) -> Svt:
    """Return settings that send one coordinate, which is best: the fewer, the less noise has each.

    Which one it is has nothing to do with the update then, for almost no ε.
    """
    return Svt(0.5 / DIM, gamma, 0.01, 0.04 / DIM, epsilon - 0.02, rate)


def _defaults() -> Svt:
    """Return NVFlare's defaults of fraction, epsilon, noise_var and replace."""
    count = math.ceil(0.1 * DIM)
    threshold = 0.1 / (1 + (2 * count) ** (2 / 3))  # NVFlare's split of epsilon
    return Svt(0.1, 0.05, threshold, 0.1 - threshold, count * 0.1, rate=0.6, replace=True)


def ways(names: Iterable[str], rounds: int) -> Iterator[Way]:
    """Yield the ways of these names."""
    every = [
        svt("1 of 650 weights", 4.0, _one(4.0, 0.05, 200.0), rounds),
        svt("1 of 650 weights", 8.0, _one(8.0, 0.1, 50.0), rounds),
        svt("its own ε, 65 of 650 weights", None, _defaults(), rounds),
        percentile("its defaults, 650 weights", 10, 0.01, 30.0, rounds),
    ]
    kept = set(names)
    yield from (way for way in every if way.key in kept)
