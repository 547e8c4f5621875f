"""The question of a job, and the rounds of it in which sites answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..evaluation.carried import restored
from ..federated.evaluation import asked, flat
from .opened import Waiting
from .rounds import Rounds, say

KIND = "evaluate"


class Evaluation:
    """A question that sites answer in some rounds of training.

    Parameters
    ----------
    given : mapping
        What :func:`hushgrad.evaluation.carried.carried` has made of a survey.
    rounds : Rounds
        How rounds are opened and estimated.

    Raises
    ------
    InvalidParameter
        If it is something else.
    """

    def __init__(self, given: Mapping[str, Any], rounds: Rounds) -> None:
        self._survey = restored(given)
        self._rounds = rounds

    def due(self, number: int, total: int | None) -> bool:
        """Say whether sites are asked in a round: as often as planned, evenly, and in the last one.

        Parameters
        ----------
        number : int
            The round, from 0.
        total : int or None
            Rounds of the job. Where that is not known the first ones ask.
        """
        often = self._survey.rounds
        if total is None or total <= often:
            return number < often
        return (number + 1) * often // total > number * often // total

    def ask(self, number: int, min_reports: int) -> Waiting:
        """Open a round that asks the question."""
        name = self._rounds.named(f"evaluation-{number}")
        made = self._survey.round(name, min_reports=min_reports)
        return Waiting(self._rounds.open(made), KIND)

    def sent(self, waiting: Waiting) -> dict[str, Any]:
        """Return what sites get of a question."""
        sent = {"round": waiting.round.description, "log_proof": waiting.round.log_proof}
        return {**sent, **asked(self._survey.question)}

    def read(self, waiting: Waiting) -> tuple[dict[str, float | list[float]], dict[str, float]]:
        """Return the answer by its names with what was counted, and the promise of the run."""
        result = self._rounds.estimate(waiting)
        answer = {} if result is None else flat(self._survey.read(result))
        promise = self._rounds.promise(waiting)
        about = self._rounds.counts(waiting)
        if (local := promise.pop("hushgrad.epsilon-local", None)) is not None:
            about["hushgrad.epsilon-local"] = local
        say(waiting, about | answer)
        prefixed = {n.replace("hushgrad.", "hushgrad.evaluation."): v for n, v in about.items()}
        return {**answer, **prefixed}, promise
