"""The helper process: threads, kills, interrupts and growth."""

from __future__ import annotations

import gc
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from conftest import new_round
from environment import uncovered
from numpy.typing import NDArray

import hushgrad
from hushgrad import (
    AggregatorLost,
    BadReport,
    HelperFailed,
    Ledger,
    Policy,
    Round,
    _bridge,
    _programs,
)

Row = NDArray[np.float32]

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")


def kill(helper: _bridge.Helper) -> None:
    """Kill a helper and wait for its end."""
    os.kill(helper.pid, signal.SIGKILL)
    helper._process.wait()  # pyright: ignore[reportPrivateUsage]


def stop(helper: _bridge.Helper) -> None:
    """Stop a helper and wait until it stands still."""
    os.kill(helper.pid, signal.SIGSTOP)
    _, status = os.waitpid(helper.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)


def held_up(call: Callable[[], object]) -> threading.Thread:
    """Start a call that waits for a stopped helper, and return when it holds the pipes."""
    helper = _bridge.helper()
    stop(helper)
    caller = threading.Thread(target=call)
    caller.start()
    while not helper._lock.locked():  # pyright: ignore[reportPrivateUsage]
        assert caller.is_alive()
        time.sleep(0.001)
    return caller


def test_importing_starts_no_process() -> None:
    code = "import hushgrad; assert hushgrad._bridge._current is None"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


def test_a_process_ends_in_silence_and_its_helper_with_it() -> None:
    code = (
        "from hushgrad import Round, _bridge\n"
        "Round.new('r', dim=4, epsilon=1, scale=1, min_reports=1, sparsity=2)\n"
        "print(_bridge.helper().pid)"
    )
    arguments = [sys.executable, "-W", "error", "-X", "dev", "-c", code]
    done = subprocess.run(arguments, check=True, timeout=60, capture_output=True, text=True)
    assert done.stderr == ""
    if sys.platform != "win32":
        with pytest.raises(ProcessLookupError):
            os.kill(int(done.stdout), 0)


def test_threads_share_a_helper(server: Round, client: Round, row: Row) -> None:
    counts = server.aggregator()

    def work(_: int) -> int:
        return sum(counts.add(client.encode(row)) for _ in range(50))

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8))) == 400
    assert counts.estimate().reports == 400


@posix
def test_rounds_outlive_a_killed_helper(server: Round, client: Round, row: Row) -> None:
    before = _bridge.helper()
    kill(before)
    reports = client.encode(np.tile(row, (3, 1)))
    assert _bridge.helper().pid != before.pid
    counts = server.aggregator()
    counts.add(reports)
    assert counts.estimate().reports == 3


@posix
def test_an_aggregator_says_that_its_helper_died(server: Round, client: Round, row: Row) -> None:
    counts, reports = server.aggregator(), client.encode(row)
    counts.add(reports)
    snapshot = counts.snapshot()
    kill(_bridge.helper())
    fresh = server.aggregator(snapshot)
    for call in (lambda: counts.add(reports), counts.estimate, counts.snapshot):
        with pytest.raises(AggregatorLost, match="'r'"):
            call()
    with pytest.raises(AggregatorLost):
        fresh.merge(counts)
    assert fresh.add(reports + reports) == 2
    assert fresh.estimate().reports == 3


@posix
def test_a_kill_in_the_middle_of_a_call(server: Round, client: Round, row: Row) -> None:
    counts, reports = server.aggregator(), client.encode(row)
    raised: list[Exception] = []

    def add() -> None:
        try:
            counts.add(reports)
        except Exception as error:
            raised.append(error)

    caller = held_up(add)
    kill(_bridge.helper())
    caller.join(60)
    assert not caller.is_alive()
    assert [type(e) for e in raised] == [AggregatorLost]

    encoded: list[bytes] = []
    caller = held_up(lambda: encoded.append(client.encode(row)))
    kill(_bridge.helper())
    caller.join(60)
    assert not caller.is_alive()
    assert [len(e) for e in encoded] == [5]  # a second try made another report


class Late(Exception):
    """What the handler of an alarm raises, as helpers for timeouts do."""


@contextmanager
def alarm(seconds: float, error: BaseException) -> Generator[None, None, None]:
    """Raise an error in this thread after some time, unless the body has ended before."""

    def ring(*_: object) -> NoReturn:
        raise error

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@posix
@pytest.mark.parametrize("error", [KeyboardInterrupt(), TimeoutError("late"), Late("late")])
def test_an_interrupted_call_loses_no_other_aggregator(
    server: Round, client: Round, row: Row, error: BaseException
) -> None:
    helper, pack = _bridge.helper(), client.encode(np.tile(row, (3, 1)))
    counts, mine, whole = server.aggregator(), server.aggregator(), server.aggregator()
    for each in (counts, mine, whole):
        each.add(pack)
    stop(helper)
    with pytest.raises(type(error)), alarm(0.2, error):
        mine.add(pack * 100_000)  # more than a pipe holds: the helper has a part of it
    os.kill(helper.pid, signal.SIGCONT)
    assert counts.add(pack) == 3
    stop(helper)
    with pytest.raises(type(error)), alarm(0.2, error):
        whole.estimate()  # which changes nothing
    os.kill(helper.pid, signal.SIGCONT)
    assert [counts.estimate().reports, whole.estimate().reports] == [6, 3]
    assert _bridge.helper() is helper
    with pytest.raises(AggregatorLost, match="interrupted"):
        mine.estimate()
    with pytest.raises(AggregatorLost, match="interrupted"):
        counts.merge(mine)


