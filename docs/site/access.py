"""A hook of MkDocs: what the theme leaves out for those who do not see a page, or have no mouse."""

from __future__ import annotations

ADDED = {
    # The search box has no name.
    'data-md-component="search" role="dialog"': ' aria-label="Search"',
    # A block of code that is wider than the page is scrolled by keys once it has the focus.
    "<pre><span></span><code": ' tabindex="0"',
}


def on_post_page(output: str, **_: object) -> str:
    """Return the page with what is missing."""
    for found, missing in ADDED.items():
        output = output.replace(found, found + missing)
    return output
