"""A run learns, and its gradient is that of its loss."""

import numpy as np

import model
import train


def test_a_run_learns() -> None:
    """Of 5000 examples a model that guesses gets half right; 0.7 is 28 deviations above."""
    accuracy, run = train.train(20_000, 1.0)
    assert accuracy > 0.7
    assert run.promise.epsilon_central is not None
    assert run.promise.epsilon_central <= 1


def test_a_step_down_the_gradient_helps() -> None:
    """It brings the probability nearer to what is true."""
    x, y = model.client_examples(np.random.default_rng(2), 1)
    params = model.first_model()
    step = params - 0.01 * model.gradients(params, x, y)[0]
    truth = float(y[0])
    assert abs(model.predict(step, x)[0] - truth) < abs(model.predict(params, x)[0] - truth)
