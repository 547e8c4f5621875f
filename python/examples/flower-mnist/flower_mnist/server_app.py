"""The server: FedAvgM on private reports, and the accuracy after every round."""

from __future__ import annotations

from flwr.app import Array, ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvgM

from hushgrad.bench import digits, softmax
from hushgrad.bench.settings import MECHANISM, settings
from hushgrad.flower import HushgradAggregation

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Train for some rounds and print the accuracy."""
    config = context.run_config
    clients, data, epsilon = int(config["clients"]), str(config["data"]), float(config["epsilon"])
    chosen = settings(epsilon)
    inner = FedAvgM(
        fraction_evaluate=0.0,  # replies to evaluation would not be private
        min_train_nodes=clients,
        min_available_nodes=clients,
        server_momentum=chosen.momentum,
    )
    strategy = HushgradAggregation(
        inner,
        epsilon=epsilon,
        mechanism=MECHANISM,
        scale=chosen.scale,
        sparsity=chosen.sparsity,
        server_lr=chosen.server_lr,
    )
    average = softmax.Average(chosen.averaging)
    test = digits.test(data)

    def evaluate(server_round: int, arrays: ArrayRecord) -> MetricRecord:
        model = arrays["model"].numpy()
        if server_round > 0:
            model = average.add(model)
        return MetricRecord({"accuracy": softmax.accuracy(model, *test)})

    first = ArrayRecord({"model": Array(softmax.initial())})
    result = strategy.start(grid, first, num_rounds=int(config["rounds"]), evaluate_fn=evaluate)
    last = max(result.evaluate_metrics_serverapp)
    print(f"accuracy {result.evaluate_metrics_serverapp[last]['accuracy']:.3f}")
