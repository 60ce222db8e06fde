"""The text of a reply: its words, lines, tags, fences and JSON objects, and limits on the work of the reader.

An object is valid JSON, has broken punctuation, is broken beyond repair, or is cut off. `{"vote": "C",}` and
`{'vote': C}` are repaired to `{"vote": "C"}`; `{"vote": "C", "why": "I th` is cut off. A repair never guesses. It
accepts missing and extra commas, other quotes or none around keys and words, quotes and line ends within strings, and
Python's words for true, false and null. It refuses comments, which may take back the text beside them, and numbers
and string ends that are in doubt. `shaping` interprets the objects.

The limits count characters, lines, values and candidates, never time, so that a replay has the same result. A reply
that exceeds one raises `AmbiguousReply`, except for `MAX_TEXT`: the rest of a longer reply is not read. A character is
looked at a bounded number of times. Control tokens are those of `engine.markup`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import isfinite, nan
from typing import Any, Literal, TypeAlias, TypeVar

from agentsim.engine.decision import Real
from agentsim.engine.wording import cleaned
from agentsim.errors import AmbiguousReply, DecisionError, UnreadableReply
from agentsim.patterns import Pattern

T = TypeVar("T")

MAX_TEXT = 256 * 1024  # characters of a reply that are read
MOST_CANDIDATES = 150  # in a reply
_MOST_LINES = 3_000  # lines that are not blank
_MOST_TAGS, _MOST_FENCES = 2_000, 500

REMOVED_MARK = "\ufffc"
"""Replaces each character of a removed region, so that positions stay the same."""

CONTROL_MARK = "\ufffb"
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
_MARKS = Pattern("[\u0300-\u036f\ufe0e\ufe0f\u200b-\u200d]")
_BEFORE = f"{BLANK}*_#@\"'[({{<>|\\$「『【（《"
_AFTER = f"{BLANK}*_#\"'])}}<>|\\$.,;:!」』】）》"
_PICTURES = "\u2190-\u21ff\u2300-\u2bff\u3030\U0001f000-\U0001faff"
_PICTURE = Pattern(f"[{_PICTURES}]+")
CROSSES = "❌❎🚫⛔🛑✗✘✖✕🙅👎\u0334-\u0338\u20d2\u20d3\u20e0\u20e5\u20e6\u20eb"
"""Signs that cross out or say no, as the content of a character class; the last ones are combining characters that
strike through the character before them.
"""

_CROSSED = Pattern(f"[{CROSSES}]")
_CROSS_FIRST = Pattern(f"[*_ ]*[{CROSSES}]")
_SIGN_BEHIND = Pattern(f"[\\s*_.!{_PICTURES}\ufe0f\u200d]+$")
_TITLE = Pattern(r"^(?:(?:the )?(?:player|candidate|agent|team)(?:[\s_#:-]+(?=\w)|(?=\d)))")
_SEPARATORS = Pattern(r"[\s_-]+")


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


def masked(text: str, regions: Sequence[tuple[int, int]], fill: str = REMOVED_MARK) -> str:
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


_LETTER = Pattern(rf"[^\W_]|[{CROSSES}]")
_WORD = Pattern(rf"[^\W_]+(?:'[^\W_]+)?|[{CROSSES}]")


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


_SIGN = rf"(?:(?![{CROSSES}])[{_PICTURES}][\ufe0f\u200d]?+[ \t]*+){{0,4}}+"
"""Pictures beside a name, as a pattern; one that crosses out is none of them."""


@cache
def _heading(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"^(?!\n)[ \t]*+(?P<sign>{_SIGN})"
        rf"(?P<mark>[#*_=>(\[\"'\d.|\ufe0f\u20e3-]{{0,8}}[ \t]{{0,3}}[*_]{{0,3}}){_SIGN}[ \t]*+"
        rf"(?P<lead>(?:[\w'!,]{{1,12}}+[ \t]{{1,3}}+){{0,6}}?)(?P<name>{any_name(names)})(?![^\W_]|-)"
        r"(?P<more>[ \t]?\([^()\n]{0,40}\)| (?:on|about) [^:\n]{1,30})?"
        rf"(?:[ \t]is(?=[ \t]*[*_]{{0,3}}:))?(?:[ \t]{{0,2}}+(?=[{_PICTURES}]){_SIGN})?+"
        rf"(?P<close>[*_=\])\"']{{0,4}})[ \t]*+"
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


_WRAPPER = Pattern(
    r"</?(?=[a-z])(?:answer|response|output|final(?:_answer)?|json|result|reply|xml|message|root)(?:[\s=][^<>]{0,80})?>"
    r"|\[/?(?:ANSWER|RESPONSE|OUTPUT|FINAL)\]",
    re.IGNORECASE,
)
_FENCE = Pattern(r"(?:```|~{3,})[\w+-]{0,20}")
_HOLDS = 8_000  # the most characters in a tag
_CLOSES = Pattern(r"[<\[]\s?/")


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


MAX_DEPTH = 200  # levels of objects and lists: a decision is written as JSON again, which stops at 255

_MOST_VALUES = 4_000  # values in all objects of a reply
_MOST_STEPS = 3_000  # steps of repair, each a member or a quote

_SPACE = Pattern(r"\s*")
_BARE_KEY = Pattern(r"[^\W\d][\w -]{0,60}?(?=\s{0,20}[:：])")
_NUMBER = Pattern(r"-?(?:0|[1-9][0-9]{0,29})(?:\.[0-9]{1,30})?(?=\s*(?:[,，、}｝\]］]|\n|\Z))")
_BARE = Pattern(r"[^\s,，、{}｛｝\[\]［］\"“”＂:：][^,，{}｛｝\[\]［］\"“”＂\n:：]{0,200}")
_CLOSING_QUOTES = {'"': '"', "'": "'", "“": "”", "”": "”", "‘": "’", "’": "’", "„": "“”", "«": "»", "＂": "＂"}
_ESCAPED = Pattern(r"\\(?:u([0-9A-Fa-f]{4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": "", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "none": None}
_KEY_FOLLOWS = r"(?:[\"'“‘＂][^\"'“”‘’＂\n]{1,60}[\"'”’＂]\s*[:：]|[^\W\d][\w-]{0,60}\s*[:：])"
# fullwidth punctuation, outside of strings
_FULLWIDTH = {":": "：", ",": "，、", "{": "｛", "}": "｝", "[": "［【", "]": "］】"}
# the text behind the quote that ends a value: a bracket, a comma before the next key or value, or the next key
_VALUE_ENDS = Pattern(rf"\s*+(?:[}}｝\]］]|\Z|[,，、]\s*+(?:{_KEY_FOLLOWS}|[}}｝\]］]|\Z)|{_KEY_FOLLOWS})")
_ITEM_ENDS = Pattern(r"\s*+(?:[\]］}｝,，、]|\Z)")
_KEY_ENDS = Pattern(r"\s*+[:：]")
_OBJECT = Pattern(r"\{[^{}]*\}")  # within a string
_QUOTED_KEY = Pattern(r"[\"'“”]\s*[:：]")


class Broken(Exception):
    """The error for an object that cannot be repaired; `at` is the first position that cannot be parsed."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


