"""Evaluation by private reports, in Flower's records."""

from __future__ import annotations

from typing import Any

from flwr.app import Message

HOW = (
    "give HushgradAggregation a question, evaluation=ask(Metrics({'accuracy': (0, 1)}), "
    "clients=...) of hushgrad.evaluation, or ask no client with fraction_evaluate=0"
)
"""What to type where an evaluation would not be private."""

WHERE = "the MetricRecord of the ClientApp"
"""Where a ClientApp puts what it has found."""


def found(reply: Message) -> dict[str, Any]:
    """Return the metrics that a ClientApp has found."""
    records = reply.content.metric_records.values()
    return {name: value for each in records for name, value in each.items()}
