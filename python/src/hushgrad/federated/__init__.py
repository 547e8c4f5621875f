"""What the adapters of federated learning frameworks have in common.

Use it to write an adapter for another framework. Users of Flower and NVFlare need nothing of it.
Start with :func:`chosen` and :func:`estimate` on the server's side, and with :class:`Node` on the
client's side.
"""

from .models import difference, differences, moved, noisy
from .node import Node
from .once import once
from .reports import Answers, PlainReply, count, estimate
from .run import Run, measures
from .selection import Train, chosen, received
from .shuffled import Shuffled

__all__ = [
    "Answers",
    "Node",
    "PlainReply",
    "Run",
    "Shuffled",
    "Train",
    "chosen",
    "count",
    "difference",
    "differences",
    "estimate",
    "measures",
    "moved",
    "noisy",
    "once",
    "received",
]
