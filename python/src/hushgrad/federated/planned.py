"""What a plan says to the server of a framework."""

from __future__ import annotations

import math
from typing import Any

from ..errors import invalid
from ..planning import Plan

TRUSTS_OTHERS = ("shuffler", "two-servers")
"""Trusts whose promise needs the reports of other clients, and more than one party."""


def planned(plan: Plan, client_lr: float) -> dict[str, Any]:
    """Return the arguments of an adapter's server for a planned run, but for params and momentum.

    A plan is about gradients. A client sends the difference of its model instead: after one step
    of gradient descent this is the gradient times -client_lr. So the scale is the plan's times
    client_lr, and the learning rate is the plan's over client_lr. The training is the same.

    Parameters
    ----------
    plan : Plan
        The plan.
    client_lr : float
        Learning rate of a client's step. The number of steps times their rate, where there are
        several: then a difference is about as large.

    Raises
    ------
    InvalidParameter
        If client_lr is not positive and finite, or if records with a report each take turns.
    """
    if not 0 < client_lr < math.inf:
        raise invalid("client_lr", client_lr, "must be positive and finite")
    unit = "client" if plan.promise.unit == "client" else "example"
    if unit == "example" and not plan.records:
        rule = "must be of clients, or of sums of records: a node sends all of its records at once"
        raise invalid("plan", "a report for each record", rule)
    others = plan.trust in TRUSTS_OTHERS
    return {
        "epsilon": plan.epsilon,
        "delta": plan.delta,
        "scale": plan.scale * client_lr,
        "mechanism": plan.mechanism,
        "min_reports": plan.cohort if others else (plan.cohort + 1) // 2,
        "unit": unit,
        "server_lr": plan.learning_rate / client_lr,
        "averaging": plan.averaging,
        "central_delta": plan.promise.delta,
    }
