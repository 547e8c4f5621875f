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

Every round logs these metrics, and returns them as metrics of the model:

- ``hushgrad.reports``; ``hushgrad.refused`` and ``hushgrad.failed``, which count sites;
  ``hushgrad.bytes-per-report``;
- ``hushgrad.std-err``: root mean square of the standard errors of the mean update. They are
  on the large side where there are few reports;
- ``hushgrad.signal-to-noise``: Euclidean norm of the mean update, without what noise adds to
  it, over the ``noise_norm`` of the estimate, or the norm of the standard errors where a
  few reports that agree make that 0;
- ``hushgrad.epsilon-local``: of one report, against everybody;
- ``hushgrad.epsilon-local-total``: of a client that took part in all rounds so far;
- ``hushgrad.epsilon-central-if-shuffled``: the same client, composed, only against a party
  that sees nothing but shuffled reports, at ``hushgrad.delta``;
- ``hushgrad.epsilon-two-servers``: with gaussian-shares, against either of two servers
  alone, at ``hushgrad.delta``. There is no local ε then.

With the unit "example" a client is one record of a site.

With ``evaluation`` sites also send a report of the metrics of their training script, and the
metrics have the answer: each measure by its name, with ``.std-err``, ``.low`` and ``.high``
beside it, and ``hushgrad.evaluation.reports``, ``.refused``, ``.failed`` and
``.epsilon-local``. Every ε of a total is then of both kinds of reports together.
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
