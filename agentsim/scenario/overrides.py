"""overrides: `--set KEY=VALUE`, on the document as the TOML gave it. Whether the result is valid is not asked here."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from agentsim.errors import ScenarioError
from agentsim.scenario.wording import dotted, one_line, shown

__all__ = ["overridden", "put"]

_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\[^\n])*"|'[^'\n]*')"""
_OVERRIDE = re.compile(rf"\s*({_PART}(?:\s*\.\s*{_PART})*)\s*=(.*)", re.DOTALL)
_LENGTH = 64 * 1024


def overridden(document: dict[str, Any], overrides: Sequence[str] | Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the document with every override put in, in order: `KEY=VALUE`, or values by key."""
    document = copy.deepcopy(document)
    if isinstance(overrides, Mapping):
        parsed = [(_parsed(f"{key}=")[0], copy.deepcopy(value)) for key, value in overrides.items()]
    else:
        parsed = [_parsed(override) for override in overrides]
    for path, value in parsed:
        put(document, path, value, flag="--set ")
    return document


def put(document: dict[str, Any], path: Sequence[str], value: Any, *, flag: str = "") -> None:
    """Set one value in place; tables on the way are made, places in a list must be there."""
    here: Any = document
    for depth, part in enumerate(path):
        last = depth == len(path) - 1
        if isinstance(here, list):
            key: str | int = _index(here, path, depth, flag)
        elif isinstance(here, dict):
            key = part
            if not last:
                here.setdefault(key, {})
        else:
            raise ScenarioError(f"{dotted(path[:depth])} is {shown(here)}, not a table", key=flag + dotted(path))
        if last:
            here[key] = value
        else:
            here = here[key]


def _index(here: list[Any], path: Sequence[str], depth: int, flag: str) -> int:
    part = path[depth]
    if part.isascii() and part.isdecimal() and len(part) < 10 and int(part) < len(here):
        return int(part)
    name = dotted(path[:depth])
    valid = f"{name}.0 to {name}.{len(here) - 1}" if here else ""
    raise ScenarioError(f"{name} has {len(here)} entries, counted from 0", key=flag + dotted(path), valid=valid)


def _parsed(override: str) -> tuple[list[str], Any]:
    name = one_line(override.partition("=")[0], 80) or shown(override)
    found = _OVERRIDE.fullmatch(override)
    if found is None:
        raise ScenarioError(
            "must be KEY=VALUE, with a dotted key whose parts are quoted where they hold anything but A-Z a-z 0-9 _ -",
            key=f"--set {name}",
        )
    if len(override) > _LENGTH or found[1].count(".") > 64:
        raise ScenarioError("is too long", key=f"--set {name}")
    try:
        parts = [tomllib.loads(f"v = {p}")["v"] if p[0] in "\"'" else p for p in re.findall(_PART, found[1])]
    except ValueError:
        raise ScenarioError("not a TOML key", key=f"--set {name}") from None
    return parts, _value(found[2].strip(), f"--set {name}")


def _value(text: str, key: str) -> Any:
    """A TOML value; what is none is a bare word, unless it begins like a table, a list or a quoted text."""
    try:
        document = tomllib.loads(f"v = {text}")
    except (ValueError, RecursionError):
        if text.startswith(("[", "{", '"', "'")):
            raise ScenarioError("the value is not TOML", key=key) from None
        return text
    return document["v"] if len(document) == 1 else text
