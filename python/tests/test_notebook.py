"""The notebook runs from top to bottom, and is kept with what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

nbformat: Any = pytest.importorskip("nbformat")
nbclient: Any = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "private-training.ipynb"
if not NOTEBOOK.is_file():
    pytest.skip("the source distribution has no notebook", allow_module_level=True)


def test_the_notebook_is_kept_with_what_it_shows() -> None:
    cells = [c for c in nbformat.read(NOTEBOOK, as_version=4).cells if c.cell_type == "code"]
    assert [c.execution_count for c in cells] == list(range(1, len(cells) + 1))
    outputs = [o for c in cells for o in c.outputs]
    assert any("image/png" in o.get("data", {}) for o in outputs)
    assert "no privacy: accuracy" in "".join(o.get("text", "") for o in outputs)
    assert all(o.output_type != "error" and o.get("name") != "stderr" for o in outputs)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_the_notebook_plans_trains_and_plots(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    client = nbclient.NotebookClient(notebook, timeout=600, resources=resources)
    client.execute()
    outputs = [o for c in notebook.cells for o in c.get("outputs", [])]
    printed = "".join(o.text for o in outputs if o.get("name") == "stdout")
    assert "ε = 8 a report: accuracy" in printed
    assert "no privacy: accuracy" in printed
    assert "expected accuracy" in printed  # the plan
    assert any("image/png" in o.get("data", {}) for o in outputs)
