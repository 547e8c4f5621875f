"""The messages of the services, made from the descriptors that the package ships.

There is no generated code: code of one release of protobuf refuses to run with others, and
other packages in a program decide which one there is. The descriptors are in a pool of their
own, so that a program may have classes of its own for the same messages.
``go generate ./proto/...`` writes them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

Message: TypeAlias = Any
"""A message, or its class. The files in proto/hushgrad/v1 name the fields."""

_POOL = descriptor_pool.DescriptorPool()
for _file in descriptor_pb2.FileDescriptorSet.FromString(
    Path(__file__).with_name("descriptors.binpb").read_bytes()
).file:
    _POOL.Add(_file)


def message(name: str) -> Message:
    """Return the class of a message, for example of "hushgrad.v1.Round"."""
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(name))


def enum(name: str) -> dict[int, str]:
    """Return the values of an enum, written like "two-servers" for TRUST_TWO_SERVERS."""
    values: dict[str, int] = {
        v.name: v.number for v in _POOL.FindEnumTypeByName(f"hushgrad.v1.{name}").values
    }
    (unspecified,) = (v for v, number in values.items() if number == 0)
    prefix = unspecified.removesuffix("UNSPECIFIED")
    return {n: v.removeprefix(prefix).lower().replace("_", "-") for v, n in values.items()}


def methods(service: str) -> list[Any]:
    """Return the descriptors of the methods of a service, for example of "Operator"."""
    return list(_POOL.FindServiceByName(f"hushgrad.v1.{service}").methods)


Round: Message = message("hushgrad.v1.Round")
SubmitReportsRequest: Message = message("hushgrad.v1.SubmitReportsRequest")
PutModelRequest: Message = message("hushgrad.v1.PutModelRequest")
