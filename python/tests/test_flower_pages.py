"""Flower: what the pages of the docs show is what happens."""

from __future__ import annotations

import importlib.util
import math
import pathlib
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flwr")

from flower_engine import printed
from flower_messages import Clients, Nodes, be_a_task, context
from flwr.app import Array, ArrayRecord, ConfigRecord
from flwr.clientapp import ClientApp
from flwr.serverapp.strategy import FedAvg
from pages import DOCS, blocks, fragments, needs_docs, saved

from hushgrad import Policy, plan
from hushgrad.flower import HushgradAggregation, HushgradMod

pytestmark = needs_docs


@pytest.mark.usefixtures("ray")
def test_the_built_in_mod_does_what_the_page_says(tmp_path: Path) -> None:
    page = DOCS / "why-not-the-built-in-mod.md"
    (script,), (expected,) = blocks(page, "python"), blocks(page, "")
    program = tmp_path / "script.py"
    program.write_text(script, encoding="utf-8")
    assert printed(program) == expected


@pytest.mark.usefixtures("ray")
def test_the_hospitals_program_trains(tmp_path: Path) -> None:
    pytest.importorskip("grpc")
    alone, two = map(printed, saved(DOCS / "flower.md", tmp_path))
    assert alone.startswith("rounds that counted: 10\n")
    for text, whom in ((alone, "everybody outside of its site"), (two, "against either server")):
        epsilon = re.findall(r"(?:local|central) privacy +ε = ([0-9.]+), δ = 1e-06", text)
        right = re.findall(r"\nright: (.*)\n$", text)
        assert whom in text
        assert 1.5 < float(epsilon[0]) <= 2
        assert float(right[0]) > 0.85


