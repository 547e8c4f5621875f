"""Flower: what leaves a client, and what does not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr")

from conftest import pins, two_servers
from flower_messages import be_a_task, context, described, never, new_round, reason, trained
from flwr.app import Array, ConfigRecord, Context, Error, Message, MessageType

from hushgrad import Ledger, Policy, Round
from hushgrad.federated import Node
from hushgrad.flower import HushgradMod


@pytest.fixture(autouse=True)
def task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a task of Flower."""
    be_a_task(monkeypatch)


@pytest.fixture
def round_() -> Round:
    """Return a round for the model."""
    return new_round()


def test_nothing_but_the_report_leaves(round_: Round) -> None:
    reply = HushgradMod(Policy(max_epsilon=4))(described(round_), context(), trained)
    assert list(reply.content) == ["hushgrad"]
    assert list(reply.content.config_records["hushgrad"]) == ["report"]
    assert len(bytes(reply.content.config_records["hushgrad"]["report"])) == round_.report_bytes  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mod", "node", "kind", "named"),
    [
        (HushgradMod(), {}, MessageType.TRAIN, "policy"),
        (HushgradMod(Policy(max_epsilon=3)), {}, MessageType.TRAIN, "epsilon"),
        (HushgradMod(), {"hushgrad_max_epsilon": 3.0}, MessageType.TRAIN, "epsilon"),
        # An app does not loosen what the node demands.
        (HushgradMod(Policy(max_epsilon=4)), {"hushgrad_max_epsilon": 3.0}, "train", "epsilon"),
        (HushgradMod(Policy(max_epsilon=4)), {"hushgrad_min_reports": 9}, "train", "min_reports"),
        (HushgradMod(Policy(max_epsilon=3)), {"hushgrad_max_epsilon": 4.0}, "train", "epsilon"),
        (HushgradMod(Policy(max_epsilon=4)), {"hushgrad_max_epsilom": 4.0}, "train", "epsilom"),
        (HushgradMod(Policy(max_epsilon=4)), {"hushgrad_max_epsilon": "4"}, "train", "number"),
        (HushgradMod(), {"hushgrad_min_reports": 2.5}, "train", "whole"),
        (HushgradMod(), {"hushgrad_trust_shuffler": 1}, "train", "true or false"),
        (HushgradMod(), {"hushgrad_ledger": 1}, "train", "text"),
        (HushgradMod(), {"hushgrad_unit": "record"}, "train", "'client' or 'example'"),
        (HushgradMod(), {"hushgrad_max_epsilon": 4.0, "hushgrad_max_dim": 6}, "train", "dim"),
        (HushgradMod(Policy(max_epsilon=4)), {}, MessageType.EVALUATE, "evaluate"),
        (HushgradMod(Policy(max_epsilon=4)), {}, MessageType.QUERY, "query"),
        (
            HushgradMod(Policy(max_epsilon=4), allow_evaluate=True),
            {"hushgrad_max_epsilon": 4.0},
            MessageType.EVALUATE,
            "evaluate",
        ),
    ],
)
def test_a_refusal_comes_before_the_training(
    round_: Round, mod: HushgradMod, node: dict[str, Any], kind: str, named: str
) -> None:
    sent = described(round_ if kind == MessageType.TRAIN else None, kind)
    reply = mod(sent, context(**node), never)
    assert reason(reply).startswith("hushgrad refused: ")
    assert named in reason(reply)


def test_without_a_round_or_for_another_model_nothing_is_trained() -> None:
    mod = HushgradMod(Policy(max_epsilon=4))
    assert "HushgradAggregation" in reason(mod(described(None), context(), never))
    other = new_round(dim=8)
    assert "dim" in reason(mod(described(other), context(), never))
    cut = described(other)
    cut.content["hushgrad"] = ConfigRecord({"round": other.description[:9], "unit": "client"})
    assert reason(mod(cut, context(), never)).startswith("hushgrad refused: fl: decode round: ")


def test_evaluation_passes_where_it_is_allowed() -> None:
    mod = HushgradMod(Policy(max_epsilon=4), allow_evaluate=True)
    assert not mod(described(None, MessageType.EVALUATE), context(), trained).has_error()
    node = context(hushgrad_max_epsilon=4.0, hushgrad_allow_evaluate=True)
    assert not mod(described(None, MessageType.EVALUATE), node, trained).has_error()


FAILED = "hushgrad: the app failed, and the log of the node says why"


def test_the_text_of_an_error_stays_at_the_node(
    round_: Round, caplog: pytest.LogCaptureFixture
) -> None:
    def raises(_: Message, __: Context) -> Message:
        raise ValueError("record 17 has no label")

    def answers(message: Message, _: Context) -> Message:
        return Message(Error(2, "record 17 has no label"), reply_to=message)

    for fails in (raises, answers):
        caplog.clear()
        reply = HushgradMod(Policy(max_epsilon=4))(described(round_), context(), fails)
        assert reason(reply) == FAILED
        assert "record 17" in caplog.text


