"""The server's half: from reports to the step of the model."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

import threading
from typing import Any

from nvflare.apis.event_type import EventType
from nvflare.apis.fl_context import FLContext
from nvflare.apis.shareable import Shareable
from nvflare.app_common.abstract.fl_model import FLModel, ParamsType
from nvflare.app_common.aggregators.model_aggregator import ModelAggregator
from nvflare.app_common.app_constant import AppConstants
from nvflare.app_common.app_event_type import AppEventType

from ..errors import HushgradError, invalid
from ..evaluation import Survey
from ..evaluation.carried import carried
from ..federated.planned import TRUSTS_OTHERS, planned
from ..federated.steps import Steps
from ..planning import Plan
from .evaluation import Evaluation
from .opened import Opened
from .rounds import Rounds
from .training import Training


class HushgradAggregator(ModelAggregator):
    """An aggregator that steps by the mean of private reports.

    Give it to FedAvg or another controller that takes a ModelAggregator. It opens a round for
    every round of the controller and puts it into the task that the sites get. It estimates
    the mean of their updates from the reports, and returns it as a difference. Too few reports
    leave the model as it is. A site that sends its model, and no report, ends the job with
    :class:`PlainReply`.

    The reports of a site reveal little to everybody, the server included. The server sees
    which site sent a report: a central ε holds only for a party that does not, and its metric
    is named so. With ``shuffled`` the reports are sealed, and this server reads none of them.
    The estimate has noise in every array that trains. By default these are all arrays of
    floating-point numbers: ``train`` says which ones do. All other arrays stay as they are, bit
    by bit.

    Every round logs metrics, and returns them as metrics of the model: see
    :mod:`hushgrad.nvflare`.

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
    shuffled : dict, optional
        Where sealed reports go, see :class:`hushgrad.federated.Shuffled`. Without it this server
        counts reports by itself. ``operator`` and ``shuffler`` are addresses: of the operator's
        listener of ``hushgrad serve``, and of ``hushgrad shuffle``. ``name`` is the DNS name of the
        shuffler. ``share_key`` is the shuffler's public key in base64, which rounds of
        gaussian-shares need: then the two are two servers, and neither reads a gradient.
        ``patience`` is in seconds. ``log_key`` and ``witnesses`` are the public keys of the
        server's log and of its witnesses: sites then get the proof that a round is there.
        ``operator_tls`` and ``shuffler_tls`` are the named arguments of
        :meth:`hushgrad.server.Operator.connect`, with paths on the server.
    server_lr : float
        The mean update is multiplied by it.
    momentum : float
        Share of the step before that is added to every step, in [0, 1).
    averaging : float
        Decay of the exponential average of the models, in [0, 1). With more than 0 the step of the
        job's last round leads to the average, and the job ends with it. It has less noise.
    central_delta : float
        δ at which the central ε is stated.
    evaluation : Survey, optional
        What sites are asked about the model that they get, see :func:`hushgrad.evaluation.ask`, in
        as many rounds as it is planned for: evenly over the job, and in its last round. In a job's
        files it is a dict.

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
        shuffled: dict[str, Any] | None = None,
        server_lr: float = 1.0,
        momentum: float = 0.0,
        averaging: float = 0.0,
        central_delta: float = 1e-6,
        evaluation: Survey | dict[str, Any] | None = None,
    ) -> None:
        super().__init__()
        if unit not in ("client", "example"):
            raise invalid("unit", repr(unit), "must be 'client' or 'example'")
        if callable(train):
            raise invalid("train", "a function", "must be names and patterns, which a job carries")
        # NVFlare makes the component anew from the attributes that have names of parameters.
        self.epsilon = epsilon
        self.scale = scale
        self.min_reports = min_reports
        self.mechanism = mechanism
        self.params = params
        self.delta = delta
        self.unit = unit
        self.train = train
        self.shuffled = shuffled
        self.server_lr = server_lr
        self.momentum = momentum
        self.averaging = averaging
        self.central_delta = central_delta
        self.evaluation = carried(evaluation) if isinstance(evaluation, Survey) else evaluation
        self._lock = threading.Lock()
        self._open: Opened | None = None
        self._rounds = Rounds(unit, shuffled, central_delta)
        steps, asked = Steps(server_lr, momentum, averaging), self.evaluation
        question = None if asked is None else Evaluation(asked, self._rounds)
        given: dict[str, Any] = dict(
            epsilon=epsilon,
            scale=scale,
            mechanism=mechanism,
            delta=delta,
            min_reports=min_reports,
            **(params or {}),
        )
        self._training = Training(given, train, unit, self._rounds, steps, question)

    @classmethod
    def from_plan(
        cls,
        plan: Plan,
        *,
        client_lr: float = 1.0,
        **over: Any,  # noqa: ANN401
    ) -> HushgradAggregator:
        """Return the aggregator of a planned run.

        It takes mechanism, ε, δ, scale and parameters of the rounds, the unit, the learning rate,
        the momentum and the average of the models from the plan. min_reports is half of the plan's
        cohort. Give the recipe ``min_clients=plan.clients`` and ``num_rounds=plan.affordable``.

        Parameters
        ----------
        plan : Plan
            What :func:`hushgrad.plan` returned, with all clients in every round: NVFlare takes no
            turns.
        client_lr : float
            Learning rate of a site's step. A plan is about gradients: a site that returns
            the model minus client_lr times its gradient trains as planned. For several steps give
            the sum of their rates, where the steps are small.
        **over
            Arguments that replace the plan's, and others of this class: ``train``, ``shuffled``.

        Raises
        ------
        InvalidParameter
            If clients take turns, or if the plan trusts a shuffler or two servers and there is no
            ``shuffled``.
        """
        if plan.trust in TRUSTS_OTHERS and over.get("shuffled") is None:
            raise invalid("shuffled", "nothing", f"is required: the plan trusts {plan.trust}")
        given = planned(plan, client_lr)
        if plan.cohort < plan.clients:
            got = f"{plan.cohort} of {plan.clients} clients in a round"
            raise invalid("plan", got, f"must have all of them: plan with cohort={plan.clients}")
        given |= {"params": dict(plan.params), "momentum": plan.momentum, **over}
        return cls(**given)

    def handle_event(self, event_type: str, fl_ctx: FLContext) -> None:
        """Put the round into the task that is about to be sent."""
        super().handle_event(event_type, fl_ctx)
        if event_type == EventType.END_RUN:
            self.reset_stats()
            self._rounds.close()
        if event_type == AppEventType.BEFORE_TRAIN_TASK:
            try:
                task = fl_ctx.get_prop(AppConstants.TRAIN_SHAREABLE)
                if isinstance(task, Shareable):
                    with self._lock:
                        self._open = self._open or self._training.open(task)
                        self._training.send(self._open, task)
            except HushgradError as error:  # an error in a handler would be lost
                self.system_panic(f"{type(error).__name__}: {error}", fl_ctx)

    def accept_model(self, model: FLModel) -> None:
        """Take note of what a site sent."""
        with self._lock:
            if self._open is not None:
                self._open.receive(self._sender(model), model.params or {})

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
        return self._training.step(opened)

    def reset_stats(self) -> None:
        """Forget the round that is open, as NVFlare demands at the start of the next one."""
        with self._lock:
            opened, self._open = self._open, None
        self._rounds.abort(opened)

    def _sender(self, model: FLModel) -> str:
        """Return the name of the site that sent a model."""
        meta: dict[str, object] = model.meta or {}
        if name := meta.get("client_name"):  # which the controller sets
            return str(name)
        peer = self.fl_ctx and self.fl_ctx.get_peer_context()
        return str(peer and peer.get_identity_name())
