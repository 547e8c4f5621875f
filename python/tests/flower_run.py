"""A run in Flower's simulation engine: prints the metrics of its rounds. A test starts it."""

from __future__ import annotations

import json

import numpy as np
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation

from hushgrad import Policy
from hushgrad.flower import HushgradAggregation, HushgradMod

NODES = 10

client, server = ClientApp(mods=[HushgradMod(Policy(max_epsilon=8))]), ServerApp()


@client.train()
def train(message: Message, _: Context) -> Message:
    """Take a step of one in every coordinate."""
    before = message.content.array_records["arrays"]["w"].numpy()
    after = ArrayRecord({"w": Array(before + np.float32(1))})
    metrics = MetricRecord({"num-examples": 1})
    return Message(RecordDict({"arrays": after, "metrics": metrics}), reply_to=message)


@server.main()
def main(grid: Grid, _: Context) -> None:
    """Train for three rounds."""
    everybody = FedAvg(fraction_evaluate=0, min_train_nodes=NODES, min_available_nodes=NODES)
    strategy = HushgradAggregation(everybody, epsilon=8, scale=1, sparsity=4, min_reports=NODES)
    model = ArrayRecord({"w": Array(np.zeros(4, np.float32))})
    result = strategy.start(grid, model, num_rounds=3)
    assert np.isfinite(result.arrays["w"].numpy()).all()
    print(json.dumps([dict(m) for m in result.train_metrics_clientapp.values()]))


if __name__ == "__main__":
    run_simulation(
        server,
        client,
        num_supernodes=NODES,
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
    )
