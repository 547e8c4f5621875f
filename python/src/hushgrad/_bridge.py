"""The helper process: it holds the mechanisms, which are written in Go.

A process has one helper. It starts at the first call and ends with its process. After a fork
the child starts a helper of its own: the two never share randomness or a pipe. A helper that
has died is replaced at the next call. A call that is interrupted goes on in the helper, and the
next call takes its answer off the pipe. The frames on the pipes are described in the Go package
``bridge/internal/abi``.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, TypeVar

from ._memory import Memory
from ._programs import helper as _helper
from .errors import HelperFailed, from_helper, invalid

PROTOCOL = 1
"""Version of the frames and operations, which the helper must have too."""

_PREFIX = struct.Struct("<IQ")
_IN_MEMORY = 1 << 63  # in the length of a payload that lies in the shared memory
_MAX_HEADER = 1 << 24  # of an answer; a plan has the longest ones
_MAX_RELEASED = 10_000  # handles in one request
_MAX_ARGUMENTS = 1 << 19  # bytes; with the handles less than the helper reads
_PIPE_BYTES = 1 << 20
_HANDLES = ("round", "aggregator", "ledger")  # what an answer calls an object that was made
_F_SETPIPE_SZ = 1031  # fcntl's, which Python names on Linux alone

Payload = bytes | bytearray | memoryview
T = TypeVar("T")


class _Call:
    """A call on its way: the request, the answer, and how much of them has passed the pipes.

    The handler of a signal may raise an exception after a write and before its result is stored.
    It would then be unknown how many bytes have passed. So `extend` and `map` store a result in
    one step of Python, and run goes on where it was after any exception.
    """

    def __init__(
        self, parts: Sequence[memoryview], released: Sequence[int], into: IO[bytes], out: IO[bytes]
    ) -> None:
        self.released = released
        self._parts = parts
        self._into, self._out = into, out
        self._sent: list[int] = []  # bytes of each write
        self._answer = [_Arriving(_PREFIX.size)]

    def started(self) -> bool:
        """Say whether the helper has got a part of the request."""
        return bool(self._sent)

    def run(self) -> tuple[dict[str, Any], bytearray]:
        """Pass what is left, and return the header and the payload of the answer."""
        self._write()
        self._read(self._answer[0])
        header, payload = _PREFIX.unpack(self._answer[0].data)
        if header > _MAX_HEADER:
            raise HelperFailed(f"the helper sent a header of {header} bytes")
        if len(self._answer) == 1:
            self._answer += [_Arriving(header), _Arriving(payload)]
        for part in self._answer[1:]:
            self._read(part)
        return json.loads(self._answer[1].data), self._answer[2].data

    def _write(self) -> None:
        passed = sum(self._sent)
        for part in self._parts:
            left = part[passed:]
            passed = max(0, passed - len(part))
            while len(left):
                self._sent.extend(map(self._into.write, (left,)))
                left = left[self._sent[-1] :]

    def _read(self, part: _Arriving) -> None:
        left = memoryview(part.data)[sum(part.got) :]
        while len(left):
            # An unbuffered pipe of subprocess is a FileIO.
            part.got.extend(map(self._out.readinto, (left,)))  # type: ignore[attr-defined]
            if not part.got[-1]:
                raise HelperFailed("the helper ended in the middle of a call")
            left = left[part.got[-1] :]


class _Arriving:
    """A part of an answer, and the bytes that each read has put into it."""

    def __init__(self, size: int) -> None:
        self.data = bytearray(size)
        self.got: list[int] = []


class Helper:
    """A running helper.

    Raises
    ------
    HelperFailed
        If it does not start, or is of another version than this package.
    """

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._closed = False
        self._lock = threading.Lock()
        self._garbage: deque[int] = deque()
        self._pending: _Call | None = None  # from its start until its answer has come
        helper = _helper()
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
            greeting, _ = _Call((), (), self._in, self._out).run()
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
        return self.owner == os.getpid() and not self._closed and self._process.poll() is None

    def call(
        self, operation: str, arguments: Mapping[str, object], payload: Payload = b""
    ) -> tuple[dict[str, Any], bytearray]:
        """Call an operation and return its answer and payload.

        After an exception of a signal's handler the call goes on in the helper, and its answer is
        dropped. What is wrong with the arguments is found before anything is sent.
        """
        given = json.dumps(arguments, allow_nan=False)
        if len(given) > _MAX_ARGUMENTS:
            got = f"{len(given)} bytes"
            raise invalid("arguments", got, f"must have at most {_MAX_ARGUMENTS} together")
        view = memoryview(payload).cast("B")
        with self._lock:
            self._settle()
            # Finalizers append at any moment, which ends an iteration with an error. Places stay.
            least = min(len(self._garbage), _MAX_RELEASED)
            released = [self._garbage[i] for i in range(least)]
            header = f'{{"op": "{operation}", "release": {released}, "args": {given}}}'.encode()
            self._pending = _Call(self._parts(header, view), released, self._in, self._out)
            answer, out = self._passed(self._pending)
            self._pending = None
        if "error" in answer:
            raise from_helper(answer["error"])
        return answer["answer"], out

    def _settle(self) -> None:
        """Drop a call that was interrupted: pass the rest of it, and release what it made."""
        call = self._pending
        if call is not None and call.started():
            answer, _ = self._passed(call)
            made = answer.get("answer", {})
            handles = (made.get(name) for name in _HANDLES)
            self._garbage.extend(handle for handle in handles if isinstance(handle, int))
        self._pending = None

    def _passed(self, call: _Call) -> tuple[dict[str, Any], bytearray]:
        """Return the answer of a call. What it released is garbage no more."""
        try:
            answer = call.run()
        except TimeoutError:
            raise  # a signal's handler raised it: no pipe does
        except OSError as error:
            self.close()
            raise HelperFailed(f"the helper ended in the middle of a call: {error}") from error
        except HelperFailed:
            self.close()
            raise
        except ValueError as error:
            self.close()
            raise HelperFailed(f"the helper sent no answer: {error}") from error
        released = set(call.released)  # the first ones; some were removed before an interrupt
        while self._garbage and self._garbage[0] in released:
            self._garbage.popleft()
        return answer

    def forget(self, handle: int) -> None:
        """Release a handle with the next call. It never blocks, so that finalizers call it."""
        self._garbage.append(handle)

    def release(self, handle: int) -> None:
        """Release a handle now, after all that were forgotten before it."""
        self.forget(handle)
        for _ in range(0, len(self._garbage), _MAX_RELEASED):
            self.call("release", {})

    def close(self) -> None:
        """End the helper and wait for its end."""
        self._closed = True
        self._process.kill()
        self._memory.close()
        self._in.close()
        self._out.close()
        if sys.platform == "win32":
            self._process.wait()
        elif self._process.returncode is None:
            # A poll that was interrupted may hold the lock that Popen.wait needs.
            with contextlib.suppress(ChildProcessError):
                os.waitpid(self._process.pid, 0)
            self._process.returncode = -signal.SIGKILL

    def abandon(self) -> None:
        """Let go of a helper that belongs to the parent of this process."""
        for pipe in (self._in, self._out):
            with contextlib.suppress(OSError):
                pipe.close()
        self._memory.close()
        self._process.returncode = 0  # it is no child of this process

    def _parts(self, header: bytes, view: memoryview) -> list[memoryview]:
        """Return a request as what passes the pipe."""
        if self._memory.take(view):
            return [memoryview(_PREFIX.pack(len(header), len(view) | _IN_MEMORY) + header)]
        start = _PREFIX.pack(len(header), len(view)) + header
        if len(view) <= _PIPE_BYTES // 16:
            return [memoryview(start + bytes(view))]
        return [memoryview(start), view]


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
