"""Text of a reply: folding, names at the beginning of lines, tags and fences, and limits on the work of the reader.

The limits count characters, lines and candidates, never time, so that a replay has the same result. A reply that
exceeds one raises `AmbiguousReply`, except for `MAX_TEXT`: the rest of a longer reply is not read. Tags of control
tokens are not looked at here, but in `engine.markup`.
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
MOST_CANDIDATES = 150  # in a reply
_MOST_LINES = 3_000  # lines that are not blank
_MOST_TAGS, _MOST_FENCES = 2_000, 500

HOLE = "\ufffc"
"""Replaces each character of a removed region, so that positions stay the same."""

MARK = "\ufffb"
"""Replaces each character of a control token; it is no letter, so it never becomes part of a word."""

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
    """A translation table, filled on demand, from each character to one other, so that positions stay the same."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plain = _PLAIN.get(char)
        if plain is None:
            alike = unicodedata.normalize("NFKC", char)
            alike = alike if len(alike) == 1 else char
            # accents are dropped in these scripts only: elsewhere, a letter with a mark is another letter
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
"""Signs that cross out or say no, as the content of a character class; the last ones are combining characters that
strike through the character before them.
"""

_CROSSED = re.compile(f"[{CROSSES}]")
_CROSS_FIRST = re.compile(f"[*_ ]*[{CROSSES}]")
_SIGN_BEHIND = re.compile("[\\s*_.!\u2190-\u21ff\u2300-\u2bff\u3030\ufe0f\u200d\U0001f000-\U0001faff]+$")
_TITLE = re.compile(r"^(?:(?:the )?(?:player|candidate|agent|team)(?:[\s_#:-]+(?=\w)|(?=\d)))")
_SEPARATORS = re.compile(r"[\s_-]+")


# -- comparing


def folded(text: str) -> str:
    """Return the text in lowercase without accents, in ASCII punctuation, at its length: `“Łódź”` is `"lodz"`."""
    return text.translate(_FOLD)


def cased(name: str) -> str:
    """Return a name in lowercase and NFC with ASCII punctuation, but with its accents: `JOSÉ` is `josé`, not `jose`."""
    return unicodedata.normalize("NFC", name.translate(_LETTERED)).casefold()


def bare(name: str) -> str:
    """Strip a folded name of quotes, brackets, emphasis and emoji: `**"ana"**.` is `ana`.

    A `-` or `!` before it stays. A cross anywhere becomes a `!` before it, because it may mean no: `ana ❌` is `!ana`.
    """
    if not name.isascii():
        crossed = "!" if _CROSSED.search(name) else ""
        name = crossed + _PICTURE.sub(" ", _MARKS.sub("", name))
    return name.lstrip(_BEFORE).rstrip(_AFTER)


def crossed_behind(text: str) -> str:
    """Return a text without its crosses, or "" if it has none or one stands before it: `Ana ❌` is `Ana `."""
    if text.isascii() or not _CROSSED.search(text) or _CROSS_FIRST.match(text):
        return ""
    return _CROSSED.sub("", text)


def uncrossed(text: str) -> str:
    """Return a text without the crosses, emoji and marks at its end: `No ❌` is `No`.

    Return "" if there are none, or if a cross is left.
    """
    before = _SIGN_BEHIND.sub("", text)
    return "" if before == text or _CROSSED.search(before) else before


def compact(name: str) -> str:
    """Remove blanks, underscores and dashes from a bare name: `player_1` is `player1`."""
    return _SEPARATORS.sub("", name)


@lru_cache(4096)
def spaced(name: str) -> str:
    """Fold a name and replace its underscores and dashes by blanks: `Public_Speech` is `public speech`."""
    return _SEPARATORS.sub(" ", folded(name)).strip()


def untitled(name: str) -> str:
    """Remove a title such as `player` from the beginning of a bare name: `player ana` is `ana`."""
    return _TITLE.sub("", name)


# -- cutting


def without(text: str, regions: Sequence[tuple[int, int]], fill: str = "") -> str:
    """Replace each of the regions, which are sorted and do not overlap, by one `fill`."""
    begins, ends = [start for start, _ in regions], [end for _, end in regions]
    return fill.join(text[one:two] for one, two in zip((0, *ends), (*begins, len(text)), strict=True))


def masked(text: str, regions: Sequence[tuple[int, int]], fill: str = HOLE) -> str:
    """Replace each character of the regions, which are sorted, by `fill`, so that positions stay the same."""
    parts, position = [], 0
    for start, end in regions:
        if end > position:
            parts += [text[position:start], fill * (end - max(start, position))]
            position = end
    return "".join((*parts, text[position:]))


# -- bounds


def bounded(found: Iterable[T], most: int) -> Iterator[T]:
    """Yield the items. Raises `AmbiguousReply` if there are more than `most`."""
    for count, each in enumerate(found):
        if count >= most:
            raise too_much()
        yield each


def of_few_lines(text: str) -> str:
    """Return the text. Raises `AmbiguousReply` if it has more than `_MOST_LINES` lines that are not blank."""
    if text.count("\n") >= _MOST_LINES and sum(map(bool, text.split("\n"))) > _MOST_LINES:
        raise too_much()
    return text


