"""A job in NVFlare's simulator whose sites have no filter. A test starts it."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from nvflare.app_common.np.recipes import NumpyFedAvgRecipe
from nvflare.recipe import SimEnv

from hushgrad.nvflare import HushgradAggregator

CLIENT = """
import nvflare.client as flare
flare.init()
while flare.is_running():
    received = flare.receive()
    flare.send(flare.FLModel(params={n: a + 1 for n, a in received.params.items()}))
"""


def main(workspace: Path) -> None:
    """Train for a round."""
    script = workspace / "client.py"
    script.write_text(CLIENT)
    recipe = NumpyFedAvgRecipe(
        name="plain",
        model=np.zeros((2, 2), np.float32),
        min_clients=2,
        num_rounds=1,
        train_script=str(script),
        aggregator=HushgradAggregator(epsilon=4, scale=1, params={"sparsity": 2}, min_reports=1),
    )
    recipe._job.set_app_packages(["hushgrad"])  # pyright: ignore[reportPrivateUsage]
    recipe.execute(SimEnv(num_clients=2, workspace_root=str(workspace)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
