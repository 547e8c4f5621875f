"""An extension of griffe: docstrings name code in the way of Sphinx, and the site is Markdown."""

from __future__ import annotations

import re

from griffe import Extension, Object

ROLE = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`~?([^`]+)`")
LITERAL = re.compile(r"::$", re.MULTILINE)


class Roles(Extension):
    """Turn ``:class:`Round``` into code, and the ``::`` before a block of code into a colon."""

    def on_object(self, *, obj: Object, **_: object) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring:
            obj.docstring.value = LITERAL.sub(":", ROLE.sub(r"`\1`", obj.docstring.value))
