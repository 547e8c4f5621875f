"""The server's half: from reports to the step of a strategy."""

from __future__ import annotations

from collections.abc import Iterable
from logging import getLogger
from typing import Any

from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Strategy

from ..errors import HushgradError, TooFewReports
from ..federated import Answers, PlainReply, Run, count, measures
from ..rounds import Round
from . import records

log = getLogger("flwr")


class HushgradAggregation(Strategy):
    """A strategy that trains on private reports, around any other strategy.

    It opens a round in every round of Flower and sends it to the clients that the inner
    strategy chooses. It estimates the mean of their updates from the reports. The inner
    strategy then aggregates one reply: the model plus the mean update. So FedAvg, FedAvgM and
    FedAdam step as always. Too few reports leave the model as it is.

    The reports of a client reveal little to everybody, the server and the SuperLink included.
    The SuperLink sees which node sent a report: a central ε holds only for a party that does
    not, and its metric is named so.

    Every round adds these metrics:

    - ``hushgrad.reports``, ``hushgrad.refused`` (by policy or budget), ``hushgrad.failed``,
      ``hushgrad.bytes-per-report``;
    - ``hushgrad.std-err``: root mean square of the standard errors of the mean update. They are
      on the large side where there are few reports;
    - ``hushgrad.signal-to-noise``: Euclidean norm of the mean update over that of its standard
      errors, without what noise adds to it; so it is on the small side;
    - ``hushgrad.epsilon-local``: of one report, against everybody;
    - ``hushgrad.epsilon-local-total``: of a client that took part in all rounds so far;
    - ``hushgrad.epsilon-central-if-shuffled``: the same client, composed, only against a party
      that sees nothing but shuffled reports, at ``hushgrad.delta``.

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
    server_lr : float
        The mean update is multiplied by it.
    central_delta : float
        δ at which the central ε is stated.
    **params : int, float or str
        Parameters of the mechanism, for example ``sparsity=64``.
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
        server_lr: float = 1.0,
        central_delta: float = 1e-6,
        **params: float | str,
    ) -> None:
        self.strategy = strategy
        self._epsilon = epsilon
        self._scale = scale
        self._mechanism = mechanism
        self._delta = delta
        self._min_reports = min_reports
        self._server_lr = server_lr
        self._params: dict[str, Any] = params
        self._open: tuple[Round, ArrayRecord] | None = None
        self._run = Run(central_delta, log)

    def summary(self) -> None:
        """Log what the strategy is."""
        log.info("\t├──> hushgrad: ε = %g for each report, %s", self._epsilon, self._mechanism)
        self.strategy.summary()

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Open a round and send it to the clients that the inner strategy chooses.

        Raises
        ------
        InvalidParameter
            If the parameters describe no round.
        """
        messages = list(self.strategy.configure_train(server_round, arrays, config, grid))
        self._open = None
        if not messages:
            return messages
        least = self._min_reports or (len(messages) + 1) // 2
        round_ = Round.new(
            f"round-{server_round}",
            dim=sum(array.size for array in records.parameters(arrays).values()),
            epsilon=self._epsilon,
            scale=self._scale,
            mechanism=self._mechanism,
            delta=self._delta,
            min_reports=least,
            **self._params,
        )
        for message in messages:
            message.content[records.RECORD] = ConfigRecord({records.ROUND: round_.description})
        self._open = (round_, arrays)
        return messages

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Estimate the mean update and let the inner strategy step.

        Raises
        ------
        PlainReply
            If a client sent its model or its metrics.
        """
        if self._open is None:
            return None, None
        round_, arrays = self._open
        self._open = None  # a round is estimated once
        answered = _sorted(replies)
        counts = count(round_, answered, _rejected)
        metrics = MetricRecord(
            {
                "hushgrad.reports": len(answered.reports),
                "hushgrad.refused": answered.refused,
                "hushgrad.failed": answered.failed,
                **self._run.promise(round_, len(answered.reports)),
            }
        )
        try:
            estimate = counts.estimate()
        except TooFewReports as error:
            log.warning("hushgrad: round %s is given up: %s", server_round, error)
            return None, metrics
        sent = sum(len(report) for _, report in answered.reports)
        metrics.update(measures(estimate, sent))
        mean = records.moved(arrays, estimate.mean * self._server_lr)
        stepped, inner = self.strategy.aggregate_train(
            server_round, [self._reply(answered.reports[0][0], mean, estimate.reports)]
        )
        return stepped, MetricRecord({**(inner or {}), **metrics})

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Leave evaluation to the inner strategy. Replies to it are not private."""
        return self.strategy.configure_evaluate(server_round, arrays, config, grid)

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """Leave evaluation to the inner strategy."""
        return self.strategy.aggregate_evaluate(server_round, replies)

    def _reply(self, received: Message, model: ArrayRecord, reports: int) -> Message:
        """Return the one reply that the inner strategy aggregates."""
        arrays = getattr(self.strategy, "arrayrecord_key", "arrays")
        weight = getattr(self.strategy, "weighted_by_key", "num-examples")
        content = RecordDict({arrays: model, "metrics": MetricRecord({weight: reports})})
        return Message(content, reply_to=received)


def _sorted(replies: Iterable[Message]) -> Answers[Message]:
    """Sort replies into reports, refusals and failures."""
    result = Answers[Message]()
    for reply in replies:
        if reply.has_error():
            if (reply.error.reason or "").startswith(records.REFUSED):
                result.refused += 1
            else:
                result.failed += 1
            log.info("hushgrad: node %d: %s", reply.metadata.src_node_id, reply.error.reason)
            continue
        if reply.content.array_records or reply.content.metric_records:
            raise PlainReply(
                f"node {reply.metadata.src_node_id} sent arrays or metrics, and no report: give "
                "its ClientApp the mod HushgradMod",
                *("mods", "none of hushgrad", "must have HushgradMod"),
            )
        record = reply.content.config_records.get(records.RECORD, ConfigRecord())
        report = record.get(records.REPORT)
        if isinstance(report, bytes):
            result.reports.append((reply, report))
        else:
            result.failed += 1
    return result


def _rejected(reply: Message, error: HushgradError) -> None:
    log.info("hushgrad: node %d: %s", reply.metadata.src_node_id, error)
