"""Patterns: many phrases as one pattern that fails soon: what they begin with alike is compared once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

__all__ = ["any_begun", "any_name", "any_phrase", "any_word"]

Atoms: TypeAlias = tuple[str, ...]
"""Patterns that follow each other."""

_LETTERS = re.compile(r"[\w ',]*?(?=[\w ',]?[?*+{]|[^\w ',]|\Z)")

_FIRST_GROUP = re.compile(r"\(\?:([^()\[\]]*)\)(?![?*+{])")


def any_name(names: Iterable[str]) -> str:
    """One of the folded names, of those that begin alike the longest; blanks may be underscores or dashes."""
    return _tree([tuple(r"[\s_-]{1,2}" if char == " " else re.escape(char) for char in name) for name in names])


def any_phrase(phrases: str) -> str:
    """One of the patterns of a text, which semicolons part; alternatives in one stand in brackets."""
    return _tree([_atoms(" ".join(phrase.split())) for phrase in phrases.split(";")])


def any_begun(patterns: Iterable[str]) -> str:
    """One of the patterns, in no order; those that begin with alternatives are told apart by their first letters."""
    return _tree([_atoms(each) for pattern in patterns for each in _apart(pattern)])


def any_word(phrases: str) -> str:
    """As `any_phrase`, as whole words."""
    return rf"\b{any_phrase(phrases)}\b"


def _atoms(phrase: str) -> Atoms:
    """The letters with which a pattern begins, and the rest as one."""
    letters = _LETTERS.match(phrase)
    assert letters is not None, "it matches everywhere"
    rest = phrase[letters.end() :]
    return (*letters[0], f"(?:{rest})") if rest else tuple(letters[0])


def _apart(pattern: str) -> list[str]:
    """`(?:a|b)c` as `ac` and `bc`; any other pattern as it is."""
    group = _FIRST_GROUP.match(pattern)
    return [f"{each}{pattern[group.end() :]}" for each in group[1].split("|")] if group else [pattern]


def _tree(branches: Sequence[Atoms]) -> str:
    following: dict[str, list[Atoms]] = {}
    for first, *rest in filter(None, branches):
        following.setdefault(first, []).append(tuple(rest))
    ends = "" if all(branches) else "?"
    parts = [f"{first}{_tree(rest)}" for first, rest in following.items()]
    return parts[0] if len(parts) == 1 and not ends else f"(?:{'|'.join(parts)}){ends}" if parts else ""
