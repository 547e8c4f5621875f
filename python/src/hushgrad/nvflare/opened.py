"""Rounds that are open at the server, and what the sites answered."""

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


class Waiting:
    """A round that waits for its reports.

    They stay here until the round is estimated.

    Parameters
    ----------
    round_ : Round
        The round.
    kind : {"train", "evaluate"}
        What it is for.
    """

    def __init__(self, round_: Round, kind: str) -> None:
        self.round = round_
        self.kind = kind
        self.answers = Answers[str]()

    @property
    def sent(self) -> int:
        """Return how many sites may have sent a report: what failed may have been one."""
        return self.answers.counted + self.answers.failed

    def accept(self, site: str, digest: object, report: object, refused: object) -> None:
        """Sort an answer into reports, refusals and failures."""
        if isinstance(refused, str):
            self.answers.refuse(refused[:_LONGEST])
            log.info("hushgrad: %s: %s refused: %s", self.round.id, site, refused[:_LONGEST])
        elif digest != self.round.digest:
            self.fail(site, "its report is of another round")
        elif not isinstance(report, bytes):
            self.fail(site, "its report is of another type")
        else:
            self.answers.reports.append((site, report))

    def fail(self, site: str, why: str) -> None:
        """Count a site that sent nothing usable."""
        self.answers.failed += 1
        log.info("hushgrad: %s: %s: %s", self.round.id, site, why)


class Opened(Waiting):
    """A round of training that is open, and the question that goes with it.

    Parameters
    ----------
    round_ : Round
        The round.
    model : dict
        The arrays that train, as the sites get them.
    last : bool
        Whether it is the last round of the job.

    Attributes
    ----------
    question : Waiting or None
        The round in which the sites evaluate the model.
    plain : PlainReply or None
        What is wrong if a site sent its model.
    """

    def __init__(self, round_: Round, model: dict[str, NDArray[Any]], *, last: bool) -> None:
        super().__init__(round_, "train")
        self.model = model
        self.question: Waiting | None = None
        self.last = last
        self.plain: PlainReply | None = None
        self._heard: set[str] = set()

    def receive(self, site: str, answer: Mapping[str, object]) -> None:
        """Take what a site sent: reports, a refusal, or a plain model."""
        report, refused = answer.get(messages.REPORT), answer.get(messages.REFUSED)
        if site in self._heard:
            self.fail(site, "it answered before")
        elif report is None and not isinstance(refused, str):
            self.plain = PlainReply(
                f"{site} sent a model or metrics, and no report: give its job the filter "
                "HushgradPrivatize",
                *("filters", "none of hushgrad", "must have HushgradPrivatize"),
            )
        else:
            self.accept(site, answer.get(messages.ROUND), report, refused)
            if self.question is not None:
                digest = answer.get(messages.QUESTION)
                why = answer.get(messages.UNANSWERED, None if digest else refused)
                self.question.accept(site, digest, answer.get(messages.ANSWER), why)
        self._heard.add(site)
