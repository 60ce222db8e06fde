"""Prompt: the text of one request, in segments, ordered so that a provider can cache what repeats.

The module also handles untrusted text (`cleaned` when it arrives, `quoted` when it enters a prompt), fits lines into a
number of tokens (`fitted`) and bounds JSON values (`bounded`). Games choose the words. `models` sends prompts, and
knows the context of a model.
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
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e001f\U000e0080-\U000e00ff\U000e01f0-\U000e0fff]"
)
_ANSI = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])")
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


_UNSEEN = re.compile(f"{_CONTROL.pattern[:-1]}\t\n\u2028\u2029]|{JOINERS.pattern}")


def in_line(text: str) -> str:
    """Return words of the rules, which may contain a player's, as one safe line, with control characters escaped."""
    return defused(_UNSEEN.sub(_escaped, text))


def _escaped(unseen: re.Match[str]) -> str:
    kept = joining(unseen) if JOINERS.match(unseen[0]) else ""
    return kept + json.dumps(unseen[0].removeprefix(kept))[1:-1]


_LINE_ENDS = "\u2028\u2029\u0085"
_SIGNS = re.escape(SIGNS)
# The leading character class lets the search jump between candidates.
_DEFUSED = re.compile(f"[{_LINE_ENDS}{_SIGNS}](?:(?<=[{_LINE_ENDS}])|{FOLLOWS})")


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
