"""Flower: a SuperLink and its SuperNodes, as the pages of the docs start them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("flwr")

from flower_engine import Processes, free_port
from mnist import write
from pages import DOCS, blocks, needs_docs

from hushgrad import Ledger

HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "examples" / "flower-mnist"

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="runs the page in a Linux shell"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="makes certificates"),
    pytest.mark.skipif(not EXAMPLE.is_dir(), reason="the source distribution has no example"),
]


def page(flower: Processes, ports: dict[str, int]) -> list[str]:
    """Return the shell blocks of the page's second part, for free ports and the data here."""
    commands = blocks(EXAMPLE / "README.md", "sh")[-4:]
    changes = {
        "--port 910$i": "--port $((" + str(ports["node"]) + " + i))",
        "--port 8000": f"--port {ports['superlink']}",
        "127.0.0.1:8000": f"127.0.0.1:{ports['superlink']}",
        "python/examples/flower-mnist": str(EXAMPLE),
        "/path/to/mnist": str(flower.folder),
    }
    for old, new in changes.items():
        assert any(old in block for block in commands)
        commands = [block.replace(old, new) for block in commands]
    return commands


@pytest.fixture(scope="module")
def federation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Processes, str]]:
    """Start what the page starts. Return it with the page's last command, which trains."""
    folder = tmp_path_factory.mktemp("federation")
    write(folder, "train", 60)
    write(folder, "t10k", 20)
    with Processes(folder) as flower:
        ports = {"superlink": free_port(), "node": free_port(3)}
        certificates, superlink, nodes, train = page(flower, ports)
        assert train.count("flwr run") == 1
        configure, train = train.split("flwr run")
        flower.start(
            "federation", "bash", "-eu", "-c", f"{certificates}{superlink}{nodes}{configure}wait"
        )
        for port in (ports["superlink"], *(ports["node"] + i for i in range(3))):
            flower.listening(port)
        yield flower, train


def spent(flower: Processes) -> list[float]:
    """Return what the ledgers of the nodes have paid."""
    result: list[float] = []
    for node in range(3):
        with Ledger(flower.folder / f"node{node}.ledger", "flower", must_exist=True) as ledger:
            result.append(ledger.spent().epsilon)
    return result


def test_what_is_wrong_fails_closed_with_a_name(federation: tuple[Processes, str]) -> None:
    flower, _ = federation
    printed, run = flower.run(HERE / "testdata" / "flower-faults", "three-nodes")
    (line,) = re.findall(r"^\{\"errors\".*\}$", printed, re.MULTILINE)
    got = json.loads(line)
    errors = sorted(str(error) for error in got["errors"])
    assert all(error.startswith("hushgrad refused: ") for error in errors), errors
    assert "dim: got 7" in errors[0], errors
    assert "epsilon" in errors[1], errors  # the app accepts it, and the node does not
    assert "20" in errors[1], errors
    assert "HushgradAggregation" in errors[2], errors
    assert [got[f"hushgrad.{n}"] for n in ("reports", "refused", "failed")] == [1, 0, 2]
    assert got["stepped"] is False
    assert run["status"] == "finished:failed"
    assert "HushgradMod" in run["status-details"]
    assert spent(flower) == [0.5, 0.5, 0.5]  # nothing was charged for what was refused


def values(printed: str, metric: str) -> list[float]:
    """Return a metric of all rounds, from what a run prints at its end."""
    _, found, ended = printed.partition("Aggregated ClientApp-side Train Metrics")
    assert found, printed
    return [float(x) for x in re.findall(rf"'{re.escape(metric)}': '?([0-9.e+-]+)", ended)]


def test_a_run_ends_when_the_budgets_end(federation: tuple[Processes, str]) -> None:
    flower, train = federation
    command = shlex.split(train.replace("\\\n", " "))
    printed = flower.flwr("run", *command)
    assert values(printed, "hushgrad.reports") == [3, 3, 0], printed + flower.logs()
    assert values(printed, "hushgrad.refused") == [0, 0, 3]
    assert values(printed, "hushgrad.failed") == [0, 0, 0]
    assert values(printed, "hushgrad.epsilon-local-total") == [4.5, 9.0]
    assert len(values(printed, "accuracy")) == 4
    assert spent(flower) == [9.5, 9.5, 9.5]

    printed = flower.flwr("run", *(given.replace("rounds=3", "rounds=1") for given in command))
    assert values(printed, "hushgrad.reports") == [0], printed + flower.logs()
    assert values(printed, "hushgrad.refused") == [3]
    assert len(re.findall("hushgrad refused: .*budget", printed)) == 3, printed
    assert spent(flower) == [9.5, 9.5, 9.5]


@needs_docs
def test_ten_nodes_train_with_two_servers(tmp_path: Path) -> None:
    (recipe,) = (
        block for block in blocks(DOCS / "flower.md", "sh") if "hushgrad-share-key=" in block
    )
    addresses = {name: f"127.0.0.1:{free_port()}" for name in ("serve", "7118", "7120", "7124")}
    changes = {
        "hushgrad serve --data serve.data --sh": f"hushgrad serve --data serve.data --listen "
        f"{addresses['serve']} --operator-listen 127.0.0.1:7118 --sh",
        "--floor 10": "--floor 10 --listen 127.0.0.1:7124",
        **{f"127.0.0.1:{port}": addresses[port] for port in ("7118", "7120", "7124")},
        "--port 910$i": f"--port $(({free_port(10)} + i))",
    }
    port = str(free_port())
    for old, new in {**changes, "--port 8000": f"--port {port}", ":8000": f":{port}"}.items():
        assert old in recipe
        recipe = recipe.replace(old, new)
    with Processes(tmp_path) as flower:
        flower.start("recipe", "bash", "-eu", "-c", f"{recipe}wait")
        printed = flower.printed("recipe", "log serve.example/log: ")
    assert values(printed, "hushgrad.reports") == [10], printed
    assert values(printed, "hushgrad.epsilon-two-servers") == [8]
    assert "gaussian-shares of 20 coordinates" in printed  # of the log's entry
    (noise,) = values(printed, "hushgrad.std-err")
    (mean,) = re.findall("mean of the weights: ([-0-9.e]+)", printed)
    # The mean of 20 numbers, 6 standard errors: a false alarm in 10^8 runs.
    assert abs(float(mean) - 0.2) < 6 * noise / 20**0.5
    for node in range(10):
        path = tmp_path / "two-servers" / f"node{node}.ledger"
        with Ledger(path, "flower", must_exist=True) as ledger:
            assert 0 < ledger.spent().epsilon <= 8
