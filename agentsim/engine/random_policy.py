"""Random policy: a bot for any game, which draws each answer from the request's JSON Schema and keeps what is legal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.options import Subset
from agentsim.engine.request import Request
from agentsim.engine.schema import Variant
from agentsim.errors import DecisionError

_DRAWS = 200
_BEYOND = 100  # above the least value of a number without an upper end
_MOST_ENTRIES = 3  # of a list
_WORDS = ("Good morning.", "I am not sure.", "Let us see.", "Why not?", "We should talk.", "Not today.")


def random_decision(request: Request[Any], rng: Stream) -> Decision:
    """A legal decision, drawn field by field; the fallback where 200 draws in a row are illegal."""
    schema = request.schema()
    for _ in range(_DRAWS):
        try:
            said = _drawn(schema, rng)
            for name, option in request.stated.items():
                if isinstance(option, Variant):
                    said[name] = _drawn(option.schema_with(said[option.by]), rng)
                elif isinstance(option, Subset):
                    count = rng.integer(option.least, option.upto)
                    said[name] = rng.shuffled(option.values)[:count]
            decision: Decision = request.decision_of(said)
            request.check(decision)
        except DecisionError:
            continue
        return decision
    fallback: Decision = request.fallback()
    return fallback


def _drawn(schema: Mapping[str, Any], rng: Stream) -> Any:
    if "anyOf" in schema:
        return _drawn(rng.pick(schema["anyOf"]), rng)
    if "enum" in schema:
        return rng.pick(schema["enum"])
    if "properties" in schema:
        return {name: _drawn(part, rng) for name, part in schema["properties"].items()}
    kind = schema.get("type")
    if isinstance(kind, list):
        return _drawn({**schema, "type": rng.pick(kind)}, rng)
    match kind:
        case "boolean":
            return rng.below(2) == 1
        case "integer" | "number":
            low = schema.get("minimum", 0)
            return rng.integer(int(low), int(schema.get("maximum", low + _BEYOND)))
        case "array":
            most = min(schema.get("maxItems", _MOST_ENTRIES), _MOST_ENTRIES)
            return [_drawn(schema.get("items", {}), rng) for _ in range(rng.integer(schema.get("minItems", 0), most))]
        case "string":
            return rng.pick(_WORDS)[: schema.get("maxLength", _BEYOND)]
    return None
