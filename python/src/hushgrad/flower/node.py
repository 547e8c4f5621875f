"""What the operator of a node demands of every app: the settings of its configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from flwr.app import Context

from ..errors import invalid
from ..policy import Policy

Unit = Literal["client", "example"]
"""Whose data a report protects: all data of a client, or one record of it."""

PREFIX = "hushgrad-"
"""How the names of the settings begin."""

_NAMES = {
    "max-epsilon",
    "max-delta",
    "min-reports",
    "max-dim",
    "trust-shuffler",
    "unit",
    "ledger",
    "purpose",
    "allow-evaluate",
}


@dataclass(frozen=True)
class Settings:
    """What a node demands.

    Attributes
    ----------
    policy : Policy
        What every round must meet.
    unit : {"client", "example"}
        The weakest unit that may be protected. "example" also accepts "client".
    ledger : str or None
        File of the ledger.
    purpose : str
        Purpose in the ledger. Without a setting it is "flower", and "flower-records" where the
        unit is "example", so that the two have budgets of their own.
    allow_evaluate : bool
        Whether replies to evaluation may leave.
    """

    policy: Policy
    unit: Unit
    ledger: str | None
    purpose: str
    allow_evaluate: bool


def settings(context: Context) -> Settings | None:
    """Return the settings of a node, or None where its configuration has none.

    Raises
    ------
    InvalidParameter
        If a setting is unknown or has a wrong type.
    """
    given = {
        name.removeprefix(PREFIX): value
        for name, value in context.node_config.items()
        if name.startswith(PREFIX)
    }
    for name, value in given.items():
        if name not in _NAMES:
            raise invalid(f"{PREFIX}{name}", repr(value), "is no setting of hushgrad")
    if not given:
        return None
    unit = unit_named(f"{PREFIX}unit", given.get("unit", "client"))
    ledger = _text(given, "ledger", "")
    return Settings(
        policy=Policy(
            max_epsilon=_number(given, "max-epsilon"),
            max_delta=_number(given, "max-delta"),
            min_reports=_whole(given, "min-reports"),
            max_dim=_whole(given, "max-dim"),
            trust_shuffler=_switch(given, "trust-shuffler"),
        ),
        unit=unit,
        ledger=ledger or None,
        purpose=_text(given, "purpose", "flower" if unit == "client" else "flower-records"),
        allow_evaluate=_switch(given, "allow-evaluate"),
    )


def unit_named(name: str, value: object) -> Unit:
    """Return a unit by its name.

    Raises
    ------
    InvalidParameter
        If there is no such unit.
    """
    if value == "client":
        return "client"
    if value == "example":
        return "example"
    raise invalid(name, repr(value), "must be 'client' or 'example'")


Given = Mapping[str, object]


def _number(given: Given, name: str) -> float:
    value = given.get(name, 0.0)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise invalid(f"{PREFIX}{name}", repr(value), "must be a number")
    return value


def _whole(given: Given, name: str) -> int:
    value = _number(given, name)
    if not float(value).is_integer():
        raise invalid(f"{PREFIX}{name}", value, "must be a whole number")
    return int(value)


def _switch(given: Given, name: str) -> bool:
    value = given.get(name, False)
    if not isinstance(value, bool):
        raise invalid(f"{PREFIX}{name}", repr(value), "must be true or false")
    return value


def _text(given: Given, name: str, absent: str) -> str:
    value = given.get(name, absent)
    if not isinstance(value, str):
        raise invalid(f"{PREFIX}{name}", repr(value), "must be a text")
    return value
