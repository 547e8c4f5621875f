"""The metrics of a run: what it promises its clients, and how good its estimates are."""

from __future__ import annotations

import math
from collections.abc import Iterable
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
    """The rounds of a run, and what they promise the client that took part most often.

    Rounds may be of several kinds: rounds that train, and rounds that evaluate. The promises of the
    kinds are added up, because a client may be in all of them.

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
        self._kinds: dict[str, _Kind] = {}
        self._promises: dict[str, dict[str, float]] = {}  # by kind

    def promise(
        self,
        round_: Round,
        reports: int,
        *,
        lost: int = 0,
        kind: str = "train",
        asked: int | None = None,
    ) -> dict[str, float]:
        """Add a round that has counted some reports, and return the promise so far.

        Parameters
        ----------
        reports : int
            Reports that were counted.
        lost : int
            Clients whose report may have left them and was not counted.
        kind : str
            What the round is for.
        asked : int, optional
            Rounds of the kind for which a client was asked so far, at most. Without it a client may
            have been in all of them.

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
        if kind not in self._kinds:
            self._kinds[kind] = _Kind(self._delta, self._log)
        self._promises[kind] = self._kinds[kind].promise(round_, reports, asked)
        return _together(self._promises[kind], *(p for k, p in self._promises.items() if k != kind))


class _Kind:
    """Rounds of one kind. See :class:`Run`."""

    def __init__(self, delta: float, log: Logger) -> None:
        self._delta = delta
        self._log = log
        self._rounds = 0
        self._times = 0  # that a client took part, at most
        self._fewest = 0  # reports in a round so far
        self._known: dict[int, Promise] = {}  # by participations, for what is in _known_for
        self._known_for: object = None

    def promise(self, round_: Round, reports: int, asked: int | None) -> dict[str, float]:
        """Add a round, and return the promise of all rounds of the kind."""
        self._fewest = min(self._fewest, reports) if self._rounds else reports
        self._rounds += 1
        self._times = self._rounds if asked is None else min(asked, self._rounds)
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
        epsilon, delta = _times(self._times, one.epsilon), _times(self._times, one.delta)
        if one.trust == "local":
            alone = {"hushgrad.epsilon-local": one.epsilon}
            total = {"hushgrad.epsilon-local-total": epsilon, "hushgrad.delta-local": delta}
            return alone | total if delta < 1 else alone
        return {_central(one): epsilon, "hushgrad.delta": delta} if delta < 1 else {}

    def _promise(self, round_: Round) -> Promise:
        """Return what a client's rounds so far promise if each was like this one.

        The promises of the next rounds are kept: most runs go on with rounds that differ in
        nothing but their id and their public seed, on which no promise depends.
        """
        budget = (round_.epsilon, round_.delta, round_.relation, round_.shuffler)
        shape = (round_.mechanism, round_.dim, round_.scale, round_.min_reports, round_.columns)
        key = (budget, shape, sorted(round_.params.items()), self._fewest)
        if key != self._known_for:
            self._known, self._known_for = {}, key
        if self._times not in self._known:
            found = accounts(
                round_,
                clients=max(2, self._fewest),
                participations=self._times,
                delta=self._delta,
                ahead=_AHEAD,
            )
            self._known = dict(enumerate(found, self._times))
        return self._known[self._times]


_SUMS = (
    ("hushgrad.epsilon-local-total", "hushgrad.delta-local"),
    ("hushgrad.epsilon-central-if-shuffled", "hushgrad.delta"),
    ("hushgrad.epsilon-two-servers", "hushgrad.delta"),
)


def _together(one: dict[str, float], *others: dict[str, float]) -> dict[str, float]:
    """Return the promise of rounds of one kind, with what other rounds cost the same client.

    What holds against everybody holds against each party. A sum is left out where a part of it is
    not known.
    """
    result = {name: one[name] for name in ("hushgrad.epsilon-local",) if name in one}
    kinds = (one, *others)
    for names in _SUMS:
        if not any(names[0] in kind for kind in kinds):
            continue
        parts = [_budget(kind, names) or _budget(kind, _SUMS[0]) for kind in kinds]
        known = [part for part in parts if part is not None]
        delta = _sum(delta for _, delta in known)
        if len(known) == len(parts) and delta < 1:
            result |= {names[0]: _sum(epsilon for epsilon, _ in known), names[1]: delta}
    return result


def _budget(promise: dict[str, float], names: tuple[str, str]) -> tuple[float, float] | None:
    """Return an ε and a δ of a promise, or None if it has none."""
    epsilon, delta = names
    return (promise[epsilon], promise[delta]) if epsilon in promise else None


def _sum(values: Iterable[float]) -> float:
    """Return a sum, rounded up."""
    each = list(values)
    total = math.fsum(each)
    if math.isinf(total) or Fraction(total) >= sum(map(Fraction, each)):
        return total
    return math.nextafter(total, math.inf)


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
