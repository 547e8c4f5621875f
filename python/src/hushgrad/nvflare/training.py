"""Rounds of training: what goes into the tasks of sites, and what comes of their reports."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

from collections.abc import Mapping
from logging import getLogger
from typing import Any

from nvflare.apis.dxo import DataKind
from nvflare.apis.shareable import Shareable
from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.app_constant import AppConstants

from ..errors import HushgradError, invalid
from ..federated import chosen, measures, noisy
from ..federated.models import size
from ..federated.steps import Steps
from ..rounds import Round
from . import messages
from .evaluation import Evaluation
from .messages import arrays
from .opened import Opened
from .rounds import Rounds, say

log = getLogger(__name__)


class Training:
    """Rounds of training, with the questions that go with them.

    Parameters
    ----------
    given : mapping
        Arguments of :meth:`hushgrad.Round.new`.
    train : str, list of str or None
        Which arrays train.
    unit : {"client", "example"}
        What a report protects.
    rounds : Rounds
        How rounds are opened and estimated.
    steps : Steps
        What becomes of their means.
    question : Evaluation or None
        What sites are asked.
    """

    def __init__(
        self,
        given: Mapping[str, Any],
        train: str | list[str] | None,
        unit: str,
        rounds: Rounds,
        steps: Steps,
        question: Evaluation | None,
    ) -> None:
        self._given = given
        self._train = train
        self._unit = unit
        self._rounds = rounds
        self._steps = steps
        self._question = question
        self._said = False  # which arrays get noise

    def open(self, task: Shareable) -> Opened:
        """Open a round for the model of a task, and a question where one is due.

        Raises
        ------
        InvalidParameter
            If the parameters describe no round, or if what trains is not in the model.
        """
        model = arrays(task, (DataKind.WEIGHTS,))
        if model is None:
            raise invalid("model", "another type", "must be a dict of NumPy arrays")
        names = chosen(model, self._train)
        if not self._said:
            log.info("hushgrad: %s", noisy(model, names))
            self._said = True
        number = int(task.get_header(AppConstants.CURRENT_ROUND) or 0)
        total = task.get_header(AppConstants.NUM_ROUNDS)
        name = self._rounds.named(f"round-{number}")
        round_ = self._rounds.open(Round.new(name, dim=size(model, names), **self._given))
        part = {name: model[name].copy() for name in names}
        opened = Opened(round_, part, last=number + 1 == total)
        if self._question is not None and self._question.due(number, total):
            try:
                opened.question = self._question.ask(number, self._given["min_reports"])
            except HushgradError:
                self._rounds.abort(opened)
                raise
        return opened

    def send(self, opened: Opened, task: Shareable) -> None:
        """Put a round into a task."""
        task.set_header(messages.ROUND, opened.round.description)
        task.set_header(messages.LOG_PROOF, opened.round.log_proof)
        task.set_header(messages.UNIT, self._unit)
        task.set_header(messages.TRAIN, list(opened.model))
        if self._question is not None and opened.question is not None:
            task.set_header(messages.QUESTION, self._question.sent(opened.question))

    def step(self, opened: Opened) -> FLModel:
        """Return the step of a round, and its metrics.

        Raises
        ------
        PlainReply
            If a site sent its model or its metrics.
        AggregatorLost, ServerRefused
            If the helper dies again and again, or if a server does not answer.
        """
        answer: dict[str, Any] = {}
        known: dict[str, float] = {}
        try:
            if opened.plain is not None:
                raise opened.plain
            result = self._rounds.estimate(opened)
            if self._question is not None and opened.question is not None:
                answer, known = self._question.read(opened.question)
        except HushgradError:
            self._rounds.abort(opened)
            raise
        # What this round promises is of the questions, too.
        promise = self._rounds.promise(opened) if opened.sent else known
        metrics = {**self._rounds.counts(opened), **promise}
        if result is not None:
            sent = sum(len(report) for _, report in opened.answers.reports)
            metrics |= measures(result, sent)
        say(opened, metrics)
        mean = None if result is None else result.mean
        step = self._steps.step(opened.model, mean, last=opened.last)
        return FLModel(params_type=ParamsType.DIFF, params=step, metrics={**answer, **metrics})
