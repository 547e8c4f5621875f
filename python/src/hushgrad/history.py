"""What became of a run, round by round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from ._optional import library
from .planning import Plan

_SHOWN = 12  # rounds that a text shows
_COLUMNS = {  # of a text, by metric
    "hushgrad.reports": "reports",
    "hushgrad.refused": "refused",
    "hushgrad.signal-to-noise": "signal to noise",
    "hushgrad.epsilon-local-total": "local ε so far",
    "hushgrad.epsilon-two-servers": "ε so far",
}


class History(Sequence[Mapping[str, float]]):
    """The metrics of a run, one mapping for each round. :meth:`hushgrad.Federation.fit` returns it.

    Printed, it is a table. The metrics are Flower's: ``hushgrad.reports``, ``hushgrad.std-err``,
    ``hushgrad.signal-to-noise``, ``hushgrad.epsilon-local-total`` and the others of docs/flower.md,
    and what ``evaluate`` has returned.

    Parameters
    ----------
    plan : Plan
        The plan of the run.
    rounds : iterable of mapping
        The metrics.
    ended : str
        Why the run ended.

    Attributes
    ----------
    plan : Plan
        The plan of the run.
    ended : str
        Why the run ended.
    """

    def __init__(
        self, plan: Plan, rounds: Sequence[Mapping[str, float]] = (), ended: str = ""
    ) -> None:
        self.plan = plan
        self.ended = ended
        self._rounds = list(rounds)

    def add(self, metrics: Mapping[str, float]) -> None:
        """Add a round."""
        self._rounds.append(metrics)

    def __len__(self) -> int:
        """Return the number of rounds."""
        return len(self._rounds)

    @overload
    def __getitem__(self, index: int) -> Mapping[str, float]: ...

    @overload
    def __getitem__(self, index: slice) -> list[Mapping[str, float]]: ...

    def __getitem__(self, index: int | slice) -> Mapping[str, float] | list[Mapping[str, float]]:
        """Return the metrics of a round; the first one has the index 0."""
        return self._rounds[index]

    def __iter__(self) -> Iterator[Mapping[str, float]]:
        """Return the metrics of each round."""
        return iter(self._rounds)

    @property
    def evaluated(self) -> list[str]:
        """Names of what ``evaluate`` has returned."""
        every = dict.fromkeys(name for each in self._rounds for name in each)
        return [name for name in every if not name.startswith("hushgrad.")]

    def column(self, name: str) -> list[float]:
        """Return a metric of all rounds, NaN where a round has none."""
        return [each.get(name, float("nan")) for each in self._rounds]

    def __repr__(self) -> str:
        """Return a table of the run."""
        plan = self.plan
        head = (
            f"{len(self)} rounds of {plan.cohort} clients, {plan.mechanism}, ε = {plan.epsilon:g}"
        )
        lines = [f"{head} a report, trust {plan.trust}"]
        shown = {name: text for name, text in _COLUMNS.items() if any(name in r for r in self)}
        shown |= {name: name for name in self.evaluated}
        table = [["round", *shown.values()]]
        for number, metrics in enumerate(self._rounds, 1):
            if len(self) > _SHOWN and _SHOWN // 2 < number <= len(self) - _SHOWN // 2:
                if number == _SHOWN // 2 + 1:
                    table.append(["…", *("" for _ in shown)])
                continue
            cells = (f"{metrics[name]:.4g}" if name in metrics else "" for name in shown)
            table.append([str(number), *cells])
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        for row in table if self._rounds else []:
            cells = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, f"ended: {self.ended}" if self.ended else "under way"])

    def to_frame(self) -> Any:  # noqa: ANN401
        """Return a ``pandas.DataFrame`` with a row for each round, counted from 1.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        index = range(1, len(self) + 1)
        pandas = library("pandas", "to_frame")
        return pandas.DataFrame(self._rounds, index=pandas.Index(index, name="round"))

    def plot(self, axes: Any = None) -> Any:  # noqa: ANN401
        """Plot what ``evaluate`` has returned over the rounds, or the signal to noise without it.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to plot. Default the current ones.

        Returns
        -------
        matplotlib.axes.Axes
            Where it is plotted.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        pyplot = library("matplotlib.pyplot", "plot")
        axes = pyplot.gca() if axes is None else axes
        names = self.evaluated or ["hushgrad.signal-to-noise"]
        for name in names:
            label = f"{name.removeprefix('hushgrad.')}, ε = {self.plan.epsilon:g} a report"
            axes.plot(range(1, len(self) + 1), self.column(name), label=label)
        axes.set_xlabel("round")
        axes.legend()
        return axes
