"""Private training in Flower.

Clients of a Flower app send reports of a few bytes instead of their models. Use it in an app
that trains with Flower's message API. Start with these two lines::

    from hushgrad.flower import HushgradAggregation, HushgradMod

    app = ClientApp(mods=[HushgradMod(Policy(max_epsilon=4))])                  # client
    strategy = HushgradAggregation(FedAvg(), epsilon=4, scale=0.1, sparsity=64) # server

The mod takes the model that the ClientApp returns and sends a report of the difference to the
model that came. It removes everything else from the reply. The aggregation estimates the mean
difference and gives it to the strategy that it wraps. With ``unit="example"`` at both ends a
client sends one report for each of its records, or one of their sum (:func:`add_updates`). With
:class:`Shuffled` the reports are sealed, and the server that counts them does not see who sent
what. :meth:`HushgradAggregation.from_plan` takes the numbers of a run from :func:`hushgrad.plan`.
"""

from ..federated import PlainReply, Shuffled
from .aggregation import HushgradAggregation
from .collected import add_updates
from .mod import HushgradMod
from .turns import InTurn

__all__ = [
    "HushgradAggregation",
    "HushgradMod",
    "InTurn",
    "PlainReply",
    "Shuffled",
    "add_updates",
]
