"""Rounds that wait for their replies, of training and of evaluation alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from logging import getLogger

from flwr.app import ArrayRecord, ConfigRecord, Message

from ..aggregator import Estimate
from ..federated import Answers, Run, Shuffled, estimate
from ..rounds import Round
from . import records
from .replies import rejected
from .unit import Unit

log = getLogger("flwr")


@dataclass(frozen=True)
class Opened:
    """A round that waits for its replies.

    Attributes
    ----------
    round : Round
        The round as clients see it.
    model : ArrayRecord
        The model that was sent.
    names : tuple of str
        The arrays that train. It is empty where a round evaluates.
    asked : int
        Clients that were asked.
    """

    round: Round
    model: ArrayRecord
    names: tuple[str, ...]
    asked: int


class Rounds:
    """How the rounds of a run are sent, estimated and accounted.

    Parameters
    ----------
    unit : {"client", "example"}
        What a report protects.
    most : int
        Reports that one client may send with the unit "example".
    min_reports : int or None
        Reports below which a round is given up. None is half of the clients that were asked.
    shuffled : Shuffled or None
        Where sealed reports go.
    central_delta : float
        δ at which the central ε is stated.
    """

    def __init__(
        self,
        unit: Unit,
        most: int,
        min_reports: int | None,
        shuffled: Shuffled | None,
        central_delta: float,
    ) -> None:
        self.unit: Unit = unit
        self._most = most
        self._min_reports = min_reports
        self._shuffled = shuffled
        self._run = Run(central_delta, log)

    def least(self, asked: int) -> int:
        """Return the reports below which a round is given up."""
        return (asked + 1) // 2 if self._min_reports is None else self._min_reports

    def send(
        self, round_: Round, messages: Iterable[Message], **question: list[str] | list[float]
    ) -> Round:
        """Put a round into messages, and return it as clients see it."""
        if self._shuffled is not None:
            round_ = self._shuffled.open(round_)
        proof = {records.LOG_PROOF: round_.log_proof} if round_.log_proof else {}
        for message in messages:
            message.content[records.RECORD] = ConfigRecord(
                {records.ROUND: round_.description, records.UNIT: self.unit, **proof, **question}
            )
        return round_

    def estimate(self, round_: Round, answered: Answers[Message]) -> Estimate:
        """Count the reports of a round, and estimate.

        Raises
        ------
        TooFewReports
            If there are fewer reports than the round's min_reports.
        AggregatorLost, ServerRefused
            If the helper dies again and again, or if a server does not answer.
        """
        counted = estimate if self._shuffled is None else self._shuffled.estimate
        return counted(round_, answered, rejected, unit=self.unit, most=self._most)

    def metrics(
        self,
        opened: Opened,
        answered: Answers[Message],
        kind: str = "train",
        asked: int | None = None,
    ) -> dict[str, float]:
        """Return what a round has counted, and what the run promises with it.

        ``asked`` is in how many rounds a client was asked, at most. Without it a client may have
        been in all of them.
        """
        # A client that did not refuse may have sent a report, even if none came.
        # One that is asked twice reports and refuses.
        lost = max(0, opened.asked - answered.refused - len(answered.reports))
        return {
            "hushgrad.reports": answered.counted,
            "hushgrad.refused": answered.refused,
            "hushgrad.failed": answered.failed,
            **self._run.promise(opened.round, answered.counted, lost=lost, kind=kind, asked=asked),
        }

    def abort(self, opened: Opened | None) -> None:
        """End a round that is not estimated."""
        if opened is not None and self._shuffled is not None:
            self._shuffled.abort(opened.round)
