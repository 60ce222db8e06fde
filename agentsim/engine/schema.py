"""The legal values of a decision, field by field, and the JSON Schema that states them.

What is legal beyond single fields is `Request.check`. How a schema is sent or shown belongs to `models` and `players`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal, TypeAlias, get_args, get_origin

from pydantic import BaseModel

from agentsim.engine.decision import Decision
from agentsim.errors import UnreadableReply


@dataclass(frozen=True, slots=True)
class Choice:
    """Exactly one of these values; `nothing` is the one that null, "pass" or "nobody" stand for, if there is one.

    `about` is what it is, in words, for the shape of an answer.
    """

    values: tuple[str | int | None, ...]
    nothing: str | int | None = None
    about: str = ""

    @property
    def identity(self) -> tuple[object, ...]:
        """Identifies the option in fingerprints, as JSON values."""
        return ("Choice", self.values)


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number in low..high, both included; no upper end where `high` is None.

    `nothing` is the number that null or "pass" stand for, None for no such number.
    """

    low: int
    high: int | None
    nothing: int | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """Identifies the option in fingerprints, as JSON values; "Range" is its name in old journals."""
        return ("Range", self.low, self.high)

    def holds(self, value: Any) -> bool:
        """Whether `value` is a whole number in the range; True and False are none."""
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole and self.low <= value and (self.high is None or value <= self.high)

    def __str__(self) -> str:
        if self.high is None:
            return f"a whole number, {self.low} or more"
        return f"a whole number from {self.low} to {self.high}"


@dataclass(frozen=True, slots=True)
class Text:
    """Free words; more than `limit` characters are cut by the rules, visibly.

    `about` is what they are, for the shape of an answer: "your pitch". Where they may not be `empty`, a reply without
    words is asked for again, and so is a person's empty line; space around them is left out.
    """

    limit: int
    about: str = ""
    nothing: None = None
    empty: bool = True

    @property
    def identity(self) -> tuple[object, ...]:
        """Identifies the option in fingerprints, as JSON values."""
        return ("Text", self.limit)

    def spoken(self, given: Any) -> str | None:
        """The words of an answer; None where there are none and must be."""
        if self.empty:
            return given if isinstance(given, str) else None
        return (given.strip() or None) if isinstance(given, str) else None


@dataclass(frozen=True, slots=True)
class Each:
    """An object that has one value for each of these keys and no other: `Each(("A", "B"), Text(80, "one line"))`.

    A reply has them all; a decision that is made otherwise, such as a fallback, may leave some out. It belongs to an
    outermost field of type `dict`. Where that is a decision's only field, the answer is the object itself:
    `{"A": "<one line>", "B": "<one line>"}`. It is in no fingerprint: `Request.fingerprint_fields` names it.
    """

    keys: tuple[str, ...]
    value: Choice | Number | Text
    nothing: None = None

    def gathered(self, given: Any) -> dict[str, Any]:
        """The values in an object of a reply, without what else it holds; `UnreadableReply` where one is missing."""
        said = given if isinstance(given, Mapping) else {}
        found = {key: self._value(said[key]) for key in self.keys if key in said}
        if missing := [key for key in self.keys if found.get(key) is None]:
            what = "line" if isinstance(self.value, Text) else "value"
            raise UnreadableReply(f"There is no {what} about: {', '.join(missing)}.")
        return found

    def _value(self, given: Any) -> Any:
        return self.value.spoken(given) if isinstance(self.value, Text) else given


Option: TypeAlias = Choice | Number | Text | Each
Options: TypeAlias = Mapping[str, Option]
"""The legal values of a decision, by field (`action.bid` is a field of a field); others are as free as their type.

Where a field may be one of several kinds of record, those without a field of a field are not concerned by its options.
"""

Schema: TypeAlias = Mapping[str, Any]


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


def leaves(answer: type[Decision], options: Options) -> Mapping[str, Choice | Number | Text]:
    """The options by the paths of an answer, in which what stands for each of several keys stands at every one."""
    bare = bare_field(answer, options)
    found: dict[str, Choice | Number | Text] = {}
    for path, option in options.items():
        if isinstance(option, Each):
            found |= {key if path == bare else f"{path}.{key}": option.value for key in option.keys}
        else:
            found[path] = option
    return found


def changed(schema: Schema, path: str, change: Callable[[Schema], Schema]) -> Schema:
    """A copy of the schema in which the field at the path, wherever a kind of record has it, is changed."""
    if not path:
        return change(schema)
    if "anyOf" in schema:
        return {**schema, "anyOf": [changed(branch, path, change) for branch in schema["anyOf"]]}
    name, _, rest = path.partition(".")
    parts = schema.get("properties", {})
    return {**schema, "properties": {**parts, name: changed(parts[name], rest, change)}} if name in parts else schema


def _within(legal: Option, node: Schema) -> Schema:
    match legal:
        case Choice(values):
            # what stands for a kind of record is one of these values already
            return node if _is_tag(node) else {"type": _type_of(values), "enum": list(values)}
        case Number():
            upto = {} if legal.high is None else {"maximum": legal.high}
            return {"type": "integer", "minimum": max(legal.low, node.get("minimum", legal.low)), **upto}
        case Text(limit):
            return {"type": "string", "maxLength": limit}
        case Each(keys, value):
            return closed_object({key: _within(value, {}) for key in keys})


