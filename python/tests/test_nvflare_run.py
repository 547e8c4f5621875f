"""NVFlare's own server and sites: the simulator, and real processes in POC mode."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("nvflare")

import psutil
from mnist import write

from hushgrad import Ledger

HERE = Path(__file__).resolve().parent
JOB = HERE.parent / "examples" / "nvflare-mnist" / "job.py"
TIMEOUT = 600.0  # seconds, on a machine that does other work


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with tiny data in the form of MNIST."""
    folder = tmp_path / "data"
    folder.mkdir()
    write(folder, "train", 1000)
    write(folder, "t10k", 200)
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Path]:
    """Return a folder, and end all processes that a test has left there."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    yield folder
    running = [p for p in psutil.process_iter(["cmdline"]) if _is_of(p, folder)]
    _, left = psutil.wait_procs(running, timeout=30)
    for process in left:
        process.kill()
    assert not left, f"{len(left)} processes are left"


def _is_of(process: psutil.Process, folder: Path) -> bool:
    return any(str(folder) in word for word in process.info["cmdline"] or ())


def run(workspace: Path, *command: object, code: int = 0) -> str:
    """Run a program and return what it printed."""
    home = workspace / "home"
    home.mkdir()
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        env=os.environ | {"HOME": str(home)},
        cwd=workspace,
        timeout=TIMEOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == code, done.stdout[-5000:]
    return done.stdout


def reports(log: str) -> list[list[int]]:
    """Return the reports, refusals and failures of each round."""
    found = re.findall(r"round-\d+: reports (\d+), refused (\d+), failed (\d+)", log)
    return [[int(n) for n in counts] for counts in found]


def test_the_example_learns_in_the_simulator(workspace: Path, data: Path) -> None:
    sizes = ("--sites", 2, "--rounds", 2, "--min-reports", 1000)
    printed = run(workspace, JOB, "--data", data, "--workspace", workspace, *sizes)
    # Chance gives 0.1.
    assert float(printed.rsplit("accuracy ", 1)[1]) > 0.5
    assert reports(printed) == [[1000, 0, 0]] * 2
    assert "epsilon-local-total 8," in printed


def test_budgets_of_sites_end_the_rounds_of_a_federation_of_processes(
    workspace: Path, data: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    sizes = ("--sites", 2, "--rounds", 3, "--min-reports", 1000)
    printed = run(
        workspace,
        *(JOB, "--data", data, "--workspace", workspace, *sizes),
        *("--poc", "--port", port, "--budget", 9),  # two rounds at ε = 4
    )
    assert float(printed.rsplit("accuracy ", 1)[1]) > 0.5
    (log,) = workspace.glob("poc/*/prod_*/server/poc_console.log")
    assert reports(log.read_text()) == [[1000, 0, 0], [1000, 0, 0], [0, 2, 0]]
    assert "site-1 refused: BudgetExhausted" in log.read_text()
    for ledger in workspace.glob("poc/*/prod_*/site-*/local/hushgrad.ledger"):
        with Ledger(ledger, "nvflare-records", must_exist=True) as charged:
            assert charged.spent().epsilon == 8


def test_a_job_without_the_filter_ends_with_a_named_error(workspace: Path) -> None:
    printed = run(workspace, HERE / "nvflare_plain.py", workspace, code=1)
    assert re.search(r"PlainReply: site-\d sent a model or metrics, and no report", printed)
    assert not list(workspace.rglob("server.npy"))
