"""The blocks of code on the pages of the repository, which the source distribution has not."""

from __future__ import annotations

import re
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
