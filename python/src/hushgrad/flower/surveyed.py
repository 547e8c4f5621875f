"""A question that clients answer in rounds of evaluation."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from logging import getLogger

from flwr.app import ArrayRecord, Message, MetricRecord

from ..errors import TooFewReports
from ..evaluation import Survey
from ..federated import PlainReply
from ..federated import evaluation as questions
from .opened import Opened, Rounds
from .replies import answers

log = getLogger("flwr")


class Surveyed:
    """A question with its rounds, in as many rounds of Flower as it is planned for.

    Parameters
    ----------
    survey : Survey
        The question.
    rounds : Rounds
        How rounds are sent and estimated.
    """

    def __init__(self, survey: Survey, rounds: Rounds) -> None:
        self._survey = survey
        self._rounds = rounds
        self._asked = 0
        self._open: Opened | None = None

    def ask(
        self, server_round: int, arrays: ArrayRecord, messages: list[Message]
    ) -> Iterable[Message]:
        """Put the question into messages, or drop them when it was asked often enough.

        Raises
        ------
        InvalidParameter
            If the parameters describe no round.
        """
        if not messages:
            return messages
        if self._asked >= self._survey.plan.rounds:
            log.info("hushgrad: no evaluation, the question is for %d rounds", self._asked)
            return []
        self._asked += 1
        self._rounds.abort(self._open)
        round_ = self._survey.round(
            f"evaluation-{server_round}-{secrets.token_hex(8)}",
            min_reports=self._rounds.least(len(messages)),
        )
        round_ = self._rounds.send(round_, messages, **questions.asked(self._survey.question))
        self._open = Opened(round_, arrays, (), len(messages))
        return messages

    def read(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """Return the answer, or None where nobody was asked.

        Raises
        ------
        PlainReply
            If a client sent its metrics as they are.
        AggregatorLost, ServerRefused
            If the helper dies again and again, or if a server does not answer.
        """
        opened, self._open = self._open, None
        if opened is None:
            return None
        try:
            answered = answers(replies)
        except PlainReply:
            self._rounds.abort(opened)
            raise
        try:
            result = self._rounds.estimate(opened.round, answered)
        except TooFewReports as error:
            why = answered.refusals
            log.warning("hushgrad: evaluation %s is given up: %s%s", server_round, error, why)
            return MetricRecord({**self._rounds.metrics(opened, answered, "evaluate")})
        read = questions.flat(self._survey.read(result))
        return MetricRecord({**read, **self._rounds.metrics(opened, answered, "evaluate")})
