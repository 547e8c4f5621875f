"""Reports on their way to a server."""

from __future__ import annotations

import secrets

KEY_BYTES = 16
"""Least bytes of a key."""


class Reports(bytes):
    """Packed reports, as :meth:`hushgrad.Round.encode` returns them.

    They are bytes, and joining or storing them gives plain bytes. Pickling keeps the key.

    Attributes
    ----------
    key : bytes
        Random bytes that belong to these reports. A server that gets the reports twice with one
        key counts them once: see :meth:`hushgrad.server.Client.submit`.
    token : bytes
        The admission token that is sent beside the report, in a round that asks for one. It must
        not be shown to the issuer.
    """

    key: bytes
    token: bytes

    def __new__(cls, packed: bytes, token: bytes = b"") -> Reports:
        """Return reports with a fresh key."""
        made = super().__new__(cls, packed)
        made.token = token
        made.key = secrets.token_bytes(KEY_BYTES)
        return made
