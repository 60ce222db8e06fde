"""Finds the players that a text names, by their exact names; what it says about them is not interpreted."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from agentsim.engine.event import PlayerId

__all__ = ["Naming"]

_WORD = re.compile(r"[\w-]+")
_PLAYER = re.compile(r"\bplayer\s*$", re.IGNORECASE)
_OPENS = "\"'(\u201c\u2018"


class Naming:
    """Names that stand for players; several may stand for one.

    A name is found as a whole word, with capitals as it has them: `B` in `B's`, but not in `B-2`. Two names
    are English words too: `A` does not count at the beginning of a sentence, `I` only after `player`.
    """

    def __init__(self, names: Iterable[tuple[str, PlayerId]]) -> None:
        self._by_word: Mapping[str, list[tuple[str, PlayerId]]] = defaultdict(list)
        for name, player in sorted(set(names), key=lambda each: (-len(each[0]), each)):
            if word := _WORD.match(name):
                self._by_word[word.group()].append((name, player))

    def named(self, text: str) -> Iterator[PlayerId]:
        """The player of each occurrence of a name; where one name begins another, the longer one counts."""
        upto = 0
        for word in _WORD.finditer(text):
            if word.start() < upto or word.group() not in self._by_word:
                continue
            for name, player in self._by_word[word.group()]:
                end = word.start() + len(name)
                whole = text.startswith(name, word.start()) and not _WORD.match(text, end)
                if whole and _meant(name, text, word.start()):
                    upto = end
                    yield player
                    break


def _meant(name: str, text: str, start: int) -> bool:
    """Whether a name that stands in a text is one, and not an English word."""
    if name not in {"A", "I"} or (name == "A" and not _begins_a_sentence(text, start)):
        return True
    return _PLAYER.search(text, max(0, start - 19), start) is not None


def _begins_a_sentence(text: str, place: int) -> bool:
    while place and text[place - 1] != "\n" and (text[place - 1] in _OPENS or text[place - 1].isspace()):
        place -= 1
    return not place or text[place - 1] in ".!?:\n"
