"""Fields: what an answer is made of, by its schema, what each field may be called, and what its values mean.

A value is a name on a list, a whole number, yes or no; it is read alike in every field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

from pydantic_core import PydanticCustomError

from agentsim.engine.decision import Real, whole
from agentsim.engine.reading import vocabulary
from agentsim.engine.reading.text import BLANK, bare, compact, folded, untitled

Schema: TypeAlias = Mapping[str, Any]
Kind: TypeAlias = Literal["choice", "number", "yes_no", "list", "words", "record", "variant", "other"]
Synonyms: TypeAlias = Mapping[str, tuple[str, ...]]
"""Other words for choices, by value."""
UNSAID: Final = object()
"""What a value comes to that says none of those it may say."""

_LONGEST = 400  # characters of a name or a number, with all decoration; more are neither
_AROUND = f"*_`{BLANK}"
_NO_NAMES: Final[frozenset[str]] = frozenset()
_ADVERBS = re.compile(
    r"[\s,]+(?:this (?:time|round|turn|one)|for now|now|today|tonight|again|please|thanks?|thank you)$"
)
_BETWEEN = re.compile(r"\s*(?:[,;>\n]|\band\b|(?<=\S)\s+-\s+(?=\S))\s*")
_PAIRS = {('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("[", "]"), ("(", ")"), ("<", ">")}
_UNIT_BEHIND = re.compile(rf"(?P<number>.*\d)\s*(?:{vocabulary.UNITS})", re.IGNORECASE)
_UNIT_BEFORE = re.compile(
    r"(?:usd|eur|gbp|pln|us\$|cr\.?|#|(?:agent|proposal|post|law|project|id)[\s_]*#?)\s*(?P<number>\d.*)", re.IGNORECASE
)
_LEADING = re.compile(
    rf"[\s*_\"'(\[<:=]*(?P<number>(?:(?:usd|eur|gbp|pln"
    rf"|[$€£¥])\s?)?[+-]?\d[\d.,_'\u2019\u00a0\u2009\u202f]*(?:[ ]\d{{3}}(?!\d))*"
    rf"(?:\s?(?:[$€£¥]|(?:{vocabulary.UNITS})\b))?)",
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
        if (key := folded(name).strip()) in vocabulary.INNER_KEYS:
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
    short, (plain, shorter, joined, shortest) = untitled(word), _alike(known)
    levels = (
        plain.get(word, _NO_NAMES),
        plain.get(short, _NO_NAMES) | shorter.get(word, _NO_NAMES),
        joined.get(compact(word), _NO_NAMES) | joined.get(compact(short), _NO_NAMES),
        shortest.get(compact(short), _NO_NAMES),
    )
    found = next(filter(None, levels), _NO_NAMES)
    return next(iter(found)) if len(found) == 1 else None


@lru_cache(256)
def _alike(known: tuple[str, ...]) -> tuple[dict[str, frozenset[str]], ...]:
    """Names by what is left of them: folded, without a title, without separators, without either."""
    found: tuple[dict[str, frozenset[str]], ...] = ({}, {}, {}, {})
    for name in known:
        plain = bare(folded(name))
        short = untitled(plain)
        for names, left in zip(found, (plain, short, compact(plain), compact(short)), strict=True):
            names[left] = names.get(left, _NO_NAMES) | {name}
    return found


def _word(given: str) -> str:
    """A folded name or number without decoration; "" for a text that is too long for either."""
    return bare(folded(given)) if len(given) <= _LONGEST else ""


def chosen(given: Any, values: Sequence[Any], nothing: Any = UNSAID, synonyms: Synonyms | None = None) -> Any:
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
    for words_for in (synonyms or {}, vocabulary.VALUES):
        for value, words in words_for.items():
            if value in by_name and word in words:
                return by_name[value]
    if word in vocabulary.NOTHING:
        return None if None in values else nothing
    return UNSAID


def amount(given: Any, nothing: Any = UNSAID) -> Any:
    """The whole number that is meant, whatever its currency or unit, or `UNSAID`; "pass" means `nothing`."""
    given = inner(given)
    if given is None or given is False:
        return nothing if given is None else UNSAID
    if isinstance(given, (int, Real)):
        return _whole(given)
    text = given.strip(_AROUND) if isinstance(given, str) else ""
    if not text or len(text) > _LONGEST:
        return UNSAID
    text = re.sub(r"[.!]$", "", text)
    while len(text) > 1 and (text[0], text[-1]) in _PAIRS:
        text = re.sub(r"[.!]$", "", text[1:-1].strip("*_` \n"))
    if _ADVERBS.sub("", _word(text)) in vocabulary.PASS:
        return nothing
    text = re.sub(r"^(?:bid|offer|raise to)\s+(?=\S*\d)", "", text, flags=re.IGNORECASE)
    for unit in (_UNIT_BEHIND, _UNIT_BEFORE):
        if match := unit.fullmatch(text):
            text = match["number"].strip()
    return _whole(text)


def _whole(value: Any) -> Any:
    try:
        return whole(value)
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
    if isinstance(given, int) and given in {0, 1}:
        return bool(given)
    word = _word(given.strip()) if isinstance(given, str) else ""
    return True if word in vocabulary.YES else False if word in vocabulary.NO else UNSAID


def several(given: Any, values: Sequence[Any], nothing: Any = UNSAID, synonyms: Synonyms | None = None) -> Any:
    """The values of a list, also where it is written out (`A, C and B`), or `UNSAID`; what means none stays as it is.

    Null and "nobody" mean `nothing`.
    """
    given = None if given is False else given
    if given is None or (isinstance(given, str) and _word(given.strip()) in vocabulary.NOTHING):
        return nothing
    if isinstance(given, str):
        given = [part for part in _BETWEEN.split(given[:_LONGEST].strip("[]() \n")) if part.strip()]
    if not isinstance(given, list):
        given = [given]
    meant = [(each, chosen(each, values, UNSAID, synonyms)) for each in given[: len(values) + 1]]
    return [each if found is UNSAID else found for each, found in meant]


def is_no_number(value: Any) -> bool:
    """Whether a value is one that JSON has no number for, or holds one."""
    value = list(value.values()) if isinstance(value, Mapping) else value
    return any(map(is_no_number, value)) if isinstance(value, list) else value != value  # noqa: PLR0124 - NaN is not itself


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an answer: its path (`action.bid`), its kind, its values if they are few, and what nothing means."""

    path: str
    kind: Kind
    values: tuple[Any, ...] = ()
    nothing: Any = UNSAID
    synonyms: Synonyms | None = None
    known: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What texts of this reply mean: many stand in it more than once."""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    @property
    def decides(self) -> bool:
        """Whether it is a decision of its own, rather than words or a part of something larger."""
        return self.kind in {"choice", "number", "yes_no"}

    def read(self, given: Any) -> Any:
        """The value that is meant, or `UNSAID`."""
        if not isinstance(given, str):
            return self._read(given)
        if given not in self.known:
            self.known[given] = self._read(given)
        return self.known[given]

    def _read(self, given: Any) -> Any:
        if self.kind == "choice":
            return chosen(given, self.values, self.nothing, self.synonyms)
        if self.kind == "number":
            return amount(given, self.nothing)
        if self.kind == "list":
            return several(given, self.values, self.nothing, self.synonyms)
        return yes_or_no(given) if self.kind == "yes_no" else UNSAID


def kind_of(node: Schema) -> Kind:
    """What a part of a schema asks for."""
    if "enum" in node:
        return "choice"
    branches = node.get("anyOf", ())
    if branches and all("properties" in branch for branch in branches):
        return "variant"
    if "enum" in node.get("items", ()):
        return "list"
    kinds: dict[Any, Kind] = {"integer": "number", "boolean": "yes_no", "string": "words"}
    found = node.get("type")
    if found == "object":
        return "record" if "properties" in node else "other"
    names = [each for each in found if each != "null"] if isinstance(found, list) else [found]
    return kinds.get(names[0], "other") if len(names) == 1 else "other"


def fields_of(schema: Schema, nothing: Mapping[str, Any], synonyms: Synonyms, path: str = "") -> Iterator[Field]:
    """Every field, those of records after them; none of a list or of one of several kinds of record."""
    for name, node in schema.get("properties", {}).items():
        place, kind = f"{path}{name}", kind_of(node)
        values = node.get("enum", ()) or node.get("items", {}).get("enum", ())
        yield Field(place, kind, tuple(values), nothing.get(place, UNSAID), synonyms)
        if kind == "record":
            yield from fields_of(node, nothing, synonyms, f"{place}.")


def labels_of(field: Field, fields: Sequence[Field], kind: str) -> tuple[str, ...]:
    """Folded names of a field in a question of this kind, its own first."""
    own, deciding = _spaced(field.name), [each.path for each in fields if each.decides]
    names = [own, *vocabulary.LABELS.get(own, ())]
    if deciding == [field.path]:
        names += [*vocabulary.GENERIC, *map(_spaced, field.path.split(".")[:-1])]
    if field.kind == "words":
        if own in vocabulary.REASON_FIELDS:
            names += vocabulary.REASONS
        elif not deciding and sum(each.kind == "words" for each in fields) == 1:
            names += [_spaced(kind), *vocabulary.LABELS.get(kind, ()), *vocabulary.SPEECH]
    taken = {_spaced(each.name) for each in fields if each.path != field.path and each.kind != "record"}
    return tuple(dict.fromkeys(name for name in names if name not in taken))


def _spaced(name: str) -> str:
    return folded(name).replace("_", " ")
