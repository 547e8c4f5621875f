"""Child processes: forked, spawned and served. None shares randomness or hangs."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from conftest import new_round

from hushgrad import AggregatorLost, Policy, Round, _bridge

ROWS = 64
METHODS = multiprocessing.get_all_start_methods()

# Python warns of forks with threads. That they work here is the claim.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def many(client: Round) -> bytes:
    """Return reports in which no two draws are equal by chance."""
    return client.encode(np.zeros((ROWS, client.dim), np.float32))


def in_child(client: Round) -> tuple[int, bytes]:
    """Return the helper of a child, and its reports."""
    reports = many(client)
    return _bridge.helper().pid, reports


@pytest.mark.parametrize("method", METHODS)
def test_children_have_their_own_helper_and_randomness(method: str) -> None:
    server = new_round()
    client = Round(server.description, Policy(max_epsilon=4))
    results = [in_child(client)]
    with multiprocessing.get_context(method).Pool(3) as pool:
        results += pool.map_async(in_child, [client] * 6, chunksize=1).get(120)
    results.append(in_child(client))
    helpers = {pid for pid, _ in results}
    assert results[0][0] == results[-1][0]
    assert len(helpers) >= 2
    assert len({reports for _, reports in results}) == len(results)
    counts = server.aggregator()
    assert counts.add(b"".join(reports for _, reports in results)) == ROWS * len(results)


def wait(child: int) -> int:
    """Return the exit code of a forked child, which must end by itself."""
    ended: list[int] = []
    waiter = threading.Thread(target=lambda: ended.append(os.waitpid(child, 0)[1]), daemon=True)
    waiter.start()
    waiter.join(60)
    assert ended, "the child hangs"
    return os.waitstatus_to_exitcode(ended[0])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_in_the_middle_of_calls_hangs_nobody() -> None:
    server = new_round()
    client = Round(server.description, Policy(max_epsilon=4))
    counts = server.aggregator()
    done = threading.Event()

    def busy() -> None:
        while not done.is_set():
            many(client)

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    reports = many(client)
                    try:
                        counts.add(reports)
                    except AggregatorLost:
                        code = 0
                finally:
                    os._exit(code)
            assert wait(child) == 0
    finally:
        done.set()
        for thread in threads:
            thread.join(60)
    assert counts.add(many(client)) == ROWS


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_child_keeps_nothing_of_its_parents_helper() -> None:
    many(Round(new_round().description, Policy(max_epsilon=4)))
    helper = _bridge.helper()
    numbers = (helper._in.fileno(), helper._out.fileno())  # pyright: ignore[reportPrivateUsage]
    maps = Path("/proc/self/maps")
    assert "memfd:hushgrad" in maps.read_text()
    child = os.fork()
    if child == 0:
        pipes = sum(os.path.exists(f"/proc/self/fd/{n}") for n in numbers)  # noqa: PTH110
        os._exit(pipes + maps.read_text().count("memfd:hushgrad"))
    assert wait(child) == 0


@pytest.mark.usefixtures("ray")
def test_actors_of_ray_have_their_own_helper_and_randomness() -> None:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("ray_actors.py"))],
        env=os.environ | {"RAY_USAGE_STATS_ENABLED": "0"},
        timeout=180,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    made = json.loads(done.stdout.splitlines()[-1])
    assert len({pid for pid, _ in made}) == 4  # three actors and their driver
    assert len({reports for _, reports in made}) == len(made) == 7
