"""Values: what one value of a reply means: a name on a list, a whole number, yes or no; alike in every field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from pydantic_core import PydanticCustomError

from agentsim.engine.number import Real, whole
from agentsim.engine.reading.folding import BLANK, bare, compact, folded, untitled
from agentsim.engine.reading.vocabulary import NO, NOTHING, PASS, UNITS, VALUES, YES

__all__ = ["UNSAID", "amount", "chosen", "inner", "is_no_number", "leading_amount", "named", "yes_or_no"]

UNSAID: Final = object()
"""What a value comes to that says none of those it may say."""

_LONGEST = 400  # characters of a name or a number, with all decoration; more are neither
_AROUND = f"*_`{BLANK}"
_NO_NAMES: Final[frozenset[str]] = frozenset()
NO_SYNONYMS: Final[Mapping[str, Sequence[str]]] = {}
_INNER_KEYS = frozenset(
    (
        *("id", "name", "player", "value", "choice", "candidate", "target", "answer", "team", "amount", "number"),
        *("bid", "player_id", "playerid", "vote", "type", "action", "credits", "partner", "selected"),
    )
)
_ADVERBS = re.compile(
    r"[\s,]+(?:this (?:time|round|turn|one)|for now|now|today|tonight|again|please|thanks?|thank you)$"
)
_PAIRS = {('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("[", "]"), ("(", ")"), ("<", ">")}
_UNIT_BEHIND = re.compile(rf"(?P<number>.*\d)\s*(?:{UNITS})", re.IGNORECASE)
_UNIT_BEFORE = re.compile(
    r"(?:usd|eur|gbp|pln|us\$|cr\.?|#|(?:agent|proposal|post|law|project|id)[\s_]*#?)\s*(?P<number>\d.*)",
    re.IGNORECASE,
)
_LEADING = re.compile(
    rf"[\s*_\"'(\[<:=]*(?P<number>(?:(?:usd|eur|gbp|pln"
    rf"|[$€£¥])\s?)?[+-]?\d[\d.,_'\u2019\u00a0\u2009\u202f]*(?:[ ]\d{{3}}(?!\d))*"
    rf"(?:\s?(?:[$€£¥]|(?:{UNITS})\b))?)",
    re.IGNORECASE,
)
_AMOUNT_GOES_ON = re.compile(
    r"[*_\"')\]>]*\s*(?:[-\u2013/+*x%^]\s*\d|%|\d|(?:or|to|and|bis|oder|ou|o|lub|или)\s+\d|[km]\b|thousand"
    r"|million|hundred|\?|→|->|>|(?:less|more|above|below|under|over)\b)",
    re.IGNORECASE,
)


def inner(given: Any) -> Any:
    """The one value in a list of one, or in an object that holds it and words alone (`{"id": "C"}`)."""
    if isinstance(given, list) and len(given) == 1:
        return inner(given[0])
    if not isinstance(given, Mapping):
        return given
    known: dict[str, Any] = {}
    others = []
    for name, value in given.items():
        if (key := folded(name).strip()) in _INNER_KEYS:
            known[key] = value
        else:
            others.append(value)
    plain = all(isinstance(value, (str, int, float)) and not isinstance(value, bool) for value in known.values())
    if not plain or not all(isinstance(value, str) for value in others):
        return given
    alike = {str(value) for value in known.values()}
    return known["id"] if "id" in known else known.popitem()[1] if len(alike) == 1 else given


def named(given: str, names: Iterable[str]) -> str | None:
    """The one of these names that a word means: as it is spelt, or else the only one that reads the same.

    Compared are spelling; letters without case, diacritics and decoration; then without `player` before the name;
    then without separators.
    """
    known, exact = tuple(names), given.strip()
    return exact if exact in known else _named(_word(exact), known)


def _named(word: str, known: tuple[str, ...]) -> str | None:
    if not word or word[0] in "-!":
        return None
    short, alike = untitled(word), _alike(known)
    levels = (
        alike.plain.get(word, _NO_NAMES),
        alike.plain.get(short, _NO_NAMES) | alike.untitled.get(word, _NO_NAMES),
        alike.compact.get(compact(word), _NO_NAMES) | alike.compact.get(compact(short), _NO_NAMES),
        alike.shortest.get(compact(short), _NO_NAMES),
    )
    found = next(filter(None, levels), _NO_NAMES)
    return next(iter(found)) if len(found) == 1 else None


class _Alike(NamedTuple):
    """Names by what is left of them."""

    plain: dict[str, frozenset[str]]
    untitled: dict[str, frozenset[str]]
    compact: dict[str, frozenset[str]]
    shortest: dict[str, frozenset[str]]


@lru_cache(256)
def _alike(known: tuple[str, ...]) -> _Alike:
    found: _Alike = _Alike({}, {}, {}, {})
    for name in known:
        plain = bare(folded(name))
        short = untitled(plain)
        for names, left in zip(found, (plain, short, compact(plain), compact(short)), strict=True):
            names[left] = names.get(left, _NO_NAMES) | {name}
    return found


def _word(given: str) -> str:
    """A folded name or number without decoration; "" for a text that is too long for either."""
    return bare(folded(given)) if len(given) <= _LONGEST else ""


def chosen(
    given: Any, values: Sequence[Any], nothing: Any = UNSAID, synonyms: Mapping[str, Sequence[str]] = NO_SYNONYMS
) -> Any:
    """The one of a choice's values that is meant, or `UNSAID`; null and "nobody" mean `nothing`."""
    given = given if isinstance(given, str) else inner(given)
    nothing = nothing if nothing in values or not values else UNSAID  # where it cannot be chosen, nothing means nothing
    if given is None or given is False:
        return None if given is None and None in values else nothing
    if isinstance(given, int) and not isinstance(given, bool):
        return given if given in values else chosen(str(given), values, nothing, synonyms)
    if not isinstance(given, str):
        return UNSAID
    by_name = {str(value): value for value in values if value is not None}
    word, exact = _word(given.strip()), given.strip()
    name = exact if exact in by_name else _named(word, tuple(by_name))
    if name is not None:
        return by_name[name]
    word = _ADVERBS.sub("", word)
    for words_for in (synonyms, VALUES):
        for value, words in words_for.items():
            if value in by_name and word in words:
                return by_name[value]
    if word in NOTHING:
        return None if None in values else nothing
    return UNSAID


