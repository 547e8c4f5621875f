"""A real ``hushgrad serve`` and a real ``hushgrad shuffle``, for tests of sealed reports."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from hushgrad.bench.parties import Servers
from hushgrad.server import Client, Operator

NAME = "shuffler.test"
FLOOR = 8


@dataclass
class Parties:
    """A server and a shuffler, and the connections of a ServerApp."""

    operator: Operator
    shuffler: Client
    addresses: tuple[str, str]
    fingerprint: str
    share_key: bytes


@pytest.fixture(scope="module")
def parties() -> Iterator[Parties]:
    """Start both."""
    with (
        Servers(NAME, floor=FLOOR) as made,
        Operator.connect(made.operator) as operator,
        Client.connect(made.shuffler) as shuffler,
    ):
        fingerprint = hashlib.sha256(made.seal_key).hexdigest()
        addresses = (made.operator, made.shuffler)
        yield Parties(operator, shuffler, addresses, fingerprint, made.share_key)
