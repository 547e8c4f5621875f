"""One run in Flower's simulation: accuracy, bytes and seconds."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.clientapp.typing import Mod
from flwr.common.serde import recorddict_to_proto
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import Strategy
from flwr.simulation import run_simulation

from . import digits, softmax
from .contenders import Contender
from .settings import LOCAL_RATE, LOCAL_STEPS

_STARTS = 4  # of Ray


@dataclass(frozen=True)
class Task:
    """What all contenders train on.

    Attributes
    ----------
    data : str
        Folder with the files of MNIST, or "" for generated digits.
    clients : int
        Nodes of the simulation, at least 2. All take part in every round.
    rounds : int
        At least 1.
    """

    data: str
    clients: int
    rounds: int


@dataclass
class Run:
    """What came of a run.

    Attributes
    ----------
    accuracy : list of float
        On the pictures of the test, after every round.
    bytes : float
        Mean size of what a client sends in a round, as Flower serialises it.
    seconds : float
        Mean time of a round.
    """

    accuracy: list[float] = field(default_factory=list[float])
    bytes: float = 0.0
    seconds: float = 0.0


class _Weighed(Strategy):
    """A strategy that leaves everything to another one, and weighs the replies."""

    def __init__(self, inner: Strategy) -> None:
        self.inner = inner
        self.sizes: list[int] = []

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Leave it to the inner strategy."""
        return self.inner.configure_train(server_round, arrays, config, grid)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Weigh the replies."""
        kept = list(replies)
        failed = [reply.error.reason for reply in kept if reply.has_error()]
        if failed:
            raise RuntimeError(f"{len(failed)} clients failed: {failed[0]}")
        self.sizes += [recorddict_to_proto(reply.content).ByteSize() for reply in kept]
        return self.inner.aggregate_train(server_round, kept)

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Evaluate at the server alone."""
        return []

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """Evaluate at the server alone."""
        return None

    def summary(self) -> None:
        """Leave it to the inner strategy."""
        self.inner.summary()


def run(contender: Contender, task: Task, progress: Callable[[int, float], None]) -> Run:
    """Train in Flower's simulation.

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
        If a client fails.
    """
    with ExitStack() as stack:
        mods, strategy = contender.start(stack)
        return _trained(contender, mods, _Weighed(strategy), task, progress)


def start_engine() -> None:
    """Start Ray, on which Flower's simulation runs.

    Ray gives up when it has not started in 30 seconds, as on a machine that is busy with something
    else. It has four times that here.
    """
    ray: Any = importlib.import_module("ray")  # seconds, which only who trains has to spend

    for left in reversed(range(_STARTS)):
        try:
            ray.init(include_dashboard=False, log_to_driver=False)
        except Exception as failure:
            ray.shutdown()
            if not left:
                raise
            print(f"Ray did not start, and is started again: {failure}", file=sys.stderr)
        else:
            return


def _trained(
    contender: Contender,
    mods: list[Mod],
    strategy: _Weighed,
    task: Task,
    progress: Callable[[int, float], None],
) -> Run:
    result, server = Run(), ServerApp()
    data, clients, gain = task.data, task.clients, contender.gain
    client = ClientApp(mods=mods)

    @client.train()
    def train(message: Message, context: Context) -> Message:
        before = message.content.array_records["arrays"]["model"].numpy()
        share = digits.share(data, int(context.node_config["partition-id"]), clients)
        after = softmax.train(before, *share, LOCAL_STEPS, LOCAL_RATE)
        content = RecordDict(
            {
                "arrays": ArrayRecord({"model": Array(before + gain * (after - before))}),
                "metrics": MetricRecord({"num-examples": 1}),
            }
        )
        return Message(content, reply_to=message)

    @server.main()
    def main(grid: Grid, _: Context) -> None:
        average = softmax.Average(contender.averaging)
        test = digits.test(data)

        def evaluate(server_round: int, arrays: ArrayRecord) -> MetricRecord:
            if server_round > 0:
                model = average.add(arrays["model"].numpy())
                result.accuracy.append(softmax.accuracy(model, *test))
                progress(server_round, result.accuracy[-1])
            return MetricRecord()

        first = ArrayRecord({"model": Array(softmax.initial())})
        start = time.monotonic()
        strategy.start(grid, first, num_rounds=task.rounds, evaluate_fn=evaluate)
        result.seconds = (time.monotonic() - start) / task.rounds
        result.bytes = sum(strategy.sizes) / len(strategy.sizes)

    start_engine()
    run_simulation(
        server,
        client,
        num_supernodes=clients,
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
    )
    if len(result.accuracy) != task.rounds:
        raise RuntimeError(f"the simulation ended after {len(result.accuracy)} rounds")
    return result
