"""What goes wrong on the way to a server, and what a server refuses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from ..errors import BadReport, HushgradError, InvalidParameter
from . import messages

_MAX_DETAILS = 1 << 16  # bytes

# A server gives none of the last two as an answer. They come when a stream breaks off, for
# example because the server sees the deadline first.
_NO_ANSWER = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.UNKNOWN,
}


class ServerRefused(HushgradError, RuntimeError):
    """The server refused a call. The round is not in a state for it, or is not there.

    Attributes
    ----------
    code : str
        The gRPC status, for example "NOT_FOUND", "FAILED_PRECONDITION", "ALREADY_EXISTS".
    """

    def __init__(
        self, message: str, param: str = "", got: str = "", rule: str = "", code: str = ""
    ) -> None:
        super().__init__(message, param, got, rule)
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the error travel between processes."""
        return type(self), (self.message, self.param, self.got, self.rule, self.code)


class ServerUnreachable(ServerRefused, ConnectionError):
    """There was no answer, or not in time. The call may have had its effect."""


class DamagedTransfer(HushgradError, ValueError):
    """A server sent less than it announced, or something else."""


def damaged(param: str, got: object, rule: str) -> DamagedTransfer:
    """Return the error for a message that breaks a rule."""
    return DamagedTransfer(f"{param}: got {got}, rule: {rule}", param, str(got), rule)


def from_status(method: str, error: grpc.RpcError) -> HushgradError:
    """Return the error that a failed call describes."""
    call: Any = error  # the errors of calls are both
    code: grpc.StatusCode = call.code()
    text: str = call.details() or code.name
    param = _field(call.trailing_metadata() or ())
    got, rule = _got_and_rule(param, text)
    message = f"{method}: {text}"
    if code is grpc.StatusCode.INVALID_ARGUMENT:
        kind = BadReport if param == "reports" else InvalidParameter
        return kind(message, param, got, rule)
    if code is grpc.StatusCode.UNIMPLEMENTED:
        message += ": the connection leads to another listener or another program"
    kind = ServerUnreachable if code in _NO_ANSWER else ServerRefused
    return kind(message, param, got, rule, code.name)


def _field(metadata: Iterable[tuple[str, str | bytes]]) -> str:
    """Return the field that the details of a status name, or ""."""
    for key, value in metadata:
        if key != "grpc-status-details-bin" or len(value) > _MAX_DETAILS:
            continue
        try:
            for detail in messages.message("google.rpc.Status").FromString(value).details:
                if detail.type_url.endswith("/google.rpc.BadRequest"):
                    found = messages.message("google.rpc.BadRequest").FromString(detail.value)
                    return next((v.field for v in found.field_violations), "")
        except DecodeError:
            return ""
    return ""


def _got_and_rule(param: str, text: str) -> tuple[str, str]:
    """Return what a message "param: got …, rule: …" says of a field of that name."""
    name = re.escape(param.rpartition(".")[2])
    found = re.search(rf"\b{name}: got (.*?), rule: (.*)", text, re.DOTALL) if param else None
    return (found[1], found[2]) if found else ("", "")
