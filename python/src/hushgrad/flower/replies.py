"""What the clients of a round answered, and what their reports come to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from logging import getLogger

from flwr.app import ConfigRecord, Message

from ..aggregator import Aggregator, Estimate
from ..errors import AggregatorLost, BadReport, HushgradError, InvalidParameter, invalid
from ..rounds import Round
from . import records

log = getLogger("flwr")


class PlainReply(HushgradError, ValueError):
    """A client sent its model or its metrics, and no report: its app has no HushgradMod."""


@dataclass
class Replies:
    """The answers of a round. They are kept until it is estimated.

    Attributes
    ----------
    sent : list of (Message, bytes)
        The replies that carry reports, and the reports.
    reports : int
        Reports that were counted.
    refused, failed : int
        Clients that refused to take part, and clients whose answer is no report.
    """

    sent: list[tuple[Message, bytes]]
    reports: int = 0
    refused: int = 0
    failed: int = 0

    @classmethod
    def sorted(cls, replies: Iterable[Message]) -> Replies:
        """Sort replies into reports, refusals and failures.

        Raises
        ------
        PlainReply
            If a client sent its model or its metrics.
        """
        result = cls([])
        for reply in replies:
            if reply.has_error():
                if (reply.error.reason or "").startswith(records.REFUSED):
                    result.refused += 1
                else:
                    result.failed += 1
                _note(reply, reply.error.reason)
                continue
            if reply.content.array_records or reply.content.metric_records:
                raise PlainReply(
                    f"node {reply.metadata.src_node_id} sent arrays or metrics, and no report: "
                    "give its ClientApp the mod HushgradMod",
                    *("mods", "none of hushgrad", "must have HushgradMod"),
                )
            record = reply.content.config_records.get(records.RECORD, ConfigRecord())
            report = record.get(records.REPORT)
            if isinstance(report, bytes):
                result.sent.append((reply, report))
            else:
                result.failed += 1
                _note(reply, "it sent no report")
        return result

    def estimate(self, round_: Round, most: int) -> Estimate:
        """Count the reports and estimate. What is no report of the round becomes a failure.

        When the helper dies, all reports are counted again by a new one.

        Parameters
        ----------
        round_ : Round
            The round.
        most : int
            Reports that one client may send.

        Raises
        ------
        TooFewReports
            If there are fewer reports than the round's min_reports.
        AggregatorLost
            If the helper died twice.
        """
        try:
            return self._count(round_, most).estimate()
        except AggregatorLost as error:
            log.warning("hushgrad: %s: all reports are counted again", error)
            return self._count(round_, most).estimate()

    def _count(self, round_: Round, most: int) -> Aggregator:
        counts, good, reports = round_.aggregator(), list[tuple[Message, bytes]](), 0
        for reply, report in self.sent:
            try:
                reports += _add(counts, round_, report, most)
            except (BadReport, InvalidParameter) as error:
                _note(reply, error)
            else:
                good.append((reply, report))
        self.failed += len(self.sent) - len(good)
        self.sent, self.reports = good, reports
        return counts


def _add(counts: Aggregator, round_: Round, packed: bytes, most: int) -> int:
    """Count the reports of a client, all or none, and return their number.

    Raises
    ------
    BadReport, InvalidParameter
        If the bytes are no reports of the round, or more than most.
    """
    rule = f"must be in [1, {most}]"
    if round_.report_bytes:
        number, rest = divmod(len(packed), round_.report_bytes)
        if rest or not 1 <= number <= most:
            size = f"{len(packed)} bytes, {round_.report_bytes} for each"
            raise invalid("reports", size, rule)
        return counts.add(packed)
    own = round_.aggregator()
    number = own.add(packed)
    if not 1 <= number <= most:
        raise invalid("reports", number, rule)
    counts.merge(own)
    return number


def _note(reply: Message, reason: object) -> None:
    log.info("hushgrad: node %d: %s", reply.metadata.src_node_id, reason)
