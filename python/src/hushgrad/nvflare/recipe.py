"""Recipes of jobs that train on private reports."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# NVFlare has no complete type hints.

from __future__ import annotations

from typing import Any, TypeVar

from nvflare.app_common.app_constant import AppConstants
from nvflare.recipe.fedavg import FedAvgRecipe

from .aggregator import HushgradAggregator
from .privatize import HushgradPrivatize

Kind = TypeVar("Kind", bound=FedAvgRecipe)

_TASKS = [
    AppConstants.TASK_TRAIN,
    AppConstants.TASK_VALIDATION,
    AppConstants.TASK_SUBMIT_MODEL,
]


def private_recipe(
    kind: type[Kind],
    aggregator: HushgradAggregator,
    privatize: HushgradPrivatize | None = None,
    **arguments: Any,  # noqa: ANN401
) -> Kind:
    """Return a FedAvg recipe whose sites send private reports.

    The filter is in both chains of every site, for all tasks of FedAvg and of NVFlare's
    evaluation across sites. The job does not carry the package hushgrad: the server and the
    sites have to have it.

    Parameters
    ----------
    kind : type
        A FedAvg recipe of NVFlare, for any framework, for example NumpyFedAvgRecipe. Models
        have to travel as NumPy arrays, which is NVFlare's default.
    aggregator : HushgradAggregator
        What the server does.
    privatize : HushgradPrivatize, optional
        What the job demands. Without it every site has to have a policy of its own.
    **arguments
        The recipe's arguments.
    """
    recipe = kind(aggregator=aggregator, **arguments)
    recipe._job.set_app_packages(["hushgrad"])  # pyright: ignore[reportPrivateUsage]
    demands = privatize or HushgradPrivatize()
    recipe.add_client_input_filter(demands, tasks=_TASKS)
    recipe.add_client_output_filter(demands, tasks=_TASKS)
    return recipe
