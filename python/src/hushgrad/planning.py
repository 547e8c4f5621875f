"""Plan a training run, and account for what it costs a client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from . import _arguments, _bridge
from .errors import invalid
from .rounds import Round
from .rows import Floats, Matrix, checked

Public: TypeAlias = (
    Floats | Mapping[str, NDArray[Any]] | tuple[Floats, Sequence[int] | NDArray[np.integer]]
)
"""What is public about a task: gradients, gradients by name, or examples and their labels."""


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
        ε at delta of all reports of a client together, against anyone who sees only the shuffled
        reports of each round. It assumes an honest shuffler. With gaussian-shares there is no
        shuffler: it holds against either of two servers, and assumes that the other one is honest.
    delta : float
        The δ of epsilon_central.
    epsilon_if_honest : float or None
        epsilon_central, but smaller, if at least honest_reports of the reports of each round are of
        honest clients: clients add a part of the noise, with honest_budget.
    honest_reports : int
        How many that is. 0 where clients add no part.
    participations : int
        Rounds in which a client takes part, at most.
    unit : str
        What the ε are about: "client", or "record" where sites sum up their records. Then read
        "record" for "client".
    """

    epsilon_local: float | None
    epsilon_local_total: float | None
    delta_local: float
    epsilon_central: float | None
    delta: float
    participations: int
    unit: str = "client"
    epsilon_if_honest: float | None = None
    honest_reports: int = 0

    @classmethod
    def from_answer(cls, answer: dict[str, Any]) -> Promise:
        """Read what the helper says."""
        return cls(
            epsilon_local=_optional(answer, "epsilon_local"),
            epsilon_local_total=_optional(answer, "epsilon_local_total"),
            delta_local=float(answer["delta_local"]),
            epsilon_central=_optional(answer, "epsilon_central"),
            delta=float(answer["delta"]),
            participations=answer["participations"],
            unit=answer["unit"],
            epsilon_if_honest=_optional(answer, "epsilon_if_honest"),
            honest_reports=answer["honest_reports"],
        )


@dataclass(frozen=True)
class Expected:
    """What a run is expected to reach: it was rehearsed on public examples.

    Attributes
    ----------
    accuracy, error : float
        Mean accuracy of the rehearsals, on public examples that no simulated client held. A single
        run on examples of the same kind is within error of it, 95 times in 100.
    before : float
        Accuracy of the first model.
    without_privacy : float
        Accuracy after as many rounds without clip and noise.
    on : str
        Which examples these are.
    """

    accuracy: float
    error: float
    before: float
    without_privacy: float
    on: str


@dataclass(frozen=True)
class Trusted:
    """What one trust makes of a budget: a row of :func:`compare`.

    Attributes
    ----------
    trust : str
        Whom the clients trust.
    mechanism : str
        Mechanism of the rounds. "": this trust does not serve, and why says why.
    epsilon, delta : float
        ε and δ of everything that a client ever sends, against the party that against names.
    against : str
        The party.
    epsilon_against_everybody : float or None
        ε of the same reports against everybody, with δ = 0. None where none holds, as of Gaussian
        noise, whose ε needs a δ: against then says whom epsilon and delta hold against.
    error, error_of_run : float
        L2 norm of the noise of one round's mean, and of the mean over all rounds, over the norm of
        a gradient. Above 1 the noise is larger than any signal. What a clip cuts is in off.
    off : float or None
        How far clip and noise of the whole run take the estimate off the public gradients' mean,
        over that mean's norm. 1 is as bad as no estimate. None without public data.
    bytes : float
        What a client sends in the whole run.
    expected : Expected or None
        What the run is expected to reach. None without public examples.
    why : str
        Why the trust does not serve, or "".
    """

    trust: str
    mechanism: str
    epsilon: float
    delta: float
    against: str
    epsilon_against_everybody: float | None
    error: float
    error_of_run: float
    off: float | None
    bytes: float
    expected: Expected | None
    why: str


