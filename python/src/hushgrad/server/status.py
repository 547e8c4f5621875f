"""How a round stands on a server."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Literal

from . import messages
from .errors import damaged
from .messages import Message

State = Literal["open", "closed", "expired", "aborted", "failed"]
"""What became of a round. Only a closed one has an estimate."""

_STATES: Any = messages.enum("RoundState")


@dataclass(frozen=True)
class RoundStatus:
    """A round on a server.

    Attributes
    ----------
    id : str
        Name of the round.
    description : bytes
        Its canonical description, for :class:`hushgrad.Round`.
    state : {"open", "closed", "expired", "aborted", "failed"}
        "expired": the deadline passed with too few reports. "failed": the mechanism could not
        compute the estimate.
    reports : int
        Reports counted so far. While the round is open, clients get it rounded down to 1, 2
        or 5 times a power of ten.
    closing : bool
        The operator has asked to close a round with a shuffler, which is to forward its reports.
    opened, ended : datetime or None
        In UTC. Only the operator gets them.
    log_proof : bytes
        The proof that the round is in the server's log, for :class:`hushgrad.Round`. It is empty
        where the server has no log. Only clients get it.
    """

    id: str
    description: bytes = field(repr=False)
    state: State
    reports: int
    closing: bool
    opened: datetime | None
    ended: datetime | None
    log_proof: bytes = field(default=b"", repr=False)

    @classmethod
    def from_message(cls, status: Message, log_proof: bytes = b"") -> RoundStatus:
        """Read what a server sends."""
        state = _STATES.get(status.state)
        if not status.HasField("round") or state in (None, "unspecified"):
            raise damaged("status", f"state {status.state}", "must have a round and a known state")
        return cls(
            id=status.round.id,
            description=description(status.round),
            state=state,
            reports=status.reports,
            closing=status.closing,
            opened=_time(status, "opened"),
            ended=_time(status, "ended"),
            log_proof=log_proof,
        )


def description(round_: Message) -> bytes:
    """Return the canonical description of a round in a message."""
    return round_.SerializeToString(deterministic=True)


def _time(status: Message, name: str) -> datetime | None:
    if not status.HasField(name):
        return None
    try:
        return getattr(status, name).ToDatetime(timezone.utc)
    except (ValueError, OverflowError) as error:
        raise damaged(name, error, "must be a time") from error
