"""Estimates on their way from a server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..aggregator import Estimate, Series
from ..policy import Guarantee
from . import messages
from .errors import damaged
from .messages import Message

_MAX_DIM = 1 << 27
_MAX_COLUMNS = 9
_TRUST = messages.enum("Trust")
_RELATIONS = messages.enum("Relation")


def received(answers: Iterable[Message]) -> Estimate:
    """Read an estimate from its stream.

    Memory grows with what arrives and not with what the header announces.
    """
    header: Message = None
    parts: list[list[NDArray[np.float64]]] = []  # of value and std_err of each column in turn
    suspects: list[int] = []
    got = 0
    for answer in answers:
        if header is None:
            header = _checked(answer.header)
            parts = [[] for _ in range(2 * len(header.columns))]
        _append(parts, answer, got, header.dim)
        suspects += _suspects(answer, got)
        got += len(answer.columns[0].value)
    if header is None or got != header.dim:
        raise damaged("columns", f"{got} coordinates", "must have those that were announced")
    whole = [np.concatenate(part) if part else None for part in parts]
    columns = {name: _series(*whole[2 * i : 2 * i + 2]) for i, name in enumerate(header.columns)}
    mean = columns["mean"]
    if mean.std_err is None:
        raise damaged("columns", "a mean without standard errors", "must have them")
    return Estimate(
        mean=mean.value,
        std_err=mean.std_err,
        noise_norm=header.noise_norm,
        reports=header.reports,
        records=header.records,
        suspects=np.array(suspects, np.int64),
        columns=columns,
        guarantee=_guarantee(header.guarantee),
    )


def _checked(header: Message) -> Message:
    names: Sequence[str] = header.columns
    if not 1 <= header.dim <= _MAX_DIM:
        raise damaged("header.dim", header.dim, f"must be in [1, {_MAX_DIM}]")
    if not 1 <= len(names) <= _MAX_COLUMNS or names[0] != "mean" or len(set(names)) != len(names):
        rule = f"must be 'mean' and at most {_MAX_COLUMNS - 1} more, each once"
        raise damaged("header.columns", list(names), rule)
    if not header.noise_norm >= 0:
        raise damaged("header.noise_norm", header.noise_norm, "must be >= 0")
    return header


def _append(parts: list[list[NDArray[np.float64]]], answer: Message, got: int, dim: int) -> None:
    """Add a message to what came before it: the first got of dim coordinates."""
    chunks: Sequence[Message] = answer.columns
    if 2 * len(chunks) != len(parts) or answer.offset != got:
        number = f"{len(chunks)} columns from {answer.offset}"
        raise damaged("columns", number, f"must be {len(parts) // 2} from {got}")
    n = len(chunks[0].value)
    for i, chunk in enumerate(chunks):
        # A column has standard errors in all chunks or in none.
        errors = len(chunk.std_err) > 0 if got == 0 else bool(parts[2 * i + 1])
        counts = (len(chunk.value), len(chunk.std_err))
        if not 1 <= n <= dim - got or counts != (n, n if errors else 0):
            raise damaged("columns", f"{counts} numbers from {got}", "must be as in every chunk")
        parts[2 * i].append(np.array(chunk.value, np.float64))
        if errors:
            parts[2 * i + 1].append(np.array(chunk.std_err, np.float64))


def _suspects(answer: Message, got: int) -> list[int]:
    listed: list[int] = list(answer.suspects)
    n = len(answer.columns[0].value)
    if listed and (listed[-1] >= n or listed != sorted(set(listed))):
        raise damaged("suspects", listed[:8], f"must be below {n} and in ascending order")
    return [got + j for j in listed]


def _series(value: NDArray[np.float64] | None, std_err: NDArray[np.float64] | None) -> Series:
    assert value is not None
    return Series(value, std_err)


def _guarantee(guarantee: Message) -> Guarantee:
    trust, relation = _TRUST.get(guarantee.trust), _RELATIONS.get(guarantee.relation)
    if trust in (None, "unspecified") or relation in (None, "unspecified"):
        got = f"trust {guarantee.trust} and relation {guarantee.relation}"
        raise damaged("header.guarantee", got, "must be known to this version")
    return Guarantee(
        trust=trust,
        epsilon=guarantee.epsilon,
        delta=guarantee.delta,
        relation=relation,
        real_numbers=guarantee.real_numbers,
    )
