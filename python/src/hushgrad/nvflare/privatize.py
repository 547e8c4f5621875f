"""The client's half: what leaves a site."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from nvflare.apis.dxo import DXO, DataKind, from_shareable
from nvflare.apis.filter import Filter, FilterChainType, FilterContextKey, FilterSource
from nvflare.apis.fl_constant import FLContextKey, ReturnCode
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable, make_reply

from ..errors import HushgradError, PolicyRefused, invalid
from ..federated import Node, difference, differences, once, received
from ..federated.models import Row, Warn
from ..ledger import Ledger
from ..policy import Policy
from ..rounds import Round
from . import messages
from .messages import arrays, kind

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

    NVFlare lets no filter skip a task: a site that refuses trains all the same.

    The site decides. The properties of its scope (``privacy.json`` in the folder ``local`` of
    the site) may have

    - ``hushgrad-max-epsilon``, ``hushgrad-max-delta``, ``hushgrad-min-reports``,
      ``hushgrad-max-dim``, ``hushgrad-trust-shuffler``: a policy, see :class:`hushgrad.Policy`;
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
    """

    def __init__(
        self,
        max_epsilon: float | None = None,
        max_delta: float = 0.0,
        min_reports: int = 0,
        trust_shuffler: bool = False,
        unit: str = "client",
        allow_evaluate: bool = False,
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

    def process(self, shareable: Shareable, fl_ctx: FLContext) -> Shareable:
        """Filter the data or the result of a task, as NVFlare demands of a filter."""
        task = _task(fl_ctx)
        task.filters.append(self)
        if self.get_prop(FilterContextKey.CHAIN_TYPE) == FilterChainType.TASK_DATA_CHAIN:
            task.receive(shareable)
            return shareable
        if fl_ctx.get_prop(_DONE) is shareable:  # another filter of the site made it
            return shareable
        try:
            node = Node(fl_ctx.get_prop(FLContextKey.SCOPE_PROPERTIES) or {})
            simulated = fl_ctx.get_prop(FLContextKey.SIMULATE_MODE, default=False)
            answered = _answered[str(fl_ctx.get_identity_name())] if simulated else None
            left = task.leaves(shareable, node, answered, partial(self._warn, fl_ctx))
        except HushgradError as error:
            # An event would carry the message to the server, if the job asks for that.
            self.log_warning(fl_ctx, f"hushgrad: {error}", fire_event=False)
            left = task.refusal(error)
        if left is not shareable:
            fl_ctx.set_prop(_DONE, left, private=True, sticky=False)
        return left

    def _warn(self, fl_ctx: FLContext, text: str) -> None:
        """Put a warning about private data into the log of the site, and into no event."""
        site = fl_ctx.get_identity_name()
        self.log_error(fl_ctx, f"hushgrad: node {site}, {text}", fire_event=False)

    def policy(self) -> Policy | None:
        """Return what the job demands, or None."""
        if self.max_epsilon is None:
            return None
        return Policy(
            max_epsilon=self.max_epsilon,
            max_delta=self.max_delta,
            min_reports=self.min_reports,
            trust_shuffler=self.trust_shuffler,
        )


class _Task:
    """A task at a site: what came from the server, and the filters that it met."""

    def __init__(self, id: object) -> None:  # noqa: A002
        self.id = id
        self.filters: list[HushgradPrivatize] = []
        self._description: object = None
        self._unit: object = None
        self._train: object = None
        self._model: dict[str, NDArray[Any]] | None = None

    def receive(self, data: Shareable) -> None:
        """Keep the round and the model. The training may change its own copy."""
        if self._description is not None:
            return  # a filter before has
        self._description = data.get_header(messages.ROUND)
        self._unit = data.get_header(messages.UNIT)
        self._train = data.get_header(messages.TRAIN)
        if self._description is not None:
            model = arrays(data, (DataKind.WEIGHTS,))
            self._model = model and {name: array.copy() for name, array in model.items()}

    def leaves(
        self, result: Shareable, node: Node, answered: set[str] | None, warn: Warn
    ) -> Shareable:
        """Return what may leave of a result.

        A node of a simulation remembers what it has answered.
        """
        code = result.get_return_code()
        if code != ReturnCode.OK:
            return make_reply(code)
        if self._description is None:
            self._check_other(result, node)
            return result
        round_ = self._accepted(node)
        rows = self._rows(round_, result, lambda text: warn(f"round {round_.id}: {text}"))
        purpose = node.purpose or ("nvflare" if node.unit == "client" else "nvflare-records")
        once(round_, node, purpose, answered)
        reports = self._encode(round_, rows, node, purpose)
        if answered is not None:
            answered.add(round_.digest)
        return _reply({messages.ROUND: round_.digest, messages.REPORT: bytes(reports)})

    def refusal(self, error: HushgradError) -> Shareable:
        """Return what says why. It quotes the rule, and nothing that the training made."""
        if self._description is None:
            return make_reply(ReturnCode.TASK_RESULT_FILTER_ERROR)
        parts = (type(error).__name__, error.param, error.rule)
        return _reply({messages.REFUSED: ": ".join(part for part in parts if part)})

    def _demands(self) -> list[HushgradPrivatize]:
        """Return the filters of the job. The site's filters demand what its scope says."""
        key = FilterContextKey.SOURCE
        return [each for each in self.filters if each.get_prop(key) != FilterSource.SITE]

    def _accepted(self, node: Node) -> Round:
        """Return the round, if the site and the job accept it."""
        policies = {each.policy() for each in self._demands()} - {None} or {None}
        rounds = [
            node.accept(
                *(self._description, policy),
                server="HushgradAggregator",
                client="HushgradPrivatize",
            )
            for policy in policies
        ]
        units = {node.unit, *(each.unit for each in self._demands())}
        if self._unit != "client" and (self._unit != "example" or "client" in units):
            raise PolicyRefused(
                f"unit: got {self._unit!r}, rule: must be 'client'",
                *("unit", repr(self._unit), "must be 'client'"),
            )
        return rounds[0]

    def _rows(self, round_: Round, result: Shareable, warn: Warn) -> Row:
        """Return what the report is made of."""
        model = self._model
        if model is None:
            raise invalid("model", "another type", "must be a dict of NumPy arrays")
        names = received(model, self._train, round_.dim)
        trained = arrays(result, (DataKind.WEIGHTS, DataKind.WEIGHT_DIFF))
        if trained is None:
            raise invalid("result", "another type", "must be a dict of NumPy arrays")
        if from_shareable(result).data_kind == DataKind.WEIGHT_DIFF:
            model = {name: np.zeros_like(array) for name, array in model.items()}
        return (differences if self._unit == "example" else difference)(trained, model, names, warn)

    def _encode(self, round_: Round, rows: Row, node: Node, purpose: str) -> bytes:
        unit = "example" if self._unit == "example" else "client"
        if unit == "example" and round_.about_records:
            encode = round_.encode_records
        else:
            encode = partial(round_.encode, unit=unit)
        if node.ledger is None:
            return encode(rows)
        with Ledger(node.ledger, purpose, must_exist=True, counter=node.counter) as ledger:
            return encode(rows, ledger=ledger)

    def _check_other(self, result: Shareable, node: Node) -> None:
        """Raise an error unless the result of a task without a round may leave."""
        allowed = node.allow_evaluate and all(each.allow_evaluate for each in self._demands())
        if not (allowed and kind(result) == DataKind.METRICS):
            raise PolicyRefused(
                "round: got nothing, rule: must be sent by HushgradAggregator: the result "
                "would not be private",
                *("round", "nothing", "must be sent by HushgradAggregator"),
            )


def _task(fl_ctx: FLContext) -> _Task:
    """Return the task of a context."""
    id_ = fl_ctx.get_prop(FLContextKey.TASK_ID)
    task = fl_ctx.get_prop(_TASK)
    if not isinstance(task, _Task) or task.id != id_:
        task = _Task(id_)
        fl_ctx.set_prop(_TASK, task, private=True, sticky=False)
    return task


def _reply(data: dict[str, object]) -> Shareable:
    return DXO(DataKind.WEIGHT_DIFF, data=data).to_shareable()
