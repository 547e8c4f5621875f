"""The server's half: from reports to an estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from . import _arguments, _bridge
from ._optional import library
from .errors import AggregatorLost, HelperFailed, HushgradError, invalid
from .policy import Guarantee

_NORMAL = 1.959963984540054  # standard errors of an interval of 95 %
_CHANGES = ("add", "merge", "restore")


@dataclass(frozen=True, eq=False)
class Series:
    """One estimated number for each coordinate.

    Attributes
    ----------
    value : numpy.ndarray of float64, shape (dim,)
        The estimates.
    std_err : numpy.ndarray of float64, shape (dim,), or None
        Their standard errors, or None where none is known.
    """

    value: NDArray[np.float64]
    std_err: NDArray[np.float64] | None


@dataclass(frozen=True, eq=False)
class Estimate:
    """What the reports of a round come to.

    Attributes
    ----------
    mean : numpy.ndarray of float64, shape (dim,)
        Unbiased for the mean of the clients' clipped gradients, in units of the gradient.
    std_err : numpy.ndarray of float64, shape (dim,)
        Standard errors of the mean. They cover the privacy noise and the sampling of
        coordinates.
    noise_norm : float
        Euclidean norm of the mean's error, in units of the gradient: the root of its expected
        square, estimated. Take it for the mean as a whole. In small rounds the standard errors
        of single coordinates are widened, so that their intervals cover, and together say too
        much.
    reports : int
        Number of reports.
    records : int
        Number of records behind them, which the mean is over, in a round whose reports are sums of
        records (:meth:`hushgrad.Round.encode_records`). 0 in every other round.
    suspects : numpy.ndarray of int64
        Coordinates at which more reports agree than honest clients send: some clients lie there.
        If all clients are honest there is one with a probability of at most 1e-6 in a round,
        whatever they hold. A few liars, or liars who spread their reports, are not seen. Only
        coco, collision and signsketch have such a test.
    columns : mapping of str to Series
        The mean and what the round asks for beside it, by name.
    guarantee : Guarantee
        What each report promised its sender.
    """

    mean: NDArray[np.float64]
    std_err: NDArray[np.float64]
    noise_norm: float
    reports: int
    records: int
    suspects: NDArray[np.int64]
    columns: Mapping[str, Series]
    guarantee: Guarantee

    def __repr__(self) -> str:
        """Return the size of the estimate, and how good it is."""
        of = f"{self.records} records in {self.reports} reports" if self.records else ""
        spread = float(np.sqrt(np.mean(self.std_err**2)))
        return (
            f"Estimate of {len(self.mean)} coordinates from {of or f'{self.reports} reports'}: "
            f"norm of the mean {float(np.linalg.norm(self.mean)):.3g}, of its error "
            f"{self.noise_norm:.3g}, standard error of a coordinate {spread:.3g}, "
            f"ε = {self.guarantee.epsilon:g} a report"
        )

    def to_frame(self) -> Any:  # noqa: ANN401
        """Return a ``pandas.DataFrame`` with a row for each coordinate: mean and std_err.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        pandas = library("pandas", "to_frame")
        return pandas.DataFrame({"mean": self.mean, "std_err": self.std_err})

    def plot(self, axes: Any = None) -> Any:  # noqa: ANN401
        """Plot the mean with intervals of 95 %.

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to plot. Default the current ones.

        Returns
        -------
        matplotlib.axes.Axes
            Where it is plotted.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        pyplot = library("matplotlib.pyplot", "plot")
        axes = pyplot.gca() if axes is None else axes
        half = _NORMAL * self.std_err
        at = np.arange(len(self.mean))
        axes.errorbar(at, self.mean, yerr=half, fmt=".", markersize=3, elinewidth=0.5)
        axes.axhline(0.0, color="grey", linewidth=0.5)
        axes.set_xlabel("coordinate")
        axes.set_ylabel("mean, 95 %")
        return axes


class Aggregator:
    """Counts the reports of a round. Make one with :meth:`hushgrad.Round.aggregator`.

    It lives in the helper of the process that has made it. When the helper dies, or in a
    forked child, every method raises AggregatorLost. So does an aggregator whose add, merge or
    restore was interrupted, by Ctrl-C or by a timeout: nobody knows whether it counted. Other
    aggregators of the process go on. It is safe for concurrent use.
    """

    def __init__(self, round_id: str, round_: _bridge.Handle) -> None:
        self._round_id = round_id
        answer, _ = round_.helper.call("aggregator", {"round": round_.number})
        self._handle = _bridge.Handle(round_.helper, answer["aggregator"])
        self._unknown = False  # what it has counted, after an interrupt

    def add(self, reports: bytes) -> int:
        """Count packed reports: all of them or none.

        Parameters
        ----------
        reports : bytes
            What :meth:`hushgrad.Round.encode` has returned, or several of these joined.

        Returns
        -------
        int
            The number of reports that were counted.

        Raises
        ------
        BadReport, InvalidParameter
            If the bytes cannot be reports of the round, or if its reports are sealed: only the
            server that has the key opens them. Reports of another round of the same size are
            counted: a report does not name its round. Let clients send the digest beside it.
        AggregatorLost
            If the helper has died.
        """
        answer, _ = self._call("add", payload=_arguments.data("reports", reports))
        return answer["reports"]

    def merge(self, other: Aggregator) -> None:
        """Count all that another aggregator of the round has counted. It stays as it is.

        Raises
        ------
        InvalidParameter
            If the other one is of another round, or this one.
        AggregatorLost
            If the helper of one of them has died.
        """
        if not isinstance(other, Aggregator):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise invalid("other", type(other).__name__, "must be an Aggregator")
        other._call("release", named=False)  # raises where the other one is lost
        self._call("merge", other=other._handle.number)

    def snapshot(self) -> bytes:
        """Return what was counted, for :meth:`hushgrad.Round.aggregator` of the same round.

        A snapshot may hold a single report. Store it as you store reports.
        """
        _, data = self._call("snapshot")
        return bytes(data)

    def restore(self, snapshot: bytes) -> None:
        """Replace what was counted by a snapshot.

        Raises
        ------
        InvalidParameter
            If the snapshot is damaged or of another round. Then nothing is changed.
        AggregatorLost
            If the helper has died.
        """
        self._call("restore", payload=_arguments.data("snapshot", snapshot))

    def estimate(self) -> Estimate:
        """Return what the reports come to. It changes nothing.

        Raises
        ------
        TooFewReports
            If there are fewer reports than the round's min_reports.
        AggregatorLost
            If the helper has died.
        """
        answer, data = self._call("estimate")
        numbers = np.frombuffer(data, dtype="<f8")
        listed: list[dict[str, Any]] = answer["columns"]
        dim = len(numbers) // sum(1 + c["std_err"] for c in listed)
        parts = (numbers[start : start + dim] for start in range(0, len(numbers), dim))
        columns = {
            c["name"]: Series(next(parts), next(parts) if c["std_err"] else None) for c in listed
        }
        mean = columns["mean"]
        assert mean.std_err is not None
        return Estimate(
            mean=mean.value,
            std_err=mean.std_err,
            noise_norm=float(answer["noise_norm"]),
            reports=answer["reports"],
            records=answer["records"],
            suspects=np.array(answer["suspects"], np.int64),
            columns=columns,
            guarantee=Guarantee.from_answer(answer["guarantee"]),
        )

    def _call(
        self,
        operation: str,
        payload: _bridge.Payload = b"",
        *,
        named: bool = True,
        **arguments: object,
    ) -> tuple[dict[str, Any], bytearray]:
        helper = self._handle.helper
        lost = (
            f"the aggregator of round {self._round_id!r} is lost, and a new one needs its reports "
            "again or a snapshot"
        )
        if not helper.usable():
            raise AggregatorLost(f"{lost}: its helper has ended, or is another process's")
        if self._unknown:
            raise AggregatorLost(f"{lost}: a call was interrupted while it counted")
        if named:
            arguments = {"aggregator": self._handle.number, **arguments}
        try:
            return helper.call(operation, arguments, payload)
        except HelperFailed as error:
            raise AggregatorLost(f"{lost}: {error}") from error
        except HushgradError:
            raise
        except BaseException:  # of a signal's handler
            self._unknown = operation in _CHANGES
            raise

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled."""
        raise TypeError("an Aggregator cannot be pickled: send its snapshot() and its Round")
