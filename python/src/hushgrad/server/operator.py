"""The party that runs the rounds of ``hushgrad serve``."""

from __future__ import annotations

import re
from base64 import b64decode
from datetime import datetime, timezone

from .. import _arguments
from ..aggregator import Estimate
from ..errors import invalid
from ..rounds import Round
from . import estimates, messages, model
from .calls import Party
from .errors import damaged
from .messages import Message
from .status import RoundStatus, description

_MAX_ROUNDS = 1 << 16


class Operator(Party):
    """Opens and closes rounds, publishes models and reads estimates.

    It calls the operator's listener of ``hushgrad serve``, 127.0.0.1:7118 by default. A server
    on another machine asks for a certificate, which `cert` and `key` of :meth:`connect` name.
    Every method raises ServerRefused, ServerUnreachable and InvalidParameter.
    """

    service = "Operator"

    def open_round(
        self,
        round_: Round,
        *,
        shuffler: str = "",
        share_key: bytes = b"",
        issuer_keys: str = "",
        deadline: datetime | None = None,
    ) -> Round:
        """Open a round and return it as clients will see it.

        Parameters
        ----------
        round_ : Round
            What :meth:`hushgrad.Round.new` has returned. Its name is new on the server.
        shuffler : str
            DNS name of the shuffler to which clients send their reports, sealed. The server
            then puts its key into the round. Empty: what the round says.
        share_key : bytes
            The shuffler's public key, which a round of gaussian-shares needs: see
            :meth:`hushgrad.Round.new`. Nothing: what the round says.
        issuer_keys : str
            What ``hushgrad issue key`` prints for this round: two public keys in PEM. Every report
            then needs a token under the first one, and before a shuffler one under the second
            one, too. Empty: none does.
        deadline : datetime, optional
            When the round closes by itself, with a time zone.

        Raises
        ------
        InvalidParameter
            If the server does not allow the round. `param` names the field.
        """
        asked: Message = messages.Round.FromString(round_.description)
        if shuffler:
            asked.shuffler = shuffler
        if share_key:
            asked.share_key = share_key
        if issuer_keys:
            first, second = _public_keys(_arguments.text("issuer_keys", issuer_keys))
            asked.issuer_key = first
            if asked.shuffler:
                asked.outer_issuer_key = second
        if deadline is not None:
            if not isinstance(deadline, datetime) or deadline.tzinfo is None:  # pyright: ignore[reportUnnecessaryIsInstance]
                raise invalid("deadline", deadline, "must be a datetime with a time zone")
            asked.deadline.FromDatetime(deadline.astimezone(timezone.utc))
        answer = self._call("OpenRound", round=asked)
        return Round(description(answer.round))

    def close_round(self, round_id: str, *, timeout: float | None = None) -> RoundStatus:
        """Stop a round and make its estimate available.

        With fewer than min_reports reports the server refuses, with FAILED_PRECONDITION, and
        the round stays open. In a round with a shuffler the call waits until the shuffler has
        forwarded its reports.

        Parameters
        ----------
        round_id : str
            Name of the round.
        timeout : float, optional
            Seconds to wait. Default the operator's.
        """
        asked = _arguments.text("round_id", round_id)
        answer = self._call("CloseRound", timeout=timeout, round_id=asked)
        return RoundStatus.from_message(answer.status)

    def abort_round(self, round_id: str) -> RoundStatus:
        """End a round without an estimate. Its reports are dropped."""
        asked = _arguments.text("round_id", round_id)
        return RoundStatus.from_message(self._call("AbortRound", round_id=asked).status)

    def rounds(self) -> list[RoundStatus]:
        """Return the rounds that the server remembers, oldest first."""
        listed: list[RoundStatus] = []
        for answer in self._receive("ListRounds"):
            if len(listed) == _MAX_ROUNDS:
                raise damaged("rounds", f"more than {_MAX_ROUNDS}", "must be fewer")
            listed.append(RoundStatus.from_message(answer.status))
        return listed

    def status(self, round_id: str) -> RoundStatus:
        """Return how a round stands.

        Raises
        ------
        InvalidParameter
            If the server does not remember it.
        """
        for status in self.rounds():
            if status.id == round_id:
                return status
        raise invalid("round_id", repr(round_id), "must be a round that the server remembers")

    def estimate(
        self, round_id: str, *, wait: bool = False, timeout: float | None = None
    ) -> Estimate:
        """Return the estimate of a closed round.

        It is bit for bit what :meth:`hushgrad.Aggregator.estimate` returns for the same reports.

        Parameters
        ----------
        round_id : str
            Name of the round.
        wait : bool
            Wait until the round is closed.
        timeout : float, optional
            Seconds to wait. Default the operator's.

        Raises
        ------
        ServerRefused
            If the round is open, with FAILED_PRECONDITION, or never was released.
        DamagedTransfer
            If something else arrives than was announced.
        """
        asked = _arguments.text("round_id", round_id)
        answers = self._receive("GetEstimate", timeout=timeout, round_id=asked, wait=wait)
        return estimates.received(answers)

    def put_model(self, format: str, data: bytes, *, timeout: float | None = None) -> int:  # noqa: A002
        """Publish a model and return its version.

        Parameters
        ----------
        format : str
            Media type, for example "application/x-npy".
        data : bytes
            The model.
        timeout : float, optional
            Seconds that it may take. Default the operator's.
        """
        parts = model.sent(_arguments.text("format", format), bytes(_arguments.data("data", data)))
        return self._send("PutModel", parts, timeout=timeout).version


def _public_keys(pem: str) -> tuple[bytes, bytes]:
    """Return the two keys that ``hushgrad issue key`` prints, as they stand in a round."""
    kind = "PUBLIC KEY"
    blocks = re.findall(f"-----BEGIN {kind}-----([A-Za-z0-9+/=\\s]*)-----END {kind}-----", pem)
    if len(blocks) != 2:
        raise invalid("issuer_keys", f"{len(blocks)} public keys", "must have two, in PEM")
    first, second = (b64decode(block) for block in blocks)
    return first, second
