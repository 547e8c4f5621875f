"""The average of the models of a run, which has less noise than the last one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import invalid
from .models import Model, Names


class Average:
    """The exponential average of the models after each round.

    Parameters
    ----------
    decay : float
        Share of the average that stays when a model comes, in [0, 1). With 0 it is the last model.

    Raises
    ------
    InvalidParameter
        If the decay is out of range.
    """

    def __init__(self, decay: float) -> None:
        if not 0 <= decay < 1:
            raise invalid("averaging", decay, "must be in [0, 1)")
        self._decay = decay
        self._weight = 0.0
        self._sums: dict[str, NDArray[np.float64]] = {}

    def add(self, model: Model, names: Names) -> dict[str, NDArray[Any]]:
        """Return the average after one more model, in its types. Only what trains is averaged."""
        keep, result = self._decay, dict(model)
        self._weight = keep * self._weight + 1 - keep
        for name in names:
            total = np.asarray((1 - keep) * model[name].astype(np.float64))
            if name in self._sums:
                total += keep * self._sums[name]
            self._sums[name] = total
            result[name] = np.asarray(total / self._weight, model[name].dtype)
        return result
