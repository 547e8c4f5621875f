"""The helper process: it holds the mechanisms, which are written in Go.

A process has one helper. It starts at the first call and ends with its process. After a fork
the child starts a helper of its own: the two never share randomness or a pipe. A helper that
has died is replaced at the next call. The frames on its pipes are described in the Go package
``bridge/internal/abi``.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ._memory import Memory
from ._programs import program
from .errors import HelperFailed, from_helper, invalid

PROTOCOL = 1
"""Version of the frames and operations, which the helper must have too."""

_PREFIX = struct.Struct("<IQ")
_IN_MEMORY = 1 << 63  # in the length of a payload that lies in the shared memory
_MAX_HEADER = 1 << 24  # of an answer; a plan has the longest ones
_MAX_RELEASED = 10_000  # handles in one request
_MAX_ARGUMENTS = 1 << 19  # bytes; with the handles less than the helper reads
_PIPE_BYTES = 1 << 20
_F_SETPIPE_SZ = 1031  # fcntl's, which Python names on Linux alone

Payload = bytes | bytearray | memoryview
T = TypeVar("T")


class Helper:
    """A running helper.

    Raises
    ------
    HelperFailed
        If it does not start, or is of another version than this package.
    """

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._lock = threading.Lock()
        self._garbage: deque[int] = deque()
        helper = program("hushgrad-bridge")
        self._memory = Memory()
        passed = self._memory.descriptors
        try:
            self._process = subprocess.Popen(
                [str(helper), *map(str, passed)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                cwd=helper.parent,
                pass_fds=tuple(passed),
            )
        except OSError as error:
            raise HelperFailed(f"the helper {helper} does not start: {error}") from error
        finally:
            self._memory.passed()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        _widen(self._in.fileno())
        _widen(self._out.fileno())
        try:
            greeting, _ = self._receive()
            if greeting.get("protocol") != PROTOCOL:
                raise HelperFailed(f"the helper speaks {greeting}, and not protocol {PROTOCOL}")
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Process id of the helper."""
        return self._process.pid

    def usable(self) -> bool:
        """Say whether this process may call it: it runs, and it is not a parent's."""
        return self.owner == os.getpid() and self._process.poll() is None

    def call(
        self, operation: str, arguments: Mapping[str, object], payload: Payload = b""
    ) -> tuple[dict[str, Any], bytearray]:
        """Call an operation and return its answer and payload.

        A call that is interrupted ends the helper, because the pipes are then in the middle
        of a frame. What is wrong with the arguments is found before that.
        """
        given = json.dumps(arguments, allow_nan=False)
        if len(given) > _MAX_ARGUMENTS:
            got = f"{len(given)} bytes"
            raise invalid("arguments", got, f"must have at most {_MAX_ARGUMENTS} together")
        view = memoryview(payload).cast("B")
        with self._lock:
            garbage = [
                self._garbage.popleft() for _ in range(min(len(self._garbage), _MAX_RELEASED))
            ]
            header = f'{{"op": "{operation}", "release": {garbage}, "args": {given}}}'.encode()
            try:
                self._send(header, view)
                answer, out = self._receive()
            except OSError as error:
                self.close()
                raise HelperFailed(
                    f"the helper ended in the middle of the call {operation}: {error}"
                ) from error
            except BaseException:
                self.close()
                raise
        if "error" in answer:
            raise from_helper(answer["error"])
        return answer["answer"], out

    def forget(self, handle: int) -> None:
        """Release a handle with the next call. It never blocks, so that finalizers call it."""
        self._garbage.append(handle)

    def close(self) -> None:
        """End the helper and wait for its end."""
        self._process.kill()
        self._memory.close()
        self._in.close()
        self._out.close()
        self._process.wait()

    def abandon(self) -> None:
        """Let go of a helper that belongs to the parent of this process."""
        for pipe in (self._in, self._out):
            with contextlib.suppress(OSError):
                pipe.close()
        self._memory.close()
        self._process.returncode = 0  # it is no child of this process

    def _send(self, header: bytes, view: memoryview) -> None:
        if self._memory.take(view):
            self._write(memoryview(_PREFIX.pack(len(header), len(view) | _IN_MEMORY) + header))
            return
        start = _PREFIX.pack(len(header), len(view)) + header
        if len(view) <= _PIPE_BYTES // 16:
            self._write(memoryview(start + bytes(view)))
        else:
            self._write(memoryview(start))
            self._write(view)

    def _write(self, view: memoryview) -> None:
        while len(view):
            view = view[self._in.write(view) :]

    def _receive(self) -> tuple[dict[str, Any], bytearray]:
        header, payload = _PREFIX.unpack(self._read(_PREFIX.size))
        if header > _MAX_HEADER:
            raise HelperFailed(f"the helper sent a header of {header} bytes")
        return json.loads(self._read(header)), self._read(payload)

    def _read(self, size: int) -> bytearray:
        data = bytearray(size)
        view = memoryview(data)
        while len(view):
            # An unbuffered pipe of subprocess is a FileIO.
            got = self._out.readinto(view)  # type: ignore[attr-defined]
            if not got:
                raise HelperFailed("the helper ended in the middle of a call")
            view = view[got:]
        return data


class Handle:
    """An object of a helper, which is released when nothing refers to it any more."""

    def __init__(self, helper: Helper, number: int) -> None:
        self.helper = helper
        self.number = number

    def __del__(self) -> None:
        """Release the object with the next call."""
        self.helper.forget(self.number)


_exclusive = threading.RLock()
_current: Helper | None = None


def helper() -> Helper:
    """Return the helper of this process, and start it where there is none.

    Raises
    ------
    HelperFailed
        If it does not start.
    """
    global _current
    running = _current
    if running is not None and running.usable():
        return running
    with _exclusive:
        if _current is None or not _current.usable():
            _drop()
            _current = Helper()
        return _current


def exclusive() -> threading.RLock:
    """Return the lock of what a process does once: start a helper, open a ledger."""
    return _exclusive


def _drop() -> None:
    """Let go of the helper: end one of this process, abandon one of a parent."""
    global _current
    if _current is not None:
        if _current.owner == os.getpid():
            _current.close()
        else:
            _current.abandon()
        _current = None


def again(attempt: Callable[[], T]) -> T:
    """Return what attempt returns, and try a second time when the helper ended meanwhile.

    It is for calls that change nothing outside of the helper.
    """
    try:
        return attempt()
    except HelperFailed:
        return attempt()


def alone(run: Callable[[Helper], T]) -> T:
    """Run a long computation on a helper of its own, which ends with it.

    Other threads go on meanwhile, and an interrupt ends nothing but the computation.
    """
    own = Helper()
    try:
        return run(own)
    finally:
        own.close()


def about(
    description: bytes, dim: int, operation: str, arguments: Mapping[str, object]
) -> dict[str, Any]:
    """Return what a long operation says of a round, on a helper of its own."""

    def run(own: Helper) -> dict[str, Any]:
        opened, _ = own.call("round.open", {"policy": None, "max_dim": dim}, description)
        answer, _ = own.call(operation, {"round": opened["round"], **arguments})
        return answer

    return alone(run)


def _widen(pipe: int) -> None:
    """Let a pipe hold more, where the system can: a gradient then passes in fewer steps."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, _F_SETPIPE_SZ, _PIPE_BYTES)


def _after_fork() -> None:
    """Let go of the parent's helper in a child. Other threads may have held the locks."""
    global _exclusive, _current
    _exclusive = threading.RLock()
    if _current is not None:
        _current.abandon()
        _current = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_drop)
