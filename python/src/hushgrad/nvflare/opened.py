"""A round that is open at the server, and what the sites answered."""

# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from collections.abc import Mapping
from logging import getLogger
from typing import Any

from numpy.typing import NDArray

from ..federated import Answers, PlainReply
from ..rounds import Round
from . import messages

log = getLogger(__name__)

_LONGEST = 500  # characters of a site's words in the log


class Opened:
    """A round that is open, and what the sites answered.

    The reports stay here until the round is estimated.

    Parameters
    ----------
    round_ : Round
        The round.
    model : dict
        The arrays that train, as the sites get them.
    last : bool
        Whether it is the last round of the job.
    """

    def __init__(self, round_: Round, model: dict[str, NDArray[Any]], *, last: bool) -> None:
        self.round = round_
        self.model = model
        self.last = last
        self.answers = Answers[str]()
        self.plain: PlainReply | None = None
        self._heard: set[str] = set()

    def accept(self, site: str, answer: Mapping[str, object]) -> None:
        """Sort an answer into reports, refusals, failures and plain models."""
        report, refused = answer.get(messages.REPORT), answer.get(messages.REFUSED)
        if site in self._heard:
            self._fail(site, "it answered before")
        elif isinstance(refused, str):
            self.answers.refused += 1
            log.info("hushgrad: %s refused: %s", site, refused[:_LONGEST])
        elif report is None:
            self.plain = PlainReply(
                f"{site} sent a model or metrics, and no report: give its job the filter "
                "HushgradPrivatize",
                *("filters", "none of hushgrad", "must have HushgradPrivatize"),
            )
        elif answer.get(messages.ROUND) != self.round.digest:
            self._fail(site, "its report is of another round")
        elif not isinstance(report, bytes):
            self._fail(site, "its report is of another type")
        else:
            self.answers.reports.append((site, report))
        self._heard.add(site)

    def _fail(self, site: str, why: str) -> None:
        self.answers.failed += 1
        log.info("hushgrad: %s: %s", site, why)
