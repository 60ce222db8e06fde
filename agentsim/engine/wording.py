"""Wording: the text of prompts and displays.

A `Prompt` is the text of one request, in segments, ordered so that a provider can cache what repeats. Untrusted text is
`cleaned` when it arrives and `quoted` when it enters a prompt; `fitted` fits lines into a number of tokens, `bounded`
bounds JSON values. Games choose the words; `models` sends prompts, and knows the context of a model.

A template is filled from a record: `"{player} leaves the game with {votes:vote}"` of a record with `votes` 2 reads
"A leaves the game with 2 votes". It is checked when its class is made, so that a name that the record lacks never fails
in a game. The other helpers cut, count, list and name. Nothing here changes a decision.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import unicodedata
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, fields
from functools import cache, cached_property
from operator import attrgetter
from typing import Annotated, Any, TypeAlias, get_args, get_origin, get_type_hints

from agentsim.engine.letters import JOINERS, UNSPACED, has_words_within, joining, stands_apart
from agentsim.engine.markup import FOLLOWS, SIGNS
from agentsim.patterns import Pattern

NARRATOR = "NARRATOR"
"""The sender of a prompt's lines that are not a player's words; no player may have this name."""

TOKEN_BYTES = 4
"""The approximate number of UTF-8 bytes in a token: the same estimate for every model."""


def size(text: str) -> int:
    """Return the number of UTF-8 bytes, a better measure of tokens than characters are.

    A Chinese character is three bytes and about one token.
    """
    return len(text) if text.isascii() else len(text.encode())


@dataclass(frozen=True, slots=True)
class Prompt:
    """Segments in the order of their changes: never, only growing, at every call.

    Segments of one message are joined by a newline. A model reads them as they are; for a person, `players.rendering`
    formats `Quoted` and `Line`. `rules` are the same for every player of the game if possible; the player's persona
    follows them. `history` is append-only: its lines at one request are the first lines at the next, byte for byte,
    until a summary takes the place of lines. `state` and `question` are new each time.
    """

    rules: tuple[str, ...]
    history: tuple[str, ...]
    state: tuple[str, ...]
    question: tuple[str, ...]

    def text(self) -> str:
        """Return all segments as one string."""
        return "\n".join((*self.rules, *self.history, *self.state, *self.question))


class Quoted(str):
    """A line, or a part of one, that is JSON: a model reads the JSON, a person a rendering of its value."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The object, list or text in the JSON."""
        return json.loads(self)


class Line(str):
    """A line of words and `Quoted` parts: a model reads the line, a person a rendering of the parts."""

    __slots__ = ("parts",)
    parts: tuple[str, ...]


def joined(*parts: str) -> Line:
    """Return one line of these parts, which keeps the distinction between `Quoted` parts and words."""
    line = Line("".join(parts))
    line.parts = parts
    return line


class Restated(Line):
    """A line of history that summarizes earlier ones: a person who has read those is not shown it."""

    __slots__ = ()

    def __new__(cls, line: str) -> Restated:
        restated = super().__new__(cls, line)
        restated.parts = (line,)
        return restated


# C0 and C1 controls except newline and tab; bidirectional controls; invisible formatting that can hide or reorder
# words, except what `joining` examines; line and paragraph separators become newlines below.
_CONTROL = Pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]"
)
_ANSI = Pattern("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])")
"""An escape sequence for a terminal."""


