"""Private gradient aggregation for federated learning.

Each client turns its gradient into one randomized report of a few bytes. A server turns the
reports into an unbiased mean gradient with error bars. Start with :class:`Round`::

    from hushgrad import Policy, Round

    server = Round.new("week-12", dim=1970, epsilon=4.0, scale=0.05, sparsity=73, min_reports=100)
    client = Round(server.description, Policy(max_epsilon=4.0))  # somewhere else

    counts = server.aggregator()
    counts.add(client.encode(gradient))  # one report of each client
    estimate = counts.estimate()  # estimate.mean, estimate.std_err

The work is done by a helper process, which starts at the first call. See :class:`Ledger` for
a client's budget over many rounds, :func:`plan` for the numbers of a run, :func:`account` for
what a run promises and :func:`verify` to check that the code keeps what a round promises.
"""

from importlib.metadata import version

from .aggregator import Aggregator, Estimate, Series
from .errors import (
    AggregatorLost,
    AlreadyCharged,
    BadReport,
    BudgetExhausted,
    HelperFailed,
    HushgradError,
    Infeasible,
    InvalidParameter,
    LedgerError,
    LedgerInUse,
    LedgerState,
    NoiseAboveSignal,
    PolicyRefused,
    TooFewReports,
)
from .evaluation import describe
from .facts import RoundFacts
from .federation import Federation
from .history import History
from .ledger import Budget, Ledger, Reservation
from .planning import Expected, Plan, Promise, Trusted, account, compare, plan
from .policy import Guarantee, Policy, ShuffledPolicy
from .reports import Reports
from .rounds import RecordSum, Round
from .verification import Verification, verify

__version__ = version("hushgrad")

__all__ = [
    "Aggregator",
    "AggregatorLost",
    "AlreadyCharged",
    "BadReport",
    "Budget",
    "BudgetExhausted",
    "Estimate",
    "Expected",
    "Federation",
    "Guarantee",
    "HelperFailed",
    "History",
    "HushgradError",
    "Infeasible",
    "InvalidParameter",
    "Ledger",
    "LedgerError",
    "LedgerInUse",
    "LedgerState",
    "NoiseAboveSignal",
    "Plan",
    "Policy",
    "PolicyRefused",
    "Promise",
    "RecordSum",
    "Reports",
    "Reservation",
    "Round",
    "RoundFacts",
    "Series",
    "ShuffledPolicy",
    "TooFewReports",
    "Trusted",
    "Verification",
    "__version__",
    "account",
    "compare",
    "describe",
    "plan",
    "verify",
]
