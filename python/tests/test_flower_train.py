"""Flower: a model of which a part trains."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr")

from flower_messages import Nodes, be_a_task, context, never, reason
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.serverapp.strategy import FedAdam, FedAvg, FedAvgM, Strategy
from numpy.typing import NDArray

from hushgrad import InvalidParameter, Policy, Round
from hushgrad.flower import HushgradAggregation, HushgradMod, add_updates

HEAD = ["head.weight", "head.bias"]


@pytest.fixture(autouse=True)
def task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a task of Flower."""
    be_a_task(monkeypatch)


def network() -> ArrayRecord:
    """Return a model as PyTorch has it: a frozen body, batch norm, and a head of two types."""
    rng = np.random.default_rng(1)
    arrays: dict[str, Any] = {
        "body.weight": rng.standard_normal((4, 3)).astype(np.float16),
        "bn.weight": np.ones(4, np.float32),
        "bn.running_mean": rng.standard_normal(4).astype(np.float32),
        "bn.num_batches_tracked": np.array(7),
        "head.weight": rng.standard_normal((2, 4)).astype(np.float16),
        "head.bias": rng.standard_normal(2),
    }
    return ArrayRecord({name: Array(np.asarray(array)) for name, array in arrays.items()})


def trained(message: Message, _: Context) -> Message:
    """Change every array, as a training does that forgot to freeze."""
    before = message.content.array_records["arrays"]
    after = {
        name: Array(np.asarray(array.numpy() + array.numpy().dtype.type(1)))
        for name, array in before.items()
    }
    return Message(RecordDict({"arrays": ArrayRecord(after)}), reply_to=message)


def names(message: Message) -> list[str]:
    """Return the names that a client gets with a round, which is about these alone."""
    record = message.content.config_records["hushgrad"]
    sent = record["train"]
    assert isinstance(sent, list)
    model = message.content.array_records["arrays"]
    dim = Round(bytes(record["round"])).dim  # type: ignore[arg-type]
    assert dim == sum(model[str(name)].numpy().size for name in sent)
    return [str(name) for name in sent]


@pytest.mark.parametrize(
    "inner",
    [FedAvg(), FedAvgM(server_momentum=0.5), FedAdam()],
    ids=lambda inner: type(inner).__name__,
)
def test_what_does_not_train_stays_bit_by_bit(inner: Strategy) -> None:
    strategy = HushgradAggregation(inner, epsilon=8, scale=1, sparsity=2, train="head.*")
    mod, start = HushgradMod(Policy(max_epsilon=8)), network()
    arrays = start
    for server_round in range(1, 6):
        sent = list(strategy.configure_train(server_round, arrays, ConfigRecord(), Nodes()))
        for message in sent:
            assert names(message) == HEAD
            came = message.content.array_records["arrays"]
            assert list(came) == list(start)
            assert came["body.weight"].numpy().tobytes() == start["body.weight"].numpy().tobytes()
        replies = [mod(message, context(), trained) for message in sent]
        assert [list(reply.content) for reply in replies] == [["hushgrad"]] * len(sent)
        stepped, _ = strategy.aggregate_train(server_round, replies)
        assert stepped is not None
        arrays = stepped
        assert list(arrays) == list(start)
        for name, array in arrays.items():
            before, after = start[name].numpy(), array.numpy()
            assert (after.dtype, after.shape) == (before.dtype, before.shape)
            if name not in HEAD:
                assert after.tobytes() == before.tobytes(), name
    assert any(arrays[name].numpy().tobytes() != start[name].numpy().tobytes() for name in HEAD)


EXACT: dict[str, Any] = {"epsilon": math.inf, "scale": 1.0, "mechanism": "none"}
NO_PRIVACY = Policy(max_epsilon=math.inf)


def test_the_mean_is_of_what_trains() -> None:
    strategy = HushgradAggregation(FedAvg(), train=["head.bias", "bn.weight"], **EXACT)
    sent = strategy.configure_train(1, network(), ConfigRecord(), Nodes())
    stepped, _ = strategy.aggregate_train(
        1, [HushgradMod(NO_PRIVACY)(message, context(), trained) for message in sent]
    )
    assert stepped is not None
    np.testing.assert_allclose(stepped["bn.weight"].numpy(), 2.0)
    np.testing.assert_allclose(stepped["head.bias"].numpy(), network()["head.bias"].numpy() + 1)


