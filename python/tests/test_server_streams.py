"""What a server sends is checked against what it announces."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("grpc")
from hushgrad.server import DamagedTransfer, Model, RoundStatus, estimates, messages, model

GUARANTEE = {"trust": 2, "epsilon": 1.0, "delta": 0.0, "relation": 1}


def answer(offset: int, *columns: tuple[list[float], list[float]], **header: Any) -> Any:
    """Return a message of an estimate."""
    made = messages.message("hushgrad.v1.GetEstimateResponse")(
        offset=offset, columns=[{"value": v, "std_err": e} for v, e in columns]
    )
    if header:
        known: dict[str, Any] = {"dim": 3, "reports": 7, "noise_norm": 0.25}
        known |= {"columns": ["mean", "plus"], "guarantee": GUARANTEE}
        made.header.CopyFrom(messages.message("hushgrad.v1.EstimateHeader")(**known | header))
    return made


def first(**header: Any) -> Any:
    """Return the first message of an estimate."""
    return answer(0, ([1.0, 2.0], [0.1, 0.2]), ([3.0, 4.0], []), round_id="r", **header)


LAST = answer(2, ([5.0], [0.3]), ([6.0], []))


def test_an_estimate_is_put_together() -> None:
    estimate = estimates.received([first(), LAST])
    assert estimate.mean.tolist() == [1.0, 2.0, 5.0]
    assert estimate.std_err.tolist() == [0.1, 0.2, 0.3]
    assert estimate.noise_norm == 0.25
    assert estimate.columns["plus"].value.tolist() == [3.0, 4.0, 6.0]
    assert estimate.columns["plus"].std_err is None
    assert (estimate.reports, estimate.guarantee.trust) == (7, "local")
    assert estimate.guarantee.relation == "replace-one"
    assert estimate.suspects.tolist() == []


def test_suspects_are_put_together() -> None:
    last = answer(2, ([5.0], [0.3]), ([6.0], []))
    last.suspects.append(0)
    lied = first()
    lied.suspects.append(1)
    assert estimates.received([lied, last]).suspects.tolist() == [1, 2]
    lied.suspects.append(1)
    with pytest.raises(Exception, match="suspects"):
        estimates.received([lied, last])


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [LAST],
        [first()],
        [first(), LAST, answer(3, ([1.0], [0.1]), ([1.0], []))],
        [first(), first()],
        [first(), answer(1, ([5.0], [0.3]), ([6.0], []))],
        [first(), answer(2, ([5.0], [0.3]))],
        [first(), answer(2, ([5.0], []), ([6.0], []))],
        [first(), answer(2, ([5.0], [0.3]), ([6.0], [0.3]))],
        [first(), answer(2, ([], []), ([], []))],
        [first(dim=0), LAST],
        [first(noise_norm=-0.25), LAST],
        [first(noise_norm=math.nan), LAST],
        [first(dim=(1 << 27) + 1), LAST],
        [first(columns=["plus", "mean"]), LAST],
        [first(columns=["mean"]), LAST],
        [first(guarantee={**GUARANTEE, "trust": 9}), LAST],
        [answer(0, ([1.0], []), dim=1, columns=["mean"])],
        [answer(0, ([1.0], [0.1]), ([2.0], [0.2]), dim=1, columns=["mean", "mean"])],
    ],
)
def test_an_estimate_that_is_not_what_was_announced_is_an_error(answers: list[Any]) -> None:
    with pytest.raises(DamagedTransfer) as error:
        estimates.received(answers)
    assert error.value.param
    assert error.value.rule


def chunks(change: Callable[[Any], None]) -> list[Any]:
    """Return the messages in which a server sends a model, after a change."""
    made: list[Any] = []
    for sent in model.sent("f", b"12345"):
        chunk = messages.message("hushgrad.v1.GetModelResponse").FromString(
            sent.SerializeToString()  # the fields have the same numbers
        )
        change(chunk)
        made.append(chunk)
    return made


def test_a_model_is_checked() -> None:
    assert model.received(chunks(lambda chunk: None)) == Model(0, "f", b"12345")
    damages: list[Callable[[Any], None]] = [
        lambda chunk: chunk.ClearField("header"),
        lambda chunk: setattr(chunk, "data", b"12346"),
        lambda chunk: setattr(chunk, "data", b"1234"),
        lambda chunk: setattr(chunk, "data", b"123456"),
    ]
    for damage in damages:
        with pytest.raises(DamagedTransfer):
            model.received(chunks(damage))
    with pytest.raises(DamagedTransfer):
        model.received([])


def test_a_status_needs_a_round_a_state_and_times() -> None:
    status = messages.message("hushgrad.v1.RoundStatus")
    good = {"round": {"id": "r"}, "state": 1}
    assert RoundStatus.from_message(status(**good)).state == "open"
    for bad in ({"state": 1}, {**good, "state": 9}, {**good, "opened": {"seconds": 1 << 60}}):
        with pytest.raises(DamagedTransfer):
            RoundStatus.from_message(status(**bad))
