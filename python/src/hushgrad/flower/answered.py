"""What a node of Flower's simulation engine has answered, which has no ledger."""

from __future__ import annotations

import sys
from typing import cast

from flwr.app import ConfigRecord, Context

from ..rounds import Round

_STATE, _DIGESTS = "hushgrad.answered", "digests"


def answered(context: Context) -> list[str] | None:
    """Return the digests of the rounds that a node has answered, or None outside of simulations.

    The state of the run has them: the engine gives the messages of a node to processes that share
    nothing else.
    """
    if not _simulated():
        return None
    known = context.state.config_records.get(_STATE, ConfigRecord()).get(_DIGESTS, [])
    return cast("list[str]", known)


def note(round_: Round, context: Context) -> None:
    """Remember that a node of a simulation has answered a round."""
    known = answered(context)
    if known is not None:
        context.state[_STATE] = ConfigRecord({_DIGESTS: [*known, round_.digest]})


def _simulated() -> bool:
    """Say whether this process is an actor of Ray, as the clients of the simulation engine are."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return False
    return ray.get_runtime_context().get_actor_id() is not None
