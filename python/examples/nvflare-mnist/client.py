"""The training script of a site: it trains on its records, and the filter sends the reports.

A report stands for one record. So the script returns what each record alone would change: an
array with one axis more than the model, which comes first.
"""

from __future__ import annotations

import argparse

import nvflare.client as flare
import task
from nvflare.app_common.np.constants import NPConstants


def main() -> None:
    """Answer every task of the server."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--sites", type=int, required=True)
    given = parser.parse_args()

    flare.init()
    site = int(flare.get_site_name().removeprefix("site-")) - 1
    pictures, labels = task.share(given.data, site, given.sites)
    while flare.is_running():
        received = flare.receive()
        if received is None or received.params is None:
            break  # the job has ended
        model = received.params[NPConstants.NUMPY_KEY]
        params = {NPConstants.NUMPY_KEY: task.changes(model, pictures, labels)}
        flare.send(flare.FLModel(params_type=flare.ParamsType.DIFF, params=params))


if __name__ == "__main__":
    main()
