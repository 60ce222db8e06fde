"""The legal values of a decision, and the JSON Schema that states them.

Options of a single field are in `options`. What is legal beyond them is `Request.check`. How a schema is sent or shown
belongs to `models` and `players`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TypeAlias

from agentsim.engine.decision import Decision
from agentsim.engine.options import Choice, Option, Schema, Subset, Text, first_reason, form_of, or_null, wider
from agentsim.engine.wording import either
from agentsim.errors import UnreadableReply


@dataclass(frozen=True, slots=True)
class Each:
    """An object that has one value for each of these keys and no other: `Each(("A", "B"), Text(80, "one line"))`.

    Where each key has an option of its own, `keys` are those: `Each({"price": Number(1, 9), "when": Choice(DAYS)})`.
    A reply has them all; a decision that is made otherwise, such as a fallback, may leave some out. It belongs to an
    outermost field of type `dict`. Where that is a decision's only field, the answer is the object itself:
    `{"A": "<one line>", "B": "<one line>"}`. Options by key are in the request's fingerprint, one for all keys is not:
    `Request.fingerprint_fields` names it.
    """

    keys: tuple[str, ...] | Mapping[str, Option]
    value: Option | None = None
    nothing: None = None

    def __post_init__(self) -> None:
        if isinstance(self.keys, Mapping) == (self.value is not None):
            raise TypeError("Each has one option for all its keys, or a mapping of an option for each")

    @property
    def parts(self) -> Mapping[str, Option]:
        """The option of each key."""
        if isinstance(self.keys, Mapping):
            return self.keys
        assert self.value is not None, "see `__post_init__`"
        return dict.fromkeys(self.keys, self.value)

    def gathered(self, given: Any) -> dict[str, Any]:
        """The values in an object of a reply, without what else it holds; `UnreadableReply` where one is missing."""
        said = given if isinstance(given, Mapping) else {}
        found = {
            key: option.spoken(said[key]) if isinstance(option, Text) else said[key]
            for key, option in self.parts.items()
            if key in said
        }
        if missing := [key for key in self.parts if found.get(key) is None]:
            what = "line" if isinstance(self.parts[missing[0]], Text) else "value"
            raise UnreadableReply(f"There is no {what} about: {', '.join(missing)}.")
        return found

    def why_not(self, path: str, given: Mapping[str, Any]) -> str:
        """What is wrong with the object at this path of a decision; "" where nothing is."""
        return first_reason(path, self.parts, given)


@dataclass(frozen=True, slots=True)
class Variant:
    """An object whose fields go by another field of the decision: `by` names that one, `fields` are those by its value.

    A value that is not there has no fields. A schema has the fields of all, and what is not asked for is null. It
    belongs to an outermost field of type `dict`, in which a decision has exactly the fields that its value asks for.

    Of a `menu` the prompt says elsewhere what the fields are: the shape of an answer has their names alone. No check
    judges it: the rules read it (`Capability.read`), and tell the player what they refuse.
    """

    by: str
    fields: Mapping[str, Mapping[str, Option]]
    menu: bool = False

    def asked(self, value: Any) -> Mapping[str, Option]:
        """The fields that go with this value."""
        return self.fields.get(str(value), {})

    def gathered(self, value: Any, given: Any) -> Any:
        """The object of a reply without the nulls of what is not asked for; what is no object stays as it is."""
        if self.menu or not isinstance(given, Mapping):
            return given
        return {name: part for name, part in given.items() if part is not None or name in self.asked(value)}

    def why_not(self, path: str, value: Any, given: Mapping[str, Any]) -> str:
        """What is wrong with the object at this path of a decision; "" where nothing is."""
        if self.menu:
            return ""
        missing = next((name for name in self.asked(value) if name not in given), None)
        return first_reason(path, self.asked(value), given) if missing is None else f"{path}.{missing} is missing"

    def schema(self) -> Schema:
        """The JSON Schema of the object, whichever value goes with it; a shared name may be what either allows."""
        parts: dict[str, Schema] = {}
        for name, option in (each for fields in self.fields.values() for each in fields.items()):
            legal = option.schema({})
            parts[name] = wider(parts[name], legal) if name in parts else legal
        return closed_object({name: or_null(legal) for name, legal in parts.items()})

    def schema_with(self, value: Any) -> Schema:
        """The JSON Schema of the object that goes with this value."""
        return closed_object({name: option.schema({}) for name, option in self.asked(value).items()})

    def form(self) -> str:
        """The fields by value: `{<of buy or sell: "price": <a whole number, 1 or more>; else none>}`."""
        alike: dict[str, list[str]] = {}
        for value, fields in self.fields.items():
            each = (
                json.dumps(name) + ("" if self.menu else f": {form_of(option.schema({}), fields, name)}")
                for name, option in fields.items()
            )
            if named := ", ".join(each):
                alike.setdefault(named, []).append(value)
        of = (f"of {either(values)}: {names}" for names, values in alike.items())
        return f"{{<{'; '.join([*of, 'else none'])}>}}"

    @property
    def choices(self) -> Mapping[str, Choice]:
        """The closed choices among the fields; of a shared name the last one."""
        every = (each for fields in self.fields.values() for each in fields.items())
        return {name: option for name, option in every if isinstance(option, Choice)}


Options: TypeAlias = Mapping[str, Option | Subset | Each | Variant]
"""The legal values of a decision, by field (`action.bid` is a field of a field); others are as free as their type.

