"""Text as replies are compared (folded), names at the beginning of its lines, and how much of it is looked at.

The bounds count work and not time, so that a replay comes to the same result. A reply that exceeds one of them says too
much to mean one thing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TypeVar

from agentsim.errors import AmbiguousReply

T = TypeVar("T")

MAX_TEXT = 256 * 1024  # characters of a reply that are read
MOST_CANDIDATES = 150  # of a reply
_MOST_LINES = 3_000  # that are not blank
_MOST_TAGS, _MOST_FENCES = 2_000, 500

HOLE = "\ufffc"
"""Takes the place of every character that was taken out of a text."""

MARK = "\ufffb"
"""Takes the place of every character of a control token, which is no word and no part of one."""

BLANK = "".join(filter(str.isspace, map(chr, range(0x3001))))

_PLAIN = dict.fromkeys("“”„‟«»＂", '"') | {
    **dict.fromkeys("‘’‚‛`´ʼ", "'"),
    **dict.fromkeys("–—−‐‑", "-"),
    **dict.fromkeys("\u00a0\u2009\u202f\u3000", " "),
    **dict.fromkeys("❓❔⁇⁈⁉", "?"),
    **dict(zip("。、→łŁøØđı", ".,>lloodi", strict=True)),
}


_LETTERED = str.maketrans({char: plain for char, plain in _PLAIN.items() if not char.isalpha()})


class _Fold(dict[int, str]):
    """A translation table that is filled as characters come: each becomes one other, so that places stay the same."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plain = _PLAIN.get(char)
        if plain is None:
            alike = unicodedata.normalize("NFKC", char)
            alike = alike if len(alike) == 1 else char
            # a diacritic is no part of a letter in these scripts; in others it is
            lettered = unicodedata.name(alike, "").startswith(("LATIN", "CYRILLIC", "GREEK"))
            small = (unicodedata.normalize("NFD", alike)[0] if lettered else alike).casefold()
            plain = small if len(small) == 1 else char
        self[code] = plain
        return plain


_FOLD = _Fold()
_MARKS = re.compile("[\u0300-\u036f\ufe0e\ufe0f\u200b-\u200d]")
_BEFORE = f"{BLANK}*_#@\"'[({{<>|\\$「『【（《"
_AFTER = f"{BLANK}*_#\"'])}}<>|\\$.,;:!」』】）》"
_PICTURE = re.compile("[\u2190-\u21ff\u2300-\u2bff\u3030\U0001f000-\U0001faff]+")
CROSSES = "❌❎🚫⛔🛑✗✘✖✕🙅👎\u0334-\u0338\u20d2\u20d3\u20e0\u20e5\u20e6\u20eb"
"""Signs that cross out or say no, as a class of a pattern; the last ones strike through the character before them."""

_CROSSED = re.compile(f"[{CROSSES}]")
_CROSS_FIRST = re.compile(f"[*_ ]*[{CROSSES}]")
_SIGN_BEHIND = re.compile("[\\s*_.!\u2190-\u21ff\u2300-\u2bff\u3030\ufe0f\u200d\U0001f000-\U0001faff]+$")
_TITLE = re.compile(r"^(?:(?:the )?(?:player|candidate|agent|team)(?:[\s_#:-]+(?=\w)|(?=\d)))")
_SEPARATORS = re.compile(r"[\s_-]+")


# -- comparing


def folded(text: str) -> str:
    """Return the text in small letters, without diacritics, in plain punctuation, and as long as it was."""
    return text.translate(_FOLD)


def cased(name: str) -> str:
    """Return a name in small letters with its diacritics, in plain punctuation and NFC: `JOSÉ` is no `jose`."""
    return unicodedata.normalize("NFC", name.translate(_LETTERED)).casefold()


def bare(name: str) -> str:
    """Strip a folded name of quotes, brackets, emphasis and emoji.

    A minus or `!` before it stays. A cross anywhere becomes one: it may mean no.
    """
    if not name.isascii():
        crossed = "!" if _CROSSED.search(name) else ""
        name = crossed + _PICTURE.sub(" ", _MARKS.sub("", name))
    return name.lstrip(_BEFORE).rstrip(_AFTER)


def crossed_behind(text: str) -> str:
    """Return what the signs behind a text cross out, or "" if they stand before it, or if there are none."""
    if text.isascii() or not _CROSSED.search(text) or _CROSS_FIRST.match(text):
        return ""
    return _CROSSED.sub("", text)


def uncrossed(text: str) -> str:
    """Return a text without the sign behind it, which says no, or "" if other places are crossed or none is."""
    before = _SIGN_BEHIND.sub("", text)
    return "" if before == text or _CROSSED.search(before) else before


def compact(name: str) -> str:
    """Remove blanks, underscores and dashes from a bare name."""
    return _SEPARATORS.sub("", name)


@lru_cache(4096)
def spaced(name: str) -> str:
    """Fold a name and put blanks for its underscores and dashes."""
    return _SEPARATORS.sub(" ", folded(name)).strip()


def untitled(name: str) -> str:
    """Remove `player` or a like word from the beginning of a bare name."""
    return _TITLE.sub("", name)


