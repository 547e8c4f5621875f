"""Private training in NVFlare.

Sites of an NVFlare job send reports of a few bytes instead of their models. Use it with any FedAvg
recipe of NVFlare. Start with :func:`private_recipe`::

    from nvflare.app_common.np.recipes import NumpyFedAvgRecipe
    from hushgrad.nvflare import HushgradAggregator, HushgradPrivatize, private_recipe

    recipe = private_recipe(
        NumpyFedAvgRecipe,
        HushgradAggregator(epsilon=4, scale=0.1, params={"sparsity": 64}, min_reports=5),
        HushgradPrivatize(max_epsilon=4),
        name="job", model=model, min_clients=10, num_rounds=20, train_script="client.py",
    )

The filter turns the model that a training script sends into a report of its difference to the
model that came. Nothing else of the result leaves. The aggregator estimates the mean difference,
and FedAvg adds it to its model. A site sets a policy and a ledger of its own in the scope of its
``privacy.json``.
"""

from ..federated import PlainReply
from .aggregator import HushgradAggregator
from .collected import add_updates
from .privatize import HushgradPrivatize
from .recipe import private_recipe

__all__ = [
    "HushgradAggregator",
    "HushgradPrivatize",
    "PlainReply",
    "add_updates",
    "private_recipe",
]
