"""A question with the round that asks it at the least error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..aggregator import Estimate, Series
from ..errors import Infeasible, NoiseAboveSignal, invalid
from ..planning import Plan, plan
from ..policy import Policy
from ..rounds import Round
from .measure import NORMAL, Measures, positive
from .question import Question

_REHEARSED = 4000  # reports, whose standard errors are scaled to other numbers of reports
_MOST = 10**9  # clients that are thought of


@dataclass(frozen=True, eq=False)
class Survey:
    """A question with the mechanism that answers it at the least error. :func:`ask` makes it.

    Attributes
    ----------
    question : Question
        What is asked.
    plan : Plan
        Mechanism, ε and clip of the rounds, and what they promise (``plan.promise``).
    expected : mapping of str to Measure
        What a round of the planned clients would read, if they differ as much as answers can. Its
        standard errors are to be expected at most, or nearly.
    shape : mapping
        Mechanism, ε and parameters of the rounds, as :meth:`hushgrad.Round.new` takes them.
    """

    question: Question
    plan: Plan
    expected: Measures
    shape: Mapping[str, Any] = field(repr=False)

    def round(self, id: str, *, min_reports: int | None = None) -> Round:  # noqa: A002
        """Return a round that asks the question, with fresh public randomness.

        Parameters
        ----------
        id : str
            Name of the round.
        min_reports : int, optional
            Reports below which nothing is released. Default the planned clients. A smaller number
            weakens what is promised behind a shuffler.
        """
        least = self.plan.cohort if min_reports is None else min_reports
        return _round(self.question, self.shape, id, least)

    def read(self, estimate: Estimate) -> Measures:
        """Return the answer, by name: see the question."""
        return self.question.read(estimate)


def ask(
    question: Question,
    *,
    clients: int,
    records: int = 0,
    budget: float = 1.0,
    rounds: int = 1,
    trust: str = "",
    delta: float = 1e-6,
    force: bool = False,
) -> Survey:
    """Plan rounds that ask a question, from public numbers. It takes up to some seconds.

    Parameters
    ----------
    question : Question
        What is asked.
    clients : int
        Clients that answer in each round: the same ones, or others.
    records : int
        Records of all clients together, where a report is a sum of records and protects one of
        them. 0: a report protects all data of a client.
    budget : float
        ε of everything that a client sends in all rounds.
    rounds : int
        How often a client is asked, at least 1.
    trust : str
        Whom the clients trust, see :func:`hushgrad.plan`: "nobody" by default, and "own-site" with
        records.
    delta : float
        The δ at which a central ε is stated, in (0, 1).
    force : bool
        Whether to plan rounds that would say nothing, too.

    Raises
    ------
    InvalidParameter
        If a number is out of range.
    NoiseAboveSignal
        If intervals of 95 % are as wide as the range of an answer. :func:`clients_for` says how
        many clients it takes.
    """
    if rounds < 1:
        raise invalid("rounds", rounds, "must be at least 1")
    given: dict[str, Any] = {
        "clients": clients,
        "cohort": clients,
        "records": records,
        "budget": budget,
        "rounds": rounds,
        "trust": trust,
        "delta": delta,
    }
    best: tuple[float, Plan, dict[str, Any], Estimate] | None = None
    for planned in _plans(question, given):
        for shape in _shapes(question, planned):
            estimate = _rehearsed(question, planned, shape)
            error = float(np.linalg.norm(positive(estimate, question.l1)[1]))
            if best is None or error < best[0]:
                best = error, planned, shape, estimate
    assert best is not None
    error, planned, shape, estimate = best
    half = NORMAL * error / math.sqrt(question.dim)
    if half > question.largest and not force:
        raise NoiseAboveSignal(
            f"{planned.clients} clients would answer within ± {half:.2g} of an answer of at most "
            f"{question.largest:.2g}: that says nothing. Ask more clients, of whom clients_for "
            "says the number, spend more ε, trust somebody else, or ask for less at once. To ask "
            "all the same, force it (force=True)"
        )
    return Survey(question, planned, question.read(estimate), shape)


def clients_for(
    question: Question,
    width: float,
    *,
    measure: str = "",
    records_per_client: int = 0,
    budget: float = 1.0,
    rounds: int = 1,
    trust: str = "",
    delta: float = 1e-6,
) -> int:
    """Return how many clients make the interval of an answer as narrow as wished.

    It takes up to a minute.

    Parameters
    ----------
    question, budget, rounds, trust, delta
        As for :func:`ask`.
    width : float
        The whole width of the interval of 95 %: .04 stands for ± 2 points of an accuracy.
    measure : str
        Name of a measure of the question. Of an array the widest interval counts. Default the
        first one.
    records_per_client : int
        Records of each client, where reports are sums of records.

    Raises
    ------
    InvalidParameter
        If a number is out of range, or the question has no such measure.
    Infeasible
        If it would take more than 10^9 clients.
    """
    if not 0 < width < math.inf:
        raise invalid("width", width, "must be positive")
    given: dict[str, Any] = {"budget": budget, "rounds": rounds, "trust": trust, "delta": delta}

    def wide(clients: int) -> bool:
        asked = ask(
            question, clients=clients, records=clients * records_per_client, force=True, **given
        )
        name = measure or next(iter(asked.expected))
        if name not in asked.expected:
            raise invalid("measure", repr(name), f"must be in {', '.join(asked.expected)}")
        return 2 * NORMAL * float(np.max(asked.expected[name].std_err)) > width

    few, many = 1, 2
    while wide(many):
        few, many = many, many * 8
        if many > _MOST:
            raise Infeasible(
                f"width: an interval of {width:g} takes more than {_MOST} clients",
                *("width", f"{width:g}", f"must take at most {_MOST} clients"),
            )
    while many > few * 1.005 and many - few > 1:
        middle = math.isqrt(few * many)
        few, many = (middle, many) if wide(middle) else (few, middle)
    return many


def _plans(question: Question, given: Mapping[str, Any]) -> Iterator[Plan]:
    """Yield plans to choose from. No answer is clipped in any of them.

    There is none of privunit: its standard errors are about long gradients of many coordinates.
    """
    common: dict[str, Any] = {"dim": question.dim, "l1": question.l1, "l2": question.l2, **given}
    if given["records"] or given["trust"] in ("own-site", "two-servers"):
        yield plan(clip=question.l2, force=True, **common)
        return
    for sparsity in question.sparsities():
        common |= {"clip": question.l1, "sparsity": sparsity, "force": True}
        planned = plan(**common)
        yield planned if "sparsity" in planned.params else plan(mechanism="coco", **common)


def _shapes(question: Question, planned: Plan) -> Iterator[dict[str, Any]]:
    """Yield rounds of a plan to choose from, as the arguments of Round.new."""
    shape: dict[str, Any] = {
        "mechanism": planned.mechanism,
        "epsilon": planned.epsilon,
        "delta": planned.delta,
        "scale": planned.scale,
        **planned.params,
    }
    yield shape
    # Shares send the sign plus alone, and how many do so has less noise than their mean. It takes
    # more slots than the mean, and where nobody is trusted the ε does not depend on them.
    if question.shares and planned.mechanism == "coco" and planned.params["sparsity"] == 1:
        if planned.params["slots"] > 2:
            yield {**shape, "columns": ("plus",)}
        if planned.trust == "nobody":
            free = {name: value for name, value in shape.items() if name != "slots"}
            yield {**free, "columns": ("plus",)}


def _round(question: Question, shape: Mapping[str, Any], name: str, least: int) -> Round:
    return Round.new(name, dim=question.dim, min_reports=least, **shape)


def _rehearsed(question: Question, planned: Plan, shape: Mapping[str, Any]) -> Estimate:
    """Return what divided clients would come to.

    A local mechanism is rehearsed with reports of its own. Two servers add twice the noise variance
    of a site with one report, and n sites n times.
    """
    if planned.mechanism in ("gaussian-shares", "gaussian-site"):
        noises = 2 if planned.mechanism == "gaussian-shares" else planned.cohort
        alone = {name: value for name, value in shape.items() if name != "records"}
        shape, reports = {**alone, "mechanism": "gaussian-site"}, 1
        factor = math.sqrt(noises) / (planned.records or planned.cohort)
    else:
        reports = max(256, min(_REHEARSED, 4_000_000 // question.dim))
        factor = math.sqrt(reports / planned.cohort)
    server = _round(question, shape, "rehearsal", 1)
    client = Round(server.description, Policy(max_epsilon=math.inf, max_delta=server.delta))
    counts = server.aggregator()
    counts.add(client.encode(question.divided(reports)))
    estimate = counts.estimate()
    mean = question.divided(_REHEARSED).mean(axis=0)
    columns = {
        name: Series(mean / question.l1, None if each.std_err is None else each.std_err * factor)
        for name, each in estimate.columns.items()
    }
    return replace(estimate, mean=mean, std_err=estimate.std_err * factor, columns=columns)
