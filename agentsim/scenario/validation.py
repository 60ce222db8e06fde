"""Error lines of scenarios: the key, the value found, and the valid values. The rules themselves are in `toml_tables`.

The valid values are described from the JSON Schema of the pydantic model. Secrets and values that JSON cannot represent
are refused before validation.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agentsim.engine.letters import NAME_PATTERN, NAME_RULE
from agentsim.engine.wording import cleaned, near
from agentsim.errors import ErrorCollector, ScenarioError
from agentsim.patterns import Pattern

AnyModel = TypeVar("AnyModel", bound=BaseModel)
_MOST_NAMED = 24

KeyPath: TypeAlias = tuple[str | int, ...]
"""The place of a value in a scenario's document. List indices count from 0."""

_BARE = Pattern(r"[A-Za-z0-9_-]+")


def validated(model: type[AnyModel], document: Any, *, at: KeyPath = ()) -> AnyModel:
    """Validate `document` (JSON values) as a `model`. Raises `ScenarioError` with a key below `at`.

    JSON rules apply, as a TOML file has no tuples and enums: lists become tuples and strings become enums, without
    other casts.
    """
    try:
        return model.model_validate_json(json.dumps(document))
    except ValidationError as error:
        raise _scenario_error(error, model, document, at=at) from None
    except ScenarioError as error:
        raise error.placed(key=dotted(at)) from None


def _scenario_error(
    error: ValidationError, model: type[BaseModel], document: Any, *, at: KeyPath = ()
) -> ScenarioError:
    """Return all errors as one, unknown keys first. A missing key in a table with an unknown key is left out."""
    found: dict[KeyPath, list[tuple[KeyPath, ErrorDetails]]] = {}
    for detail in error.errors(include_url=False):
        key, start = _place(detail, document)
        found.setdefault(key[:start], []).append(_at_the_tag(key, detail))
    # A union reports errors of each branch. Keep the error that is deepest in the value, and of those one that objects
    # to more than the type.
    told = [max(group, key=lambda each: (len(each[0]), each[1]["type"] == "value_error")) for group in found.values()]
    unknown = [each for each in told if each[1]["type"] == "extra_forbidden"]
    tables = {key[:-1] for key, _ in unknown}
    inside = {key[:depth] for key, _ in told for depth in range(len(key))}
    errors, schema = ErrorCollector(), model.model_json_schema()
    for key, detail in (*unknown, *(each for each in told if each[1]["type"] != "extra_forbidden")):
        if detail["type"] == "missing" and key[:-1] in tables:
            continue
        if detail["type"] == "too_short" and key in inside:
            continue  # pydantic counts only items without an error
        # Do not repeat values of a provider's table: people paste keys into the wrong field.
        typed = "" if (*at, *key)[:1] == ("providers",) else f", found {shown(detail['input'])}"
        problem, valid = _problem(detail, key, schema, typed)
        errors.note(ScenarioError(problem, key=dotted((*at, *key)), valid=valid))
    try:
        errors.raised()
    except ScenarioError as collected:
        return collected
    raise error


def nearest(name: str, known: Sequence[str]) -> tuple[str, str]:
    """Return (hint to append, "") for an unknown name that resembles a known one, else ("", list of valid names)."""
    if hint := near(name, known):
        return hint, ""
    return "", ", ".join([*sorted(known)[:_MOST_NAMED], *(["..."] if len(known) > _MOST_NAMED else [])])


def no_such_bot(game: str, policy: str, policies: Iterable[str], *, key: str) -> ScenarioError:
    """Return the error for an unknown bot. Similarity is judged without the prefix `bot/`."""
    hint = near(policy, known := sorted(policies), "bot/")
    valid = ", ".join(f"bot/{each}" for each in known)
    return ScenarioError(f"{game} has no {shown(f'bot/{policy}')}{hint}", key=key, valid=valid)


def _place(detail: ErrorDetails, document: Any) -> tuple[KeyPath, int]:
    """Return the error's key in the document, and the length of its part before the first union branch.

    The key is pydantic's `loc` without the names of union branches.
    """
    key: list[str | int] = []
    start: int | None = None
    here = document
    last = len(detail["loc"]) - 1
    for depth, part in enumerate(detail["loc"]):
        there = part in here if isinstance(here, Mapping) else isinstance(here, list) and part in range(len(here))
        if there:
            here = here[part]
        elif not (depth == last and detail["type"] == "missing"):
            start = len(key) if start is None else start
            continue
        key.append(part)
    return tuple(key), len(key) if start is None else start


def _at_the_tag(key: KeyPath, detail: ErrorDetails) -> tuple[KeyPath, ErrorDetails]:
    """Move an error about a table's tag (such as a law's `kind`), which pydantic reports for the table, to the tag."""
    if detail["type"] not in {"union_tag_invalid", "union_tag_not_found"}:
        return key, detail
    tag = detail["ctx"]["discriminator"].strip("'")
    if detail["type"] == "union_tag_not_found":
        return (*key, tag), {**detail, "type": "missing"}
    return (*key, tag), {**detail, "type": "enum", "input": detail["input"][tag]}


def _problem(detail: ErrorDetails, key: KeyPath, schema: Mapping[str, Any], found: str) -> tuple[str, str]:
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


def _valid(schema: Mapping[str, Any], key: KeyPath) -> str:
    return " or ".join(dict.fromkeys(_described(node, schema) for node in _nodes(schema, key)))


