"""The client's half: what leaves a site."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

from collections import defaultdict
from functools import partial

from nvflare.apis.filter import Filter, FilterChainType, FilterContextKey
from nvflare.apis.fl_constant import FLContextKey
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable

from ..errors import HushgradError, invalid
from ..federated import Node
from ..federated.node import PREFIX
from ..policy import Policy
from . import collected
from .task import Task

_TASK = "hushgrad.task"  # properties of the context of a task
_DONE = "hushgrad.done"

_answered: defaultdict[str, set[str]] = defaultdict(set)
"""Digests of rounds, by the sites of NVFlare's simulator in this process."""


class HushgradPrivatize(Filter):
    """A filter that sends private reports instead of the trained model.

    It stands in both chains of a site, for task data and for task results. In the first one it
    keeps the model that came. In the second one it checks the policy, charges the ledger and
    encodes the difference of the trained model. The result that leaves has the reports and
    nothing else of the training. What is refused is a result without reports that says why,
    and the job goes on. A result for a task without a round becomes an error without content.

    Where the server asks a question, the metrics that the training script returns become one more
    report. It is accepted and paid for as the other one is, from the same purpose of the ledger,
    and each leaves without the other. With the unit "example" a metric is a list of numbers, one
    for each record.

    NVFlare lets no filter skip a task: a site that refuses trains all the same.

    The site decides. The properties of its scope (``privacy.json`` in the folder ``local`` of
    the site) may have

    - ``hushgrad-max-epsilon``, ``hushgrad-max-delta``, ``hushgrad-min-reports``,
      ``hushgrad-max-dim``, ``hushgrad-trust-shuffler``: a policy, see :class:`hushgrad.Policy`;
    - ``hushgrad-shuffler``, ``hushgrad-seal-key``, ``hushgrad-share-key``,
      ``hushgrad-max-central-epsilon``, ``hushgrad-central-delta``: accept only rounds behind this
      shuffler, sealed to these keys, see :class:`hushgrad.flower.HushgradMod`;
    - ``hushgrad-log-key``, ``hushgrad-witnesses``: accept only rounds that are proved to be in the
      log of the server with this public key, and that the witnesses with these public keys, with
      commas between them, have signed;
    - ``hushgrad-unit``: the weakest unit that it accepts, "client" without;
    - ``hushgrad-ledger``: the file of a ledger, whose budget is set. Rounds of two servers and of
      sumdp are refused without it, except by the sites of NVFlare's simulator: they promise for one
      report, and only the ledger remembers for ever which rounds were answered;
    - ``hushgrad-counter``: the file of the ledger's counter, in another folder. With it a restored
      copy of the ledger is refused;
    - ``hushgrad-purpose``: the purpose in the ledger. Without it "nvflare", and
      "nvflare-records" where the unit is "example";
    - ``hushgrad-allow-evaluate``: let results without a model leave as they are, in tasks
      without a round.

    The job cannot loosen these. Where both have a policy, a round has to meet both. A site that
    lists the filter in the two chains of its scope applies it to every job. The code of a job
    runs in the process of the filter, so that the operator of a site has to read it.

    Parameters
    ----------
    max_epsilon : float, optional
        What the job demands: the largest ε of one report. Without it the site has to have a
        policy, and every round is refused if it has none.
    max_delta : float
        Largest δ of one report.
    min_reports : int
        Smallest number of reports below which a round releases nothing.
    trust_shuffler : bool
        Accept guarantees that hold only for shuffled reports.
    unit : {"client", "example"}
        Weakest unit that the job accepts. With "example" a report protects one record, and not
        all records of a site together. The number of records is public. A record must have a
        part in its own change alone: the filter cannot check that.
    allow_evaluate : bool
        Let results without a model leave as they are, in tasks without a round. They are not
        private.
    shuffler, seal_key : str, optional
        The name of a shuffler and the fingerprint of a server's key: the job accepts only rounds
        behind this shuffler that are sealed to this key.
    share_key : str, optional
        With these two, the fingerprint of the shuffler's own key. Only rounds of gaussian-shares
        are then accepted, and ``max_epsilon`` and ``max_delta`` bound what holds against either of
        the two servers. A site does well to pin all three itself.
    """

    def __init__(
        self,
        max_epsilon: float | None = None,
        max_delta: float = 0.0,
        min_reports: int = 0,
        trust_shuffler: bool = False,
        unit: str = "client",
        allow_evaluate: bool = False,
        shuffler: str | None = None,
        seal_key: str | None = None,
        share_key: str | None = None,
    ) -> None:
        super().__init__()
        if unit not in ("client", "example"):
            raise invalid("unit", repr(unit), "must be 'client' or 'example'")
        self.max_epsilon = max_epsilon
        self.max_delta = max_delta
        self.min_reports = min_reports
        self.trust_shuffler = trust_shuffler
        self.unit = unit
        self.allow_evaluate = allow_evaluate
        self.shuffler = shuffler
        self.seal_key = seal_key
        self.share_key = share_key
        self.policy()

    def process(self, shareable: Shareable, fl_ctx: FLContext) -> Shareable:
        """Filter the data or the result of a task, as NVFlare demands of a filter."""
        task = _task(fl_ctx)
        task.filters.append(self)
        site = str(fl_ctx.get_identity_name())
        settings = fl_ctx.get_prop(FLContextKey.SCOPE_PROPERTIES) or {}
        if self.get_prop(FilterContextKey.CHAIN_TYPE) == FilterChainType.TASK_DATA_CHAIN:
            task.receive(shareable, settings, partial(self._warn, fl_ctx))
            if task.has_round:
                collected.begin(site, task)
            return shareable
        collected.end(site)
        if fl_ctx.get_prop(_DONE) is shareable:  # another filter of the site made it
            return shareable
        try:
            simulated = fl_ctx.get_prop(FLContextKey.SIMULATE_MODE, default=False)
            answered = _answered[site] if simulated else None
            refused = partial(self._refused, fl_ctx)
            left = task.leaves(shareable, Node(settings), answered, refused)
        except HushgradError as error:
            self._refused(fl_ctx, error)
            left = task.refusal(error)
        if left is not shareable:
            fl_ctx.set_prop(_DONE, left, private=True, sticky=False)
        return left

    def _refused(self, fl_ctx: FLContext, error: HushgradError) -> None:
        """Put what is refused into the log of the site."""
        # An event would carry the message to the server, if the job asks for that.
        self.log_warning(fl_ctx, f"hushgrad: {error}", fire_event=False)

    def _warn(self, fl_ctx: FLContext, text: str) -> None:
        """Put a warning about private data into the log of the site, and into no event."""
        site = fl_ctx.get_identity_name()
        self.log_error(fl_ctx, f"hushgrad: node {site}, {text}", fire_event=False)

    def policy(self) -> Policy | None:
        """Return what the job demands, or None."""
        pins = {"shuffler": self.shuffler, "seal-key": self.seal_key, "share-key": self.share_key}
        if self.max_epsilon is None:
            if any(pins.values()):
                raise invalid("max_epsilon", "nothing", "is required with pins")
            return None
        given: dict[str, object] = {
            "max-epsilon": self.max_epsilon,
            "max-delta": self.max_delta,
            "min-reports": self.min_reports,
            "trust-shuffler": self.trust_shuffler,
        }
        given |= {name: pin for name, pin in pins.items() if pin is not None}
        return Node({PREFIX + name: value for name, value in given.items()}).policy


def _task(fl_ctx: FLContext) -> Task:
    """Return the task of a context."""
    id_ = fl_ctx.get_prop(FLContextKey.TASK_ID)
    task = fl_ctx.get_prop(_TASK)
    if not isinstance(task, Task) or task.id != id_:
        task = Task(id_)
        fl_ctx.set_prop(_TASK, task, private=True, sticky=False)
    return task
