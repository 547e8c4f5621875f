"""Sealed rounds: a shuffler takes the reports, and a server apart from it counts them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from ..aggregator import Estimate
from ..errors import HushgradError, PolicyRefused, TooFewReports, invalid
from ..rounds import Round
from .reports import MOST, Answers, Sender

if TYPE_CHECKING:
    from ..server import Client, Operator

_LOOK = 0.5
"""Seconds between two looks whether witnesses have signed."""


class Shuffled:
    """Where the reports of sealed rounds go.

    In Flower give it to :class:`hushgrad.flower.HushgradAggregation`. In NVFlare
    :class:`hushgrad.nvflare.HushgradAggregator` makes it of its parameter ``shuffled``.

    Rounds are opened on a ``hushgrad serve``, which has the key to which clients seal. The program
    that trains, Flower's ServerApp or NVFlare's server, gets sealed reports, reads none of them,
    and brings them to a ``hushgrad shuffle``. The server counts what the shuffler forwards, and the
    program reads the estimate.

    The central ε then holds against the server, if the parties that see which client sent which
    sealed report do not work together with it: the shuffler, the program that trains and, in
    Flower, the SuperLink. It also needs min_reports reports of honest clients. Nothing checks that,
    because clients of Flower and NVFlare fetch no tokens: the program chooses the clients. The
    operator's connection opens rounds and reads estimates, and shows no report.

    Parameters
    ----------
    operator : hushgrad.server.Operator
        The operator's connection to the server.
    shuffler : hushgrad.server.Client
        A connection to the shuffler.
    name : str
        DNS name of the shuffler, which clients pin.
    patience : float
        Seconds that the shuffler may take to forward a round. It forwards none that has fewer
        reports than its floor, and the round is given up.
    share_key : bytes
        The shuffler's public key, which rounds of gaussian-shares need: then the shuffler is the
        second of two servers. ``hushgrad shuffle keys --output json`` prints it.
    log_key : str
        The public key of the server's log. Clients then get with a round the proof that it is in
        the log, which their :attr:`hushgrad.Policy.log_key` may demand. "" sends none.
    witnesses : tuple of str
        Public keys of witnesses. A round is sent when all of them have signed the log, and
        ``patience`` bounds the time.
    """

    def __init__(
        self,
        operator: Operator,
        shuffler: Client,
        name: str,
        *,
        patience: float = 300.0,
        share_key: bytes = b"",
        log_key: str = "",
        witnesses: tuple[str, ...] = (),
    ) -> None:
        if not name:
            raise invalid("name", repr(name), "must be the DNS name of the shuffler")
        if witnesses and not log_key:
            raise invalid("witnesses", f"{len(witnesses)} keys", "must be given with log_key")
        self._operator = operator
        self._shuffler = shuffler
        self._name = name
        self._patience = patience
        self._share_key = share_key
        self._log_key = log_key
        self._witnesses = tuple(witnesses)

    def open(self, round_: Round) -> Round:
        """Open a round on the server, and return it as clients see it.

        Raises
        ------
        InvalidParameter
            If the server does not allow the round, or if its reports vary in length.
        ServerRefused
            If the server does not answer, or has too many open rounds.
        PolicyRefused
            If the round is not in the log that is asked for, or if a witness has not signed it.
        """
        two = round_.mechanism == "gaussian-shares"
        opened = self._operator.open_round(
            round_, shuffler=self._name, share_key=self._share_key if two else b""
        )
        if not opened.report_bytes:
            self.abort(opened)
            rule = "must have reports of one length with a shuffler"
            raise invalid("mechanism", repr(opened.mechanism), rule)
        if not self._log_key:
            return opened
        try:
            return Round(opened.description, log_proof=self._proof(opened))
        except HushgradError:
            self.abort(opened)
            raise

    def _proof(self, opened: Round) -> bytes:
        """Return the proof that a round is in the log, when all witnesses have signed."""
        end = time.monotonic() + self._patience
        while True:
            proof = self._shuffler.round(opened.id).log_proof
            # Witnesses sign later. Nothing else is worth waiting for.
            opened.check_log(self._log_key, (), proof)
            try:
                opened.check_log(self._log_key, self._witnesses, proof)
            except PolicyRefused:
                if time.monotonic() > end:
                    raise
                time.sleep(_LOOK)
            else:
                return proof

    def abort(self, round_: Round) -> None:
        """End a round without an estimate. What was brought to the shuffler is dropped."""
        with suppress(HushgradError):  # it has ended already
            self._operator.abort_round(round_.id)

    def estimate(
        self,
        round_: Round,
        answers: Answers[Sender],
        rejected: Callable[[Sender, HushgradError], None],
        *,
        unit: str = "client",
        most: int = MOST,
    ) -> Estimate:
        """Bring the sealed reports to the shuffler, close the round and return the estimate.

        The server leaves out sealed reports that it cannot open, and reports that come twice.

        Parameters
        ----------
        unit : {"client", "example"}
            With "example" a client has any number of reports, unless they are sums of records.
        most : int
            Reports that one client may send with "example".

        Raises
        ------
        TooFewReports
            If there are fewer reports than min_reports, or if the shuffler forwards none.
        ServerRefused
            If the server or the shuffler does not answer.
        """
        most = most if unit == "example" and not round_.about_records else 1
        self._take_out(round_, answers, rejected, most)
        items = b"".join(sealed for _, sealed in answers.reports)
        sent = len(items) // round_.report_bytes
        try:
            if sent < round_.min_reports:
                rule = f"must be at least min_reports, {round_.min_reports}"
                raise TooFewReports(
                    f"reports: got {sent}, rule: {rule}", *("reports", str(sent), rule)
                )
            self._shuffler.submit(round_, items)
            self._close(round_)
        except HushgradError:
            self.abort(round_)
            raise
        estimate = self._operator.estimate(round_.id)
        answers.counted = estimate.reports
        if most == 1:  # nobody here sees whose report the server left out
            answers.failed += sent - estimate.reports
        return estimate

    def _close(self, round_: Round) -> None:
        """Close a round. The server waits for the shuffler, which waits for enough reports.

        The time is up for the server or for this program first. A server ends the stream then,
        and the status is CANCELLED.
        """
        from ..server import ServerRefused

        try:
            self._operator.close_round(round_.id, timeout=self._patience)
        except ServerRefused as error:
            if error.code not in ("DEADLINE_EXCEEDED", "CANCELLED", "FAILED_PRECONDITION"):
                raise
            raise TooFewReports(
                f"{error}: the server did not get enough reports from the shuffler "
                f"{self._name} within {self._patience:g} s"
            ) from error

    @staticmethod
    def _take_out(
        round_: Round,
        answers: Answers[Sender],
        rejected: Callable[[Sender, HushgradError], None],
        most: int,
    ) -> None:
        """Take out what cannot be sealed reports of one client."""
        good: list[tuple[Sender, bytes]] = []
        for reply, sealed in answers.reports:
            number, rest = divmod(len(sealed), round_.report_bytes)
            if rest or not 1 <= number <= most:
                got = f"{len(sealed)} bytes, {round_.report_bytes} for each"
                rejected(reply, invalid("reports", got, f"must be in [1, {most}]"))
            else:
                good.append((reply, sealed))
        answers.failed += len(answers.reports) - len(good)
        answers.reports = good
