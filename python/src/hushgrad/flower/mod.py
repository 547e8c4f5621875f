"""The client's half: what leaves a Flower client."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from logging import getLogger

from flwr.app import ConfigRecord, Context, Error, Message, MessageType, RecordDict

from ..errors import HushgradError, PolicyRefused, invalid
from ..federated import Node
from ..ledger import Ledger, Reservation
from ..policy import Policy
from ..rounds import Round
from . import records

log = getLogger("flwr")

_FAILED_PRECONDITION = 6  # Flower's code of a mod that does not go on


class HushgradMod:
    """A Flower mod that sends one private report instead of the trained model.

    The ClientApp trains as always and returns one ArrayRecord with the names and shapes of the
    model that it got. The mod encodes the difference, and nothing else of the reply leaves.
    The policy is checked and the ledger is charged before the training starts. What is refused
    is answered with an error, and nothing is trained.

    The node decides. Its configuration (``flower-supernode --node-config``) may have

    - ``hushgrad-max-epsilon``, ``hushgrad-max-delta``, ``hushgrad-min-reports``,
      ``hushgrad-trust-shuffler``: a policy, see :class:`hushgrad.Policy`;
    - ``hushgrad-ledger``: the file of a ledger, whose budget is set;
    - ``hushgrad-purpose``: the purpose in the ledger, "flower" without;
    - ``hushgrad-allow-evaluate``: let replies to evaluation leave as they are.

    The app cannot loosen what the node demands: where both have a policy, a round has to meet
    both. An app that does not use the mod is not held back: the operator of a node has to
    read the app.

    Parameters
    ----------
    policy : Policy, optional
        What the app demands. Without it and without a policy of the node every round is
        refused.
    allow_evaluate : bool
        Let replies to evaluation leave as they are. They are not private.
    """

    def __init__(self, policy: Policy | None = None, *, allow_evaluate: bool = False) -> None:
        self._policy = policy
        self._allow_evaluate = allow_evaluate

    def __call__(
        self, msg: Message, context: Context, call_next: Callable[[Message, Context], Message]
    ) -> Message:
        """Answer a message, as Flower demands of a mod."""
        try:
            if msg.metadata.message_type.split(".")[0] == MessageType.TRAIN:
                return self._train(msg, context, call_next)
            self._check_other(msg, context)
        except HushgradError as error:
            log.warning("hushgrad: %s", error)
            reason = f"{records.REFUSED}{error}"
            return Message(Error(_FAILED_PRECONDITION, reason), reply_to=msg)
        return call_next(msg, context)

    def _train(
        self, msg: Message, context: Context, call_next: Callable[[Message, Context], Message]
    ) -> Message:
        round_ = self._round(msg, context)
        models = list(msg.content.array_records.values())
        if len(models) != 1:
            raise invalid("arrays", f"{len(models)} records", "must be one, the model")
        size = sum(array.size for array in records.parameters(models[0]).values())
        if size != round_.dim:
            raise invalid("dim", round_.dim, f"must be the {size} parameters of the model")
        with ExitStack() as stack:
            reservation = self._reserve(round_, context, stack)
            reply = call_next(msg, context)
            if reply.has_error():
                return reply
            trained = list(reply.content.array_records.values())
            if len(trained) != 1:
                raise invalid("arrays", f"{len(trained)} records", "must be one in the reply")
            row = records.difference(trained[0], models[0])
            report = round_.encode(row, ledger=reservation)
        content = RecordDict({records.RECORD: ConfigRecord({records.REPORT: report})})
        return Message(content, reply_to=msg)

    def _round(self, msg: Message, context: Context) -> Round:
        """Return the round that the server describes, if every policy accepts it."""
        record = msg.content.config_records.get(records.RECORD, ConfigRecord())
        description = record.get(records.ROUND)
        return Node(context.node_config).accept(
            description, self._policy, server="HushgradAggregation", client="HushgradMod"
        )

    @staticmethod
    def _reserve(round_: Round, context: Context, stack: ExitStack) -> Reservation | None:
        """Charge the node's ledger, if it has one."""
        node = Node(context.node_config)
        if node.ledger is None:
            return None
        ledger = stack.enter_context(Ledger(node.ledger, node.purpose or "flower", must_exist=True))
        return stack.enter_context(ledger.reserve(round_))

    def _check_other(self, msg: Message, context: Context) -> None:
        """Raise an error unless a reply to another message than training may leave."""
        if not (self._allow_evaluate and Node(context.node_config).allow_evaluate):
            raise PolicyRefused(
                f"the reply to a message of type {msg.metadata.message_type!r} would not be "
                "private: allow_evaluate lets it leave",
                *("message_type", repr(msg.metadata.message_type), "must be train"),
            )
