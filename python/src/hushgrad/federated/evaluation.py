"""Evaluation by private reports: which metrics a server asks for, and what clients answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..errors import invalid
from ..evaluation import Metrics, Question
from ..evaluation.measure import Measures
from ..rounds import Round

ANSWER = "answer"
"""Name of the metric that has a whole answer, where a question is not about named metrics."""

_NAMES, _LOW, _HIGH = "names", "low", "high"


def asked(question: Question) -> dict[str, list[str] | list[float]]:
    """Return what clients have to know of a question. It travels beside its round."""
    if not isinstance(question, Metrics):
        return {}
    low, high = question.low.tolist(), question.high.tolist()
    return {_NAMES: list(question.names), _LOW: low, _HIGH: high}


def question(sent: Mapping[str, Any], round_: Round) -> Metrics | None:
    """Return the metrics that a server asks for, or None where the app gives a whole answer.

    Parameters
    ----------
    sent : mapping
        What :func:`asked` has returned, among other things.

    Raises
    ------
    InvalidParameter
        If the round is of another question.
    """
    if _NAMES not in sent:
        return None
    names, low, high = (cast("list[Any]", sent.get(key)) for key in (_NAMES, _LOW, _HIGH))
    try:
        pairs = zip(map(float, low), map(float, high), strict=True)
        result = Metrics(dict(zip(map(str, names), pairs, strict=True)))
    except (TypeError, ValueError) as error:
        raise invalid("question", "none", f"must be names with their ranges: {error}") from None
    if result.dim != round_.dim:
        raise invalid("dim", round_.dim, f"must be the {result.dim} metrics of the question")
    return result


def answer(
    asked_for: Metrics | None, round_: Round, unit: str, found: Mapping[str, Any], where: str
) -> NDArray[np.float64]:
    """Return a client's answers as rows: one, or with the unit "example" one for each record.

    Parameters
    ----------
    asked_for : Metrics or None
        What the server asks for.
    unit : {"client", "example"}
        What a report protects.
    found : mapping
        The metrics by their names, each a number, or a list of a number for each record.
    where : str
        What should have had a metric that is missing, for the error.

    Raises
    ------
    InvalidParameter
        If a metric is missing, or has another shape. The error quotes nothing of what was found.
    """
    names = (ANSWER,) if asked_for is None else asked_for.names
    if missing := [name for name in names if name not in found]:
        raise invalid("metrics", "others", f"{where} must have {', '.join(missing)}")
    whole = asked_for is None
    rows = _whole(found[ANSWER], round_.dim) if whole else asked_for.records(found)
    return rows.mean(axis=0, keepdims=True) if unit == "client" else rows


def encoder(round_: Round, rows: NDArray[np.floating], unit: str) -> Callable[..., bytes]:
    """Return what makes the reports of rows. It takes a ledger or a reservation."""
    if unit == "example" and round_.about_records:
        return partial(round_.encode_records, rows)
    return partial(round_.encode, rows, unit="example" if unit == "example" else "client")


def flat(measures: Measures) -> dict[str, float | list[float]]:
    """Return measures as frameworks have them: a value by its name, and its error bars beside it.

    The error bars are ``.std-err`` and the ends of an interval of 95 %, ``.low`` and ``.high``.
    """
    return {
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


def _whole(given: object, dim: int) -> NDArray[np.float64]:
    """Return whole answers that an app gives, one a row."""
    rule = f"must have {dim} numbers for each answer"
    try:
        numbers = np.ravel(np.asarray(given, np.float64))
    except (TypeError, ValueError):
        raise invalid(ANSWER, "another type", rule) from None
    if numbers.size == 0 or numbers.size % dim:
        raise invalid(ANSWER, "another number", rule)
    return np.nan_to_num(np.reshape(numbers, (-1, dim)), posinf=0.0, neginf=0.0)
