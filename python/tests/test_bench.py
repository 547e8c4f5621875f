"""The benchmark: its numbers, its pictures, and one run of all contenders."""

from __future__ import annotations

import gzip
import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mnist import write
from numpy.typing import NDArray

from hushgrad.bench import digits, division, gaussian, learners, settings, softmax


@pytest.mark.parametrize(("epsilon", "mu"), [(0.5, 0.1), (1.0, 1.0), (4.0, 2.0), (18.0, 3.3)])
def test_gaussian_noise_promises_what_its_normal_variables_do(epsilon: float, mu: float) -> None:
    # Two normal variables of deviation 1 that are mu apart. δ is the largest difference of the
    # chance of an event and e^ε times its chance beside the other: an integral over densities.
    x = np.linspace(-12, 16, 2_000_001)
    near, far = (np.exp(-((x - m) ** 2) / 2) / math.sqrt(2 * math.pi) for m in (mu, 0.0))
    delta = float(np.sum(np.maximum(near - math.exp(epsilon) * far, 0)) * (x[1] - x[0]))
    assert gaussian.epsilon(mu, 1.0, delta) == pytest.approx(epsilon, abs=1e-3)
    assert gaussian.epsilon(mu / 2, 1.0, delta, releases=4) == pytest.approx(epsilon, abs=1e-3)
    deviation = gaussian.deviation(1.0, epsilon, 1e-5, 20)
    assert gaussian.epsilon(1.0, deviation, 1e-5, 20) <= epsilon
    assert gaussian.epsilon(1.0, deviation * 0.999, 1e-5, 20) > epsilon


def test_generated_digits_are_learnt() -> None:
    pictures, labels = digits.load("", "train")
    assert (pictures.shape, pictures.dtype) == ((6000, 28, 28), np.uint8)
    assert set(labels.tolist()) == set(range(10))
    features = digits.edges(pictures)
    assert features.shape == (6000, digits.FEATURES)
    assert np.allclose(np.linalg.norm(features[:, :-1], axis=1), 1, atol=1e-5)
    model = softmax.train(softmax.initial(), features, labels, 30, 20.0)
    assert softmax.accuracy(model, *digits.test("")) > 0.95
    again, _ = digits.generated(3, "train")
    other, _ = digits.generated(3, "t10k")
    assert (again == digits.generated(3, "train")[0]).all()
    assert (again != other).any()


def test_every_picture_has_one_client() -> None:
    shares = [digits.share("", client, 7) for client in range(7)]
    assert sum(len(labels) for _, labels in shares) == 6000
    features, labels = shares[3]
    assert (features[1] == digits.edges(digits.load("", "train")[0][10:11])[0]).all()
    assert labels[1] == digits.load("", "train")[1][10]


def test_files_of_mnist_are_read_and_others_are_not(tmp_path: Path) -> None:
    write(tmp_path, "train", 30)
    images, labels = (tmp_path / f"train-{n}-ubyte" for n in ("images-idx3", "labels-idx1"))
    pictures, found = digits.load(str(tmp_path), "train")
    assert (pictures.shape, found.tolist()) == ((30, 28, 28), [i % 10 for i in range(30)])
    plain = images.read_bytes()
    images.unlink()
    Path(f"{images}.gz").write_bytes(gzip.compress(plain))
    digits.load.cache_clear()
    assert (digits.load(str(tmp_path), "train")[0] == pictures).all()
    with pytest.raises(FileNotFoundError, match="t10k"):
        digits.load(str(tmp_path), "t10k")
    huge = plain[:4] + (1 << 31).to_bytes(4, "big") + plain[8:]
    for bad in (b"", plain[:-1], plain + b"1", b"1" + plain[1:], huge):
        Path(f"{images}.gz").write_bytes(gzip.compress(bad))
        digits.load.cache_clear()
        with pytest.raises(ValueError, match="MNIST"):
            digits.load(str(tmp_path), "train")
    Path(f"{images}.gz").write_bytes(gzip.compress(plain))
    labels.write_bytes(labels.read_bytes()[:-1] + b"\x0a")  # the label 10
    with pytest.raises(ValueError, match="belong"):
        digits.load(str(tmp_path), "train")


def test_settings_lie_between_those_that_were_searched() -> None:
    two, three, four = (settings.settings(epsilon) for epsilon in (2.0, 3.0, 4.0))
    assert two.sparsity > three.sparsity > four.sparsity
    assert two.server_lr < three.server_lr < four.server_lr
    assert settings.settings(0.1) == settings.settings(1.0)
    assert settings.settings(20.0) == settings.settings(8.0)
    assert settings.noisy(0.1).clip > settings.noisy(0.01).clip == 1.0


