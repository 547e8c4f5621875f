"""Clients who ask an issuer for admission tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..rounds import Round
from .calls import Party
from .channel import connect

# The issuer signs for so many rounds in one call, under two keys each.
_ROUNDS_PER_CALL = 32


class Issuer(Party):
    """The issuer of a round's admission tokens, as a client sees it.

    It calls the clients' listener of ``hushgrad issue``. The issuer knows who asks, and signs one
    blinded message of each client for each key: it never sees a token. Nobody who sees a token
    learns whose it is::

        round_ = Round(description, policy, tokens=True)
        with Issuer.connect("issuer.example:7119", ca="issuer.pem", bearer=secret) as issuer:
            issuer.fetch(round_)
        receipt = client.submit(round_, round_.encode(gradient))

    The token assigns the seed of the report, so it is fetched before the report is made. Fetch
    the tokens some time before the report is sent: then the moments at which the issuer and
    the server see a client say less.
    """

    service = "Issuer"

    @classmethod
    def connect(
        cls,
        target: str,
        *,
        ca: str | Path | None = None,
        cert: str | Path | None = None,
        key: str | Path | None = None,
        name: str | None = None,
        bearer: str | None = None,
        timeout: float = 60.0,
    ) -> Issuer:
        """Connect as :func:`hushgrad.server.connect` does, with the client's secret as bearer."""
        return cls._over(
            connect(target, ca=ca, cert=cert, key=key, name=name, bearer=bearer), timeout
        )

    def fetch(self, *rounds: Round) -> None:
        """Fetch the tokens of rounds that were opened with ``tokens=True``, each once.

        The tokens of 32 rounds come in one call. Fetch the tokens of all open rounds in which the
        client is going to take part at one moment. The moment says nothing about when the client
        reports. A call whose answer was lost can be made again: the same tokens come.

        Raises
        ------
        ServerRefused
            If the issuer does not know the client, has signed another message of the client under
            a round's key, or has no such key. Then it has signed nothing in this call.
        ServerUnreachable
            If there is no answer in time.
        InvalidParameter
            If a round asks for no tokens, or the issuer's answer is no signature.
        """
        for round_ in rounds:
            if not round_.token_requests:
                round_.take_tokens([])  # says why
        for first in range(0, len(rounds), _ROUNDS_PER_CALL):
            self._fetch(rounds[first : first + _ROUNDS_PER_CALL])

    def _fetch(self, rounds: Sequence[Round]) -> None:
        requests = [request for round_ in rounds for request in round_.token_requests]
        ids, blinded = (b"".join(parts) for parts in zip(*requests, strict=True))
        answer = self._retried(
            lambda left: self._call(
                "IssueTokens", timeout=left, token_key_ids=ids, blinded_messages=blinded
            )
        )
        signatures, size = answer.blind_signatures, len(blinded) // len(requests)
        for round_ in rounds:
            end = size * len(round_.token_requests)
            own, signatures = signatures[:end], signatures[end:]
            round_.take_tokens(own[i : i + size] for i in range(0, len(own), size))
