"""The shape of an answer: a JSON object of a reply with the keys, names, numbers and words of the question's schema.

What is legal is not decided here: a value that means none of the legal ones stays as it is, for the check to refuse.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agentsim.engine.reading.fields import (
    MISSING,
    REASONS,
    Field,
    Schema,
    Synonyms,
    chosen,
    fields_of,
    kind_of,
    named,
)
from agentsim.engine.reading.objects import decoded
from agentsim.engine.reading.speech import aloud
from agentsim.engine.reading.text import bounded, compact, folded, listed
from agentsim.engine.reading.thinking import split
from agentsim.errors import AmbiguousReply, UnreadableReply

_WRAPPERS = frozenset(
    listed("""
    action, answer, args, arguments, content, data, decision, final, final_answer, finalanswer, function,
    function_call, functioncall, input, json, make_decision, message, output, parameters, params, reply, response,
    result, tool_call, tool_input, toolcall, toolinput
""")
)
"""Keys whose object is the answer, one level of them."""

_LONGEST_KEY = 400  # characters
_MOST_MEMBERS = 1_000  # of an object


def unwrapped(value: Mapping[str, Any], own: Mapping[str, bool], kind: str, tag: str) -> Mapping[str, Any]:
    """Return the object in a tool call, or in `{"answer": {...}}`: one level, if it has none of the `own` keys.

    A key that is False in `own` may also name a wrapping, and does if it holds an object; so does the request's `kind`.
    The name of the function that is called is the `tag` of a variant.
    """
    keys = {_key(name): part for name, part in value.items()}
    if any(own[key] or not isinstance(part, Mapping) for key, part in keys.items() if key in own):
        return value
    inside = [part for key in keys if key in _WRAPPERS or key == kind if (part := _object_in(keys[key])) is not None]
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
    """Return an object, also from its JSON or a list of one, or None."""
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


@dataclass(frozen=True)
class Shape:
    """What objects are shaped by: the meaning of null by path, other words for choices, and the names of fields."""

    nothing: Mapping[str, Any]
    synonyms: Synonyms
    names: Mapping[str, Sequence[str]]
    lone: str = ""
    """The record that is all there is to decide: its one field may stand without it."""

    def of(self, value: Mapping[str, Any], schema: Schema, path: str = "") -> dict[str, Any]:
        """Return the object with the schema's keys and, if they are clear, its values; other keys stay as they are.

        Raises `AmbiguousReply` if two keys name one field with different values.
        """
        properties = schema.get("properties", {})
        out: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for key, given in bounded(value.items(), _MOST_MEMBERS):
            name = self._property(key, properties, path)
            if name is None:
                others[key] = given
                continue
            fitted = self._fitted(given, properties[name], f"{path}{name}", value)
            if name in out and kind_of(properties[name]) == "words" and "" in (out[name], fitted):
                fitted = out[name] or fitted
            elif name in out and name not in REASONS and _as_json(out[name]) != _as_json(fitted):
                raise AmbiguousReply(f"The key {name!r} stands twice with different values.")
            if fitted is not None or kind_of(properties[name]) != "words":
                out[name] = fitted  # words that are null are words that are left out
        if path and others and not out:
            raise UnreadableReply(f"In the JSON object, {path.rstrip('.')} has none of: {', '.join(properties)}.")
        inside = self._said_beside(others, {name: properties[name] for name in properties if name not in out}, path)
        return {**others, **out, **inside}

    def _said_beside(self, others: Mapping[str, Any], missing: Schema, path: str) -> dict[str, Any]:
        """Return the missing records and variants whose own fields stand beside the place where they belong."""
        out: dict[str, Any] = {}
        for name, node in missing.items() if others else ():
            if kind_of(node) == "record":
                place, inner = f"{path}{name}.", node["properties"]
                if inside := {key: part for key, part in others.items() if self._property(key, inner, place)}:
                    out[name] = self.of(inside, node, place)
            elif kind_of(node) == "variant" and (tag := _tag(node)) in others:
                out[name] = self._variant(others[tag], node, f"{path}{name}", others)
        return out

    def _property(self, key: str, properties: Schema, path: str) -> str | None:
        """Return the field that a key names, or None."""
        if key in properties:
            return key
        if len(key) > _LONGEST_KEY or any(_is_in_variant(key, node) for node in properties.values()):
            return None
        plain, short = _spellings(key)
        for name, node in properties.items():  # `build` for `builds`; `bids` for `bid` is a record of several
            if name.removesuffix("s") == short or (kind_of(node) != "number" and name == short.removesuffix("s")):
                return name
        if not any(_spellings(name)[1] == short for name in properties):
            spaced = plain.replace("_", " ")
            for name in properties:
                if spaced in self.names.get(f"{path}{name}", ()):
                    return name
        return named(key, properties)

    def _fitted(self, given: Any, node: Schema, path: str, whole: Mapping[str, Any]) -> Any:
        match kind_of(node):
            case "choice" | "number" | "yes_no" | "list" as kind:
                nothing = self.nothing.get(path, MISSING)
                values = tuple(node.get("enum", ()) or node.get("items", {}).get("enum", ()))
                meant = Field(path, kind, values, nothing, self.synonyms).read(given)
                if meant is MISSING and given is None and "." not in path:
                    raise UnreadableReply(f"In the JSON object, {path} is null.")
                return given if meant is MISSING else meant
            case "words":
                return _spoken(given, self.names.get(path, ()), reason=path.rpartition(".")[2] in REASONS)
            case "variant":
                return self._variant(given, node, path, whole)
            case "record":
                return self._record(given, node, path)
        return given

    def _record(self, given: Any, node: Schema, path: str) -> Any:
        if isinstance(given, Mapping):
            return self.of(given, node, f"{path}.")
        nothing = self.nothing.get(path, MISSING)
        if nothing is not MISSING and chosen(given, (), nothing) is not MISSING:
            return nothing
        if given is None:
            return {}
        if path != self.lone:
            return given
        inside = fields_of(node, self.nothing, self.synonyms, f"{path}.")
        parts = [field for field in inside if field.decides and "." not in field.path.removeprefix(f"{path}.")]
        if len(parts) != 1:
            return given
        meant = parts[0].read(given)  # what the one field of the record says, without the record
        return {parts[0].name: given if meant is MISSING else meant}

    def _variant(self, given: Any, node: Schema, path: str, whole: Mapping[str, Any]) -> Any:
        """Return a record of several kinds, told apart by a field with one value; its others may stand beside it."""
        branches, tag = [branch["properties"] for branch in node["anyOf"]], _tag(node)
        record = given if isinstance(given, Mapping) else {**whole, tag: given}
        kinds = {branch[tag]["enum"][0]: branch for branch in branches}
        if tag not in record and len(record) == 1:  # {"propose_trade": {...}} for {"do": "propose_trade", ...}
            record = next(
                ({**inside, tag: kind} for kind in kinds if isinstance(inside := record.get(kind), Mapping)), record
            )
        name = chosen(record.get(tag), tuple(kinds))
        return record if name is MISSING else self.of({**record, tag: name}, {"properties": kinds[name]}, f"{path}.")


def _tag(node: Schema) -> str:
    """Return the field that tells the kinds of a variant apart."""
    fields: Schema = node["anyOf"][0]["properties"]
    return next(name for name, part in fields.items() if len(part.get("enum", ())) == 1)


def _is_in_variant(key: str, node: Schema) -> bool:
    """Check for a field of one of the kinds of a variant, which may stand beside its tag."""
    return kind_of(node) == "variant" and any(key in branch["properties"] for branch in node["anyOf"])


@lru_cache(maxsize=4096)
def _spellings(name: str) -> tuple[str, str]:
    plain = folded(name).strip()
    return plain, compact(plain)


def _spoken(given: Any, names: Sequence[str], *, reason: bool) -> Any:
    """Return words without what was thought in them; a `reason` that is no text is kept as JSON: it decides nothing."""
    if isinstance(given, str):
        said = split(given)[0]
        return said if reason else aloud(said, names)
    return given if not reason else "" if given is None else _as_json(given)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