class CutOff(Exception):
    """The error for an object that does not end; `members` are the complete ones, or None if another had begun."""

    def __init__(self, members: list[tuple[str, Any]] | None) -> None:
        super().__init__()
        self.members = members


class Work:
    """The limits on the work for the objects of one reply."""

    def __init__(self) -> None:
        self._steps, self._values = _MOST_STEPS, _MOST_VALUES

    def take(self, values: int = 1) -> None:
        """Count values. Raises `AmbiguousReply` if a reply has more than `_MOST_VALUES`."""
        self._values -= values
        if self._values < 0:
            raise too_much()

    def step(self) -> None:
        """Count a step of repair. Raises `UnreadableReply` if a reply needs more than `_MOST_STEPS`."""
        self._steps -= 1
        if self._steps < 0:
            raise UnreadableReply("The JSON of the reply is too broken to be read. Answer with one whole JSON object.")


def relaxed(body: str, start: int, work: Work) -> tuple[list[tuple[str, Any]], int]:
    """Parse the object that begins at `start` into its members and its end; nested objects are tuples of members.

    Raises `Broken` if it cannot be repaired, and `CutOff` if the text ends first.
    """
    parser = _Parser(body, start, work)
    return parser.members(0), parser.at


class _Parser:
    def __init__(self, body: str, start: int, work: Work) -> None:
        self.body, self.at, self.work = body, start, work
        self.outermost: list[tuple[str, Any]] = []
        self.between = False  # whether all members of the outermost object that have begun are complete

    def members(self, depth: int) -> list[tuple[str, Any]]:
        """Parse an object, from its opening brace to the closing one."""
        self._deeper(depth)
        found = self.outermost if depth == 0 else []
        while True:
            self._skip()
            if self._takes("}"):
                return found
            if depth == 0 and self.at < len(self.body):
                self.between = False
            key = self._key()
            self._skip()
            if not self._takes(":"):
                raise self._stopped()
            found.append((key, self._value(depth)))
            self.between = depth == 0
            self._skip()
            self._takes(",")

    def _list(self, depth: int) -> list[Any]:
        self._deeper(depth)
        found: list[Any] = []
        while True:
            self._skip()
            if self._takes("]"):
                return found
            found.append(self._value(depth, item=True))
            self._skip()
            if not self._takes(",") and self.body[self.at : self.at + 1] not in {"]", "］"}:
                raise self._stopped()

    def _deeper(self, depth: int) -> None:
        if depth >= MAX_DEPTH:
            raise Broken(self.at)
        self.at += 1

    def _value(self, depth: int, *, item: bool = False) -> Any:
        self.work.step()
        self._skip()
        opens = self.body[self.at : self.at + 1]
        if opens in {"{", "｛"}:
            return tuple(self.members(depth + 1))
        if opens in {"[", "［"}:
            return self._list(depth + 1)
        if opens in _CLOSING_QUOTES and opens:
            return self._string(_ITEM_ENDS if item else _VALUE_ENDS)
        if number := _NUMBER.match(self.body, self.at):
            self.at = number.end()
            if self.at == len(self.body):
                raise self._stopped()  # there may have been more digits
            return Real(number[0]) if "." in number[0] else int(number[0])
        return self._word()

    def _key(self) -> str:
        opens = self.body[self.at : self.at + 1]
        if opens in _CLOSING_QUOTES and opens:
            key = self._string(_KEY_ENDS)
            if "{" in key or "}" in key:  # it runs into the next object
                raise Broken(self.at)
            return key
        if bare := _BARE_KEY.match(self.body, self.at):
            self.at = bare.end()
            return bare[0].strip()
        raise self._stopped()

    def _string(self, ends: Pattern) -> str:
        """Parse a string, up to the first quote behind which a value or key can end.

        Raises `Broken` if the quotes within it do not come in pairs, or seem to quote a key.
        """
        start, closes = self.at + 1, _CLOSING_QUOTES[self.body[self.at]]
        quote = re.compile(rf"\\.|[{re.escape(closes)}]", re.DOTALL)
        inner, opened, looked = 0, 0, start
        for mark in quote.finditer(self.body, start):
            if mark[0].startswith("\\"):
                continue
            self.work.step()
            opened += self.body.count("{", looked, mark.start()) - self.body.count("}", looked, mark.start())
            looked = mark.start()
            quoted = opened > 0 and self.body.startswith("}", looked + 1)  # `"C wants {"vote": "C"} of me"`
            if not quoted and ends.match(self.body, mark.end()):
                written = self.body[start:looked]
                self.at = mark.end()
                if inner and (inner % 2 or _QUOTED_KEY.search(_OBJECT.sub("", written))):
                    raise Broken(self.at)  # the end of the string is in doubt
                if self.at == len(self.body) and inner:
                    raise self._stopped()
                return _unescaped(written)
            apostrophe = (
                closes == "'"
                and self.body[mark.start() - 1].isalpha()
                and self.body[mark.end() : mark.end() + 1].isalpha()
            )
            inner += not apostrophe
        self.at = len(self.body)
        raise self._stopped()

    def _word(self) -> Any:
        word = _BARE.match(self.body, self.at)
        if word is None:
            raise self._stopped()
        self.at = word.end()
        if self.at == len(self.body):
            raise self._stopped()
        text = word[0].strip()
        if text.casefold() in _WORDS:
            return _WORDS[text.casefold()]
        if re.search(r"\d\s+\d|//|/\*", text):  # there may be two numbers, or a comment
            raise Broken(self.at)
        if text.casefold().lstrip("+-") in {"nan", "infinity"} or re.search(r"\d[eE][+-]?\d|^[+-]?0\d", text):
            return nan
        return text

    def _skip(self) -> None:
        self.at = _SPACE.match(self.body, self.at).end()  # type: ignore[union-attr] # it matches everywhere

    def _takes(self, mark: str) -> bool:
        found = self.body[self.at : self.at + 1] in {mark, *_FULLWIDTH[mark]}
        self.at += found
        return found

    def _stopped(self) -> Broken | CutOff:
        """Return the error for the current position: `CutOff` at the end of the text, else `Broken`."""
        if self.at >= len(self.body):
            return CutOff(self.outermost if self.between else None)
        return Broken(self.at)


