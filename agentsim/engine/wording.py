"""Wording: small things on words that games and displays share: cutting, counting, listing, finding who is named.

Nothing here changes a decision.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

CUT = " [cut]"
_LONGEST = 200  # characters of a name that is compared
_WORD = re.compile(r"[\w-]+")
_PLAYER = re.compile(r"\bplayer\s*$", re.IGNORECASE)
_OPENS = "\"'(\u201c\u2018"


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, with a visible mark where there were more."""
    text = text.strip()
    return text if len(text) <= limit else text[: limit - len(CUT)].rstrip() + CUT


def counted(count: int, noun: str) -> str:
    """So many of a thing, whose plural is regular: `1 vote`, `0 votes`."""
    return f"{count} {noun}{'s' * (count != 1)}"


def listed(names: Sequence[str]) -> str:
    """Names within a sentence: `A, B and C`."""
    return ", ".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} and {names[-1]}"


def either(names: Sequence[str]) -> str:
    """Names to choose from: `A, B or C`."""
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]


def first_place(names: Sequence[str], alone: str = "wins") -> str:
    """Who came first, one or several: `A wins`, `A, B share the first place`."""
    return f"{names[0]} {alone}" if len(names) == 1 else f"{', '.join(names)} share the first place"


def near(name: str, known: Sequence[str]) -> str:
    """A hint for a misspelt name, to be appended to an error; "" where none is near."""
    found = difflib.get_close_matches(name[:_LONGEST], known, n=1)
    return f" (did you mean {found[0]}?)" if found else ""


def sentence(words: str) -> str:
    """Words as a sentence: a capital at its beginning, a full stop where it has no end of its own; "" stays nothing."""
    words = words.strip()
    return words and words[0].upper() + words[1:] + ("" if words[-1] in ".!?…" else ".")


def snake_case(name: str) -> str:
    """A class's name in small letters: `ItemSold` is `item_sold`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().lstrip("_")


class Naming:
    """Finds the players that a text names, by names that stand for them; what it says about them is not interpreted.

    A name is found as a whole word, with capitals as it has them: `B` in `B's`, but not in `B-2`. Two names
    are English words too: `A` does not count at the beginning of a sentence, `I` only after `player`.
    """

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self._by_word: Mapping[str, list[tuple[str, str]]] = defaultdict(list)
        for name, player in sorted(set(names), key=lambda each: (-len(each[0]), each)):
            if word := _WORD.match(name):
                self._by_word[word.group()].append((name, player))

    def named(self, text: str) -> Iterator[str]:
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
