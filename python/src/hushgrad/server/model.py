"""Models on their way to and from a server."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from . import messages
from .errors import damaged
from .messages import Message

_MAX_BYTES = 4 << 30  # that a server can make a client hold
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class Model:
    """A published model.

    Attributes
    ----------
    version : int
        Counts the models published on the server, from 1.
    format : str
        Media type of the data, for example "application/x-npy".
    data : bytes
        The model.
    """

    version: int
    format: str
    data: bytes = field(repr=False)


def received(answers: Iterable[Message]) -> Model:
    """Read a model from its stream and check it against its header."""
    header: Message = None
    data = bytearray()
    for answer in answers:
        if header is None:
            if not answer.HasField("header"):
                raise damaged("header", "nothing", "is required in the first message")
            header = answer.header
        data += answer.data
        if len(data) > min(header.size, _MAX_BYTES):
            rule = f"must be the {header.size} that were announced, at most {_MAX_BYTES}"
            raise damaged("data", f"{len(data)} bytes or more", rule)
    digest = hashlib.sha256(data).digest()
    if header is None or len(data) != header.size or digest != header.sha256:
        got = f"{len(data)} bytes with SHA-256 {digest.hex()}"
        raise damaged("data", got, "must be what was announced")
    return Model(header.version, header.format, bytes(data))


def sent(format: str, data: bytes) -> Iterator[Message]:  # noqa: A002
    """Yield the messages that publish a model."""
    header = {"format": format, "size": len(data), "sha256": hashlib.sha256(data).digest()}
    view = memoryview(data)
    yield messages.PutModelRequest(header=header, data=bytes(view[:_CHUNK_BYTES]))
    for start in range(_CHUNK_BYTES, len(view), _CHUNK_BYTES):
        yield messages.PutModelRequest(data=bytes(view[start : start + _CHUNK_BYTES]))
