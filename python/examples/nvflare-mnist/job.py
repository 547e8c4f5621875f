"""Train on MNIST privately in NVFlare, in its simulator or in POC mode.

::

    python job.py --data /path/to/mnist
    python job.py --data /path/to/mnist --poc
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import poc
import task
from nvflare.app_common.np.recipes import NumpyFedAvgRecipe
from nvflare.recipe import ProdEnv, SimEnv
from nvflare.recipe.spec import ExecEnv, Recipe

from hushgrad.nvflare import HushgradAggregator, HushgradPrivatize, private_recipe

HERE = Path(__file__).resolve().parent
MODEL = "server.npy"  # where NVFlare keeps a NumPy model


def main() -> None:
    """Run the job and print the accuracy of its model."""
    given = arguments()
    recipe = private_recipe(
        NumpyFedAvgRecipe,
        HushgradAggregator(
            epsilon=given.epsilon,
            scale=given.scale,
            min_reports=given.min_reports,
            params={"sparsity": given.sparsity},
            unit="example",
            server_lr=given.server_lr,
            momentum=given.momentum,
        ),
        # What the job demands. In POC mode each site has a policy of its own.
        HushgradPrivatize(max_epsilon=8, unit="example"),
        name="nvflare-mnist",
        model=task.initial(),
        min_clients=given.sites,
        num_rounds=given.rounds,
        train_script=str(HERE / "client.py"),
        train_args=f"--data {given.data.resolve()} --sites {given.sites}",
    )
    if given.poc:
        budget = given.budget or given.rounds * given.epsilon
        with poc.federation(given.workspace / "poc", given.sites, given.port, budget) as kit:
            result = run(recipe, ProdEnv(startup_kit_location=str(kit), login_timeout=60))
    else:
        environment = SimEnv(num_clients=given.sites, workspace_root=str(given.workspace))
        result = run(recipe, environment)
    model = next(result.rglob(MODEL), None)
    if model is None:
        sys.exit("the job ended without a model: see its logs")
    print(f"accuracy {task.accuracy(np.load(model), str(given.data)):.3f}")


def run(recipe: Recipe, environment: ExecEnv) -> Path:
    """Run the job and return the folder of its results."""
    job = recipe.execute(environment)
    result = job and job.get_result(clean_up=False)
    if result is None:
        sys.exit("the job ended without a result: see its logs")
    return Path(result)


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description="Train on MNIST privately in NVFlare.")
    add = parser.add_argument
    add("--data", type=Path, required=True, help="folder with the four files of MNIST")
    add("--poc", action="store_true", help="real processes instead of the simulator")
    add("--port", type=int, default=8002, help="of the server in POC mode")
    add("--budget", type=float, help="ε of a record in all rounds, in POC mode; all rounds without")
    add("--workspace", type=Path, default=Path("workspace"), help="folder of logs and results")
    add("--sites", type=int, default=4)
    add("--rounds", type=int, default=20)
    add("--epsilon", type=float, default=4.0, help="of one report")
    add("--min-reports", type=int, default=30_000, help="records below which a round is given up")
    add("--scale", type=float, default=0.28)
    add("--sparsity", type=int, default=256)
    add("--server-lr", type=float, default=4.0)
    add("--momentum", type=float, default=0.8)
    return parser.parse_args()


if __name__ == "__main__":
    main()