@pytest.mark.parametrize(
    "own", [{}, {"own_epsilon": 8.0}, {"honest_epsilon": 0.5, "honest_reports": 2}]
)
def test_rounds_of_two_servers_need_a_ledger(tmp_path: Path, own: dict[str, float]) -> None:
    message, app, refused = described(two_servers(dim=7, **own)), HushgradMod(), ""
    for _ in range(20):
        refused = reason(app(message, context(**pins()), never))
        assert "hushgrad-ledger: got nothing, rule: is required" in refused
    command = re.findall(r'python -c "(.*)"', refused)[0]
    for word, value in {"PATH": tmp_path / "ledger", "EPSILON": 9, "DELTA": 1e-5}.items():
        command = command.replace(word, str(value))
    exec(command)
    settings = pins() | {"hushgrad-ledger": str(tmp_path / "ledger")}
    assert not app(message, context(**settings), trained).has_error()
    for _ in range(19):
        assert "charge" in reason(app(message, context(**settings), never))


@pytest.mark.parametrize("simulated", [False, True])
def test_an_app_alone_answers_two_servers_in_a_simulation_and_once(
    monkeypatch: pytest.MonkeyPatch, simulated: bool
) -> None:
    demand = Node(pins()).policy
    place = context(partition_id=1, num_partitions=2)
    rounds = [two_servers(dim=7, id=name) for name in ("a", "b")]
    monkeypatch.setattr("hushgrad.flower.answered._simulated", lambda: simulated)
    for message in map(described, rounds):
        for again in (False, True):
            reply = HushgradMod(demand)(message, place, trained)
            if not simulated:
                assert "hushgrad-ledger" in reason(reply)
            elif again:
                assert "this node has answered it" in reason(reply)
            else:
                assert not reply.has_error()


def test_the_ledger_of_a_node_ends_its_part(tmp_path: Path) -> None:
    path = tmp_path / "ledger"
    node = context(hushgrad_max_epsilon=4.0, hushgrad_ledger=str(path))

    def part(train: Any = trained) -> Message:
        return HushgradMod()(described(new_round()), node, train)

    assert "no such file" in reason(part(never)).lower()
    with Ledger(path, "flower") as ledger:
        ledger.set_budget(9)

    def fails(message: Message, _: Context) -> Message:
        return Message(Error(2, "out of memory"), reply_to=message)

    assert reason(part(fails)) == FAILED
    assert [part().has_error() for _ in range(2)] == [False, False]
    assert "budget" in reason(part(never))
    with Ledger(path, "flower") as ledger:
        assert ledger.spent().epsilon == 8


def test_a_node_with_a_counter_refuses_a_restored_ledger(tmp_path: Path) -> None:
    path, counter = tmp_path / "kept" / "ledger", tmp_path / "counter"
    path.parent.mkdir()
    node = context(
        hushgrad_max_epsilon=4.0, hushgrad_ledger=str(path), hushgrad_counter=str(counter)
    )
    with Ledger(path, "flower", counter=counter) as ledger:
        ledger.set_budget(9)
    older = path.read_bytes()
    assert not HushgradMod()(described(new_round()), node, trained).has_error()
    path.write_bytes(older)
    refused = reason(HushgradMod()(described(new_round()), node, never))
    assert "put the newest copy of the ledger back" in refused


def test_a_diverged_client_sends_a_report_and_says_so_in_its_log(
    round_: Round, caplog: pytest.LogCaptureFixture
) -> None:
    def diverged(message: Message, given: Context) -> Message:
        reply = trained(message, given)
        reply.content.array_records["arrays"]["b"] = Array(np.full(3, np.nan, np.float32))
        return reply

    mod = HushgradMod(Policy(max_epsilon=4))
    assert not mod(described(round_), context(), trained).has_error()
    assert "diverged" not in caplog.text
    reply = mod(described(round_), context(), diverged)
    assert not reply.has_error()
    assert list(reply.content.config_records["hushgrad"]) == ["report"]
    (logged,) = [r for r in caplog.records if "diverged" in r.getMessage()]
    assert logged.levelname == "ERROR"
    assert "round r, node 2: the training has diverged: 3 of the 7 numbers" in logged.getMessage()
    assert "Lower the learning rate" in logged.getMessage()


def test_an_array_that_the_training_left_alone_is_in_the_log_and_in_no_reply(
    round_: Round, caplog: pytest.LogCaptureFixture
) -> None:
    def frozen(message: Message, given: Context) -> Message:
        reply = trained(message, given)
        reply.content.array_records["arrays"]["b"] = message.content.array_records["arrays"]["b"]
        return reply

    reply = HushgradMod(Policy(max_epsilon=4))(described(round_), context(), frozen)
    assert list(reply.content.config_records["hushgrad"]) == ["report"]
    assert "round r, node 2: the training has left 1 of 2 arrays as they came (b)" in caplog.text
