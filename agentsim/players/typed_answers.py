"""The fields of a decision as a person is asked for them: what may be answered, and what a typed line means.

What a field may be is its JSON Schema, as `Request.schema` and `Request.form_schema` give it; the order of questions
belongs to `human`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from agentsim.engine.decision import whole

_PLAIN = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")  # what a float holds to the digit
_YES, _NO = {"y", "yes", "true"}, {"n", "no", "false"}


def reason(text: str, unnamed: str | None) -> str:
    """Why an answer is not allowed, with fields named as a person is asked for them: without the part `unnamed`."""
    return text if unnamed is None else re.sub(rf"\b{re.escape(unnamed)}\.(?=\w)", "", text)


def unnamed_part(fields: Mapping[str, Any]) -> str | None:
    """The one part of a decision that has parts of its own: those say all there is to say, unless a name is taken."""
    parts = {name: legal for name, legal in fields.items() if _has_parts(legal) or _has_parts(legal.get("items", {}))}
    if len(parts) != 1:
        return None
    ((name, part),) = parts.items()
    return name if kinds_of(part) or fields.keys().isdisjoint(part.get("properties", fields)) else None


def _has_parts(legal: Mapping[str, Any]) -> bool:
    return legal.get("type") == "object" or kinds_of(legal) is not None


def kinds_of(legal: Mapping[str, Any]) -> tuple[str, dict[str, Mapping[str, Any]]] | None:
    """Of a field that is one of several kinds of record: the field that tells them apart, and each kind's others."""
    branches = legal.get("anyOf", ())
    if not branches or any(branch.get("type") != "object" for branch in branches):
        return None
    tags = [name for name, part in branches[0]["properties"].items() if len(part.get("enum", ())) == 1]
    if not tags:
        return None
    kinds: dict[str, Mapping[str, Any]] = {}
    for fields in (dict(branch["properties"]) for branch in branches):
        kind = fields.pop(tags[0])["enum"][0]
        kinds[str(kind)] = fields
    return str(tags[0]), kinds


def is_words(legal: Mapping[str, Any]) -> bool:
    """Whether any text will do for a field."""
    return legal.get("type") == "string" and "enum" not in legal


def hint(legal: Mapping[str, Any]) -> str:
    """What may be answered, to stand behind a field's name."""
    stands_for = usual(legal)
    said = [
        legal.get("description") or _values(legal),
        "" if stands_for is ... else f"nothing for {called_value(stands_for)}",
    ]
    return f" [{'; '.join(filter(None, said))}]" if any(said) else ""


def usual(legal: Mapping[str, Any]) -> Any:
    """What an empty line means: a default, or the only number there is; `...` where it means nothing."""
    low = legal.get("minimum")
    only = low if low is not None and low == legal.get("maximum") and legal.get("type") == "integer" else ...
    return legal.get("default", only)


def _values(legal: Mapping[str, Any]) -> str:
    """The values of a field, or their range."""
    if "enum" in legal:
        return " / ".join(map(called_value, legal["enum"]))
    if legal.get("type") == "array" and "items" in legal:
        return f"{_item(legal['items'])}, ...{'' if legal.get('minItems') else '; nothing for none'}"
    if legal.get("type") == "boolean":
        return "yes / no"
    if "minimum" in legal:
        low, high = legal["minimum"], legal.get("maximum")
        return f"{low} or more" if high is None else f"{low} to {high}" if low != high else f"{low}"
    return ""


def understood(text: str, legal: Mapping[str, Any]) -> Any:
    """What a person means by a line: an option in any case, yes or no, a number, JSON for lists, else the words.

    `ValueError` says, fit for that person, what is wrong with it.
    """
    kind = legal.get("type")
    if not text and (found := usual(legal)) is not ...:
        return found
    if "enum" in legal:
        return _option(text, legal["enum"])
    if kind == "array" and "items" in legal:
        return _list(text, legal)
    if kind == "boolean":
        if text.casefold() not in _YES | _NO:
            raise ValueError("Yes or no, please.")
        return text.casefold() in _YES
    if kind == "string":
        return _words(text, legal)
    return _whole(text, legal) if kind == "integer" else _other(text, legal)


def _other(text: str, legal: Mapping[str, Any]) -> Any:
    """JSON, or the words as they stand; of numbers those in plain digits alone."""
    if legal.get("type") == "number":
        low = legal.get("minimum")
        if not _PLAIN.fullmatch(text) or (low is not None and float(text) < low):
            raise ValueError(f"A number in plain digits{'' if low is None else f' from {low}'}, such as 2.5, please.")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _list(text: str, legal: Mapping[str, Any]) -> list[Any]:
    """What stands between commas; between numbers, a space will do."""
    spaced = re.fullmatch(r"[\d,\s]*", text) and legal["items"].get("type") == "integer"
    parts = [part.split() for part in re.split(r"[,\s]" if spaced else ",", text) if part.strip()]
    return _limited([_entry(words, legal["items"]) for words in parts], legal)


