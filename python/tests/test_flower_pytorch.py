"""Flower with PyTorch: the page that makes an app private, and a model that trains in part."""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr")

from flower_engine import Processes, free_port
from flower_messages import Clients, be_a_task, context
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from pages import DOCS, blocks, needs_docs

from hushgrad import Policy, models, plan
from hushgrad.flower import HushgradAggregation, HushgradMod

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "flower-pytorch"
PAGE = DOCS / "pytorch.md"
NODES = 200


def changes() -> Iterator[str]:
    """Yield the difference of the two apps, line by line."""
    plain, private = EXAMPLE / "plain", EXAMPLE / "private"
    assert files(plain) == files(private)
    for name in files(plain):
        before, after = (
            (app / name).read_text(encoding="utf-8").splitlines(keepends=True)
            for app in (plain, private)
        )
        yield from difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", n=1)


def files(app: Path) -> list[str]:
    """Return the names of an app's files."""
    found = (path for kind in ("*.py", "*.toml") for path in app.rglob(kind))
    return sorted(path.relative_to(app).as_posix() for path in found)


@needs_docs
def test_the_page_shows_the_lines_that_change() -> None:
    made = list(changes())
    assert blocks(PAGE, "diff") == ["".join(made)]
    new = sum(line.startswith("+") and not line.startswith("+++ ") for line in made)
    (said,) = re.findall(r"(\d+) lines are new", PAGE.read_text(encoding="utf-8"))
    assert int(said) == new


@needs_docs
def test_the_lines_for_frozen_layers_print_what_the_page_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch")
    lines, _ = blocks(PAGE, "python")
    exec(lines, {})
    assert f"# {capsys.readouterr().out}" == lines.splitlines(keepends=True)[-1]


@needs_docs
def test_the_lines_for_records_one_by_one_send_a_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    torch: Any = pytest.importorskip("torch")
    be_a_task(monkeypatch)
    _, lines = blocks(PAGE, "python")
    run = plan(clients=8, records=9000, dim=15, l1=5, l2=1, budget=8, rounds=2)
    net = torch.nn.Linear(4, 3)
    strategy = HushgradAggregation.from_plan(run, min_reports=1)
    grid = Clients(8, same)
    asked, *_ = strategy.configure_train(1, ArrayRecord(net.state_dict()), ConfigRecord(), grid)
    policy = Policy(max_epsilon=run.epsilon, max_delta=run.delta)
    names: dict[str, Any] = {
        "app": ClientApp(mods=[HushgradMod(policy, unit="example")]),
        "DataLoader": torch.utils.data.DataLoader,
        "net": net,
        "nn": torch.nn,
        "records": [(torch.randn(4), torch.tensor(i % 3)) for i in range(100)],
    }
    exec(lines, names)
    given = context(hushgrad_unit="example", hushgrad_max_epsilon=8.0, hushgrad_max_delta=1e-5)
    report = names["app"](asked, given).content.config_records["hushgrad"]["report"]
    assert int.from_bytes(report[:4], "little") == 100


needs_example = pytest.mark.skipif(
    not EXAMPLE.is_dir(), reason="the source distribution has no example"
)


@needs_example
def test_the_app_learns_without_privacy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("sklearn")
    be_a_task(monkeypatch)
    monkeypatch.chdir(tmp_path)  # where the app saves its model
    monkeypatch.setattr(sys, "path", [str(EXAMPLE / "plain"), *sys.path])
    client_app, server_app = (
        importlib.import_module(f"flower_pytorch.{name}") for name in ("client_app", "server_app")
    )
    tomllib: Any = importlib.import_module("tomllib")
    settings = tomllib.loads((EXAMPLE / "plain" / "pyproject.toml").read_text(encoding="utf-8"))
    config = settings["tool"]["flwr"]["app"]["config"]

    class Grid(Clients):
        def send_and_receive(self, messages: Any, *, timeout: float | None = None) -> Any:
            for message in messages:
                place = {"partition-id": message.metadata.dst_node_id, "num-partitions": NODES}
                yield client_app.app(message, Context(1, 2, place, RecordDict(), config))

    server_app.app(Grid(NODES, same), Context(1, 0, {}, RecordDict(), config))
    # Chance gives 0.1, and seven runs from 0.87 to 0.91.
    assert last_accuracy(capsys.readouterr().out) > 0.8


