"""The examples on the pages run as they stand."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from conftest import KEY, new_round
from pages import DOCS, PACKAGE, blocks, needs_docs, programs, shadowed


def test_the_examples_of_the_package_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second, federation, survey, sealed = blocks(PACKAGE / "README.md", "python")
    names: dict[str, Any] = {}
    exec(first, names)
    printed = first.rstrip().rpartition("# ")[2] + "\n"
    assert capsys.readouterr().out == printed
    exec(second, names)
    with names["Ledger"]("client.ledger", "keyboard", must_exist=True) as ledger:
        assert ledger.spent().epsilon == 4.0
    exec(federation, names)
    assert capsys.readouterr().out == federation.rstrip().rpartition("# ")[2] + "\n"
    assert names["history"][-1]["accuracy"] > 0.8  # chance gives 0.33, and no privacy 0.95
    exec(survey, names)
    assert capsys.readouterr().out == survey.rstrip().rpartition("# ")[2] + "\n"
    server = new_round(shuffler="shuffler.example", seal_key=KEY, min_reports=10_000)
    names |= {"description": server.description, "fingerprint": sha256(KEY).hexdigest()}
    exec(sealed, names)
    assert len(names["item"]) == server.report_bytes


@needs_docs
def test_no_program_of_a_page_hides_a_module_of_python() -> None:
    found = {page: programs(page) for page in [PACKAGE / "README.md", *DOCS.rglob("*.md")]}
    assert sum(map(len, found.values())) >= 4
    wrong = {page.name: hidden for page, names in found.items() if (hidden := shadowed(names))}
    assert wrong == {}
    assert shadowed(["operator.py", "server.py", "types.py"]) == ["operator.py", "types.py"]
    folders = [PACKAGE / "examples", PACKAGE.parent / "cmd" / "hushgrad" / "skeleton" / "python"]
    files = [file for folder in folders for file in folder.rglob("*.py")]
    assert len(files) > 5
    assert shadowed(file.name for file in files) == []


@needs_docs
def test_the_example_of_the_repository_runs() -> None:
    (example,) = blocks(DOCS / "use.md", "python")
    names: dict[str, Any] = {}
    exec(example, names)
    assert names["estimate"].reports == 20_000


@needs_docs
def test_the_sites_of_the_page_train(capsys: pytest.CaptureFixture[str]) -> None:
    (sites,) = blocks(DOCS / "migrating.md", "python")
    names: dict[str, Any] = {}
    exec(sites, names)
    right, epsilon = capsys.readouterr().out.splitlines()
    # Noise turns the weights by .1: 10 steps of a standard error of .03 in 20 coordinates, twice as
    # much by momentum, below a norm of 8. 10 % wrong is .3, which 19 normal variables together
    # reach once in 10^20 runs.
    assert float(right.partition(": ")[2]) > 0.9
    assert epsilon == "ε of all rounds: 2.0"
