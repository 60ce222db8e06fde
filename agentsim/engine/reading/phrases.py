"""Phrases: where sentences that decide stand in a folded text. Each is looked for only where it can begin.

What a sentence claims is `claims`' business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from agentsim.engine.reading.bounds import MOST_CLAIMS, bounded
from agentsim.engine.reading.folding import folded
from agentsim.engine.reading.patterns import any_begun
from agentsim.engine.reading.sentences import FIRST_PERSON

__all__ = ["said"]

_WORD = r"[^\s.,;:!?]{1,40}"
_VALUE = re.compile(rf"{_WORD}+(?: {_WORD}+)?\Z")
_LONGEST = 2 * 40 + 1  # characters of a value before a verb
_EDGE = r"\b"
_ME = FIRST_PERSON.removeprefix(_EDGE)
_MOST_BEGINNINGS = 3 * MOST_CLAIMS


class _Phrase(NamedTuple):
    """A sentence as it is looked for; `verb` follows the value where that comes first."""

    whole: re.Pattern[str]
    begins: str
    verb: re.Pattern[str] | None


def said(plain: str, sentences: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Which of the sentences are said, each by its place among them, and where: as if each were searched for alone.

    `§` in a sentence is its value, the group of that name.
    """
    starts: list[int] | None = None
    for place, sentence in enumerate(sentences):
        phrase = _phrase(sentence)
        if phrase.verb is not None:
            found = _behind_values(plain, phrase.whole, phrase.verb)
        elif not phrase.begins:
            found = phrase.whole.finditer(plain)
        else:
            if starts is None:
                scan = _beginnings(tuple(sentences))
                starts = [each.start() for each in bounded(scan.finditer(plain), _MOST_BEGINNINGS)]
            found = _from(plain, phrase.whole, starts)
        for match in found:
            yield place, match


def _from(plain: str, whole: re.Pattern[str], starts: Sequence[int]) -> Iterator[re.Match[str]]:
    position = 0
    for start in starts:
        if start >= position and (match := whole.match(plain, start)):
            position = match.end()
            yield match


def _behind_values(plain: str, whole: re.Pattern[str], verb: re.Pattern[str]) -> Iterator[re.Match[str]]:
    position = 0
    for each in bounded(verb.finditer(plain), _MOST_BEGINNINGS):
        value = _VALUE.search(plain, max(position, each.start() - _LONGEST), each.start())
        if value is not None and (match := whole.match(plain, value.start())):
            position = match.end()
            yield match


@cache
def _phrase(sentence: str) -> _Phrase:
    # an escape is no text: folded, `\W` would be `\w`
    plain = "".join(part if part.startswith("\\") else folded(part) for part in re.split(r"(\\.)", sentence))
    before, slot, after = plain.partition("§")
    if slot and not before:
        return _Phrase(re.compile(rf"(?P<value>{_WORD}(?: {_WORD})?){after}"), "", re.compile(after))
    whole = before
    if slot and after:
        whole = rf"{before}(?P<value>{_WORD}?(?: {_WORD}?)??){after}"
    elif slot:
        # the value begins a word of its own; where words have no blanks between them, anywhere
        before = before.rstrip()
        whole = rf"{before}(?!(?<=[a-zа-я])[a-zа-я])(?P<value>[^\n]{{1,160}})"
    return _Phrase(re.compile(whole), before if before.startswith(_EDGE) else "", None)


@cache
def _beginnings(sentences: tuple[str, ...]) -> re.Pattern[str]:
    """Where one of the sentences may begin that begin with a word."""
    begins = [begins.removeprefix(_EDGE) for sentence in sentences if (begins := _phrase(sentence).begins)]
    mine = [each for each in begins if each.startswith(_ME)]
    either = [any_begun(each for each in begins if not each.startswith(_ME))]
    if mine:  # begin alike
        either.append(f"{_ME}(?:{'|'.join(each.removeprefix(_ME) for each in mine)})")
    return re.compile(rf"\b(?=\w)(?={'|'.join(filter(None, either))})")
