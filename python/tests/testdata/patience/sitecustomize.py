"""Let Flower's processes be slow. Python imports this module when a test starts one.

A SuperNode starts a task again when the process has not called within 30 s. On a machine with
much other work it does not get so far, and the second process makes both slower.
"""

from __future__ import annotations

import sys
from contextlib import suppress

_NAME, _SECONDS = "HEARTBEAT_DEFAULT_INTERVAL", 600

with suppress(ImportError):
    import flwr.common.constant

    assert hasattr(flwr.common.constant, _NAME)
    for name, module in list(sys.modules.items()):
        if name.startswith("flwr.") and hasattr(module, _NAME):
            setattr(module, _NAME, _SECONDS)