def test_what_a_hospital_demands_and_what_its_officer_reads(tmp_path: Path) -> None:
    run = plan(clients=8, records=20_000, dim=20, l1=8, l2=2.2, rounds=10, budget=2)
    page = (DOCS / "flower.md").read_text(encoding="utf-8")
    (limit,) = re.findall(r'unit="example" hushgrad-max-epsilon=([0-9.]+) ', page)
    assert run.epsilon <= float(limit) < run.epsilon + 0.01
    (line,) = re.findall(r"`(pathlib\.Path\(.*?)` makes the file", page)
    (command,) = re.findall(r"`hushgrad (account statement .*?) round\.json`", page)
    file = tmp_path / "round.json"
    exec(line.replace('"round.json"', "file"), {"pathlib": pathlib, "run": run, "file": file})
    statement = [sys.executable, "-m", "hushgrad_command", *command.split(), str(file)]
    said = subprocess.run(statement, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "(ε, δ) = (2, 1e-06) for one record, over the 10 rounds" in said


def test_the_lines_of_a_planned_run_train(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    be_a_task(monkeypatch)
    lines, *_ = blocks(DOCS / "flower.md", "python")
    rng = np.random.default_rng(1)
    y = np.arange(300) % 3
    x = np.eye(3)[y] + rng.standard_normal((300, 3)) / 4
    grid = Clients(200, lambda node, model: np.zeros_like(model))
    arrays = ArrayRecord({"model": Array(np.zeros((4, 3)))})
    names: dict[str, Any] = {"x": x, "y": y, "grid": grid, "arrays": arrays}
    exec(lines, names)
    assert "expected accuracy" in capsys.readouterr().out
    assert [len(asked) for asked in grid.asked] == [200] * 12
    assert names["result"].arrays["model"].numpy().shape == (4, 3)


def test_the_lines_for_a_part_of_a_model_are_python(monkeypatch: pytest.MonkeyPatch) -> None:
    be_a_task(monkeypatch)
    _, choices, *_ = blocks(DOCS / "flower.md", "python")
    shapes = {"head.weight": (20, 4), "head.bias": (20,), "q.lora_A.w": (9,)}
    model = ArrayRecord({name: Array(np.zeros(shape)) for name, shape in shapes.items()})
    asked: list[object] = []
    names: dict[str, Any] = {}
    for line in choices.splitlines(keepends=True):
        exec(line, names)
        if line.startswith("strategy"):
            first, *_ = names["strategy"].configure_train(1, model, ConfigRecord(), Nodes())
            asked.append(first.content.config_records["hushgrad"]["train"])
    head = ["head.weight", "head.bias"]
    assert asked == [head, ["head.weight", "q.lora_A.w"], ["head.weight"]]


def test_the_lines_for_scikit_learn_train(monkeypatch: pytest.MonkeyPatch) -> None:
    datasets: Any = pytest.importorskip("sklearn.datasets")
    be_a_task(monkeypatch)
    _, _, _, lines, *_ = blocks(DOCS / "flower.md", "python")
    x, y = datasets.load_digits(return_X_y=True)
    names: dict[str, Any] = {"x": x[:500] / 16, "y": y[:500]}
    np.random.seed(1)  # which scikit-learn draws from: some orders of the examples end at 0.79
    exec(lines, names)
    exact = Policy(max_epsilon=math.inf)
    names["app"] = ClientApp(mods=[HushgradMod(exact)])
    exec(lines[lines.index("@app.train()") :], names)
    zeros = {"coef_": np.zeros((10, 64)), "intercept_": np.zeros(10)}
    model = ArrayRecord({name: Array(array) for name, array in zeros.items()})
    strategy = HushgradAggregation(
        FedAvg(), epsilon=math.inf, scale=1, mechanism="none", min_reports=1
    )
    (first, *_) = strategy.configure_train(1, model, ConfigRecord(), Nodes())
    stepped, _ = strategy.aggregate_train(1, [names["app"](first, context())])
    assert stepped is not None
    weights: Any = stepped["coef_"].numpy()
    scores: Any = x[500:] / 16 @ weights.T + stepped["intercept_"].numpy()
    assert np.mean(scores.argmax(axis=1) == y[500:]) > 0.8


def test_the_lines_for_records_are_python() -> None:
    *_, sums, _, records, _ = fragments(DOCS / "flower.md")
    names: dict[str, Any] = {}
    for lines in (sums, records):
        names.pop("strategy", None)
        exec(lines, names)
        assert isinstance(names["strategy"], HushgradAggregation)


def test_the_lines_for_pytorch_add_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    torch: Any = pytest.importorskip("torch")
    if importlib.util.find_spec("torch.func") is None:  # PyTorch 1.13 has its functions elsewhere
        functorch: Any = pytest.importorskip("functorch")
        stateless: Any = importlib.import_module("torch.nn.utils.stateless")
        func: Any = ModuleType("torch.func")
        func.grad, func.vmap = functorch.grad, functorch.vmap
        func.functional_call = stateless.functional_call
        monkeypatch.setitem(sys.modules, "torch.func", func)
    *_, sums, lines, _, _ = fragments(DOCS / "flower.md")
    be_a_task(monkeypatch)
    names: dict[str, Any] = {}
    exec(sums, names)
    examples = [(torch.randn(4), torch.tensor(i % 3)) for i in range(100)]
    loader = torch.utils.data.DataLoader
    given = {"Net": partial(torch.nn.Linear, 4, 3), "DataLoader": loader, "records": examples}
    exec(lines, names | given)
    arrays = ArrayRecord(torch.nn.Linear(4, 3).state_dict())
    (asked, *_) = names["strategy"].configure_train(1, arrays, ConfigRecord(), Nodes())
    node = {"hushgrad_unit": "example", "hushgrad_max_epsilon": 2.0, "hushgrad_max_delta": 1e-6}
    reply = names["app"](asked, context(**node))
    report = reply.content.config_records["hushgrad"]["report"]
    assert isinstance(report, bytes)
    assert int.from_bytes(report[:4], "little") == 100
