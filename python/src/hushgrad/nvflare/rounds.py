"""How the rounds of a job are opened, estimated and accounted."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from logging import getLogger
from typing import Any

from ..aggregator import Estimate
from ..errors import HushgradError, TooFewReports
from ..federated import Run, estimate
from ..rounds import Round
from .opened import Opened, Waiting
from .sealed import Sealed

log = getLogger(__name__)


class Rounds:
    """The rounds of a job, of training and of evaluation alike.

    Parameters
    ----------
    unit : {"client", "example"}
        What a report protects.
    shuffled : dict or None
        Where sealed reports go.
    central_delta : float
        δ at which the central ε is stated.
    """

    def __init__(self, unit: str, shuffled: Mapping[str, Any] | None, central_delta: float) -> None:
        self._unit = unit
        self._sealed = None if shuffled is None else Sealed(shuffled)
        self._run = Run(central_delta, log)

    def named(self, name: str) -> str:
        """Return a round's name. On a server that other jobs use it is unlike all others."""
        return name if self._sealed is None else f"{name}-{secrets.token_hex(8)}"

    def open(self, round_: Round) -> Round:
        """Return a round as sites see it: open on the server that counts its sealed reports."""
        return round_ if self._sealed is None else self._sealed.shuffled().open(round_)

    def abort(self, opened: Opened | None) -> None:
        """End a round, and its question, on the server that would count the sealed reports."""
        if opened is None or self._sealed is None:
            return
        for waiting in (opened, opened.question):
            if waiting is not None:
                self._sealed.shuffled().abort(waiting.round)

    def estimate(self, waiting: Waiting) -> Estimate | None:
        """Count the reports of a round, and estimate. None: there are too few."""
        counted = estimate if self._sealed is None else self._sealed.shuffled().estimate
        try:
            return counted(waiting.round, waiting.answers, _rejected, unit=self._unit)
        except TooFewReports as error:
            why = waiting.answers.refusals
            log.warning("hushgrad: %s is given up: %s%s", waiting.round.id, error, why)
            return None

    def counts(self, waiting: Waiting) -> dict[str, float]:
        """Return how many sites have answered a round, and how."""
        return {
            "hushgrad.reports": waiting.answers.counted,
            "hushgrad.refused": waiting.answers.refused,
            "hushgrad.failed": waiting.answers.failed,
        }

    def promise(self, waiting: Waiting) -> dict[str, float]:
        """Return what the rounds so far promise with this one."""
        answers = waiting.answers
        # What a failed site sent may have been a report.
        return self._run.promise(
            waiting.round, answers.counted, lost=answers.failed, kind=waiting.kind
        )

    def close(self) -> None:
        """Close the connections. The next round opens others."""
        if self._sealed is not None:
            self._sealed.close()


def say(waiting: Waiting, metrics: Mapping[str, float | list[float]]) -> None:
    """Put the metrics of a round into the log."""
    # All digits: an ε that is rounded may be less than what holds.
    listed = (f"{name.removeprefix('hushgrad.')} {_printed(v)}" for name, v in metrics.items())
    log.info("hushgrad: %s: %s", waiting.round.id, ", ".join(listed))


def _printed(value: float | list[float]) -> str:
    if isinstance(value, list):
        return " ".join(f"{number:.15g}" for number in value)
    return f"{value:.15g}"


def _rejected(site: str, error: HushgradError) -> None:
    log.info("hushgrad: %s: %s", site, error)
