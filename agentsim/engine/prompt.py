"""Prompt: the words of one request, in segments, ordered so that a provider can cache what repeats.

Also the two rules about foreign words: `cleaned` at the door, `quoted` on the way into a prompt. Not here:
what a game says (its `prompts` module) and how a provider wants it sent (`models`).
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from agentsim.engine.control import defused

__all__ = ["ANSI", "NARRATOR", "Prompt", "Restated", "cleaned", "quoted"]

NARRATOR = "NARRATOR"
"""Whom a line of a prompt is from that is no player's words; no player may be called so."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Segments in the order in which they change: never, only growing, at every call.

    Segments of one message are joined by a newline. `rules` are the same for every player of the game
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


class Restated(str):
    """A line of history that says in short what stood there before: a person who has read that is not told again."""

    __slots__ = ()


# C0 and C1 controls but newline and tab; bidirectional controls; zero-width and other invisible formatting
# that can hide or reorder words; the tag block; line and paragraph separators become newlines below.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)
ANSI = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[ -/]*[0-~])")
"""A command to a terminal."""


def cleaned(text: str) -> str:
    """Foreign text without what could forge or break anything: idempotent, valid UTF-8, NFC.

    Escape sequences, control and bidirectional characters go; surrogate pairs are joined and lone surrogates
    become U+FFFD; every kind of line end becomes a newline.
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text  # almost every text, and everybody waits for the next line
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = re.sub("[\u2028\u2029\u0085\x0b\x0c]", "\n", text)
    # no escape character is left by the second step, so the halves of a sequence cannot find each other
    return unicodedata.normalize("NFC", _CONTROL.sub("", ANSI.sub("", text)))


def quoted(**fields: Any) -> str:
    """One JSON object on one line: the only way in which one player's words enter another's prompt.

    What could end the line early, or pass for a tag, a header or a control token of a chat template, is escaped
    (`control.defused`); `json.loads` gives back the exact fields.
    """
    return defused(json.dumps(fields, ensure_ascii=False, allow_nan=False))
