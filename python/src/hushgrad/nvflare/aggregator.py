"""The server's half: from reports to the step of the model."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

import threading
from collections.abc import Mapping
from logging import getLogger
from typing import Any

import numpy as np
from numpy.typing import NDArray
from nvflare.apis.dxo import DataKind
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.aggregators.model_aggregator import ModelAggregator
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType

from ..errors import HushgradError, TooFewReports, invalid
from ..federated import Answers, PlainReply, Run, chosen, estimate, measures, moved, noisy
from ..federated.models import size
from ..rounds import Round
from . import messages
from .messages import arrays

log = getLogger(__name__)

_LONGEST = 500  # characters of a site's words in the log


class HushgradAggregator(ModelAggregator):
    """An aggregator that steps by the mean of private reports.

    Give it to FedAvg or another controller that takes a ModelAggregator. It opens a round for
    every round of the controller and puts it into the task that the sites get. It estimates
    the mean of their updates from the reports, and returns it as a difference. Too few reports
    leave the model as it is. A site that sends its model, and no report, ends the job with
    :class:`PlainReply`.

    The reports of a site reveal little to everybody, the server included. The server sees
    which site sent a report: a central ε holds only for a party that does not, and its metric
    is named so. The estimate has noise in every array that trains. By default these are all
    arrays of floating-point numbers: ``train`` says which ones do. All other arrays stay as they
    are, bit by bit.

    Every round logs these metrics, and returns them as metrics of the model:

    - ``hushgrad.reports``; ``hushgrad.refused`` and ``hushgrad.failed``, which count sites;
      ``hushgrad.bytes-per-report``;
    - ``hushgrad.std-err``: root mean square of the standard errors of the mean update. They are
      on the large side where there are few reports;
    - ``hushgrad.signal-to-noise``: Euclidean norm of the mean update, without what noise adds to
      it, over the ``noise_norm`` of the estimate, or the norm of the standard errors where a
      few reports that agree make that 0;
    - ``hushgrad.epsilon-local``: of one report, against everybody;
    - ``hushgrad.epsilon-local-total``: of a client that took part in all rounds so far;
    - ``hushgrad.epsilon-central-if-shuffled``: the same client, composed, only against a party
      that sees nothing but shuffled reports, at ``hushgrad.delta``.

    With the unit "example" a client is one record of a site.

    Parameters
    ----------
    epsilon : float
        ε of one report, in (0, 20].
    scale : float
        In units of an update; see :class:`hushgrad.Round`.
    min_reports : int
        Reports below which a round is given up.
    mechanism : str
        Name of the mechanism. "auto" chooses the one with the smallest error.
    params : dict, optional
        Parameters of the mechanism, for example ``{"sparsity": 64}``.
    delta : float
        δ of one report; 0 for local mechanisms.
    unit : {"client", "example"}
        Whose data one report stands for. With "client" every site sends one report. With
        "example" a site sends one report for each of its records: it returns models or
        differences whose arrays have one axis more, which comes first.
    train : str or list of str, optional
        Which arrays train: a name or a pattern as of :mod:`fnmatch`, such as ``"head.*"``, or
        several of them. Default all arrays of floating-point numbers. :mod:`hushgrad.models` has
        the names for other libraries.
    server_lr : float
        The mean update is multiplied by it.
    momentum : float
        Share of the step before that is added to every step, in [0, 1).
    central_delta : float
        δ at which the central ε is stated.

    Raises
    ------
    InvalidParameter
        If a parameter breaks a rule. What only a round knows is checked when the first one is
        opened, and ends the job.
    """

    def __init__(
        self,
        epsilon: float,
        scale: float,
        min_reports: int,
        mechanism: str = "auto",
        params: dict[str, Any] | None = None,
        delta: float = 0.0,
        unit: str = "client",
        train: str | list[str] | None = None,
        server_lr: float = 1.0,
        momentum: float = 0.0,
        central_delta: float = 1e-6,
    ) -> None:
        super().__init__()
        if unit not in ("client", "example"):
            raise invalid("unit", repr(unit), "must be 'client' or 'example'")
        if callable(train):
            raise invalid("train", "a function", "must be names and patterns, which a job carries")
        if not 0 <= momentum < 1:
            raise invalid("momentum", momentum, "must be in [0, 1)")
        # NVFlare makes the component anew from the attributes that have names of parameters.
        self.epsilon = epsilon
        self.scale = scale
        self.min_reports = min_reports
        self.mechanism = mechanism
        self.params = params
        self.delta = delta
        self.unit = unit
        self.train = train
        self.server_lr = server_lr
        self.momentum = momentum
        self.central_delta = central_delta
        self._lock = threading.Lock()
        self._open: _Open | None = None
        self._run = Run(central_delta, log)
        self._step: NDArray[np.float64] | None = None
        self._said = False  # which arrays get noise

    def handle_event(self, event_type: str, fl_ctx: FLContext) -> None:
        """Put the round into the task that is about to be sent."""
        super().handle_event(event_type, fl_ctx)
        if event_type == AppEventType.BEFORE_TRAIN_TASK:
            try:
                task = fl_ctx.get_prop(AppConstants.TRAIN_SHAREABLE)
                if isinstance(task, Shareable):
                    self._send(task)
            except HushgradError as error:  # an error in a handler would be lost
                self.system_panic(f"{type(error).__name__}: {error}", fl_ctx)

    def accept_model(self, model: FLModel) -> None:
        """Take note of what a site sent."""
        with self._lock:
            if self._open is not None:
                self._open.accept(self._sender(model), model.params or {})

    def aggregate_model(self) -> FLModel:
        """Return the step, and the metrics of the round.

        Raises
        ------
        PlainReply
            If a site sent its model or its metrics.
        """
        with self._lock:
            opened, self._open = self._open, None  # a round is estimated once
        if opened is None:
            return FLModel(params_type=ParamsType.DIFF, params={})
        if opened.plain is not None:
            raise opened.plain
        answers = opened.answers
        step: dict[str, NDArray[Any]] = {}
        quality: dict[str, float] = {}
        try:
            result = estimate(opened.round, answers, _rejected, unit=self.unit)
        except TooFewReports as error:
            log.warning("hushgrad: %s is given up: %s", opened.round.id, error)
        else:
            quality = measures(result, sum(len(report) for _, report in answers.reports))
            step = moved(opened.zero, list(opened.zero), self._next(result.mean))
        metrics: dict[str, float] = {
            "hushgrad.reports": answers.counted,
            "hushgrad.refused": answers.refused,
            "hushgrad.failed": answers.failed,
            # What a failed site sent may have been a report.
            **self._run.promise(opened.round, answers.counted, lost=answers.failed),
            **quality,
        }
        log.info("hushgrad: %s: %s", opened.round.id, _printed(metrics))
        return FLModel(params_type=ParamsType.DIFF, params=step, metrics=metrics)

    def reset_stats(self) -> None:
        """Forget the round that is open, as NVFlare demands at the start of the next one."""
        with self._lock:
            self._open = None

    def _send(self, data: Shareable) -> None:
        """Put the round that is open, or a new one, into a task."""
        with self._lock:
            if self._open is None:
                self._open = self._new(data)
            data.set_header(messages.ROUND, self._open.round.description)
            data.set_header(messages.UNIT, self.unit)
            data.set_header(messages.TRAIN, list(self._open.zero))

    def _new(self, data: Shareable) -> _Open:
        model = arrays(data, (DataKind.WEIGHTS,))
        if model is None:
            raise invalid("model", "another type", "must be a dict of NumPy arrays")
        names = chosen(model, self.train)
        if not self._said:
            log.info("hushgrad: %s", noisy(model, names))
            self._said = True
        zero = {name: np.zeros_like(model[name]) for name in names}
        round_ = Round.new(
            f"round-{data.get_header(AppConstants.CURRENT_ROUND, 0)}",
            dim=size(model, names),
            epsilon=self.epsilon,
            scale=self.scale,
            mechanism=self.mechanism,
            delta=self.delta,
            min_reports=self.min_reports,
            **(self.params or {}),
        )
        return _Open(round_, zero)

    def _next(self, mean: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the step of a mean update."""
        step = mean * self.server_lr
        if self._step is not None:
            step += self.momentum * self._step
        self._step = step
        return step

    def _sender(self, model: FLModel) -> str:
        """Return the name of the site that sent a model."""
        meta: dict[str, object] = model.meta or {}
        if name := meta.get("client_name"):  # which the controller sets
            return str(name)
        peer = self.fl_ctx and self.fl_ctx.get_peer_context()
        return str(peer and peer.get_identity_name())


