"""What servers and clients of Flower exchange, without an engine between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from flwr.app import (
    Array,
    ArrayRecord,
    ConfigRecord,
    Context,
    Message,
    MessageType,
    MetricRecord,
    RecordDict,
)
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity
from numpy.typing import NDArray

from hushgrad import Policy, Round
from hushgrad.flower import HushgradMod

Floats = NDArray[np.float64]
NODES = 10
TARGET = np.array([[1.0, -2.0], [3.0, 0.5]], np.float32)


def model(value: float = 0.0) -> ArrayRecord:
    """Return a model with a matrix, a vector, and a counter that is not trained."""
    return ArrayRecord(
        {
            "w": Array(np.full((2, 2), value, np.float32)),
            "b": Array(np.full(3, value, np.float32)),
            "steps": Array(np.array([7])),
        }
    )


def trained(message: Message, _: Context) -> Message:
    """Go halfway to the target, and say too much about it."""
    before = message.content.array_records["arrays"]
    after = ArrayRecord(
        {
            "w": Array(before["w"].numpy() + (TARGET - before["w"].numpy()) / 2),
            "b": Array(before["b"].numpy() + np.float32(0.25)),
            "steps": Array(before["steps"].numpy() + 1),
        }
    )
    metrics = MetricRecord({"num-examples": 3, "loss": 0.125})
    return Message(RecordDict({"arrays": after, "metrics": metrics}), reply_to=message)


def context(**node_config: Any) -> Context:
    """Return the context of a node."""
    config = {name.replace("_", "-"): value for name, value in node_config.items()}
    return Context(1, 2, config, RecordDict(), {})


def described(
    round_: Round | None,
    kind: str = MessageType.TRAIN,
    unit: str = "client",
    train: tuple[str, ...] = ("w", "b"),
) -> Message:
    """Return what a server sends."""
    content = RecordDict({"arrays": model(), "config": ConfigRecord({"server-round": 1})})
    if round_ is not None:
        content["hushgrad"] = ConfigRecord(
            {"round": round_.description, "unit": unit, "train": list(train)}
        )
    return Message(content, dst_node_id=2, message_type=kind)


def be_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a task of Flower, which only tasks of its engine are."""
    for name in ("_run_id", "_node_id", "_task_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)


def new_round(dim: int = 7) -> Round:
    """Return a round, for the model unless dim says otherwise."""
    return Round.new("r", dim=dim, epsilon=4, scale=1, sparsity=2, mechanism="coco", min_reports=3)


def reason(reply: Message) -> str:
    """Return why a reply is an error."""
    assert reply.has_error()
    assert reply.error.reason is not None
    return reply.error.reason


def never(message: Message, _: Context) -> Message:
    """Fail where nothing may be trained."""
    raise AssertionError(f"trained for {message}")


class Nodes(Grid):
    """A grid that only names nodes: the aggregation is called without an engine."""

    def get_node_ids(self) -> list[int]:
        return list(range(1, NODES + 1))

    set_run = run = create_message = push_messages = pull_messages = send_and_receive = None  # type: ignore[assignment]


class Clients(Grid):
    """A grid whose nodes return the model minus rate times a gradient."""

    def __init__(
        self, count: int, gradient: Callable[[int, Floats], Floats], rate: float = 1.0
    ) -> None:
        self.count, self.gradient, self.rate = count, gradient, rate
        self.asked: list[list[int]] = []
        self.rounds: list[Round] = []
        self.mod = HushgradMod(Policy(max_epsilon=math.inf))

    def get_node_ids(self) -> list[int]:
        return list(range(self.count))

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> list[Message]:
        sent = list(messages)
        if sent:
            self.asked.append(sorted(message.metadata.dst_node_id for message in sent))
            record = sent[0].content.config_records["hushgrad"]
            self.rounds.append(Round(bytes(record["round"])))  # type: ignore[arg-type]
        return [self.mod(message, context(), self.train) for message in sent]

    def train(self, message: Message, _: Any) -> Message:
        before = message.content.array_records["arrays"]["model"].numpy()
        step = self.rate * self.gradient(message.metadata.dst_node_id, before)
        arrays = ArrayRecord({"model": Array(np.asarray(before - step))})
        return Message(RecordDict({"arrays": arrays}), reply_to=message)

    set_run = run = create_message = push_messages = pull_messages = None  # type: ignore[assignment]
