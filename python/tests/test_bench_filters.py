"""The benchmark's runs with NVFlare's own filters, and the ε that holds for them."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("nvflare")
pytest.importorskip("sklearn")

from nvflare.apis.dxo import DXO, DataKind, from_shareable
from nvflare.apis.fl_context import FLContext
from test_bench import bench

from hushgrad.bench import filters
from hushgrad.bench.filters import Svt, held


def left(settings: Svt, update: NDArray[np.float64]) -> tuple[NDArray[np.float64], dict[str, Any]]:
    """Return what NVFlare's filter lets through, and what it says of itself."""
    sent = DXO(DataKind.WEIGHT_DIFF, data={"w": update}, meta={}).to_shareable()
    dxo = from_shareable(settings.made().process(sent, FLContext()))
    return dxo.data["w"], dxo.get_meta_prop("svt_privacy_budget") or {}


@pytest.mark.parametrize(("fraction", "query"), [(0.4, 0.01), (0.45, 0.2), (0.3, 4.0)])
def test_the_chance_of_more_passes_is_bounded(fraction: float, query: float) -> None:
    np.random.seed(1)  # NVFlare's filters draw from it
    settings, dim, tries = Svt(fraction, 0.1, 0.3, query, 1.0, 1.0), 40, 400
    count = math.ceil(dim * fraction)
    passes = np.array([left(settings, np.zeros(dim))[1]["acceptance_passes"] for _ in range(tries)])
    for most in (1, 2, 4):
        share = float(np.mean(passes > most))
        bound = filters._more_passes(settings, most, count, dim)  # pyright: ignore[reportPrivateUsage]
        assert share <= bound + 4 * math.sqrt(bound * (1 - min(1, bound)) / tries) + 1e-9
        assert bound <= 1


def test_the_noise_of_values_is_what_the_promise_counts_on() -> None:
    np.random.seed(2)  # NVFlare's filters draw from it
    settings = Svt(0.05, 0.1, 0.01, 1e-4, 2.0, 1.0)
    found: list[float] = []
    for _ in range(1500):
        values, _ = left(settings, np.full(40, 5.0))
        kept = values[values != 0]
        assert len(kept) == 2
        found += (kept - 0.1).tolist()  # clipped to γ
    # The mean size of a Laplace variable is its scale, with a relative deviation of 1/√3000.
    assert np.mean(np.abs(found)) == pytest.approx(2 * 0.1 * 2 / 2.0, rel=5 / math.sqrt(3000))


def test_the_promise_is_of_all_comparisons_and_values() -> None:
    one = Svt(0.5 / 650, 0.05, 0.01, 0.04 / 650, 3.98, 1.0)
    assert held(one, 1e-7) == pytest.approx(4.0)
    # A search for 65 of 650 that compares all of them pays for all of them.
    many = Svt(0.1, 0.05, 0.01, 0.002, 3.98, 1.0)
    assert held(many, 1e-7) == pytest.approx(3.98 + 5 * 0.002)
    more = replace(many, fraction=0.49)  # about half are above at first
    assert held(more, 1e-7) > 3.98 + 650 * 0.002 / (2 * 319)
    # NVFlare's defaults: the filter says 0.1 and 6.5.
    (defaults,) = [w for w in filters.ways(("svt",), 12) if w.epsilon is None]
    assert defaults.promise.epsilon_report is not None
    assert defaults.promise.epsilon_report > 6.6
    assert defaults.promise.epsilon_run == 12 * defaults.promise.epsilon_report


def test_the_digits_are_learned_through_the_filters(tmp_path: Path) -> None:
    arguments = ("--divisions", "1", "--only", "percentile", "svt", "--out", str(tmp_path))
    done = bench(*arguments, experiment="digits")
    assert done.returncode == 0, done.stderr
    made = json.loads((tmp_path / "digits.json").read_text())
    rows = {(row["name"], row["epsilon"]): row for row in made["rows"]}
    assert len(rows) == 4
    assert "searched on divisions 1 to 3" in made["notes"][1]
    assert "nvflare" in made["notes"][-1]
    plain = rows["NVFlare's PercentilePrivacy, its defaults, 650 weights", None]
    assert (plain["epsilon_run"], plain["against"], plain["bytes"]) == (None, "nobody", 2600)
    assert plain["accuracy"] > 0.9
    for epsilon in (4.0, 8.0):
        row = rows["NVFlare's SVTPrivacy, 1 of 650 weights", epsilon]
        assert row["epsilon_report"] == pytest.approx(epsilon)
        assert row["epsilon_run"] == pytest.approx(12 * epsilon)
        # 0.64 and 0.69 with a standard deviation of 0.06. Chance gives 0.1.
        assert 0.3 < row["accuracy"] < 0.95
