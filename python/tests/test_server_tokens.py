"""Admission tokens from a real issuer, for rounds with and without a shuffler."""

from __future__ import annotations

import hashlib
import os
import pickle
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from certificates import authority, certify
from conftest import new_round
from daemons import Daemon, Server, free_address
from numpy.typing import NDArray

from hushgrad import (
    BadReport,
    HelperFailed,
    InvalidParameter,
    Policy,
    PolicyRefused,
    Reports,
    Round,
    _bridge,
)

pytest.importorskip("grpc")
from hushgrad.server import Client, Issuer, Operator, Receipt, ServerRefused

NAME = "shuffler.example"
CLIENTS = ("anna", "bob", "eve")
POLICY = Policy(max_epsilon=4)


@dataclass
class Parties:
    """A server, a shuffler in front of it, and an issuer that knows some clients."""

    command: Path
    folder: Path
    clients: str
    operators: str
    shuffler: str
    issuer: str
    keys: str
    secrets: dict[str, str]

    def open(self, round_id: str, *, shuffled: bool) -> Round:
        """Open a round that asks for tokens."""
        made = subprocess.run(
            [
                *(self.command, "issue", "key", "--server", self.keys, "--id", round_id),
                *("--tls-ca", self.folder / "ca.pem"),
            ],
            check=True,
            capture_output=True,
            text=True,
        )
        with Operator.connect(self.operators) as operator:
            return operator.open_round(
                new_round(id=round_id),
                shuffler=NAME if shuffled else "",
                issuer_keys=made.stdout,
            )

    def ask(self, name: str, secret: str | None = None) -> Issuer:
        """Return the issuer as a client sees it."""
        secret = self.secrets[name] if secret is None else secret
        ca = str(self.folder / "ca.pem")
        return Issuer.connect(self.issuer, ca=ca, name="localhost", bearer=secret)


@pytest.fixture(scope="module")
def parties(command: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parties]:
    """Return running parties."""
    folder = tmp_path_factory.mktemp("issuer")
    authority(folder)
    upstream = free_address()

    def own(name: str, alternatives: str, prefix: str = "") -> tuple[str, ...]:
        cert, key = certify(folder, name, f"{alternatives},IP:127.0.0.1")
        return f"--{prefix}tls-cert", str(cert), f"--{prefix}tls-key", str(key)

    secrets: dict[str, str] = {}
    known = ""
    for name in CLIENTS:
        drawn = subprocess.run(
            [command, "issue", "bearer", name], check=True, capture_output=True, text=True
        ).stdout.splitlines()
        secrets[name], known = drawn[0], known + drawn[1] + "\n"
    (folder / "known").write_text(known)
    made = Parties(command, folder, *(free_address() for _ in range(5)), secrets=secrets)
    server = Server(command, folder, made.clients, made.operators).start(
        "--shuffler-listen", upstream
    )
    shuffler = Daemon(
        command,
        *("shuffle", "--name", NAME, "--floor", "1", "--listen", made.shuffler),
        *("--data", str(folder / "shuffle"), "--log-level", "warn", "--upstream", upstream),
        *own("shuffler", f"DNS:{NAME}"),
        log=folder / "shuffle.log",
    )
    issuer = Daemon(
        command,
        *("issue", "--listen", made.issuer, "--operator-listen", made.keys, "--log-level", "warn"),
        *("--data", str(folder / "issue"), "--bearer-file", str(folder / "known")),
        *own("issuer", "DNS:localhost"),
        log=folder / "issue.log",
    )
    with server, shuffler, issuer:
        yield made


