"""persona: the `${name}` placeholders of a prompt. Where the prompt's text comes from is `files`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

__all__ = ["expanded"]

_PLACEHOLDER = re.compile(r"\$(?:\$|\{([^{}\n]{0,80})\}|(?=\{))")


def expanded(template: str, values: Mapping[str, str]) -> str:
    """`template` with each `${name}` replaced once and `$$` as a dollar; a lone dollar stays.

    Values are never looked into again. Raises `ValueError` for a name that is not among `values`.
    """

    def value(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        name = match[1]
        if name is None:
            raise ValueError("has a ${ that is not closed; $$ is a dollar")
        if name not in values:
            near = difflib.get_close_matches(name, values, n=1)
            hint = f"did you mean ${{{near[0]}}}?" if near else f"known: {', '.join(f'${{{key}}}' for key in values)}"
            raise ValueError(f"has an unknown placeholder ${{{name}}} ({hint})")
        return values[name]

    return _PLACEHOLDER.sub(value, template)
