"""The job with two servers on the page of the docs, in NVFlare's simulator with two sites.

A test starts it with a folder, the page, the addresses of the operator's listener of a server and
of a shuffler, the fingerprint of the server's key and the shuffler's key in base64.
"""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

import hashlib
import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
from nvflare.recipe import SimEnv
from nvflare_spy import Spy
from pages import blocks

NAME = "shuffler.test"
SITE = """
import numpy as np

def gradients_of_each(model, batch):
    (name,) = model
    each = np.linspace(0, -5, model[name].size)
    return {name: np.tile(each, (batch, 1)).reshape(-1, 2, 3)}

"""
BATCHES = """
batches = [50, 50] * int(flare.get_site_name().removeprefix("site-"))
while"""


def main(
    workspace: Path, page: Path, operator: str, shuffler: str, seal: str, share_key: str
) -> None:
    """Run the job."""
    job, script = (
        next(block for block in blocks(page, "python") if word in block)
        for word in ("gaussian-shares", "add_updates")
    )
    (workspace / "client.py").write_text(SITE + script.replace("\nwhile", BATCHES))
    changes = {
        "shuffler.example": NAME,
        "127.0.0.1:7118": operator,
        "127.0.0.1:7124": shuffler,
        " HushgradAggregator(": " Spy(",
        '"client.py"': repr(str(workspace / "client.py")),
    }
    for old, new in changes.items():
        assert old in job
        job = job.replace(old, new)
    share = hashlib.sha256(b64decode(share_key)).hexdigest()
    names: dict[str, Any] = {"Spy": Spy, "key": share_key, "seal": seal, "share": share}
    names["model"] = np.zeros((2, 3), np.float32)
    exec(job, names)
    recipe = names["recipe"]
    recipe._job.set_app_packages(["hushgrad", "nvflare_spy"])  # pyright: ignore[reportPrivateUsage]
    recipe.execute(SimEnv(num_clients=2, workspace_root=str(workspace)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
