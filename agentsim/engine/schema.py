"""Schema: the fields of an answer with their options: of its types, of a request, and as a state narrows them.

`models` sends schemas and `players` show them; `Request.check` decides what is legal beyond options.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from types import FunctionType
from typing import Any, TypeAlias

from agentsim.engine.decision import Decision
from agentsim.engine.options import (
    MISSING,
    Choice,
    Each,
    Kinds,
    LegalValues,
    Number,
    Record,
    Subset,
    Text,
    Variant,
    closed_object,
    of_schema,
)

Options: TypeAlias = Mapping[str, Choice | Number | Text | Subset | Each | Variant]
"""The legal values of a decision, by field (`action.bid` is a field of a field); other fields are limited by type only.

If a field may be one of several kinds of record, an option applies to the kinds that have the path; a kind whose tag is
not in its `Choice` is left out of the schema.
"""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A state's limits on a field: a narrower option for people or for models; otherwise as in `FormField`.

    A changed schema invalidates a provider's cache, so `for_models` is for options that rarely change. A model's answer
    outside of it is read nevertheless.
    """

    hint: str = ""
    usual: Any = MISSING
    for_people: LegalValues | None = None
    for_models: LegalValues | None = None


def options_in(answer: type[Decision], request: object) -> dict[str, Any]:
    """Return the options in the annotations of a decision, calling functions with the request.

    Raises `TypeError` if a function does not return an option.
    """
    found = {name: mark(request) if isinstance(mark, FunctionType) else mark for name, mark in _marks(answer).items()}
    for name in (name for name, option in found.items() if not isinstance(option, LegalValues)):
        what = f"{type(request).__name__}: the function in the annotation of {name}"
        raise TypeError(f"{what} returns {found[name]!r}, which is no option")
    return found


@cache
def _marks(answer: type[Decision]) -> Mapping[str, Any]:
    marks = ((name, mark) for name, field in answer.model_fields.items() for mark in field.metadata)
    return {name: mark for name, mark in marks if isinstance(mark, FunctionType | LegalValues)}


def stated(answer: type[Decision], options: Options, by: str) -> Options:
    """Check and return the options that a request states. Raises `TypeError` for a path that its answer lacks."""
    paths = _paths_of(answer)
    if strange := [path for path in options if path not in paths]:
        raise TypeError(f"{by}.options: {answer.__name__} has no {strange[0]}; it has {', '.join(paths)}")
    return options


@cache
def _paths_of(answer: type[Decision]) -> Mapping[str, None]:
    """Return every path that options of a decision may have: its fields, and the fields of those."""
    return dict.fromkeys(_paths(typed_record(answer)))


def _paths(option: LegalValues, place: str = "") -> Iterator[str]:
    for record in (option.kinds or {}).values():
        yield from _paths(record, place)
    for name, part in (option.parts or {}).items():
        yield f"{place}{name}"
        yield from _paths(part, f"{place}{name}.")


def record_of(answer: type[Decision], options: Options) -> Record:
    """Return the fields of an answer within these options; if `Each` is its only field, the keys of that."""
    record: LegalValues = typed_record(answer)
    for path, option in options.items():
        record = changed(record, path, option.within)
    bare = bare_field(answer, options)
    found = record.parts[bare] if bare and record.parts else record
    assert isinstance(found, Record)
    return found


def bare_field(answer: type[Decision], options: Options) -> str | None:
    """Return the only field of a decision if an answer is the object in it, or None."""
    names = tuple(answer.model_fields)
    return names[0] if len(names) == 1 and isinstance(options.get(names[0]), Each) else None


def leaves(answer: type[Decision], options: Options) -> Mapping[str, LegalValues]:
    """Return the options by the paths of an answer; an option for several keys is repeated at every key."""
    bare = bare_field(answer, options)
    found: dict[str, LegalValues] = {}
    for path, option in options.items():
        found |= option.leaves("" if path == bare else path)
    return found


@cache
def typed_record(answer: type[Decision]) -> Record:
    """Return the fields of an answer as its types allow them, shared by all requests."""
    base = answer.model_json_schema()
    definitions = base.get("$defs", {})
    return Record({name: of_schema(_portable(part, definitions)) for name, part in base["properties"].items()})


def _portable(part: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a schema without `$ref`, `oneOf`, `const`, titles and defaults, which some providers refuse."""
    if isinstance(part, list):
        return [_portable(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _portable(definitions[part["$ref"].rsplit("/", 1)[1]], definitions)
    if part.get("type") == "object" and "properties" in part:  # a part of a decision: as complete and closed
        return closed_object({name: _portable(inner, definitions) for name, inner in part["properties"].items()})
    if "oneOf" in part:  # several kinds of record, distinguished by a field with one value
        return {"anyOf": [_portable(branch, definitions) for branch in part["oneOf"]]}
    if "const" in part:
        return {"type": part["type"], "enum": [part["const"]]}
    return {
        key: _portable(value, definitions)
        for key, value in part.items()
        if key not in {"title", "default", "description"}
    }


def changed(option: Any, path: str, change: Callable[[Any], Any]) -> Any:
    """Return a copy with the field at the path changed in each kind of record, without impossible kinds."""
    if not path:
        return change(option)
    if isinstance(option, Kinds):
        kinds = {tag: changed(record, path, change) for tag, record in option.kinds.items()}
        return replace(option, kinds={tag: record for tag, record in kinds.items() if _can_be(record)})
    name, _, rest = path.partition(".")
    if not option.parts or name not in option.parts:
        return option
    return Record({**option.parts, name: changed(option.parts[name], rest, change)})


def _can_be(record: Record) -> bool:
    return all(part.values for part in record.parts.values() if part.kind == "choice")


def asked_for(record: Record, narrowed: Mapping[str, Narrowed | None], *, closely: bool = False) -> Record:
    """Return the record without the fields for which `narrowed` has None; `closely` applies the options for models."""
    for path, more in narrowed.items():
        if more is None:
            inner, _, name = path.rpartition(".")
            record = changed(record, inner, partial(_without, name))
        elif closely and more.for_models is not None:
            record = changed(record, path, partial(_replaced, more.for_models))
    return record


def _replaced(closer: LegalValues, option: LegalValues) -> LegalValues:
    return closer


def _without(name: str, option: Any) -> Any:
    """Return an object without a field, in each kind of record that has it."""
    if isinstance(option, Kinds):
        return replace(option, kinds={tag: _without(name, record) for tag, record in option.kinds.items()})
    if option.parts is None:
        return option
    return Record({each: part for each, part in option.parts.items() if each != name})
