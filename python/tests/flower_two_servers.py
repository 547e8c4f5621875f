"""A run in Flower's simulation engine with two servers, whose ServerApp asks again at the end.

Prints what came of it. A test starts it with the addresses of the operator's listener of a server
and of a shuffler, the fingerprint of the server's key and the shuffler's key.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
import ray
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation

from hushgrad import Policy, ShuffledPolicy
from hushgrad.flower import HushgradAggregation, HushgradMod, Shuffled
from hushgrad.server import Client, Operator

NODES, NAME, SHAPE, STEP = 10, "shuffler.test", (1000, 1000), 0.001
OPERATOR, SHUFFLER, SEAL, SHARE_KEY = sys.argv[1:]

PINS = ShuffledPolicy(
    shufflers=(NAME,),
    seal_keys=(SEAL,),
    share_keys=(hashlib.sha256(bytes.fromhex(SHARE_KEY)).hexdigest(),),
    max_epsilon_local=20,
    max_epsilon=0,
    max_delta=0,
)
POLICY = Policy(20, max_delta=1e-6, mechanisms=("gaussian-shares",), shuffled=PINS)

client, server = ClientApp(mods=[HushgradMod(POLICY)]), ServerApp()


@client.train()
def train(message: Message, _: Context) -> Message:
    """Take a step in every coordinate."""
    before = message.content.array_records["arrays"]
    steps = {name: Array(array.numpy() + np.float32(STEP)) for name, array in before.items()}
    return Message(RecordDict({"arrays": ArrayRecord(steps)}), reply_to=message)


class Keeping(HushgradAggregation):
    """An aggregation that keeps what it has sent."""

    sent: tuple[Message, ...] = ()

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        self.sent = tuple(super().configure_train(server_round, arrays, config, grid))
        return self.sent


@server.main()
def main(grid: Grid, _: Context) -> None:
    """Train for a round, and send its messages again."""
    while not ray.is_initialized():  # it forks, and a fork beside gRPC's threads may not come up
        time.sleep(0.1)
    with (
        Operator.connect(OPERATOR) as operator,
        Client.connect(SHUFFLER) as shuffler,
    ):
        strategy = Keeping(
            FedAvg(fraction_evaluate=0, min_train_nodes=NODES, min_available_nodes=NODES),
            epsilon=20,
            delta=1e-6,
            scale=1,
            mechanism="gaussian-shares",
            min_reports=NODES,
            shuffled=Shuffled(operator, shuffler, NAME, share_key=bytes.fromhex(SHARE_KEY)),
        )
        model = ArrayRecord({"w": Array(np.zeros(SHAPE, np.float32))})
        result = strategy.start(grid, model, num_rounds=1)
        copies = [
            Message(m.content, dst_node_id=m.metadata.dst_node_id, message_type="train")
            for m in strategy.sent
        ]
        again = [reply.error.reason for reply in grid.send_and_receive(copies)]
    step = result.arrays["w"].numpy().astype(float)
    made: dict[str, Any] = {
        "metrics": dict(result.train_metrics_clientapp[1]),
        "mean": step.mean(),
        "deviation": step.std(),
        "again": again,
    }
    print(json.dumps(made))


if __name__ == "__main__":
    run_simulation(
        server,
        client,
        num_supernodes=NODES,
        backend_config={"client_resources": {"num_cpus": 1, "num_gpus": 0.0}},
    )
