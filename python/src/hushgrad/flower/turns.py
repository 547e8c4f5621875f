"""Clients that take part in turn, as plans have it."""

from __future__ import annotations

from collections.abc import Iterable
from logging import getLogger
from typing import Any

from flwr.app import ArrayRecord, ConfigRecord, Message
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvgM, Strategy

from ..errors import invalid
from ..federated.turns import Turns
from ..planning import Plan

log = getLogger("flwr")


class InTurn(FedAvgM):
    """FedAvgM whose clients take part in turn, and not in rounds that are drawn at random.

    A round goes to those nodes that were asked least often, in random order. No node is asked more
    often than it may be. A round without enough such nodes is left out. The counts are of this
    process: only a node's ledger outlives it.

    Parameters
    ----------
    cohort : int
        Nodes of a round.
    most : int
        Rounds in which a node takes part, at most.
    **given
        Arguments of FedAvgM. Federated evaluation is off unless ``fraction_evaluate`` says
        otherwise: its replies are not private.

    Raises
    ------
    InvalidParameter
        If cohort or most is below 1.
    """

    def __init__(self, cohort: int, most: int, **given: Any) -> None:  # noqa: ANN401
        turns = Turns(cohort, most)
        at_least = {"min_train_nodes": cohort, "min_available_nodes": cohort}
        arguments: dict[str, Any] = {"fraction_evaluate": 0.0, **at_least, **given}
        super().__init__(**arguments)
        self._turns = turns

    @property
    def asked(self) -> int:
        """Rounds for which a node was asked so far, at most."""
        return self._turns.asked

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Send the model to those whose turn it is."""
        messages = {
            message.metadata.dst_node_id: message
            for message in super().configure_train(server_round, arrays, config, grid)
        }
        asked = self._turns.next(messages)
        if asked:
            asks = "hushgrad: round %d asks %d of %d nodes"
            log.info(asks, server_round, len(asked), len(messages))
        else:
            log.warning(
                "hushgrad: round %d is left out: %d nodes may still take part, and %d have to",
                *(server_round, len(self._turns.free(messages)), self._turns.cohort),
            )
        return [messages[node] for node in asked]


def steps(plan: Plan, strategy: Strategy | None) -> Strategy:
    """Return a strategy that steps as a plan has it, or a given one that does.

    Raises
    ------
    InvalidParameter
        If the given one has another momentum or learning rate.
    """
    if strategy is not None:
        has = tuple(
            getattr(strategy, f"server_{name}", None) for name in ("momentum", "learning_rate")
        )
        if has != (plan.momentum, 1.0):
            rule = f"must be FedAvgM(server_momentum={plan.momentum:g}), server_learning_rate=1"
            raise invalid("strategy", f"{type(strategy).__name__} with {has[0]} and {has[1]}", rule)
        return strategy
    return InTurn(plan.cohort, plan.promise.participations, server_momentum=plan.momentum)
