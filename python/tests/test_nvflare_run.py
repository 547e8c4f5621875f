"""NVFlare's own server and sites: the simulator, and real processes in POC mode."""

from __future__ import annotations

import contextlib
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("nvflare")

import numpy as np
import psutil
from environment import uncovered
from mnist import write
from pages import DOCS, blocks, needs_docs

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


# The simulator chooses the port of a site before the site listens there. Where another process
# takes the port first, the simulator says this, and waits for ever. So it does for a site on a busy
# machine that looks for its script before the script was copied to it.
LOST = re.compile(r"Communication error with client|ValueError: Can not find client\.py")
TRIES = 3


def run(workspace: Path, *command: object, code: int = 0) -> str:
    """Run a program, afresh where its simulator lost a site, and return what it printed."""
    home = workspace / "home"
    home.mkdir()
    before, printed = set(workspace.iterdir()), ""
    for _ in range(TRIES):
        status, printed = _once(workspace, *command)
        if not LOST.search(printed):
            assert status == code, printed[-5000:]
            return printed
        for made in set(workspace.iterdir()) - before:
            shutil.rmtree(made) if made.is_dir() else made.unlink()
    raise AssertionError(printed[-5000:])


def _once(workspace: Path, *command: object) -> tuple[int | None, str]:
    """Return the status of a program and what it printed.

    Where it lost a site or the time is over, it ends with all of its processes.
    """
    log = workspace.with_suffix(".log")
    with log.open("wb") as out:
        started = subprocess.Popen(
            [sys.executable, *map(str, command)],
            env=uncovered() | {"HOME": str(workspace / "home")},
            cwd=workspace,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    end = time.monotonic() + TIMEOUT
    while started.poll() is None:
        if LOST.search(log.read_text()) or time.monotonic() > end:
            # The simulator's sites have sessions of their own, and a folder that the next one uses.
            for process in [*psutil.Process(started.pid).children(recursive=True), started]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            started.wait()
            break
        time.sleep(0.2)
    return started.returncode, log.read_text()


def reports(log: str) -> list[list[int]]:
    """Return the reports, refusals and failures of each round."""
    found = re.findall(r"round-\d+: reports (\d+), refused (\d+), failed (\d+)", log)
    return [[int(n) for n in counts] for counts in found]


@pytest.mark.parametrize(
    "says", ["Communication error with client site-1: reset", "ValueError: Can not find client.py"]
)
def test_a_simulator_that_lost_a_site_starts_afresh(workspace: Path, says: str) -> None:
    first = workspace.with_suffix(".first")
    script = f"""
import pathlib, subprocess, sys, time
first, made = pathlib.Path({str(first)!r}), pathlib.Path("made")
assert not made.exists()
made.mkdir()
if first.exists():
    print("done")
else:
    first.touch()
    print("{says}", flush=True)
    site = [sys.executable, "-c", "import time; time.sleep(3600)", "{workspace}"]
    subprocess.run(site, start_new_session=True)
"""
    assert run(workspace, "-c", script) == "done\n"


# A job with the lines of NVFlare's hello-numpy that the page changes, and those around them.
HELLO = """\
import argparse

from nvflare.app_common.np.recipes.fedavg import NumpyFedAvgRecipe
from nvflare.client.config import TransferType
from nvflare.recipe import SimEnv, add_experiment_tracking


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update_type", default="full")
    parser.add_argument("--log_config")
    args = parser.parse_args()
    n_clients = 4

    train_args = f"--update_type {args.update_type}"
    recipe = NumpyFedAvgRecipe(
        name="hello-numpy",
        min_clients=n_clients,
        num_rounds=3,
        model=[[1, 2, 3], [4, 5, 6], [7, 8, 9]],
        train_script="client.py",
        train_args=train_args,
        params_transfer_type=TransferType.FULL if args.update_type == "full" else TransferType.DIFF,
    )
    add_experiment_tracking(recipe, tracking_type="tensorboard")
    env = SimEnv(num_clients=n_clients, log_config=args.log_config)
    run = recipe.execute(env)
    print("Result:", run.get_result())


if __name__ == "__main__":
    main()
"""

HELLO_CLIENT = """\
import nvflare.client as flare
from nvflare.app_common.np.constants import NPConstants
from nvflare.client.tracking import SummaryWriter

flare.init()
writer = SummaryWriter()
while flare.is_running():
    came = flare.receive()
    weights = came.params[NPConstants.NUMPY_KEY] + 1
    writer.add_scalar(tag="secret_mean", scalar=weights.mean(), global_step=came.current_round)
    flare.send(flare.FLModel(params={NPConstants.NUMPY_KEY: weights}, metrics={"secret_mean": 1.0}))
"""


@needs_docs
@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
def test_six_lines_make_hello_numpy_private(workspace: Path) -> None:
    (diff,) = blocks(DOCS / "nvflare.md", "diff")
    assert len(re.findall(r"^\+(?!\+\+ )", diff, re.MULTILINE)) == 6
    (workspace / "job.py").write_text(HELLO, encoding="utf-8")
    (workspace / "client.py").write_text(HELLO_CLIENT, encoding="utf-8")
    subprocess.run(
        ["patch", "--strip=1", "--fuzz=0"],
        cwd=workspace,
        input=diff,
        text=True,
        check=True,
        timeout=60,
    )
    printed = run(workspace, "job.py")
    assert reports(printed) == [[4, 0, 0]] * 3, printed[-5000:]
    assert re.findall(r"epsilon-local-total ([0-9.]+)", printed) == ["8", "16", "24"]
    assert "secret_mean" not in printed
    (result,) = re.findall(r"^Result: (.*)$", printed, re.MULTILINE)
    (saved,) = Path(result).rglob("server.npy")
    moved = np.ravel(np.load(saved)) - np.arange(1, 10)
    shutil.rmtree(result)  # where NVFlare's simulator writes by default
    # Nine numbers move by 3 with a standard error of 1.3 each: off by 6 of them once in 10^8 runs.
    assert np.all(abs(moved - 3) < 8), moved
    assert abs(moved.mean() - 3) < 2.7, moved


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