def amount(given: Any, nothing: Any = UNSAID) -> Any:
    """The whole number that is meant, whatever its currency or unit, or `UNSAID`; "pass" means `nothing`."""
    given = inner(given)
    if given is None or given is False:
        return nothing if given is None else UNSAID
    if isinstance(given, (int, Real)):
        try:
            return whole(given)
        except PydanticCustomError:
            return UNSAID
    text = given.strip(_AROUND) if isinstance(given, str) else ""
    if not text or len(text) > _LONGEST:
        return UNSAID
    text = re.sub(r"[.!]$", "", text)
    while len(text) > 1 and (text[0], text[-1]) in _PAIRS:
        text = re.sub(r"[.!]$", "", text[1:-1].strip("*_` \n"))
    word = _ADVERBS.sub("", _word(text))
    if word in PASS:
        return nothing
    text = re.sub(r"^(?:bid|offer|raise to)\s+(?=\S*\d)", "", text, flags=re.IGNORECASE)
    for unit in (_UNIT_BEHIND, _UNIT_BEFORE):
        if match := unit.fullmatch(text):
            text = match["number"].strip()
    try:
        return whole(text)
    except PydanticCustomError:
        return UNSAID


def leading_amount(text: str) -> str:
    """The number with which a text begins, with currency and unit; "" where it goes on as another, or as a range."""
    found = _LEADING.match(text)
    if found is None or _AMOUNT_GOES_ON.match(text, found.end()):
        return ""
    return found["number"].rstrip(".,'")


def yes_or_no(given: Any) -> Any:
    """True, False, or `UNSAID`."""
    given = inner(given)
    if isinstance(given, bool) or (isinstance(given, int) and given in {0, 1}):
        return bool(given)
    if not isinstance(given, str):
        return UNSAID
    word = _word(given.strip())
    return True if word in YES else False if word in NO else UNSAID


def is_no_number(value: Any) -> bool:
    """Whether a value is one that JSON has no number for, or holds one."""
    value = list(value.values()) if isinstance(value, Mapping) else value
    return any(map(is_no_number, value)) if isinstance(value, list) else value != value  # noqa: PLR0124 - NaN is not itself
