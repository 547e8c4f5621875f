"""The client: it trains the model that came on its pictures."""

from __future__ import annotations

from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from flower_pytorch.task import Net, load_node, train

app = ClientApp()


@app.train()
def train_node(message: Message, context: Context) -> Message:
    """Train, and return the model."""
    net = Net()
    net.load_state_dict(message.content["arrays"].to_torch_state_dict())
    node, config = context.node_config, context.run_config
    loader = load_node(node["partition-id"], node["num-partitions"])
    loss = train(net, loader, config["local-epochs"], config["lr"])
    content = RecordDict(
        {
            "arrays": ArrayRecord(net.state_dict()),
            "metrics": MetricRecord({"loss": loss, "num-examples": len(loader.dataset)}),
        }
    )
    return Message(content, reply_to=message)
