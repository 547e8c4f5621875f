"""Rounds: what the clients and the server of one aggregation agree on."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from typing import Any, Literal, cast

import numpy as np

from . import _arguments, _bridge
from .aggregator import Aggregator
from .errors import HelperFailed, HushgradError, PolicyRefused, invalid
from .facts import RoundFacts
from .ledger import Ledger, Reservation
from .policy import Policy, Relation
from .reports import Reports
from .rows import Floats, Matrix, checked, frames


class Round(RoundFacts):
    """One round of aggregation.

    A server makes a round with :meth:`new` and sends its :attr:`description` to the clients.
    A client opens the description under its own policy::

        server = Round.new("week-12", dim=1970, epsilon=4, scale=0.05, sparsity=73, min_reports=100)
        client = Round(server.description, Policy(max_epsilon=4.0))
        report = client.encode(gradient)

    The attributes are as in :class:`hushgrad.RoundFacts`. Rounds can be pickled and sent to
    other processes. They are safe for concurrent use.

    In a round with a shuffler :meth:`encode` returns sealed reports. Only the server opens
    them, and whoever carries them cannot.

    Parameters
    ----------
    description : bytes
        The canonical bytes of a round.
    policy : Policy, optional
        What this client demands. Without a policy the round aggregates and does not encode.
    tokens : bool
        Whether this program fetches admission tokens where the round asks for them, with
        :class:`hushgrad.server.Issuer` or from :attr:`token_requests`. The round then gives one
        report. The requests are drawn here, and are lost with the round or with the helper. A
        pickle has none of them.
    log_proof : bytes
        The proof that the round is in the server's log, which comes with the round:
        :attr:`hushgrad.server.RoundStatus.log_proof`. A policy with ``log_key`` needs it.

    Raises
    ------
    PolicyRefused
        If the round promises less than the policy demands, if it asks for admission tokens and
        ``tokens`` is false, or if the policy has a ``log_key`` and nothing proves that the round
        is in the log.
    InvalidParameter
        If the bytes are not the canonical description of a round.
    """

    def __init__(
        self,
        description: bytes,
        policy: Policy | None = None,
        *,
        tokens: bool = False,
        log_proof: bytes = b"",
    ) -> None:
        self.log_proof = bytes(_arguments.data("log_proof", log_proof))
        self._open(description, policy, max_dim=0, tokens=tokens)

    @classmethod
    def new(
        cls,
        id: str,  # noqa: A002
        *,
        dim: int,
        epsilon: float,
        scale: float,
        min_reports: int,
        mechanism: str = "auto",
        delta: float = 0.0,
        relation: Relation = "replace-one",
        target_reports: int = 0,
        columns: Iterable[str] = (),
        shuffler: str = "",
        seal_key: bytes = b"",
        share_key: bytes = b"",
        features: str = "",
        **params: float | str,
    ) -> Round:
        """Describe a new round, with fresh public randomness.

        The round aggregates. To encode, open its description under a policy.

        Parameters
        ----------
        id : str
            1 to 64 characters of ``[A-Za-z0-9._-]``.
        dim : int
            Coordinates of a gradient, in [1, 2**27].
        epsilon : float
            Budget of one report, in (0, 20], or ``math.inf`` for a mechanism without privacy.
        scale : float
            In units of the gradient. With coco, collision and signsketch a gradient is clipped to
            the L1 norm ``scale * sparsity``, and with privunit to the L2 norm ``scale``. What it
            means for others is in their packages.
        min_reports : int
            At least 1. The server releases nothing for fewer reports.
        mechanism : str
            "auto" chooses among coco, collision and signsketch by their exact errors. privunit is
            for dense gradients. The others are tiers, gaussian, laplace, sumdp, gaussian-shares,
            gaussian-site and none.
        delta : float
            0 for local mechanisms, else in [0, 1).
        relation : {"replace-one", "zero-out"}
            Which inputs are neighbours.
        target_reports : int
            0, or at least min_reports.
        columns : iterable of str
            What is estimated beside the mean: "frequency", "conditional", "plus", "minus".
        shuffler : str
            Name of the shuffler that the reports go through, as in its certificate. Empty: none.
        seal_key : bytes
            Public key to which clients seal reports, required with a shuffler. A round that
            ``hushgrad serve`` opens has the server's own key: take the description from there.
        share_key : bytes
            The shuffler's public key, required with gaussian-shares behind a shuffler: clients
            seal second shares to it. ``hushgrad shuffle keys --output json`` prints it.
        features : str
            What the clients' models see of an example: name, colon and digest. Empty: not said.
        **params : int, float or str
            Parameters of the mechanism. coco, collision and signsketch need ``sparsity``, the
            number of signed coordinates to which a gradient is reduced. What else is left out is
            chosen where that is possible. An error lists the names that a mechanism has.

        Returns
        -------
        Round
            The complete round.

        Raises
        ------
        InvalidParameter
            If a parameter is missing or breaks a rule.
        """
        arguments = {
            "id": _arguments.text("id", id),
            "mechanism": _arguments.text("mechanism", mechanism),
            "dim": _arguments.whole("dim", dim),
            "scale": _arguments.number("scale", scale),
            "epsilon": _arguments.number("epsilon", epsilon),
            "delta": _arguments.number("delta", delta),
            "relation": _arguments.text("relation", relation),
            "min_reports": _arguments.whole("min_reports", min_reports),
            "target_reports": _arguments.whole("target_reports", target_reports),
            "columns": _arguments.texts("columns", columns),
            "shuffler": _arguments.text("shuffler", shuffler),
            "seal_key": b64encode(_arguments.data("seal_key", seal_key)).decode(),
            "share_key": b64encode(_arguments.data("share_key", share_key)).decode(),
            "features": _arguments.text("features", features),
            "params": {name: _arguments.parameter(name, value) for name, value in params.items()},
        }
        made = cls.__new__(cls)

        def attempt() -> None:
            helper = _bridge.helper()
            answer, description = helper.call("round.new", arguments)
            made.log_proof = b""
            opened = _bridge.Handle(helper, answer["round"])
            made._hold(opened, answer, bytes(description), None, tokens=False)

        _bridge.again(attempt)
        return made

    def encode(
        self,
        rows: Floats,
        *,
        ledger: Ledger | Reservation | None = None,
        unit: Literal["client", "example"] = "client",
    ) -> Reports:
        """Turn gradients into reports: one report for each row.

        The randomness comes from the operating system. All rows are encoded or none.

        Parameters
        ----------
        rows : numpy.ndarray of float16, float32 or float64, shape (dim,) or (n, dim)
            Gradients, in units of the gradient, all finite, in any memory order. Too long
            ones are clipped. A list of numbers, of lists or of arrays is made an array. In a
            round with the parameter ``records`` a row counts as a single record.
        ledger : Ledger or Reservation, optional
            What pays for the report. A ledger is charged for this round, before anything is
            encoded. A reservation is spent.
        unit : {"client", "example"}
            Whose data a row is. With a ledger, "client" allows one row. "example" allows
            several, and the ledger is charged for one report: it then protects each record
            that is in one row alone, and not all records of the client together.

        Returns
        -------
        Reports
            Bytes: the reports, packed one after the other. In a round with a shuffler they are
            sealed, and each has report_bytes bytes.

        Raises
        ------
        PolicyRefused
            If the round was not opened under a policy.
        BudgetExhausted
            If the ledger refuses.
        AlreadyCharged
            If the ledger has a charge for this round.
        InvalidParameter
            If the rows have another type or shape, or a number that is not finite: rows[i] is the
            row of this call.
        """
        self._may_encode()
        matrix = checked(rows, self.dim)
        if unit not in ("client", "example"):
            raise invalid("unit", repr(unit), "must be 'client' or 'example'")
        if ledger is not None and unit == "client" and len(matrix) > 1:
            raise invalid("rows", len(matrix), "must be one with a ledger, unless unit='example'")
        return self._paid(ledger, lambda: self._encode(matrix))

    def encode_records(
        self,
        records: Floats | Iterable[Floats],
        *,
        ledger: Ledger | Reservation | None = None,
    ) -> Reports:
        """Turn the gradients of a client's records into one report of their sum.

        It is for a client that holds many records, such as a hospital, in a round of
        gaussian-shares or gaussian-site with the parameter ``records``. Each record is clipped by
        itself. The guarantee is about one record, and not about all records of a client together.
        The servers learn the number of records. The memory is a gradient's, however many records
        come. :class:`RecordSum` takes records in parts.

        Parameters
        ----------
        records : numpy.ndarray of float16, float32 or float64, shape (n, dim), or an iterable
            The gradients, one in each row, in units of the gradient. An iterable of such arrays
            is read to its end: a generator needs no memory for all of them. A row with NaN or
            infinity counts as zero, because the number of records must not depend on the data.
        ledger : Ledger or Reservation, optional
            What pays for the report, once for all records.

        Returns
        -------
        Reports
            Bytes: the report, sealed in a round with a shuffler.

        Raises
        ------
        PolicyRefused
            If the round was not opened under a policy.
        BudgetExhausted
            If the ledger refuses.
        AlreadyCharged
            If the ledger has a charge for this round.
        InvalidParameter
            If the round is not about records, if there are none or more than the round has room
            for, or if rows have another type or shape.
        HelperFailed
            If the helper has died. An iterator that was begun cannot be read again.
        """
        total = RecordSum(self)
        whole = isinstance(records, np.ndarray)
        for rows in cast("Iterable[Floats]", (records,) if whole else records):
            total.add(rows)
        return total.encode(ledger=ledger)

    def take_tokens(self, signatures: Iterable[bytes]) -> None:
        """Make the round's tokens of the issuer's answers, which are checked.

        Parameters
        ----------
        signatures : iterable of bytes
            The blind signatures, in the order of :attr:`token_requests`.

        Raises
        ------
        InvalidParameter
            If the round asks for no tokens, or an answer is no signature of its request.
        """
        handle = self.handle()
        _, tokens = handle.helper.call("token", {"round": handle.number}, b"".join(signatures))
        size = len(tokens) // max(1, len(self.token_requests))
        self._admission = [bytes(tokens[i : i + size]) for i in range(0, len(tokens), size)]

    def aggregator(self, snapshot: bytes | None = None) -> Aggregator:
        """Return a new aggregator.

        Parameters
        ----------
        snapshot : bytes, optional
            What :meth:`Aggregator.snapshot` has returned for this round.

        Raises
        ------
        InvalidParameter
            If the snapshot is damaged or of another round.
        """

        def attempt() -> Aggregator:
            made = Aggregator(self.id, self.handle())
            if snapshot is not None:
                made.restore(snapshot)
            return made

        return _bridge.again(attempt)

    def handle(self) -> _bridge.Handle:
        """Return the round's handle at the helper of this process."""
        held = self._handle
        if held.helper is not _bridge.helper():
            if self.token_requests:
                raise HelperFailed(
                    "the helper has died with the requests for the round's tokens: the issuer "
                    "signs no others, so this client takes no part in the round"
                )
            self._open(self.description, self.policy, max_dim=self.dim, tokens=self._tokens)
            held = self._handle
        return held

    def _open(
        self, description: bytes, policy: Policy | None, max_dim: int, *, tokens: bool
    ) -> None:
        if not (policy is None or isinstance(policy, Policy)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise invalid("policy", type(policy).__name__, "must be a hushgrad.Policy")
        given = _arguments.data("description", description)
        arguments = {
            "policy": policy and policy.arguments(),
            "max_dim": max_dim,
            "tokens": bool(tokens),
        }

        def attempt() -> None:
            helper = _bridge.helper()
            answer, canonical = helper.call("round.open", arguments, given)
            opened = _bridge.Handle(helper, answer["round"])
            if policy and (policy.log_key or policy.witnesses):
                self._check_log(opened, policy.log_key, policy.witnesses, self.log_proof)
            self._hold(opened, answer, bytes(canonical), policy, tokens=tokens)

        _bridge.again(attempt)

    def check_log(self, log_key: str, witnesses: tuple[str, ...], log_proof: bytes) -> None:
        """Check that the round is in the log of a server.

        A policy with ``log_key`` does so when a round is opened. This is for a program that waits
        until the witnesses have signed.

        Raises
        ------
        PolicyRefused
            If the bytes do not prove it.
        InvalidParameter
            If a key is none.
        """
        self._check_log(self.handle(), log_key, witnesses, log_proof)

    @staticmethod
    def _check_log(
        opened: _bridge.Handle, log_key: str, witnesses: tuple[str, ...], log_proof: bytes
    ) -> None:
        given = {
            "round": opened.number,
            "log_key": _arguments.text("log_key", log_key),
            "witnesses": _arguments.texts("witnesses", witnesses),
        }
        opened.helper.call("logged", given, _arguments.data("log_proof", log_proof))

    def _hold(
        self,
        opened: _bridge.Handle,
        answer: dict[str, Any],
        description: bytes,
        policy: Policy | None,
        *,
        tokens: bool,
    ) -> None:
        self._handle = opened
        self.policy: Policy | None = policy
        self._tokens = tokens
        self.token_requests: tuple[tuple[bytes, bytes], ...] = tuple(
            (b64decode(r["token_key_id"]), b64decode(r["blinded_message"]))
            for r in answer.get("token_requests", ())
        )
        self._admission: list[bytes] = []
        self.read(answer, description)

    def _may_encode(self) -> None:
        if self.policy is None:
            raise PolicyRefused(
                "policy: got nothing, rule: is required to encode: open the round's description "
                "under a policy",
                *("policy", "nothing", "is required to encode"),
            )

    def _paid(self, ledger: Ledger | Reservation | None, encode: Callable[[], bytes]) -> Reports:
        """Encode, and let a ledger pay for it."""
        # In a round with a shuffler the first token is sealed in the report.
        token = self._admission[-1] if self._admission else b""
        if ledger is None:
            return Reports(encode(), token)
        if not isinstance(ledger, Ledger | Reservation):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise invalid("ledger", type(ledger).__name__, "must be a Ledger or a Reservation")
        reservation = ledger if isinstance(ledger, Reservation) else ledger.reserve(self)
        reservation.check(self)
        try:
            reports = encode()
        except HushgradError:
            if reservation is not ledger:
                reservation.cancel()  # nothing has left
            raise
        reservation.spend()
        return Reports(reports, token)

    def _encode(self, matrix: Matrix) -> bytes:
        def attempt() -> bytes:
            parts: list[bytes] = []
            for first, part in frames(matrix):
                round_ = self.handle()
                kind = f"f{part.itemsize}"
                given = {"round": round_.number, "type": kind, "rows": len(part), "first": first}
                _, reports = round_.helper.call("encode", given, part.data)
                parts.append(bytes(reports))
            return b"".join(parts)

        return _bridge.again(attempt)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the description, the policy and the proof that it may ask for."""
        return _reopen, (self.description, self.policy, self.dim, self._tokens, self.log_proof)

    def __eq__(self, other: object) -> bool:
        """Compare descriptions and policies."""
        if not isinstance(other, Round):
            return NotImplemented
        return (self.description, self.policy) == (other.description, other.policy)

    def __hash__(self) -> int:
        """Return the hash of the description."""
        return hash(self.description)

    def __repr__(self) -> str:
        """Return the name, the mechanism and the budget."""
        return (
            f"<Round {self.id!r}: {self.mechanism}, dim={self.dim}, epsilon={self.epsilon}, "
            f"delta={self.delta}, min_reports={self.min_reports}>"
        )


class RecordSum:
    """The sum of a client's records, which becomes one report.

    It is for a program that has its records in parts. One that has them all, or a generator of
    them, calls :meth:`Round.encode_records`::

        total = RecordSum(round)
        for part in parts:
            total.add(gradients(part))
        report = total.encode(ledger=ledger)

    It takes the memory of one gradient. It lives in the helper of the process that has made it,
    and is lost when the helper dies. It is not safe for concurrent use.

    Parameters
    ----------
    round_ : Round
        A round that was opened under a policy, of gaussian-shares or gaussian-site, with the
        parameter ``records``.

    Attributes
    ----------
    records : int
        Number of records so far. The report shows it.

    Raises
    ------
    PolicyRefused
        If the round was not opened under a policy.
    InvalidParameter
        If the round is not about records.
    """

    def __init__(self, round_: Round) -> None:
        round_._may_encode()  # pyright: ignore[reportPrivateUsage]

        def begin() -> _bridge.Handle:
            handle = round_.handle()
            answer, _ = handle.helper.call("records.new", {"round": handle.number})
            return _bridge.Handle(handle.helper, answer["records"])

        self._round = round_
        self._sum = _bridge.again(begin)
        self.records = 0

    def add(self, records: Floats) -> None:
        """Add records.

        Parameters
        ----------
        records : numpy.ndarray of float16, float32 or float64, shape (dim,) or (n, dim)
            The gradient of a record in each row. Each is clipped by itself. A row with NaN or
            infinity counts as zero, because the number of records must not depend on the data.

        Raises
        ------
        InvalidParameter
            If the rows have another type or shape, or are more than the round has room for. The
            sum then has the rows before them.
        HelperFailed
            If the helper has died.
        """
        for _, part in frames(checked(records, self._round.dim, "records")):
            given = {
                "records": self._sum.number,
                "type": f"f{part.itemsize}",
                "rows": len(part),
                "first": self.records,
            }
            self._sum.helper.call("records.add", given, part.data)
            self.records += len(part)

    def encode(self, *, ledger: Ledger | Reservation | None = None) -> Reports:
        """Return the report, once. See :meth:`Round.encode_records`."""

        def encode() -> bytes:
            _, report = self._sum.helper.call("records.encode", {"records": self._sum.number})
            return bytes(report)

        return self._round._paid(ledger, encode)  # pyright: ignore[reportPrivateUsage]


def _reopen(
    description: bytes, policy: Policy | None, dim: int, tokens: bool, log_proof: bytes
) -> Round:
    opened = Round.__new__(Round)
    opened.log_proof = log_proof
    opened._open(description, policy, max_dim=dim, tokens=tokens)  # pyright: ignore[reportPrivateUsage]
    return opened
