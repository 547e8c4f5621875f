"""The server: it asks for what a node must refuse, and prints what came back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from hushgrad import Round
from hushgrad.flower import HushgradAggregation

NODES, DIM = 3, 6

app = ServerApp()


def described(**changes: Any) -> ConfigRecord:
    """Return the record of a round that the strategy has not opened."""
    given: dict[str, Any] = {
        "dim": DIM,
        "epsilon": 0.5,
        "scale": 1,
        "sparsity": 2,
        "min_reports": 1,
    }
    round_ = Round.new("foreign", **{**given, **changes})
    return ConfigRecord({"round": round_.description, "unit": "client", "train": ["w"]})


def apart(message: Message, fault: str) -> Message:
    """Return a message with a content of its own, which asks the client for a fault."""
    content = RecordDict({**message.content, "config": ConfigRecord({"fault": fault})})
    to, kind = message.metadata.dst_node_id, message.metadata.message_type
    return Message(content, dst_node_id=to, message_type=kind)


@app.main()
def main(grid: Grid, _: Context) -> None:
    """Send faults to the nodes, and let them make some."""
    everybody = FedAvg(fraction_evaluate=0, min_train_nodes=NODES, min_available_nodes=NODES)
    strategy = HushgradAggregation(everybody, epsilon=0.5, scale=1, sparsity=2, min_reports=2)
    model = ArrayRecord({"w": Array(np.zeros(DIM, np.float32))})

    def asked(*faults: str) -> list[Message]:
        sent = strategy.configure_train(1, model, ConfigRecord(), grid)
        return [apart(message, fault) for message, fault in zip(sent, faults, strict=False)]

    nothing, foreign, loose = messages = asked("none", "none", "none")
    del nothing.content["hushgrad"]
    foreign.content["hushgrad"] = described(dim=DIM + 1)
    loose.content["hushgrad"] = described(epsilon=20)
    replies = list(grid.send_and_receive(messages))
    errors = [r.error.reason if r.has_error() else "no error" for r in replies]

    replies = grid.send_and_receive(asked("none", "truncated", "twice"))
    stepped, metrics = strategy.aggregate_train(1, replies)
    print(json.dumps({"errors": errors, "stepped": stepped is not None, **(metrics or {})}))

    strategy.aggregate_train(1, grid.send_and_receive(asked("no mod")))  # raises PlainReply
