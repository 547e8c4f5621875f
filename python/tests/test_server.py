"""The aggregator over gRPC, against a real ``hushgrad serve``."""

from __future__ import annotations

import math
import pickle
import threading
from collections.abc import Iterator
from copy import copy
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import new_round
from daemons import Daemon, Server, free_address
from numpy.typing import NDArray

from hushgrad import BadReport, HushgradError, InvalidParameter, Policy, Reports, Round

pytest.importorskip("grpc")
from hushgrad.server import (
    Client,
    Model,
    Operator,
    Receipt,
    ServerRefused,
    ServerUnreachable,
    connect,
    messages,
)

Row = NDArray[np.float32]


@pytest.fixture(scope="module")
def server(command: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a running server."""
    made = Server(command, tmp_path_factory.mktemp("server"), free_address(), free_address())
    with made.start():
        yield made


@pytest.fixture
def operator(server: Server) -> Iterator[Operator]:
    """Return its operator."""
    with Operator.connect(server.operators) as made:
        yield made


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    """Return somebody who brings reports."""
    with Client.connect(server.clients) as made:
        yield made


def reports_of(round_: Round, rows: NDArray[Any]) -> Reports:
    """Return the reports of clients that accept the round."""
    policy = Policy(max_epsilon=20.0, max_delta=1e-6, trust_shuffler=True)
    return Round(round_.description, policy).encode(rows)


SAME = [
    {"mechanism": "coco", "dim": 3000, "columns": ["plus", "frequency"]},
    {"mechanism": "auto", "dim": 3000},
    {"mechanism": "privunit", "dim": 64, "sparsity": None, "scale": 1.0},
    {"mechanism": "laplace", "dim": 64, "sparsity": None, "scale": 1.0},
    # Reports of sumdp vary in length.
    {"mechanism": "sumdp", "dim": 40, "sparsity": None, "epsilon": 1.0, "delta": 1e-6},
]


@pytest.mark.parametrize("changes", SAME, ids=lambda c: c["mechanism"])
def test_the_estimate_over_grpc_is_that_in_process_bit_for_bit(
    operator: Operator, client: Client, changes: dict[str, Any]
) -> None:
    name = f"same-{changes['mechanism']}"
    opened = operator.open_round(new_round(**{"id": name, "min_reports": 50, **changes}))
    rows = np.random.default_rng(1).normal(0, 0.1, (50, opened.dim)).astype(np.float32)
    reports = reports_of(opened, rows)
    assert client.submit(opened, reports) == Receipt(accepted=50, duplicates=0)
    assert operator.close_round(name).state == "closed"
    far, counts = operator.estimate(name), opened.aggregator()
    counts.add(reports)
    near = counts.estimate()
    assert far.mean.tobytes() == near.mean.tobytes()
    assert far.std_err.tobytes() == near.std_err.tobytes()
    assert far.noise_norm == near.noise_norm > 0
    assert (far.reports, far.guarantee) == (near.reports, near.guarantee)
    assert list(far.columns) == list(near.columns)
    for column, series in near.columns.items():
        assert far.columns[column].value.tobytes() == series.value.tobytes()


def test_many_reports_go_in_several_batches(operator: Operator, client: Client) -> None:
    opened = operator.open_round(new_round(id="many"))
    rows = np.zeros((140_000, 4), np.float32)
    assert client.submit(opened, reports_of(opened, rows)).accepted == len(rows)
    assert operator.status("many").reports == len(rows)
    assert client.round("many").reports == 100_000  # clients see a round number


def test_a_key_counts_reports_once(operator: Operator, client: Client, row: Row) -> None:
    opened = operator.open_round(new_round(id="once"))
    reports = reports_of(opened, np.stack([row] * 3))
    assert client.submit(opened, reports, key=b"k" * 16) == Receipt(accepted=3, duplicates=0)
    assert client.submit(opened, reports, key=b"k" * 16) == Receipt(accepted=0, duplicates=3)
    with pytest.raises(InvalidParameter) as refused:
        client.submit(opened, reports[: -opened.report_bytes], key=b"k" * 16)
    assert refused.value.param == "batch_key"


def test_reports_that_are_submitted_again_count_once(
    operator: Operator, client: Client, server: Server, row: Row
) -> None:
    opened = operator.open_round(new_round(id="again"))
    mine, other = (reports_of(opened, np.stack([row] * 3)) for _ in range(2))
    assert client.submit(opened, mine) == Receipt(accepted=3, duplicates=0)
    assert client.submit(opened, mine) == Receipt(accepted=0, duplicates=3)
    with Client.connect(server.clients) as later:  # of another connection, or another process
        assert later.submit(opened, pickle.loads(pickle.dumps(mine))) == Receipt(0, 3)
    assert client.submit(opened, other) == Receipt(accepted=3, duplicates=0)
    # Joined reports are of several clients, and nobody but the caller has their key.
    with pytest.raises(InvalidParameter, match=r"secrets\.token_bytes\(16\)") as refused:
        client.submit(opened, mine + other)
    assert refused.value.param == "key"
    assert operator.status("again").reports == 6


def test_equal_reports_of_two_clients_both_count(operator: Operator, client: Client) -> None:
    exact = new_round(id="equal", mechanism="none", epsilon=math.inf, sparsity=None)
    opened = operator.open_round(exact)
    client_round = Round(opened.description, Policy(max_epsilon=math.inf))
    one, two = (client_round.encode(np.ones(4)) for _ in range(2))
    assert one == two
    assert [client.submit(opened, each).accepted for each in (one, two)] == [1, 1]


def test_a_server_that_is_killed_in_between_counts_once(
    command: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: Row
) -> None:
    server = Server(command, tmp_path, free_address(), free_address())
    with server.start() as first, Operator.connect(server.operators) as operator:
        opened = operator.open_round(new_round(id="killed", min_reports=2))
        reports = reports_of(opened, np.stack([row, row]))
        with Client.connect(server.clients) as client:
            client.submit(opened, reports, key=b"k" * 16)
        first.process.kill()
        first.process.wait(timeout=30)
    started: list[Daemon] = []

    def start_again(attempt: int) -> float:
        if not started:
            started.append(server.start().__enter__())
        return 0.1 * 2**attempt

    monkeypatch.setattr("hushgrad.server.calls._pause", start_again)
    try:
        with Client.connect(server.clients) as client:
            assert client.submit(opened, reports, key=b"k" * 16) == Receipt(0, 2)
    finally:
        for daemon in started:
            daemon.__exit__()


def test_the_life_of_a_round_is_seen(operator: Operator, client: Client, row: Row) -> None:
    deadline = datetime.now(timezone.utc) + timedelta(hours=1)
    opened = operator.open_round(new_round(id="life"), deadline=deadline)
    assert client.round().id == "life"
    assert client.round("life").description == opened.description
    assert client.round("life").opened is None
    status = operator.status("life")
    assert (status.state, status.reports, status.ended, status.closing) == ("open", 0, None, False)
    assert status.opened is not None
    assert abs((status.opened - datetime.now(timezone.utc)).total_seconds()) < 600
    assert operator.abort_round("life").state == "aborted"
    assert [s.state for s in operator.rounds() if s.id == "life"] == ["aborted"]
    with pytest.raises(ServerRefused) as refused:
        client.submit(opened, reports_of(opened, row))
    assert refused.value.code == "FAILED_PRECONDITION"


def test_an_estimate_is_waited_for(server: Server, operator: Operator, client: Client) -> None:
    opened = operator.open_round(new_round(id="wait"))
    client.submit(opened, reports_of(opened, np.zeros((3, 4))))
    with pytest.raises(ServerRefused) as refused:
        operator.estimate("wait")
    assert refused.value.code == "FAILED_PRECONDITION"
    with pytest.raises(ServerUnreachable):
        operator.estimate("wait", wait=True, timeout=0.1)
    found: list[int] = []

    def wait() -> None:
        with Operator.connect(server.operators) as other:
            found.append(other.estimate("wait", wait=True).reports)

    waiting = threading.Thread(target=wait)
    waiting.start()
    operator.close_round("wait")
    waiting.join(timeout=60)
    assert found == [3]


def test_models_go_to_the_server_and_come_back(operator: Operator, client: Client) -> None:
    for data in (b"1", bytes(range(256)) * 12_000):
        version = operator.put_model("application/x-npy", data)
        assert client.model() == Model(version, "application/x-npy", data)


def test_a_refusal_names_the_field(operator: Operator, client: Client, row: Row) -> None:
    opened = operator.open_round(new_round(id="named"))
    reports = reports_of(opened, row)
    taken, naive, key = new_round(id="named"), datetime(2100, 1, 1), b"k" * 16
    cases: list[tuple[type[HushgradError], str, Any]] = [
        (InvalidParameter, "round.shuffler", lambda: operator.open_round(taken, shuffler="a b")),
        (InvalidParameter, "deadline", lambda: operator.open_round(taken, deadline=naive)),
        (ServerRefused, "round.id", lambda: operator.open_round(taken)),
        (ServerRefused, "round_id", lambda: operator.close_round("named")),
        (ServerRefused, "round_id", lambda: client.round("unknown")),
        (InvalidParameter, "round_id", lambda: operator.status("unknown")),
        (InvalidParameter, "timeout", lambda: operator.close_round("named", timeout=0)),
        (BadReport, "reports", lambda: client.submit(opened, b"\xff" * len(reports), key=key)),
        (InvalidParameter, "reports", lambda: client.submit(opened, reports + b"1")),
        (InvalidParameter, "reports", lambda: client.submit(opened, b"")),
        (InvalidParameter, "key", lambda: client.submit(opened, reports, key=b"short")),
    ]
    for error, param, call in cases:
        with pytest.raises(error) as refused:
            call()
        assert (type(refused.value), refused.value.param) == (error, param)
        assert error is BadReport or (refused.value.got and refused.value.rule)
        again = pickle.loads(pickle.dumps(refused.value))
        assert (type(again), str(again)) == (error, str(refused.value))


def test_reports_of_another_round_are_refused(operator: Operator, client: Client, row: Row) -> None:
    operator.open_round(new_round(id="mine"))
    other = new_round(id="mine")
    with pytest.raises(ServerRefused) as refused:
        client.submit(other, reports_of(other, row))
    assert (refused.value.code, refused.value.param) == ("FAILED_PRECONDITION", "round_digest")


def test_a_round_that_asks_for_tokens_is_refused(client: Client) -> None:
    asks = messages.Round.FromString(new_round().description)
    asks.issuer_key = b"key"
    round_ = copy(new_round())
    round_.description = asks.SerializeToString(deterministic=True)
    with pytest.raises(InvalidParameter, match="asks for one"):
        client.submit(round_, b"12345")


def test_nobody_at_the_other_end_is_an_error() -> None:
    nobody = free_address()
    with Operator.connect(nobody) as operator, pytest.raises(ServerUnreachable) as error:
        operator.rounds()
    assert error.value.code == "UNAVAILABLE"
    assert isinstance(error.value, ConnectionError)
    with Client.connect(nobody, timeout=0.2) as client, pytest.raises(ServerUnreachable):
        client.round()


@pytest.mark.parametrize(
    ("arguments", "param"),
    [
        ({"target": "example.com:7118"}, "target"),
        ({"target": "127.0.0.1"}, "target"),
        ({"target": "127.0.0.1:1", "cert": "c"}, "cert and key"),
        ({"target": "127.0.0.1:1", "cert": "c", "key": "k"}, "cert"),
        ({"target": "127.0.0.1:1", "name": "n"}, "name"),
        ({"target": "127.0.0.1:1", "ca": __file__}, "ca"),
    ],
)
def test_a_connection_without_tls_stays_on_this_machine(
    arguments: dict[str, Any], param: str
) -> None:
    with pytest.raises(InvalidParameter) as refused:
        connect(**arguments)
    assert refused.value.param == param


@pytest.mark.parametrize(
    ("target", "rule"),
    [(None, "must be a text"), ("127.0.0.1", "a port"), ("server.example:7118", "loopback")],
)
def test_an_address_that_cannot_be_is_named(target: Any, rule: str) -> None:
    with pytest.raises(InvalidParameter, match=rule) as refused:
        Client.connect(target)
    assert refused.value.param == "target"


def test_wrong_arguments_are_named_before_a_call(operator: Operator, client: Client) -> None:
    wrong: Any = 5
    text: Any = "text"
    several: Any = [b"12345"]
    with pytest.raises(InvalidParameter, match="timeout"):
        Client.connect("127.0.0.1:1", timeout=text)
    for call in (client.round, operator.close_round, operator.abort_round, operator.estimate):
        with pytest.raises(InvalidParameter) as refused:
            call(wrong)
        assert refused.value.param == "round_id"
    for reports in (text, several):
        with pytest.raises(InvalidParameter) as refused:
            client.submit(new_round(), reports)
        assert (refused.value.param, refused.value.rule) == ("reports", "must be bytes")
    with pytest.raises(InvalidParameter, match="key: got 'text'"):
        client.submit(new_round(), b"12345", key=text)
    with pytest.raises(InvalidParameter, match="data: got 'text'"):
        operator.put_model("a/b", text)
    with pytest.raises(InvalidParameter, match="deadline"):
        operator.open_round(new_round(id="late"), deadline=text)


def test_a_call_of_the_other_listener_says_so(server: Server) -> None:
    with (
        Operator.connect(server.clients) as wrong,
        pytest.raises(ServerRefused, match="another listener") as refused,
    ):
        wrong.rounds()
    assert refused.value.code == "UNIMPLEMENTED"
