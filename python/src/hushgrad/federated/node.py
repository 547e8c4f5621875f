"""What a node demands: settings that the party which trains cannot change."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import PolicyRefused, invalid
from ..policy import Policy, ShuffledPolicy
from ..rounds import Round

PREFIX = "hushgrad-"
"""How the names of all settings begin."""

_POLICY = ("max-epsilon", "max-delta", "min-reports", "max-dim", "trust-shuffler")
_PINS = ("shuffler", "seal-key", "share-key", "max-central-epsilon", "central-delta")
_LOG = ("log-key", "witnesses")
_OTHERS = ("ledger", "counter", "purpose", "allow-evaluate", "unit")
_UNITS = ("client", "example")


class Node:
    """The settings of a node, by their names without the prefix "hushgrad-".

    Parameters
    ----------
    settings : mapping
        The configuration of the node. Names without the prefix are left alone.

    Attributes
    ----------
    policy : Policy or None
        ``max-epsilon``, ``max-delta``, ``min-reports``, ``max-dim``, ``trust-shuffler``. None if
        there is no setting at all. A node with any setting has a policy, and what it leaves out
        refuses. ``shuffler``, ``seal-key``, ``max-central-epsilon`` and ``central-delta`` pin a
        shuffler and the key of a server, see :class:`hushgrad.ShuffledPolicy`: then only rounds
        behind that shuffler are accepted, and ``max-epsilon`` is the largest local ε. With
        ``share-key``, the fingerprint of the shuffler's key, only rounds of gaussian-shares are
        accepted, and ``max-epsilon`` and ``max-delta`` bound ε and δ against either server.
        With ``log-key``, the public key of the server's log, only rounds are accepted that are
        proved to be in the log, and that all ``witnesses`` have signed: their public keys, with
        commas between them.
    ledger : str or None
        The file of the ledger.
    counter : str or None
        The file of the ledger's counter, in another folder. With it a restored copy of the ledger
        is refused.
    purpose : str or None
        The purpose in the ledger.
    allow_evaluate : bool
        Whether what is not private may leave. A node without settings leaves it to others.
    unit : {"client", "example"}
        Weakest unit whose data one report stands for. With "example" a client may send one
        report for each of its records. A node without settings leaves it to others.

    Raises
    ------
    InvalidParameter
        If a setting is unknown or of the wrong type.
    """

    def __init__(self, settings: Mapping[str, object]) -> None:
        given = {
            name.removeprefix(PREFIX): value
            for name, value in settings.items()
            if name.startswith(PREFIX)
        }
        for name, value in given.items():
            if name not in _POLICY + _PINS + _LOG + _OTHERS:
                raise invalid(f"{PREFIX}{name}", repr(value), "is no setting of hushgrad")
        self.policy: Policy | None = None
        if given:
            pins = _pins(given)
            two = pins is not None and bool(pins.share_keys)
            self.policy = Policy(
                max_epsilon=0.0 if pins and not two else _number(given, "max-epsilon"),
                max_delta=_number(given, "max-delta"),
                min_reports=_whole(given, "min-reports"),
                max_dim=_whole(given, "max-dim"),
                trust_shuffler=_flag(given, "trust-shuffler", default=False),
                shuffled=pins,
                mechanisms=("gaussian-shares",) if two else None,
                log_key=_text(given, "log-key") or "",
                witnesses=tuple(filter(None, (_text(given, "witnesses") or "").split(","))),
            )
        self.ledger = _text(given, "ledger")
        self.counter = _text(given, "counter")
        if self.counter is not None and self.ledger is None:
            rule = f"must be given with {PREFIX}ledger, and only then"
            raise invalid(f"{PREFIX}counter", repr(self.counter), rule)
        self.purpose = _text(given, "purpose")
        self.allow_evaluate = _flag(given, "allow-evaluate", default=not given)
        self.unit = _text(given, "unit") or ("client" if given else "example")
        if self.unit not in _UNITS:
            raise invalid(f"{PREFIX}unit", repr(self.unit), "must be 'client' or 'example'")

    def accept(
        self,
        description: object,
        app: Policy | None,
        *,
        server: str,
        client: str,
        log_proof: object = None,
    ) -> Round:
        """Open a round, if the policies of the node and of the app accept it.

        Parameters
        ----------
        description : bytes
            What the server sent. Anything else is refused.
        app : Policy, optional
            What the app demands. It cannot loosen what the node demands.
        server, client : str
            Names of the adapter's parts, for the errors.
        log_proof : bytes, optional
            The proof that the server sent with the round, if it did.

        Raises
        ------
        PolicyRefused
            If a policy refuses the round, or there is none.
        InvalidParameter, HushgradError
            If the server sent no round.
        """
        if not isinstance(description, bytes):
            raise invalid("round", "nothing", f"must be sent by {server}")
        policies = [policy for policy in (self.policy, app) if policy is not None]
        if not policies:
            raise PolicyRefused(
                f"policy: got nothing, rule: is required: set {PREFIX}max-epsilon in the node's "
                f"configuration, or give {client} a policy",
                *("policy", "nothing", "is required"),
            )
        proof = log_proof if isinstance(log_proof, bytes) else b""
        opened = [Round(description, policy, log_proof=proof) for policy in policies]
        return opened[0]


def _pins(given: Mapping[str, object]) -> ShuffledPolicy | None:
    """Return the pins of a shuffler and of a key, or None if there are none."""
    if not any(name in given for name in _PINS):
        return None
    shuffler, key = _text(given, "shuffler"), _text(given, "seal-key")
    second = _text(given, "share-key")
    for name, value in (("shuffler", shuffler), ("seal-key", key)):
        if not value:
            rule = "is required with " + ", ".join(f"{PREFIX}{n}" for n in _PINS if n in given)
            raise invalid(f"{PREFIX}{name}", "nothing", rule)
    return ShuffledPolicy(
        shufflers=(shuffler or "",),
        seal_keys=(key or "",),
        share_keys=(second,) if second else (),
        max_epsilon_local=_number(given, "max-epsilon"),
        max_epsilon=_number(given, "max-central-epsilon"),
        max_delta=_number(given, "central-delta", 1e-6),
    )


def _number(given: Mapping[str, object], name: str, absent: float = 0.0) -> float:
    value = given.get(name, absent)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise invalid(f"{PREFIX}{name}", repr(value), "must be a number")
    return value


def _whole(given: Mapping[str, object], name: str) -> int:
    value = _number(given, name)
    if not float(value).is_integer():
        raise invalid(f"{PREFIX}{name}", value, "must be a whole number")
    return int(value)


def _flag(given: Mapping[str, object], name: str, *, default: bool) -> bool:
    value = given.get(name, default)
    if not isinstance(value, bool):
        raise invalid(f"{PREFIX}{name}", repr(value), "must be true or false")
    return value


def _text(given: Mapping[str, object], name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise invalid(f"{PREFIX}{name}", repr(value), "must be a text")
    return value