def cleaned(text: str) -> str:
    """Return untrusted text as valid UTF-8 in NFC, without control characters; idempotent.

    Escape sequences, control and bidirectional characters are removed, and so are invisible ones unless they are
    `joining`; surrogate pairs are joined and lone surrogates become U+FFFD; every kind of line end becomes a newline.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text  # almost every text, and this function is called for each
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub("[\u2028\u2029\u0085\x0b\x0c]", "\n", text)
    # removing the rest of the escape characters as well keeps the halves of a sequence from joining
    text = unicodedata.normalize("NFC", _CONTROL.sub("", _ANSI.sub("", text)))
    while JOINERS.search(text) and (kept := unicodedata.normalize("NFC", JOINERS.sub(joining, text))) != text:
        text = kept  # runs that were separated by another run are one now
    return text


_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode  # made once: it is needed at every step


def quoted(**fields: Any) -> Quoted:
    """Return one JSON object on one line: one of two ways in which a player's words enter another's prompt.

    Text that could end the line early, or pass for a tag, a header or a control token of a chat template, is escaped
    (`defused`); `json.loads` returns the exact fields.
    """
    return Quoted(defused(_LINE(fields)))


def in_quotes(text: str) -> Quoted:
    """Return one JSON string, equally safe, for words within a line of plain ones: `A pitch: "Keep me."`."""
    return Quoted(defused(_LINE(text)))


_UNSEEN = Pattern(f"{_CONTROL.pattern[:-1]}\t\n\u2028\u2029]|{JOINERS.pattern}")


def in_line(text: str) -> str:
    """Return words of the rules, which may contain a player's, as one safe line, with control characters escaped."""
    return defused(_UNSEEN.sub(_escaped, text))


def _escaped(unseen: re.Match[str]) -> str:
    kept = joining(unseen) if JOINERS.match(unseen[0]) else ""
    return kept + json.dumps(unseen[0].removeprefix(kept))[1:-1]


_LINE_ENDS = "\u2028\u2029\u0085"
_SIGNS = re.escape(SIGNS)
# The leading character class lets the search jump between candidates.
_DEFUSED = Pattern(f"[{_LINE_ENDS}{_SIGNS}](?:(?<=[{_LINE_ENDS}])|{FOLLOWS})")


def defused(line: str) -> str:
    """Escape angle brackets, control tokens and line ends in the strings of a line of JSON, which keeps its value.

    The first character of each token is escaped. Tokens cannot occur outside of strings.
    """
    line = line.replace("<", "\\u003c").replace(">", "\\u003e")
    return _DEFUSED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", line)


@dataclass(frozen=True)
class Listed:
    """Lines under a title, oldest first; the title states their number and that of the lines left out.

    `more` lines are left out from the start; `rest` names them. If there is too little room, the oldest lines are left
    out first. Of several lists, the longest in proportion to its `worth` is shortened.
    """

    title: str
    lines: Sequence[str]
    worth: int
    more: int = 0
    rest: str = "older"

    def shown(self, count: int) -> Iterator[str]:
        """Yield the title and `count` of the lines."""
        more = self.more + len(self.lines) - count
        yield (
            f"{self.title} ({count}{f', and {more} {self.rest}' if more else ''}):"
            if count + more
            else (f"{self.title}: none.")
        )
        yield from self.lines[len(self.lines) - count :]


PromptSegment: TypeAlias = str | Listed


def fitted(parts: Sequence[PromptSegment], room: int) -> list[str]:
    """Return the lines of all parts in order, in about `room` bytes; lines outside of lists always stay."""
    lists = [part for part in parts if isinstance(part, Listed)]
    counts = [len(part.lines) for part in lists]
    every = [line for part in parts for line in (part.lines if isinstance(part, Listed) else (part,))]
    excess = size("\n".join(every)) + 1 + sum(size(part.title) + 30 for part in lists) - room
    sizes = [[size(line) + 1 for line in part.lines] for part in lists] if excess > 0 else []
    totals = [sum(each) for each in sizes]
    while excess > 0 and any(counts):
        longest = max(filter(counts.__getitem__, range(len(lists))), key=lambda each: totals[each] / lists[each].worth)
        gone = len(sizes[longest]) - counts[longest]
        counts[longest] -= 1
        totals[longest] -= sizes[longest][gone]
        excess -= sizes[longest][gone]
    shown = iter(zip(lists, counts, strict=True))
    return [line for part in parts for line in ([part] if isinstance(part, str) else _next(shown))]


