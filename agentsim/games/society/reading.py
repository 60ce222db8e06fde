"""Reading: which action an object is. Every reply is one: words alone are a post, what cannot be read is rejected.

How objects and words are found in a reply is the engine's `reading`; what is legal is asked of `legal`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from agentsim.engine.reading import Reading
from agentsim.errors import DecisionError, first_objection
from agentsim.games.society.actions import ACTIONS, Acted
from agentsim.games.society.turn import Rejected

LONGEST_GIVEN = 2_000  # characters of a rejected object that are kept
UNPARSED = "Failed to parse action"


def rejected(reason: str, given: Any = None) -> Reading[Acted]:
    """The reading of a reply that is no valid action, whose author is told why."""
    text = "" if given is None else json.dumps(given, ensure_ascii=False)[:LONGEST_GIVEN]
    return Reading(Acted(action=Rejected(reason=reason, given=text)), "rejected", candidates=0)


def given_in(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object of the action, which may be all of the answer or its one field."""
    within = said.get("action")
    return within if isinstance(within, Mapping) else said


def action_of(said: Mapping[str, Any], legal: Callable[[Acted], None]) -> Acted:
    """The action that an object is; where it is no valid one, its rejection. `legal` raises `IllegalDecision`."""
    given = given_in(said)
    name = given.get("action")
    kind = ACTIONS.get(name) if isinstance(name, str) else None
    if kind is None:
        return rejected(f"Unknown action: {str(name)[:60]}", dict(given)).decision
    try:
        acted = Acted(action=kind.model_validate(given))  # type: ignore[arg-type] # one of the ten, by its name
    except ValidationError as error:
        where, why = first_objection(error)
        return rejected(f"Invalid action data: {where}: {why}", given).decision
    try:
        legal(acted)
    except DecisionError as error:
        return rejected(f"Invalid action data: {str(error).removeprefix('action.')}", given).decision
    return acted