def test_the_average_of_models_has_weights_that_add_up() -> None:
    average, first = softmax.Average(0.5), softmax.initial()
    assert (average.add(first + 4) == 4).all()
    assert np.allclose(average.add(first + 8), (0.5 * 4 + 8) / 1.5)


def bench(
    *arguments: str, experiment: str = "flower", **changes: Any
) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    command = [sys.executable, "-m", "hushgrad.bench", experiment, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **changes)


@pytest.mark.parametrize(
    "arguments", [("--clients", "1"), ("--rounds", "0"), ("--epsilon", "nan"), ("--only", "x")]
)
def test_settings_of_the_command_are_checked(arguments: tuple[str, ...]) -> None:
    done = bench(*arguments)
    assert done.returncode == 2
    assert arguments[0] in done.stderr


def test_a_folder_without_pictures_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("flwr")
    done = bench("--data", str(tmp_path / "none"))
    assert done.returncode == 1
    assert done.stderr.startswith(f"--data: {tmp_path / 'none'}")


def test_a_simulation_that_does_not_start_ends_the_command(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    (tmp_path / "ray.py").write_text("raise ImportError('this is no ray')\n")
    done = bench("--quick", env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1
    assert "hushgrad: the simulation failed" in done.stderr
    assert done.stderr.endswith("ImportError: this is no ray\n\n")
    assert done.stdout.startswith("| training | ε of the run | ε asked |")


LATE = """
import ray
from hushgrad.bench import simulation
init, failures = ray.init, iter([Exception("The current node timed out during startup.")])
def late(**settings):
    for failure in failures:
        init(**settings)  # some of it runs
        raise failure
    init(**settings)
ray.init = late
simulation.start_engine()
assert ray.is_initialized()
"""


@pytest.mark.usefixtures("ray")
def test_an_engine_that_does_not_start_in_time_is_started_again() -> None:
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    assert "started again: The current node timed out" in done.stderr


@pytest.mark.usefixtures("ray")
def test_an_interrupt_keeps_what_was_measured(tmp_path: Path) -> None:
    arguments = ("--quick", "--clients", "10", "--rounds", "1", "--out", str(tmp_path))
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)  # the command shall not ignore it
    try:
        command = subprocess.Popen(
            [sys.executable, "-m", "hushgrad.bench", "flower", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    with command:
        assert command.stdout is not None
        assert command.stderr is not None
        try:
            for line in command.stderr:
                if line.startswith("hushgrad"):
                    break
            while not (tmp_path / "flower.md").exists():
                assert command.poll() is None
                time.sleep(0.1)
            command.send_signal(signal.SIGINT)
            printed, _ = command.communicate(timeout=60)
        finally:
            command.kill()
    assert command.returncode == 130
    assert "| hushgrad | 8 against everybody | 8 | 8 |" in printed
    assert "no privacy" not in printed


@pytest.mark.usefixtures("ray")
def test_the_command_compares_all_contenders_on_the_same_clients(tmp_path: Path) -> None:
    places = ("--data=", "--out", str(tmp_path))
    done = bench("--quick", "--clients", "10", "--rounds", "2", *places)
    assert done.returncode == 0, done.stderr
    made = json.loads((tmp_path / "flower.json").read_text())
    assert (tmp_path / "flower.md").read_text() == done.stdout
    command = "python -m hushgrad.bench flower --quick --clients 10 --rounds 2 --data DIR"
    assert made["command"] == command
    assert made["notes"][0] == "generated digits, 10 clients, all in each of 2 rounds"
    names = [row["name"].split()[0] for row in made["rows"]]
    assert names == ["hushgrad", "hushgrad,", "LocalDpMod,", "LocalDpMod,", "central", "no"]
    ours, two, honest, clip, central, plain = made["rows"]
    assert ours["bytes"] <= 100 < honest["bytes"]
    assert ours["epsilon_run"] == 16.0
    assert ours["delta"] == 0.0
    # The noise of the honest sensitivity keeps its promise. The other one does not.
    assert honest["epsilon_report"] <= 8 < clip["epsilon_report"]
    for row in (two, central):
        assert row["epsilon_report"] is None
        assert row["epsilon_run"] == 8.0
    # Chance gives 0.1.
    assert plain["accuracy"] > 0.7
    assert all(len(row["accuracies"]) == 1 and row["seconds"] > 0 for row in made["rows"])


def test_divisions_share_no_picture() -> None:
    pytest.importorskip("sklearn")
    one, again, other = (division.divided(seed) for seed in (1, 1, 2))
    assert (one.public[0] == again.public[0]).all()
    assert (one.public[0] != other.public[0]).any()
    parts = [one.public, *one.shares, one.test]
    assert len(one.shares) == division.CLIENTS
    assert {len(labels) for _, labels in one.shares} == {5, 6}
    assert sum(len(labels) for _, labels in parts) == 1797
    assert len(np.unique(np.vstack([x for x, _ in parts]), axis=0)) == 1797
    assert np.allclose(np.mean(one.test[0] ** 2, axis=1), 1)


@pytest.mark.parametrize("learner", [learners.Softmax(), learners.Network()])
def test_gradients_are_those_of_the_loss(learner: learners.Learner) -> None:
    rng = np.random.default_rng(3)
    examples = rng.standard_normal((7, 64)), rng.integers(0, 10, 7)

    def loss(model: learners.Model) -> float:
        scores = learner.scores(model, examples[0])
        whole = np.log(np.exp(scores).sum(axis=1)).tolist()
        right = scores[np.arange(7), examples[1]].tolist()
        return (math.fsum(whole) - math.fsum(right)) / 7

    model: dict[str, NDArray[np.float64]] = {
        n: np.asarray(a + 0.1 * rng.standard_normal(a.shape)) for n, a in learner.first(1).items()
    }
    assert sum(array.size for array in model.values()) == (2410 if learner.network else 650)
    gradient = learner.gradient(model, examples)
    assert list(gradient) == list(model)
    for name, array in model.items():
        way = rng.standard_normal(array.shape)
        up, down = (loss({**model, name: array + step * way}) for step in (1e-5, -1e-5))
        slope = float(np.vdot(gradient[name], way))
        assert slope == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-9)


def test_the_digits_of_scikit_learn_are_learned_by_plans(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("grpc")
    pytest.importorskip("flwr")
    ways = ("local", "two-servers", "central", "local-dp", "network", "none")
    arguments = ("--divisions", "1", "--out", str(tmp_path), "--only", *ways)
    done = bench(*arguments, experiment="digits")
    assert done.returncode == 0, done.stderr
    made = json.loads((tmp_path / "digits.json").read_text())
    assert (tmp_path / "digits.md").read_text() == done.stdout
    command = "python -m hushgrad.bench digits --divisions 1 --only"
    assert made["command"] == " ".join([command, *ways])
    rows = {(row["name"], row["epsilon"]): row for row in made["rows"]}
    assert len(rows) == 13
    small = rows["hushgrad, 650 weights", 4.0]
    assert (small["epsilon_run"], small["bytes"], small["delta"]) == (48.0, 5.0, 0.0)
    for name in ("hushgrad, two servers, 650 weights", "central DP of Flower, 650 weights"):
        assert rows[name, 4.0]["epsilon_report"] is None
        assert rows[name, 4.0]["epsilon_run"] == 4.0
    # Accuracies of a division have a standard deviation of 0.02. Chance gives 0.1.
    # LocalDpMod with the sensitivity that its clipping needs had 0.58 at ε = 4.
    for (name, epsilon), row in rows.items():
        assert row["accuracy"] > (0.3 if "2 × clip" in name else 0.7)
        if "LocalDpMod" in name:
            assert (row["epsilon_report"] > epsilon) == ("1 × clip" in name)
            assert row["bytes"] > 2600
    assert bench("--divisions", "0", experiment="digits").returncode == 2


def test_the_code_of_flower_trains_without_its_engine() -> None:
    pytest.importorskip("flwr")
    from flwr.clientapp.mod import LocalDpMod
    from flwr.serverapp.strategy import FedAvg

    from hushgrad.bench import builtin

    first, target = np.zeros((5, 2)), np.reshape(np.arange(10.0), (5, 2)) / 10
    common: dict[str, Any] = {"clients": 4, "rounds": 2}

    def update(client: int, model: NDArray[Any]) -> NDArray[Any]:
        return np.asarray((client + 1) / 2.5 * (target - model))  # the mean over clients is 1

    def step(model: NDArray[Any], mean: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(model + mean / 2)

    everybody = FedAvg(fraction_evaluate=0.0, min_train_nodes=4, min_available_nodes=4)
    model, plain = builtin.train([], everybody, first, update, step, **common)
    np.testing.assert_allclose(model, 0.75 * target, rtol=1e-5)
    noisy, _ = builtin.train([LocalDpMod(9, 9, 1, 1e-6)], everybody, first, update, step, **common)
    assert np.abs(noisy - 0.75 * target).max() > 1  # the noise of a report has deviation 48
    hidden, sent = builtin.secagg(first, update, step, shares=3, **common)
    np.testing.assert_allclose(hidden, 0.75 * target, atol=0.01)  # it rounds
    assert sent > plain > 40
