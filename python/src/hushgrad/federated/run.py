"""The metrics of a run: what it promises its clients, and how good its estimates are."""

from __future__ import annotations

import math
from fractions import Fraction
from logging import Logger

import numpy as np

from ..aggregator import Estimate
from ..errors import InvalidParameter
from ..planning import Promise, accounts
from ..policy import Guarantee
from ..rounds import Round

_AHEAD = 7  # rounds whose promises are found with a round's promise


class Run:
    """The rounds of a run, and what they promise a client that took part in all of them.

    Parameters
    ----------
    delta : float
        δ at which the central ε is stated.
    log : Logger
        Gets a warning where several reports of a mechanism have no known guarantee.
    """

    def __init__(self, delta: float, log: Logger) -> None:
        self._delta = delta
        self._log = log
        self._rounds = 0
        self._fewest = 0  # reports in a round so far
        self._known: dict[int, Promise] = {}  # by participations, for what is in _known_for
        self._known_for: object = None

    def promise(self, round_: Round, reports: int, *, lost: int = 0) -> dict[str, float]:
        """Add a round that has counted some reports, and return the promise so far.

        Parameters
        ----------
        reports : int
            Reports that were counted.
        lost : int
            Clients whose report may have left them and was not counted.

        Returns
        -------
        dict
            ``hushgrad.epsilon-local``, ``hushgrad.epsilon-local-total`` and
            ``hushgrad.delta-local`` for a mechanism with a local guarantee;
            ``hushgrad.epsilon-central-if-shuffled``, or ``hushgrad.epsilon-two-servers`` for a
            mechanism of two servers, and ``hushgrad.delta``. Each is there if it holds. Nothing
            for a round without reports.
        """
        if reports + lost <= 0:
            return {}
        self._fewest = min(self._fewest, reports) if self._rounds else reports
        self._rounds += 1
        try:
            promise = self._promise(round_)
        except InvalidParameter as error:  # nothing is known of several such reports
            self._log.warning("hushgrad: %s", error)
            return self._added(round_.guarantee)
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
            metrics[_central(round_.guarantee)] = central
            metrics["hushgrad.delta"] = promise.delta
        return metrics

    def _added(self, one: Guarantee) -> dict[str, float]:
        """Return what basic composition promises: the sums of ε and of δ."""
        epsilon, delta = _times(self._rounds, one.epsilon), _times(self._rounds, one.delta)
        if one.trust == "local":
            alone = {"hushgrad.epsilon-local": one.epsilon}
            total = {"hushgrad.epsilon-local-total": epsilon, "hushgrad.delta-local": delta}
            return alone | total if delta < 1 else alone
        return {_central(one): epsilon, "hushgrad.delta": delta} if delta < 1 else {}

    def _promise(self, round_: Round) -> Promise:
        """Return what all rounds so far promise if each was like this one.

        The promises of the next rounds are kept: most runs go on with rounds that differ in
        nothing but their id and their public seed, on which no promise depends.
        """
        budget = (round_.epsilon, round_.delta, round_.relation, round_.shuffler)
        shape = (round_.mechanism, round_.dim, round_.scale, round_.min_reports, round_.columns)
        key = (budget, shape, sorted(round_.params.items()), self._fewest)
        if key != self._known_for:
            self._known, self._known_for = {}, key
        if self._rounds not in self._known:
            found = accounts(
                round_,
                clients=max(2, self._fewest),
                participations=self._rounds,
                delta=self._delta,
                ahead=_AHEAD,
            )
            self._known = dict(enumerate(found, self._rounds))
        return self._known[self._rounds]


def _central(one: Guarantee) -> str:
    """Return the name of the ε that does not hold against a party that sees single reports."""
    if one.trust in ("local", "shuffle"):
        return "hushgrad.epsilon-central-if-shuffled"
    return "hushgrad.epsilon-two-servers"


def _times(count: int, value: float) -> float:
    """Return a multiple, rounded up."""
    product = count * value
    if math.isinf(product) or Fraction(product) >= count * Fraction(value):
        return product
    return math.nextafter(product, math.inf)


def measures(estimate: Estimate, sent: int) -> dict[str, float]:
    """Return what an estimate is worth.

    Parameters
    ----------
    sent : int
        Bytes of all its reports.

    Returns
    -------
    dict
        ``hushgrad.records``, if reports are sums of records; ``hushgrad.bytes-per-report``;
        ``hushgrad.std-err``, the root mean square of the standard errors;
        ``hushgrad.signal-to-noise``, the Euclidean norm of the mean, without
        what noise adds to it, over ``noise_norm``. A few reports that agree make that 0: then
        the norm of the standard errors stands for it.
    """
    noise = estimate.noise_norm or float(np.linalg.norm(estimate.std_err))
    squares = float(np.sum(estimate.mean**2))
    signal = math.sqrt(max(0.0, squares - noise**2))
    summed = {"hushgrad.records": estimate.records} if estimate.records else {}
    return summed | {
        "hushgrad.bytes-per-report": sent / estimate.reports,
        "hushgrad.std-err": math.sqrt(float(np.mean(estimate.std_err**2))),
        "hushgrad.signal-to-noise": signal / noise if noise > 0 else math.inf,
    }
