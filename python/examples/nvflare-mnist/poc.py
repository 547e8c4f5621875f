"""A federation of real processes on this machine, by NVFlare's POC mode."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from hushgrad import Ledger

_ADMIN = "admin@nvidia.com"
_FILTER = [{"path": "hushgrad.nvflare.HushgradPrivatize"}]


@contextmanager
def federation(workspace: Path, sites: int, port: int, budget: float) -> Iterator[Path]:
    """Run a server and some sites, and yield the folder of the administrator's startup kit.

    Parameters
    ----------
    workspace : Path
        Folder of the federation, which is made anew.
    sites : int
        Number of sites: site-1, site-2 and so on.
    port : int
        Port of the server.
    budget : float
        ε that every site allows for all reports of a record.
    """
    workspace.mkdir(parents=True, exist_ok=True)
    os.environ["NVFLARE_POC_WORKSPACE"] = str(workspace)  # where NVFlare's commands look
    _poc("prepare", "-n", str(sites), "--force")
    project = (workspace / "project.yml").read_text()
    with TemporaryDirectory() as folder:
        changed = Path(folder) / "project.yml"
        changed.write_text(re.sub(r"(fed_learn_port:) \d+", rf"\1 {port}", project))
        _poc("prepare", "-i", str(changed), "--force")
    kits = next(workspace.glob("*/prod_*"))
    for kit in kits.glob("site-*"):
        _protect(kit / "local", budget)
    try:
        _poc("start", "--timeout", "120")
        yield kits / _ADMIN
    finally:
        _stop()


def _protect(folder: Path, budget: float) -> None:
    """Give a site a ledger, and a policy that holds for every job."""
    with Ledger(folder / "hushgrad.ledger", "nvflare-records") as ledger:
        ledger.set_budget(budget)
    scope = {
        "name": "hushgrad",
        "properties": {
            "hushgrad-max-epsilon": 8.0,
            "hushgrad-unit": "example",
            "hushgrad-ledger": str(folder / "hushgrad.ledger"),
        },
        "task_data_filters": _FILTER,
        "task_result_filters": _FILTER,
    }
    text = json.dumps({"scopes": [scope], "default_scope": "hushgrad"}, indent=2)
    (folder / "privacy.json").write_text(text)


def _stop() -> None:
    """End all processes. NVFlare waits for 30 s each time, which a busy machine exceeds."""
    for last in (False, False, False, True):
        try:
            _poc("stop")
        except subprocess.CalledProcessError:
            if last:
                raise
        else:
            return


def _poc(command: str, *arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "nvflare.cli", "poc", command, *arguments], check=True, timeout=180
    )
