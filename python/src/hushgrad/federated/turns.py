"""Clients that take part in turn, as plans have it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

from ..errors import invalid


class Turns:
    """Whose turn it is.

    A round goes to those clients that were asked least often, in random order. No client is asked
    more often than it may be. The counts are of this process: only a client's ledger outlives it.

    Parameters
    ----------
    cohort : int
        Clients of a round.
    most : int
        Rounds in which a client takes part, at most.

    Raises
    ------
    InvalidParameter
        If cohort or most is below 1.
    """

    def __init__(self, cohort: int, most: int) -> None:
        for name, value in (("cohort", cohort), ("most", most)):
            if value < 1:
                raise invalid(name, value, "must be at least 1")
        self.cohort, self.most = cohort, most
        self._asked: Counter[int] = Counter()

    @property
    def asked(self) -> int:
        """Rounds for which a client was asked so far, at most."""
        return max(self._asked.values(), default=0)

    def free(self, clients: Iterable[int]) -> list[int]:
        """Return those that may still take part, the ones that were asked least first."""
        free = [client for client in clients if self._asked[client] < self.most]
        random.shuffle(free)
        return sorted(free, key=self._asked.__getitem__)

    def next(self, clients: Iterable[int]) -> list[int]:
        """Return the clients of the next round, or none where too few may still take part."""
        free = self.free(clients)
        if len(free) < self.cohort:
            return []
        self._asked.update(free[: self.cohort])
        return free[: self.cohort]
