"""The command ``python -m hushgrad.bench``."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from . import digits, report

CONTENDERS = ("hushgrad", "two-servers", "local-honest", "local-clip", "central", "none")
WAYS = ("local", "two-servers", "central", "local-dp", "secagg", "network", "none")
FILTERS = ("svt", "percentile")
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
        "differential privacy, and without privacy. Prints accuracy with Student's 95 % "
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
    of_sklearn = commands.add_parser(
        "digits",
        help="planned training on the digits of scikit-learn, where nothing is searched",
        description="Trains on the digits of scikit-learn by plans from public pictures alone, "
        "without trust, by two servers, with a trusted server and without privacy: 200 clients, "
        "in all rounds. Prints accuracy with Student's 95 % intervals over divisions of the "
        "pictures.",
    )
    add = of_sklearn.add_argument
    add("--rounds", type=int, default=12, help="rounds of a run (default 12)")
    add("--divisions", type=int, default=5, help="divisions of the pictures (default 5)")
    add("--first", type=int, default=1, help="number of the first division (default 1)")
    add(
        "--only",
        nargs="+",
        choices=WAYS + FILTERS,
        default=WAYS,
        help=f"ways to train (default {' '.join(WAYS)}); svt and percentile are NVFlare's filters",
    )
    add("--out", type=Path, help="folder for digits.json and digits.md")
    settings = parser.parse_args(given)
    if settings.command == "digits":
        _at_least(parser, settings, ("rounds", 1), ("divisions", 1), ("first", 0))
        return settings
    for name, value in (QUICK if settings.quick else FULL).items():
        if getattr(settings, name) is None:
            setattr(settings, name, value)
    _at_least(parser, settings, ("clients", 2), ("rounds", 1), ("repeats", 1))
    for value in settings.epsilon:
        if not 0 < value <= 20:
            parser.error(f"--epsilon: got {value}, rule: must be in (0, 20]")
    return settings


def _at_least(
    parser: argparse.ArgumentParser, settings: argparse.Namespace, *rules: tuple[str, int]
) -> None:
    """End the command if a number is too small."""
    for name, least in rules:
        if getattr(settings, name) < least:
            parser.error(f"--{name}: got {getattr(settings, name)}, rule: must be at least {least}")


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
    command = _digits if settings.command == "digits" else _flower
    return command(settings, recorded(given))


def _digits(settings: argparse.Namespace, command: str) -> int:
    """Run the experiment on the digits of scikit-learn."""
    from . import planned
    from .division import divided

    try:
        divided(1)
    except ImportError as error:
        print(f"{error}: pip install 'hushgrad[bench]'", file=sys.stderr)
        return 1
    ways = [*planned.ways(settings.only, settings.rounds)]
    packages = ["hushgrad", "numpy", "scikit-learn"]
    notes = [
        f"digits of scikit-learn, {settings.divisions} divisions: 300 public pictures, 200 clients "
        f"with 5 or 6 each, 360 for the test; all clients in each of {settings.rounds} rounds"
    ]
    if set(settings.only) & set(FILTERS):
        try:
            from . import filters
        except ImportError as error:
            print(f"{error}: pip install 'hushgrad[bench,nvflare]'", file=sys.stderr)
            return 1
        ways += filters.ways(settings.only, settings.rounds)
        packages.append("nvflare")
        notes.append(
            "clip, fraction and learning rate of NVFlare's filters were searched on divisions 1 to "
            "3, with their tests; the other ways are planned from the public pictures alone"
        )

    def made(rows: list[report.Row]) -> dict[str, Any]:
        return report.document("digits", rows, command, notes=notes, packages=packages, quick=False)

    divisions = range(settings.first, settings.first + settings.divisions)
    rows = (planned.measured(way, divisions, settings.rounds, _say) for way in ways)
    return _all(settings, made, rows)


def _flower(settings: argparse.Namespace, command: str) -> int:
    """Run the comparison in Flower's simulation."""
    # Neither framework calls home. They read this when they are imported.
    os.environ.update(FLWR_TELEMETRY_ENABLED="0", RAY_USAGE_STATS_ENABLED="0")
    try:
        from . import contenders, process, simulation
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
    data = "MNIST files read from DIR" if task.data else "generated digits"
    notes = [f"{data}, {task.clients} clients, all in each of {task.rounds} rounds"]

    def made(rows: list[report.Row]) -> dict[str, Any]:
        packages = ["flwr", "hushgrad", "numpy", "ray"]
        return report.document(
            "flower", rows, command, notes=notes, packages=packages, quick=settings.quick
        )

    listed = contenders.chosen(settings.only, settings.epsilon, settings.clients, settings.rounds)
    rows = (process.measured(contender, task, settings.repeats) for contender in listed)
    return _all(settings, made, rows)


def _all(
    settings: argparse.Namespace,
    made: Callable[[list[report.Row]], dict[str, Any]],
    measured: Iterator[report.Row],
) -> int:
    """Measure row after row, write what there is after each, and print the table."""
    rows: list[report.Row] = []
    status = 0
    try:
        for row in measured:
            rows.append(row)
            if settings.out:
                report.write(settings.out, made(rows), rows)
    except KeyboardInterrupt:
        print("interrupted: what follows was measured before", file=sys.stderr)
        status = 130
    except RuntimeError as error:
        print(error, file=sys.stderr)
        status = 1
    print(report.table(rows), end="")
    return status


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
