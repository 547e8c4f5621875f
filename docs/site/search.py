"""A hook of MkDocs: the theme's search has a name for those who do not see it, and a small index.

Every page loads the index. Of Python's reference it has each name with the first paragraph,
without signatures and tables of parameters.
"""

from __future__ import annotations

import json
from pathlib import Path

DIALOG = 'data-md-component="search" role="dialog"'
REFERENCE = "api-python/"


def on_post_page(output: str, **_: object) -> str:
    """Return the page with a name for the search box."""
    return output.replace(DIALOG, DIALOG + ' aria-label="Search"')


def on_post_build(config: dict[str, str], **_: object) -> None:
    """Shorten the index, which the search plugin has written."""
    file = Path(config["site_dir"], "search", "search_index.json")
    index = json.loads(file.read_text())
    shortened = 0
    for entry in index["docs"]:
        text = entry["text"]
        end = text.find("</p>") + len("</p>")
        if entry["location"].startswith(REFERENCE) and len("</p>") < end < len(text):
            entry["text"] = text[:end]
            shortened += 1
    if not shortened:
        raise ValueError(f"{file}: nothing of {REFERENCE} to shorten: the reference has moved")
    file.write_text(json.dumps(index, separators=(",", ":")))
