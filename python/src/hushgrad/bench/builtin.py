"""Rounds of what Flower has for privacy, with Flower's own code and without its engine.

Messages go to the nodes in this process. All else is Flower's: mods, strategies, the workflow of
SecAgg+, and how a reply is serialised.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.client import NumPyClient
from flwr.client.mod import secaggplus_mod
from flwr.clientapp import ClientApp
from flwr.clientapp.typing import Mod
from flwr.common import ndarrays_to_parameters, parameters_to_ndarrays
from flwr.common.serde import recorddict_from_proto, recorddict_to_proto
from flwr.server import LegacyContext, ServerConfig
from flwr.server.strategy import FedAvg as LegacyFedAvg
from flwr.server.workflow import DefaultWorkflow, SecAggPlusWorkflow
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Strategy
from flwr.supercore.task_identity import TaskIdentity
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

Update = Callable[[int, Floats], Floats]
"""Returns what a node adds to the model, from its number and the model."""

Step = Callable[[Floats, Floats], Floats]
"""Returns the next model, from the model and the mean update."""


class Nodes(Grid):
    """Nodes in this process, numbered from 0, which weighs their replies.

    Attributes
    ----------
    sent : int
        Bytes of all replies, as Flower serialises their contents.
    """

    def __init__(self, app: ClientApp, count: int) -> None:
        self._app = app
        self._nodes = [Context(1, i, {"partition-id": i}, RecordDict(), {}) for i in range(count)]
        self.sent = 0

    @property
    def run(self) -> Any:  # noqa: ANN401
        """The run. Flower asks for its number alone."""
        return TaskIdentity

    def get_node_ids(self) -> list[int]:
        """Return the numbers of the nodes, which Flower wants to be positive."""
        return list(range(1, len(self._nodes) + 1))

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> list[Message]:
        """Let the nodes answer, one after the other."""
        replies: list[Message] = []
        for message in messages:  # each node has a content of its own, as with an engine
            message.content = recorddict_from_proto(recorddict_to_proto(message.content))
            reply = self._app(message, self._nodes[message.metadata.dst_node_id - 1])
            if reply.has_error():
                raise RuntimeError(f"a node of Flower failed: {reply.error.reason}")
            self.sent += recorddict_to_proto(reply.content).ByteSize()
            replies.append(reply)
        return replies

    set_run = create_message = push_messages = pull_messages = None  # type: ignore[assignment]


@contextmanager
def _task() -> Generator[None]:
    """Be a task of Flower, which only tasks of its engine are, and quiet."""
    names = ("run_id", "node_id", "task_id")
    before = [getattr(TaskIdentity, f"_{name}", None) for name in names]
    logger = logging.getLogger("flwr")
    level = logger.level
    logger.setLevel(logging.ERROR)
    for name in names:
        setattr(TaskIdentity, f"_{name}", 1)
    try:
        yield
    finally:
        logger.setLevel(level)
        for name, value in zip(names, before, strict=True):
            setattr(TaskIdentity, f"_{name}", value)


def train(
    mods: list[Mod],
    strategy: Strategy,
    first: Floats,
    update: Update,
    step: Step,
    *,
    clients: int,
    rounds: int,
) -> tuple[Floats, float]:
    """Train with a mod or a strategy of Flower.

    The strategy aggregates and does not step: it has the learning rate 1 and no momentum.

    Returns
    -------
    tuple
        The last model, and the bytes that a node sends in a round.
    """
    app = ClientApp(mods=mods)

    @app.train()
    def answer(message: Message, context: Context) -> Message:
        model = message.content.array_records["arrays"]["model"].numpy()
        after = model + update(int(context.node_config["partition-id"]), model)
        content = RecordDict(
            {
                "arrays": ArrayRecord({"model": Array(np.asarray(after, np.float32))}),
                "metrics": MetricRecord({"num-examples": 1}),
            }
        )
        return Message(content, reply_to=message)

    model, nodes = np.asarray(first, np.float32), Nodes(app, clients)
    with _task():
        for number in range(1, rounds + 1):
            sent = ArrayRecord({"model": Array(model)})
            messages = strategy.configure_train(number, sent, ConfigRecord(), nodes)
            after, _ = strategy.aggregate_train(number, nodes.send_and_receive(messages))
            assert after is not None
            mean = after["model"].numpy() - model
            model = np.asarray(step(model, mean), np.float32)
    return model, nodes.sent / clients / rounds


def secagg(
    first: Floats, update: Update, step: Step, *, clients: int, rounds: int, shares: int
) -> tuple[Floats, float]:
    """Train with Flower's SecAgg+, whose server learns the sum of the models and no single one.

    Parameters
    ----------
    shares : int
        Nodes that hold a share of a node's keys, the node itself included. Two thirds of them are
        enough to open what a node hides.

    Returns
    -------
    tuple
        The last model, and the bytes that a node sends in a round, in all four stages.
    """

    class Stepping(LegacyFedAvg):
        """A strategy that steps by the mean update."""

        model = np.asarray(first, np.float32)

        def aggregate_fit(self, server_round: int, results: Any, failures: Any) -> Any:  # noqa: ANN401
            if failures:
                raise RuntimeError(f"a node of Flower failed: {failures[0]}")
            mean, metrics = super().aggregate_fit(server_round, results, failures)
            assert mean is not None
            (after,) = parameters_to_ndarrays(mean)
            self.model = np.asarray(step(self.model, after - self.model), np.float32)
            return ndarrays_to_parameters([self.model]), metrics

    class Node(NumPyClient):
        """A client of Flower's older interface, which SecAgg+ has."""

        def __init__(self, number: int) -> None:
            self._number = number

        def fit(self, parameters: list[Any], config: Any) -> Any:  # noqa: ANN401
            (model,) = parameters
            return [np.asarray(model + update(self._number, model), np.float32)], 1, {}

    def node(context: Context) -> Any:  # noqa: ANN401
        return Node(int(context.node_config["partition-id"])).to_client()

    strategy = Stepping(
        fraction_evaluate=0.0,
        min_fit_clients=clients,
        min_available_clients=clients,
        initial_parameters=ndarrays_to_parameters([Stepping.model]),
    )
    nodes = Nodes(ClientApp(node, mods=[secaggplus_mod]), clients)
    workflow = DefaultWorkflow(SecAggPlusWorkflow(shares, max(2, round(shares * 2 / 3))))
    with _task():
        given = Context(1, 0, {}, RecordDict(), {})
        workflow(nodes, LegacyContext(given, ServerConfig(num_rounds=rounds), strategy))
    return strategy.model, nodes.sent / clients / rounds
