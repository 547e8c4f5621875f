"""What the server and the sites of a job exchange."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from nvflare.apis.dxo import DataKind, MetaKey, from_shareable
from nvflare.apis.shareable import Shareable

ROUND = "hushgrad.round"
"""Header of a task: the description of the round. Parameter of a result: its digest."""

LOG_PROOF = "hushgrad.log_proof"
"""Header of a task: the proof that the round is in the server's log, if any."""

UNIT = "hushgrad.unit"
"""Header of a task: whose data one report stands for, "client" or "example"."""

TRAIN = "hushgrad.train"
"""Header of a task: the names of the arrays that train."""

REPORT = "hushgrad.report"
"""Parameter of a result: the reports, packed."""

REFUSED = "hushgrad.refused"
"""Parameter of a result without reports: why the site refused to take part."""

QUESTION = "hushgrad.question"
"""Header of a task: what sites are asked, and the round of the answers. Parameter of a result:
its digest."""

ANSWER = "hushgrad.answer"
"""Parameter of a result: the reports that answer the question, packed."""

UNANSWERED = "hushgrad.unanswered"
"""Parameter of a result without such reports: why the site did not answer."""


def kind(shareable: Shareable) -> str | None:
    """Return the kind of data, or None where there is none."""
    try:
        return from_shareable(shareable).data_kind
    except ValueError:
        return None


def metrics(shareable: Shareable) -> dict[str, Any]:
    """Return the metrics that a training script has put into its result, alone or with a model."""
    try:
        sent = from_shareable(shareable)
    except ValueError:
        return {}
    alone = sent.data_kind == DataKind.METRICS
    found = sent.data if alone else sent.get_meta_prop(MetaKey.INITIAL_METRICS)
    return found if isinstance(found, dict) else {}


def arrays(shareable: Shareable, kinds: tuple[str, ...]) -> dict[str, NDArray[Any]] | None:
    """Return a model, or None where there is none of NumPy arrays.

    NVFlare adds a step to a model: an array of no axis becomes one of NumPy's numbers then.
    """
    if kind(shareable) not in kinds:
        return None
    data = cast("object", from_shareable(shareable).data)
    if not isinstance(data, dict):
        return None
    if not all(isinstance(array, np.ndarray | np.generic) for array in data.values()):
        return None
    return {name: np.asarray(array) for name, array in data.items()}
