"""The server's half: from reports to the step of a strategy."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from logging import getLogger
from typing import Any

from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Strategy

from ..errors import TooFewReports, invalid
from ..evaluation import Survey
from ..federated import Answers, PlainReply, Shuffled, Train, chosen, measures, noisy
from ..federated.models import size
from ..federated.planned import TRUSTS_OTHERS, planned
from ..planning import Plan
from ..rounds import Round
from . import records
from .around import Around
from .opened import Opened, Rounds
from .replies import answers
from .surveyed import Surveyed
from .turns import InTurn, steps
from .unit import Unit, checked

log = getLogger("flwr")

# Whom the ε of a report is against, where this is not everybody.
_AGAINST = {
    "gaussian-site": "everybody outside of its node",
    "gaussian-shares": "either of the two servers alone",
    "sumdp": "whoever sees only the shuffled reports",
}


class HushgradAggregation(Around):
    """A strategy that trains on private reports, around any other strategy.

    It opens a round in every round of Flower and sends it to the clients that the inner
    strategy chooses. It estimates the mean of their updates from the reports. The inner
    strategy then aggregates one reply: the model plus the mean update. So FedAvg, FedAvgM and
    FedAdam step as always. Too few reports leave the model as it is.

    The estimate has noise in every array that trains. By default these are all arrays of
    floating-point numbers: ``train`` says which ones do. All other arrays travel to the clients
    and stay as they are, bit by bit. The inner strategy does not see them.

    With ``shuffled`` the reports are sealed, and this program reads none of them.

    A report reveals little to everybody, the server and the SuperLink included. The SuperLink
    sees which node sent it: a central ε holds only for a party that does not, and its metric
    is named so.

    Every round adds these metrics:

    - ``hushgrad.reports``; ``hushgrad.refused``, clients that refused by policy or budget;
      ``hushgrad.failed``, clients without a report of this round;
    - ``hushgrad.records``, where reports are sums of records;
    - ``hushgrad.bytes-per-report``;
    - ``hushgrad.std-err``: root mean square of the standard errors of the mean update. They are
      on the large side where there are few reports;
    - ``hushgrad.signal-to-noise``: Euclidean norm of the mean update, without what noise adds to
      it, over the ``noise_norm`` of the estimate, or the norm of the standard errors where a
      few reports that agree make that 0;
    - ``hushgrad.epsilon-local``: of one report, against everybody;
    - ``hushgrad.epsilon-local-total``: of a client that took part in all rounds so far, or with
      :class:`InTurn` as often as one was asked, at ``hushgrad.delta-local``, which is 0 for local
      mechanisms;
    - ``hushgrad.epsilon-central-if-shuffled``: the same client, composed, only against a party
      that sees nothing but shuffled reports, at ``hushgrad.delta``;
    - ``hushgrad.epsilon-two-servers``: with gaussian-shares, against either of two servers
      alone, at ``hushgrad.delta``. There is no local ε then.

    With ``unit="example"`` every ε is for one record, and not for a client.

    With ``evaluation`` clients answer a question by one report in every round of Flower in which
    the inner strategy evaluates, and the metrics of evaluation have the answer: each measure
    by its name, with ``.std-err``, ``.low`` and ``.high`` beside it. Every ε of a total is then of
    both kinds of reports together. Without it a HushgradMod lets no reply to evaluation leave.

    Parameters
    ----------
    strategy : Strategy
        The strategy that chooses clients and steps.
    epsilon : float
        ε of one report, in (0, 20].
    scale : float
        In units of an update; see :class:`hushgrad.Round`.
    mechanism : str
        Name of the mechanism. "auto" chooses the one with the smallest error.
    delta : float
        δ of one report; 0 for local mechanisms.
    min_reports : int, optional
        Reports below which a round is given up. Default half of the clients that were asked.
        It is required with unit="example". Where reports are sums of records it counts clients.
    unit : {"client", "example"}
        What a report protects: all data of a client, or one record of it. With "example" the
        mean update is one of records. It must be the unit of the clients' HushgradMod.
    max_records : int
        Reports that one client may send with unit="example". Of more none is counted.
    shuffled : Shuffled, optional
        Where sealed reports go. Without it the ServerApp counts reports by itself.
    train : str, sequence of str, or callable, optional
        Which arrays train: a name or a pattern as of :mod:`fnmatch`, such as ``"head.*"``,
        several of them, or a function of a name and an array. Default all arrays of
        floating-point numbers. :mod:`hushgrad.models` has the names for other libraries.
    server_lr : float
        The mean update is multiplied by it.
    averaging : float
        Decay of the exponential average of the models, in [0, 1). With more than 0 the average, and
        not the last model, is evaluated and returned by ``start``. It has less noise.
    central_delta : float
        δ at which the central ε is stated.
    evaluation : Survey, optional
        What clients are asked about the model, see :func:`hushgrad.evaluation.ask`, in as many
        rounds as it is planned for.
    **params : int, float or str
        Parameters of the mechanism, for example ``sparsity=64``. With unit="example" and
        ``records``, the most records of all clients together, each client sends one report of
        the sum of its records (gaussian-site, or gaussian-shares with ``shuffled``).

    Raises
    ------
    InvalidParameter
        If unit, min_reports or max_records breaks a rule.
    """

    def __init__(
        self,
        strategy: Strategy,
        *,
        epsilon: float,
        scale: float,
        mechanism: str = "auto",
        delta: float = 0.0,
        min_reports: int | None = None,
        unit: Unit = "client",
        max_records: int = 1_000_000,
        shuffled: Shuffled | None = None,
        train: Train = None,
        server_lr: float = 1.0,
        averaging: float = 0.0,
        central_delta: float = 1e-6,
        evaluation: Survey | None = None,
        **params: float | str,
    ) -> None:
        if checked(unit) == "example" and min_reports is None:
            raise invalid("min_reports", "nothing", "is required with unit='example'")
        if max_records < 1:
            raise invalid("max_records", max_records, "must be at least 1")
        super().__init__(strategy, averaging)
        self._rounds = Rounds(unit, max_records, min_reports, shuffled, central_delta)
        self._train: Train = train
        self._server_lr = server_lr
        self._params: dict[str, Any] = {
            "epsilon": epsilon,
            "scale": scale,
            "mechanism": mechanism,
            "delta": delta,
            **params,
        }
        self._open: Opened | None = None
        self._surveyed = None if evaluation is None else Surveyed(evaluation, self._rounds)
        self._said = False  # which arrays get noise

    @classmethod
    def from_plan(
        cls,
        plan: Plan,
        strategy: Strategy | None = None,
        *,
        client_lr: float = 1.0,
        **over: Any,  # noqa: ANN401
    ) -> HushgradAggregation:
        """Return the strategy of a planned run.

        It takes mechanism, ε, δ, scale and parameters of the rounds, the unit, the learning rate,
        the momentum and the average of the models from the plan. Give ``plan.affordable`` to
        ``start`` as num_rounds. min_reports is the plan's cohort where the clients trust a shuffler
        or two servers, because the promise needs so many reports, and otherwise half of it.

        Parameters
        ----------
        plan : Plan
            What :func:`hushgrad.plan` returned.
        strategy : FedAvgM, optional
            Who chooses the clients. Its server_momentum must be the plan's, and its
            server_learning_rate 1. Without it clients take part in turn, as the plan has it:
            :class:`InTurn`.
        client_lr : float
            Learning rate of the client's step. A plan is about gradients: a client that
            returns the model minus client_lr times its gradient trains as planned. For several
            steps give the sum of their rates, where the steps are small.
        **over
            Arguments that replace the plan's, and others of this class: ``train``, ``shuffled``.

        Raises
        ------
        InvalidParameter
            If the strategy steps in another way, if a plan that trusts a shuffler or two servers
            has no ``shuffled``, or if the plan is of records with a report each.
        """
        if plan.trust in TRUSTS_OTHERS and over.get("shuffled") is None:
            raise invalid("shuffled", "nothing", f"is required: the plan trusts {plan.trust}")
        given = {**planned(plan, client_lr), **plan.params, **over}
        return cls(steps(plan, strategy), **given)

    def summary(self) -> None:
        """Log what the strategy is."""
        whose = "client" if self._rounds.unit == "client" else "record"
        epsilon, mechanism = self._params["epsilon"], self._params["mechanism"]
        whom = _AGAINST.get(mechanism, "everybody")
        log.info("\t├──> hushgrad: %s, ε = %s for a report of a %s,", mechanism, epsilon, whose)
        log.info("\t│\tagainst %s", whom)
        self.strategy.summary()

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Open a round and send it to the clients that the inner strategy chooses.

        Raises
        ------
        InvalidParameter
            If the parameters describe no round, or if what trains is not in the model.
        """
        model = records.arrays(arrays)
        names = chosen(model, self._train)
        part = records.part(arrays, names)
        messages = list(self.strategy.configure_train(server_round, part, config, grid))
        self._drop()
        if not messages:
            return messages
        if not self._said:
            log.info("hushgrad: %s", noisy(model, names))
            self._said = True
        round_ = Round.new(
            f"round-{server_round}-{secrets.token_hex(8)}",
            dim=size(model, names),
            min_reports=self._rounds.least(len(messages)),
            **self._params,
        )
        round_ = self._rounds.send(round_, messages, **{records.TRAIN: list(names)})
        for message in messages:
            for name, sent in list(message.content.array_records.items()):
                if sent is part:
                    message.content[name] = arrays
        self._open = Opened(round_, arrays, names, len(messages))
        return messages

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Estimate the mean update and let the inner strategy step.

        Raises
        ------
        PlainReply
            If a client sent its model or its metrics.
        AggregatorLost
            If the helper died again and again.
        ServerRefused
            If the reports are sealed, and the server or the shuffler does not answer.
        """
        if self._open is None:
            return None, None
        try:
            answered = answers(replies)
        except PlainReply:
            self._drop()
            raise
        opened, self._open = self._open, None  # a round is estimated once
        try:
            result = self._rounds.estimate(opened.round, answered)
        except TooFewReports as error:
            why = answered.refusals
            log.warning("hushgrad: round %s is given up: %s%s", server_round, error, why)
            return None, MetricRecord({**self._metrics(opened, answered)})
        sent = sum(len(reports) for _, reports in answered.reports)
        metrics = {**self._metrics(opened, answered), **measures(result, sent)}
        mean = records.moved(opened.model, opened.names, result.mean * self._server_lr)
        stepped, inner = self.strategy.aggregate_train(
            server_round, [self.reply(answered.reports[0][0], mean, result.reports)]
        )
        after = None if stepped is None else records.whole(opened.model, opened.names, stepped)
        if after is not None:
            self.remember(after, opened.names)
        return after, MetricRecord({**(inner or {}), **metrics})

    def _metrics(self, opened: Opened, answered: Answers[Message]) -> dict[str, float]:
        asked = self.strategy.asked if isinstance(self.strategy, InTurn) else None
        return self._rounds.metrics(opened, answered, asked=asked)

    def _drop(self) -> None:
        """Forget a round that is not estimated."""
        self._rounds.abort(self._open)
        self._open = None

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Ask the clients that the inner strategy chooses, or leave it to that without a question.

        Raises
        ------
        InvalidParameter
            If the parameters describe no round.
        """
        messages = super().configure_evaluate(server_round, arrays, config, grid)
        if self._surveyed is None:
            return messages
        return self._surveyed.ask(server_round, arrays, list(messages))

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """Return the answer, or what the inner strategy does without a question.

        Raises
        ------
        PlainReply
            If a client sent its metrics as they are.
        AggregatorLost, ServerRefused
            As in :meth:`aggregate_train`.
        """
        if self._surveyed is None:
            return super().aggregate_evaluate(server_round, replies)
        return self._surveyed.read(server_round, replies)
