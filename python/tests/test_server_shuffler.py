"""Sealed reports on their way through a real shuffler, with TLS."""

from __future__ import annotations

import hashlib
import json
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from certificates import authority, certify
from conftest import new_round
from daemons import Daemon, Server, free_address
from numpy.typing import NDArray

from hushgrad import Policy, Round, ShuffledPolicy

pytest.importorskip("grpc")
from hushgrad.server import Client, Operator, Receipt, ServerRefused, ServerUnreachable

NAME = "shuffler.example"
CLIENTS = 4000


@dataclass
class Parties:
    """A server and a shuffler in front of it, which know each other by certificates."""

    folder: Path
    clients: str
    operators: str
    shuffler: str

    def pem(self, name: str) -> str:
        """Return a file of the authority."""
        return str(self.folder / name)

    def operator(self) -> Operator:
        """Return the operator, who shows a certificate."""
        cert, key = self.pem("operator.pem"), self.pem("operator.key")
        return Operator.connect(self.operators, ca=self.pem("ca.pem"), cert=cert, key=key)


@pytest.fixture(scope="module")
def parties(command: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parties]:
    """Return running parties."""
    made = Parties(tmp_path_factory.mktemp("parties"), *(free_address() for _ in range(3)))
    upstream, ca = free_address(), str(authority(made.folder))

    def own(name: str, alternatives: str, prefix: str = "") -> tuple[str, ...]:
        cert, key = certify(made.folder, name, f"{alternatives},IP:127.0.0.1")
        return f"--{prefix}tls-cert", str(cert), f"--{prefix}tls-key", str(key)

    own("operator", "DNS:operator")
    server = Server(command, made.folder, made.clients, made.operators).start(
        *("--shuffler-listen", upstream, "--shuffler-ca", ca, "--shuffler-name", "shuffler"),
        *("--operator-ca", ca, "--operator-name", "operator", *own("server", "DNS:localhost")),
    )
    shuffler = Daemon(
        command,
        *("shuffle", "--name", NAME, "--floor", "1", "--listen", made.shuffler),
        *("--data", str(made.folder / "shuffle"), "--log-level", "warn"),
        *("--upstream", upstream, "--upstream-tls-ca", ca),
        *own("shuffler", f"DNS:{NAME}"),
        *own("shuffler", f"DNS:{NAME}", "upstream-"),
        log=made.folder / "shuffle.log",
    )
    with server, shuffler:
        yield made


@dataclass
class Carried:
    """Sealed reports, and the round that they were made for."""

    round: Round
    items: bytes


@pytest.fixture
def carried(parties: Parties, row: NDArray[np.float32], request: pytest.FixtureRequest) -> Carried:
    """Open a round and return what its clients send."""
    name = hashlib.sha256(request.node.name.encode()).hexdigest()
    with parties.operator() as operator:
        opened = operator.open_round(new_round(id=name, min_reports=CLIENTS), shuffler=NAME)
    pins = ShuffledPolicy(
        shufflers=(NAME,),
        seal_keys=(hashlib.sha256(opened.seal_key).hexdigest(),),
        max_epsilon_local=4,
        max_epsilon=1,
        max_delta=1e-6,
    )
    client = Round(opened.description, Policy(shuffled=pins))
    assert client.central is not None
    return Carried(opened, client.encode(np.tile(row, (CLIENTS, 1))))


def test_the_server_estimates_what_the_shuffler_forwards(
    parties: Parties, carried: Carried, row: NDArray[np.float32]
) -> None:
    with (
        parties.operator() as operator,
        Client.connect(parties.shuffler, ca=parties.pem("ca.pem"), name=NAME) as shuffler,
    ):
        assert shuffler.submit(carried.round, carried.items) == Receipt(CLIENTS, 0)
        assert shuffler.submit(carried.round, carried.items) == Receipt(0, CLIENTS)
        assert operator.close_round(carried.round.id).state == "closed"
        estimate = operator.estimate(carried.round.id)
    assert estimate.reports == CLIENTS
    # Reports are random. A normal variable is beyond 6 standard errors once in 5e8 tries.
    assert (np.abs(estimate.mean - row) < 6 * estimate.std_err).all()
    assert (estimate.std_err < 0.05).all()


def test_hospitals_send_sums_of_their_records(
    command: Path, parties: Parties, row: NDArray[np.float32]
) -> None:
    listed = subprocess.run(
        [command, *("shuffle", "keys", "--data", parties.folder / "shuffle", "-o", "json")],
        check=True,
        capture_output=True,
    )
    share_key = b64decode(json.loads(listed.stdout)[0]["public_key"])
    asked = new_round(
        id="hospitals",
        mechanism="gaussian-shares",
        sparsity=None,
        epsilon=8.0,
        delta=1e-6,
        records=100,
    )
    with parties.operator() as operator:
        opened = operator.open_round(asked, shuffler=NAME, share_key=share_key)
    pins = ShuffledPolicy(
        shufflers=(NAME,),
        seal_keys=(hashlib.sha256(opened.seal_key).hexdigest(),),
        share_keys=(hashlib.sha256(share_key).hexdigest(),),
        max_epsilon_local=8,
        max_epsilon=8,
        max_delta=1e-6,
    )
    demand = Policy(8, max_delta=1e-6, mechanisms=("gaussian-shares",), shuffled=pins)
    sites = [20, 3, 40]
    items = b"".join(
        Round(opened.description, demand).encode_records(row for _ in range(n)) for n in sites
    )
    with (
        parties.operator() as operator,
        Client.connect(parties.shuffler, ca=parties.pem("ca.pem"), name=NAME) as shuffler,
    ):
        assert shuffler.submit(opened, items) == Receipt(3, 0)
        assert operator.close_round(opened.id).state == "closed"
        estimate = operator.estimate(opened.id)
    assert (estimate.reports, estimate.records) == (3, 63)
    # The noise is normal, and beyond 6 standard errors once in 5e8 tries.
    clipped = row * (0.5 / 0.3**0.5)
    assert (np.abs(estimate.mean - clipped) < 6 * estimate.std_err).all()
    assert (estimate.std_err < 0.02).all()


def test_the_server_takes_sealed_reports_from_the_shuffler_alone(
    parties: Parties, carried: Carried
) -> None:
    with (
        Client.connect(parties.clients, ca=parties.pem("ca.pem")) as server,
        pytest.raises(ServerRefused) as refused,
    ):
        server.submit(carried.round, carried.items)
    assert refused.value.code == "FAILED_PRECONDITION"


def test_another_party_than_the_shuffler_gets_no_report(parties: Parties, carried: Carried) -> None:
    ca, other = parties.pem("ca.pem"), parties.pem("operator.pem")
    for connect in (
        lambda: Client.connect(parties.clients, ca=ca, name=NAME),  # the server
        lambda: Client.connect(parties.shuffler, ca=ca, name="other.example"),
        lambda: Client.connect(parties.shuffler, ca=other, name=NAME),  # another authority
        lambda: Client.connect(parties.shuffler),  # no TLS
    ):
        with connect() as client, pytest.raises(ServerUnreachable):
            client.submit(carried.round, carried.items)


def test_the_operator_shows_a_certificate(parties: Parties) -> None:
    ca = parties.pem("ca.pem")
    files = parties.pem("shuffler.pem"), parties.pem("shuffler.key")
    for connect in (
        lambda: Operator.connect(parties.operators, ca=ca),
        lambda: Operator.connect(parties.operators, ca=ca, cert=files[0], key=files[1]),
    ):
        with connect() as operator, pytest.raises(ServerUnreachable):
            operator.rounds()
