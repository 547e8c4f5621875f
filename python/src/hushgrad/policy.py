"""What a client demands of a round, and what a round promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from . import _arguments

Relation = Literal["replace-one", "zero-out"]
"""Which data sets are neighbours: one client's input is replaced by any other, or by zero."""


@dataclass(frozen=True)
class ShuffledPolicy:
    """What a client demands of a round behind a shuffler that it trusts.

    The shuffler does not show the server who sent a report or when. The names and the keys
    are pins: the client has them from the parties themselves, and not from the round.

    Parameters
    ----------
    shufflers : tuple of str
        Names of the shufflers that the client trusts.
    seal_keys : tuple of str
        SHA-256 of the keys of the servers that may open reports: 64 hexadecimal digits each,
        as ``hushgrad serve keys`` lists them. Nobody else reads the reports on their way.
    max_epsilon_local : float
        Largest ε of one report by itself. It is what holds when the shuffler and the server
        work together. ``Policy.max_delta`` bounds the δ.
    max_epsilon, max_delta : float
        Largest central ε and δ of one report. They hold against a server that sees only what
        the shuffler forwards of min_reports honest clients. The central ε is stated at
        max_delta; 0 accepts no central guarantee.
    share_keys : tuple of str
        SHA-256 of the shufflers' keys that may open second shares, as ``hushgrad shuffle keys``
        lists them. A round of gaussian-shares needs one: it is what makes the two servers two.
        Its ε and δ are bounded by ``Policy.max_epsilon`` and ``Policy.max_delta``, and by no
        limit here. ``Policy.mechanisms`` has to name it.
    """

    shufflers: tuple[str, ...]
    seal_keys: tuple[str, ...]
    max_epsilon_local: float
    max_epsilon: float
    max_delta: float
    share_keys: tuple[str, ...] = ()

    def arguments(self) -> dict[str, object]:
        """Return the policy as the helper reads it."""
        return {
            "shufflers": _arguments.texts("shufflers", self.shufflers),
            "seal_keys": _arguments.texts("seal_keys", self.seal_keys),
            "share_keys": _arguments.texts("share_keys", self.share_keys),
            "max_epsilon_local": _arguments.number("max_epsilon_local", self.max_epsilon_local),
            "max_epsilon": _arguments.number("max_epsilon", self.max_epsilon),
            "max_delta": _arguments.number("max_delta", self.max_delta),
        }


@dataclass(frozen=True)
class Policy:
    """What a client demands before it encodes.

    The default refuses every round: a budget of 0 allows no report. A policy with a negative
    limit, or with a mechanism that does not exist, raises InvalidParameter when a round is opened.
    A policy belongs to the client. Never take it from the party that opens the rounds.

    Parameters
    ----------
    max_epsilon : float
        Largest ε of one report. ``math.inf`` also accepts rounds without privacy. Of a menu of
        guarantees the client takes the weakest one that the policy accepts.
    max_delta : float
        Largest δ of one report.
    min_reports : int
        Smallest number of reports below which the round releases nothing.
    max_dim : int
        Largest number of coordinates, which bounds the memory of a round: up to 16 bytes for
        each. 0 stands for 2**24.
    trust_shuffler : bool
        Accept guarantees that hold only for the shuffled reports of all clients. They do not
        hold against a party that sees the report of a single client.
    shuffled : ShuffledPolicy, optional
        Also accept rounds behind the shufflers that it pins, with a smaller ε by the shuffling.
        Every other round counts as one without a shuffler.
    relation : {"replace-one", "zero-out"}
        Weakest relation. "zero-out" also accepts "replace-one", which protects more.
    accept_real_numbers : bool
        Accept guarantees that are proved for real numbers only. The code does not keep them.
    mechanisms : tuple of str, optional
        Names of the mechanisms that are accepted. None accepts all but "gaussian-shares", which is
        accepted only by its name: its ε holds against either of two servers, and not against both.
        The round must have a shuffler and a key that ``shuffled`` pins: they are the two servers'.
    features : str
        What the round must say of the features of an example. "" accepts anything.
    log_key : str
        The public key of the server's log, as ``hushgrad log key`` prints it: only a round is
        accepted that is proved to be in the log, where everybody sees it. "" asks for no proof.
    witnesses : tuple of str
        Public keys of witnesses, all of whom have to have signed the log that the proof is about.
        A round that was just opened is refused until they have.
    """

    max_epsilon: float = 0.0
    max_delta: float = 0.0
    min_reports: int = 0
    max_dim: int = 0
    trust_shuffler: bool = False
    shuffled: ShuffledPolicy | None = None
    relation: Relation = "replace-one"
    accept_real_numbers: bool = False
    mechanisms: tuple[str, ...] | None = None
    features: str = ""
    log_key: str = ""
    witnesses: tuple[str, ...] = ()

    def arguments(self) -> dict[str, object]:
        """Return the policy as the helper reads it."""
        return {
            "max_epsilon": _arguments.number("max_epsilon", self.max_epsilon),
            "max_delta": _arguments.number("max_delta", self.max_delta),
            "min_reports": _arguments.whole("min_reports", self.min_reports),
            "max_dim": _arguments.whole("max_dim", self.max_dim),
            "trust_shuffler": self.trust_shuffler,
            "shuffled": self.shuffled and self.shuffled.arguments(),
            "relation": _arguments.text("relation", self.relation),
            "accept_real_numbers": self.accept_real_numbers,
            "mechanisms": None
            if self.mechanisms is None
            else _arguments.texts("mechanisms", self.mechanisms),
            "features": _arguments.text("features", self.features),
        }


@dataclass(frozen=True)
class Guarantee:
    """What one report promises its sender: (ε, δ)-differential privacy.

    Attributes
    ----------
    trust : {"none", "local", "shuffle", "two-servers"}
        Whom the client must trust. "local" holds against every party that sees the report,
        the server included. "shuffle" holds against a party that sees only shuffled reports.
        "two-servers" holds against either of two servers, as long as the other one is honest. It
        is no local privacy. "none" is no privacy.
    epsilon, delta : float
        The budget of the report. epsilon is ``math.inf`` without privacy.
    relation : {"replace-one", "zero-out"}
        Which inputs are neighbours.
    real_numbers : bool
        The proof is about real numbers only. The floating-point code does not keep it.
    """

    trust: str
    epsilon: float
    delta: float
    relation: str
    real_numbers: bool

    @classmethod
    def from_answer(cls, answer: dict[str, Any]) -> Guarantee:
        """Read what the helper says."""
        return cls(
            trust=answer["trust"],
            epsilon=float(answer["epsilon"]),
            delta=float(answer["delta"]),
            relation=answer["relation"],
            real_numbers=answer["real_numbers"],
        )