def _unescaped(written: str) -> str:
    if "\\" not in written:
        return written
    plain = _ESCAPED.sub(lambda each: chr(int(each[1], 16)) if each[1] else _ESCAPES.get(each[2], each[0]), written)
    # surrogate pairs are joined
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


_MOST_OBJECTS = 300
_MOST_DIGITS = 30  # of a whole number: longer ones are slow to convert; amounts have fewer (`MAX_DIGITS`)
_PIECE = 4096  # characters that are decoded at first

State: TypeAlias = Literal["strict", "repaired", "broken", "cut"]


@dataclass(frozen=True, slots=True)
class Object:
    """An object in a text: its span, its state, and its value if it has one.

    It is `strict` if it is valid JSON, `repaired` if its punctuation was broken, `broken` if it cannot be parsed, and
    `cut` if the text ends first: its value then holds the complete members, or is None if another had begun.
    """

    start: int
    end: int
    state: State
    value: dict[str, Any] | None = None
    fenced: bool = False
    call: bool = False
    """True if it is a tool call in tags or as Python; False for an object behind a function's name."""


# the opening brace of an object, but not those of prose and templates
_OPENING = Pattern(r"[{｛](?=\s*+(?:[\"'“”‘’＂}｝]|//|/\*|[\w-]{1,60}+\s{0,20}+[:：](?!//)))")
_BRACE = Pattern(r"[{}｛｝]")
_FENCE_BEFORE = Pattern(r"(?:```|~~~)[ \t]*[\w+-]{0,20}\s*\Z")
_FENCE_AFTER = Pattern(r"\s*+(?:```|~~~)")


