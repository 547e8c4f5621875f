"""Rounds: what the clients and the server of one aggregation agree on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from . import _bridge
from .aggregator import Aggregator
from .errors import HushgradError, PolicyRefused, invalid
from .ledger import Ledger, Reservation
from .policy import Guarantee, Policy, Relation

Floats = NDArray[np.float32] | NDArray[np.float64]
Matrix = NDArray[np.float32 | np.float64]

_FRAME_BYTES = 4 << 20
_MAX_ROWS = 1 << 16


class Round:
    """One round of aggregation.

    A server makes a round with :meth:`new` and sends its :attr:`description` to the clients.
    A client opens the description under its own policy::

        server = Round.new("week-12", dim=1970, epsilon=4, scale=0.05, sparsity=73, min_reports=100)
        client = Round(server.description, Policy(max_epsilon=4.0))
        report = client.encode(gradient)

    Rounds can be pickled and sent to other processes. They are safe for concurrent use.

    Parameters
    ----------
    description : bytes
        The canonical bytes of a round.
    policy : Policy, optional
        What this client demands. Without a policy the round aggregates and does not encode.

    Raises
    ------
    PolicyRefused
        If the round promises less than the policy demands, or if its reports would have to be
        sealed for a shuffler or split between two servers, which this package does not do.
    InvalidParameter, HushgradError
        If the bytes are not the canonical description of a round.

    Attributes
    ----------
    description : bytes
        The canonical bytes, for clients. Two parties with the same bytes have the same round.
    policy : Policy or None
        The policy that has accepted the round.
    id, mechanism : str
        Name of the round, and of its mechanism.
    dim : int
        Coordinates of a gradient.
    scale : float
        What it means depends on the mechanism, in units of the gradient. For coco, collision
        and signsketch gradients are clipped to the L1 norm ``scale * sparsity``.
    epsilon, delta : float
        The budget of one report.
    relation : {"replace-one", "zero-out"}
        Which inputs are neighbours.
    min_reports, target_reports : int
        Reports below which nothing is released, and at which a server closes; 0 is never.
    columns : tuple of str
        What is estimated beside the mean.
    params : mapping
        Parameters of the mechanism.
    report_bytes : int
        Bytes of every report, or 0 where they vary.
    digest : str
        SHA-256 of the description, hexadecimal.
    guarantee : Guarantee
        What one report promises.
    advice : tuple of str
        Remarks on parameters that are allowed but poor.
    """

    def __init__(self, description: bytes, policy: Policy | None = None) -> None:
        self._open(description, policy, max_dim=0)

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
            Units of the gradient; see the class.
        min_reports : int
            At least 1. The server releases nothing for fewer reports.
        mechanism : str
            "auto" chooses among coco, collision and signsketch by their exact errors.
        delta : float
            0 for local mechanisms, else in [0, 1).
        relation : {"replace-one", "zero-out"}
            Which inputs are neighbours.
        target_reports : int
            0, or at least min_reports.
        columns : iterable of str
            What is estimated beside the mean: "frequency", "conditional", "plus", "minus".
        **params : int, float or str
            Parameters of the mechanism, for example ``sparsity=73``. What is left out is chosen
            from public quantities where the mechanism can.

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
            "id": id,
            "mechanism": mechanism,
            "dim": dim,
            "scale": _bridge.number("scale", scale),
            "epsilon": _bridge.number("epsilon", epsilon),
            "delta": _bridge.number("delta", delta),
            "relation": relation,
            "min_reports": min_reports,
            "target_reports": target_reports,
            "columns": list(columns),
            "params": {
                name: _bridge.number(name, value) if isinstance(value, float) else value
                for name, value in params.items()
            },
        }
        made = cls.__new__(cls)

        def attempt() -> None:
            helper = _bridge.helper()
            answer, description = helper.call("round.new", arguments)
            made._hold(helper, answer, bytes(description), None)

        _bridge.again(attempt)
        return made

    def encode(
        self,
        rows: Floats,
        *,
        ledger: Ledger | Reservation | None = None,
        unit: Literal["client", "example"] = "client",
    ) -> bytes:
        """Turn gradients into reports: one report for each row.

        The randomness comes from the operating system. All rows are encoded or none.

        Parameters
        ----------
        rows : numpy.ndarray of float32 or float64, shape (dim,) or (n, dim)
            Gradients, in units of the gradient, all finite, in any memory order. Too long
            ones are clipped.
        ledger : Ledger or Reservation, optional
            What pays for the report. A ledger is charged for this round, before anything is
            encoded. A reservation is spent.
        unit : {"client", "example"}
            Whose data a row is. With a ledger, "client" allows one row. "example" allows
            several, and the ledger is charged for one report: it then protects each record
            that is in one row alone, and not all records of the client together.

        Returns
        -------
        bytes
            The reports, packed one after the other.

        Raises
        ------
        PolicyRefused
            If the round was not opened under a policy.
        BudgetExhausted
            If the ledger refuses.
        AlreadyCharged
            If the ledger has a charge for this round.
        InvalidParameter
            If the rows have another type or shape, or a number that is not finite.
        """
        if self.policy is None:
            raise PolicyRefused(
                "policy: got nothing, rule: is required to encode: open the round's description "
                "under a policy",
                *("policy", "nothing", "is required to encode"),
            )
        matrix = self._checked(rows)
        if ledger is None:
            return self._encode(matrix)
        if unit not in ("client", "example"):
            raise invalid("unit", repr(unit), "must be 'client' or 'example'")
        if unit == "client" and len(matrix) > 1:
            raise invalid("rows", len(matrix), "must be one with a ledger, unless unit='example'")
        reservation = ledger if isinstance(ledger, Reservation) else ledger.reserve(self)
        reservation.check(self)
        try:
            reports = self._encode(matrix)
        except HushgradError:
            if reservation is not ledger:
                reservation.cancel()  # nothing has left
            raise
        reservation.spend()
        return reports

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
            self._open(self.description, self.policy, max_dim=self.dim)
            held = self._handle
        return held

    def _open(self, description: bytes, policy: Policy | None, max_dim: int) -> None:
        arguments = {"policy": policy and policy.arguments(), "max_dim": max_dim}

        def attempt() -> None:
            helper = _bridge.helper()
            answer, canonical = helper.call("round.open", arguments, description)
            self._hold(helper, answer, bytes(canonical), policy)

        _bridge.again(attempt)

    def _hold(
        self,
        helper: _bridge.Helper,
        answer: dict[str, Any],
        description: bytes,
        policy: Policy | None,
    ) -> None:
        self._handle = _bridge.Handle(helper, answer["round"])
        self.description: bytes = description
        self.policy: Policy | None = policy
        self.id: str = answer["id"]
        self.mechanism: str = answer["mechanism"]
        self.dim: int = answer["dim"]
        self.scale: float = float(answer["scale"])
        self.epsilon: float = float(answer["epsilon"])
        self.delta: float = float(answer["delta"])
        self.relation: str = answer["relation"]
        self.min_reports: int = answer["min_reports"]
        self.target_reports: int = answer["target_reports"]
        self.columns: tuple[str, ...] = tuple(answer["columns"])
        self.params: Mapping[str, float | str] = MappingProxyType(answer["params"])
        self.report_bytes: int = answer["report_bytes"]
        self.digest: str = answer["digest"]
        self.guarantee: Guarantee = Guarantee.from_answer(answer["guarantee"])
        self.advice: tuple[str, ...] = tuple(answer["advice"])

    def _checked(self, rows: Floats) -> Matrix:
        """Return the rows as a matrix of little-endian numbers, one row after the other."""
        if not isinstance(rows, np.ndarray) or isinstance(rows, np.ma.MaskedArray):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise invalid("rows", type(rows).__name__, "must be a numpy array without a mask")
        if rows.dtype.kind != "f" or rows.dtype.itemsize not in (4, 8):
            raise invalid("rows", rows.dtype, "must be of type float32 or float64")
        if rows.ndim not in (1, 2) or rows.shape[-1] != self.dim or len(rows) == 0:
            rule = f"must be of shape ({self.dim},) or (n, {self.dim}) with n of at least 1"
            raise invalid("rows", rows.shape, rule)
        little = np.dtype[np.float32 | np.float64](f"<f{rows.dtype.itemsize}")
        return np.ascontiguousarray(np.atleast_2d(rows), dtype=little)

    def _encode(self, matrix: Matrix) -> bytes:
        step = max(1, min(_MAX_ROWS, _FRAME_BYTES // (matrix.itemsize * self.dim)))

        def attempt() -> bytes:
            parts: list[bytes] = []
            for start in range(0, len(matrix), step):
                part = matrix[start : start + step]
                round_ = self.handle()
                arguments = {
                    "round": round_.number,
                    "type": f"f{matrix.itemsize}",
                    "rows": len(part),
                }
                _, reports = round_.helper.call("encode", arguments, part.data.cast("B"))
                parts.append(bytes(reports))
            return b"".join(parts)

        return _bridge.again(attempt)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the description and the policy."""
        return _reopen, (self.description, self.policy, self.dim)

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
            f"<Round {self.id!r}: {self.mechanism}, dim={self.dim}, epsilon={self.epsilon:g}, "
            f"delta={self.delta:g}, min_reports={self.min_reports}>"
        )


def _reopen(description: bytes, policy: Policy | None, dim: int) -> Round:
    opened = Round.__new__(Round)
    opened._open(description, policy, max_dim=dim)  # pyright: ignore[reportPrivateUsage]
    return opened
