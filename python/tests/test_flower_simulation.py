"""Flower: whole apps in its simulation engine, and the quickstart of the docs page."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("flwr")

from flower_engine import Processes, free_port, run_metrics
from pages import DOCS, blocks, needs_docs

pytestmark = pytest.mark.usefixtures("ray")

HERE = Path(__file__).parent


def test_a_run_in_the_simulation_engine() -> None:
    rounds = run_metrics()
    assert [r["hushgrad.reports"] for r in rounds] == [10] * 5
    assert [r["hushgrad.refused"] for r in rounds] == [0] * 5
    assert [r["hushgrad.epsilon-local-total"] for r in rounds] == [8.0, 16.0, 24.0, 32.0, 40.0]


@needs_docs
@pytest.mark.skipif(shutil.which("patch") is None, reason="needs patch")
def test_five_lines_make_the_quickstart_private(tmp_path: Path) -> None:
    (diff,) = blocks(DOCS / "flower.md", "diff")
    assert len(re.findall(r"^\+(?!\+\+ )", diff, re.MULTILINE)) <= 5
    app = tmp_path / "quickstart-numpy"
    shutil.copytree(HERE / "testdata" / "quickstart-numpy", app)
    subprocess.run(
        ["patch", "--strip=1", "--fuzz=0"], cwd=app, input=diff, text=True, check=True, timeout=60
    )
    port = free_port()
    with Processes(tmp_path) as flower:
        flower.start(
            "superlink", "flower-superlink", "--simulation", "--insecure", f"--port={port}"
        )
        flower.listening(port)
        flower.name(f"127.0.0.1:{port}", "insecure = true")
        printed, run = flower.run(app, "tested")
    assert run["status"] == "finished:completed", printed
    totals = re.findall(r"'hushgrad\.epsilon-local-total': '?([0-9.e+]+)", printed)
    assert [float(total) for total in totals[:3]] == [4.0, 8.0, 12.0], printed
    assert "'random_metric'" not in printed
