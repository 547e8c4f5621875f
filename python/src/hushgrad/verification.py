"""Check that the code keeps what a round promises."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from . import _arguments, _bridge
from .rounds import Round


@dataclass(frozen=True)
class Verification:
    """What a check of a round has found.

    Attributes
    ----------
    holds : bool
        False when the promise is broken. With the exact method True is a proof for the hash
        functions that were tried. With the statistical method it says that no violation was
        found, and proves nothing.
    method : {"exact", "statistical"}
        How it was checked.
    epsilon_promised, delta_promised : float
        The promise of one report.
    epsilon_found : float
        ε of the worst ratio, rounded up (exact), or the best lower bound of ε (statistical).
    confidence : float
        Probability that a mechanism that keeps its promise is not accused; 0 with the exact
        method.
    faults : tuple of str
        What else is broken.
    notes : tuple of str
        Remarks on the check.
    tiers : tuple of Verification
        One for each guarantee of a menu, the strictest first.
    explanation : str
        All of it, and the pair of gradients that is distinguished best.
    """

    holds: bool
    method: str
    epsilon_promised: float
    delta_promised: float
    epsilon_found: float
    confidence: float
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    tiers: tuple[Verification, ...] = field(repr=False)
    explanation: str = field(repr=False)

    @classmethod
    def from_answer(cls, answer: dict[str, Any]) -> Verification:
        """Read what the helper says."""
        return cls(
            holds=answer["holds"],
            method=answer["method"],
            epsilon_promised=float(answer["epsilon_promised"]),
            delta_promised=float(answer["delta_promised"]),
            epsilon_found=float(answer["epsilon_found"]),
            confidence=float(answer["confidence"]),
            faults=tuple(answer["faults"]),
            notes=tuple(answer["notes"]),
            tiers=tuple(cls.from_answer(tier) for tier in answer["tiers"]),
            explanation=answer.get("explanation", ""),
        )


def verify(
    round_: Round,
    *,
    method: Literal["auto", "exact", "statistical"] = "auto",
    seeds: int = 0,
    samples: int = 0,
    confidence: float = 0.0,
) -> Verification:
    """Check whether the code of this package keeps the guarantee of a round.

    It runs in a process of its own, from less than a second to some minutes. A broken promise
    is no error: look at ``holds``.

    Parameters
    ----------
    round_ : Round
        The round, with or without a policy.
    method : {"auto", "exact", "statistical"}
        "exact" computes the law of a report for all inputs, and is for small rounds of coco,
        collision and signsketch, and for privunit. "statistical" attacks the mechanism with many
        reports. "auto" is exact where that is feasible.
    seeds : int
        Hash functions of the exact method. 0 stands for 200.
    samples : int
        Reports of each gradient in the statistical method, in [100, 10**7]. 0 stands for
        10 000, or in the shuffle model for as many rounds as are affordable.
    confidence : float
        In (0, 1): the probability that a mechanism that keeps its promise is not accused by
        the statistical method. 0 stands for 1 - 1e-6.

    Raises
    ------
    InvalidParameter
        If a number is out of range, the round promises no privacy, or the exact method is not
        feasible.
    """
    arguments = {
        "method": _arguments.text("method", method),
        "seeds": _arguments.whole("seeds", seeds),
        "samples": _arguments.whole("samples", samples),
        "confidence": _arguments.number("confidence", confidence),
    }

    answer = _bridge.about(round_.description, round_.dim, "verify", arguments)
    return Verification.from_answer(answer)