@pytest.mark.parametrize("shuffled", [False, True])
def test_each_client_sends_one_report(
    parties: Parties, row: NDArray[np.float32], shuffled: bool
) -> None:
    opened = parties.open(f"tokens-{shuffled}", shuffled=shuffled)
    target, ca = parties.clients, None
    if shuffled:
        target, ca = parties.shuffler, str(parties.folder / "ca.pem")
    with Client.connect(target, ca=ca, name=NAME if shuffled else None) as server:
        for name in CLIENTS:
            client = Round(opened.description, Policy(max_epsilon=4), tokens=True)
            with pytest.raises(InvalidParameter, match="must be there before a report"):
                client.encode(row)
            with parties.ask(name) as issuer:
                issuer.fetch(client)
                issuer.fetch(client)  # as after an answer that was lost
            report = client.encode(row)
            assert len(report.token) > 256
            if not shuffled:
                seed = hashlib.sha256(b"hushgrad report seed" + report.token).digest()[:4]
                assert bytes(report)[:4] == seed
                free = Reports(bytes([report[0] ^ 1, *report[1:]]))
                with pytest.raises(BadReport, match="must have the seed"):
                    server.submit(opened, free, token=report.token)
            assert server.submit(opened, report) == Receipt(1, 0)
            again = Reports(bytes(report))
            assert server.submit(opened, again, token=report.token) == Receipt(0, 1)
            with pytest.raises(InvalidParameter, match="one that is spent"):
                client.encode(row)
            second = Round(opened.description, Policy(max_epsilon=4), tokens=True)
            with parties.ask(name) as issuer, pytest.raises(ServerRefused) as refused:
                issuer.fetch(second)
            assert refused.value.code == "ALREADY_EXISTS"
    with Operator.connect(parties.operators) as operator:
        operator.close_round(opened.id)
        assert operator.estimate(opened.id).reports == len(CLIENTS)


def test_tokens_of_many_rounds(parties: Parties, row: NDArray[np.float32]) -> None:
    rounds = [
        Round(parties.open(f"ahead-{n}", shuffled=n == 1).description, POLICY, tokens=True)
        for n in range(3)
    ]
    with parties.ask("anna") as issuer:
        issuer.fetch(*rounds)
        plain = Round(new_round(id="plain-ahead").description, POLICY, tokens=True)
        with pytest.raises(InvalidParameter, match="must ask for tokens"):
            issuer.fetch(plain)
    with Client.connect(parties.clients) as server:
        for round_ in (rounds[0], rounds[2]):
            assert server.submit(round_, round_.encode(row)) == Receipt(1, 0)
    ca = str(parties.folder / "ca.pem")
    with Client.connect(parties.shuffler, ca=ca, name=NAME) as shuffler:
        assert shuffler.submit(rounds[1], rounds[1].encode(row)) == Receipt(1, 0)


def test_what_is_refused(parties: Parties, row: NDArray[np.float32]) -> None:
    opened = parties.open("refused", shuffled=False)
    with pytest.raises(PolicyRefused, match="this program fetches no tokens"):
        Round(opened.description, Policy(max_epsilon=4))
    client = Round(opened.description, Policy(max_epsilon=4), tokens=True)
    stranger = hashlib.sha256(b"stranger").hexdigest()
    with parties.ask("", stranger) as issuer, pytest.raises(ServerRefused) as refused:
        issuer.fetch(client)
    assert refused.value.code == "UNAUTHENTICATED"
    with pytest.raises(InvalidParameter, match="needs ca: it must not leave without TLS"):
        Issuer.connect("127.0.0.1:7119", bearer="secret")
    with pytest.raises(InvalidParameter, match="blind_signature"):
        client.take_tokens([bytes(256)])
    with Client.connect(parties.clients) as server:
        with pytest.raises(InvalidParameter, match="the round asks for one"):
            server.submit(opened, Reports(bytes(opened.report_bytes)))
        with pytest.raises(ServerRefused):
            server.submit(opened, Reports(bytes(opened.report_bytes)), token=bytes(354))
    with Operator.connect(parties.operators) as operator:
        with pytest.raises(InvalidParameter, match="must have two"):
            operator.open_round(new_round(id="one-key"), issuer_keys="no PEM")
        plain = operator.open_round(new_round(id="plain"))
    with Client.connect(parties.clients) as server:
        report = Round(plain.description, Policy(max_epsilon=4), tokens=True).encode(row)
        assert report.token == b""
        with pytest.raises(InvalidParameter, match="the round asks for no tokens"):
            server.submit(plain, report, token=bytes(354))


def test_requests_end_with_their_helper(parties: Parties, row: NDArray[np.float32]) -> None:
    opened = parties.open("lost", shuffled=False)
    client = Round(opened.description, Policy(max_epsilon=4), tokens=True)
    copied = pickle.loads(pickle.dumps(client))
    assert copied.token_requests != client.token_requests
    with parties.ask("anna") as issuer:
        issuer.fetch(client)
    os.kill(_bridge.helper().pid, signal.SIGKILL)
    with pytest.raises(HelperFailed):
        client.encode(row)
    with pytest.raises(HelperFailed, match="the issuer signs no others"):
        client.encode(row)
