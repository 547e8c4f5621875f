"""The client's half: what leaves a Flower client."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from logging import getLogger

from flwr.app import ArrayRecord, ConfigRecord, Context, Error, Message, MessageType, RecordDict

from ..errors import HushgradError, PolicyRefused, invalid
from ..federated import Node, evaluation, once, received
from ..ledger import Ledger, Reservation
from ..policy import Policy
from ..rounds import Round
from . import records
from .answered import answered, note
from .collected import collecting
from .evaluation import HOW, WHERE, found
from .unit import Unit, checked

log = getLogger("flwr")

# Flower's codes of a ClientApp that failed, and of a mod that does not go on.
_APP_FAILED, _FAILED_PRECONDITION = 2, 6

App = Callable[[Message, Context], Message]


class HushgradMod:
    """A Flower mod that sends private reports instead of what was trained.

    The policy is checked and the ledger is charged before the training starts. What is refused
    is answered with an error, and nothing is trained. What the ClientApp returns depends on
    the unit that is protected:

    - "client": the ClientApp trains as always, and returns one ArrayRecord with the names and
      shapes of the model that it got. The mod sends one report of the difference of those arrays
      that the server trains. It protects all data of the client. Arrays that do not train may be
      missing.
    - "example": the ClientApp trains on each of its records alone, and returns all these models
      in one ArrayRecord: every array has one axis more, in front, of shape (records, ...). For
      one step these are the model minus the learning rate times the gradient of each record.
      The mod sends one report of each difference. It protects each record, and not all records
      of a client together. The number of records is public. A record must have a part in its
      own model alone: the mod cannot check that. In a round whose reports are sums of records
      the mod sends one report of all differences, and the ClientApp may give its records in
      parts to :func:`add_updates` instead.

    In a round that evaluates, the ClientApp evaluates as always, and its MetricRecord has the
    metrics that the server asks for by their names. The mod sends one report of them, which is
    accepted and paid for as a report of training is, from the same purpose of the ledger. With
    the unit "example" a metric is a list of numbers, one for each record. Without a question of
    the server no reply to evaluation leaves.

    Nothing else of the reply leaves, and no text of an error of the app either.

    The node decides. Its configuration (``flower-supernode --node-config``) may have

    - ``hushgrad-max-epsilon``, ``hushgrad-max-delta``, ``hushgrad-min-reports``,
      ``hushgrad-max-dim``, ``hushgrad-trust-shuffler``: a policy, see :class:`hushgrad.Policy`;
    - ``hushgrad-shuffler``, ``hushgrad-seal-key``, ``hushgrad-max-central-epsilon``,
      ``hushgrad-central-delta``: accept only rounds behind this shuffler, sealed to the key with
      this fingerprint, see :class:`hushgrad.ShuffledPolicy`;
    - ``hushgrad-share-key``: with a shuffler and a seal key, the fingerprint of the shuffler's own
      key. Only rounds of gaussian-shares are then accepted, and ``hushgrad-max-epsilon`` and
      ``hushgrad-max-delta`` bound what holds against either of the two servers;
    - ``hushgrad-log-key``, ``hushgrad-witnesses``: accept only rounds that are proved to be in the
      log of the server with this public key, and that the witnesses with these public keys, with
      commas between them, have signed;
    - ``hushgrad-unit``: the weakest unit that it accepts, "client" without;
    - ``hushgrad-ledger``: the file of a ledger, whose budget is set. Rounds of two servers and of
      sumdp are refused without it, except by the nodes of Flower's simulation: they promise for one
      report, and only the ledger remembers for ever which rounds were answered;
    - ``hushgrad-counter``: the file of the ledger's counter, in another folder. With it a restored
      copy of the ledger is refused;
    - ``hushgrad-purpose``: the purpose in the ledger. Without it "flower", and
      "flower-records" where the unit is "example";
    - ``hushgrad-allow-evaluate``: let replies to evaluation without a question leave as they are.

    The app cannot loosen what the node demands: where both have a policy, a round has to meet
    both. An app that does not use the mod is not held back: the operator of a node has to
    read the app.

    Parameters
    ----------
    policy : Policy, optional
        What the app demands. Without it and without a policy of the node every round is
        refused.
    unit : {"client", "example"}
        What the ClientApp returns, and what a report protects.
    allow_evaluate : bool
        Let replies to evaluation without a question leave as they are. They are not private.

    Raises
    ------
    InvalidParameter
        If there is no such unit.
    """

    def __init__(
        self, policy: Policy | None = None, *, unit: Unit = "client", allow_evaluate: bool = False
    ) -> None:
        self._policy = policy
        self._unit: Unit = checked(unit)
        self._allow_evaluate = allow_evaluate

    def __call__(self, msg: Message, context: Context, call_next: App) -> Message:
        """Answer a message, as Flower demands of a mod."""
        try:
            node = Node(context.node_config)
            kind = msg.metadata.message_type.split(".")[0]
            if kind == MessageType.TRAIN:
                return self._train(msg, context, call_next, node)
            if kind == MessageType.EVALUATE and records.RECORD in msg.content.config_records:
                return self._evaluate(msg, context, call_next, node)
            self._check_other(msg, node)
        except HushgradError as error:
            log.warning("hushgrad: %s", error)
            reason = f"{records.REFUSED}{error}"
            return Message(Error(_FAILED_PRECONDITION, reason), reply_to=msg)
        return call_next(msg, context)

    def _train(self, msg: Message, context: Context, call_next: App, node: Node) -> Message:
        round_ = self._round(msg, node)
        model = _only("arrays", msg)
        sent = msg.content.config_records[records.RECORD].get(records.TRAIN)
        names = received(records.arrays(model), sent, round_.dim)
        with ExitStack() as stack:
            reservation = _reserve(round_, node, context, stack)
            warn = partial(_warn, round_, context)
            if self._unit == "example" and round_.about_records:
                total = stack.enter_context(collecting(round_, model, names, warn))
                reply = _answer(msg, context, call_next)
                if reply.has_error():
                    return reply
                if not total.records or reply.content.array_records:
                    total.add(records.differences(_only("reply", reply), model, names, warn))
                report = total.encode(ledger=reservation)
            else:
                reply = _answer(msg, context, call_next)
                if reply.has_error():
                    return reply
                rows = records.difference if self._unit == "client" else records.differences
                made = rows(_only("reply", reply), model, names, warn)
                report = round_.encode(made, ledger=reservation, unit=self._unit)
        note(round_, context)
        return _sent(msg, report)

    def _evaluate(self, msg: Message, context: Context, call_next: App, node: Node) -> Message:
        round_ = self._round(msg, node)
        question = evaluation.question(msg.content.config_records[records.RECORD], round_)
        with ExitStack() as stack:
            reservation = _reserve(round_, node, context, stack)
            reply = _answer(msg, context, call_next)
            if reply.has_error():
                return reply
            rows = evaluation.answer(question, round_, self._unit, found(reply), WHERE)
            report = evaluation.encoder(round_, rows, self._unit)(ledger=reservation)
        note(round_, context)
        return _sent(msg, report)

    def _round(self, msg: Message, node: Node) -> Round:
        """Return the round that the server describes, if the node and the app accept it."""
        record = msg.content.config_records.get(records.RECORD, ConfigRecord())
        round_ = node.accept(
            record.get(records.ROUND),
            self._policy,
            server="HushgradAggregation",
            client="HushgradMod",
            log_proof=record.get(records.LOG_PROOF),
        )
        if record.get(records.UNIT) != self._unit:
            got = repr(record.get(records.UNIT))
            raise invalid("unit", got, f"must be {self._unit!r}, as in HushgradMod")
        if self._unit == "example" and node.unit == "client":
            raise PolicyRefused(
                "unit: got 'example', rule: must be 'client': the node demands that a report "
                "protects all of its data, see hushgrad-unit",
                *("unit", "'example'", "must be 'client'"),
            )
        return round_

    def _check_other(self, msg: Message, node: Node) -> None:
        """Raise an error unless a reply to another message than training may leave."""
        if not (self._allow_evaluate and node.allow_evaluate):
            raise PolicyRefused(
                f"the reply to a message of type {msg.metadata.message_type!r} would not be "
                f"private: {HOW}",
                *("message_type", repr(msg.metadata.message_type), "must be train"),
            )


def _sent(msg: Message, report: bytes) -> Message:
    """Return a reply that has a report, and nothing else."""
    content = RecordDict({records.RECORD: ConfigRecord({records.REPORT: bytes(report)})})
    return Message(content, reply_to=msg)


def _warn(round_: Round, context: Context, text: str) -> None:
    """Put a warning about private data into the log of the node."""
    log.error("hushgrad: round %s, node %d: %s", round_.id, context.node_id, text)


def _only(name: str, message: Message) -> ArrayRecord:
    """Return the only ArrayRecord of a message."""
    arrays = list(message.content.array_records.values())
    if len(arrays) != 1:
        raise invalid(name, f"{len(arrays)} ArrayRecords", "must have one")
    return arrays[0]


def _reserve(round_: Round, node: Node, context: Context, stack: ExitStack) -> Reservation | None:
    """Charge the node's ledger, if it has one."""
    purpose = node.purpose or ("flower" if node.unit == "client" else "flower-records")
    once(round_, node, purpose, answered(context))
    if node.ledger is None:
        return None
    ledger = stack.enter_context(
        Ledger(node.ledger, purpose, must_exist=True, counter=node.counter)
    )
    return stack.enter_context(ledger.reserve(round_))


def _answer(msg: Message, context: Context, call_next: App) -> Message:
    """Return the app's answer. The text of its error may hold data, and stays here."""
    try:
        reply = call_next(msg, context)
    except Exception:
        log.exception("hushgrad: the app failed")
    else:
        if not reply.has_error():
            return reply
        log.error("hushgrad: the app failed: %s", reply.error.reason)
    return Message(Error(_APP_FAILED, records.FAILED), reply_to=msg)