def _nodes(schema: Mapping[str, Any], key: KeyPath) -> list[Mapping[str, Any]]:
    """Return the nodes of a JSON Schema that describe `key`, several for a union."""
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
    while "$ref" in node:
        node = root["$defs"][node["$ref"].removeprefix("#/$defs/")]
    if branches := node.get("anyOf") or node.get("oneOf"):
        for branch in branches:
            yield from _branches(branch, root)
    elif node.get("type") != "null":
        yield node


def one_line(text: str, limit: int = 200) -> str:
    """Return foreign text on one line, cleaned and cut to `limit` characters."""
    text = " ".join(cleaned(text[: limit * 4]).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def dotted(parts: Iterable[str | int]) -> str:
    """Return a key as TOML writes it, with list indices as parts: `players.0.temperature`."""
    names = (one_line(str(part), 80) for part in parts)
    return ".".join(name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False) for name in names)


def shown(value: Any) -> str:
    """Return a short description of a value: text in quotes, tables and lists by kind."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return json.dumps(one_line(value, 60), ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    return one_line(str(value), 60)


def _described(node: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """Describe the valid values of a JSON Schema node in words: "a number from 0 to 2"."""
    schema, *more = _branches(node, root)
    if more:
        return " or ".join(dict.fromkeys(_described(branch, root) for branch in (schema, *more)))
    if "const" in schema:
        return shown(schema["const"])
    if "enum" in schema:
        return "one of " + ", ".join(shown(value) for value in schema["enum"])
    match schema.get("type"):
        case "number":
            return "a number" + _range(schema)
        case "integer":
            return "a whole number" + _range(schema)
        case "boolean":
            return "true or false"
        case "array":
            least = f" of at least {schema['minItems']}" if schema.get("minItems") else ""
            most = f" of at most {schema['maxItems']}" if "maxItems" in schema else ""
            items = schema.get("items")
            return f"a list{least or most}" + (f", each {_described(items, root)}" if items else "")
        case "string":
            return _text(schema)
        case "object":
            return "a table"
    return "something else"


def _text(schema: Mapping[str, Any]) -> str:
    if "pattern" not in schema:
        return "text"
    if schema["pattern"] == NAME_PATTERN:
        return NAME_RULE
    if named := re.fullmatch(r"\^\[A-Za-z0-9\]\[A-Za-z0-9(\S+)\]\{0,(\d+)\}\$", schema["pattern"]):
        marks = " ".join(named[1])
        return f"1 to {int(named[2]) + 1} of the characters A-Z a-z 0-9 {marks}, the first a letter or a digit"
    if word := re.fullmatch(r"\^\[(A-Z)?a-z\]\[(?:A-Z)?a-z0-9_\]\{0,(\d+)\}\$", schema["pattern"]):
        letters = " ".join(filter(None, (word[1], "a-z")))
        return f"1 to {int(word[2]) + 1} of the characters {letters} 0-9 _, the first a letter"
    return str(schema.get("description", f"text that matches {schema['pattern']}"))


_BOUNDS = {"exclusiveMinimum": "above", "minimum": "of at least", "maximum": "at most", "exclusiveMaximum": "below"}


def _range(schema: Mapping[str, Any]) -> str:
    match schema:
        case {"minimum": low, "maximum": high}:
            return f" from {low:g} to {high:g}" if max(abs(low), abs(high)) < 10**6 else f" from {low} to {high}"
    found = " and ".join(f"{words} {schema[bound]}" for bound, words in _BOUNDS.items() if bound in schema)
    return f" of {found}" if found.startswith("at most") else found and f" {found}"


ADVICE = "looks like a key or password; keys come from the environment"

_SECRET = Pattern(
    r"""^(?:sk-|AIza)[A-Za-z0-9_-]{4,}$                       # a whole value
      | (?<![A-Za-z0-9_-])(?:sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{20,}
                            |(?:gsk|hf|ghp|xai|pplx)[_-][A-Za-z0-9]{20,})
      | \bapi[_-]?key["']?\s*[=:]\s*["']?[^\s"'<$]{8,}
      | \bbearer\s+[A-Za-z0-9._~+/=-]{16,}
      | ://[^/\s:@]+:[^/\s@]+@                                # a password in a URL
    """,
    re.VERBOSE,
)
_SECRET_KEYS = ("authorization", "accesstoken", "authtoken", "bearertoken", "secretkey")


def secret_in(text: str) -> bool:
    """Return whether the text contains what looks like a provider's key or a password."""
    return _SECRET.search(text) is not None


def screen(document: Mapping[str, Any]) -> None:
    """Raise `ScenarioError` for the first secret, date, non-finite number or integer beyond 64 bits.

    The message does not repeat the secret.
    """
    for path, value in _leaves(document, ()):
        name = path[-1] if isinstance(path[-1], str) else ""
        if secret_in(name):
            raise ScenarioError(f"a key below it {ADVICE}", key=dotted(path[:-1]))
        plain = re.sub(r"[^a-z0-9]", "", name.casefold())
        named = plain.endswith("apikey") or plain in _SECRET_KEYS
        if named or (isinstance(value, str) and secret_in(value)):
            raise ScenarioError(ADVICE, key=dotted(path))
        if isinstance(value, float) and not math.isfinite(value):
            raise ScenarioError(f"must be a finite number, found {value}", key=dotted(path))
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ScenarioError("must be a number of at most 64 bits", key=dotted(path))
        if not isinstance(value, str | int | float | list | dict):
            raise ScenarioError(f"must be in quotes, found the date {shown(value)}", key=dotted(path))


def _leaves(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    """Yield every key with its value, tables and lists included."""
    items: Any = value.items() if isinstance(value, Mapping) else enumerate(value)
    for name, below in items:
        yield (*path, name), below
        if isinstance(below, Mapping | list):
            yield from _leaves(below, (*path, name))
