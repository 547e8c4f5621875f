"""The client: it trains on its pictures, and the mod sends one report."""

from __future__ import annotations

from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from hushgrad import Policy
from hushgrad.bench import digits, softmax
from hushgrad.bench.settings import LOCAL_RATE, LOCAL_STEPS
from hushgrad.flower import HushgradMod

# In a real federation the policy stands in the configuration of each node.
app = ClientApp(mods=[HushgradMod(Policy(max_epsilon=8))])


@app.train()
def train(message: Message, context: Context) -> Message:
    """Train the model that came, as in any Flower app."""
    node = context.node_config
    model = message.content.array_records["arrays"]["model"].numpy()
    pictures, labels = digits.share(
        str(context.run_config["data"]), int(node["partition-id"]), int(node["num-partitions"])
    )
    trained = softmax.train(model, pictures, labels, LOCAL_STEPS, LOCAL_RATE)
    content = RecordDict(
        {
            "arrays": ArrayRecord({"model": Array(trained)}),
            "metrics": MetricRecord({"num-examples": len(labels)}),
        }
    )
    return Message(content, reply_to=message)
