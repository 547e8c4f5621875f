"""The clients: they leave out the mod, or spoil what it sends, when the server says so."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from hushgrad import Policy
from hushgrad.flower import HushgradMod

# The app would accept everything. The nodes do not.
_MOD = HushgradMod(Policy(max_epsilon=math.inf))


def faulty(
    message: Message, context: Context, train: Callable[[Message, Context], Message]
) -> Message:
    """Answer with the fault that the server asks for."""
    fault = message.content.config_records["config"].get("fault", "none")
    if fault == "no mod":
        return train(message, context)
    reply = _MOD(message, context, train)
    if reply.has_error() or fault == "none":
        return reply
    report = reply.content.config_records["hushgrad"]["report"]
    assert isinstance(report, bytes)
    spoiled = {"truncated": report[:-1], "twice": report + report}[str(fault)]
    reply.content["hushgrad"] = ConfigRecord({"report": spoiled})
    return reply


app = ClientApp(mods=[faulty])


@app.train()
def step(message: Message, _: Context) -> Message:
    """Take a step of one."""
    before = message.content.array_records["arrays"]["w"].numpy()
    arrays = ArrayRecord({"w": Array(before + np.float32(1))})
    metrics = MetricRecord({"num-examples": 1})
    return Message(RecordDict({"arrays": arrays, "metrics": metrics}), reply_to=message)