def chosen_of(texts: Sequence[str], legal: Mapping[str, Any]) -> list[Any]:
    """The entries of a list, each as a person chose it; `ValueError` where they are too few or too many."""
    return _limited([understood(text, legal["items"]) for text in texts], legal)


def _limited(found: list[Any], legal: Mapping[str, Any]) -> list[Any]:
    least, most = legal.get("minItems", 0), legal.get("maxItems", len(found))
    if len(found) < least:
        raise ValueError(f"At least {least}, please.")
    if len(found) > most:
        raise ValueError(f"At most {most}, please.")
    return found


def _option(text: str, options: Sequence[Any]) -> Any:
    for option in options:
        if _spoken(called_value(option)) == _spoken(text):
            return option
    raise ValueError(f"One of these, please: {', '.join(map(called_value, options))}.")


def _spoken(word: str) -> str:
    """In any case, with blanks or underscores: `pay fine` is `pay_fine`."""
    return " ".join(word.replace("_", " ").casefold().split())


def called_value(option: Any) -> str:
    """What a value is called where it can be chosen."""
    return "nobody" if option is None else str(option) or "none"


def _item(legal: Mapping[str, Any]) -> str:
    """What one entry of a list looks like: `number`, or the fields of an object one after the other."""
    if "enum" in legal:
        return "/".join(map(str, legal["enum"]))
    if legal.get("type") == "object":
        return " ".join(f"{name} ({_item(part)})" for name, part in legal["properties"].items())
    return "number" if legal.get("type") == "integer" else "words"


def _entry(words: list[str], legal: Mapping[str, Any]) -> Any:
    """One entry of a list, as `_item` shows it."""
    if legal.get("type") != "object":
        try:
            return understood(" ".join(words), legal)
        except ValueError as error:
            raise ValueError(f"{' '.join(words)}: {error}") from None
    fields = legal["properties"]
    if len(words) != len(fields):
        raise ValueError(f"{' '.join(words)}: each entry is {_item(legal)}, please; commas between entries.")
    return {name: understood(word, part) for word, (name, part) in zip(words, fields.items(), strict=True)}


def _words(text: str, legal: Mapping[str, Any]) -> str:
    limit = legal.get("maxLength")
    if len(text) < legal.get("minLength", 0):
        raise ValueError("An empty line says nothing. Some words, please.")
    if limit is not None and len(text) > limit:
        raise ValueError(f"That is {len(text)} characters, and {limit} fit. Shorter, please.")
    return text


def _whole(text: str, legal: Mapping[str, Any]) -> int:
    """The number, in any spelling that leaves no doubt about it."""
    low, high = legal.get("minimum"), legal.get("maximum")
    with suppress(ValueError):
        value = whole(text)
        if (low is None or value >= low) and (high is None or value <= high):
            return value
    if how := legal.get("description"):
        raise ValueError(f"A whole number, please: {how}.")
    least = "" if low is None else f" from {low}" if high is not None else f", {low} or more"
    raise ValueError(f"A whole number{least}{'' if high is None else f' to {high}'}, please.")


def takes_numbers(legal: Mapping[str, Any]) -> bool:
    """Whether a field is a list of numbers, or of entries that begin with one."""
    items = legal.get("items", {})
    first = next(iter(items.get("properties", {}).values()), items)
    return legal.get("type") == "array" and first.get("type") == "integer"


def by_number(text: str, names: Mapping[str, int]) -> str:
    """The line with a number for each name, its beginning or that of a word in it, between commas.

    `ValueError` where it fits several, or where there are names and it is neither one of them nor a number.
    """
    return ", ".join(_numbered(part.split(), names) for part in text.split(",") if part.strip())


def _numbered(words: list[str], names: Mapping[str, int]) -> str:
    longest = max((len(name.split()) for name in names), default=0)
    for count in range(min(len(words), longest), 0, -1):
        start = " ".join(words[:count]).casefold()
        fits = {name: number for name, number in names.items() if name.casefold().startswith(start)}
        fits = fits or {name: number for name, number in names.items() if f" {start}" in name.casefold()}
        whole = [number for name, number in fits.items() if name.casefold() == start]
        numbers = whole or list(fits.values())
        if len(numbers) > 1:
            raise ValueError(f"Which one: {' or '.join(f'{number} {name}' for name, number in fits.items())}?")
        if numbers:
            return " ".join([str(numbers[0]), *words[count:]])
    if names and not any(map(str.isdigit, words[0])):
        raise ValueError(f"{' '.join(words)}: that is no name here. A name or a number, please.")
    return " ".join(words)
