"""A hook of MkDocs: pages of results load their pictures when they come into view.

A browser is told their sizes, so that the text stays in its place while they load. The numbers in
their tables are not in the index of the search, which every page loads.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.structure.pages import Page

IMAGE = re.compile(r'<img (?=[^>]*src="([^"/]+\.svg)")')
SIZE = re.compile(r'width="([0-9.]+)pt" height="([0-9.]+)pt"')
PIXELS = 96 / 72  # of a point


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Return a page of results with pictures that load late and tables that nobody searches."""
    source = Path(page.file.abs_src_path)
    if source.name == "results.md":
        return html.replace("<table", "<table data-search-exclude")
    if source.parent.name != "results":
        return html

    def lazy(match: re.Match[str]) -> str:
        size = SIZE.search((source.parent / match[1]).read_text(encoding="utf-8"))
        if size is None:
            raise ValueError(f"{match[1]} has no size")
        width, height = (round(float(side) * PIXELS) for side in size.groups())
        return f'<img loading="lazy" width="{width}" height="{height}" '

    return IMAGE.sub(lazy, html).replace("<table", "<table data-search-exclude")