@pytest.mark.usefixtures("ray")
@needs_example
def test_the_app_learns_with_privacy(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("sklearn")
    with Processes(tmp_path) as flower:
        flower.environment |= {"OMP_NUM_THREADS": "1"}
        port = free_port()
        flower.start(
            "superlink", "flower-superlink", "--simulation", "--insecure", f"--port={port}"
        )
        flower.listening(port)
        flower.name(f"127.0.0.1:{port}", "insecure = true")
        app, nodes = str(EXAMPLE / "private"), f"num-supernodes={NODES}"
        printed = flower.flwr("run", app, "tested", "--stream", "--federation-config", nodes)
    totals = re.findall(r"'hushgrad\.epsilon-local-total': '?([0-9.e+]+)", printed)
    assert max(map(float, totals)) == 96, printed
    assert "'loss'" not in printed  # the clients' metrics do not leave
    # Chance gives 0.1, and seven runs from 0.85 to 0.90.
    assert last_accuracy(printed) > 0.65, printed


def last_accuracy(printed: str) -> float:
    """Return the accuracy that an app prints at its end."""
    (last,) = re.findall(r"^accuracy ([0-9.]+)", printed, re.MULTILINE)
    return float(last)


def same(_: int, model: Any) -> Any:
    """Return a model as it is: the grids here have gradients of their own."""
    return model


def frozen_body(torch: Any) -> Any:
    """Return a network whose body and batch norm come from public data, and do not train."""
    nn = torch.nn
    net = nn.Sequential(
        nn.Linear(8, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.GroupNorm(2, 6), nn.Linear(6, 3)
    )
    net(torch.randn(64, 8, generator=torch.Generator().manual_seed(1)))  # moves the running numbers
    net[0].requires_grad_(False)
    net[1].requires_grad_(False)
    return net


def test_frozen_layers_and_batch_norm_stay_bit_by_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    torch: Any = pytest.importorskip("torch")
    be_a_task(monkeypatch)
    torch.manual_seed(1)
    net = frozen_body(torch)
    start = {name: array.numpy().copy() for name, array in net.state_dict().items()}
    app = ClientApp()

    @app.train()
    def train(message: Message, _: Context) -> Message:
        mine = frozen_body(torch)
        came: Any = message.content.array_records["arrays"]
        mine.load_state_dict(came.to_torch_state_dict())
        mine.train()  # batch norm forgets to stand still, as in many a training loop
        optimizer = torch.optim.Adam(mine.parameters(), lr=0.01)
        for _step in range(3):
            optimizer.zero_grad()
            x, y = torch.randn(12, 8), torch.arange(12) % 3
            torch.nn.functional.cross_entropy(mine(x), y).backward()
            optimizer.step()
        assert not torch.equal(mine[1].running_mean, torch.from_numpy(start["1.running_mean"]))
        content = RecordDict({"arrays": ArrayRecord(mine.state_dict())})
        return Message(content, reply_to=message)

    class Grid(Clients):
        def send_and_receive(self, messages: Any, *, timeout: float | None = None) -> Any:
            mod = HushgradMod(Policy(max_epsilon=8))
            return [mod(message, context(), app) for message in messages]

    rows = models.gradients(
        net.eval(), torch.nn.CrossEntropyLoss(), [(torch.randn(5, 8), torch.arange(5) % 3)] * 20
    )
    run = plan(public=rows, clients=20, cohort=20, epsilon=8, rounds=5, network=True, force=True)
    strategy = HushgradAggregation.from_plan(run, client_lr=0.03, train=models.trainable(net))
    grid = Grid(20, same)
    result = strategy.start(grid, ArrayRecord(net.state_dict()), num_rounds=5)
    assert len(result.train_metrics_clientapp) == 5
    arrays: Any = result.arrays
    net.load_state_dict(arrays.to_torch_state_dict())
    trained = {"3.weight", "3.bias", "4.weight", "4.bias"}
    assert set(models.trainable(net)) == trained
    for name, array in net.state_dict().items():
        after = array.numpy()
        assert (after.dtype, after.shape) == (start[name].dtype, start[name].shape)
        assert (after.tobytes() == start[name].tobytes()) == (name not in trained), name
    assert np.isfinite(net(torch.randn(4, 8)).detach().numpy()).all()


def test_batch_norm_that_trains_is_what_the_page_warns_of() -> None:
    torch: Any = pytest.importorskip("torch")
    layer = torch.nn.BatchNorm1d(6)
    assert models.trainable(layer) == ["weight", "bias"]
    layer.running_var -= 2  # as noise may do
    assert not torch.isfinite(layer.eval()(torch.ones(2, 6))).any()
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        models.gradients(
            layer.train(), torch.nn.CrossEntropyLoss(), [(torch.ones(1, 6), torch.tensor([0]))]
        )