Where a field may be one of several kinds of record, those without a field of a field are not concerned by its options;
a kind whose tag is not among its `Choice` is left out of the schema.
"""


def schema_of(answer: type[Decision], options: Options) -> dict[str, Any]:
    """The JSON Schema of `answer` within these options, as `Request.schema` promises it."""
    schema: Schema = closed_object(dict(_properties(answer)))
    for path, legal in options.items():
        schema = changed(schema, path, partial(_within, legal))
    bare = bare_field(answer, options)
    return dict(schema["properties"][bare] if bare else schema)


def bare_field(answer: type[Decision], options: Options) -> str | None:
    """The one field of a decision, where an answer is the object that it holds."""
    names = tuple(answer.model_fields)
    return names[0] if len(names) == 1 and isinstance(options.get(names[0]), Each) else None


def leaves(answer: type[Decision], options: Options) -> Mapping[str, Option | Subset | Variant]:
    """The options by the paths of an answer, in which what stands for each of several keys stands at every one."""
    bare = bare_field(answer, options)
    found: dict[str, Option | Subset | Variant] = {}
    for path, option in options.items():
        if isinstance(option, Each):
            found |= {key if path == bare else f"{path}.{key}": part for key, part in option.parts.items()}
        else:
            found[path] = option
    return found


def changed(schema: Schema, path: str, change: Callable[[Schema], Schema]) -> Schema:
    """A copy with the field at the path, wherever a kind of record has it, changed; without kinds that cannot be."""
    if not path:
        return change(schema)
    if "anyOf" in schema:
        kinds = (changed(branch, path, change) for branch in schema["anyOf"])
        return {**schema, "anyOf": [kind for kind in kinds if _can_be(kind)]}
    name, _, rest = path.partition(".")
    parts = schema.get("properties", {})
    return {**schema, "properties": {**parts, name: changed(parts[name], rest, change)}} if name in parts else schema


def _can_be(kind: Schema) -> bool:
    return all(part.get("enum") != [] for part in kind.get("properties", {}).values())


def by_path(options: Options) -> Mapping[str, Option | Subset]:
    """The options of single values; of an `Each`, those by key; of a `Variant`, the closed choices among its fields."""
    found: dict[str, Option | Subset] = {}
    for path, option in options.items():
        if not isinstance(option, (Each, Variant)):  # half as long as a union takes
            found[path] = option
        elif isinstance(option, Variant):
            found.update({f"{path}.{name}": choice for name, choice in option.choices.items()})
        elif isinstance(option.keys, Mapping):
            found.update({f"{path}.{key}": part for key, part in option.keys.items()})
    return found


def stated(answer: type[Decision], options: Options, by: str) -> Options:
    """The options that a request states; `TypeError` for a path that its answer has not."""
    paths = _paths_of(answer)
    if strange := [path for path in options if path not in paths]:
        raise TypeError(f"{by}.options: {answer.__name__} has no {strange[0]}; it has {', '.join(paths)}")
    return options


@cache
def _paths_of(answer: type[Decision]) -> Mapping[str, None]:
    """Every path that options of this decision may have: its fields, and the fields of those."""
    return dict.fromkeys(_paths({"properties": _properties(answer)}))


def _paths(schema: Schema, place: str = "") -> Iterator[str]:
    for branch in schema.get("anyOf", ()):
        yield from _paths(branch, place)
    for name, part in schema.get("properties", {}).items():
        yield f"{place}{name}"
        yield from _paths(part, f"{place}{name}.")


def _within(legal: Option | Subset | Each | Variant, node: Schema) -> Schema:
    match legal:
        case Variant():
            return legal.schema()
        case Each():
            return closed_object({key: option.schema({}) for key, option in legal.parts.items()})
    return legal.schema(node)


@cache
def _properties(answer: type[Decision]) -> Mapping[str, Any]:
    """The schema of each field, shared by all requests."""
    base = answer.model_json_schema()
    return {name: _portable(part, base.get("$defs", {})) for name, part in base["properties"].items()}


def closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object that has these keys, every one, and no other."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _portable(part: Any, definitions: Mapping[str, Any]) -> Any:
    """The schema without `$ref`, `oneOf`, `const`, titles and defaults, which some providers refuse."""
    if isinstance(part, list):
        return [_portable(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _portable(definitions[part["$ref"].rsplit("/", 1)[1]], definitions)
    if part.get("type") == "object" and "properties" in part:  # a part of a decision: as whole and as closed as it
        return closed_object({name: _portable(inner, definitions) for name, inner in part["properties"].items()})
    if "oneOf" in part:  # of several kinds of record, told apart by a field with one value
        return {"anyOf": [_portable(branch, definitions) for branch in part["oneOf"]]}
    if "const" in part:
        return {"type": part["type"], "enum": [part["const"]]}
    return {
        key: _portable(value, definitions)
        for key, value in part.items()
        if key not in {"title", "default", "description"}
    }


def said(schema: Schema, path: str, **keywords: Any) -> Schema:
    """A copy in which the field at the path has these keywords too: a `description` in words, what is the `default`."""
    return changed(schema, path, lambda field: {**field, **keywords})


def asked_for(schema: Schema, narrowed: Mapping[str, Schema | None], *, closely: bool = False) -> Schema:
    """The schema without the fields of which there is None; `closely` with those of which there is a `schema`."""
    for path, more in narrowed.items():
        if more is None:
            inner, _, name = path.rpartition(".")
            schema = changed(schema, inner, partial(_without, name))
        elif closely:
            schema = changed(schema, path, partial(_closer, more))
    return schema


def _closer(more: Schema, field: Schema) -> Schema:
    return dict(more.get("schema", field))


def _without(name: str, part: Schema) -> Schema:
    """The object without a field, in each kind of record that has it."""
    if "anyOf" in part:
        return {**part, "anyOf": [_without(name, kind) for kind in part["anyOf"]]}
    fields = part.get("properties", {})
    return closed_object({each: fields[each] for each in fields if each != name}) if name in fields else part


def told(legal: Schema, name: str, narrowed: Mapping[str, Schema | None]) -> Schema:
    """The schema of the field of that name, with what is said of it and of its own fields (`Request.narrowed`)."""
    for path, more in narrowed.items():
        field, _, inner = path.partition(".")
        if more is not None and field == name:
            legal = said(legal, inner, **{key: value for key, value in more.items() if key != "schema"})
    return legal
