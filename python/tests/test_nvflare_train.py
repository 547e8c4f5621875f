"""NVFlare: a model of which a part trains."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("nvflare")

from nvflare.apis.dxo import DataKind
from nvflare.apis.shareable import Shareable
from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.utils.fl_model_utils import FLModelUtils
from nvflare.fuel.utils import fobs
from nvflare_site import Model, Site, params, receive, result, send

from hushgrad import InvalidParameter, Round
from hushgrad.nvflare import HushgradAggregator, HushgradPrivatize
from hushgrad.nvflare import messages as m

HEAD = ["head.weight", "head.bias"]
JOB = HushgradPrivatize(max_epsilon=math.inf, max_delta=0.01, unit="example")
NOISY: dict[str, Any] = {"epsilon": 8.0, "scale": 1.0, "params": {"sparsity": 2}, "min_reports": 3}


def network() -> Model:
    """Return a model as PyTorch has it: a frozen body, batch norm, and a head of two types."""
    rng = np.random.default_rng(1)
    return {
        "head.weight": rng.standard_normal((2, 4)).astype(np.float16),
        "body.weight": rng.standard_normal((4, 3)).astype(np.float32),
        "bn.running_mean": rng.standard_normal(4),
        "bn.num_batches_tracked": np.array(7),
        "head.bias": rng.standard_normal(2),
    }


def test_what_does_not_train_stays_bit_by_bit() -> None:
    aggregator = HushgradAggregator(**NOISY, train=["head.*"], momentum=0.5)
    whole = FLModel(params_type=ParamsType.FULL, params=network())
    for _ in range(5):
        aggregator.reset_stats()
        sent: Model = whole.params  # type: ignore[assignment]
        after = {name: np.asarray(array + array.dtype.type(1)) for name, array in sent.items()}
        for site in range(4):
            data = send(aggregator, sent)
            assert fobs.loads(fobs.dumps(data.get_header(m.TRAIN))) == HEAD
            assert Round(bytes(data.get_header(m.ROUND) or b"")).dim == 10
            answer = Site(JOB).answer(data, result(after))
            assert set(params(answer)) == {m.ROUND, m.REPORT}
            receive(aggregator, site, answer)
        made = aggregator.aggregate_model()
        assert list(made.params or ()) == HEAD
        whole = FLModelUtils.update_model(whole, made)
    for name, before in network().items():
        array = np.asarray(whole.params[name])  # type: ignore[index]
        assert (array.dtype, array.shape) == (before.dtype, before.shape)
        assert (array.tobytes() == before.tobytes()) == (name not in HEAD), name


@pytest.mark.parametrize("sums", [False, True])
def test_records_train_a_part(sums: bool) -> None:
    given: dict[str, Any] = {"epsilon": math.inf, "mechanism": "none", "scale": 9.0}
    if sums:
        given = {"epsilon": 20, "delta": 0.01, "mechanism": "gaussian-site", "scale": 1.0}
        given["params"] = {"records": 3000}
    aggregator = HushgradAggregator(**given, min_reports=3, unit="example", train=HEAD)
    rows = np.random.default_rng(2).uniform(0.1, 0.3, (3, 900, 10))
    for site, share in enumerate(rows):
        change: Model = {
            "head.bias": share[:, 8:],
            "head.weight": np.reshape(share[:, :8], (-1, 2, 4)),
        }
        answer = Site(JOB).answer(send(aggregator, network()), result(change, DataKind.WEIGHT_DIFF))
        receive(aggregator, site, answer)
    made = aggregator.aggregate_model()
    assert made.metrics is not None
    step: Model = made.params  # type: ignore[assignment]
    assert list(step) == HEAD
    # 10 normal variables are beyond 6 standard errors once in 5e7 tries.
    within = (6 * made.metrics["hushgrad.std-err"] if sums else 0) + 2e-4
    moved = np.concatenate([np.ravel(step[name]) for name in HEAD])
    np.testing.assert_allclose(moved, rows.mean(axis=(0, 1)), atol=within)


def refusal(answer: Shareable) -> str:
    """Return why a site refused."""
    assert list(params(answer)) == [m.REFUSED]
    return params(answer)[m.REFUSED]


def test_a_site_whose_model_lacks_an_array_names_it() -> None:
    aggregator = HushgradAggregator(**NOISY, train="head.*")
    part = {name: array for name, array in network().items() if name != "head.bias"}
    lost = Site(JOB).answer(send(aggregator, network()), result(part))
    assert "must have 'head.bias'" in refusal(lost)
    other = send(aggregator, network())
    other.set_header(m.TRAIN, ["head.weight", "tail"])
    assert "has no 'tail'" in refusal(Site(JOB).answer(other, result(network())))
    other.set_header(m.TRAIN, None)
    assert "train" in refusal(Site(JOB).answer(other, result(network())))


def test_a_job_that_trains_nothing_ends() -> None:
    aggregator = HushgradAggregator(**NOISY, train="bn.num_batches_tracked")
    with pytest.raises(SystemError, match=r"'bn\.num_batches_tracked' has int64"):
        send(aggregator, network())


def test_a_job_carries_no_function() -> None:
    with pytest.raises(InvalidParameter, match="train: got a function"):
        HushgradAggregator(**NOISY, train=lambda name, array: True)  # type: ignore[arg-type]
