"""Validation error: a pydantic `ValidationError` as the one line a scenario's author needs.

What is checked is not said here: the words for "what would be valid" come from the model's own JSON Schema.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agentsim.errors import ScenarioError
from agentsim.scenario.wording import Key, described, dotted, shown

__all__ = ["complaint", "nearest", "validated"]

AnyModel = TypeVar("AnyModel", bound=BaseModel)
_MOST_NAMED = 24


def validated(model: type[AnyModel], document: Any, *, at: Key = ()) -> AnyModel:
    """`document` (JSON values) as a `model`; `ScenarioError` with a key below `at` where it does not fit.

    JSON rules apply, as a TOML file has them: lists are tuples, words are enums, and nothing else is cast.
    """
    try:
        return model.model_validate_json(json.dumps(document))
    except ValidationError as error:
        raise complaint(error, model, document, at=at) from None
    except ScenarioError as error:
        raise error.placed(key=dotted(at)) from None


def complaint(error: ValidationError, model: type[BaseModel], document: Any, *, at: Key = ()) -> ScenarioError:
    """The most telling of the errors: an unknown key before all (it explains a missing one), else the first."""
    details = error.errors(include_url=False)
    placed = [(_place(detail, document), detail) for detail in details]
    key, detail = next((entry for entry in placed if entry[1]["type"] == "extra_forbidden"), placed[0])
    # A union reports each of its branches; the one that got furthest into the value is the one meant, and of those the
    # one that had more to object to than its type.
    key, detail = max(
        (entry for entry in placed if entry[0][: len(key)] == key),
        key=lambda entry: (len(entry[0]), entry[1]["type"] == "value_error"),
    )
    # People paste keys into the wrong field of a provider: nothing typed there is repeated.
    found = "" if (*at, *key)[:1] == ("providers",) else f", found {shown(detail['input'])}"
    problem, valid = _problem(detail, key, model.model_json_schema(), found)
    return ScenarioError(problem, key=dotted((*at, *key)), valid=valid)


def nearest(name: str, known: Sequence[str]) -> tuple[str, str]:
    """For an unknown name: a hint to append to the problem, or else the list of what is valid."""
    close = difflib.get_close_matches(name[:100], known, n=1)
    if not close:  # difflib minds case
        close = [other for other in known if other.casefold() == name.casefold()]
    if close:
        return f" (did you mean {close[0]}?)", ""
    return "", ", ".join([*sorted(known)[:_MOST_NAMED], *(["..."] if len(known) > _MOST_NAMED else [])])


def _place(detail: ErrorDetails, document: Any) -> Key:
    """The error's key in the document: pydantic's `loc` without the names of union branches."""
    key: list[str | int] = []
    here = document
    last = len(detail["loc"]) - 1
    for depth, part in enumerate(detail["loc"]):
        there = part in here if isinstance(here, Mapping) else isinstance(here, list) and part in range(len(here))
        if there:
            here = here[part]
        elif not (depth == last and detail["type"] == "missing"):
            continue
        key.append(part)
    return tuple(key)


def _problem(detail: ErrorDetails, key: Key, schema: Mapping[str, Any], found: str) -> tuple[str, str]:
    match detail["type"]:
        case "extra_forbidden":
            known = [name for node in _nodes(schema, key[:-1]) for name in node.get("properties", ())]
            hint, valid = nearest(str(key[-1]), known)
            return f"unknown key{hint}", valid
        case "missing":
            return "is missing", _valid(schema, key)
        case "value_error" | "assertion_error":
            message = str(detail.get("ctx", {}).get("error", detail["msg"]))
            return (message + found if message.startswith("must") else message), ""
    return f"must be {_valid(schema, key)}{found}", ""


def _valid(schema: Mapping[str, Any], key: Key) -> str:
    return " or ".join(dict.fromkeys(described(_inlined(node, schema)) for node in _nodes(schema, key)))


def _nodes(schema: Mapping[str, Any], key: Key) -> list[Mapping[str, Any]]:
    """The places of a JSON Schema that describe `key`; several where branches of a union do."""
    nodes = list(_branches(schema, schema))
    for part in key:
        below: list[Mapping[str, Any]] = []
        for node in nodes:
            if isinstance(part, int):
                prefix = node.get("prefixItems", ())
                child = prefix[part] if part < len(prefix) else node.get("items")
            else:
                child = node.get("properties", {}).get(part, node.get("additionalProperties"))
            if isinstance(child, Mapping):
                below.extend(_branches(child, schema))
        nodes = below
    return nodes


def _branches(node: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    node = _target(node, root)
    if branches := node.get("anyOf") or node.get("oneOf"):
        for branch in branches:
            yield from _branches(branch, root)
    elif node.get("type") != "null":
        yield node


def _target(node: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    while "$ref" in node:
        node = root["$defs"][node["$ref"].removeprefix("#/$defs/")]
    return node


def _inlined(node: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The node with the references of a list's items resolved, which is as deep as `described` looks."""
    items = node.get("items")
    if not isinstance(items, Mapping):
        return node
    options = [_inlined(branch, root) for branch in _branches(items, root)]
    return {**node, "items": options[0] if len(options) == 1 else {"anyOf": options}}
