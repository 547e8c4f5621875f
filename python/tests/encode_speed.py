"""Compare the time of a report from Python with that in Go: python python/tests/encode_speed.py.

Both are the least of many calls, measured in turns in one run, because other programs on the
machine only make a call longer. It needs Go.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from time import perf_counter

import numpy as np

from hushgrad import Policy, Round

MODULE = Path(__file__).resolve().parents[2]
ROUNDS = ((7850, 64, 1000), (1_000_000, 512, 100))  # dim, sparsity, calls
TURNS = 5


def of_python(dim: int, sparsity: int, calls: int) -> float:
    """Return the least time of a float32 row, in microseconds."""
    server = Round.new("r", dim=dim, epsilon=4, scale=0.05, sparsity=sparsity, min_reports=1)
    client = Round(server.description, Policy(max_epsilon=4))
    row = (0.01 * np.random.default_rng().standard_normal(dim)).astype(np.float32)
    times: list[float] = []
    for _ in range(calls):
        start = perf_counter()
        client.encode(row)
        times.append(perf_counter() - start)
    return 1e6 * min(times)


def of_go() -> dict[int, float]:
    """Return the time of a float64 row by dim, in microseconds."""
    command = [
        "go",
        "test",
        "./bridge/internal/abi",
        "-run",
        "^$",
        "-bench",
        "BenchmarkEncode/go",
        "-benchtime=0.5s",
    ]
    out = subprocess.run(command, cwd=MODULE, check=True, capture_output=True, text=True).stdout
    found: dict[int, float] = {}
    for dim, nanoseconds in re.findall(r"dim=(\d+)\S*.* ([\d.]+) least-ns", out):
        found[int(dim)] = min(found.get(int(dim), 1e9), float(nanoseconds) / 1e3)
    return found


def main() -> None:
    """Print a line for each dim."""
    python = {dim: 1e9 for dim, _, _ in ROUNDS}
    go = dict(python)
    for _ in range(TURNS):
        go = {dim: min(go[dim], time) for dim, time in of_go().items()}
        for dim, sparsity, calls in ROUNDS:
            python[dim] = min(python[dim], of_python(dim, sparsity, calls))
    for dim in python:
        print(
            f"d = {dim}: {python[dim]:.0f} us from Python, {go[dim]:.0f} us in Go, "
            f"ratio {python[dim] / go[dim]:.2f}"
        )


if __name__ == "__main__":
    main()