@dataclass(frozen=True)
class Plan:
    """A training run in public numbers.

    Attributes
    ----------
    mechanism : str
        Mechanism of the rounds.
    trust : str
        Whom the clients trust: "nobody", "own-site", "shuffler" or "two-servers".
    budget : float
        ε of everything that a client sends in the run, after which the run ends; 0 is none. With
        the trust "nobody" it is local, and otherwise central at the δ of the promise.
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
    records : int
        Records of all clients together, whose sums they send. 0: they send no such sums.
    rounds, affordable : int
        Rounds of the run, and how many of them the budget allows.
    noise : float or None
        Standard error of a coordinate of one round's mean, in units of the gradient.
    slope : float or None
        Share of the public gradients' mean that the clip leaves, along that mean: 1 where nothing
        is cut. None without public gradients.
    signal_to_noise : float or None
        L2 norm of the mean of clipped public gradients over the L2 norm of the error of all rounds'
        mean. None without public gradients.
    expected_accuracy : float or None
        Accuracy at which a run from a public model is expected to end, in [zero_shot, 1]. None
        without zero_shot.
    expected : Expected or None
        What the run is expected to reach on public examples. None without them.
    warm_factor : float or None
        The run starts from the public model times this factor, in (0, 1]. None without zero_shot.
    learning_rate, momentum, averaging : float
        What the server does with the means. averaging is the decay of the average of the
        models, which begins with 0: after t rounds it is divided by 1 - averaging**t. The
        learning rate is for the mean of clipped gradients, which can be much shorter.
    promise : Promise
        What the affordable rounds promise a client.
    l1, l2 : float
        The norms of a client's gradient that the plan rests on: the public gradients' mean norms,
        or as they were given.
    explanation : str
        What was compared, what was chosen and why. It begins with the norms.
    """

    mechanism: str
    trust: str
    budget: float
    epsilon: float
    delta: float
    scale: float
    params: Mapping[str, Any]
    dim: int
    clients: int
    records: int
    cohort: int
    rounds: int
    affordable: int
    noise: float | None
    slope: float | None
    signal_to_noise: float | None
    expected_accuracy: float | None
    expected: Expected | None
    warm_factor: float | None
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
    clients: int,
    records: int = 0,
    dim: int = 0,
    public: Public | None = None,
    l1: float | None = None,
    l2: float | None = None,
    trust: str = "",
    proof: str = "",
    per_client: int = 1,
    rounds: int = 0,
    epsilon: float = 0.0,
    max_epsilon: float = 0.0,
    budget: float = 0.0,
    own_budget: float = 0.0,
    honest_budget: float = 0.0,
    honest: float = 0.0,
    delta: float = 1e-6,
    mechanism: str = "auto",
    cohort: int = 0,
    sparsity: int = 0,
    clip: float = 0.0,
    learning_rate: float = 0.0,
    zero_shot: float = 0.0,
    centred: bool = False,
    network: bool = False,
    force: bool = False,
) -> Plan:
    """Plan a training run from public numbers. What is 0 is planned.

    The first question is whom the clients trust: it says what the budget means, and what runs.

    It takes up to some seconds, in a process of its own.

    Parameters
    ----------
    clients : int
        Number of clients, which take part in turn.
    records : int
        Records of all clients together, where clients are sites that hold many people's records,
        as hospitals do. The budget then protects one record. With the trust "own-site" or
        "two-servers" a site sends one sum of its records in every round. 0: the budget protects
        all data of a client.
    dim : int
        Coordinates of a gradient. 0 with public gradients: as they have. 0 with public examples:
        the parameters of softmax regression on them, (features + 1) times the number of classes.
    public : pair (X, y), mapping, or numpy.ndarray of float16, float32 or float64, shape (n, dim)
        Public data of the task. No ε covers them: never give a client's. Either examples for
        softmax regression, X of shape (n, features) and y of n labels 0, 1, …, with n at least 100:
        the run is rehearsed on them, and the plan expects an accuracy. Or gradients of public
        examples at a model of zeros, or at another first model, one a row, with n at least 2.
        A row is what a client would send, and with records what a single record has. Some
        hundreds are enough. Scale, sparsity and learning rate follow from them. They may be a
        mapping of names to arrays of shape (n, ...), as :func:`hushgrad.models.gradients` returns.
    l1, l2 : float
        Guess of the norms of a client's gradient at the first model, from public data, where there
        are no public gradients. This is a fallback: how much the clip cuts is then not known.
    trust : str
        Whom the clients trust, "nobody" by default, and "own-site" with records. "nobody": the
        budget is the sum of the local ε of all reports of a client, and holds against everybody.
        "own-site": sites with records add Gaussian noise to their own sums, and the budget holds
        against everybody outside of the site. "shuffler": the budget is a central
        ε, and holds against anyone who sees only the shuffled reports. "two-servers": the budget
        is a central ε, and holds against either of two servers as long as the other one is honest.
        With sumdp the default is "shuffler", with gaussian-shares "two-servers", and with
        gaussian-site "own-site": nothing else serves.
    proof : str
        "prio3" with the trust "two-servers": each client proves to both servers that its gradient
        is short, so that one that lies shifts a mean by a bounded length. Not with records.
    per_client : int
        Examples that a client holds, for the rehearsals on public examples.
    rounds : int
        Number of rounds, at most. 0 stands for 30, for at most 16 with the trust "nobody", or 60
        where softmax regression from zeros is planned on public examples, and for 10 with
        sumdp and with gaussian-shares without records.
    epsilon : float
        ε of one report. 0 stands for the largest that the budget allows, and for 1 with sumdp or
        gaussian-shares and no budget.
    max_epsilon : float
        Largest ε of one report that may be planned. 0: only the budget limits it.
    budget : float
        ε of everything that a client sends in the run, after which the run ends. The trust says
        whether it is local, or central at delta. 0: none, or without epsilon 4 with the trust
        "nobody" and 1 otherwise.
    own_budget : float
        With the trust "two-servers", ε at delta of everything that a client sends in the run,
        against both servers together. Each client adds Gaussian noise for it, beside the servers'.
        It is at least the budget. 0: the two servers together read every gradient.
    honest_budget : float
        With the trust "two-servers", ε at delta of everything that a client sends in the run,
        against either server if a share of each round's clients is honest. Each client adds a part
        of the noise, so that there is less noise in all. The budget is larger, twice as large by
        default, and holds whatever clients do. 0: clients add no noise.
    honest : float
        Share of honest clients that honest_budget counts on. 0 stands for 0.9.
    delta : float
        The δ at which central ε are stated, in (0, 1).
    mechanism : str
        "auto", a local mechanism that can be planned, "sumdp", "gaussian-shares", "gaussian-site",
        or "none".
    cohort : int
        Clients of a round.
    sparsity : int
        Signed coordinates of a report.
    clip : float
        Norm to which gradients are clipped: L1, or L2 for privunit, sumdp and gaussian-shares.
    learning_rate : float
        The server's step size.
    zero_shot : float
        Accuracy of a public model that the run starts from, in (0, 1]. 0: it starts from a model of
        zeros, or from another that knows nothing. Not with public examples.
    centred : bool
        Whether the inputs of the model have one norm, or nearly, around a public centre. The
        learning rate is then planned for them.
    network : bool
        Whether the model has hidden units, and public its gradients at the random first model. Its
        loss is not convex: the learning rate is at most 2. Where a client holds k examples, a row
        is the mean gradient of k public ones.
    force : bool
        Whether to plan a run that has more noise than signal, too.

    Raises
    ------
    InvalidParameter
        If a number is out of range, or the budget does not allow one round.
    Infeasible
        If no plan meets the demand.
    NoiseAboveSignal
        If the run has more noise than signal on the public gradients, or may well end below
        zero_shot. The message says how many clients, which ε, how many coordinates or which trust
        would not be refused.
    """
    arguments = {
        "mechanism": _arguments.text("mechanism", mechanism),
        "trust": _arguments.text("trust", trust),
        "dim": _arguments.whole("dim", dim),
        "clients": _arguments.whole("clients", clients),
        "records": _arguments.whole("records", records),
        "proof": _arguments.text("proof", proof),
        "cohort": _arguments.whole("cohort", cohort),
        "rounds": _arguments.whole("rounds", rounds),
        "epsilon": _arguments.number("epsilon", epsilon),
        "max_epsilon": _arguments.number("max_epsilon", max_epsilon),
        "budget": _arguments.number("budget", budget),
        "own_budget": _arguments.number("own_budget", own_budget),
        "honest_budget": _arguments.number("honest_budget", honest_budget),
        "honest": _arguments.number("honest", honest),
        "delta": _arguments.number("delta", delta),
        "sparsity": _arguments.whole("sparsity", sparsity),
        "clip": _arguments.number("clip", clip),
        "learning_rate": _arguments.number("learning_rate", learning_rate),
        "zero_shot": _arguments.number("zero_shot", zero_shot),
        "per_client": _arguments.whole("per_client", per_client),
        "centred": centred,
        "network": network,
        "force": force,
    }
    known, payload, source = _known(public, _arguments.whole("dim", dim), l1, l2)
    arguments |= known
    answer, _ = _bridge.alone(lambda helper: helper.call("plan", arguments, payload))
    described = answer["round"]
    norms = float(answer["l1"]), float(answer["l2"])

    return Plan(
        mechanism=described["mechanism"],
        trust=answer["trust"],
        budget=float(answer["budget"]),
        epsilon=float(described["epsilon"]),
        delta=float(described["delta"]),
        scale=float(described["scale"]),
        params=described["params"],
        dim=described["dim"],
        clients=answer["clients"],
        records=answer["records"],
        cohort=answer["cohort"],
        rounds=answer["rounds"],
        affordable=answer["affordable"],
        noise=_optional(answer, "noise"),
        slope=_optional(answer, "slope"),
        signal_to_noise=_optional(answer, "signal_to_noise"),
        expected_accuracy=_optional(answer, "expected_accuracy"),
        expected=_expected(answer["expected"]),
        warm_factor=_optional(answer, "warm_factor"),
        learning_rate=float(answer["learning_rate"]),
        momentum=float(answer["momentum"]),
        averaging=float(answer["averaging"]),
        l1=norms[0],
        l2=norms[1],
        promise=Promise.from_answer(answer["promise"]),
        explanation=f"norms of a gradient, {source}: L1 {norms[0]:g}, L2 {norms[1]:g}\n\n"
        + answer["explanation"],
        _template=described,
    )


