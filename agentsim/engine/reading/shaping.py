"""Shaping: a JSON object of a reply as the question's schema spells it: keys, wrapping, names, numbers, words.

What is legal is not decided here: a value that means none of those it may mean stays as it is, for the check to refuse.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from agentsim.engine.reading.folding import compact, folded
from agentsim.engine.reading.scanning import decoded
from agentsim.engine.reading.thinking import split
from agentsim.engine.reading.values import UNSAID, amount, chosen, named, yes_or_no
from agentsim.engine.reading.vocabulary import GENERIC, LABELS, REASONS, SPEECH, WRAPPERS
from agentsim.errors import AmbiguousReply, UnreadableReply

__all__ = ["Field", "fields_of", "labels_of", "shaped", "spoken", "unwrapped"]

Schema: TypeAlias = Mapping[str, Any]
Kind: TypeAlias = Literal["choice", "number", "yes_no", "words", "record", "variant", "other"]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an answer: its path (`action.bid`), its kind, its values if they are few, and what nothing means."""

    path: str
    kind: Kind
    values: tuple[Any, ...] = ()
    nothing: Any = UNSAID

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
        if self.kind == "choice":
            return chosen(given, self.values, self.nothing)
        if self.kind == "number":
            return amount(given, self.nothing)
        return yes_or_no(given) if self.kind == "yes_no" else UNSAID


def _kind(node: Schema) -> Kind:
    if "enum" in node:
        return "choice"
    if "anyOf" in node:
        return "variant"
    kinds: dict[Any, Kind] = {"integer": "number", "boolean": "yes_no", "string": "words"}
    if node.get("type") == "object":
        return "record" if "properties" in node else "other"
    found = node.get("type")
    return kinds.get(found, "other") if isinstance(found, str) else "other"


def fields_of(schema: Schema, nothing: Mapping[str, Any], path: str = "") -> Iterator[Field]:
    """Every field, those of records after them; none of a list or of one of several kinds of record."""
    for name, node in schema.get("properties", {}).items():
        place = f"{path}{name}"
        kind = _kind(node)
        yield Field(place, kind, tuple(node.get("enum", ())), nothing.get(place, UNSAID))
        if kind == "record":
            yield from fields_of(node, nothing, f"{place}.")


def labels_of(field: Field, fields: Sequence[Field], kind: str) -> tuple[str, ...]:
    """Folded names of a field in this question, its own first."""
    own = folded(field.name).replace("_", " ")
    names = [own, *LABELS.get(own, ())]
    words = [each for each in fields if each.kind == "words"]
    deciding = [each for each in fields if each.decides]
    if field.decides and deciding == [field]:
        names += [*GENERIC, *(folded(part).replace("_", " ") for part in field.path.split(".")[:-1])]
    if field.kind == "words":
        if own in REASONS[:3]:
            names += REASONS
        elif words == [field] and not deciding:
            names += [kind.replace("_", " "), *LABELS.get(kind, ()), *SPEECH]
    taken = {folded(each.name).replace("_", " ") for each in fields if each != field and each.kind != "record"}
    return tuple(dict.fromkeys(folded(name) for name in names if name not in taken))


def unwrapped(value: Mapping[str, Any], own: Mapping[str, bool], kind: str, tag: str) -> Mapping[str, Any]:
    """The object in a tool call, or in `{"answer": {...}}`: one level, where the object has none of its `own` keys.

    Those that are False may also name a wrapping, and do where they hold an object; so does the request's `kind`. The
    name of what is called is the `tag` of several kinds of record.
    """
    keys = {_key(name): part for name, part in value.items()}
    if any(own[key] or not isinstance(part, Mapping) for key, part in keys.items() if key in own):
        return value
    inside = [part for key in keys if key in WRAPPERS or key == kind if (part := _object_in(keys[key])) is not None]
    if len(inside) != 1:
        call = _object_in(keys.get("tool_calls"))
        return value if call is None else unwrapped(call, own, kind, tag)
    (one,) = inside
    names = set(map(_key, one))
    if names.isdisjoint(own) and names & {"arguments", "parameters"}:
        return unwrapped(one, own, kind, tag)  # {"function": {"name": ..., "arguments": {...}}}
    called = keys.get("name", keys.get("function"))
    return {**one, tag: called} if tag and isinstance(called, str) and tag not in names else one


def _object_in(part: Any) -> Mapping[str, Any] | None:
    """An object, also as its JSON or in a list of one."""
    if isinstance(part, list) and len(part) == 1:
        return _object_in(part[0])
    if isinstance(part, str) and part.lstrip().startswith("{"):
        try:
            part = decoded(part.strip())
        except ValueError:
            return None
    return part if isinstance(part, Mapping) else None


