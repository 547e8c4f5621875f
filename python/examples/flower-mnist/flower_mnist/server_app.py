"""The server: FedAvgM on private reports, and the accuracy after every round."""

from __future__ import annotations

from flwr.app import Array, ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvgM

from hushgrad.flower import HushgradAggregation

from . import task

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Train for some rounds and print the accuracy."""
    config = context.run_config
    clients, data = int(config["clients"]), str(config["data"])
    inner = FedAvgM(
        fraction_evaluate=0.0,  # replies to evaluation would not be private
        min_train_nodes=clients,
        min_available_nodes=clients,
        server_momentum=float(config["momentum"]),
    )
    strategy = HushgradAggregation(
        inner,
        epsilon=float(config["epsilon"]),
        scale=float(config["scale"]),
        sparsity=int(config["sparsity"]),
        server_lr=float(config["server-lr"]),
    )

    def evaluate(_: int, arrays: ArrayRecord) -> MetricRecord:
        return MetricRecord({"accuracy": task.accuracy(arrays["model"].numpy(), data)})

    first = ArrayRecord({"model": Array(task.initial())})
    result = strategy.start(grid, first, num_rounds=int(config["rounds"]), evaluate_fn=evaluate)
    last = max(result.evaluate_metrics_serverapp)
    print(f"accuracy {result.evaluate_metrics_serverapp[last]['accuracy']:.3f}")