@cache
def _properties(answer: type[Decision]) -> Mapping[str, Any]:
    """The schema of each field, shared by all requests."""
    base = answer.model_json_schema()
    return {name: _portable(part, base.get("$defs", {})) for name, part in base["properties"].items()}


def _is_tag(node: Schema) -> bool:
    return len(node.get("enum", ())) == 1


def closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object that has these keys, every one, and no other."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _type_of(values: tuple[str | int | None, ...]) -> str | list[str]:
    """The JSON type of a choice; a list where its values have several, such as a name or null."""
    names = {str: "string", int: "integer", type(None): "null"}
    kinds = set(map(type, values))
    found = [name for kind, name in names.items() if kind in kinds]
    return found[0] if len(found) == 1 else found


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


def knows(schema: Schema, value: Any) -> bool:
    """Whether the objects in a value have no keys but those of the schema."""
    if "anyOf" in schema:
        return any(knows(branch, value) for branch in schema["anyOf"])
    if isinstance(value, list):
        return all(knows(schema.get("items", {}), each) for each in value)
    fields = schema.get("properties")
    if fields is None or not isinstance(value, dict):
        return True
    return value.keys() <= fields.keys() and all(knows(fields[name], part) for name, part in value.items())


def form_of(schema: Schema, options: Options, path: str = "") -> str:
    """An object of this schema with its legal values in words: `{"reasoning": "<why>", "vote": "<C or D>"}`."""
    if "anyOf" in schema:
        return " or ".join(form_of(branch, options, path) for branch in schema["anyOf"])
    if "properties" in schema:
        inner = schema["properties"].items()
        parts = [f"{json.dumps(key)}: {form_of(part, options, f'{path}.{key}'.lstrip('.'))}" for key, part in inner]
        first, kind = next(((key, part.get("type")) for key, part in inner), ("", ""))
        if kind == "boolean" and len(parts) > 1:  # what may be answered no, after which nothing else is asked
            return f'{{"{first}": true, {", ".join(parts[1:])}}} or {{"{first}": false}}'
        return f"{{{', '.join(parts)}}}"
    option = options.get(path)
    if "enum" in schema:
        return f'"<{option.about}>"' if isinstance(option, Choice) and option.about else _one_of(schema["enum"])
    kinds = schema.get("type")
    if isinstance(kinds, list):  # what may be null too
        named = [each for each in kinds if each != "null"]
        return form_of({**schema, "type": named[0]}, options, path) if len(named) == 1 else '"<words or a number>"'
    if kinds == "array":
        return f"[{form_of(schema.get('items', {}), options, path)}, ...]"
    if kinds == "integer":
        low, high = schema.get("minimum", 0), schema.get("maximum")
        if option is not None and option.nothing is not None:
            return f"<a whole number{'' if high is None else f' up to {high}'}, {option.nothing} to pass>"
        return f"<a whole number, {low} or more>" if high is None else f"<a whole number from {low} to {high}>"
    if kinds in {"boolean", "object", "number"}:
        return {"boolean": "<true or false>", "object": "{...}", "number": "<a number>"}[str(kinds)]
    reasons = {"explanation", "reasoning", "private_thought"}
    about = getattr(option, "about", "") or ("why" if path.rpartition(".")[2] in reasons else "words")
    most = schema.get("maxLength")
    return f'"<{about}>"' if most is None else f'"<{about}, at most {most} characters>"'


def _one_of(values: Sequence[Any]) -> str:
    """`"<C, B or D>"`; a single value as it is."""
    if len(values) == 1:
        return json.dumps(values[0], ensure_ascii=False)
    named = ["null" if value is None else str(value) for value in values]
    listed = f"{', '.join(named[:-1])} or {named[-1]}"
    return f'"<{listed}>"' if any(isinstance(value, str) for value in values) else f"<{listed}>"


def said(schema: Schema, path: str, **keywords: Any) -> Schema:
    """A copy of the schema in which the field at the path, wherever a kind of record has it, has these keywords too.

    `description` is what may be answered, in words, and `default` what an empty line means.
    """
    return changed(schema, path, lambda field: {**field, **keywords})


def unanswerable(record: type[BaseModel]) -> str:
    """What is wrong with a record whose first field may be answered no, after which no other is asked; "" for none."""
    # the one value of a kind is known when its other fields are asked
    fields = [(name, part) for name, part in record.model_fields.items() if not _is_one_value(part.annotation)]
    if fields and fields[0][1].annotation is bool:
        needed = [name for name, part in fields[1:] if part.is_required()]
        if needed:
            return f"{record.__name__}.{needed[0]} needs a default: {fields[0][0]} may be answered no"
    parts = (inner for _, part in fields for inner in _records(part.annotation))
    return next((problem for part in parts if (problem := unanswerable(part))), "")


def _is_one_value(annotation: Any) -> bool:
    return get_origin(annotation) is Literal and len(get_args(annotation)) == 1


def _records(annotation: Any) -> Iterator[type[BaseModel]]:
    """The records that a field may be; of those in a list, the ones of several kinds: others are a line each."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    listed = get_origin(annotation) in {list, tuple}
    for inner in get_args(annotation):
        if not (listed and isinstance(inner, type)):
            yield from _records(inner)
