"""Forms: the shape of an answer in words, derived from its schema and options; and what no form can ask for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from agentsim.engine.options import Choice, Number, Option, Schema, Subset
from agentsim.engine.schema import Each, Options, Variant
from agentsim.engine.wording import either


def form_of(schema: Schema, options: Options, path: str = "") -> str:
    """An object of this schema with its legal values in words: `{"reasoning": "<why>", "vote": "<C or D>"}`."""
    option = options.get(path)
    if isinstance(option, Variant):
        return _form_of_variant(option)
    if isinstance(option, Subset):
        return option.form()
    if "anyOf" in schema:
        return " or ".join(form_of(branch, options, path) for branch in schema["anyOf"])
    if "properties" in schema:
        return _form_of_object(schema["properties"], options, path)
    if "enum" in schema:
        return f'"<{option.about}>"' if isinstance(option, Choice) and option.about else _one_of(schema["enum"])
    kinds = schema.get("type")
    if isinstance(kinds, list):  # what may be null too
        named = [each for each in kinds if each != "null"]
        return form_of({**schema, "type": named[0]}, options, path) if len(named) == 1 else '"<words or a number>"'
    if kinds == "array":
        return f"[{form_of(schema.get('items', {}), options, path)}, ...]"
    if kinds == "integer":
        return _form_of_number(schema, option)
    if kinds in {"boolean", "object", "number"}:
        return {"boolean": "<true or false>", "object": "{...}", "number": "<a number>"}[str(kinds)]
    reasons = {"explanation", "reasoning", "private_thought"}
    about = getattr(option, "about", "") or ("why" if path.rpartition(".")[2] in reasons else "words")
    most = schema.get("maxLength")
    return f'"<{about}>"' if most is None else f'"<{about}, at most {most} characters>"'


def _form_of_number(schema: Schema, option: Option | Subset | Each | None) -> str:
    low, high = schema.get("minimum", 0), schema.get("maximum")
    about = f", {option.about}" if isinstance(option, Number) and option.about else ""
    if option is not None and option.nothing is not None:
        return f"<a whole number{'' if high is None else f' up to {high}'}, {option.nothing} to pass{about}>"
    return (
        f"<a whole number, {low} or more{about}>" if high is None else f"<a whole number from {low} to {high}{about}>"
    )


def _form_of_object(inner: Mapping[str, Schema], options: Options, path: str) -> str:
    parts = [f"{json.dumps(key)}: {form_of(part, options, f'{path}.{key}'.lstrip('.'))}" for key, part in inner.items()]
    first, kind = next(((key, part.get("type")) for key, part in inner.items()), ("", ""))
    if kind == "boolean" and len(parts) > 1:  # what may be answered no, after which nothing else is asked
        return f'{{"{first}": true, {", ".join(parts[1:])}}} or {{"{first}": false}}'
    return f"{{{', '.join(parts)}}}"


def _form_of_variant(option: Variant) -> str:
    """The fields by value: `{<of buy or sell: "price": <a whole number, 1 or more>; else none>}`."""
    alike: dict[str, list[str]] = {}
    for value, fields in option.fields.items():
        shown = {
            name: "" if option.menu else f": {form_of(part.schema({}), fields, name)}" for name, part in fields.items()
        }
        if fields:
            alike.setdefault(", ".join(f"{json.dumps(name)}{form}" for name, form in shown.items()), []).append(value)
    return f"{{<{'; '.join([*(f'of {either(values)}: {names}' for names, values in alike.items()), 'else none'])}>}}"


def _one_of(values: Sequence[Any]) -> str:
    """`"<C, B or D>"`; a single value as it is."""
    if len(values) == 1:
        return json.dumps(values[0], ensure_ascii=False)
    named = ["null" if value is None else str(value) for value in values]
    return f'"<{either(named)}>"' if any(isinstance(value, str) for value in values) else f"<{either(named)}>"


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
