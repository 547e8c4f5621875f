"""Aggregators and estimates, and the golden vectors of docs/report-format.md."""

from __future__ import annotations

import hashlib
import json
import pickle
import platform
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import new_round
from numpy.typing import NDArray

from hushgrad import BadReport, InvalidParameter, Policy, Round, TooFewReports

Row = NDArray[np.float32]

GOLDEN: list[dict[str, Any]] = json.loads(Path(__file__).with_name("golden.json").read_text())


@pytest.mark.parametrize("case", GOLDEN, ids=lambda c: c["name"])
def test_golden_reports_have_the_snapshot_and_estimate_that_go_computes(
    case: dict[str, Any],
) -> None:
    round_ = Round(bytes.fromhex(case["description"]))
    assert round_.description.hex() == case["description"]
    assert round_.digest == case["digest"]
    counts = round_.aggregator()
    assert counts.add(bytes.fromhex("".join(case["reports"]))) == len(case["reports"])
    assert counts.snapshot().hex() == case["snapshot"]
    estimate = counts.estimate()
    assert estimate.reports == len(case["reports"])
    if platform.machine().lower() in ("x86_64", "amd64"):
        assert hashlib.sha256(estimate.mean.tobytes()).hexdigest() == case["mean_sha256"]
        assert hashlib.sha256(estimate.std_err.tobytes()).hexdigest() == case["std_err_sha256"]
        assert estimate.noise_norm == case["noise_norm"]


def test_the_mean_is_unbiased(row: Row) -> None:
    server = new_round(min_reports=1000)
    client = Round(server.description, Policy(max_epsilon=4.0, min_reports=1000))
    counts = server.aggregator()
    assert counts.add(client.encode(np.tile(row, (20_000, 1)))) == 20_000
    estimate = counts.estimate()
    assert estimate.reports == 20_000
    assert estimate.mean.dtype == estimate.std_err.dtype == np.float64
    # Reports are random. A normal variable is beyond 6 standard errors once in 5e8 tries.
    assert (np.abs(estimate.mean - row) < 6 * estimate.std_err).all()
    assert (estimate.std_err < 0.01).all()
    assert estimate.guarantee == client.guarantee


def test_reports_that_agree_too_often_are_suspect() -> None:
    server = Round.new(
        "r", dim=300, epsilon=2, scale=1, min_reports=3, mechanism="coco", sparsity=1
    )
    client = Round(server.description, Policy(max_epsilon=4))
    honest = client.encode(np.tile(np.eye(1, 300), (600, 1)))
    counts = server.aggregator()
    counts.add(honest)
    assert counts.estimate().suspects.tolist() == []
    one = len(honest) // 600
    counts.add(honest[:one] * 3000)
    suspects = counts.estimate().suspects
    assert suspects.dtype == np.int64
    assert 0 < len(suspects) < 300


def test_columns_are_estimated_on_request() -> None:
    server = Round.new(
        "r",
        dim=4,
        epsilon=4,
        scale=1,
        min_reports=3,
        mechanism="coco",
        sparsity=2,
        columns=["plus"],
    )
    client = Round(server.description, Policy(max_epsilon=4))
    counts = server.aggregator()
    counts.add(client.encode(np.ones((10, 4))))
    columns = counts.estimate().columns
    assert list(columns) == ["mean", "plus"]
    assert columns["plus"].value.shape == (4,)
    assert columns["plus"].std_err is not None


def test_too_few_reports_release_nothing(server: Round, client: Round, row: Row) -> None:
    counts = server.aggregator()
    with pytest.raises(TooFewReports):
        counts.estimate()
    counts.add(client.encode(np.stack([row, row])))
    with pytest.raises(TooFewReports) as refused:
        counts.estimate()
    assert str(refused.value).endswith("reports: got 2, rule: must be at least min_reports, 3")
    assert refused.value.param == "reports"


@pytest.mark.parametrize(
    ("bad", "error"),
    [(b"", InvalidParameter), (b"1234", InvalidParameter), (b"\xff" * 5, BadReport)],
)
def test_bytes_that_are_no_reports_are_not_counted(
    server: Round, client: Round, row: Row, bad: bytes, error: type[Exception]
) -> None:
    counts = server.aggregator()
    before = counts.snapshot()
    with pytest.raises(error):
        counts.add(client.encode(row) + bad if bad else bad)
    assert counts.snapshot() == before


def test_parts_come_to_the_whole(server: Round, client: Round, row: Row) -> None:
    reports = client.encode(np.tile(row, (6, 1)))
    half = len(reports) // 2
    first, second, whole = server.aggregator(), server.aggregator(), server.aggregator()
    first.add(reports[:half])
    second.add(reports[half:])
    whole.add(reports)
    first.merge(second)
    assert first.snapshot() == whole.snapshot()
    assert server.aggregator(whole.snapshot()).estimate().reports == 6


def test_what_belongs_to_another_round_is_refused(server: Round) -> None:
    other = new_round().aggregator()
    counts = server.aggregator()
    with pytest.raises(InvalidParameter):
        counts.merge(other)
    with pytest.raises(InvalidParameter):
        counts.merge(counts)
    with pytest.raises(InvalidParameter):
        server.aggregator(other.snapshot())


def test_an_aggregator_is_not_pickled(server: Round) -> None:
    with pytest.raises(TypeError, match="snapshot"):
        pickle.dumps(server.aggregator())
