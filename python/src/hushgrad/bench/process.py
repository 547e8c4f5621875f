"""One run in a process of its own, which can be ended at any time.

Flower's engine leaves threads behind when it is interrupted or does not start. A process that has
them does not end by itself.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from dataclasses import asdict

from .contenders import Contender, chosen
from .report import Row
from .simulation import Run, Task, run

_PATIENCE = 900.0  # seconds for a round, on a machine that is busy with something else
_LAST = 2000  # bytes of what a process said before it failed


def measured(contender: Contender, task: Task, repeats: int) -> Row:
    """Run a contender several times, and say on standard error how far it is."""
    runs: list[Run] = []
    for repeat in range(1, repeats + 1):
        label = f"{contender.name}, ε = {contender.epsilon:g}, run {repeat} of {repeats}"

        def progress(done: int, accuracy: float, label: str = label) -> None:
            text = f"{label}: round {done} of {task.rounds}, accuracy {accuracy:.3f}"
            print(text, file=sys.stderr, flush=True)

        runs.append(apart(contender, task, progress))
    return Row(
        contender.name,
        None if math.isinf(contender.epsilon) else contender.epsilon,
        contender.promise,
        [r.accuracy[-1] for r in runs],
        statistics.fmean(r.bytes for r in runs),
        statistics.fmean(r.seconds for r in runs),
    )


def apart(contender: Contender, task: Task, progress: Callable[[int, float], None]) -> Run:
    """Train in Flower's simulation, in another process.

    Parameters
    ----------
    contender : Contender
        The way to train.
    task : Task
        What to train on.
    progress : callable
        Is called with each round and its accuracy.

    Raises
    ------
    RuntimeError
        If the process fails, or is silent for 15 minutes.
    """
    asked = {"key": contender.key, "epsilon": contender.epsilon, "task": asdict(task)}
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            start_new_session=True,  # an interrupt is for this process, which ends the other one
        )
        try:
            result = _followed(child, json.dumps(asked), progress)
        finally:
            _end(child)
        if result is None:
            said.seek(max(0, said.tell() - _LAST))
            text = said.read().decode(errors="replace")
            raise RuntimeError(f"{contender.name}: the simulation failed:\n{text}")
    return result


def _followed(
    child: subprocess.Popen[str], asked: str, progress: Callable[[int, float], None]
) -> Run | None:
    """Return what a process found, or None if it ends before that."""
    assert child.stdin is not None
    assert child.stdout is not None
    with contextlib.suppress(BrokenPipeError):
        child.stdin.write(asked)
        child.stdin.close()
    while True:
        silent = threading.Timer(_PATIENCE, _end, [child])
        silent.daemon = True  # an interrupt may come before it can be cancelled
        try:
            silent.start()
            line = child.stdout.readline()
        finally:
            silent.cancel()
        if not line:
            return None
        answer = json.loads(line)
        if "bytes" in answer:
            return Run(**answer)
        progress(answer["round"], answer["accuracy"])


def _end(child: subprocess.Popen[str]) -> None:
    """End a process and those that it has started."""
    with contextlib.suppress(ProcessLookupError):
        if sys.platform == "win32":
            child.kill()
        else:
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _main() -> None:
    """Run what standard input asks for, and print a line of JSON after each round."""
    logging.getLogger("flwr").setLevel(logging.ERROR)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed goes where errors go

    def say(answer: dict[str, object]) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    status = 1
    try:
        asked = json.loads(sys.stdin.read())
        task = Task(**asked["task"])
        (contender,) = chosen([asked["key"]], [asked["epsilon"]], task.clients, task.rounds)
        found = run(contender, task, lambda done, acc: say({"round": done, "accuracy": acc}))
        say(asdict(found))
        status = 0
    except BaseException as failure:
        while failure.__cause__ is not None:  # Flower's engine says only that it crashed
            failure = failure.__cause__
        traceback.print_exception(failure)
    os._exit(status)  # threads of an engine that has failed do not end


if __name__ == "__main__":
    _main()
