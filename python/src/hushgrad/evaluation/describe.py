"""A number that clients hold, described: its mean, its quantiles and a histogram."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..aggregator import Estimate
from ..errors import invalid
from .cells import Column
from .measure import NORMAL, Measures
from .survey import Survey, ask, clients_for

_BAR = 32  # characters of the longest bar of a histogram


@dataclass(frozen=True, eq=False, repr=False)
class Description:
    """How a number is spread over clients, with error bars. :func:`describe` makes it.

    Printed, it is a table with a histogram.

    Attributes
    ----------
    column : Column
        The number.
    survey : Survey
        The round that asks for it: ``survey.round``, and ``column.answer`` at the clients.
    measures : mapping of str to Measure
        "mean", "quantiles" and "histogram". Before anybody is asked they are of clients who differ
        as much as answers can, for the sake of their error bars.
    reports : int
        Reports that were read. 0: nobody was asked.
    width : float or None
        The wished width of the mean's interval of 95 %.
    clients_needed : int or None
        Clients that make the interval as narrow as that.
    """

    column: Column
    survey: Survey
    measures: Measures
    reports: int = 0
    width: float | None = None
    clients_needed: int | None = None

    def read(self, estimate: Estimate) -> Description:
        """Return what the reports of a round of the survey come to."""
        return replace(self, measures=self.survey.read(estimate), reports=estimate.reports)

    def __repr__(self) -> str:
        """Return a table with a histogram."""
        plan, edges = self.survey.plan, self.column.edges
        of = f"{self.reports} reports" if self.reports else f"{plan.clients} clients, before any"
        lines = [
            f"{of}: a number in [{edges[0]:g}, {edges[-1]:g}], {plan.mechanism}, "
            f"ε = {plan.epsilon:g} a report, trust {plan.trust}"
        ]
        mean = self.measures["mean"]
        shown = f"{mean.value:.4g} " if self.reports else ""
        lines.append(f"mean        {shown}± {NORMAL * float(mean.std_err):.2g}")
        quantiles = self.measures["quantiles"]
        each = (np.atleast_1d(part) for part in (quantiles.value, quantiles.low, quantiles.high))
        for share, value, low, high in zip(self.column.quantiles, *each, strict=True):
            shown = f"{value:.4g}, in {low:.4g} to {high:.4g}"
            if not self.reports:
                shown = f"within {high - low:.2g}"
            lines.append(f"{f'{100 * share:g} % below':11} {shown}")
        histogram = self.measures["histogram"]
        values, half = np.asarray(histogram.value), NORMAL * np.asarray(histogram.std_err)
        if not self.reports:
            lines.append(f"histogram   each share of {len(values)} bins ± {float(half.max()):.2g}")
        largest = max(float(values.max()), 1e-9)
        for i in range(len(values) if self.reports else 0):
            bins = f"{edges[i]:.4g} to {edges[i + 1]:.4g}"
            bar = "█" * max(0, round(_BAR * float(values[i]) / largest))
            lines.append(f"{bins:>20}  {values[i]:6.3f} ± {half[i]:.3f}  {bar}".rstrip())
        if self.clients_needed is not None and self.width is not None:
            lines.append(f"a mean within ± {self.width / 2:g} takes {self.clients_needed} clients")
        return "\n".join(lines)


def describe(
    column: Column,
    *,
    clients: int,
    width: float | None = None,
    budget: float = 1.0,
    trust: str = "",
    delta: float = 1e-6,
    force: bool = False,
) -> Description:
    """Plan how to ask clients for a number, and say how good the answer will be.

    It takes some seconds, and up to a minute with a width. A whole round::

        age = Column(0, 100)
        planned = hushgrad.describe(age, clients=20_000, width=2)
        print(planned)  # error bars, and how many clients a mean within ± 1 takes
        server = planned.survey.round("age")
        report = Round(server.description, policy).encode(age.answer(42))  # at a client
        counts = server.aggregator()
        counts.add(report)  # one report of each client
        print(planned.read(counts.estimate()))  # mean, quantiles and a histogram

    Parameters
    ----------
    column : Column
        The number, with its declared range.
    clients : int
        Clients that answer.
    width : float, optional
        A wished width of the mean's interval of 95 %, in units of the number.
    budget, trust, delta, force
        As for :func:`hushgrad.evaluation.ask`.

    Raises
    ------
    InvalidParameter
        If column is no Column, or if a number is out of range.
    NoiseAboveSignal
        If intervals are as wide as the range of an answer.
    Infeasible
        If the width would take more than 10^9 clients.
    """
    if not isinstance(column, Column):  # pyright: ignore[reportUnnecessaryIsInstance]
        rule = "must be a Column: describe(Column(LOW, HIGH), clients=...)"
        raise invalid("column", type(column).__name__, rule)
    if width is not None and not 0 < width < math.inf:
        raise invalid("width", width, "must be positive: the whole width of the mean's interval")
    survey = ask(column, clients=clients, budget=budget, trust=trust, delta=delta, force=force)
    needed = None
    if width is not None:
        needed = clients_for(column, width, measure="mean", budget=budget, trust=trust, delta=delta)
    return Description(column, survey, survey.expected, 0, width, needed)