def compare(
    *,
    clients: int,
    records: int = 0,
    dim: int = 0,
    public: Public | None = None,
    l1: float | None = None,
    l2: float | None = None,
    per_client: int = 1,
    rounds: int = 0,
    budget: float = 1.0,
    delta: float = 1e-6,
    centred: bool = False,
) -> list[Trusted]:
    """Compare whom clients may trust, with one budget for each.

    It takes up to some ten seconds, in a process of its own. The parameters are :func:`plan`'s.

    Returns
    -------
    list of Trusted
        A row for each trust, the one that asks least of others first.

    Raises
    ------
    InvalidParameter
        If a number is out of range.
    """
    arguments = {
        "dim": _arguments.whole("dim", dim),
        "clients": _arguments.whole("clients", clients),
        "records": _arguments.whole("records", records),
        "rounds": _arguments.whole("rounds", rounds),
        "budget": _arguments.number("budget", budget),
        "delta": _arguments.number("delta", delta),
        "per_client": _arguments.whole("per_client", per_client),
        "centred": centred,
    }
    known, payload, _ = _known(public, _arguments.whole("dim", dim), l1, l2)
    answer, _ = _bridge.alone(lambda helper: helper.call("compare", arguments | known, payload))
    return [
        Trusted(
            trust=row["trust"],
            mechanism=row["mechanism"],
            epsilon=float(row["epsilon"]),
            delta=float(row["delta"]),
            against=row["against"],
            epsilon_against_everybody=_optional(row, "epsilon_against_everybody"),
            error=float(row["error_of_round"]),
            error_of_run=float(row["error_of_run"]),
            off=_optional(row, "off"),
            bytes=float(row["bytes"]),
            expected=_expected(row["expected_accuracy"]),
            why=row.get("why", ""),
        )
        for row in answer["rows"]
    ]


