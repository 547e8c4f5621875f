"""The job with evaluation on the page of the docs, in NVFlare's simulator with four sites.

A test starts it with a folder and the page.
"""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from nvflare.recipe import SimEnv
from pages import blocks

SITE = """
import numpy as np

site = int(flare.get_site_name().removeprefix("site-"))
x = y = np.arange(5000)

def predicted(model, x):  # right in 3500 cases of 5000, and in 250 more after each step
    (weights,) = model.values()
    return np.where(x < 3500 + 250 * round(2 * float(weights[0])), x, -1)

def changes_of_each(model, x, y):
    return {name: np.tile([0.5, 0.0], (len(x), 1)) for name in model}

while"""


def main(workspace: Path, page: Path) -> None:
    """Run the job."""
    script, job = (
        next(block for block in blocks(page, "python") if word in block)
        for word in ('metrics={"accuracy"', "evaluation=question")
    )
    client = workspace / "client.py"
    client.write_text(script.replace("\nwhile", SITE))
    names: dict[str, Any] = {"model": np.zeros(2)}
    exec(job.replace('"client.py"', repr(str(client))), names)
    names["recipe"].execute(SimEnv(num_clients=4, workspace_root=str(workspace)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
