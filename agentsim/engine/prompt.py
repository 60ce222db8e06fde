"""Prompt: the words of one request, in segments, ordered so that a provider can cache what repeats.

Also how foreign text is handled (`cleaned` when it arrives, `quoted` when it enters a prompt) and how lines are
`fitted` into a number of tokens, and JSON values `bounded`. The words, and which of them are relevant, are the game's.
How a provider wants a prompt sent, and whether a model's context is large enough, are in `models`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from agentsim.engine.letters import JOINERS, joining
from agentsim.engine.markup import FOLLOWS, SIGNS
from agentsim.engine.wording import cut

NARRATOR = "NARRATOR"
"""Whom a line of a prompt is from that is no player's words; no player may be called so."""

TOKEN_BYTES = 4
"""Of UTF-8 in a token, about: the same estimate for every model."""


def size(text: str) -> int:
    """The bytes of a text, which tell more than its characters do: a Chinese one is three bytes and about one token."""
    return len(text) if text.isascii() else len(text.encode())


@dataclass(frozen=True, slots=True)
class Prompt:
    """Segments in the order in which they change: never, only growing, at every call.

    Segments of one message are joined by a newline. A model reads them as they are; a person reads what
    `players.rendering` makes of `Quoted` and `Line`. `rules` are the same for every player of the game
    wherever possible; the player's persona follows them. `history` is append-only: what stood there at one
    request stands there, byte for byte, at the next. `state` and `question` are new each time.
    """

    rules: tuple[str, ...]
    history: tuple[str, ...]
    state: tuple[str, ...]
    question: tuple[str, ...]

    def text(self) -> str:
        """Everything, as one string."""
        return "\n".join((*self.rules, *self.history, *self.state, *self.question))


class Quoted(str):
    """A line, or a part of one, that is JSON: a model reads it as it is, a person reads what is made of its value."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The object, list or text that it spells."""
        return json.loads(self)


class Line(str):
    """A line made of words and of `Quoted` parts: a model reads the line, a person what is made of the parts."""

    __slots__ = ("parts",)
    parts: tuple[str, ...]


def joined(*parts: str) -> Line:
    """One line of these parts, in which those that are `Quoted` are told from words."""
    line = Line("".join(parts))
    line.parts = parts
    return line


class Restated(Line):
    """A line of history that says in short what stood there before: a person who has read that is not told again."""

    __slots__ = ()

    def __new__(cls, line: str) -> Restated:
        restated = super().__new__(cls, line)
        restated.parts = (line,)
        return restated


# C0 and C1 controls but newline and tab; bidirectional controls; invisible formatting that can hide or reorder words,
# but for what `joining` looks at; line and paragraph separators become newlines below.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]"
)
_ANSI = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])")
"""A command to a terminal."""


def cleaned(text: str) -> str:
    """Foreign text as valid UTF-8 in NFC, without control characters; idempotent.

    Escape sequences, control and bidirectional characters go, and so do invisible ones but where they are `joining`;
    surrogate pairs are joined and lone surrogates become U+FFFD; every kind of line end becomes a newline.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text  # almost every text, and this function is called for each
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub("[\u2028\u2029\u0085\x0b\x0c]", "\n", text)
    # no escape character is left by the second step, so the halves of a sequence cannot find each other
    text = unicodedata.normalize("NFC", _CONTROL.sub("", _ANSI.sub("", text)))
    while JOINERS.search(text) and (kept := unicodedata.normalize("NFC", JOINERS.sub(joining, text))) != text:
        text = kept  # runs that another run had parted are one now
    return text


_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode  # made once: it is asked for at every step


def quoted(**fields: Any) -> Quoted:
    """One JSON object on one line: one of the two ways in which one player's words enter another's prompt.

    What could end the line early, or pass for a tag, a header or a control token of a chat template, is escaped
    (`defused`); `json.loads` gives back the exact fields.
    """
    return Quoted(defused(_LINE(fields)))


def in_quotes(text: str) -> Quoted:
    """One JSON string: the other way, for words within a line of plain ones, `A pitch: "Keep me."`; as safe."""
    return Quoted(defused(_LINE(text)))


_UNSEEN = re.compile(f"{_CONTROL.pattern[:-1]}\t\n\u2028\u2029]|{JOINERS.pattern}")


def in_line(text: str) -> str:
    """Words of the rules, which may hold a player's, as one line: as safe, with control characters escaped."""
    return defused(_UNSEEN.sub(_escaped, text))


def _escaped(unseen: re.Match[str]) -> str:
    kept = joining(unseen) if JOINERS.match(unseen[0]) else ""
    return kept + json.dumps(unseen[0].removeprefix(kept))[1:-1]


_LINE_ENDS = "\u2028\u2029\u0085"
_SIGNS = re.escape(SIGNS)
# It begins with one set of characters, which lets the search leap from one of them to the next.
_DEFUSED = re.compile(f"[{_LINE_ENDS}{_SIGNS}](?:(?<=[{_LINE_ENDS}])|{FOLLOWS})")


def defused(line: str) -> str:
    """One line of JSON with angle brackets, control tokens and line ends in its strings escaped; its value is the same.

    The first character of each token is escaped. Outside of strings no token can occur.
    """
    line = line.replace("<", "\\u003c").replace(">", "\\u003e")
    return _DEFUSED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", line)


@dataclass(frozen=True)
class Listed:
    """Lines under a title, oldest first, which counts them, `more` that are not there, and those that are left out.

    The oldest are left out first, or the last where `first` is set; `rest` says what those are. Among lists, the one is
    shortened that is longest for what it is `worth`.
    """

    title: str
    lines: Sequence[str]
    worth: int
    more: int = 0
    rest: str = "older ones"
    first: bool = False

    def shown(self, count: int) -> Iterator[str]:
        """The title and so many of the lines."""
        kept = self.lines[:count] if self.first else self.lines[len(self.lines) - count :]
        more = self.more + len(self.lines) - count
        yield (
            f"{self.title} ({count}{f', and {more} {self.rest}' if more else ''}):"
            if count + more
            else (f"{self.title}: none.")
        )
        yield from kept


PromptSegment: TypeAlias = str | Listed


def fitted(parts: Sequence[PromptSegment], room: int) -> list[str]:
    """The lines of all parts in order, in about so many bytes; lines that are no list's always stay."""
    lists = [part for part in parts if isinstance(part, Listed)]
    counts = [len(part.lines) for part in lists]
    every = [line for part in parts for line in (part.lines if isinstance(part, Listed) else (part,))]
    excess = size("\n".join(every)) + 1 + sum(size(part.title) + 30 for part in lists) - room
    sizes = [[size(line) + 1 for line in part.lines] for part in lists] if excess > 0 else []
    totals = [sum(each) for each in sizes]
    while excess > 0 and any(counts):
        longest = max(filter(counts.__getitem__, range(len(lists))), key=lambda each: totals[each] / lists[each].worth)
        gone = counts[longest] - 1 if lists[longest].first else len(sizes[longest]) - counts[longest]
        counts[longest] -= 1
        totals[longest] -= sizes[longest][gone]
        excess -= sizes[longest][gone]
    shown = iter(zip(lists, counts, strict=True))
    return [line for part in parts for line in ([part] if isinstance(part, str) else _next(shown))]


def _next(shown: Iterator[tuple[Listed, int]]) -> Iterator[str]:
    part, count = next(shown)
    return part.shown(count)


def bounded(found: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """JSON values in at most so many characters: the longest part loses its last entries.

    Of one that has no entries to leave out, it is the beginning of its JSON.
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
