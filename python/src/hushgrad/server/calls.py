"""Calls of a service over a connection, with this package's errors."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import grpc

from .. import _arguments
from ..errors import invalid
from . import messages
from .channel import connect
from .errors import ServerUnreachable, from_status
from .messages import Message

_ATTEMPTS = 5

P = TypeVar("P", bound="Party")
T = TypeVar("T")


class Party:
    """One that calls the methods of a service. It is safe for concurrent use by threads.

    Parameters
    ----------
    channel : grpc.Channel
        Connection to the service. It stays the caller's.
    timeout : float
        Seconds that a call may take, positive, with all its attempts.
    """

    service: ClassVar[str]

    def __init__(self, channel: grpc.Channel, *, timeout: float = 60.0) -> None:
        self._own: grpc.Channel | None = None
        self._timeout = _checked(timeout)
        self._methods: dict[str, Any] = {}
        for m in messages.methods(self.service):
            kinds = {False: "unary", True: "stream"}
            kind = f"{kinds[m.client_streaming]}_{kinds[m.server_streaming]}"
            request = messages.message(m.input_type.full_name)
            response = messages.message(m.output_type.full_name)
            self._methods[m.name] = (
                request,
                getattr(channel, kind)(
                    f"/hushgrad.v1.{self.service}/{m.name}",
                    request_serializer=request.SerializeToString,
                    response_deserializer=response.FromString,
                ),
            )

    @classmethod
    def connect(
        cls: type[P],
        target: str,
        *,
        ca: str | Path | None = None,
        cert: str | Path | None = None,
        key: str | Path | None = None,
        name: str | None = None,
        timeout: float = 60.0,
    ) -> P:
        """Connect as :func:`hushgrad.server.connect` does. :meth:`close` ends the connection."""
        return cls._over(connect(target, ca=ca, cert=cert, key=key, name=name), timeout)

    @classmethod
    def _over(cls: type[P], channel: grpc.Channel, timeout: float) -> P:
        """Return a party that ends the connection itself."""
        made = cls(channel, timeout=timeout)
        made._own = channel
        return made

    def close(self) -> None:
        """End the connection, if :meth:`connect` has made it."""
        if self._own is not None:
            self._own.close()

    def __enter__(self: P) -> P:
        """Return the party."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the connection."""
        self.close()

    def _call(self, method: str, *, timeout: float | None = None, **fields: object) -> Message:
        """Send a request of these fields and return the answer."""
        request, call = self._methods[method]
        try:
            return call(request(**fields), timeout=self._within(timeout))
        except grpc.RpcError as error:
            raise from_status(method, error) from error

    def _send(
        self, method: str, requests: Iterable[Message], *, timeout: float | None = None
    ) -> Message:
        """Send a stream of requests and return the answer."""
        _, call = self._methods[method]
        try:
            return call(iter(requests), timeout=self._within(timeout))
        except grpc.RpcError as error:
            raise from_status(method, error) from error

    def _receive(
        self, method: str, *, timeout: float | None = None, **fields: object
    ) -> Iterator[Message]:
        """Send a request and yield the answers."""
        request, call = self._methods[method]
        answers = call(request(**fields), timeout=self._within(timeout))
        try:
            yield from answers
        except grpc.RpcError as error:
            raise from_status(method, error) from error
        finally:
            answers.cancel()

    def _retried(self, attempt: Callable[[float], T]) -> T:
        """Call an attempt with the seconds that are left, again while there is no answer."""
        end = time.monotonic() + self._timeout
        for number in range(1, _ATTEMPTS):
            try:
                return attempt(max(1e-3, end - time.monotonic()))
            except ServerUnreachable as error:
                pause = _pause(number)
                if error.code != "UNAVAILABLE" or time.monotonic() + pause > end:
                    raise
                time.sleep(pause)
        return attempt(max(1e-3, end - time.monotonic()))

    def _within(self, timeout: float | None) -> float:
        return self._timeout if timeout is None else _checked(timeout)


def _checked(timeout: float) -> float:
    seconds = float(_arguments.number("timeout", timeout))
    if not (0 < seconds < math.inf):
        raise invalid("timeout", timeout, "must be positive and finite")
    return seconds


def _pause(attempt: int) -> float:
    """Return the seconds to wait after an attempt: a random half of what doubles from 0.1."""
    most = min(0.1 * 2 ** (attempt - 1), 5.0)
    return most / 2 * (1 + secrets.randbelow(1 << 20) / (1 << 20))
