"""A question with its rounds as plain data, which the configuration of a job can carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from ..aggregator import Estimate
from ..errors import InvalidParameter, invalid
from ..rounds import Round
from .cells import Column, Confusion, Scores
from .measure import Measures
from .question import Metrics, Question
from .survey import Survey

_KIND, _ABOUT, _SHAPE, _ROUNDS = "kind", "about", "shape", "rounds"

_MADE: dict[str, Callable[..., Question]] = {
    "metrics": Metrics,
    "confusion": Confusion,
    "scores": Scores,
    "column": Column,
}
"""Questions by their kinds. They take what :func:`_about` returns."""


@dataclass(frozen=True, eq=False)
class Carried:
    """A question with its rounds, as it was carried somewhere else.

    Attributes
    ----------
    question : Question
        What is asked.
    rounds : int
        How often a client is asked.
    """

    question: Question
    rounds: int
    _shape: Mapping[str, Any]

    def round(self, id: str, *, min_reports: int) -> Round:  # noqa: A002
        """Return a round that asks the question, with fresh public randomness."""
        return Round.new(id, dim=self.question.dim, min_reports=min_reports, **self._shape)

    def read(self, estimate: Estimate) -> Measures:
        """Return the answer, by name."""
        return self.question.read(estimate)


def carried(survey: Survey) -> dict[str, Any]:
    """Return a survey as numbers, texts, lists and dicts of them.

    Raises
    ------
    InvalidParameter
        If the question is none of this package.
    """
    kind, about = _about(survey.question)
    return {
        _KIND: kind,
        _ABOUT: about,
        _SHAPE: {name: _plain(value) for name, value in survey.shape.items()},
        _ROUNDS: survey.plan.rounds,
    }


def restored(given: Mapping[str, Any]) -> Carried:
    """Return what :func:`carried` was given.

    Raises
    ------
    InvalidParameter
        If it is something else.
    """
    try:
        made = _MADE[given[_KIND]](**given[_ABOUT])
        return Carried(made, int(given[_ROUNDS]), dict(given[_SHAPE]))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InvalidParameter):
            raise
        rule = "must be what ask(QUESTION, clients=...) of hushgrad.evaluation returns"
        raise invalid("evaluation", "something else", rule) from error


def _plain(value: object) -> object:
    """Return a parameter of a round as a job carries it, which has no tuples."""
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def _about(question: Question) -> tuple[str, dict[str, Any]]:
    """Return the kind of a question and the arguments that make it again."""
    if type(question) is Metrics:
        ranges = zip(question.low.tolist(), question.high.tolist(), strict=True)
        named = dict(zip(question.names, map(list, ranges), strict=True))
        return "metrics", {"ranges": named}
    if type(question) is Confusion:
        return "confusion", {"classes": question.classes}
    if type(question) in (Scores, Column):
        assert isinstance(question, Scores | Column)
        edges = question.edges
        ends = {"low": float(edges[0]), "high": float(edges[-1]), "bins": len(edges) - 1}
        if isinstance(question, Scores):
            return "scores", ends
        return "column", {**ends, "quantiles": question.quantiles.tolist()}
    rule = "must be Metrics, Confusion, Scores or Column: a job carries no other question"
    raise invalid("evaluation", type(question).__name__, rule)
