"""Malformed: answers that violate their schema, parsed as a model's reply is."""

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
"""The values that replace a valid one."""


def malformed_decision(request: Request[Any], rng: Stream) -> Decision:
    """Return the decision that the first accepted malformed answer is read as, or a random one if all are refused."""
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
    """Yield the answer with nulls for the fields of other variants; then with wrong values, missing and extra keys."""
    nulls = dict(said)
    for name, option in request.checked_options.items():
        if isinstance(option, Variant):
            nulls[name] = {**dict.fromkeys(option.parts), **said[name]}
    yield nulls
    for path in _word_paths(said):
        *outer, key = path
        inside = value_at(said, tuple(outer))
        yield from (with_value(said, path, other) for other in _OTHERS)
        if isinstance(inside, Mapping):
            yield with_value(said, tuple(outer), {name: part for name, part in inside.items() if name != key})
            yield with_value(said, tuple(outer), {**inside, "other": 3})


def _word_paths(said: Mapping[str, Any]) -> list[Path]:
    """Return every path in an answer: those of single values, and those of the top-level fields."""
    return list(dict.fromkeys([*((name,) for name in said), *(path for path, _ in paths_in(said))]))
