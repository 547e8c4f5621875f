"""Interrupt calls of the helper at random moments: no answer may reach another call.

test_helper.py runs it without coverage. An exception that is raised inside of coverage's tracer
would leave the tracer's lock taken, and the process would stand still.
"""

from __future__ import annotations

import random
import sys

import numpy as np
from conftest import new_round
from test_helper import Late, alarm

from hushgrad import Policy, Round, _bridge


def main() -> None:
    """Make 2000 interrupts."""

    def quiet(_: object) -> None:
        """Say nothing of an exception that was raised in a finalizer."""

    sys.unraisablehook = quiet
    server = new_round()
    client = Round(server.description, Policy(max_epsilon=4.0))
    helper, late = _bridge.helper(), 0
    rows = np.zeros((1000, 4), np.float32)
    counts, added = server.aggregator(), 0
    chance = random.Random(1)

    def interrupted() -> None:
        # A function of its own: Python checks for signals at the jump that ends a loop, too, and an
        # exception there is not always inside of the try around the loop.
        with alarm(chance.uniform(1e-5, 2e-3), Late("late")):
            for size in (1, 300, 7, 1000):
                assert len(client.encode(rows[:size])) == 5 * size
                assert server.aggregator().add(client.encode(rows[:size])) == size

    for _ in range(2000):
        try:
            interrupted()
        except Late:
            late += 1
        added += counts.add(client.encode(rows[:3]))
        assert counts.estimate().reports == added
    assert late > 100  # as a rule almost all of them
    assert _bridge.helper() is helper
    print(f"{late} interrupts, {added} reports counted")


if __name__ == "__main__":
    main()
