"""The client's durable record of the privacy it has spent."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from . import _arguments, _bridge
from .errors import LedgerState, invalid
from .policy import Relation

if TYPE_CHECKING:
    from .rounds import Round


@dataclass(frozen=True)
class Budget:
    """A budget, or what was spent of it: (ε, δ)-differential privacy.

    Attributes
    ----------
    epsilon, delta : float
        The sums, composed.
    relation : {"replace-one", "zero-out"}
        Which inputs are neighbours.
    """

    epsilon: float
    delta: float
    relation: str


class Ledger:
    """A client's ledger in a file, which it locks until it is closed.

    The record survives a crash at any moment, and the ledger fails closed. Charges of all
    rounds are composed, and a report that would exceed the budget is refused.

    Parameters
    ----------
    path : str or path
        The file, which is made if it is missing.
    purpose : str
        Name of a body of data with a budget of its own. Budgets of different purposes are
        not added up.
    must_exist : bool
        Make a missing file an error, for a client that has had a ledger.
    counter : str or path, optional
        A second file in another folder, outside of what is backed up with the ledger. It counts
        the ledger's steps. With it an older copy of the ledger is refused. It is made with a new
        ledger, and for a ledger without one unless ``must_exist`` is set.

    Raises
    ------
    LedgerInUse
        If the file is open elsewhere.
    LedgerError
        If the file is missing though it must exist, damaged, replaced, or no ledger.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        purpose: str,
        *,
        must_exist: bool = False,
        counter: str | os.PathLike[str] | None = None,
    ) -> None:
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise invalid("path", repr(path), "must be the path of a file")
        self.path = Path(path).absolute()
        self.purpose = _arguments.text("purpose", purpose)
        self._counter = None if counter is None else Path(counter).absolute()
        self._must_exist = must_exist
        self._closed = False
        self._handle: _bridge.Handle | None = None
        self._opened()

    def set_budget(
        self,
        epsilon: float,
        delta: float = 0.0,
        relation: Relation = "replace-one",
        *,
        once: bool = False,
    ) -> None:
        """Set the largest loss that the client accepts for all of its reports together.

        Parameters
        ----------
        epsilon : float
            At least 0. ``math.inf`` also allows reports without privacy.
        delta : float
            In [0, 1).
        relation : {"replace-one", "zero-out"}
            Which inputs are neighbours.
        once : bool
            The client reports once in its life for the purpose, whatever is left of epsilon.

        Raises
        ------
        InvalidParameter
            If a number is out of range.
        """
        self._set(epsilon, delta, relation, central=False, once=once)

    def set_central_budget(
        self, epsilon: float, delta: float, relation: Relation = "replace-one"
    ) -> None:
        """Set a second budget, which every report has to meet, too.

        It bounds the loss against a party that sees only what whole rounds give together, for
        example a server behind a shuffler. A report counts there with the central guarantee of
        its round (:attr:`hushgrad.Round.central`), and without one as in the first budget.

        Parameters
        ----------
        epsilon, delta, relation
            As for :meth:`set_budget`.

        Raises
        ------
        LedgerState
            If the purpose has no first budget.
        InvalidParameter
            If a number is out of range.
        """
        self._set(epsilon, delta, relation, central=True, once=False)

    def _set(
        self, epsilon: float, delta: float, relation: Relation, *, central: bool, once: bool
    ) -> None:
        self._call(
            "budget",
            purpose=self.purpose,
            central=central,
            epsilon=_arguments.number("epsilon", epsilon),
            delta=_arguments.number("delta", delta),
            relation=_arguments.text("relation", relation),
            once=bool(once),
        )

    def spent(self) -> Budget:
        """Return what all charges come to, composed, at the δ of the budget.

        Raises
        ------
        LedgerState
            If the purpose has no budget.
        """
        return self._spent(central=False)

    def spent_central(self) -> Budget:
        """Return what all charges come to in the central budget, composed, at its δ.

        Raises
        ------
        LedgerState
            If the purpose has no central budget.
        """
        return self._spent(central=True)

    def _spent(self, *, central: bool) -> Budget:
        answer = self._call("spent", purpose=self.purpose, central=central)
        return Budget(float(answer["epsilon"]), float(answer["delta"]), answer["relation"])

    def reserve(self, round_: Round) -> Reservation:
        """Charge one report of a round, before any work is done for it.

        The charge counts from now on, also after a crash. Use the reservation in a ``with``
        statement, or pass it to :meth:`hushgrad.Round.encode`.

        Raises
        ------
        BudgetExhausted
            If the budget does not allow the report, or there is none.
        AlreadyCharged
            If this round has a charge that was not cancelled.
        InvalidParameter
            If the round was not opened under a policy.
        """
        ledger, opened = self._opened(), round_.handle()
        arguments = {"ledger": ledger.number, "purpose": self.purpose, "round": opened.number}
        answer, _ = opened.helper.call("reserve", arguments)
        return Reservation(self, answer["entry"], round_.digest)

    def close(self) -> None:
        """Let go of the file. Every other method is an error then."""
        held, self._handle, self._closed = self._handle, None, True
        if held is not None and held.helper.usable():
            held.helper.release(held.number)  # an error may still refer to the handle

    def step(self, operation: str, entry: int, **arguments: object) -> None:
        """Take a step of an entry. Reservations call it."""
        self._call(operation, entry=entry, **arguments)

    def _opened(self) -> _bridge.Handle:
        with _bridge.exclusive():
            if self._closed:
                raise LedgerState(f"the ledger {self.path} is closed")
            helper = _bridge.helper()
            if self._handle is None or self._handle.helper is not helper:
                arguments = {
                    "path": str(self.path),
                    "counter": "" if self._counter is None else str(self._counter),
                    "must_exist": self._must_exist,
                }
                answer, _ = helper.call("ledger", arguments)
                self._handle = _bridge.Handle(helper, answer["ledger"])
                self._must_exist = True  # what was opened once must not be made anew
            return self._handle

    def _call(self, operation: str, **arguments: object) -> dict[str, Any]:
        ledger = self._opened()
        answer, _ = ledger.helper.call(operation, {"ledger": ledger.number, **arguments})
        return answer

    def __enter__(self) -> Ledger:
        """Return the ledger."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the ledger."""
        self.close()

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled."""
        raise TypeError("a Ledger cannot be pickled: one process has its file open")


class Reservation:
    """The charge for one report of a round. Make one with :meth:`Ledger.reserve`.

    At the end of a ``with`` statement a reservation that was not spent is cancelled::

        with ledger.reserve(round) as reservation:
            reports = round.encode(train(), ledger=reservation)
    """

    def __init__(self, ledger: Ledger, entry: int, digest: str) -> None:
        self._ledger = ledger
        self._entry = entry
        self._digest = digest
        self._ended = False

    def check(self, round_: Round) -> None:
        """Raise an error unless the reservation is unspent and for this round."""
        if round_.digest != self._digest:
            raise invalid("ledger", "a reservation for another round", "must be for this round")
        if self._ended:
            raise LedgerState("the reservation was spent or cancelled")

    def spend(self) -> None:
        """Record that the report is about to leave. :meth:`hushgrad.Round.encode` calls it."""
        self._ended = True
        self._ledger.step("spend", self._entry)

    def cancel(self) -> None:
        """Give the charge back. Nothing of the report may have left.

        Raises
        ------
        LedgerState
            If it was spent.
        """
        self._ledger.step("unspend", self._entry)
        self._ended = True

    def receipt(self, text: str) -> None:
        """Note the server's acknowledgement of the report, for the record.

        Parameters
        ----------
        text : str
            1 to 256 bytes of UTF-8.
        """
        self._ledger.step("receipt", self._entry, receipt=text)

    def __enter__(self) -> Reservation:
        """Return the reservation."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Cancel the reservation unless it was spent."""
        if not self._ended:
            self.cancel()
