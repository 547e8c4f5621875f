"""Plan a training run, and account for what it costs a client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import _arguments, _bridge
from .errors import invalid
from .rounds import Round


@dataclass(frozen=True)
class Promise:
    """What several rounds promise one client. None is no promise.

    Attributes
    ----------
    epsilon_local : float or None
        ε of one report, against everybody.
    epsilon_local_total, delta_local : float or None
        ε and δ of all reports of a client together, against everybody.
    epsilon_central : float or None
        ε at delta of all reports of a client together, only against a party that sees nothing
        but the shuffled reports of each round. It trusts whoever shuffles.
    delta : float
        The δ of epsilon_central.
    participations : int
        Rounds in which a client takes part, at most.
    """

    epsilon_local: float | None
    epsilon_local_total: float | None
    delta_local: float
    epsilon_central: float | None
    delta: float
    participations: int

    @classmethod
    def from_answer(cls, answer: dict[str, Any]) -> Promise:
        """Read what the helper says."""

        def optional(name: str) -> float | None:
            return None if answer[name] is None else float(answer[name])

        return cls(
            epsilon_local=optional("epsilon_local"),
            epsilon_local_total=optional("epsilon_local_total"),
            delta_local=float(answer["delta_local"]),
            epsilon_central=optional("epsilon_central"),
            delta=float(answer["delta"]),
            participations=answer["participations"],
        )


@dataclass(frozen=True)
class Plan:
    """A training run in public numbers.

    Attributes
    ----------
    mechanism : str
        Mechanism of the rounds.
    epsilon, delta : float
        Budget of one report.
    scale : float
        Scale of the rounds, in units of the gradient.
    params : mapping
        Parameters of the mechanism: what ``Round.new`` and the adapters of frameworks take. A round
        needs all of them. With other slots the same ε of a report costs more behind a shuffler.
    dim : int
        Coordinates of a gradient.
    clients, cohort : int
        Clients of the run, and of one round.
    rounds, affordable : int
        Rounds of the run, and how many of them the budget allows.
    noise : float or None
        Standard error of a coordinate of one round's mean, in units of the gradient.
    learning_rate, momentum, averaging : float
        What the server does with the means; averaging is the decay of the average of the
        models.
    promise : Promise
        What the affordable rounds promise a client.
    l1, l2 : float
        The norms of a client's gradient that the plan rests on, as they were given.
    explanation : str
        What was compared, what was chosen and why. It begins with the norms.
    """

    mechanism: str
    epsilon: float
    delta: float
    scale: float
    params: Mapping[str, Any]
    dim: int
    clients: int
    cohort: int
    rounds: int
    affordable: int
    noise: float | None
    learning_rate: float
    momentum: float
    averaging: float
    l1: float
    l2: float
    promise: Promise
    explanation: str = field(repr=False)
    _template: Mapping[str, Any] = field(repr=False)

    def round(self, id: str, *, min_reports: int | None = None) -> Round:  # noqa: A002
        """Return a round of the run, with fresh public randomness.

        Parameters
        ----------
        id : str
            Name of the round.
        min_reports : int, optional
            Reports below which nothing is released. Default the cohort. A smaller number
            weakens what the plan promises behind a shuffler.
        """
        t = self._template
        least = self.cohort if min_reports is None else min_reports
        return Round.new(
            id,
            dim=self.dim,
            epsilon=self.epsilon,
            delta=self.delta,
            scale=self.scale,
            mechanism=self.mechanism,
            relation=t["relation"],
            min_reports=least,
            target_reports=max(t["target_reports"], least),
            **self.params,
        )


def plan(
    *,
    dim: int,
    clients: int,
    l1: float,
    l2: float,
    rounds: int = 0,
    epsilon: float = 0.0,
    max_epsilon: float = 0.0,
    budget: float = 0.0,
    delta: float = 1e-6,
    mechanism: str = "auto",
    cohort: int = 0,
    sparsity: int = 0,
    clip: float = 0.0,
    learning_rate: float = 0.0,
    centred: bool = False,
) -> Plan:
    """Plan a training run from public numbers. What is 0 is planned.

    It takes up to some seconds, in a process of its own.

    Parameters
    ----------
    dim : int
        Coordinates of a gradient.
    clients : int
        Number of clients, which take part in turn.
    l1, l2 : float
        Guess of the norms of a client's gradient at the first model, from public data. They have
        no default: scale, sparsity and learning rate follow from them, and another task has others.
    rounds : int
        Number of rounds, at most. 0 stands for 30, and for 10 with sumdp.
    epsilon : float
        ε of one report. 0 stands for the largest that the budget allows, and for 1 with sumdp and
        no budget.
    max_epsilon : float
        Largest ε of one report that may be planned. 0: only the budget limits it.
    budget : float
        Central ε of the whole run at delta, after which it ends. It holds only against a
        party that sees nothing but shuffled reports. 0: none, or 1 without epsilon.
    delta : float
        In (0, 1).
    mechanism : str
        "auto", a local mechanism that can be planned, "sumdp", or "none".
    cohort : int
        Clients of a round.
    sparsity : int
        Signed coordinates of a report.
    clip : float
        Norm to which gradients are clipped: L1, for sumdp L2.
    learning_rate : float
        The server's step size.
    centred : bool
        Whether the inputs of the model have one norm, or nearly, around a public centre. The
        learning rate is then planned for them.

    Raises
    ------
    InvalidParameter
        If a number is out of range, or the budget does not allow one round.
    Infeasible
        If no plan meets the demand.
    """
    arguments = {
        "mechanism": _arguments.text("mechanism", mechanism),
        "dim": _arguments.whole("dim", dim),
        "clients": _arguments.whole("clients", clients),
        "cohort": _arguments.whole("cohort", cohort),
        "rounds": _arguments.whole("rounds", rounds),
        "epsilon": _arguments.number("epsilon", epsilon),
        "max_epsilon": _arguments.number("max_epsilon", max_epsilon),
        "budget": _arguments.number("budget", budget),
        "delta": _arguments.number("delta", delta),
        "sparsity": _arguments.whole("sparsity", sparsity),
        "clip": _arguments.number("clip", clip),
        "learning_rate": _arguments.number("learning_rate", learning_rate),
        "l1": _norm("l1", l1),
        "l2": _norm("l2", l2),
        "centred": centred,
    }
    answer, _ = _bridge.alone(lambda helper: helper.call("plan", arguments))
    described = answer["round"]
    return Plan(
        mechanism=described["mechanism"],
        epsilon=float(described["epsilon"]),
        delta=float(described["delta"]),
        scale=float(described["scale"]),
        params=described["params"],
        dim=described["dim"],
        clients=answer["clients"],
        cohort=answer["cohort"],
        rounds=answer["rounds"],
        affordable=answer["affordable"],
        noise=None if answer["noise"] is None else float(answer["noise"]),
        learning_rate=float(answer["learning_rate"]),
        momentum=float(answer["momentum"]),
        averaging=float(answer["averaging"]),
        l1=float(l1),
        l2=float(l2),
        promise=Promise.from_answer(answer["promise"]),
        explanation=f"norms of a gradient, as given: L1 {float(l1):g}, L2 {float(l2):g}\n\n"
        + answer["explanation"],
        _template=described,
    )


def _norm(name: str, value: object) -> float | str:
    """Return a norm of a gradient. A sum with a clip would take 0 and plan an infinite rate."""
    number = _arguments.number(name, value)
    if isinstance(number, str) or number <= 0:
        rule = "must be positive: the norm of a gradient at the first model, on public data"
        raise invalid(name, value, rule)
    return number


def account(
    round_: Round, *, clients: int, participations: int = 1, delta: float = 1e-6
) -> Promise:
    """Return what rounds like this one promise a client that takes part in several.

    It takes up to some seconds, in a process of its own. All bounds are rounded up.

    Parameters
    ----------
    round_ : Round
        One of the rounds.
    clients : int
        Reports that are shuffled together in each round, at least 2: never more than honest
        clients send.
    participations : int
        Rounds in which the client takes part, at least 1.
    delta : float
        The δ of the central ε, in (0, 1).

    Raises
    ------
    InvalidParameter
        If a number is out of range.
    """
    return accounts(round_, clients=clients, participations=participations, delta=delta)[0]


def accounts(
    round_: Round, *, clients: int, participations: int, delta: float, ahead: int = 0
) -> list[Promise]:
    """Return what :func:`account` does, and the same for up to ``ahead`` more participations.

    What one round costs is computed once for all of them, which takes most of the time.
    """
    arguments = {
        "clients": _arguments.whole("clients", clients),
        "participations": _arguments.whole("participations", participations),
        "delta": _arguments.number("delta", delta),
        "ahead": ahead,
    }
    answer = _bridge.about(round_.description, round_.dim, "account", arguments)
    return [Promise.from_answer(promise) for promise in answer["promises"]]
