"""The metrics of a round: what the rounds so far promise, and how good an estimate is."""

from __future__ import annotations

import math
from logging import getLogger

import numpy as np

from .. import _bridge
from ..aggregator import Estimate
from ..errors import InvalidParameter
from ..planning import account
from ..rounds import Round

log = getLogger("flwr")


class Promises:
    """Adds up what the rounds of a run promise a client, or a record, that is in all of them.

    Parameters
    ----------
    delta : float
        δ at which the central ε is stated.
    """

    def __init__(self, delta: float) -> None:
        self._delta = delta
        self._rounds = 0
        self._fewest = 0  # reports in a round so far

    def after(self, round_: Round, reports: int) -> dict[str, float]:
        """Return the metrics after one more round, in which reports may have left clients."""
        self._fewest = min(self._fewest, reports) if self._rounds else reports
        self._rounds += 1
        try:
            promise = _bridge.again(
                lambda: account(
                    round_,
                    clients=max(2, self._fewest),
                    participations=self._rounds,
                    delta=self._delta,
                )
            )
        except InvalidParameter as error:  # nothing is known of several such reports
            log.warning("hushgrad: %s", error)
            return {"hushgrad.epsilon-local": round_.guarantee.epsilon}
        local, total = promise.epsilon_local, promise.epsilon_local_total
        central = promise.epsilon_central
        if self._fewest < 2:  # one report hides behind none
            central = total if promise.delta_local <= promise.delta else None
        metrics: dict[str, float] = {}
        if local is not None:
            metrics["hushgrad.epsilon-local"] = local
        if total is not None:
            metrics["hushgrad.epsilon-local-total"] = total
            metrics["hushgrad.delta-local"] = promise.delta_local
        if central is not None:
            metrics["hushgrad.epsilon-central-if-shuffled"] = central
            metrics["hushgrad.delta"] = promise.delta
        return metrics


def quality(estimate: Estimate) -> dict[str, float]:
    """Return the noise of an estimate, and the signal to it.

    The signal is the norm of the mean without what noise adds to it.
    """
    noise = float(np.sum(estimate.std_err**2))
    signal = max(0.0, float(np.sum(estimate.mean**2)) - noise)
    return {
        "hushgrad.std-err": math.sqrt(noise / len(estimate.std_err)),
        "hushgrad.signal-to-noise": math.sqrt(signal / noise) if noise > 0 else math.inf,
    }
