"""Rounds that a node answers once, or their promise does not hold."""

from __future__ import annotations

from collections.abc import Collection

from ..errors import invalid
from ..rounds import Round
from .node import PREFIX, Node

_ONE_REPORT = ("two-servers", "shuffle")
"""Guarantees that rest on one report of each client. Local ones add up over reports."""


def once(round_: Round, node: Node, purpose: str, answered: Collection[str] | None) -> None:
    """Raise an error if nothing keeps a node from answering a round twice.

    Two servers add noise for one report of each client. A client that answers a round k times
    moves its sum by k times as much, below the same noise. Only a ledger remembers for ever what
    was answered: a process ends, and the state of a run is not there in another run.

    Parameters
    ----------
    purpose : str
        The purpose in the ledger, for the error.
    answered : collection of str, optional
        Digests of the rounds that this node of a simulation has answered. A simulation protects
        nobody, and its nodes need no ledgers. None outside of simulations.

    Raises
    ------
    InvalidParameter
        If the node needs a ledger and has none, or has answered the round.
    """
    promises = [round_.guarantee.trust]
    if round_.central is not None and round_.central.trust == "two-servers":  # beside own noise
        promises.append(round_.central.trust)
    if node.ledger is not None or not set(promises) & set(_ONE_REPORT):
        return
    if node.policy is not None or answered is None:
        budget = f"Ledger('PATH', '{purpose}').set_budget(epsilon=EPSILON, delta=DELTA)"
        raise invalid(
            *(f"{PREFIX}ledger", "nothing"),
            f"is required in rounds of {round_.mechanism}, which promise for one report of each "
            f'client: python -c "from hushgrad import Ledger; {budget}" makes a ledger. Set '
            f"{PREFIX}ledger to its path",
        )
    if round_.digest in answered:
        raise invalid("round", round_.id, "must be new: this node has answered it")
