"""The environment of the processes that tests start."""

from __future__ import annotations

import os


def uncovered() -> dict[str, str]:
    """Return this process's environment, in which no process measures its coverage.

    Measuring it makes the processes of Flower and NVFlare take half as long again. What they run
    of hushgrad is measured where tests call it.
    """
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
