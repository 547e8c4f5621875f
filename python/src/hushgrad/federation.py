"""A training run without a framework: the loop of a notebook."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from logging import getLogger
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from ._progress import Progress
from .aggregator import Estimate
from .errors import BudgetExhausted, HushgradError, TooFewReports, invalid
from .federated import Answers, Run, Shuffled, Train, chosen, estimate, measures
from .federated.models import Row, differences, size
from .federated.planned import TRUSTS_OTHERS, planned
from .federated.steps import Steps
from .federated.turns import Turns
from .history import History
from .ledger import Ledger
from .planning import Plan
from .policy import Policy
from .rounds import Round

log = getLogger(__name__)

Model: TypeAlias = Any
"""What a client gets and returns: an array, or a mapping from names to arrays."""

Arrays = dict[str, NDArray[Any]]
Evaluate = Callable[[Model], float | Mapping[str, float]]

_ONE = "model"  # name of a model that is one array


class Gradients(Protocol):
    """A client that returns the gradient of its loss."""

    def gradient(self, model: Model, /) -> Model:
        """Return the gradient at a model, in the model's shape."""
        ...


class Updates(Protocol):
    """A client that returns what its training adds to the model."""

    def update(self, model: Model, /) -> Model:
        """Return the trained model less the model, in the model's shape."""
        ...


Client: TypeAlias = Gradients | Updates | Callable[[Model], Model]
"""A callable returns a gradient."""


@dataclass
class _Training:
    """The state of a run, which a later call of fit goes on with."""

    plan: Plan
    client_lr: float
    turns: Turns
    steps: Steps
    run: Run
    done: int = 0


