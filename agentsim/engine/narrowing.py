"""Narrowing: a question's schema by what the state says of single fields (`Request.narrowed`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from agentsim.engine.options import Schema
from agentsim.engine.schema import changed, closed_object, said


def without(schema: Schema, path: str) -> Schema:
    """A copy of the schema without the field at the path, wherever a kind of record has it."""
    inner, _, name = path.rpartition(".")

    def left(part: Schema) -> Schema:
        kept = {other: each for other, each in part.get("properties", {}).items() if other != name}
        return closed_object(kept) if name in part.get("properties", {}) else part

    def in_each(part: Schema) -> Schema:
        return {**part, "anyOf": [left(kind) for kind in part["anyOf"]]} if "anyOf" in part else left(part)

    return changed(schema, inner, in_each)


def asked_for(schema: Schema, narrowed: Mapping[str, Schema | None]) -> Schema:
    """The schema without the fields of which there is None (`Request.narrowed`)."""
    return reduce(without, (path for path, more in narrowed.items() if more is None), schema)


def told(legal: Schema, name: str, narrowed: Mapping[str, Schema | None]) -> Schema:
    """The schema of the field of that name, with what is said of it and of its own fields (`Request.narrowed`)."""
    for path, more in narrowed.items():
        field, _, inner = path.partition(".")
        if more is not None and field == name:
            legal = said(legal, inner, **more)
    return legal
