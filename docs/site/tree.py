"""A hook of MkDocs: links to the repository's files work on the forge and on the site.

Pages link to code by relative paths such as ``../fl``, as the forge wants it. On the site such a
link leads to the forge. A link to a page stays, and a link to nothing stays too, so that
``mkdocs build --strict`` refuses it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

BRANCH = "main"
LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the page with its links to the tree as links to the forge."""
    root = Path(config["config_file_path"]).parent
    here = Path(page.file.abs_src_path).parent

    def lead(match: re.Match[str]) -> str:
        opening, target, anchor = match.groups(default="")
        if "://" in target or target.startswith("mailto:"):
            return match[0]
        path = Path(os.path.normpath(here / target))
        source = os.path.relpath(path, config["docs_dir"])
        kept = files.get_file_from_path(source)
        if not path.exists() or (kept and kept.inclusion.is_included()):
            return match[0]
        kind = "tree" if path.is_dir() else "blob"
        inside = quote(path.relative_to(root).as_posix())
        return f"{opening}{config['repo_url']}/{kind}/{BRANCH}/{inside}{anchor}"

    parts = FENCE.split(markdown)  # code stands at the odd places
    return "".join(p if i % 2 else LINK.sub(lead, p) for i, p in enumerate(parts))
