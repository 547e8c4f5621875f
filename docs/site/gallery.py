"""A hook of MkDocs: the pictures of the results load when they come into view.

A browser is told their sizes, so that the text stays in its place while they load.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.structure.pages import Page

IMAGE = re.compile(r'<img (?=[^>]*src="([^"/]+\.svg)")')
SIZE = re.compile(r'width="([0-9.]+)pt" height="([0-9.]+)pt"')
PIXELS = 96 / 72  # of a point


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Return a page of results with pictures that load when they come into view."""
    source = Path(page.file.abs_src_path)
    if source.parent.name != "results":
        return html

    def lazy(match: re.Match[str]) -> str:
        size = SIZE.search((source.parent / match[1]).read_text(encoding="utf-8"))
        if size is None:
            raise ValueError(f"{match[1]} has no size")
        width, height = (round(float(side) * PIXELS) for side in size.groups())
        return f'<img loading="lazy" width="{width}" height="{height}" '

    return IMAGE.sub(lazy, html)
