"""The server: it averages the models, and tests the average after every round."""

from __future__ import annotations

import torch
from flwr.app import ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg

from flower_pytorch.task import Net, accuracy, load_test

app = ServerApp()


def evaluate(server_round: int, arrays: ArrayRecord) -> MetricRecord:
    """Test the model."""
    net = Net()
    net.load_state_dict(arrays.to_torch_state_dict())
    return MetricRecord({"accuracy": accuracy(net, load_test())})


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Train, and save the model."""
    rounds = context.run_config["rounds"]
    net = Net()
    strategy = FedAvg(fraction_evaluate=0)
    first = ArrayRecord(net.state_dict())
    result = strategy.start(grid, first, num_rounds=rounds, evaluate_fn=evaluate)
    torch.save(result.arrays.to_torch_state_dict(), "model.pt")
    print("accuracy", result.evaluate_metrics_serverapp[rounds]["accuracy"])
