"""Headings: lines of prose that announce what follows: an answer, a field of it, an aside, a thought."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from agentsim.engine.reading.bounds import of_few_lines
from agentsim.engine.reading.folding import folded
from agentsim.engine.reading.patterns import any_name
from agentsim.engine.reading.vocabulary import LEAD_IN, THINKING

__all__ = ["alternatives", "heads", "is_lead_in", "thought_spans"]

_WORDS = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
# besides a heading of the question's own, an object, a fence, a tag or a box at the beginning of a line ends a thought
_ANSWER_BEGINS = re.compile(r"^[ \t]*(?:\{\s*[\"'“]|\[\s*\{|```|<[a-z_]{2,30}>|\\boxed)", re.MULTILINE)

_UNQUOTED = re.compile(r"^(?![ \t]*>)[ \t]*\S", re.MULTILINE)


def is_lead_in(text: str) -> bool:
    """Whether a folded text holds only words that change nothing of what they introduce."""
    return all(word in LEAD_IN or word.isdigit() for word in _WORDS.findall(text))


@cache
def alternatives(names: tuple[str, ...]) -> str:
    """The folded names as one pattern, the longest first; blanks may be underscores or dashes."""
    return any_name(map(folded, names))


@cache
def _heading(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        r"^(?!\n)[ \t]*+(?P<mark>[#*_=>(\[\"'\d.|-]{0,6}[ \t]{0,3}[*_]{0,3})[ \t]*+"
        rf"(?P<lead>(?:[\w'!,]{{1,12}}+[ \t]{{1,3}}+){{0,6}}?)(?P<label>{alternatives(names)})(?![^\W_]|-)"
        r"(?:[ \t]?\([^()\n]{0,40}\)| (?:on|about) [^:\n]{1,30})?(?P<close>[*_=\])]{0,4})[ \t]*+"
        r"(?:(?P<colon>[:=|]|->|(?:(?<=[ \t])|\s)-\s)[*_]{0,3}|[*_#]{0,4}+[ \t]*+$)",
        re.MULTILINE,
    )


def heads(plain: str, names: Sequence[str], *, sure: bool) -> Iterator[re.Match[str]]:
    """The lines that a name heads: decorated, or with a colon; where not `sure`, such a one begins the text."""
    if not names:
        return
    begins = len(plain) - len(plain.lstrip())
    for match in _heading(tuple(names)).finditer(of_few_lines(plain)):
        decorated = bool(match["mark"].strip(" -(\"'>|.0123456789")) or bool(match["close"].strip(")]"))
        if is_lead_in(match["lead"]) and (decorated or (match["colon"] and (sure or match.start() <= begins))):
            yield match


@lru_cache(1024)
def _thinking(own: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in THINKING if name not in own)


def thought_spans(plain: str, own: Sequence[str]) -> list[tuple[int, int]]:
    """What stands under headings of thinking, which are none of the question's `own`, until one of those follows."""
    spans: list[tuple[int, int]] = []
    ends: list[int] | None = None
    for match in heads(plain, _thinking(tuple(own)), sure=True):
        whole = re.sub(r"[\s_-]+", " ", match["lead"] + match["label"])
        if (spans and match.start() < spans[-1][1]) or whole in own:
            continue
        if ends is None:
            ends = [each.start() for each in heads(plain, own, sure=True)]
            ends = sorted([*ends, *(each.start() for each in _ANSWER_BEGINS.finditer(plain))])
        place = bisect_right(ends, match.start())
        end = ends[place] if place < len(ends) else len(plain)
        if plain.startswith(">", match.start()) and (after := _UNQUOTED.search(plain, match.end())):
            end = min(end, after.start())  # a quotation as a block ends with the block
        spans.append((match.start(), end))
    return spans
