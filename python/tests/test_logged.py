"""Rounds that are proved to be in the log of a real server, which a real witness signs."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

import hashlib
import os
import pickle
import signal
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import new_round
from daemons import Daemon, Server, free_address
from numpy.typing import NDArray

from hushgrad import InvalidParameter, Policy, PolicyRefused, Round, _bridge

pytest.importorskip("grpc")
from hushgrad.federated import Shuffled
from hushgrad.server import Client, Operator

NAME = "shuffler.test"


@dataclass
class Logged:
    """A server with a log, a shuffler before it, and a witness that looks when it is asked to."""

    command: Path
    folder: Path
    clients: str
    operators: str
    shuffler: str
    web: str
    log_key: str
    witness: str
    stranger: str

    def sign(self) -> None:
        """Let the witness look once."""
        subprocess.run(
            [
                *(self.command, "log", "witness", "--once", "--key", self.log_key),
                *("--log", f"http://{self.web}/log/", "--state", self.folder / "witness.state"),
                *("--key-file", self.folder / "witness.test"),
            ],
            check=True,
            capture_output=True,
            timeout=60,
        )

    def shuffled(self, operator: Operator, shuffler: Client, **more: Any) -> Shuffled:
        """Return where sealed reports go."""
        return Shuffled(operator, shuffler, NAME, log_key=self.log_key, **more)

    def settings(self, fingerprint: str) -> dict[str, Any]:
        """Return the settings of a node that demands the log and the witness."""
        given = {
            "max-epsilon": 4.0,
            "shuffler": NAME,
            "seal-key": fingerprint,
            "max-central-epsilon": 4.0,
            "log-key": self.log_key,
            "witnesses": self.witness,
        }
        return {f"hushgrad-{name}": value for name, value in given.items()}


@pytest.fixture(scope="module")
def logged(command: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Logged]:
    """Start the server and the shuffler."""
    folder = tmp_path_factory.mktemp("logged")

    def made(name: str, use: str) -> str:
        call = (command, "log", "key", "--name", name, "--for", use, "--out", folder / name)
        return subprocess.run(
            call, check=True, capture_output=True, text=True, timeout=60
        ).stdout.strip()

    key, stranger = made("log.test", "server"), made("stranger.test", "server")
    witness = made("witness.test", "witness")
    clients, operators, shuffles, web = (free_address() for _ in range(4))
    parties = Logged(*(command, folder, clients, operators, shuffles, web), key, witness, stranger)
    upstream = free_address()
    server = Server(command, folder, parties.clients, parties.operators).start(
        *("--log", str(folder / "log-of-rounds"), "--log-key-file", str(folder / "log.test")),
        *("--log-witness", witness, "--http", parties.web, "--shuffler-listen", upstream),
    )
    shuffler = Daemon(
        command,
        *("shuffle", "--name", NAME, "--floor", "1", "--data", str(folder / "shuffle")),
        *("--listen", parties.shuffler, "--upstream", upstream, "--log-level", "warn"),
        log=folder / "shuffle.log",
    )
    with server, shuffler:
        yield parties


def accept(logged: Logged, description: bytes, proof: bytes, **demands: Any) -> Round:
    """Open a round under a policy that demands the log."""
    given: dict[str, Any] = {"log_key": logged.log_key, **demands}
    return Round(description, Policy(4.0, **given), log_proof=proof)


def test_a_client_takes_part_in_rounds_of_the_log_alone(
    logged: Logged, row: NDArray[np.float32]
) -> None:
    with Operator.connect(logged.operators) as operator, Client.connect(logged.clients) as client:
        shown = [
            client.round(operator.open_round(new_round(id=name)).id) for name in ("one", "two")
        ]
    description, proof = shown[0].description, shown[0].log_proof
    assert accept(logged, description, proof).encode(row)
    for name, other in (("nothing", b""), ("be about the round", shown[1].log_proof)):
        with pytest.raises(PolicyRefused, match=name):
            accept(logged, description, other)
    with pytest.raises(PolicyRefused, match="not signed by this key"):
        accept(logged, description, proof, log_key=logged.stranger)
    with pytest.raises(PolicyRefused, match=r"no signature of witness\.test"):
        accept(logged, description, proof, witnesses=(logged.witness,))
    with pytest.raises(InvalidParameter, match="log_key"):
        accept(logged, description, proof, log_key="", witnesses=(logged.witness,))
    with pytest.raises(InvalidParameter, match="witnesses"):
        accept(logged, description, proof, witnesses=("k",))
    logged.sign()
    with Client.connect(logged.clients) as client:
        proof = client.round("one").log_proof
    opened = accept(logged, description, proof, witnesses=(logged.witness,))
    assert pickle.loads(pickle.dumps(opened)).encode(row)
    os.kill(_bridge.helper().pid, signal.SIGKILL)
    assert opened.encode(row)


def test_a_round_waits_for_its_witness(logged: Logged) -> None:
    with (
        Operator.connect(logged.operators) as operator,
        Client.connect(logged.shuffler) as shuffler,
    ):
        parties = (operator, shuffler)
        given: dict[str, Any] = {"witnesses": (logged.witness,)}
        with pytest.raises(PolicyRefused, match=r"no signature of witness\.test"):
            logged.shuffled(*parties, **given, patience=0.2).open(new_round(id="late"))
        assert [r.state for r in operator.rounds() if r.id == "late"] == ["aborted"]
        other = Shuffled(*parties, NAME, log_key=logged.stranger, **given)
        with pytest.MonkeyPatch.context() as patched:
            patched.delattr("time.sleep")  # nothing is waited for
            with pytest.raises(PolicyRefused, match="not signed by this key"):
                other.open(new_round(id="another-log"))
        with pytest.raises(InvalidParameter, match="witnesses"):
            Shuffled(*parties, NAME, **given)
        later = threading.Timer(1, logged.sign)
        later.start()
        opened = logged.shuffled(*parties, **given, patience=60).open(new_round(id="signed"))
        later.join()
    opened.check_log(logged.log_key, (logged.witness,), opened.log_proof)


def test_nodes_of_flower_demand_the_log(logged: Logged, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("flwr")
    from flower_messages import Nodes, be_a_task, context, model, never, reason, trained
    from flwr.app import ConfigRecord
    from flwr.serverapp.strategy import FedAvg

    from hushgrad.flower import HushgradAggregation, HushgradMod

    be_a_task(monkeypatch)
    with (
        Operator.connect(logged.operators) as operator,
        Client.connect(logged.shuffler) as shuffler,
    ):
        strategy = HushgradAggregation(
            FedAvg(),
            epsilon=4,
            scale=2,
            sparsity=2,
            mechanism="coco",
            shuffled=logged.shuffled(operator, shuffler, witnesses=(logged.witness,), patience=60),
        )
        later = threading.Timer(1, logged.sign)
        later.start()
        message = next(iter(strategy.configure_train(1, model(), ConfigRecord(), Nodes())))
        later.join()
        fingerprint = _fingerprint(operator)
    node = context(**logged.settings(fingerprint))
    assert not HushgradMod()(message, node, trained).has_error()
    del message.content.config_records["hushgrad"]["log_proof"]
    assert "in the log" in reason(HushgradMod()(message, node, never))


def test_sites_of_nvflare_demand_the_log(logged: Logged) -> None:
    pytest.importorskip("nvflare")
    from nvflare.apis.dxo import DXO, DataKind, MetaKey
    from nvflare.apis.event_type import EventType
    from nvflare.apis.fl_context import FLContext
    from nvflare_site import Site, model, params, send

    from hushgrad.evaluation import Metrics, ask
    from hushgrad.nvflare import HushgradAggregator
    from hushgrad.nvflare import messages as m

    where = {"operator": logged.operators, "shuffler": logged.shuffler, "name": NAME}
    log = {"log_key": logged.log_key, "witnesses": [logged.witness], "patience": 60}
    question = ask(Metrics({"accuracy": (0, 1)}), clients=10, budget=4, force=True)
    aggregator = HushgradAggregator(
        *(4, 2, 2, "coco", {"sparsity": 2}), shuffled={**where, **log}, evaluation=question
    )
    signing = [threading.Timer(seconds, logged.sign) for seconds in (1, 2, 3)]  # of both rounds
    for each in signing:
        each.start()
    sent = send(aggregator)
    for each in signing:
        each.join()
    with Operator.connect(logged.operators) as operator:
        scope = logged.settings(_fingerprint(operator))
    about = {MetaKey.INITIAL_METRICS: {"accuracy": 0.75}}

    def answered() -> dict[str, Any]:
        trained = DXO(DataKind.WEIGHTS, data=model(1), meta=about).to_shareable()
        return params(Site(scope=scope, own=True).answer(sent, trained))

    assert {m.REPORT, m.ANSWER} <= answered().keys()
    sent.set_header(m.LOG_PROOF, None)
    asked: dict[str, Any] = sent.get_header(m.QUESTION) or {}
    sent.set_header(m.QUESTION, {**asked, "log_proof": None})
    refused = answered()
    assert "log_proof: must be there" in refused[m.REFUSED]
    assert "log_proof: must be there" in refused[m.UNANSWERED]
    aggregator.handle_event(EventType.END_RUN, FLContext())


def _fingerprint(operator: Operator) -> str:
    """Return the fingerprint of the key to which the newest round is sealed."""
    newest = operator.rounds()[-1]
    return hashlib.sha256(Round(newest.description).seal_key).hexdigest()
