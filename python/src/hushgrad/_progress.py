"""A bar for work that takes a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO

PATIENCE = 2.0
"""Seconds of silence. What takes less has no bar."""

_WIDTH = 24  # characters of a bar


class Progress:
    """A bar on standard error that a reader sees after some seconds.

    Parameters
    ----------
    total : int
        Steps of the work.
    what : str
        What a step is, such as "round".
    shown : bool, optional
        Whether there is a bar. Default where somebody looks: in a terminal and in a notebook.
    out : file, optional
        Where the bar goes. Default standard error.
    clock : callable
        Returns seconds.
    """

    def __init__(
        self,
        total: int,
        what: str,
        shown: bool | None = None,
        *,
        out: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total, self._what = total, what
        self._out = sys.stderr if out is None else out
        self._shown = _seen(self._out) if shown is None else shown
        self._clock, self._start = clock, clock()
        self._drawn = 0  # characters of the bar that stands there

    def step(self, done: int, text: str = "") -> None:
        """Show that some steps are done, with a text beside the bar."""
        taken = self._clock() - self._start
        if not self._shown or taken < PATIENCE:
            return
        full = _WIDTH * done // self._total
        bar = "█" * full + "·" * (_WIDTH - full)
        left = taken / done * (self._total - done) if done else 0
        line = (
            f"{bar} {self._what} {done} of {self._total}, {left:.0f} s left{text and ', ' + text}"
        )
        self._write(f"\r{line.ljust(self._drawn)}")
        self._drawn = len(line)

    def end(self) -> None:
        """Leave the bar that stands there, and go on below it."""
        if self._drawn:
            self._write("\n")
            self._drawn = 0

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def _seen(out: TextIO) -> bool:
    """Say whether a file is a terminal, or what a notebook shows below a cell."""
    return out.isatty() or type(out).__module__.partition(".")[0] == "ipykernel"