# -- cutting


def without(text: str, regions: Sequence[tuple[int, int]], fill: str = "") -> str:
    """Replace each of the regions, which are sorted and do not overlap, by `fill`."""
    begins, ends = [start for start, _ in regions], [end for _, end in regions]
    return fill.join(text[one:two] for one, two in zip((0, *ends), (*begins, len(text)), strict=True))


def masked(text: str, regions: Sequence[tuple[int, int]], fill: str = HOLE) -> str:
    """Replace each character of the regions, which are sorted, by `fill`, so that places stay the same."""
    parts, position = [], 0
    for start, end in regions:
        if end > position:
            parts += [text[position:start], fill * (end - max(start, position))]
            position = end
    return "".join((*parts, text[position:]))


# -- bounds


def bounded(found: Iterable[T], most: int) -> Iterator[T]:
    """Yield all of them. Raises `AmbiguousReply` behind the first `most`."""
    for count, each in enumerate(found):
        if count >= most:
            raise too_much()
        yield each


def of_few_lines(text: str) -> str:
    """Return the text. Raises `AmbiguousReply` if it has too many lines."""
    if text.count("\n") >= _MOST_LINES and sum(map(bool, text.split("\n"))) > _MOST_LINES:
        raise too_much()
    return text


def of_few_tags(text: str) -> str:
    """Return the text. Raises `AmbiguousReply` if it has too many tags or fences."""
    if text.count("<") > _MOST_TAGS or text.count("```") > _MOST_FENCES:
        raise too_much()
    return text


def too_much() -> AmbiguousReply:
    """Return the error for a reply that exceeds a bound."""
    return AmbiguousReply("The reply says the same thing over and over. Answer with the decision alone.")


# -- names at the beginning of a line


_LETTER = re.compile(rf"[^\W_]|[{CROSSES}]")
_WORD = re.compile(rf"[^\W_]+(?:'[^\W_]+)?|[{CROSSES}]")


def listed(text: str) -> tuple[str, ...]:
    """Return the words and phrases of a text, which commas part, folded."""
    return tuple(dict.fromkeys(folded(" ".join(word.split())) for word in text.split(",")))


def words_in(text: str) -> list[str]:
    """Return the words and numbers of a folded text, and its crosses, which are words that say no."""
    return _WORD.findall(text.replace("_", " "))


def has_words(text: str) -> bool:
    """Check for a letter, a digit, or a cross."""
    return _LETTER.search(text) is not None


@cache
def any_name(names: tuple[str, ...]) -> str:
    """Return a pattern for one of the folded names, the longest first; blanks may be underscores or dashes."""
    return _tree([tuple(r"[\s_-]{1,2}" if char == " " else re.escape(char) for char in name) for name in names])


def _tree(branches: Sequence[tuple[str, ...]]) -> str:
    """Return one pattern for several, each a sequence of parts, so that what begins alike is tried once."""
    following: dict[str, list[tuple[str, ...]]] = {}
    for first, *rest in filter(None, branches):
        following.setdefault(first, []).append(tuple(rest))
    ends = "" if all(branches) else "?"
    parts = [f"{first}{_tree(rest)}" for first, rest in following.items()]
    return parts[0] if len(parts) == 1 and not ends else f"(?:{'|'.join(parts)}){ends}" if parts else ""


@cache
def _heading(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        r"^(?!\n)[ \t]*+(?:[✅✔☑🗳👉➡→▶🎯📌🔹🔸⚖📝]\ufe0f?+[ \t]*+)?+"
        r"(?P<mark>[#*_=>(\[\"'\d.|-]{0,6}[ \t]{0,3}[*_]{0,3})[ \t]*+"
        rf"(?P<lead>(?:[\w'!,]{{1,12}}+[ \t]{{1,3}}+){{0,6}}?)(?P<name>{any_name(names)})(?![^\W_]|-)"
        r"(?P<more>[ \t]?\([^()\n]{0,40}\)| (?:on|about) [^:\n]{1,30})?"
        r"(?:[ \t]is(?=[ \t]*[*_]{0,3}:))?(?P<close>[*_=\])\"']{0,4})[ \t]*+"
        r"(?:(?P<colon>[:=|]|->|(?:(?<=[ \t])|\s)-\s)[*_]{0,3}|[*_#]{0,4}+[ \t]*+$)",
        re.MULTILINE,
    )


def headings(
    plain: str, names: Sequence[str], lead_in: Callable[[str], bool], *, anywhere: bool = True
) -> Iterator[re.Match[str]]:
    """Yield where a line of a folded text begins with one of the names: `## Name`, `**Name**`, `Name: ...`.

    Words before the name must be a `lead_in`. Unless `anywhere`, an undecorated name must begin the text.
    """
    if not names:
        return
    begins = len(plain) - len(plain.lstrip())
    for match in _heading(tuple(names)).finditer(of_few_lines(plain)):
        decorated = bool(match["mark"].strip(" -(\"'>|.0123456789")) or bool(match["close"].strip(")]\"'"))
        if lead_in(match["lead"]) and (decorated or (match["colon"] and (anywhere or match.start() <= begins))):
            yield match
