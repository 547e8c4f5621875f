"""A hook of MkDocs: the style of Python's reference is loaded by pages that have a reference."""

from __future__ import annotations

import re

LINK = re.compile(r'<link rel="stylesheet" href="[^"]*_mkdocstrings\.css">\s*')


def on_post_page(output: str, **_: object) -> str:
    """Return the page without a style that nothing on it has."""
    return output if 'class="doc ' in output else LINK.sub("", output)
