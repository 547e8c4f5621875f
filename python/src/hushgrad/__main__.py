"""The hushgrad command: ``hushgrad`` or ``python -m hushgrad``.

The command is the Go program of the repository, which serves, shuffles, encodes and accounts.
``hushgrad help`` lists what it can do.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NoReturn

from ._programs import program


def main() -> NoReturn:
    """Become the command, or run it where the system cannot replace a process."""
    arguments = [str(program("hushgrad")), *sys.argv[1:]]
    if sys.platform == "win32":
        sys.exit(subprocess.run(arguments).returncode)
    os.execv(arguments[0], arguments)


if __name__ == "__main__":
    main()