def _key(name: str) -> str:
    return folded(name).strip()


def shaped(
    value: Mapping[str, Any],
    schema: Schema,
    nothing: Mapping[str, Any],
    labels: Mapping[str, Sequence[str]],
    path: str = "",
) -> dict[str, Any]:
    """The object with the schema's keys and, where they are clear, its values; keys of no field stay as they are.

    Raises `AmbiguousReply` where two keys speak of one field with different values.
    """
    properties = schema.get("properties", {})
    out: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for key, given in value.items():
        name = _property(key, properties, labels, path)
        if name is None:
            others[key] = given
            continue
        fitted = _fitted(given, properties[name], nothing, labels, f"{path}{name}", value)
        if name in out and name not in REASONS and _as_json(out[name]) != _as_json(fitted):
            raise AmbiguousReply(f"The key {name!r} stands twice with different values.")
        out[name] = fitted
    for name, node in properties.items():
        if name not in out and _kind(node) == "record" and others:
            lifted = shaped(others, node, nothing, labels, f"{path}{name}.")
            if not node["properties"].keys().isdisjoint(lifted):
                out[name] = lifted
    return {**others, **out}


@lru_cache(maxsize=4096)
def _spellings(name: str) -> tuple[str, str]:
    plain = folded(name).strip()
    return plain, compact(plain)


def _property(key: str, properties: Schema, labels: Mapping[str, Sequence[str]], path: str) -> str | None:
    if key in properties:
        return key
    plain, short = _spellings(key)
    for name in properties:
        if _spellings(name)[1] == short:
            return named(key, properties)
    for name in properties:
        if plain.replace("_", " ") in labels.get(f"{path}{name}", ()):
            return name
    return named(key, properties)


def _fitted(  # noqa: PLR0917 - one step of `shaped`, with all that it goes by
    given: Any,
    node: Schema,
    nothing: Mapping[str, Any],
    labels: Mapping[str, Sequence[str]],
    path: str,
    whole: Mapping[str, Any],
) -> Any:
    kind = _kind(node)
    if kind in {"choice", "number", "yes_no"}:
        field = Field(path, kind, tuple(node.get("enum", ())), nothing.get(path, UNSAID))
        meant = field.read(given)
        if meant is UNSAID and given is None and "." not in path:
            raise UnreadableReply(f"In the JSON object, {path} is null.")
        return given if meant is UNSAID else meant
    if kind == "words":
        return spoken(given, reason=path.rpartition(".")[2] in REASONS)
    if kind == "variant":
        return _variant(given, node, nothing, labels, path, whole)
    if kind == "record":
        if isinstance(given, Mapping):
            return shaped(given, node, nothing, labels, f"{path}.")
        if path in nothing and (given is None or chosen(given, (), nothing[path]) is not UNSAID):
            return nothing[path]
        if given is None:
            return {}
        parts = [field for field in fields_of(node, nothing, f"{path}.") if field.decides]
        if len(parts) == 1 and parts[0].path.count(".") == path.count(".") + 1:
            meant = parts[0].read(given)
            return {parts[0].name: given if meant is UNSAID else meant}
    return given


def _variant(  # noqa: PLR0917 - as `_fitted`
    given: Any,
    node: Schema,
    nothing: Mapping[str, Any],
    labels: Mapping[str, Sequence[str]],
    path: str,
    whole: Mapping[str, Any],
) -> Any:
    """One of several kinds of record, told apart by a field with one value; its other fields may stand beside it."""
    branches = [branch for branch in node["anyOf"] if branch.get("type") == "object"]
    tags = [
        name for name, part in (branches[0]["properties"].items() if branches else ()) if len(part.get("enum", ())) == 1
    ]
    if not tags:
        return given
    tag = tags[0]
    record = given if isinstance(given, Mapping) else {**whole, tag: given}
    kinds = {branch["properties"][tag]["enum"][0]: branch for branch in branches}
    name = chosen(record.get(tag), tuple(kinds))
    if name is UNSAID:
        return record
    return shaped({**record, tag: name}, kinds[name], nothing, labels, f"{path}.")


def spoken(given: Any, *, reason: bool = False) -> Any:
    """Words without what was thought in them; a `reason` that is no text is kept as its JSON: it decides nothing."""
    if isinstance(given, str):
        return split(given)[0]
    return "" if given is None else _as_json(given) if reason else given


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
