"""Whoever brings reports to ``hushgrad serve`` or to ``hushgrad shuffle``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from .. import _arguments
from ..errors import invalid
from ..reports import KEY_BYTES, Reports
from ..rounds import Round
from . import messages, model
from .calls import Party
from .messages import Message
from .model import Model
from .status import RoundStatus

_BATCH_BYTES = 512 << 10
_MAX_BATCH = 1 << 16  # reports


@dataclass(frozen=True)
class Receipt:
    """What became of a submission.

    A shuffler takes reports in. The server counts them when the shuffler forwards the round.

    Attributes
    ----------
    accepted : int
        Reports that the last attempt got counted.
    duplicates : int
        Reports that an earlier attempt had already got counted.
    """

    accepted: int
    duplicates: int


class Client(Party):
    """Fetches rounds and models, and submits reports.

    It calls the clients' listener of ``hushgrad serve``, 127.0.0.1:7117 by default, or the listener
    of ``hushgrad shuffle``, 127.0.0.1:7124. Every method tries up to 5 times while the server is
    unavailable, and raises ServerRefused, ServerUnreachable and InvalidParameter.
    """

    service = "Rounds"

    def round(self, round_id: str = "") -> RoundStatus:
        """Return a round, or the newest open one. Open its description under a policy."""
        asked = _arguments.text("round_id", round_id)
        answer = self._retried(lambda left: self._call("GetRound", timeout=left, round_id=asked))
        return RoundStatus.from_message(answer.status, answer.log_proof)

    def model(self) -> Model:
        """Return the current model, after a check of its size and SHA-256."""
        return self._retried(lambda left: model.received(self._receive("GetModel", timeout=left)))

    def submit(
        self,
        round_: Round,
        reports: bytes,
        *,
        key: bytes | None = None,
        token: bytes | None = None,
    ) -> Receipt:
        """Send reports. However often they are sent with one key, each is counted once.

        Parameters
        ----------
        round_ : Round
            The round that the reports were made for.
        reports : bytes
            What :meth:`hushgrad.Round.encode` has returned, or several of these joined. In a
            round with a shuffler they are sealed, and the connection leads to the shuffler.
        key : bytes, optional
            At least 16 random bytes, kept beside the reports. A program that was stopped in
            the middle sends the same reports again with the same key. Default the key of
            :class:`hushgrad.Reports`. Reports that were joined or stored have none, and need it
            here. In a round with a shuffler a sealed report is known by itself.
        token : bytes, optional
            Admission token, in a round that asks for one: a report is then known by its token.
            Default the token of :class:`hushgrad.Reports`. A report that was stored needs it here.

        Raises
        ------
        BadReport
            If a report is none of the round. Batches of up to 512 KiB before it stay counted.
        InvalidParameter
            If the bytes do not end where a report ends, if there is no key, or if the round asks
            for a token and there is none.
        """
        described: Message = messages.Round.FromString(round_.description)
        admission = getattr(reports, "token", b"") if token is None else token
        admission = bytes(_arguments.data("token", admission))
        if bool(described.issuer_key) != bool(admission):
            have = f"{len(admission)} bytes" if admission else "nothing"
            rule = "must be empty: the round asks for no tokens"
            if described.issuer_key:
                rule = "must be there: the round asks for one, which Issuer.fetch gets"
            raise invalid("token", have, rule)
        packed = bytes(_arguments.data("reports", reports))
        parts = list(_batches(packed, round_.report_bytes))
        secret = b"" if described.shuffler or admission else _secret(reports, key)
        keys = [_batch_key(secret, i) if secret else b"" for i in range(len(parts))]
        batches = [
            messages.SubmitReportsRequest(
                round_id=round_.id,
                round_digest=bytes.fromhex(round_.digest),
                batch_key=batch_key,
                reports=part,
                tokens=admission,
            )
            for batch_key, part in zip(keys, parts, strict=True)
        ]
        answer = self._retried(lambda left: self._send("SubmitReports", batches, timeout=left))
        return Receipt(answer.accepted, answer.duplicates)


def _secret(reports: bytes, key: bytes | None) -> bytes:
    """Return the key of reports: the one that is given, or their own."""
    if key is None and isinstance(reports, Reports):
        return reports.key
    if key is None:
        rule = (
            f"is required for reports that were joined or stored: {KEY_BYTES} random bytes that "
            f"you keep beside the reports. secrets.token_bytes({KEY_BYTES}) makes them"
        )
        raise invalid("key", "nothing", rule)
    secret = bytes(_arguments.data("key", key))
    if len(secret) < KEY_BYTES:
        raise invalid("key", f"{len(secret)} bytes", f"must have at least {KEY_BYTES}")
    return secret


def _batch_key(secret: bytes, number: int) -> bytes:
    """Return the key of a batch: the same for the same secret and number."""
    return hashlib.sha256(number.to_bytes(8, "big") + secret).digest()[:KEY_BYTES]


def _batches(reports: bytes, size: int) -> Iterator[bytes]:
    """Split packed reports, each of size bytes or with its length before it, into messages."""
    if not reports:
        raise invalid("reports", "nothing", "at least one is required")
    start = end = count = 0
    for next_end in _ends(reports, size):
        if count == _MAX_BATCH or (count > 0 and next_end - start > _BATCH_BYTES):
            yield reports[start:end]
            start, count = end, 0
        end, count = next_end, count + 1
    yield reports[start:end]


def _ends(reports: bytes, size: int) -> Iterator[int]:
    """Yield where each report ends."""
    if size > 0:
        if len(reports) % size:
            raise invalid("reports", f"{len(reports)} bytes", f"must have a multiple of {size}")
        yield from range(size, len(reports) + 1, size)
        return
    end = 0
    while end < len(reports):
        length, end = _varint(reports, end)
        end += length
        if end > len(reports):
            raise invalid("reports", "a cut report", "must hold that many bytes after each length")
        yield end


def _varint(data: bytes, start: int) -> tuple[int, int]:
    """Return the number that begins at start, and where it ends."""
    value = 0
    for i, byte in enumerate(data[start : start + 5]):
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return value, start + i + 1
    raise invalid("reports", "a cut length", "must hold a varint before each report")
