"""The server: it averages the models, and tests the average after every round."""

from __future__ import annotations

import torch
from flwr.app import ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp

from flower_pytorch.task import PUBLIC, Net, accuracy, load, load_test
from hushgrad import models, plan
from hushgrad.flower import HushgradAggregation

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
    public = load(slice(PUBLIC), batch_size=5)  # as many pictures as a node has
    gradients = models.gradients(net, torch.nn.CrossEntropyLoss(), public)
    run = plan(public=gradients, clients=200, cohort=200, epsilon=8, rounds=rounds, network=True)
    step = context.run_config["lr"] * context.run_config["local-epochs"]
    strategy = HushgradAggregation.from_plan(run, client_lr=step, train=models.trainable(net))
    first = ArrayRecord(net.state_dict())
    result = strategy.start(grid, first, num_rounds=rounds, evaluate_fn=evaluate)
    torch.save(result.arrays.to_torch_state_dict(), "model.pt")
    print("accuracy", result.evaluate_metrics_serverapp[rounds]["accuracy"])
