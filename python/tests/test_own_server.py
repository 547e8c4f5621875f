"""The code of the page "In your own server" runs as it stands."""

from __future__ import annotations

import hashlib
import runpy
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pytest
from conftest import KEY, new_round
from daemons import Server, free_address
from pages import DOCS, needs_docs, saved

from hushgrad import AlreadyCharged, Ledger, Policy, Round

pytestmark = needs_docs
PAGE = DOCS / "own-server.md"
CLIENTS = 20


@pytest.fixture
def run(tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    """Return what runs a file of the page and returns its names."""
    saved(PAGE, tmp_path)
    return lambda name: runpy.run_path(str(tmp_path / name), run_name=name)


def test_the_programs_of_the_page_start_from_their_folder(tmp_path: Path) -> None:
    pytest.importorskip("flask")
    pytest.importorskip("grpc")
    files = saved(PAGE, tmp_path)
    assert [file.name for file in files] == ["server.py", "client.py", "aggregate.py", "pinned.py"]
    for file in files:
        done = subprocess.run(
            [sys.executable, file.name], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stderr) == (0, ""), file.name


@contextmanager
def listening(app: Any) -> Generator[str, None, None]:
    """Serve a Flask app over HTTP and yield its address."""
    serving = pytest.importorskip("werkzeug.serving")
    server = serving.make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(timeout=30)
        server.server_close()


def test_a_server_of_thirty_lines_estimates_what_its_clients_send(
    tmp_path: Path, run: Callable[[str], dict[str, Any]]
) -> None:
    pytest.importorskip("flask")
    server, client = run("server.py"), run("client.py")
    gradient = np.zeros(7850, np.float32)
    gradient[0] = 12.8  # all that the round's clip leaves
    with listening(server["app"]) as address:
        for i in range(CLIENTS):
            with pytest.raises(ValueError, match="report"):
                server["counts"].estimate()
            with Ledger(str(tmp_path / f"{i}"), "training", must_exist=False) as ledger:
                ledger.set_budget(epsilon=4)
                client["send"](address, gradient, ledger)
                with pytest.raises(AlreadyCharged):
                    client["send"](address, gradient, ledger)
        size, digest = server["round_"].report_bytes, server["round_"].digest
        for data, code in ((b"x", 400), (b"\xff" * size, 400), (b"x" * (size + 1), 413)):
            assert status(f"{address}/report/{digest}", data) == code
        # The server began again with another round: a report of it would count.
        other = run("server.py")["round_"]
        late = Round(other.description, Policy(max_epsilon=4)).encode(gradient)
        assert other.id == server["round_"].id
        assert status(f"{address}/report/{other.digest}", late) == 409
        estimate = server["close"]()
        assert status(f"{address}/report/{digest}", bytes(size)) == 409
    assert estimate.reports == CLIENTS
    after = Round(server["round_"].description).aggregator(server["counts"].snapshot()).estimate()
    assert after.mean.tobytes() == estimate.mean.tobytes()
    # Reports are random. A normal variable is beyond 6 standard errors once in 5e8 tries.
    assert abs(estimate.mean[0] - gradient[0]) < 6 * estimate.std_err[0]


def status(address: str, data: bytes) -> int:
    """Return the status of the answer to a post."""
    try:
        with urlopen(Request(address, data=data), timeout=30) as answer:
            return answer.status
    except HTTPError as error:
        return error.code


def test_hushgrad_serve_counts_for_a_server(
    command: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[[str], dict[str, Any]],
) -> None:
    pytest.importorskip("grpc")
    from hushgrad import server as grpc_server

    where = {"127.0.0.1:7117": free_address(), "127.0.0.1:7118": free_address()}

    def dial(target: str, **_: object) -> Any:
        return connect(where[target])

    connect = grpc_server.connect
    monkeypatch.setattr("hushgrad.server.calls.connect", dial)
    with Server(command, tmp_path, *where.values()).start():
        names = run("aggregate.py")
        with names["Operator"].connect("127.0.0.1:7118") as operator:
            opened = names["open_round"](operator)
        client = Round(opened.description, Policy(max_epsilon=4, min_reports=CLIENTS))
        reports = [client.encode(np.zeros(7850, np.float32)) for _ in range(CLIENTS)]
        estimate = names["aggregate"](opened, reports, b"k" * 16)
    counts = opened.aggregator()
    counts.add(b"".join(reports))
    assert estimate.mean.tobytes() == counts.estimate().mean.tobytes()


def test_a_policy_of_the_page_pins_a_shuffler_and_a_key(
    run: Callable[[str], dict[str, Any]],
) -> None:
    policy = run("pinned.py")["policy"](hashlib.sha256(KEY).hexdigest())
    round_ = new_round(shuffler="shuffler.example", seal_key=KEY, min_reports=10_000)
    assert Round(round_.description, policy).central is not None
