"""An aggregator that notes what comes to the process of NVFlare's server."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

import json
import os
from pathlib import Path

from nvflare.app_common.abstract.fl_model import FLModel

from hushgrad import HushgradError
from hushgrad.nvflare import HushgradAggregator
from hushgrad.nvflare import messages as m


class Spy(HushgradAggregator):
    """An aggregator that tries to read reports, and notes in HUSHGRAD_SEEN what came of it."""

    def accept_model(self, model: FLModel) -> None:
        """Note what a site sent."""
        super().accept_model(model)
        assert self._open is not None
        assert model.params is not None
        report, counts = model.params[m.REPORT], self._open.round.aggregator()
        try:
            read = counts.add(report)
        except HushgradError as error:
            read = type(error).__name__
        noted = [sorted(model.params), len(report), self._open.round.report_bytes, read]
        with Path(os.environ["HUSHGRAD_SEEN"]).open("a") as file:
            file.write(json.dumps(noted) + "\n")
