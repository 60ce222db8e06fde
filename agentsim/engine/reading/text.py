"""Text: a reply as it is compared (folded), how much of it is looked at, and the values of JSON in it.

Bounds are counted in work and not in time, so that a replay comes to the same; a reply that blows one of them says too
much to mean one thing.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from sys import maxsize
from typing import Any, TypeVar

from agentsim.engine.decision import Real
from agentsim.engine.prompt import cleaned
from agentsim.errors import AmbiguousReply, UnreadableReply

T = TypeVar("T")

MOST_CLAIMS = 150  # of a reply: each is looked at with all around it
_MOST_LINES = 3_000  # that are not empty
_MOST_TAGS, _MOST_FENCES = 2_000, 500  # of what was not thought
_MOST_VALUES = 4_000  # in all objects
_MOST_STEPS = 3_000  # of mending: a member, a comment, a quote
_MOST_DIGITS = 30  # of a whole number: longer ones are slow to convert; amounts have fewer (`MAX_DIGITS`)

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


class Decoder:
    """JSON as it is read in replies: its strings cleaned again, its values counted."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self.json = json.JSONDecoder(
            object_pairs_hook=self.pairs, parse_int=_integer, parse_float=self._real, parse_constant=_constant
        )

    def pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object; `AmbiguousReply` where a key occurs twice with different values."""
        self._work.take(1 + len(pairs))
        out: dict[str, Any] = {}
        for spelt, given in pairs:
            key, value = cleaned(spelt), self._cleaned(given)
            if key in out and _as_json(out[key]) != _as_json(value):
                raise AmbiguousReply(f"The key {key[:40]!r} stands twice with different values.")
            out[key] = value
        return out

    def nested(self, members: list[tuple[str, Any]]) -> dict[str, Any]:
        """The object of mended members, objects in it too."""
        return self.pairs([(key, self._nested(value)) for key, value in members])

    def _nested(self, value: Any) -> Any:
        if isinstance(value, tuple):  # the members of an object
            return self.nested(list(value))
        return [self._nested(item) for item in value] if isinstance(value, list) else value

    def _cleaned(self, value: Any) -> Any:
        """The value with its strings cleaned: an escape such as `\\u001b` gets past the door unseen."""
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


def decoded(text: str) -> Any:
    """The JSON value that a text is; `ValueError` where it is none."""
    return Decoder(Work()).json.decode(text)
