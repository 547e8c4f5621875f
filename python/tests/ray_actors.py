"""Actors of Ray that encode: prints what each has made. A test starts it."""

# pyright: basic
# Ray has no complete type hints.

from __future__ import annotations

import json
from typing import Any

import numpy as np
import ray
from conftest import new_round

from hushgrad import Policy, Round, _bridge

ACTORS, ROWS = 3, 64


class Client:
    """A client in a process of its own."""

    def __init__(self, client: Round) -> None:
        self.client = client

    def reports(self) -> tuple[int, str]:
        """Return the helper of the process, and its reports."""
        made = self.client.encode(np.zeros((ROWS, self.client.dim), np.float32))
        return _bridge.helper().pid, made.hex()


def main() -> None:
    """Let every actor encode twice, and this process, too."""
    client = Round(new_round().description, Policy(max_epsilon=4))
    ray.init(num_cpus=ACTORS, include_dashboard=False, log_to_driver=False)
    kind: Any = ray.remote(Client)
    actors = [kind.remote(client) for _ in range(ACTORS)]
    made = ray.get([actor.reports.remote() for _ in range(2) for actor in actors])
    print(json.dumps([Client(client).reports(), *made]))
    ray.shutdown()


if __name__ == "__main__":
    main()
