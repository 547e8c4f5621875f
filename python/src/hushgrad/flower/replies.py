"""What the clients of a round answered."""

from __future__ import annotations

from collections.abc import Iterable
from logging import getLogger

from flwr.app import ConfigRecord, Message

from ..errors import HushgradError
from ..federated import Answers, PlainReply
from . import records

log = getLogger("flwr")


def answers(replies: Iterable[Message]) -> Answers[Message]:
    """Sort replies into reports, refusals and failures.

    Raises
    ------
    PlainReply
        If a client sent its model or its metrics.
    """
    result = Answers[Message]()
    for reply in replies:
        if reply.has_error():
            reason = reply.error.reason or ""
            if reason.startswith(records.REFUSED):
                result.refuse(reason.removeprefix(records.REFUSED))
            else:
                result.failed += 1
            _note(reply, reply.error.reason)
            continue
        if reply.content.array_records or reply.content.metric_records:
            raise PlainReply(
                f"node {reply.metadata.src_node_id} sent arrays or metrics, and no report: give "
                "its ClientApp the mod HushgradMod",
                *("mods", "none of hushgrad", "must have HushgradMod"),
            )
        record = reply.content.config_records.get(records.RECORD, ConfigRecord())
        report = record.get(records.REPORT)
        if isinstance(report, bytes):
            result.reports.append((reply, report))
        else:
            result.failed += 1
            _note(reply, "it sent no report")
    return result


def rejected(reply: Message, error: HushgradError) -> None:
    """Note that a reply does not count."""
    _note(reply, error)


def _note(reply: Message, reason: object) -> None:
    log.info("hushgrad: node %d: %s", reply.metadata.src_node_id, reason)
