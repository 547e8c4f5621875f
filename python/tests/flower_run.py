"""A run in Flower's simulation engine: prints the metrics of its rounds. Tests start it.

With three arguments its reports are sealed: the addresses of the operator's listener of a server
and of a shuffler, and the fingerprint of the server's key.
"""

from __future__ import annotations

import json
import sys
import time
from contextlib import ExitStack
from typing import Any

import numpy as np
import ray
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation
from numpy.typing import NDArray

from hushgrad import Policy, ShuffledPolicy
from hushgrad.flower import HushgradAggregation, HushgradMod, Shuffled
from hushgrad.server import Client, Operator

NODES, NAME = 10, "shuffler.test"


def policy() -> Policy:
    """Return what the clients demand."""
    if not sys.argv[1:]:
        return Policy(max_epsilon=8)
    pins = ShuffledPolicy(
        shufflers=(NAME,),
        seal_keys=(sys.argv[3],),
        max_epsilon_local=8,
        max_epsilon=8,
        max_delta=1e-6,
    )
    return Policy(shuffled=pins)


def shuffled(stack: ExitStack) -> Shuffled | None:
    """Return where sealed reports go, or None if they are not sealed."""
    if not sys.argv[1:]:
        return None
    operator = stack.enter_context(Operator.connect(sys.argv[1]))
    return Shuffled(operator, stack.enter_context(Client.connect(sys.argv[2])), NAME)


client, server = ClientApp(mods=[HushgradMod(policy())]), ServerApp()


@client.train()
def train(message: Message, _: Context) -> Message:
    """Take a step of one in every coordinate, and count as PyTorch does."""
    before = message.content.array_records["arrays"]
    steps = {n: Array(np.asarray(a.numpy() + a.numpy().dtype.type(1))) for n, a in before.items()}
    after = ArrayRecord(steps)
    metrics = MetricRecord({"num-examples": 1})
    return Message(RecordDict({"arrays": after, "metrics": metrics}), reply_to=message)


@server.main()
def main(grid: Grid, _: Context) -> None:
    """Train for five rounds. Nothing but what trains may move, and no type may change."""
    everybody = FedAvg(fraction_evaluate=0, min_train_nodes=NODES, min_available_nodes=NODES)
    arrays: dict[str, NDArray[Any]] = {
        "bn.num_batches_tracked": np.array(7),
        "w": np.zeros(3, np.float32),
        "mask": np.array([True, False]),
        "scale": np.array(1, np.float16),
        "body": np.linspace(0, 1, 5, dtype=np.float16),
        "bn.running_var": np.ones(2, np.float64),
    }
    model = ArrayRecord({name: Array(array) for name, array in arrays.items()})
    while not ray.is_initialized():  # it forks, and a fork beside gRPC's threads may not come up
        time.sleep(0.1)
    with ExitStack() as stack:
        strategy = HushgradAggregation(
            everybody,
            epsilon=8,
            scale=1,
            sparsity=4,
            min_reports=NODES,
            train=["w", "sc*"],
            shuffled=shuffled(stack),
        )
        result = strategy.start(grid, model, num_rounds=5)
    assert list(result.arrays) == list(arrays)
    for name, before in arrays.items():
        after = result.arrays[name].numpy()
        assert (after.dtype, after.shape) == (before.dtype, before.shape), name
        assert np.isfinite(after).all()
        assert (after.tobytes() == before.tobytes()) == (name not in ("w", "scale")), name
    print(json.dumps([dict(m) for m in result.train_metrics_clientapp.values()]))


if __name__ == "__main__":
    run_simulation(
        server,
        client,
        num_supernodes=NODES,
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
    )
