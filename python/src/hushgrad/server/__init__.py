"""The aggregator over gRPC: ``hushgrad serve`` and ``hushgrad shuffle``, from Python.

Use it when a parameter server of its own counts the reports, and when clients send them to a
shuffler. It needs the extra ``hushgrad[server]``. Start with :class:`Operator` for the party
that runs the rounds and with :class:`Client` for whoever brings reports. :class:`Issuer` gives a
client the tokens of a round that asks for them::

    from hushgrad.server import Client, Operator

    with Operator.connect("localhost:7118") as operator, Client.connect("localhost:7117") as client:
        opened = operator.open_round(Round.new("week-12", dim=1970, epsilon=4, scale=0.05, ...))
        receipt = client.submit(opened, reports)  # what Round.encode has returned
        operator.close_round("week-12")
        estimate = operator.estimate("week-12")  # estimate.mean, estimate.std_err

The estimate is the one that :meth:`hushgrad.Aggregator.estimate` returns for the same reports.

gRPC does not survive a fork in the middle of its work: connect after the fork.
"""

from .channel import connect
from .client import Client, Receipt
from .errors import DamagedTransfer, ServerRefused, ServerUnreachable
from .issuer import Issuer
from .model import Model
from .operator import Operator
from .status import RoundStatus, State

__all__ = [
    "Client",
    "DamagedTransfer",
    "Issuer",
    "Model",
    "Operator",
    "Receipt",
    "RoundStatus",
    "ServerRefused",
    "ServerUnreachable",
    "State",
    "connect",
]
