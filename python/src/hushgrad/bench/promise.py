"""What a run promises."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Promise:
    """What a run promises a client that takes part in all rounds, replace-one.

    Attributes
    ----------
    against : str
        The parties against which it holds.
    epsilon_report, epsilon_run : float or None
        ε of one report, and of all reports together. None where there is no such promise.
    delta : float
        Their δ.
    """

    against: str
    epsilon_report: float | None
    epsilon_run: float | None
    delta: float
