"""Train a model of your own under differential privacy: python train.py.

Each client sends one small randomized report in each round in which it takes part. The clients
are simulated in this process, and nothing shuffles. Change model.py, which has the model and
its data.
"""

import argparse

import numpy as np
from hushgrad import HushgradError, NoiseAboveSignal, Plan, Policy, Round, plan

import model

TRUSTS = ("nobody", "shuffler")


def train(clients: int, trust: str, budget: float, force: bool = False) -> tuple[float, Plan]:
    """Train, and return the accuracy on examples that no client holds, with the plan."""
    rng = np.random.default_rng()
    x, y = model.client_examples(rng, clients)
    test_x, test_y = model.test_examples(rng)
    model.check("client_examples", x, y)
    model.check("test_examples", test_x, test_y)
    model.check("public_examples", *model.public_examples())
    clients = len(y)
    run = decide(clients, trust, budget, force)
    params = model.first_model()
    velocity, average, weight = np.zeros(model.DIM), np.zeros(model.DIM), 0.0
    order = rng.permutation(clients)
    accuracy = 0.0
    for number in range(run.affordable):
        # The server: the description of a round is public.
        server = run.round(f"round-{number + 1}")
        # The clients, who take part in turn. Each one demands what was planned.
        client = Round(server.description, Policy(max_epsilon=run.epsilon))
        who = order[np.arange(number * run.cohort, (number + 1) * run.cohort) % clients]
        reports = client.encode(model.gradients(params, x[who], y[who]))
        # The server again: it sees reports, and no gradient.
        counts = server.aggregator()
        counts.add(reports)
        velocity = run.momentum * velocity + counts.estimate().mean
        params = params - run.learning_rate * velocity
        average = run.averaging * average + (1 - run.averaging) * params
        weight = run.averaging * weight + 1 - run.averaging
        accuracy = model.share(average / weight, test_x, test_y)
        print(f"round {number + 1:2}  {len(who):5} reports  accuracy {accuracy:.3f}")
    return accuracy, run


def decide(clients: int, trust: str, budget: float, force: bool) -> Plan:
    """Choose mechanism, rounds, ε and learning rate from public numbers alone.

    These are the number of clients, whom they trust, the budget, and gradients of public examples.
    A run whose noise is above its signal is refused, unless it is forced.
    """
    if trust not in TRUSTS:
        raise ValueError(
            f"trust: got {trust!r}, rule: must be one of {TRUSTS}: no two servers here"
        )
    public = model.gradients(model.first_model(), *model.public_examples())
    try:
        return plan(
            dim=model.DIM,
            clients=clients,
            public=public,
            trust=trust,
            budget=budget,
            force=force,
        )
    except NoiseAboveSignal as error:
        raise NoiseAboveSignal(
            f"{error}. The plan rests on public_examples() in model.py: their answers may look "
            "random, or be unlike the clients' data. --trust can be "
            f"{' or '.join(TRUSTS)} here"
        ) from None


def main() -> None:
    """Train, and say what it cost a client and against whom that holds."""
    flags = argparse.ArgumentParser(description=__doc__)
    flags.add_argument("--trust", choices=TRUSTS, default=TRUSTS[0], help="whom the clients trust")
    flags.add_argument(
        "--budget",
        type=float,
        default=0.0,
        help="ε of everything that a client sends: the local ε with --trust nobody, the central ε "
        "with --trust shuffler; 0 means 4 with nobody and 1 with shuffler",
    )
    flags.add_argument("--clients", type=int, default=20_000, help="simulated clients")
    flags.add_argument(
        "--force", action="store_true", help="train where the noise is above the signal, too"
    )
    given = flags.parse_args()
    try:
        _, run = train(given.clients, given.trust, given.budget, given.force)
    except HushgradError as error:
        raise SystemExit(f"{flags.prog}: {error}") from None
    cost = run.promise
    reports = "the one report of a client"
    if cost.participations > 1:
        reports = f"all {cost.participations} reports of a client together"
    print(
        f"\nlocal privacy    ε = {cost.epsilon_local_total:.4g} for {reports}: "
        "against everybody, the server included"
    )
    if run.trust == "nobody":
        print("The budget is the local ε: it holds as it is, whoever runs the server.")
    else:
        print(
            f"central privacy  ε = {cost.epsilon_central:.4g}, δ = {cost.delta:g}, only against "
            "a party that sees only shuffled reports. This assumes an honest shuffler."
        )
        print("Nothing here shuffles: the central ε does not hold against this program.")
    print("All clients are simulated: this is what real ones would be promised.")


if __name__ == "__main__":
    main()