def test_a_client_whose_model_lacks_an_array_names_it() -> None:
    strategy = HushgradAggregation(FedAvg(), epsilon=8, scale=1, sparsity=2, train="head.*")
    first, second, third, *_ = strategy.configure_train(1, network(), ConfigRecord(), Nodes())
    mod = HushgradMod(Policy(max_epsilon=8))

    def loses(message: Message, given: Context) -> Message:
        reply = trained(message, given)
        del reply.content.array_records["arrays"]["head.bias"]
        return reply

    assert "must have 'head.bias'" in reason(mod(first, context(), loses))
    part = ArrayRecord({n: a for n, a in network().items() if n != "head.weight"})
    second.content["arrays"] = part
    assert "has no 'head.weight'" in reason(mod(second, context(), never))
    del third.content.config_records["hushgrad"]["train"]
    assert reason(mod(third, context(), never)).startswith("hushgrad refused: train: ")


def test_a_server_that_chooses_nothing_opens_no_round() -> None:
    strategy = HushgradAggregation(FedAvg(), epsilon=8, scale=1, train="tail.*")
    with pytest.raises(InvalidParameter, match=r"'tail\.\*'.*body\.weight"):
        strategy.configure_train(1, network(), ConfigRecord(), Nodes())


def per_record(rows: NDArray[np.float64]) -> Any:
    """Return an app that moves the head by one of these rows for each record."""

    def train(message: Message, _: Context) -> Message:
        before = message.content.array_records["arrays"]
        after = ArrayRecord(
            {
                "body.weight": before["body.weight"],
                "head.weight": Array(
                    before["head.weight"].numpy() + np.reshape(rows[:, :8], (-1, 2, 4))
                ),
                "head.bias": Array(before["head.bias"].numpy() + rows[:, 8:]),
            }
        )
        return Message(RecordDict({"arrays": after}), reply_to=message)

    return train


def in_parts(rows: NDArray[np.float64]) -> Any:
    """Return an app that gives its records in parts, with zeros for a frozen array."""

    def train(message: Message, _: Context) -> Message:
        for part in np.array_split(rows, 3):
            add_updates(
                {
                    "body.weight": np.zeros((len(part), 4, 3)),
                    "head.weight": np.reshape(part[:, :8], (-1, 2, 4)),
                    "head.bias": part[:, 8:],
                }
            )
        return Message(RecordDict(), reply_to=message)

    return train


def test_records_train_a_part() -> None:
    rows = np.random.default_rng(2).uniform(0.1, 0.3, (3, 30, 10))
    strategy = HushgradAggregation(FedAvg(), unit="example", min_reports=3, train=HEAD, **EXACT)
    mod = HushgradMod(NO_PRIVACY, unit="example")
    sent = list(strategy.configure_train(1, network(), ConfigRecord(), Nodes()))
    apps = [per_record(share) for share in rows]
    stepped, metrics = strategy.aggregate_train(
        1, [mod(msg, context(), app) for msg, app in zip(sent, apps, strict=False)]
    )
    assert metrics is not None
    assert metrics["hushgrad.reports"] == 90
    require_step(stepped, rows, 0.002)  # float16 has steps of up to 0.002 here


def test_sums_of_records_train_a_part() -> None:
    rows = np.random.default_rng(3).uniform(0.1, 0.3, (3, 900, 10))
    strategy = HushgradAggregation(
        FedAvg(),
        unit="example",
        min_reports=3,
        train=HEAD,
        mechanism="gaussian-site",
        epsilon=20,
        delta=0.01,
        scale=1.0,
        records=3000,
    )
    mod = HushgradMod(Policy(max_epsilon=20, max_delta=0.01), unit="example")
    sent = list(strategy.configure_train(1, network(), ConfigRecord(), Nodes()))
    apps = [per_record(rows[0]), in_parts(rows[1]), in_parts(rows[2])]
    stepped, metrics = strategy.aggregate_train(
        1, [mod(msg, context(), app) for msg, app in zip(sent, apps, strict=False)]
    )
    assert metrics is not None
    assert metrics["hushgrad.records"] == 2700
    noise = metrics["hushgrad.std-err"]
    assert isinstance(noise, float)
    # 10 normal variables are beyond 6 standard errors once in 5e7 tries.
    require_step(stepped, rows, 6 * noise + 0.002)


def require_step(stepped: ArrayRecord | None, rows: NDArray[np.float64], within: float) -> None:
    """Fail unless the head has moved by the mean of the rows, and nothing else has."""
    assert stepped is not None
    start, mean = network(), np.reshape(rows, (-1, 10)).mean(axis=0)
    moves = [stepped[name].numpy() - start[name].numpy().astype(float) for name in HEAD]
    np.testing.assert_allclose(np.concatenate([m.ravel() for m in moves]), mean, atol=within)
    for name, array in start.items():
        if name not in HEAD:
            assert stepped[name].numpy().tobytes() == array.numpy().tobytes()
