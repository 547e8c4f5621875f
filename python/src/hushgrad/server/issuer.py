"""Clients who ask an issuer for admission tokens."""

from __future__ import annotations

from pathlib import Path

from ..rounds import Round
from .calls import Party
from .channel import connect


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

    def fetch(self, round_: Round) -> None:
        """Fetch the tokens of a round that was opened with ``tokens=True``, once.

        A call whose answer was lost can be made again: the same tokens come.

        Raises
        ------
        ServerRefused
            If the issuer does not know the client, has signed another message of the client under
            the round's key, or has no such key.
        ServerUnreachable
            If there is no answer in time.
        InvalidParameter
            If the round asks for no tokens, or the issuer's answer is no signature.
        """
        signatures: list[bytes] = []
        for key_id, blinded in round_.token_requests:
            fields = {"token_key_id": key_id, "blinded_message": blinded}
            answer = self._retried(
                lambda left, f=fields: self._call("IssueToken", timeout=left, **f)
            )
            signatures.append(answer.blind_signature)
        round_.take_tokens(signatures)
