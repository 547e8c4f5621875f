"""The command ``python -m hushgrad.bench``."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from pathlib import Path

from . import digits

CONTENDERS = ("hushgrad", "two-servers", "local-honest", "local-clip", "central", "none")
QUICK = {"clients": 20, "rounds": 3, "repeats": 1, "epsilon": [8.0]}
FULL = {"clients": 200, "rounds": 20, "repeats": 3, "epsilon": [1.0, 2.0, 4.0, 8.0]}


def arguments(given: list[str]) -> argparse.Namespace:
    """Return the settings of the command line."""
    parser = argparse.ArgumentParser("python -m hushgrad.bench")
    commands = parser.add_subparsers(dest="command", required=True)
    flower = commands.add_parser(
        "flower",
        help="private training in Flower's simulation, beside what Flower has for it",
        description="Trains on the same clients with hushgrad, with Flower's local and central "
        "differential privacy, and without privacy. Prints accuracy with Student's 95 %% "
        "intervals, bytes, seconds, and which ε holds against whom.",
    )
    add = flower.add_argument
    add("--data", default="", help="folder with the four files of MNIST; empty: generated digits")
    add("--clients", type=int, help="nodes, all in every round (default 200)")
    add("--rounds", type=int, help="rounds of a run (default 20)")
    add("--repeats", type=int, help="runs of each contender (default 3)")
    add("--epsilon", type=float, nargs="+", help="values of ε (default 1 2 4 8)")
    add("--only", nargs="+", choices=CONTENDERS, default=CONTENDERS, help="contenders")
    add("--out", type=Path, help="folder for flower.json and flower.md")
    add("--quick", action="store_true", help="20 clients, 3 rounds, one run, ε = 8")
    settings = parser.parse_args(given)
    for name, value in (QUICK if settings.quick else FULL).items():
        if getattr(settings, name) is None:
            setattr(settings, name, value)
    for name, least in (("clients", 2), ("rounds", 1), ("repeats", 1)):
        if getattr(settings, name) < least:
            parser.error(f"--{name}: got {getattr(settings, name)}, rule: must be at least {least}")
    for value in settings.epsilon:
        if not 0 < value <= 20:
            parser.error(f"--epsilon: got {value}, rule: must be in (0, 20]")
    return settings


def recorded(given: list[str]) -> str:
    """Return the command without the places of a machine."""
    parts, rest = ["python", "-m", "hushgrad.bench"], iter(given)
    for part in rest:
        name, attached, _ = part.partition("=")
        if name not in ("--data", "--out"):
            parts.append(part)
            continue
        if not attached:
            next(rest, None)
        if name == "--data":
            parts += [name, "DIR"]
    return shlex.join(parts)


def main(given: list[str]) -> int:
    """Run the benchmark and return the status of the process."""
    settings = arguments(given)
    # Neither framework calls home. They read this when they are imported.
    os.environ.update(FLWR_TELEMETRY_ENABLED="0", RAY_USAGE_STATS_ENABLED="0")
    try:
        from . import contenders, report, simulation
    except ImportError as error:
        print(f"{error}: pip install 'hushgrad[bench]'", file=sys.stderr)
        return 1
    try:
        for part in digits.GENERATED:
            digits.load(settings.data, part)
    except (OSError, ValueError) as error:
        print(f"--data: {error}", file=sys.stderr)
        return 1
    task = simulation.Task(settings.data, settings.clients, settings.rounds)
    rows: list[report.Row] = []
    status = 0
    try:
        for contender in contenders.chosen(
            settings.only, settings.epsilon, settings.clients, settings.rounds
        ):
            rows.append(report.measured(contender, task, settings.repeats))
            if settings.out:
                made = report.document(rows, task, recorded(given), settings.quick)
                report.write(settings.out, made, rows)
    except KeyboardInterrupt:
        print("interrupted: what follows was measured before", file=sys.stderr)
        status = 130
    except RuntimeError as error:
        print(error, file=sys.stderr)
        status = 1
    print(report.table(rows), end="")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
