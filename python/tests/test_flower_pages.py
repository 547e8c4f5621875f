"""Flower: what the pages of the docs show is what happens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("flwr")
pytest.importorskip("ray")

from flower_engine import PATIENCE
from pages import DOCS, blocks, needs_docs

from hushgrad.flower import HushgradAggregation

pytestmark = needs_docs


def test_the_built_in_mod_does_what_the_page_says(tmp_path: Path) -> None:
    page = DOCS / "why-not-the-built-in-mod.md"
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
    lines, _ = blocks(DOCS / "flower.md", "python")
    names: dict[str, Any] = {}
    exec(lines, names)
    assert isinstance(names["strategy"], HushgradAggregation)
