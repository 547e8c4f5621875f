"""Results as JSON and as a table."""

from __future__ import annotations

import json
import math
import os
import platform
import statistics
import subprocess
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from .promise import Promise

# Student's 97.5 % quantiles for 1, 2, … degrees of freedom.
_STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)


# The ε of the run comes first: ways with the same ε asked differ in it.
_HEAD = ("training", "ε of the run", "ε asked", "ε a report", "accuracy", "bytes", "s a round")


@dataclass(frozen=True)
class Row:
    """A contender's runs.

    Attributes
    ----------
    name : str
        The contender.
    epsilon : float or None
        The ε that was asked for, None without privacy.
    promise : Promise
        The ε that holds.
    accuracies : list of float
        On the test after the last round, one for each repeat.
    bytes, seconds : float
        What a client sends in a round, and how long a round takes.
    """

    name: str
    epsilon: float | None
    promise: Promise
    accuracies: list[float]
    bytes: float
    seconds: float

    def interval(self) -> tuple[float, float, float]:
        """Return the mean accuracy and the ends of Student's 95 % interval."""
        mean, n = statistics.fmean(self.accuracies), len(self.accuracies)
        if n < 2:
            return mean, 0.0, 1.0
        quantile = _STUDENT[min(n - 2, len(_STUDENT) - 1)]
        half = quantile * statistics.stdev(self.accuracies) / math.sqrt(n)
        return mean, max(0.0, mean - half), min(1.0, mean + half)


def document(
    name: str, rows: list[Row], command: str, *, notes: list[str], packages: list[str], quick: bool
) -> dict[str, Any]:
    """Return results with the command and the machine that made them.

    Parameters
    ----------
    name : str
        The experiment.
    notes : list of str
        What was trained on.
    packages : list of str
        Packages whose versions are noted.
    """
    listed: list[dict[str, Any]] = []
    for row in rows:
        flat = asdict(row)
        mean, low, high = row.interval()
        flat |= {**flat.pop("promise"), "accuracy": mean, "low": low, "high": high}
        listed.append({**flat, "repeats": len(row.accuracies)})
    versions = ", ".join(f"{p} {version(p)}" for p in packages)
    return {
        "name": name,
        "command": command,
        "commit": _commit(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.system().lower()}",
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "quick": quick,
        "rows": listed,
        "notes": [*notes, versions],
    }


def _processor() -> str:
    """Return the name of the processor, or of its kind where nothing says more."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.is_file() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def _commit() -> str | None:
    """Return the commit of the code, or None outside a repository."""
    command = ["git", "rev-parse", "HEAD"]
    folder = Path(__file__).parent
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None


def table(rows: list[Row]) -> str:
    """Return a table in Markdown."""
    lines = [_HEAD, ("---",) * len(_HEAD)]
    for row in rows:
        mean, low, high = row.interval()
        spread = f"{low:.3f} to {high:.3f}" if row.accuracies[1:] else "one run"
        promise = row.promise
        lines.append(
            (
                row.name,
                f"{_number(promise.epsilon_run)} against {promise.against}"
                + (f", δ = {promise.delta:g}" if promise.delta else ""),
                _number(row.epsilon),
                _number(promise.epsilon_report),
                f"{mean:.3f} ({spread})",
                f"{row.bytes:.0f}",
                f"{row.seconds:.1f}",
            )
        )
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _number(value: float | None) -> str:
    """Return a number that is rounded up to two decimals."""
    return "none" if value is None else f"{math.ceil(round(100 * value, 6)) / 100:g}"


def write(folder: Path, made: dict[str, Any], rows: list[Row]) -> None:
    """Write the experiment's files, NAME.json and NAME.md, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {f"{made['name']}.json": _document(made), f"{made['name']}.md": table(rows)}
    for name, text in texts.items():
        part = folder / f"{name}.part"
        part.write_text(text, encoding="utf-8")
        part.replace(folder / name)


def _document(made: dict[str, Any]) -> str:
    """Return the JSON file: an element of a list is a line, as in what the Go experiments write."""

    def field(value: object) -> str:
        if not isinstance(value, list) or not value:
            return json.dumps(value, allow_nan=False)
        lines = (
            json.dumps(line, allow_nan=False, separators=(",", ":"))
            for line in cast("list[object]", value)
        )
        return "[\n    " + ",\n    ".join(lines) + "\n  ]"

    fields = (f"{json.dumps(name)}: {field(value)}" for name, value in made.items())
    return "{\n  " + ",\n  ".join(fields) + "\n}\n"
