"""Malformed: answers that are not as they were asked for, sent the way that a model's reply goes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agentsim.engine import Variant
from agentsim.engine.chance import Stream
from agentsim.engine.codec import Path, paths_in, value_at, with_value
from agentsim.engine.decision import Decision
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Request
from agentsim.errors import DecisionError

_OTHERS: tuple[Any, ...] = (None, 10**9, -1, "", "Zq", [], {})
"""What stands where something else was asked for."""


def malformed_decision(request: Request[Any], rng: Stream) -> Decision:
    """What the first malformed answer that is accepted comes to; a random decision where all are refused."""
    sound = random_decision(request, rng)
    said = sound.model_dump(mode="json")
    for answer in rng.shuffled(list(_malformed(request, said))):
        try:
            decision: Decision = request.parse(json.dumps(answer)).decision
            request.check(decision)
        except DecisionError:
            continue
        return decision
    return sound


def _malformed(request: Request[Any], said: Mapping[str, Any]) -> Iterator[Any]:
    """The answer with nulls for what a schema has beyond it; with other values, with a key more, with one less."""
    nulls = dict(said)
    for name, option in request.stated.items():
        if isinstance(option, Variant):
            nulls[name] = {**dict.fromkeys(option.parts), **said[name]}
    yield nulls
    for path in _places(said):
        *outer, key = path
        inside = value_at(said, tuple(outer))
        yield from (with_value(said, path, other) for other in _OTHERS)
        if isinstance(inside, Mapping):
            yield with_value(said, tuple(outer), {name: part for name, part in inside.items() if name != key})
            yield with_value(said, tuple(outer), {**inside, "other": 3})


def _places(said: Mapping[str, Any]) -> list[Path]:
    """Every place in an answer: of single values, and of the fields that hold them."""
    return list(dict.fromkeys([*((name,) for name in said), *(path for path, _ in paths_in(said))]))