@pytest.mark.endurance
@posix
def test_interrupts_at_any_moment_mix_up_no_answers() -> None:
    program = Path(__file__).with_name("interrupts.py")
    done = subprocess.run(
        [sys.executable, program], env=uncovered(), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "6000 reports counted" in done.stdout


@posix
def test_an_interrupted_ledger_lets_go_of_its_file(tmp_path: Path) -> None:
    helper = _bridge.helper()
    stop(helper)
    with pytest.raises(Late), alarm(0.2, Late("late")):
        Ledger(tmp_path / "ledger", "p", must_exist=False)
    os.kill(helper.pid, signal.SIGCONT)
    with Ledger(tmp_path / "ledger", "p") as ledger:
        ledger.set_budget(1)
    assert _bridge.helper() is helper


@posix
def test_an_interrupt_at_the_keyboard_spares_the_helper(server: Round, client: Round) -> None:
    counts = server.aggregator()
    os.kill(_bridge.helper().pid, signal.SIGINT)
    assert counts.add(client.encode(np.zeros((3, 4)))) == 3


@posix
@pytest.mark.parametrize("says", ["exit 1", "echo no frame at all, but long enough", "sleep 0"])
def test_a_helper_of_another_kind_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: str
) -> None:
    (tmp_path / "_bin").mkdir()
    other = tmp_path / "_bin" / "hushgrad-bridge"
    other.write_text(f"#!/bin/sh\n{says}\n")
    other.chmod(0o755)
    monkeypatch.setattr(_programs, "__file__", str(tmp_path / "_programs.py"))
    with pytest.raises(HelperFailed):
        _bridge.Helper()


def work(rounds: int, row: Row) -> None:
    """Open rounds, encode a row in each, and estimate."""
    for _ in range(rounds):
        server = new_round(dim=len(row), min_reports=1)
        client = Round(server.description, Policy(max_epsilon=4))
        counts = server.aggregator()
        counts.add(client.encode(row))
        counts.estimate()


@pytest.mark.endurance
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_thousand_rounds_take_no_more_memory_than_a_few() -> None:
    row = np.zeros(20_000, np.float32)

    def megabytes() -> float:
        status = Path(f"/proc/{_bridge.helper().pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    work(100, row)
    few = megabytes()
    work(900, row)
    # Each round takes more than 0.5 MB: kept, they would be more than 450 MB.
    assert megabytes() < few + 100


@pytest.mark.endurance
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_ten_thousand_rounds_leave_nothing_behind() -> None:
    row = np.zeros(4, np.float32)
    helper = _bridge.helper()

    def held() -> tuple[float, int, int]:
        """Return megabytes of the helper, its open files, and handles and rounds of Python."""
        gc.collect()
        process = Path(f"/proc/{helper.pid}")
        memory = int((process / "status").read_text().split("VmRSS:")[1].split()[0]) / 1024
        kinds = (Round, hushgrad.Aggregator, _bridge.Handle)
        objects = sum(isinstance(each, kinds) for each in gc.get_objects())
        return memory, len(list((process / "fd").iterdir())), objects

    work(1000, row)
    before = held()
    work(10_000, row)
    memory, files, objects = held()
    assert helper is _bridge.helper()
    # A round and its aggregator take more than 4 kB: kept, they would be more than 40 MB.
    assert memory < before[0] + 20
    assert files <= before[1]
    assert objects <= before[2]


def test_errors_travel_between_processes() -> None:
    error = pickle.loads(pickle.dumps(BadReport("m", "slot", "9", "must be below 8")))
    assert (str(error), error.param, error.got, error.rule) == ("m", "slot", "9", "must be below 8")
    assert isinstance(error, hushgrad.HushgradError)


def test_large_payloads_need_no_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = new_round(mechanism="none", epsilon=math.inf, dim=100_000, sparsity=None)
    client = Round(plain.description, Policy(max_epsilon=math.inf))
    rows = np.random.default_rng(1).standard_normal((3, 100_000)).astype(np.float32)

    def estimated() -> list[float]:
        counts = plain.aggregator()
        counts.add(b"".join(client.encode(row) for row in rows))
        return counts.estimate().mean.tolist()

    helper = _bridge.helper()
    taken: list[int] = []
    take = helper._memory.take  # pyright: ignore[reportPrivateUsage]

    def noted(payload: memoryview) -> bool:
        done = take(payload)
        taken.extend([len(payload)] * done)
        return done

    monkeypatch.setattr(helper._memory, "take", noted)  # pyright: ignore[reportPrivateUsage]
    by_memory = estimated()
    assert taken.count(400_000) == 3 * (sys.platform == "linux")
    helper._memory.close()  # pyright: ignore[reportPrivateUsage]
    assert estimated() == by_memory == rows.astype(np.float64).mean(axis=0).tolist()
    helper.close()  # the next one has memory


@pytest.mark.endurance
def test_what_finalizers_release_meanwhile_ends_no_call() -> None:
    helper, often = _bridge.helper(), sys.getswitchinterval()
    ended = threading.Event()

    def finalize() -> None:
        handle = 1 << 40  # unknown to the helper, which ignores it
        while not ended.is_set():
            helper.forget(handle)
            handle += 1

    finalizer = threading.Thread(target=finalize)
    sys.setswitchinterval(1e-6)
    finalizer.start()
    try:
        for _ in range(300):
            new_round()
    finally:
        ended.set()
        finalizer.join()
        sys.setswitchinterval(often)
        helper.close()  # millions of handles wait for their release
