"""The blocks of code on the pages of the repository, which the source distribution has not."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1]
DOCS = PACKAGE.parent / "docs"
needs_docs = pytest.mark.skipif(
    not (DOCS / "flower.md").is_file(), reason="the source distribution has no pages"
)


def blocks(page: Path, language: str) -> list[str]:
    """Return the code of a page that is in a language."""
    text = page.read_text(encoding="utf-8")
    found: list[tuple[str, str]] = re.findall(
        r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE
    )
    return [code for its, code in found if its == language]


def programs(page: Path) -> dict[str, str]:
    """Return the Python programs of a page by the names of files that their first lines give."""
    named = (re.match(r"# (\S+\.py)\n", code) for code in blocks(page, "python"))
    return {match[1]: match.string for match in named if match}


def fragments(page: Path) -> list[str]:
    """Return the lines of Python of a page that are no programs with a name."""
    whole = programs(page).values()
    return [code for code in blocks(page, "python") if code not in whole]


def saved(page: Path, folder: Path) -> list[Path]:
    """Save the programs of a page under their names in a folder, as a reader does."""
    files = [folder / name for name in programs(page)]
    for file, code in zip(files, programs(page).values(), strict=True):
        file.write_text(code, encoding="utf-8")
    return files


def shadowed(names: Iterable[str]) -> list[str]:
    """Return the names of programs that hide a module of Python from all programs beside them."""
    return [name for name in names if name.removesuffix(".py") in sys.stdlib_module_names]
