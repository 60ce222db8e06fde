"""Text: a reply as it is compared (folded), how much of it is looked at, and how phrases are looked for in it.

Bounds are counted in work and not in time, so that a replay comes to the same; a reply that blows one of them says too
much to mean one thing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from sys import maxsize
from typing import TypeVar

from agentsim.errors import AmbiguousReply, UnreadableReply

T = TypeVar("T")

MOST_CLAIMS = 150  # of a reply: each is looked at with all around it
_MOST_LINES = 3_000  # that are not empty
_MOST_TAGS, _MOST_FENCES = 2_000, 500  # of what was not thought
_MOST_VALUES = 4_000  # in all objects
_MOST_STEPS = 3_000  # of mending: a member, a comment, a quote

HOLE = "\ufffc"
"""Stands in a text for what was taken out of it."""

_PLAIN = dict.fromkeys("“”„‟«»＂", '"') | {
    **dict.fromkeys("‘’‚‛`´ʼ", "'"),
    **dict.fromkeys("–—−‐‑", "-"),
    **dict.fromkeys("\u00a0\u2009\u202f\u3000", " "),
    **dict(zip("。、→łŁøØđı", "\n,>lloodi", strict=True)),
}


class _Fold(dict[int, str]):
    """Filled as characters come: each as one other, so that places in the text stay the same."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plain = _PLAIN.get(char)
        if plain is None:
            alike = unicodedata.normalize("NFKC", char)
            alike = alike if len(alike) == 1 else char
            # marks are no part of a letter in these scripts; in others they are
            lettered = unicodedata.name(alike, "").startswith(("LATIN", "CYRILLIC", "GREEK"))
            small = (unicodedata.normalize("NFD", alike)[0] if lettered else alike).casefold()
            plain = small if len(small) == 1 else char
        self[code] = plain
        return plain


_FOLD = _Fold()
_MARKS = re.compile("[\u0300-\u036f\ufe0e\ufe0f\u200d]")
BLANK = "".join(filter(str.isspace, map(chr, range(0x3001))))
_BEFORE = f"{BLANK}*_#@~\"'[({{<>|\\$「『【（《"
_AFTER = f"{BLANK}*_#~\"'])}}<>|\\$.,;:!」』】）》"
_PICTURE = re.compile("[\u2190-\u2bff\u3030\U0001f000-\U0001faff]+")
_TITLE = re.compile(
    r"^(?:私は|(?:(?:the|le|la|el|il|o|den|der|dem|de) )?(?:player|candidate|agent|team|jugador|joueur"
    r"|spieler|gracz|giocatore|jogador|игрок[а-я]?|玩家)(?:[\s_#:-]+(?=\w)|(?=\d)))"
)
_SEPARATORS = re.compile(r"[\s_-]+")


def folded(text: str) -> str:
    """The text for comparing, as long as it was."""
    return text.translate(_FOLD)


def bare(name: str) -> str:
    """A folded name without decoration: marks, brackets, emoji. A minus or `!` before it stays: it may mean no."""
    if not name.isascii():
        name = _PICTURE.sub(" ", _MARKS.sub("", name))
    return name.lstrip(_BEFORE).rstrip(_AFTER)


def compact(name: str) -> str:
    """A bare name without separators."""
    return _SEPARATORS.sub("", name)


def untitled(name: str) -> str:
    """A bare name without `player` before it."""
    return _TITLE.sub("", name)


def without(text: str, regions: Sequence[tuple[int, int]], fill: str = "") -> str:
    """The text with a `fill` for each of the regions, which stand in order and apart."""
    begins, ends = [start for start, _ in regions], [end for _, end in regions]
    return fill.join(text[one:two] for one, two in zip((0, *ends), (*begins, len(text)), strict=True))


def masked(body: str, regions: Sequence[tuple[int, int]], fill: str = HOLE) -> str:
    """The text with a `fill` for what stands in the regions, and blanks for fences, so that places stay the same."""
    parts, position = [], 0
    for start, end in regions:
        if end > position:
            parts += [body[position:start], fill * (end - max(start, position))]
            position = end
    prose = "".join((*parts, body[position:]))
    return re.sub(r"```[\w+-]{0,20}", lambda fence: " " * len(fence[0]), prose) if "```" in prose else prose