def _known(
    public: object, dim: int, l1: float | None, l2: float | None
) -> tuple[dict[str, Any], _bridge.Payload, str]:
    """Return what is public about the task: arguments, a payload, and where norms come from."""
    if public is None:
        return {"l1": _norm("l1", l1), "l2": _norm("l2", l2)}, b"", "as given"
    if (l1, l2) != (None, None):
        raise invalid("public", "public data and norms", "must be given without l1 and l2")
    if isinstance(public, tuple):
        pair = cast("tuple[Any, ...]", public)
        if len(pair) != 2:
            raise invalid("public", f"{len(pair)} arrays", "must be examples and their labels")
        x, labels = np.asarray(pair[0]), _labels(pair[1])
        if x.ndim != 2:
            raise invalid("public", x.shape, "must be examples of shape (n, features)")
        matrix = _sample(pair[0], x.shape[1])
        if len(labels) != len(matrix):
            rule = f"must be one for each of the {len(matrix)} examples"
            raise invalid("labels", len(labels), rule)
        known = {"labels": labels, "features": x.shape[1]}
        what = "examples'"
    else:
        if isinstance(public, Mapping):
            public = _flat(cast("Mapping[str, NDArray[Any]]", public))
        shape = np.asarray(cast("Floats", public)).shape
        if len(shape) > 2 or (len(shape) < 2 and not dim):
            rule = "must have a row for each example: give {'w': gradients} in place of gradients"
            raise invalid("public", shape, f"{rule}, or gradients.reshape(len(gradients), -1)")
        wide = dim or (shape[1] if len(shape) == 2 else 0)
        matrix = _sample(cast("Floats", public), wide)
        known = {"dim": wide}
        what = ""
    known |= {"public": len(matrix), "type": f"f{matrix.itemsize}"}
    source = f"the mean of {len(matrix)} public {what} gradients".replace("  ", " ")
    return known, matrix.data, source


