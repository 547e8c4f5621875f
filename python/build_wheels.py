"""Build the wheels of all platforms on this machine, and the source distribution.

Use it to make what is uploaded to a package index: the package hushgrad, and the operator's
hushgrad-command, of which there are wheels alone. It needs Go and hatchling, and no other
compiler::

    pip install hatchling
    python python/build_wheels.py            # all of them, into python/dist
    python python/build_wheels.py linux/amd64 -o /tmp/wheels
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from hatch_build import PLATFORMS

SDIST = "sdist"


def main() -> None:
    """Build what the command line names."""
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "target", nargs="*", help=f"some of {', '.join(PLATFORMS)} and {SDIST}; none stands for all"
    )
    parser.add_argument("-o", "--out", type=Path, default=here / "dist", help="folder of the files")
    given = parser.parse_args()
    for target in given.target or [*PLATFORMS, SDIST]:
        if target != SDIST and target not in PLATFORMS:
            parser.error(f"target: got {target!r}, rule: one of {', '.join(PLATFORMS)} and {SDIST}")
        for project in [here] if target == SDIST else [here, here / "command"]:
            subprocess.run(
                [
                    *(sys.executable, "-m", "hatchling", "build"),
                    *("-t", SDIST if target == SDIST else "wheel", "-d", str(given.out.resolve())),
                ],
                cwd=project,
                env=os.environ | ({} if target == SDIST else {"HUSHGRAD_TARGET": target}),
                check=True,
            )


if __name__ == "__main__":
    main()
