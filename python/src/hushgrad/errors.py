"""Errors of this package. Catch :class:`HushgradError` for all of them."""

from __future__ import annotations

from typing import Any


class HushgradError(Exception):
    """The base of all errors of this package.

    Parameters
    ----------
    message : str
        What went wrong, with all that is below.
    param : str
        Name of the parameter that is at fault, or "".
    got : str
        The value that it has, printed, or "".
    rule : str
        What the value must satisfy, or "".
    """

    def __init__(self, message: str, param: str = "", got: str = "", rule: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.got = got
        self.rule = rule

    def __str__(self) -> str:
        """Return the message."""
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the error travel between processes."""
        return type(self), (self.message, self.param, self.got, self.rule)


class InvalidParameter(HushgradError, ValueError):
    """A parameter has a value that it must not have."""


class PolicyRefused(HushgradError, PermissionError):
    """The round promises less than the client's policy demands. Nothing was encoded."""


class BudgetExhausted(HushgradError, PermissionError):
    """The client's budget does not allow the report, or there is none. Nothing was encoded."""


class BadReport(HushgradError, ValueError):
    """The bytes are not reports of the round. None of them was counted."""


class TooFewReports(HushgradError, ValueError):
    """The round promises that nothing is released for so few reports."""


class Infeasible(HushgradError, ValueError):
    """No number of clients meets what a plan demands."""


class NoiseAboveSignal(HushgradError, ValueError):
    """A planned run would have more noise than signal.

    The message says what to change. It promises no accuracy.
    """


class LedgerError(HushgradError):
    """The ledger cannot be used: its file is missing, damaged, replaced, or no ledger."""


class LedgerInUse(LedgerError):
    """Another process, or another object of this one, has opened the ledger."""


class AlreadyCharged(LedgerError):
    """The ledger has a charge for this round. A client sends one report in a round."""


class LedgerState(LedgerError):
    """The reservation was spent or cancelled, or the purpose has no budget."""


class HelperFailed(HushgradError, RuntimeError):
    """The helper process did not start, or it ended in the middle of a call."""


class AggregatorLost(HushgradError, RuntimeError):
    """The reports of an aggregator ended with its helper process.

    Make a new aggregator. Add the reports again, or start from a snapshot.
    """


_KINDS: dict[str, type[HushgradError]] = {
    "param": InvalidParameter,
    "policy": PolicyRefused,
    "bad-report": BadReport,
    "no-reports": TooFewReports,
    "too-few-reports": TooFewReports,
    "infeasible": Infeasible,
    "noise": NoiseAboveSignal,
    "budget": BudgetExhausted,
    "charged": AlreadyCharged,
    "ledger-in-use": LedgerInUse,
    "ledger-state": LedgerState,
    "ledger": LedgerError,
}


def invalid(param: str, got: object, rule: str) -> InvalidParameter:
    """Return the error for a value that breaks a rule."""
    return InvalidParameter(f"{param}: got {got}, rule: {rule}", param, str(got), rule)


def from_helper(error: dict[str, str]) -> HushgradError:
    """Return the error that an answer of the helper describes."""
    kind = _KINDS.get(error["kind"], HushgradError)
    return kind(*(error.get(name, "") for name in ("message", "param", "got", "rule")))
