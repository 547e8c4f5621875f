"""Memory that a process shares with its helper, so that large payloads need not pass a pipe."""

from __future__ import annotations

import contextlib
import os
import sys
from mmap import mmap

LEAST = 1 << 18
"""Bytes of a payload from which on the memory is faster than a pipe."""

MOST = 16 << 20
"""Bytes of the memory. The system gives them when they are written."""


class Memory:
    """Memory for one helper. Where the system has none to share it takes nothing."""

    def __init__(self) -> None:
        self.descriptors: list[int] = []
        """What the helper inherits, until closed by passed."""
        self._mapped: mmap | None = None
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                self._make()

    def _make(self) -> None:
        import fcntl

        made = os.memfd_create("hushgrad", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(made, MOST)
            fcntl.fcntl(made, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
            self._mapped = mmap(made, MOST)
        except BaseException:
            os.close(made)
            raise
        self.descriptors.append(made)

    def passed(self) -> None:
        """Close the descriptors: the helper has its own, and the memory stays."""
        while self.descriptors:
            os.close(self.descriptors.pop())

    def take(self, payload: memoryview) -> bool:
        """Write a payload to the beginning, and say whether it is of a size for that."""
        if self._mapped is None or not LEAST <= len(payload) <= MOST:
            return False
        self._mapped[: len(payload)] = payload
        return True

    def close(self) -> None:
        """Let go of the memory."""
        mapped, self._mapped = self._mapped, None
        if mapped is not None:
            mapped.close()
