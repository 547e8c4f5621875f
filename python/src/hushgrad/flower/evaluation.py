"""Evaluation by private reports: which metrics the server asks for, and what clients answer."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from flwr.app import ConfigRecord, Message, MetricRecord
from numpy.typing import NDArray

from ..errors import invalid
from ..evaluation import Metrics, Question
from ..evaluation.measure import Measures
from ..rounds import Round
from .unit import Unit

ANSWER = "answer"
"""Name of the metric that has a whole answer, where a question is not about named metrics."""

HOW = (
    "give HushgradAggregation a question, evaluation=ask(Metrics({'accuracy': (0, 1)}), "
    "clients=...) of hushgrad.evaluation, or ask no client with fraction_evaluate=0"
)
"""What to type where an evaluation would not be private."""

_NAMES, _LOW, _HIGH = "names", "low", "high"


def asked(question: Question) -> dict[str, list[str] | list[float]]:
    """Return what clients have to know of a question, for the record of a server."""
    if not isinstance(question, Metrics):
        return {}
    low, high = question.low.tolist(), question.high.tolist()
    return {_NAMES: list(question.names), _LOW: low, _HIGH: high}


def question(record: ConfigRecord, round_: Round) -> Metrics | None:
    """Return the metrics that a server asks for, or None where the app gives a whole answer.

    Raises
    ------
    InvalidParameter
        If the round is of another question.
    """
    if _NAMES not in record:
        return None
    names, low, high = (cast("list[Any]", record.get(key)) for key in (_NAMES, _LOW, _HIGH))
    try:
        pairs = zip(map(float, low), map(float, high), strict=True)
        result = Metrics(dict(zip(map(str, names), pairs, strict=True)))
    except (TypeError, ValueError) as error:
        raise invalid("question", "none", f"must be names with their ranges: {error}") from None
    if result.dim != round_.dim:
        raise invalid("dim", round_.dim, f"must be the {result.dim} metrics of the question")
    return result


def answer(
    asked_for: Metrics | None, round_: Round, unit: Unit, reply: Message
) -> NDArray[np.float64]:
    """Return a client's answers as rows: one, or with the unit "example" one for each record.

    Parameters
    ----------
    asked_for : Metrics or None
        What the server asks for.
    reply : Message
        What the ClientApp returned. Its MetricRecords have the metrics by their names, each a
        number, or a list of a number for each record.

    Raises
    ------
    InvalidParameter
        If a metric is missing, or has another shape. The error quotes nothing of the reply.
    """
    found = {name: v for each in reply.content.metric_records.values() for name, v in each.items()}
    names = (ANSWER,) if asked_for is None else asked_for.names
    if missing := [name for name in names if name not in found]:
        rule = f"the MetricRecord of the ClientApp must have {', '.join(missing)}"
        raise invalid("metrics", "others", rule)
    if asked_for is not None:
        rows = asked_for.records(found)
    else:
        numbers = np.ravel(np.asarray(found[ANSWER], np.float64))
        if numbers.size == 0 or numbers.size % round_.dim:
            rule = f"must have {round_.dim} numbers for each answer"
            raise invalid(ANSWER, "another number", rule)
        rows = np.nan_to_num(np.reshape(numbers, (-1, round_.dim)), posinf=0.0, neginf=0.0)
    return rows.mean(axis=0, keepdims=True) if unit == "client" else rows


def flat(measures: Measures) -> MetricRecord:
    """Return measures as Flower has them: a value by its name, and its error bars beside it."""
    return MetricRecord(
        {
            f"{name}{suffix}": np.asarray(number, np.float64).ravel().tolist()
            if np.ndim(number)
            else float(number)
            for name, measure in measures.items()
            for suffix, number in (
                ("", measure.value),
                (".std-err", measure.std_err),
                (".low", measure.low),
                (".high", measure.high),
            )
        }
    )
