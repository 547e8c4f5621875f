"""The steps of a server's model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import invalid
from .average import Average
from .models import moved

Arrays = dict[str, NDArray[Any]]


class Steps:
    """What becomes of the mean updates of a run.

    Parameters
    ----------
    rate : float
        The mean update is multiplied by it.
    momentum : float
        Share of the step before that is added to every step, in [0, 1).
    averaging : float
        Decay of the average of the models, in [0, 1).

    Attributes
    ----------
    averaged : dict
        The average of the models so far. Nothing before the first step, and without averaging.

    Raises
    ------
    InvalidParameter
        If momentum or averaging is out of range.
    """

    def __init__(self, rate: float, momentum: float, averaging: float) -> None:
        if not 0 <= momentum < 1:
            raise invalid("momentum", momentum, "must be in [0, 1)")
        self._rate, self._momentum = rate, momentum
        self._velocity: NDArray[np.float64] | None = None
        self._average, self._averages = Average(averaging), averaging > 0
        self.averaged: Arrays = {}

    def step(self, model: Arrays, mean: NDArray[np.float64] | None, *, last: bool) -> Arrays:
        """Return the step of a round.

        Parameters
        ----------
        model : dict
            The arrays that train, before the step.
        mean : numpy.ndarray, optional
            The mean update. None: the round is given up, and the model stays.
        last : bool
            Whether it is the last round. With averaging its step leads to the average.
        """
        names = list(model)
        zero = {name: np.zeros_like(array) for name, array in model.items()}
        step = {} if mean is None else moved(zero, names, self._moving(mean))
        if self._averages and step:
            after = {name: np.asarray(model[name] + step[name]) for name in names}
            self.averaged = self._average.add(after, names)
        if self.averaged and last:
            return {name: np.asarray(self.averaged[name] - model[name]) for name in names}
        return step

    def _moving(self, mean: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a row's step with its momentum."""
        step = mean * self._rate
        if self._velocity is not None:
            step += self._momentum * self._velocity
        self._velocity = step
        return step
