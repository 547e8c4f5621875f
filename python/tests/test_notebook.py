"""The notebook runs from top to bottom, and is kept without what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbformat: Any = pytest.importorskip("nbformat")
nbclient: Any = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")
pytest.importorskip("ray")

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "private-training.ipynb"
if not NOTEBOOK.is_file():
    pytest.skip("the source distribution has no notebook", allow_module_level=True)


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    assert all(not c.get("outputs") and c.get("execution_count") is None for c in cells)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_the_notebook_plans_trains_and_plots(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    client = nbclient.NotebookClient(notebook, timeout=600, resources=resources)
    client.execute()
    outputs = [o for c in notebook.cells for o in c.get("outputs", [])]
    printed = "".join(o.text for o in outputs if o.get("name") == "stdout")
    assert "hushgrad, ε = 8: accuracy" in printed
    assert "no privacy, ε = inf: accuracy" in printed
    assert "ε" in printed.partition("hushgrad,")[0]  # the plan
    assert any("image/png" in o.get("data", {}) for o in outputs)