class Federation:
    """Clients and a model that they train, in one process.

    Use it in a notebook: it trains by a plan, and shows what the plan is worth, before anything is
    built in Flower, NVFlare or a server of your own. Rounds, reports and accounts are the ones that
    :class:`hushgrad.flower.HushgradAggregation` has. Only the loop differs. The process holds every
    client's gradient. Reports protect the clients from whoever gets reports alone.

    Example::

        run = hushgrad.plan(public=(x, y), clients=200, cohort=200, budget=48, rounds=12)
        federation = hushgrad.Federation(clients, np.zeros((65, 10)))
        history = federation.fit(run, evaluate=accuracy)
        federation.model  # the trained model

    Parameters
    ----------
    clients : iterable of callables or objects
        A callable gets the model and returns the gradient of its loss. So does the method
        ``gradient`` of an object. The method ``update`` returns what a training adds to the model
        instead. With a plan of records the arrays they return have one axis more, which comes
        first and has one element for each record.
    model : numpy.ndarray, or mapping of str to numpy.ndarray
        The first model. Clients get models of the same form.
    train : str, sequence of str, or callable, optional
        Which arrays train, as in :class:`hushgrad.flower.HushgradAggregation`. Default all arrays
        of floating-point numbers.
    policy : Policy, optional
        What the clients demand. Default what the plan needs. With servers it is required: it pins
        their keys.
    ledgers : sequence of Ledger, optional
        One ledger for each client, which pays for its reports. Without them the plan's
        participations bound what a client sends, for as long as this object lives.
    servers : Shuffled, optional
        ``hushgrad serve`` and ``hushgrad shuffle``, which plans with the trusts "two-servers" and
        "shuffler" need.

    Attributes
    ----------
    model : numpy.ndarray, or dict of str to numpy.ndarray
        The model so far: the average of the models, where the plan has one.

    Raises
    ------
    InvalidParameter
        If there are no clients, if a client is of another kind, if no array trains, or if there
        are more or fewer ledgers than clients.
    """

    def __init__(
        self,
        clients: Iterable[Client],
        model: NDArray[Any] | Mapping[str, NDArray[Any]],
        *,
        train: Train = None,
        policy: Policy | None = None,
        ledgers: Sequence[Ledger] | None = None,
        servers: Shuffled | None = None,
    ) -> None:
        self._clients = [_updating(client, i) for i, client in enumerate(clients)]
        if not self._clients:
            raise invalid("clients", "none", "must be at least one")
        self._named = isinstance(model, Mapping)
        self._model = _arrays(model)
        self._names = chosen(self._model, train)
        if ledgers is not None and len(ledgers) != len(self._clients):
            rule = f"must be one for each of the {len(self._clients)} clients"
            raise invalid("ledgers", len(ledgers), rule)
        if servers is not None and policy is None:
            raise invalid(
                "policy",
                "nothing",
                "is required with servers, and pins their keys: policy=Policy(..., "
                "shuffled=ShuffledPolicy(shufflers=(NAME,), seal_keys=(KEY,), ...)). "
                "`hushgrad serve keys` lists the key",
            )
        self._policy, self._ledgers, self._servers = policy, ledgers, servers
        self._training: _Training | None = None

    @property
    def model(self) -> Model:
        """The model so far."""
        averaged = self._training.steps.averaged if self._training else {}
        return self._formed({**self._model, **averaged})

    def fit(
        self,
        plan: Plan,
        *,
        rounds: int | None = None,
        client_lr: float = 1.0,
        evaluate: Evaluate | None = None,
        progress: bool | None = None,
    ) -> History:
        """Train as planned, until the budget of the clients is spent.

        A second call goes on where the first one ended, with the budget that is left. Ctrl-C
        ends a run between two reports: the round is lost, and its clients have paid for it.

        Parameters
        ----------
        plan : Plan
            What :func:`hushgrad.plan` returned for as many clients and coordinates.
        rounds : int, optional
            Rounds of this call. Default all that the plan affords.
        client_lr : float
            Learning rate of ``update``, as in
            :meth:`hushgrad.flower.HushgradAggregation.from_plan`. Gradients are scaled with it.
        evaluate : callable, optional
            Gets the model after each round, and returns an accuracy or several numbers by name. It
            is about public data: nothing makes it private.
        progress : bool, optional
            Whether there is a bar when it takes more than 2 s. Default in a terminal and in a
            notebook.

        Returns
        -------
        History
            The metrics of each round.

        Raises
        ------
        InvalidParameter
            If the plan is of other clients, of another number of coordinates, or not the plan of
            the first call, or if it trusts a shuffler or two servers and there are none.
        PolicyRefused
            If the policy refuses the rounds.
        HushgradError
            If a client raises an error, which is the cause. The model and the rounds before are
            kept, and a further call goes on. Numbers that are not finite are no error: they count
            as 0, and a warning in the log names the client.
        """
        training = self._started(plan, client_lr)
        asked = plan.affordable if rounds is None else rounds
        if asked < 1:
            raise invalid("rounds", asked, "must be at least 1")
        history, bar = History(plan), Progress(asked, "round", progress)
        try:
            for done in range(1, asked + 1):
                turn = training.turns.next(range(len(self._clients)))
                if not turn or training.done >= plan.affordable:
                    history.ended = (
                        f"the budget of the clients is spent after {training.done} rounds"
                    )
                    break
                metrics = self._round(training, turn)
                if not metrics["hushgrad.reports"] and metrics["hushgrad.refused"]:
                    history.ended = f"the ledgers refuse after {training.done} rounds"
                    break
                training.done += 1
                measured = _named(evaluate(self.model)) if evaluate else {}
                history.add({**metrics, **measured})
                bar.step(done, ", ".join(f"{name} {v:.3f}" for name, v in measured.items()))
            else:
                history.ended = f"all {asked} rounds are done"
        finally:
            bar.end()
        return history

    def _started(self, plan: Plan, client_lr: float) -> _Training:
        """Return the state of the run, which is new at the first call."""
        held = self._training
        if held is not None:
            if held.plan is not plan or held.client_lr != client_lr:
                rule = "must be the first fit's, because its clients have spent from their budget"
                raise invalid("plan", "another plan or client_lr", f"{rule}: make a new Federation")
            return held
        clients, numbers = len(self._clients), size(self._model, self._names)
        for what, got, want in (("clients", plan.clients, clients), ("dim", plan.dim, numbers)):
            if got != want:
                raise invalid(
                    "plan", f"{what}={got}", f"must have {want}: plan({what}={want}, ...)"
                )
        if plan.trust in TRUSTS_OTHERS and self._servers is None:
            made = "Federation(clients, model, servers=Shuffled(...), policy=...)"
            raise invalid(
                "servers", "nothing", f"is required: the plan trusts {plan.trust}: {made}"
            )
        if plan.trust not in TRUSTS_OTHERS and self._servers is not None:
            rule = f"must be None: the plan trusts {plan.trust}. plan(trust='two-servers', ...)"
            raise invalid("servers", "two servers", rule)
        given = planned(plan, client_lr)
        self._training = _Training(
            plan,
            client_lr,
            Turns(plan.cohort, plan.promise.participations),
            Steps(given["server_lr"], plan.momentum, plan.averaging),
            Run(given["central_delta"], log),
        )
        return self._training

    def _round(self, training: _Training, turn: Sequence[int]) -> dict[str, float]:
        """Train one round with some clients, and return its metrics."""
        plan = training.plan
        given = planned(plan, training.client_lr)
        shape = {name: given[name] for name in ("epsilon", "delta", "scale", "mechanism")}
        round_ = Round.new(
            f"round-{training.done + 1}-{secrets.token_hex(8)}",
            dim=plan.dim,
            min_reports=given["min_reports"],
            **shape,
            **plan.params,
        )
        if self._servers is not None:
            round_ = self._servers.open(round_)
        try:
            answers = self._answers(round_, training, turn)
        except BaseException:
            if self._servers is not None:
                self._servers.abort(round_)
            raise
        mean: NDArray[np.float64] | None = None
        quality: dict[str, float] = {}
        counted = estimate if self._servers is None else self._servers.estimate
        try:
            result: Estimate = counted(round_, answers, _rejected, unit=given["unit"])
        except TooFewReports as error:
            log.warning("hushgrad: %s is given up: %s%s", round_.id, error, answers.refusals)
        else:
            mean = result.mean
            quality = measures(result, sum(len(report) for _, report in answers.reports))
        trained = {name: self._model[name] for name in self._names}
        for name, step in training.steps.step(trained, mean, last=False).items():
            self._model[name] = np.asarray(trained[name] + step)
        return {
            "hushgrad.reports": answers.counted,
            "hushgrad.refused": answers.refused,
            "hushgrad.failed": answers.failed,
            **training.run.promise(
                round_, answers.counted, lost=answers.failed, asked=training.turns.asked
            ),
            **quality,
        }

    def _answers(self, round_: Round, training: _Training, turn: Sequence[int]) -> Answers[int]:
        """Let clients train, and return their reports."""
        policy = self._policy or Policy(training.plan.epsilon, max_delta=training.plan.delta)
        opened, answers = Round(round_.description, policy), Answers[int]()
        for client in turn:
            ledger = None if self._ledgers is None else self._ledgers[client]
            try:
                if ledger is None:
                    report = self._report(opened, training, client, None)
                else:
                    with ledger.reserve(opened) as reservation:  # before anything is trained
                        report = self._report(opened, training, client, reservation)
            except BudgetExhausted as error:
                answers.refuse(error)
                log.info("hushgrad: client %d refuses: %s", client, error)
            else:
                answers.reports.append((client, bytes(report)))
        return answers

    def _report(self, opened: Round, training: _Training, client: int, ledger: Any) -> bytes:  # noqa: ANN401
        """Return a client's report."""
        model = self._formed(self._model)
        update, sign = self._clients[client]
        try:
            returned = update(model)
        except Exception as error:
            raise HushgradError(
                f"client {client}: got {type(error).__name__}: {error}, rule: must return its "
                "gradient or update. The model and the rounds before are kept, and this round is "
                "lost: correct the client and call fit again with the same plan"
            ) from error
        made, rows = _arrays(returned), opened.about_records
        row = self._row(made if rows else {n: a[np.newaxis] for n, a in made.items()}, client)
        row *= training.client_lr * sign if sign < 0 else 1
        if rows:
            return opened.encode_records(row, ledger=ledger)
        return opened.encode(row[0], ledger=ledger)

    def _row(self, made: Arrays, client: int) -> Row:
        zero = {name: np.zeros_like(array) for name, array in self._model.items()}

        def warn(text: str) -> None:
            log.warning("hushgrad: client %d: %s", client, text)

        return differences(made, zero, self._names, warn)

    def _formed(self, arrays: Mapping[str, NDArray[Any]]) -> Model:
        """Return copies in the form in which the model was given."""
        copies: Arrays = {name: np.array(array) for name, array in arrays.items()}
        return copies if self._named else copies[_ONE]


def _updating(client: object, number: int) -> tuple[Callable[[Model], Model], int]:
    """Return what a client computes, and -1 if it is a gradient or 1 if it is an update."""
    given = cast("Any", client)
    for name, sign in (("update", 1), ("gradient", -1)):
        if callable(getattr(client, name, None)):
            return getattr(given, name), sign
    if callable(client):
        return client, -1
    rule = "must be a function that returns a gradient, or have a method gradient or update"
    raise invalid(f"clients[{number}]", type(client).__name__, rule)


def _arrays(model: object) -> Arrays:
    """Return a model as arrays by their names."""
    if isinstance(model, Mapping):
        named = cast("Mapping[str, object]", model)
        return {name: np.array(array) for name, array in named.items()}
    return {_ONE: np.array(model)}


def _named(measured: float | Mapping[str, float]) -> dict[str, float]:
    """Return what evaluate has returned, by name."""
    if isinstance(measured, Mapping):
        return {name: float(value) for name, value in measured.items()}
    return {"accuracy": float(measured)}


def _rejected(client: int, error: HushgradError) -> None:
    log.info("hushgrad: client %d: %s", client, error)