class _Open:
    """A round that is open, and what the sites answered.

    The reports stay here until the round is estimated.
    """

    def __init__(self, round_: Round, zero: dict[str, NDArray[Any]]) -> None:
        self.round = round_
        self.zero = zero
        self.answers = Answers[str]()
        self.plain: PlainReply | None = None
        self._heard: set[str] = set()

    def accept(self, site: str, answer: Mapping[str, object]) -> None:
        """Sort an answer into reports, refusals, failures and plain models."""
        report, refused = answer.get(messages.REPORT), answer.get(messages.REFUSED)
        if site in self._heard:
            self._fail(site, "it answered before")
        elif isinstance(refused, str):
            self.answers.refused += 1
            log.info("hushgrad: %s refused: %s", site, refused[:_LONGEST])
        elif report is None:
            self.plain = PlainReply(
                f"{site} sent a model or metrics, and no report: give its job the filter "
                "HushgradPrivatize",
                *("filters", "none of hushgrad", "must have HushgradPrivatize"),
            )
        elif answer.get(messages.ROUND) != self.round.digest:
            self._fail(site, "its report is of another round")
        elif not isinstance(report, bytes):
            self._fail(site, "its report is of another type")
        else:
            self.answers.reports.append((site, report))
        self._heard.add(site)

    def _fail(self, site: str, why: str) -> None:
        self.answers.failed += 1
        log.info("hushgrad: %s: %s", site, why)


def _rejected(site: str, error: HushgradError) -> None:
    log.info("hushgrad: %s: %s", site, error)


def _printed(metrics: Mapping[str, float]) -> str:
    # All digits: an ε that is rounded may be less than what holds.
    return ", ".join(f"{name.removeprefix('hushgrad.')} {v:.15g}" for name, v in metrics.items())
