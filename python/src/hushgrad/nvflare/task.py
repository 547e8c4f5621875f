"""A task at a site: what came from the server, and what leaves for it."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray
from nvflare.apis.dxo import DXO, DataKind, from_shareable
from nvflare.apis.filter import FilterContextKey, FilterSource
from nvflare.apis.fl_constant import ReturnCode
from nvflare.apis.shareable import Shareable, make_reply

from ..errors import HushgradError, PolicyRefused, invalid
from ..federated import Node, difference, differences, evaluation, once, received
from ..federated.models import Model, Row, Warn
from ..ledger import Ledger
from ..rounds import RecordSum, Round
from . import messages
from .messages import arrays, kind

if TYPE_CHECKING:
    from .privatize import HushgradPrivatize


class Task:
    """A task at a site: what came from the server, and the filters that it met."""

    def __init__(self, id: object) -> None:  # noqa: A002
        self.id = id
        self.filters: list[HushgradPrivatize] = []
        self._description: object = None
        self._log_proof: object = None
        self._unit: object = None
        self._train: object = None
        self._model: dict[str, NDArray[Any]] | None = None
        self._settings: Mapping[str, object] = {}
        self._warn: Warn = _ignore
        self._question: Mapping[str, Any] = {}
        self._round: Round | None = None
        self._sum: RecordSum | None = None  # of what the training script has added
        self._refused = False

    @property
    def has_round(self) -> bool:
        """Whether the server has sent a round."""
        return self._description is not None

    def receive(self, data: Shareable, settings: Mapping[str, object], warn: Warn) -> None:
        """Keep the round and the model. The training may change its own copy."""
        if self._description is not None:
            return  # a filter before has
        self._settings, self._warn = settings, warn
        self._description = data.get_header(messages.ROUND)
        self._log_proof = data.get_header(messages.LOG_PROOF)
        self._unit = data.get_header(messages.UNIT)
        self._train = data.get_header(messages.TRAIN)
        question = cast("object", data.get_header(messages.QUESTION))
        self._question = question if isinstance(question, dict) else {}
        if self._description is not None:
            model = arrays(data, (DataKind.WEIGHTS,))
            self._model = model and {name: array.copy() for name, array in model.items()}

    def add(self, updates: Model) -> None:
        """Add the updates of some records to the report, if the site accepts the round.

        Raises
        ------
        HushgradError
            If the reports of the round are no sums of records.
        InvalidParameter
            If the updates do not fit the model or the round.
        """
        if self._refused:
            return  # the result says why
        if self._round is None or self._sum is None:
            try:
                node = Node(self._settings)
                round_ = self._accepted(node, self._description, self._log_proof)
            except HushgradError:
                self._refused = True
                return
            if self._unit != "example" or not round_.about_records:
                raise HushgradError(
                    "add_updates: the reports of this round are no sums of records: give "
                    'HushgradAggregator unit="example" and params={"records": ...}'
                )
            self._round, self._sum = round_, RecordSum(round_)
        self._sum.add(self._rows(self._round, updates, changes=True))

    def leaves(
        self,
        result: Shareable,
        node: Node,
        answered: set[str] | None,
        refused: Callable[[HushgradError], None],
    ) -> Shareable:
        """Return what may leave of a result: reports, and why there are none.

        Training and evaluation are refused by themselves: a report of one leaves without the other.

        Parameters
        ----------
        answered : set of str, optional
            Digests of the rounds that a site of a simulation has answered.
        refused : callable
            Gets what is refused.

        Raises
        ------
        PolicyRefused
            If the task has no round, and its result would not be private.
        """
        code = result.get_return_code()
        if code != ReturnCode.OK:
            return make_reply(code)
        if self._description is None:
            self._check_other(result, node)
            return result
        content: dict[str, object] = {}
        try:
            round_ = self._accepted(node, self._description, self._log_proof)
            report = self._paid(round_, node, answered, partial(self._encoder, round_, result))
            content |= {messages.ROUND: round_.digest, messages.REPORT: report}
        except HushgradError as error:
            refused(error)
            content[messages.REFUSED] = _why(error)
        if not self._question:
            return _reply(content)
        try:
            proof = self._question.get("log_proof")
            round_ = self._accepted(node, self._question.get("round"), proof)
            report = self._paid(round_, node, answered, partial(self._answer, round_, result))
            content |= {messages.QUESTION: round_.digest, messages.ANSWER: report}
        except HushgradError as error:
            refused(error)
            content[messages.UNANSWERED] = _why(error)
        return _reply(content)

    def _paid(
        self,
        round_: Round,
        node: Node,
        answered: set[str] | None,
        made: Callable[[], Callable[..., bytes]],
    ) -> bytes:
        """Return a report that the site's ledger has paid for, if the site has one."""
        purpose = node.purpose or ("nvflare" if node.unit == "client" else "nvflare-records")
        once(round_, node, purpose, answered)
        encode = made()
        if node.ledger is None:
            reports = encode()
        else:
            with Ledger(node.ledger, purpose, must_exist=True, counter=node.counter) as ledger:
                reports = encode(ledger=ledger)
        if answered is not None:
            answered.add(round_.digest)
        return bytes(reports)

    def _answer(self, round_: Round, result: Shareable) -> Callable[..., bytes]:
        """Return what makes the report of the metrics of a result."""
        asked_for = evaluation.question(self._question, round_)
        found = messages.metrics(result)
        unit = str(self._unit)
        rows = evaluation.answer(asked_for, round_, unit, found, "the metrics of the FLModel")
        return evaluation.encoder(round_, rows, unit)

    def refusal(self, error: HushgradError) -> Shareable:
        """Return what says why nothing leaves."""
        if self._description is None:
            return make_reply(ReturnCode.TASK_RESULT_FILTER_ERROR)
        return _reply({messages.REFUSED: _why(error)})

    def _demands(self) -> list[HushgradPrivatize]:
        """Return the filters of the job. The site's filters demand what its scope says."""
        key = FilterContextKey.SOURCE
        return [each for each in self.filters if each.get_prop(key) != FilterSource.SITE]

    def _accepted(self, node: Node, description: object, log_proof: object) -> Round:
        """Return the round, if the site and the job accept it."""
        policies = {each.policy() for each in self._demands()} - {None} or {None}
        rounds = [
            node.accept(
                *(description, policy),
                server="HushgradAggregator",
                client="HushgradPrivatize",
                log_proof=log_proof,
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

    def _encoder(self, round_: Round, result: Shareable) -> Callable[..., bytes]:
        """Return what makes the report, of a result or of what was added before."""
        trained = arrays(result, (DataKind.WEIGHTS, DataKind.WEIGHT_DIFF))
        if trained is None:
            raise invalid("result", "another type", "must be a dict of NumPy arrays")
        if self._sum is not None and not trained:
            return self._sum.encode
        changes = from_shareable(result).data_kind == DataKind.WEIGHT_DIFF
        rows = self._rows(round_, trained, changes=changes)
        if self._sum is not None:
            self._sum.add(rows)
            return self._sum.encode
        return evaluation.encoder(round_, rows, str(self._unit))

    def _rows(self, round_: Round, trained: Model, *, changes: bool) -> Row:
        """Return the updates of trained models, or of the changes that training has made."""
        model = self._model
        if model is None:
            raise invalid("model", "another type", "must be a dict of NumPy arrays")
        names = received(model, self._train, round_.dim)
        if changes:
            model = {name: np.zeros_like(array) for name, array in model.items()}

        def about(text: str) -> None:
            self._warn(f"round {round_.id}: {text}")

        return (differences if self._unit == "example" else difference)(
            trained, model, names, about
        )

    def _check_other(self, result: Shareable, node: Node) -> None:
        """Raise an error unless the result of a task without a round may leave."""
        allowed = node.allow_evaluate and all(each.allow_evaluate for each in self._demands())
        if not (allowed and kind(result) == DataKind.METRICS):
            raise PolicyRefused(
                "round: got nothing, rule: must be sent by HushgradAggregator: the result "
                "would not be private",
                *("round", "nothing", "must be sent by HushgradAggregator"),
            )


def _ignore(_: str) -> None:
    """Warn nobody: there was no task."""


def _why(error: HushgradError) -> str:
    """Return the rule that refused. It quotes nothing that the training made."""
    return ": ".join(part for part in (type(error).__name__, error.param, error.rule) if part)


def _reply(data: dict[str, object]) -> Shareable:
    return DXO(DataKind.WEIGHT_DIFF, data=data).to_shareable()
