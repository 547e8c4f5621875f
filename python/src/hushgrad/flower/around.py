"""A strategy around another one, which evaluates and keeps the average of its models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from logging import getLogger

from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Result, Strategy

from ..federated.average import Average
from ..federated.models import Names
from . import records

log = getLogger("flwr")

Evaluate = Callable[[int, ArrayRecord], MetricRecord | None]


class Around(Strategy):
    """A strategy whose evaluation is another one's.

    Parameters
    ----------
    strategy : Strategy
        The other one.
    averaging : float
        Decay of the average of the models, in [0, 1).

    Attributes
    ----------
    averaged : ArrayRecord or None
        The average so far. None before the first step, and without averaging.
    """

    def __init__(self, strategy: Strategy, averaging: float) -> None:
        self.strategy = strategy
        self._averaging = averaging
        self._average = Average(averaging)
        self.averaged: ArrayRecord | None = None

    def start(
        self,
        grid: Grid,
        initial_arrays: ArrayRecord,
        num_rounds: int = 3,
        timeout: float = 3600,
        train_config: ConfigRecord | None = None,
        evaluate_config: ConfigRecord | None = None,
        evaluate_fn: Evaluate | None = None,
    ) -> Result:
        """Train as Flower does. What is evaluated and returned is the average of the models.

        If all rounds are given up, the result has the model that the run began with.
        """
        self._average, self.averaged = Average(self._averaging), None
        result = super().start(
            *(grid, initial_arrays, num_rounds, timeout, train_config, evaluate_config),
            evaluate_fn=evaluate_fn and self._of_average(evaluate_fn),
        )
        if self.averaged is not None:
            result.arrays = self.averaged
        elif not result.arrays:
            log.warning("hushgrad: no round counted: the model is the one that the run began with")
            result.arrays = initial_arrays
        return result

    def _of_average(self, evaluate: Evaluate) -> Evaluate:
        return lambda server_round, arrays: evaluate(server_round, self._counts(arrays))

    def _counts(self, arrays: ArrayRecord) -> ArrayRecord:
        """Return the model that counts: the average, where there is one."""
        return arrays if self.averaged is None else self.averaged

    def remember(self, model: ArrayRecord, names: Names) -> None:
        """Take a model into the average."""
        if self._averaging == 0:
            return
        after = self._average.add(records.arrays(model), names)
        self.averaged = ArrayRecord({name: Array(array) for name, array in after.items()})

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Leave evaluation to the inner strategy. Replies to it are not private."""
        model = self._counts(arrays)
        return self.strategy.configure_evaluate(server_round, model, config, grid)

    def aggregate_evaluate(
        self, server_round: int, replies: Iterable[Message]
    ) -> MetricRecord | None:
        """Leave evaluation to the inner strategy."""
        return self.strategy.aggregate_evaluate(server_round, replies)

    def reply(self, received: Message, model: ArrayRecord, reports: int) -> Message:
        """Return the one reply that the inner strategy aggregates."""
        arrays = getattr(self.strategy, "arrayrecord_key", "arrays")
        weight = getattr(self.strategy, "weighted_by_key", "num-examples")
        content = RecordDict({arrays: model, "metrics": MetricRecord({weight: reports})})
        return Message(content, reply_to=received)