def _next(shown: Iterator[tuple[Listed, int]]) -> Iterator[str]:
    part, count = next(shown)
    return part.shown(count)


def bounded(found: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """Return JSON values in at most `limit` characters: the longest part loses its last entries.

    If no part has entries left, the result has the beginning of the JSON.
    """
    out, dropped = dict(found), 0
    parts = {
        name: list(part.items() if isinstance(part, dict) else part)
        for name, part in found.items()
        if isinstance(part, (dict, list))
    }
    while len(_json(out)) > limit and any(parts.values()):
        longest = max(parts, key=lambda name: len(parts[name]))
        parts[longest].pop()
        dropped += 1
        few = parts[longest]
        out |= {longest: dict(few) if isinstance(found[longest], dict) else few, "more_and_not_shown": dropped}
    return out if any(parts.values()) or not dropped else {"too_long": cut(_json(found), limit)}


_json = json.JSONEncoder(ensure_ascii=False).encode


CUT = " [cut]"
_LONGEST = 200  # characters of a name that are compared
_WORD = Pattern(rf"(?:[^\W{UNSPACED}]+|-)+")
_IN_WORD = Pattern(rf"[^\W{UNSPACED}]|-")
_PLAYER = Pattern(r"\bplayer\s*$", re.IGNORECASE)
_VOWELS = {*"aeiou"}
_OPENS = "\"'(\u201c\u2018"
_SLOT = Pattern(r"\{([a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)*)(?::([^{}]+))?\}")
_PLAIN = (str, int)
_PLAIN_KINDS = frozenset(_PLAIN)  # exactly these types: a whole row of them is filled in at once
_NUMERIC = Pattern(r"[+,]?(?:\.\d+)?[fg%]")


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters, with a visible mark if the text is cut."""
    text = text.strip()
    return text if len(text) <= limit else text[: limit - len(CUT)].rstrip() + CUT


def plural(noun: str) -> str:
    """Return the plural of a noun, or of the last word of several: `vote` is `votes`, `history` is `histories`.

    >>> [plural(noun) for noun in ("branch", "day", "required component")]
    ['branches', 'days', 'required components']
    """
    if noun.endswith("y") and noun[-2:-1] not in _VOWELS:
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("ch", "sh", "s", "x", "z")) else f"{noun}s"


def by_count(count: float, one: str, many: str | None = None) -> str:
    """Return `one` for a count of 1, else `many`, by default the plural of `one`."""
    return one if count == 1 else plural(one) if many is None else many


def counted(count: int, noun: str, many: str | None = None, form: str = "") -> str:
    """Return a count with its noun: `1 vote`, `0 votes`; with the form `,`, `1,000 votes`."""
    return f"{count:{form}} {by_count(count, noun, many)}"


def listed(names: Sequence[str]) -> str:
    """Return names within a sentence: `A, B and C`."""
    return ", ".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} and {names[-1]}"


def few(names: Sequence[str], most: int) -> str:
    """Return the first of many names, and the number of the others: `A, B and 3 more`."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def either(names: Sequence[str]) -> str:
    """Return names to choose from: `A, B or C`."""
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]


def decimals(half_width: float) -> int:
    """Return the decimals of a number with an interval: 2, or fewer from 10 on and up to 4 below 0.1."""
    size = math.floor(math.log10(half_width)) if half_width > 0 else 0
    return max(0, 2 - size) if size >= 0 else min(4, max(2, 1 - size))


