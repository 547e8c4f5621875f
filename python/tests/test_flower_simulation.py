"""Flower: whole apps in its simulation engine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("flwr")


def test_a_run_in_the_simulation_engine() -> None:
    pytest.importorskip("ray")
    program = Path(__file__).with_name("flower_run.py")
    done = subprocess.run(
        [sys.executable, str(program)],
        env=os.environ | {"FLWR_TELEMETRY_ENABLED": "0"},
        timeout=300,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    rounds = json.loads(done.stdout.splitlines()[-1])
    assert [r["hushgrad.reports"] for r in rounds] == [10, 10, 10]
    assert [r["hushgrad.refused"] for r in rounds] == [0, 0, 0]
    assert [r["hushgrad.epsilon-local-total"] for r in rounds] == [8.0, 16.0, 24.0]