def of_few_tags(text: str) -> str:
    """Return the text. Raises `AmbiguousReply` if it has more than `_MOST_TAGS` `<` or `_MOST_FENCES` fences."""
    if text.count("<") > _MOST_TAGS or text.count("```") > _MOST_FENCES:
        raise too_much()
    return text


def too_much() -> AmbiguousReply:
    """Return the error for a reply that exceeds a limit."""
    return AmbiguousReply("The reply says the same thing over and over. Answer with the decision alone.")


# -- names at the beginning of a line


_LETTER = re.compile(rf"[^\W_]|[{CROSSES}]")
_WORD = re.compile(rf"[^\W_]+(?:'[^\W_]+)?|[{CROSSES}]")


def listed(text: str) -> tuple[str, ...]:
    """Split a text at its commas into folded words and phrases: `"vote, my  bid"` gives `("vote", "my bid")`."""
    return tuple(dict.fromkeys(folded(" ".join(word.split())) for word in text.split(",")))


def words_in(text: str) -> list[str]:
    """Return the words and numbers of a folded text; a cross is a word, because it says no."""
    return _WORD.findall(text.replace("_", " "))


def has_words(text: str) -> bool:
    """Return whether a text has a letter, a digit or a cross."""
    return _LETTER.search(text) is not None


@cache
def any_name(names: tuple[str, ...]) -> str:
    """Return a pattern for any of the folded names, which prefers the longest.

    A blank in a name matches one or two blanks, underscores or dashes.
    """
    return _tree([tuple(r"[\s_-]{1,2}" if char == " " else re.escape(char) for char in name) for name in names])


def _tree(branches: Sequence[tuple[str, ...]]) -> str:
    """Build a trie from sequences of parts, as one pattern that tries a shared beginning once."""
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
    """Yield the headings and labels in a folded text that have one of the names: `## Name`, `**Name**`, `Name: ...`.

    `lead_in` must accept the words before the name (`my final`). Unless `anywhere`, a label without decoration
    counts only at the beginning of the text.
    """
    if not names:
        return
    begins = len(plain) - len(plain.lstrip())
    for match in _heading(tuple(names)).finditer(of_few_lines(plain)):
        decorated = bool(match["mark"].strip(" -(\"'>|.0123456789")) or bool(match["close"].strip(")]\"'"))
        if lead_in(match["lead"]) and (decorated or (match["colon"] and (anywhere or match.start() <= begins))):
            yield match


_WRAPPER = re.compile(
    r"</?(?=[a-z])(?:answer|response|output|final(?:_answer)?|json|result|reply|xml|message|root)(?:[\s=][^<>]{0,80})?>"
    r"|\[/?(?:ANSWER|RESPONSE|OUTPUT|FINAL)\]",
    re.IGNORECASE,
)
_FENCE = re.compile(r"(?:```|~{3,})[\w+-]{0,20}")
_HOLDS = 8_000  # the most characters in a tag
_CLOSES = re.compile(r"[<\[]\s?/")


@lru_cache(2)
def without_wrappers(text: str) -> str:
    """Replace wrapper tags (`<answer>`, `[/RESPONSE]`) by blanks, so that positions stay the same."""
    return _WRAPPER.sub(lambda tag: " " * len(tag[0]), text) if "<" in text or "[" in text else text


def goes_on_behind_its_end(text: str) -> bool:
    """Return whether words stand behind the end tag of an answer that has no beginning: `Hello.</answer>User: hi`."""
    for tag in _WRAPPER.finditer(text) if "</" in text or "[/" in text else ():
        name = re.sub(r"\W", "", tag[0]).casefold()
        begun = re.search(rf"[<\[]{name}\b", text[: tag.start()], re.IGNORECASE)
        if tag[0][1] == "/" and not begun and has_words(text[: tag.start()]) and has_words(text[tag.end() :]):
            return True
    return False


def without_fences(text: str) -> str:
    """Replace the marks of fences by blanks, so that positions stay the same."""
    return masked(text, [each.span() for each in _FENCE.finditer(text)], " ")


@cache
def tag_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for `<name>value</name>` and `[name]value[/name]` with any of the folded names."""
    name = any_name(names)
    return re.compile(
        rf"<\s?(?P<a>{name})\s?>(?P<x>[^<>]{{0,{_HOLDS}}})<\s?/\s?(?:{name})?\s?>"
        rf"|\[(?P<b>{name})\](?P<y>[^\[\]<>]{{0,{_HOLDS}}})\[/(?:{name})\]"
    )


def tags(plain: str, names: Sequence[str]) -> Iterator[re.Match[str]]:
    """Yield the complete tags with these names in a folded text."""
    return tag_pattern(tuple(names)).finditer(plain) if names and _CLOSES.search(plain) else iter(())


def tag_name(tag: re.Match[str]) -> str:
    return next(tag[name] for name in "ab" if tag[name] is not None)


def tag_content(tag: re.Match[str]) -> tuple[int, int]:
    """Return the span of a tag's content."""
    return next(tag.span(name) for name in "xy" if tag[name] is not None)
