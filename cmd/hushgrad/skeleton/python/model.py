"""The model and its data. CHANGE THIS FILE for your own.

A gradient may come from any code. hushgrad needs to know how many numbers it has. For more than
two classes change predict, gradients and share, and the answers that check takes.
"""

import numpy as np
from hushgrad import InvalidParameter

INPUTS = 8
DIM = 2 * INPUTS + 1


def check(whose: str, x: np.ndarray, y: np.ndarray) -> None:
    """Refuse examples that are not what this file says.

    A run that is not a simulation cannot check: no client reveals its row.
    """
    if len(x) == 0 or np.shape(x) != (len(y), INPUTS):
        raise InvalidParameter(
            f"{whose}: got the shapes {np.shape(x)} and {np.shape(y)}, "
            f"rule: must be (rows, {INPUTS}) and (rows,) with at least 1 row"
        )
    for what, wrong in (
        ("an input in [-1, 1]: scale it by a public range", ~(np.abs(x) <= 1).all(axis=1)),
        ("an answer 0 or 1", ~np.isin(y, (0, 1))),
    ):
        if wrong.any():
            first = int(wrong.argmax())
            raise InvalidParameter(
                f"{whose}: got {int(wrong.sum())} of {len(y)} rows such as row {first}, "
                f"{x[first]} with the answer {y[first]}, rule: must have {what}"
            )


def client_examples(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the private examples, one row for each client. READ YOUR DATA HERE.

    Here they are drawn. The inputs are in [-1, 1]. A range like this has to be public: do not
    read it off the data.

    Inputs from a CSV file: hushgrad.columns.Columns("age=17..90,city=#16") has the public ranges
    of its columns, .numbers(csv.DictReader(file)) / 3 the inputs, and .names as many as INPUTS.
    """
    return generate(rng, n)


def test_examples(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return examples of no client. The accuracy is measured on them, and no ε covers it."""
    return generate(rng, 5000)


def public_examples() -> tuple[np.ndarray, np.ndarray]:
    """Return examples that say what gradients are like. NEVER READ A CLIENT'S ROW HERE.

    The clip and the learning rate follow from them, and no ε covers that. These are drawn from
    what everybody knows: each input from its range, and a guess of the answer that is wrong in one
    of seven. Their gradients must have a mean that stands out: answers by a coin have none.
    """
    return generate(np.random.default_rng(1), 1000, wrong=0.15)


def generate(
    rng: np.random.Generator, n: int, wrong: float = 0.05
) -> tuple[np.ndarray, np.ndarray]:
    """Draw n examples: inputs in [-1, 1], and 1 for yes.

    An example is a yes when its inputs are near enough to the middle, and a share of the answers
    is wrong.
    """
    x = rng.uniform(-1, 1, (n, INPUTS))
    near = (x**2).mean(axis=1) < 1 / 3
    return x, (near != (rng.random(n) < wrong)).astype(float)


def first_model() -> np.ndarray:
    """Return the model at which the first clients train."""
    return np.zeros(DIM)


def predict(params: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the probability of yes for each row."""
    return 1 / (1 + np.exp(-features(x) @ params))


def features(x: np.ndarray) -> np.ndarray:
    """Return what the model sees of each row: its inputs, their squares, and 1."""
    return np.hstack([x, x**2, np.ones((len(x), 1))])


def gradients(params: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the gradient of the loss of each example: logistic regression on features."""
    return ((predict(params, x) - y)[:, None] * features(x)).astype(np.float32)


def share(params: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """Return the share of examples that a model gets right."""
    return float(((predict(params, x) > 0.5) == y).mean())
