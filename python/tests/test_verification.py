"""Verification: the code keeps what a round promises."""

from __future__ import annotations

import math
from typing import Any

import pytest
from conftest import new_round

from hushgrad import InvalidParameter, verify


def test_a_small_round_is_proved() -> None:
    found = verify(new_round(dim=2), seeds=10)
    assert (found.holds, found.method, found.faults, found.tiers) == (True, "exact", (), ())
    assert found.epsilon_found <= found.epsilon_promised == 4
    assert "HOLDS" in found.explanation


def test_a_large_round_is_attacked() -> None:
    found = verify(new_round(dim=1000, sparsity=20, epsilon=1.0), samples=1000)
    assert (found.holds, found.method) == (True, "statistical")
    assert 0 < found.confidence < 1
    assert any("not exact" in note for note in found.notes)


def test_each_guarantee_of_a_menu_is_checked() -> None:
    found = verify(new_round(mechanism="tiers", dim=2, base="coco", menu="0.5,4"), seeds=10)
    assert [tier.epsilon_promised for tier in found.tiers] == [0.5, 4]
    assert found.holds


@pytest.mark.parametrize(
    ("changes", "options", "param"),
    [
        ({}, {"method": "hope"}, "method"),
        ({"dim": 1000, "sparsity": 20}, {"method": "exact"}, "method"),
        ({}, {"samples": 1}, "samples"),
        ({}, {"confidence": 1.5}, "confidence"),
        ({"mechanism": "none", "epsilon": math.inf, "sparsity": None}, {}, "mechanism"),
    ],
)
def test_a_check_that_cannot_be_made_is_named(
    changes: dict[str, Any], options: dict[str, Any], param: str
) -> None:
    with pytest.raises(InvalidParameter) as refused:
        verify(new_round(**changes), **options)
    assert refused.value.param == param