def aligned(rows: Sequence[Sequence[str]], gap: str = "  ") -> list[str]:
    """Return a table's rows as lines, each column as wide as its widest cell on a terminal."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    padded = ([cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return [gap.join(cells).rstrip() for cells in padded]


def _width(text: str) -> int:
    """Return the number of a terminal's cells for a text: two per Chinese character, none per combining mark."""
    if text.isascii():
        return len(text)
    kinds = ((unicodedata.category(char), unicodedata.east_asian_width(char)) for char in text)
    return sum(0 if kind in {"Mn", "Me", "Cf"} else 1 + (wide in {"W", "F"}) for kind, wide in kinds)


def first_place(names: Sequence[str], alone: str = "wins") -> str:
    """Return who came first, one or several: `A wins`, `A, B share the first place`."""
    return f"{names[0]} {alone}" if len(names) == 1 else f"{', '.join(names)} share the first place"


def near(name: str, known: Sequence[str], before: str = "") -> str:
    """Return a hint for a misspelled name, to be appended to an error, or "" if no known name is similar.

    `before` is a prefix of all known names in the hint, and does not count for the similarity.
    """
    found = difflib.get_close_matches(name[:_LONGEST], known, n=1)
    found = found or [other for other in known if other.casefold() == name.casefold()]  # difflib is case-sensitive
    return f" (did you mean {before}{found[0]}?)" if found else ""


def sentence(words: str) -> str:
    """Return words as a sentence, with a capital and a full stop; "" stays ""."""
    words = words.strip()
    return words and words[0].upper() + words[1:] + ("" if words[-1] in ".!?…" else ".")


def snake_case(name: str) -> str:
    """Return a class's name in snake case: `ItemSold` is `item_sold`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().lstrip("_")


class Naming:
    """A finder of the players that a text names, by the names that stand for them.

    A name is found as a whole word, with its exact case: `B` in `B's`, but not in `B-2`; `Ana` not in `Ana Maria` if
    both play. In scripts without spaces, a name is found within other words. Two names are English words too: `A` does
    not count at the beginning of a sentence, `I` only after `player`.
    """

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        self._by_word: Mapping[str, list[tuple[str, str]]] = defaultdict(list)
        unspaced: dict[str, str] = {}
        for name, player in sorted(set(names), key=lambda each: (-len(each[0]), each)):
            if has_words_within(name):
                unspaced[name] = player
            elif word := _WORD.match(name):
                self._by_word[word.group()].append((name, player))
        self._unspaced = unspaced
        self._anywhere = re.compile("|".join(map(re.escape, unspaced))) if unspaced else None

    @cached_property
    def _first_words(self) -> re.Pattern[str] | None:
        """The pattern of the first words of names, also at the ends of longer words."""
        # no assertion about the character before: a pattern that begins with one is tried at every position
        words = "|".join(map(re.escape, sorted(self._by_word)))
        return re.compile(rf"(?:{words})(?!{_IN_WORD.pattern})") if words else None

    def named(self, text: str) -> Iterator[str]:
        """Yield the player of each occurrence of a name; of overlapping names, the first and longest counts."""
        upto = 0
        for start, name, player in self._found(text):
            if start >= upto:
                upto = start + len(name)
                yield player

    def _found(self, text: str) -> Iterable[tuple[int, str, str]]:
        """Yield the position, name and player of each occurrence, in order, including overlaps."""
        words = self._spaced_names(text)
        if self._anywhere is None:
            return words
        found = ((each.start(), each.group()) for each in self._anywhere.finditer(text))
        others = ((start, name, self._unspaced[name]) for start, name in found if stands_apart(name, text, start))
        return sorted([*words, *others], key=lambda each: (each[0], -len(each[1])))

    def _spaced_names(self, text: str) -> Iterator[tuple[int, str, str]]:
        for found in () if self._first_words is None else self._first_words.finditer(text):
            start = found.start()
            if start and _IN_WORD.match(text, start - 1):
                continue
            for name, player in self._by_word[found.group()]:
                if text.startswith(name, start) and stands_apart(name, text, start) and _meant(name, text, start):
                    yield start, name, player
                    break


def _meant(name: str, text: str, start: int) -> bool:
    """Return whether a name in a text is meant as a name, and not as an English word."""
    if name not in {"A", "I"} or (name == "A" and not _begins_a_sentence(text, start)):
        return True
    return _PLAYER.search(text, max(0, start - 19), start) is not None


def _begins_a_sentence(text: str, offset: int) -> bool:
    while offset and text[offset - 1] != "\n" and (text[offset - 1] in _OPENS or text[offset - 1].isspace()):
        offset -= 1
    return not offset or text[offset - 1] in ".!?:\n"


# -- templates


@dataclass(frozen=True, slots=True)
class Worded:
    """A mark of a field whose values templates put into words: `Position = Annotated[int, Worded(name_of)]`."""

    words: Callable[[Any], str]


class TemplatePart(ABC):
    """A part of a template that depends on the field `name`, or on a part of it: `item.required`."""

    name: str

    @abstractmethod
    def templates(self) -> Iterable[Template]:
        """Return the templates inside of it that the same record fills."""

    @abstractmethod
    def filler(self, record: type[Any]) -> Filler:
        """Return the function that fills it from a record of this class."""


Filler: TypeAlias = Callable[[Any], str]
Template: TypeAlias = str | TemplatePart | tuple[Any, ...]
"""A text, a `TemplatePart` (`If`, `By`, `Rows`), or a tuple of templates that are concatenated.

