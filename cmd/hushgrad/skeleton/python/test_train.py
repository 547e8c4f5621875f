"""A run learns, and its gradient is the gradient of its loss."""

import numpy as np
import pytest

import model
import train

# This belongs to the generated data: CHANGE IT with model.py. Of its 5000 examples a model that
# guesses gets half right, and 0.7 is 28 standard deviations above. Your own data may be harder.
LEAST_ACCURACY = 0.7


@pytest.mark.parametrize(
    ("trust", "clients", "budget"), [("nobody", 20_000, 0.0), ("shuffler", 1000, 4.0)]
)
def test_a_run_learns(trust: str, clients: int, budget: float) -> None:
    """Whomever its clients trust, it reaches what its data allow."""
    accuracy, run = train.train(clients, trust, budget)
    assert accuracy > LEAST_ACCURACY
    cost = run.promise
    spent = cost.epsilon_local_total if trust == "nobody" else cost.epsilon_central
    assert spent is not None
    assert spent <= run.budget


def test_a_noisy_run_is_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal is one line that names the flag that trains all the same, and the flag does."""
    few = ["train.py", "--clients", "50", "--budget", "0.1"]
    monkeypatch.setattr("sys.argv", few)
    with pytest.raises(SystemExit, match=r"^train.py: .*--force.*public_examples"):
        train.main()
    monkeypatch.setattr("sys.argv", [*few, "--force"])
    train.main()


def test_a_trust_that_needs_two_servers_is_refused() -> None:
    """The clients of this program send one report to one server."""
    with pytest.raises(ValueError, match="trust"):
        train.train(1000, "two-servers", 1.0)


@pytest.mark.parametrize(
    ("column", "wrong"), [(0, 41.0), (0, np.nan), (model.INPUTS, 2.0), (model.INPUTS, np.nan)]
)
def test_wrong_examples_are_refused(
    monkeypatch: pytest.MonkeyPatch, column: int, wrong: float
) -> None:
    """A row that was read wrongly is named, and trains nothing."""
    x, y = model.public_examples()
    rows = np.column_stack([x, y])
    rows[7, column] = wrong
    monkeypatch.setattr(model, "client_examples", lambda *_: (rows[:, :-1], rows[:, -1]))
    with pytest.raises(ValueError, match="client_examples: got 1 of 1000 rows such as row 7"):
        train.train(1000, "nobody", 1.0)


def test_missing_examples_are_refused() -> None:
    """An input too few, an answer too few, and no rows."""
    x, y = model.public_examples()
    for few in ((x[:, 1:], y), (x, y[1:]), (x[:0], y[:0])):
        with pytest.raises(ValueError, match="test_examples: got the shapes"):
            model.check("test_examples", *few)


def test_a_step_down_the_gradient_helps() -> None:
    """It brings the probability nearer to what is true."""
    x, y = model.client_examples(np.random.default_rng(2), 1)
    params = model.first_model()
    step = params - 0.01 * model.gradients(params, x, y)[0]
    truth = float(y[0])
    assert abs(model.predict(step, x)[0] - truth) < abs(model.predict(params, x)[0] - truth)
