"""NVFlare: rounds of two servers, and sums of records that a site gives in parts."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

import hashlib
import json
import math
import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("nvflare")
pytest.importorskip("grpc")

from conftest import pins, two_servers
from nvflare.apis.dxo import DataKind
from nvflare.apis.event_type import EventType
from nvflare.apis.fl_constant import FLContextKey
from nvflare.apis.fl_context import FLContext
from nvflare.app_common.abstract.fl_model import FLModel
from nvflare_site import Site, model, params, result, send, task
from pages import DOCS, needs_docs
from test_nvflare_run import run, workspace

from hushgrad import HushgradError, InvalidParameter, Ledger, Round
from hushgrad.bench.parties import Parties, Servers
from hushgrad.nvflare import HushgradAggregator, HushgradPrivatize, PlainReply, add_updates
from hushgrad.nvflare import messages as m
from hushgrad.server import Operator

__all__ = ["workspace"]  # a fixture

HERE = Path(__file__).resolve().parent


@pytest.fixture
def parties() -> Iterator[Parties]:
    """Start a server and a shuffler."""
    with Servers("shuffler.test") as made:
        yield made


@needs_docs
def test_two_hospitals_in_the_simulator_send_sums_to_two_servers(
    workspace: Path, parties: Parties, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.setenv("HUSHGRAD_SEEN", str(workspace / "seen"))
    keys = hashlib.sha256(parties.seal_key).hexdigest(), b64encode(parties.share_key).decode()
    script = HERE / "nvflare_two_servers.py"
    printed = run(
        *(workspace, script, workspace, DOCS / "nvflare.md"),
        *(parties.operator, parties.shuffler, *keys),
    )
    found = re.findall(r"hushgrad: round-\d-[0-9a-f]{16}: (.*)", printed)
    rounds = [dict(part.split() for part in each.split(", ")) for each in found]
    assert [[r[n] for n in ("reports", "refused", "failed")] for r in rounds] == [
        ["2", "0", "0"]
    ] * 2
    assert [r["records"] for r in rounds] == ["300", "300"]
    assert rounds[0]["epsilon-two-servers"] == "8"
    assert 8 < float(rounds[1]["epsilon-two-servers"]) < 16
    # 6 coordinates of 2 rounds, 6 standard errors: a false alarm in 10^7 runs.
    trained = np.load(next(workspace.rglob("server.npy")))
    noise = math.hypot(*(float(r["std-err"]) for r in rounds))
    wanted = 2 * np.linspace(0, 0.5, 6).reshape(2, 3)
    assert 0 < noise < 0.05
    assert np.all(np.abs(trained - wanted) < 6 * np.sqrt(6) * noise)
    # NVFlare's server gets sealed reports, and cannot read them.
    seen = [json.loads(line) for line in (workspace / "seen").read_text().splitlines()]
    assert len(seen) == 4
    for names, length, sealed, read in seen:
        assert names == [m.REPORT, m.ROUND]
        assert length == sealed
        assert read == "InvalidParameter"


def test_a_round_that_is_not_estimated_ends_on_the_server(parties: Parties) -> None:
    where = {"operator": parties.operator, "shuffler": parties.shuffler, "name": "shuffler.test"}
    aggregator = HushgradAggregator(
        *(8, 2, 2, "gaussian-shares"),
        delta=1e-6,
        shuffled={**where, "share_key": b64encode(parties.share_key).decode()},
    )
    plain, context = FLModel(params=model(1), meta={"client_name": "site-1"}), FLContext()
    send(aggregator)
    aggregator.reset_stats()  # the controller has begun another round
    send(aggregator)
    aggregator.accept_model(plain)
    with pytest.raises(PlainReply):
        aggregator.aggregate_model()
    send(aggregator)
    aggregator.handle_event(EventType.END_RUN, context)
    send(aggregator)  # connects again
    with Operator.connect(parties.operator) as operator:
        assert [r.state for r in operator.rounds()] == ["aborted"] * 3 + ["open"]
    aggregator.handle_event(EventType.END_RUN, context)


JOB: dict[str, Any] = {"max_epsilon": 4, "max_delta": 1e-6}
PINS = {name.removeprefix("hushgrad-").replace("-", "_"): pin for name, pin in pins().items()}
PINNED = {name: PINS[name] for name in ("shuffler", "seal_key", "share_key")}


def simulated(job: HushgradPrivatize) -> Site:
    """Return a site of the simulator."""
    site = Site(job)
    site.context.set_prop(FLContextKey.SIMULATE_MODE, True, private=True, sticky=True)
    return site


@pytest.mark.parametrize("changes", [{}, {"share_key": None}, {"share_key": "00" * 32}])
def test_a_job_pins_two_servers(changes: dict[str, Any]) -> None:
    site = simulated(HushgradPrivatize(**JOB, **PINNED | changes))
    answer = params(site.answer(task(two_servers(dim=7)), result(model(1))))
    assert (m.REPORT in answer) == (not changes)
    assert (m.REFUSED in answer) == bool(changes)


def test_pins_that_are_incomplete_are_errors_of_the_job() -> None:
    with pytest.raises(InvalidParameter, match="seal-key"):
        HushgradPrivatize(**JOB, shuffler="shuffler.example")
    with pytest.raises(InvalidParameter, match="max_epsilon"):
        HushgradPrivatize(**PINNED)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"servers": 2}, "servers"),
        ({"name": None}, "name"),
        ({"share_key": "no key!"}, "share_key"),
        ({"share_key": 1}, "share_key"),
    ],
)
def test_where_reports_go_is_checked_when_the_job_is_made(
    changes: dict[str, Any], named: str
) -> None:
    where = {"operator": "127.0.0.1:1", "shuffler": "127.0.0.1:2", "name": "shuffler.example"}
    given: dict[str, Any] = {"epsilon": 4, "scale": 1, "min_reports": 2}
    HushgradAggregator(**given, shuffled=where)
    with pytest.raises(InvalidParameter, match=named):
        HushgradAggregator(**given, shuffled=where | changes)


def sums(**changes: Any) -> Round:
    """Return a round of sums of at most 900 records, with noise of the sites."""
    given: dict[str, Any] = {"epsilon": 4, "scale": 2, "min_reports": 1, "delta": 1e-6}
    given |= {"dim": 7, "mechanism": "gaussian-site", "records": 900, **changes}
    return Round.new("r", **{name: value for name, value in given.items() if value is not None})


def updates(records: int) -> dict[str, NDArray[Any]]:
    """Return the updates of some records."""
    return {"w": np.full((records, 2, 2), 0.5), "b": np.full((records, 3), -0.25)}


def test_a_script_adds_its_records_in_parts(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger", "nvflare-records") as ledger:
        ledger.set_budget(9.0, 1e-5)
    scope = {"hushgrad-max-epsilon": 4.0, "hushgrad-max-delta": 1e-6, "hushgrad-unit": "example"}
    site = Site(own=True, scope=scope | {"hushgrad-ledger": str(tmp_path / "ledger")})
    round_ = sums()

    def script() -> None:
        for records in (100, 300):
            add_updates(updates(records))
        with pytest.raises(InvalidParameter, match="arrays"):
            add_updates({"w": np.zeros((1, 2, 2))})

    for rest in ({}, updates(400)):
        answer = params(site.answer(task(round_, unit="example"), result(rest), run=script))
        if rest:
            assert "AlreadyCharged" in answer[m.REFUSED]
            continue
        counts = round_.aggregator()
        counts.add(answer[m.REPORT])
        made = counts.estimate()
        assert made.records == 400
        wanted = np.array([0.5] * 4 + [-0.25] * 3)
        assert np.all(np.abs(made.mean - wanted) < 6 * made.std_err)
        assert made.std_err.max() < 0.02
    with pytest.raises(HushgradError, match="0 tasks"):
        add_updates(updates(1))


def test_what_a_script_adds_and_returns_is_one_sum() -> None:
    round_ = sums()
    job = HushgradPrivatize(**JOB, unit="example")
    rest = {name: array.astype(np.float32) for name, array in updates(50).items()}
    answer = Site(job).answer(
        task(round_, unit="example"),
        result(rest, DataKind.WEIGHT_DIFF),
        run=lambda: add_updates(updates(30)),
    )
    counts = round_.aggregator()
    counts.add(params(answer)[m.REPORT])
    assert counts.estimate().records == 80


def test_what_is_added_in_a_refused_round_is_dropped() -> None:
    job = HushgradPrivatize(max_epsilon=3, max_delta=1e-6, unit="example")
    data = task(sums(), unit="example")
    answer = Site(job).answer(data, result({}), run=lambda: add_updates(updates(30)))
    assert "epsilon" in params(answer)[m.REFUSED]


def test_a_round_without_sums_takes_no_records() -> None:
    def script() -> None:
        with pytest.raises(HushgradError, match="no sums of records"):
            add_updates(updates(30))

    Site(HushgradPrivatize(**JOB)).answer(task(sums(records=None)), result(model(1)), run=script)
