"""What a client demands of a round, and what a round promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from . import _bridge

Relation = Literal["replace-one", "zero-out"]
"""Which data sets are neighbours: one client's input is replaced by any other, or by zero."""


@dataclass(frozen=True)
class Policy:
    """What a client demands before it encodes.

    The default refuses every round: a budget of 0 allows no report. A policy belongs to the
    client. Never take it from the party that opens the rounds.

    Parameters
    ----------
    max_epsilon : float
        Largest ε of one report. ``math.inf`` also accepts rounds without privacy.
    max_delta : float
        Largest δ of one report.
    min_reports : int
        Smallest number of reports below which the round releases nothing.
    max_dim : int
        Largest number of coordinates, which bounds the memory of a round: up to 16 bytes for
        each. 0 stands for 2**24.
    trust_shuffler : bool
        Accept guarantees that hold only for the shuffled reports of all clients. They do not
        hold against a party that sees the report of a single client.
    relation : {"replace-one", "zero-out"}
        Weakest relation. "zero-out" also accepts "replace-one", which protects more.
    accept_real_numbers : bool
        Accept guarantees that are proved for real numbers only. The code does not keep them.
    mechanisms : tuple of str, optional
        Names of the mechanisms that are accepted. None accepts all.
    """

    max_epsilon: float = 0.0
    max_delta: float = 0.0
    min_reports: int = 0
    max_dim: int = 0
    trust_shuffler: bool = False
    relation: Relation = "replace-one"
    accept_real_numbers: bool = False
    mechanisms: tuple[str, ...] | None = None

    def arguments(self) -> dict[str, object]:
        """Return the policy as the helper reads it."""
        return {
            "max_epsilon": _bridge.number("max_epsilon", self.max_epsilon),
            "max_delta": _bridge.number("max_delta", self.max_delta),
            "min_reports": self.min_reports,
            "max_dim": self.max_dim,
            "trust_shuffler": self.trust_shuffler,
            "relation": self.relation,
            "accept_real_numbers": self.accept_real_numbers,
            "mechanisms": None if self.mechanisms is None else list(self.mechanisms),
        }


@dataclass(frozen=True)
class Guarantee:
    """What one report promises its sender: (ε, δ)-differential privacy.

    Attributes
    ----------
    trust : {"none", "local", "shuffle", "two-servers"}
        Whom the client must trust. "local" holds against every party that sees the report,
        the server included. "shuffle" holds against a party that sees only shuffled reports.
        "none" is no privacy.
    epsilon, delta : float
        The budget of the report. epsilon is ``math.inf`` without privacy.
    relation : {"replace-one", "zero-out"}
        Which inputs are neighbours.
    real_numbers : bool
        The proof is about real numbers only. The floating-point code does not keep it.
    """

    trust: str
    epsilon: float
    delta: float
    relation: str
    real_numbers: bool

    @classmethod
    def from_answer(cls, answer: dict[str, Any]) -> Guarantee:
        """Read what the helper says."""
        return cls(
            trust=answer["trust"],
            epsilon=float(answer["epsilon"]),
            delta=float(answer["delta"]),
            relation=answer["relation"],
            real_numbers=answer["real_numbers"],
        )
