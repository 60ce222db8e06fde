"""Answering: what a person needs who is asked a decision field by field. How the questions look is the players'."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from agentsim.engine.schema import Schema, changed

__all__ = ["said", "unanswerable"]


def said(schema: Schema, path: str, **keywords: Any) -> Schema:
    """A copy of the schema in which the field at the path, wherever a kind of record has it, has these keywords too.

    `description` is what may be answered, in words, and `default` what an empty line means.
    """
    return changed(schema, path, lambda field: {**field, **keywords})


def unanswerable(record: type[BaseModel]) -> str:
    """What of a record nobody could leave out after a first no, which makes everything else pointless; "" else."""
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
