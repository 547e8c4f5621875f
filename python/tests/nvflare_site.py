"""NVFlare in this process: contexts, tasks, the chains of a site, and events of the server."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from nvflare.apis.dxo import DXO, DataKind, from_shareable
from nvflare.apis.event_type import EventType
from nvflare.apis.filter import FilterChainType, FilterContextKey, FilterSource
from nvflare.apis.fl_constant import FLContextKey
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType
from nvflare.app_common.utils.fl_model_utils import FLModelUtils

from hushgrad import Round
from hushgrad.nvflare import HushgradAggregator, HushgradPrivatize
from hushgrad.nvflare import messages as m

Model = dict[str, NDArray[Any]]


def model(value: float = 0.0) -> Model:
    """Return a model with a matrix, a vector, and a counter that is not trained."""
    return {
        "w": np.full((2, 2), value, np.float32),
        "b": np.full(3, value, np.float32),
        "steps": np.array([7]),
    }


def task(
    round_: Round | None,
    *,
    unit: str = "client",
    before: Model | None = None,
    train: tuple[str, ...] = ("w", "b"),
) -> Shareable:
    """Return what a server sends."""
    data = DXO(DataKind.WEIGHTS, data=before or model(), meta={}).to_shareable()
    data.set_header(AppConstants.CURRENT_ROUND, 0)
    if round_ is not None:
        data.set_header(m.ROUND, round_.description)
        data.set_header(m.UNIT, unit)
        data.set_header(m.TRAIN, list(train))
    return data


def result(data: Model, kind: str = DataKind.WEIGHTS) -> Shareable:
    """Return what a training script sends: a model, and too much about it."""
    sent = DXO(kind, data=data, meta={"steps": 3, "loss": "secret"}).to_shareable()
    sent.set_header("trained-on", "secret")
    return sent


class Site:
    """The chains of a site, with a filter of the site, of the job, or of both."""

    def __init__(
        self, *jobs: HushgradPrivatize, scope: dict[str, Any] | None = None, own: bool = False
    ) -> None:
        self.tasks = 0
        self.context = FLContext()  # of all tasks, one after the other
        self.context.set_prop(FLContextKey.SCOPE_PROPERTIES, scope)
        sources = [(HushgradPrivatize, FilterSource.SITE)] if own else []
        made = [(kind(), source) for kind, source in sources]
        made += [(job, FilterSource.JOB) for job in jobs]
        self.chains: dict[str, list[HushgradPrivatize]] = {}
        for kind in (FilterChainType.TASK_DATA_CHAIN, FilterChainType.TASK_RESULT_CHAIN):
            self.chains[kind] = []
            for each, source in made:
                copy = HushgradPrivatize()
                vars(copy).update(vars(each))
                copy.set_prop(FilterContextKey.CHAIN_TYPE, kind)
                copy.set_prop(FilterContextKey.SOURCE, source)
                self.chains[kind].append(copy)

    def answer(
        self,
        data: Shareable,
        trained: Shareable,
        *,
        inplace: bool = False,
        run: Callable[[], None] = lambda: None,
    ) -> Shareable:
        """Return what leaves the site for a task."""
        self.tasks += 1
        self.context.set_prop(FLContextKey.TASK_ID, f"task-{self.tasks}")
        for each in self.chains[FilterChainType.TASK_DATA_CHAIN]:
            data = each.process(data, self.context)
        run()
        if inplace:
            for name, array in from_shareable(data).data.items():
                array[...] = from_shareable(trained).data[name]
        for each in self.chains[FilterChainType.TASK_RESULT_CHAIN]:
            trained = each.process(trained, self.context)
        return trained


def params(answer: Shareable) -> dict[str, Any]:
    """Return the parameters of an answer."""
    return from_shareable(answer).data


class Engine:
    """Takes note of the events that a component fires."""

    def __init__(self) -> None:
        self.fired: list[tuple[str, Any]] = []

    def fire_event(self, event_type: str, context: FLContext) -> None:
        self.fired.append((event_type, context.get_prop(FLContextKey.EVENT_DATA)))


def send(
    aggregator: HushgradAggregator,
    before: Model | None = None,
    *,
    number: int = 0,
    rounds: int | None = None,
) -> Shareable:
    """Return the task that a site gets, after the event that NVFlare fires."""
    data, context, engine = task(None, before=before), FLContext(), Engine()
    data.set_header(AppConstants.CURRENT_ROUND, number)
    data.set_header(AppConstants.NUM_ROUNDS, rounds)
    context.put("__engine__", engine, private=True, sticky=False)
    context.set_prop(AppConstants.TRAIN_SHAREABLE, data, private=True, sticky=False)
    aggregator.handle_event(AppEventType.BEFORE_TRAIN_TASK, context)
    fatal = [data for event, data in engine.fired if event == EventType.FATAL_SYSTEM_ERROR]
    if fatal:
        raise SystemError(fatal[0])
    return data


def receive(aggregator: HushgradAggregator, site: int, answer: Shareable) -> None:
    """Hand an answer over, as FedAvg does."""
    got = FLModelUtils.from_shareable(answer)
    got.meta["client_name"] = f"site-{site}"
    aggregator.accept_model(got)