`{name}` is a value, `{name.part}` a part of it. Values of a tuple or list are joined by commas, a mapping is "A 2, B
1", None is "". `{name:and}` lists "A, B and C". `{name:#}` counts the entries of a field, `{name:vote}` counts in
words: "1 vote", "3 votes". `{name:.2f}` and the like format a number as Python does.
"""


@dataclass(frozen=True, slots=True)
class If(TemplatePart):
    """The first template if the field is true (not None, 0 or empty), else the second."""

    name: str
    then: Template
    otherwise: Template = ""

    def templates(self) -> Iterable[Template]:
        return (self.then, self.otherwise)

    def filler(self, record: type[Any]) -> Filler:
        value, then, otherwise = _getter(self.name), _filler(self.then, record), _filler(self.otherwise, record)
        return lambda record: then(record) if value(record) else otherwise(record)


@dataclass(frozen=True, slots=True)
class By(TemplatePart):
    """The template for the field's value, or `otherwise`."""

    name: str
    cases: Mapping[Any, Template]
    otherwise: Template = ""

    def templates(self) -> Iterable[Template]:
        return (*self.cases.values(), self.otherwise)

    def filler(self, record: type[Any]) -> Filler:
        value, otherwise = _getter(self.name), _filler(self.otherwise, record)
        cases = {case: _filler(template, record) for case, template in self.cases.items()}
        return lambda record: cases.get(value(record), otherwise)(record)


@dataclass(frozen=True, slots=True)
class Rows(TemplatePart):
    """One line for each record of the field, filled from that record."""

    name: str
    row: Template

    def templates(self) -> Iterable[Template]:
        return ()

    def filler(self, record: type[Any]) -> Filler:
        values, row = _getter(self.name), self.row
        return lambda record: "\n".join(filled(row, each) for each in values(record))


_getter = cache(attrgetter)


def names_in(template: Template) -> Iterator[str]:
    """Yield the record's names in a template, without their parts.

    Raises `ValueError` for a brace outside of a name.
    """
    if isinstance(template, str):
        if set("{}") & set(_SLOT.sub("", template)):
            raise ValueError(f"a brace that belongs to no name in {template!r}")
        yield from (found[1].partition(".")[0] for found in _SLOT.finditer(template))
    elif isinstance(template, TemplatePart):
        yield template.name.partition(".")[0]
        yield from names_in(tuple(template.templates()))
    else:
        for part in template:
            yield from names_in(part)