class Work:
    """What is left to do for the objects of a reply."""

    def __init__(self) -> None:
        self._left, self._values = _MOST_STEPS, _MOST_VALUES
        self.unclosed = maxsize
        """Behind this place no comment ends."""

    def take(self, values: int = 1) -> None:
        """Count values; `AmbiguousReply` where there are more than any answer has."""
        self._values -= values
        if self._values < 0:
            raise _over_and_over()

    def step(self) -> None:
        """Count a step of mending; `UnreadableReply` where none is left."""
        self._left -= 1
        if self._left < 0:
            raise UnreadableReply("The JSON of the reply is too broken to be read. Answer with one whole JSON object.")


def bounded(found: Iterable[T], most: int) -> Iterator[T]:
    """All of them; `AmbiguousReply` where there are so many that none can be meant."""
    for count, each in enumerate(found):
        if count >= most:
            raise _over_and_over()
        yield each


def of_few_lines(text: str) -> str:
    """The text; `AmbiguousReply` where it has so many lines that none can be meant."""
    if text.count("\n") >= _MOST_LINES and sum(map(bool, text.split("\n"))) > _MOST_LINES:
        raise _over_and_over()
    return text


def of_few_tags(text: str) -> str:
    """The text; `AmbiguousReply` where it has so many tags or fences that none can be meant."""
    if text.count("<") > _MOST_TAGS or text.count("```") > _MOST_FENCES:
        raise _over_and_over()
    return text


def _over_and_over() -> AmbiguousReply:
    return AmbiguousReply("The reply says the same thing over and over. Answer with the decision alone.")


_LETTERS = re.compile(r"[\w ',]*?(?=[\w ',]?[?*+{]|[^\w ',]|\Z)")
_FIRST_GROUP = re.compile(r"\(\?:([^()\[\]]*)\)(?![?*+{])")


def any_name(names: Iterable[str]) -> str:
    """One of the folded names, of those that begin alike the longest; blanks may be underscores or dashes."""
    return _tree([tuple(r"[\s_-]{1,2}" if char == " " else re.escape(char) for char in name) for name in names])


def any_phrase(phrases: str) -> str:
    """One of the patterns of a text, which semicolons part; alternatives in one stand in brackets."""
    return _tree([_atoms(" ".join(phrase.split())) for phrase in phrases.split(";")])


def any_word(phrases: str) -> str:
    """As `any_phrase`, as whole words."""
    return rf"\b{any_phrase(phrases)}\b"


def any_begun(patterns: Iterable[str]) -> str:
    """One of the patterns, in no order; those that begin with alternatives are told apart by their first letters."""
    return _tree([_atoms(each) for pattern in patterns for each in _apart(pattern)])


def _atoms(phrase: str) -> tuple[str, ...]:
    """The letters with which a pattern begins, and the rest as one."""
    letters = _LETTERS.match(phrase)
    assert letters is not None, "it matches everywhere"
    rest = phrase[letters.end() :]
    return (*letters[0], f"(?:{rest})") if rest else tuple(letters[0])


def _apart(pattern: str) -> list[str]:
    """`(?:a|b)c` as `ac` and `bc`; any other pattern as it is."""
    group = _FIRST_GROUP.match(pattern)
    return [f"{each}{pattern[group.end() :]}" for each in group[1].split("|")] if group else [pattern]


def _tree(branches: Sequence[tuple[str, ...]]) -> str:
    """Branches, each of patterns that follow each other, as one pattern."""
    following: dict[str, list[tuple[str, ...]]] = {}
    for first, *rest in filter(None, branches):
        following.setdefault(first, []).append(tuple(rest))
    ends = "" if all(branches) else "?"
    parts = [f"{first}{_tree(rest)}" for first, rest in following.items()]
    return parts[0] if len(parts) == 1 and not ends else f"(?:{'|'.join(parts)}){ends}" if parts else ""
