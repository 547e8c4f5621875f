"""Flower: what the pages of the docs show is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("flwr")
pytest.importorskip("ray")

from flower_engine import PATIENCE
from flwr.clientapp import ClientApp
from flwr.serverapp.strategy import FedAvg

from hushgrad import Policy
from hushgrad.flower import HushgradAggregation, HushgradMod

DOCS = Path(__file__).resolve().parents[2] / "docs"

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the source distribution has no docs")


def blocks(page: str, kind: str) -> list[str]:
    """Return the code blocks of a page that are of a kind."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found: list[tuple[str, str]] = re.findall(
        r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE
    )
    return [body for its, body in found if its == kind]


def test_the_built_in_mod_does_what_the_page_says(tmp_path: Path) -> None:
    page = "why-not-the-built-in-mod.md"
    (script,), (printed,) = blocks(page, "python"), blocks(page, "")
    program = tmp_path / "script.py"
    program.write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(program)],
        env=os.environ | {"FLWR_TELEMETRY_ENABLED": "0"},
        timeout=PATIENCE,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    assert done.stdout == printed


def test_the_lines_for_records_are_python() -> None:
    lines, _ = blocks("flower.md", "python")
    names = {
        "ClientApp": ClientApp,
        "FedAvg": FedAvg,
        "HushgradAggregation": HushgradAggregation,
        "HushgradMod": HushgradMod,
        "Policy": Policy,
    }
    exec(lines, names)
    assert isinstance(names["strategy"], HushgradAggregation)
