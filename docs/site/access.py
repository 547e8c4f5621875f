"""A hook of MkDocs: the theme's search box gets a name for those who do not see it."""

from __future__ import annotations

DIALOG = 'data-md-component="search" role="dialog"'


def on_post_page(output: str, **_: object) -> str:
    """Return the page with a name for the search box."""
    return output.replace(DIALOG, DIALOG + ' aria-label="Search"')