def filled(template: Template, record: Any) -> str:
    """Return the template filled from this record."""
    key = id(template), type(record)
    if (made := _FILLERS.get(key)) is None:
        if len(_FILLERS) >= _MOST_FILLERS:
            _FILLERS.clear()
        # the template is kept, or another could get its `id`
        made = _FILLERS[key] = template, _filler(template, type(record))
    return made[1](record)


_MOST_FILLERS = 4096
_FILLERS: dict[tuple[int, type[Any]], tuple[Template, Filler]] = {}


def _filler(template: Template, record: type[Any]) -> Filler:
    """Return the function that fills a template from a record of this class."""
    if isinstance(template, TemplatePart):
        return template.filler(record)
    if isinstance(template, tuple):
        fillers = [_filler(part, record) for part in template]
        return lambda record: "".join([fill(record) for fill in fillers])
    parts = _SLOT.split(template)
    if len(parts) == 1:
        return lambda _: template
    text = "%s".join(part.replace("%", "%%") for part in parts[::3])
    paths, specs = parts[1::3], parts[2::3]
    words = [_placeholder(record, path, spec) for path, spec in zip(paths, specs, strict=True)]
    if len(paths) == 1 or any(specs) or not _wordings(record).keys().isdisjoint(paths):
        return lambda record: text % tuple([said(record) for said in words])
    values = attrgetter(*paths)

    def fill(record: Any) -> str:
        found = values(record)
        return text % (found if _PLAIN_KINDS.issuperset(map(type, found)) else tuple([said(record) for said in words]))

    return fill


def _placeholder(record: Any, path: str, spec: str | None) -> Filler:
    value, words = attrgetter(path), _wordings(record).get(path, str)
    if spec is None and words is str:
        return lambda record: found if type(found := value(record)) is str else _said(found, str)
    if spec is None:
        return lambda record: _said(value(record), words)
    if spec == "and":
        return lambda record: listed([words(each) for each in value(record)])
    if _NUMERIC.fullmatch(spec):
        return lambda record: format(value(record), spec)
    return lambda record: _count(value(record), spec, words)


def _count(value: Any, noun: str, words: Callable[[Any], str]) -> str:
    """Return a number in its field's words, or the size of a value, with the noun; without it for `#`."""
    said = str(len(value)) if isinstance(value, Sized) and not isinstance(value, str) else words(value)
    return said if noun == "#" else f"{said} {by_count(said == '1', noun)}"


def _said(value: Any, words: Callable[[Any], str]) -> str:
    if isinstance(value, _PLAIN):
        return words(value)
    match value:
        case None:
            return ""
        case Mapping():
            return ", ".join(f"{key} {words(each)}" for key, each in value.items())
        case tuple() | list():
            return ", ".join(map(words, value))
    return words(value)


_WORDINGS: dict[type[Any], Mapping[str, Callable[[Any], str]]] = {}


def _wordings(record: type[Any]) -> Mapping[str, Callable[[Any], str]]:
    """Return the functions that put a record's marked fields into words, found once per class."""
    if record not in _WORDINGS:
        if (parts := getattr(record, "model_fields", None)) is not None:  # pydantic has parsed its hints
            hints: dict[str, Any] = {name: (part.annotation, part.metadata) for name, part in parts.items()}
        else:
            found = get_type_hints(record, include_extras=True)
            hints = {field.name: (found[field.name], ()) for field in fields(record)}
        marks = ((name, mark) for name, (hint, more) in hints.items() for mark in (*_marks(hint), *more))
        _WORDINGS[record] = {name: mark.words for name, mark in marks if isinstance(mark, Worded)}
    return _WORDINGS[record]


def _marks(hint: Any) -> Iterator[Worded]:
    """Yield the marks of a field's type, or of its parts: `tuple[Position, ...]`, `Position | None`."""
    yield from (mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Worded))
    for inner in get_args(hint) if get_origin(hint) is not Annotated else ():
        yield from _marks(inner)