def scan(body: str) -> list[Object]:
    """Return the outermost objects of a text from left to right.

    Raises `AmbiguousReply` if a key stands twice with different values, or if there are too many objects or values;
    `UnreadableReply` if too much of them would have to be repaired.
    """
    return list(bounded(_objects(body), _MOST_OBJECTS))


def strict_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of the objects that are valid JSON, or [] if the objects cannot be read."""
    try:
        return [(each.start, each.end) for each in scan(text) if each.state == "strict"]
    except DecisionError:
        return []


def decoded(text: str) -> Any:
    """Parse a text that is one JSON value. Raises `ValueError` if it is not.

    Raises `AmbiguousReply` if a key stands twice with different values, or if there are too many values.
    """
    return Decoder(Work()).json.decode(text)


class Decoder:
    """A JSON decoder that cleans strings, counts values, and refuses a key with two different values."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.json = json.JSONDecoder(
            object_pairs_hook=self.pairs, parse_int=_integer, parse_float=self._real, parse_constant=_constant
        )

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Build an object from its members. Raises `AmbiguousReply` if a key stands twice with different values."""
        self._work.take(1 + len(pairs))
        out: dict[str, Any] = {}
        for spelt, given in pairs:
            key, value = cleaned(spelt), self._cleaned(given)
            if key in out and _as_json(out[key]) != _as_json(value):
                raise AmbiguousReply(f"The key {key[:40]!r} stands twice with different values.")
            out[key] = value
        return out

    def nested(self, members: list[tuple[str, Any]]) -> dict[str, Any]:
        """Build an object from the members that `relaxed` returns, and the objects in it."""
        return self.pairs([(key, self._nested(value)) for key, value in members])

    def _nested(self, value: Any) -> Any:
        if isinstance(value, tuple):  # the members of an object
            return self.nested(list(value))
        return [self._nested(item) for item in value] if isinstance(value, list) else value

    def _cleaned(self, value: Any) -> Any:
        """Clean the strings of a value again: an escape such as `\\u001b` is a character only after decoding."""
        if isinstance(value, str):
            return cleaned(value)
        if isinstance(value, list):
            self._work.take(len(value))
            return [self._cleaned(item) for item in value]
        return value

    def _real(self, digits: str) -> Real:
        self._work.take()
        value = Real(digits)
        if not isfinite(value):
            raise ValueError(f"{digits[:40]} is too large")
        return value


def _as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError("a number of that length is no decision")
    return int(digits)


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _objects(body: str) -> Iterator[Object]:
    position, work = 0, Work()
    decoder = Decoder(work)
    while opening := _OPENING.search(body, position):
        found = _object(body, opening.start(), work, decoder)
        yield found
        position = found.end


def _object(body: str, start: int, work: Work, decoder: Decoder) -> Object:
    try:
        value, end = _strict(body, start, decoder.json)
        if not _too_deep(value, body, start, end):
            return Object(start, end, "strict", value, _is_fenced(body, start, end))
    except (ValueError, RecursionError):
        pass
    try:
        members, end = relaxed(body, start, work)
        return Object(start, end, "repaired", decoder.nested(members), _is_fenced(body, start, end))
    except CutOff as error:
        return Object(start, len(body), "cut", None if error.members is None else decoder.nested(error.members))
    except Broken as error:
        return _beyond_repair(body, start, error.at)


def _strict(body: str, start: int, decoder: json.JSONDecoder) -> tuple[Any, int]:
    """Decode the object at `start`, from a short piece of the text first.

    An error costs time in proportion to the text that was given, because it counts the lines.
    """
    piece = body[start : start + _PIECE]
    try:
        value, end = decoder.raw_decode(piece)
    except json.JSONDecodeError as error:
        if start + _PIECE >= len(body) or (error.pos < _PIECE // 2 and "Unterminated" not in error.msg):
            raise
        value, end = decoder.raw_decode(body[start:])
    return value, start + end


def _beyond_repair(body: str, start: int, at: int) -> Object:
    """Return a broken object that ends at its closing brace, as far as counting braces can tell."""
    depth = body.count("{", start, at) - body.count("}", start, at)
    if depth <= 0:
        return Object(start, max(at, start + 1), "broken")
    for brace in _BRACE.finditer(body, at):
        depth += 1 if brace[0] in "{｛" else -1
        if not depth:
            return Object(start, brace.end(), "broken")
    return Object(start, len(body), "broken")


def _is_fenced(body: str, start: int, end: int) -> bool:
    before = _FENCE_BEFORE.search(body[max(0, start - 60) : start])
    return before is not None and _FENCE_AFTER.match(body, end) is not None


def _too_deep(value: Any, body: str, start: int, end: int) -> bool:
    """Return whether objects and lists nest deeper than `MAX_DEPTH`."""
    # few replies open so many brackets; those that do are looked at level by level
    if body.count("{", start, end) + body.count("[", start, end) <= MAX_DEPTH:
        return False
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return any(isinstance(each, (dict, list)) for each in level)
