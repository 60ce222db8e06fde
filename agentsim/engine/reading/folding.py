"""Folding: a text as it is compared: small letters, no diacritics, plain quotes, every character in its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

__all__ = ["BLANK", "HOLE", "bare", "compact", "folded", "masked", "untitled", "without"]

_LONG = 1_000  # characters
HOLE = "\ufffc"
"""Stands in a text for what was taken out of it."""

_PLAIN = dict.fromkeys("“”„‟«»＂", '"') | {
    **dict.fromkeys("‘’‚‛`´ʼ", "'"),
    **dict.fromkeys("–—−‐‑", "-"),
    **dict.fromkeys("\u00a0\u2009\u202f\u3000", " "),
    "。": "\n",
    "、": ",",
    "→": ">",
    "ł": "l",
    "Ł": "l",
    "ø": "o",
    "Ø": "o",
    "đ": "d",
    "ı": "i",
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
    r"|spieler|gracz|giocatore|jogador"
    r"|игрок[а-я]?|玩家)(?:[\s_#:-]+(?=\w)|(?=\d)))"
)
_SEPARATORS = re.compile(r"[\s_-]+")


def folded(text: str) -> str:
    """The text for comparing, as long as it was."""
    return text.translate(_FOLD) if len(text) < _LONG else _folded(text)


@lru_cache(4)
def _folded(text: str) -> str:
    """The same of a long text, which is looked at from several sides."""
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
