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
    """

    key: bytes

    def __new__(cls, packed: bytes) -> Reports:
        """Return reports with a fresh key."""
        made = super().__new__(cls, packed)
        made.key = secrets.token_bytes(KEY_BYTES)
        return made