def _flat(gradients: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Return named gradients, which have one axis more than the arrays of a model, as rows."""
    arrays = {name: np.asarray(array) for name, array in gradients.items()}
    counts = {len(array) if array.ndim else 0 for array in arrays.values()}
    if len(counts) != 1 or 0 in counts:
        got = ", ".join(f"{name} of shape {array.shape}" for name, array in arrays.items())
        rule = "must be arrays of shape (gradients, ...) by name: hushgrad.models.gradients"
        raise invalid("public", got or "no arrays", rule)
    (count,) = counts
    return np.concatenate([np.reshape(array, (count, -1)) for array in arrays.values()], axis=1)


def _labels(labels: object) -> list[int]:
    """Return labels as whole numbers."""
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iu" or len(array) == 0 or array.min() < 0:
        kind = f"shape {array.shape} of {array.dtype}"
        raise invalid("labels", kind, "must be whole numbers 0, 1, …, of shape (n,)")
    return [int(label) for label in array]


def _expected(answer: dict[str, Any] | None) -> Expected | None:
    """Return what the helper expects."""
    if answer is None:
        return None
    return Expected(
        accuracy=float(answer["accuracy"]),
        error=float(answer["error"]),
        before=float(answer["before"]),
        without_privacy=float(answer["without_privacy"]),
        on=answer["on"],
    )


def _optional(answer: dict[str, Any], name: str) -> float | None:
    """Return a number of an answer, which may have none."""
    return None if answer[name] is None else float(answer[name])


def _sample(public: Floats, dim: int) -> Matrix:
    """Return public gradients as one request takes them."""
    matrix = checked(public, dim, "public")
    if matrix.nbytes > _arguments.MAX_PAYLOAD:
        rule = f"must have at most {_arguments.MAX_PAYLOAD}: a few hundred gradients are enough"
        raise invalid("public", f"{matrix.nbytes} bytes", rule)
    return matrix


def _norm(name: str, value: object) -> float | str:
    """Return a norm of a gradient. A sum with a clip would take 0 and plan an infinite rate."""
    rule = "must be positive: the norm of a gradient at the first model, on public data"
    if value is None:
        raise invalid(name, value, f"{rule}. Better, give public gradients: public")
    number = _arguments.number(name, value)
    if isinstance(number, str) or number <= 0:
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
