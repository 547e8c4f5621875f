"""The answers of the clients of a round, and the reports among them that count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from ..aggregator import Aggregator, Estimate
from ..errors import AggregatorLost, BadReport, HushgradError, InvalidParameter, invalid
from ..rounds import Round

Sender = TypeVar("Sender")

MOST = 1_000_000
"""Reports that one client may send with unit="example", unless a caller says otherwise."""


class PlainReply(HushgradError, ValueError):
    """A client sent its model or its metrics, and no report: nothing made it private."""


@dataclass
class Answers(Generic[Sender]):
    """What the clients of a round answered.

    Attributes
    ----------
    reports : list of (sender, bytes)
        One element for each client that sent reports. Keep it until the round is estimated: a
        helper that dies takes an aggregator with it, and the reports are added again.
    refused, failed : int
        Clients that refused to take part, and that sent nothing usable.
    counted : int
        Reports that were counted. :func:`count` sets it.
    reason : str
        Why the first client refused.
    """

    reports: list[tuple[Sender, bytes]] = field(default_factory=list[tuple[Sender, bytes]])
    refused: int = 0
    failed: int = 0
    counted: int = 0
    reason: str = ""

    def refuse(self, reason: object) -> None:
        """Count a client that refused to take part."""
        self.refused += 1
        self.reason = self.reason or str(reason)

    @property
    def refusals(self) -> str:
        """Return what a warning says of the clients that refused, "" for none."""
        return (
            f"; clients refused: {self.refused}, the first: {self.reason}" if self.refused else ""
        )


def count(
    round_: Round,
    answers: Answers[Sender],
    rejected: Callable[[Sender, HushgradError], None],
    *,
    unit: str = "client",
    most: int = MOST,
) -> Aggregator:
    """Count the reports. What are no reports of the round becomes a failure.

    Parameters
    ----------
    answers : Answers
        What came. Reports that do not count are removed from it and added to its failures.
    rejected : callable
        Called with the sender and the error for each of these.
    unit : {"client", "example"}
        With "client" a client has one report, and in a round whose reports are sums of records.
        With "example" it has any number otherwise, of which all count or none.
    most : int
        Reports that one client may send with "example".
    """
    one = unit == "client" or round_.about_records
    add = _add_one if one else partial(_add_all, most)
    try:
        return _count(round_, answers, rejected, add)
    except AggregatorLost:  # its helper died: all reports are still here
        return _count(round_, answers, rejected, add)


def estimate(
    round_: Round,
    answers: Answers[Sender],
    rejected: Callable[[Sender, HushgradError], None],
    *,
    unit: str = "client",
    most: int = MOST,
) -> Estimate:
    """Count the reports as :func:`count` does, and estimate.

    When the helper dies in the middle, a new one counts all reports again.

    Raises
    ------
    TooFewReports
        If there are fewer reports than the round's min_reports.
    AggregatorLost
        If the helper died again and again.
    """
    try:
        return count(round_, answers, rejected, unit=unit, most=most).estimate()
    except AggregatorLost:
        return count(round_, answers, rejected, unit=unit, most=most).estimate()


def _count(
    round_: Round,
    answers: Answers[Sender],
    rejected: Callable[[Sender, HushgradError], None],
    add: Callable[[Round, Aggregator, bytes], int],
) -> Aggregator:
    counts, good, counted = round_.aggregator(), list[tuple[Sender, bytes]](), 0
    for sender, report in answers.reports:
        try:
            counted += add(round_, counts, report)
        except (BadReport, InvalidParameter) as error:
            rejected(sender, error)
            continue
        good.append((sender, report))
    answers.failed += len(answers.reports) - len(good)
    answers.reports, answers.counted = good, counted
    return counts


def _add_one(round_: Round, counts: Aggregator, report: bytes) -> int:
    """Count one report. A client has one voice."""
    if round_.report_bytes:
        if len(report) != round_.report_bytes:
            got = f"{len(report)} bytes"
            raise BadReport(
                f"report: got {got}, rule: must have {round_.report_bytes} bytes",
                *("report", got, f"must have {round_.report_bytes} bytes"),
            )
        return counts.add(report)
    one = round_.aggregator()
    if (number := one.add(report)) != 1:
        raise BadReport(
            f"report: got {number} reports, rule: must be one",
            *("report", f"{number} reports", "must be one"),
        )
    counts.merge(one)
    return number


def _add_all(most: int, round_: Round, counts: Aggregator, reports: bytes) -> int:
    """Count the reports of all records of a client, or none of them."""
    rule = f"must be at most {most}"
    if round_.report_bytes:
        if (number := len(reports) // round_.report_bytes) > most:
            raise invalid("reports", number, rule)
        return counts.add(reports)
    own = round_.aggregator()
    if (number := own.add(reports)) > most:
        raise invalid("reports", number, rule)
    counts.merge(own)
    return number
