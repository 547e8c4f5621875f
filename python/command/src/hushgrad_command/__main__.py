"""The hushgrad command, as ``python -m hushgrad_command``."""

from __future__ import annotations

from . import main

if __name__ == "__main__":
    main()
