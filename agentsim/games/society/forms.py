"""Forms: what a person is asked for an action, field by field, with what the state of the society leaves to choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentsim.engine.schema import said
from agentsim.games.society.amounts import UNIT, shown
from agentsim.games.society.terms import ProposalType, kinds

if TYPE_CHECKING:
    from agentsim.games.society.requests import Act


def field_of(act: Act, name: str, legal: Mapping[str, Any], answered: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a field for a person who has answered those before it."""
    match name:
        case "action.terms":
            return _carried(legal, answered["proposal_type"])
        case "action.terms.agents":
            return {**legal, "items": {**legal["items"], "maximum": act.rules.agents}}
        case "action.terms.hours":
            return {**legal, "maximum": act.rules.hours_per_day}
        case "action.terms.quorum":
            return {**legal, "maximum": act.rules.agents}
        case "action.amount" | "action.terms.amount":
            legal = {**legal, "minimum": 1 / UNIT}
        case _:
            pass
    hint = _hint(act, name, legal, answered)
    return said(legal, "", description=hint) if hint else legal


def _hint(act: Act, name: str, legal: Mapping[str, Any], answered: Mapping[str, Any]) -> str:
    """What can be answered in this state of the society, where the range does not tell."""
    world, you = act.world, act.you
    entries: Mapping[str, tuple[Sequence[Any], int, str]] = {
        "action.proposal_id": ((*world.proposals, *you.proposals), world.more_proposals, "a newer one"),
        "action.project_id": (world.projects, world.more_projects, "an older one"),
        "action.terms.law": ((*world.laws, *you.laws), world.more_laws, "an older one"),
    }
    match name:
        case "action.recipient_agent_id" if not legal["minimum"]:
            return f"0 for the common pool, or 1 to {act.rules.agents}"
        case "action.hours":
            return _upto(act.rules.hours_per_day - you.hours, "none are left today")
        case "action.parent_message_id":
            return _upto(max((each.id for each in world.posts), default=0), "there is no post")
        case "action.amount":
            resource = answered.get("resource_type", "materials")
            return f"you hold {shown(you.stock[resource])} {resource}"
        case _:
            return _one_of(*entries[name]) if name in entries else ""


def _carried(legal: Mapping[str, Any], type_: ProposalType) -> Mapping[str, Any]:
    """The terms that a proposal of this type can carry: none, where it can carry no kind."""
    if not kinds(type_):
        return {**legal, "maxItems": 0}
    needed = {"minItems": 1, "maxItems": 1} if type_ == "infrastructure" else {}
    branches = [each for each in legal["items"]["anyOf"] if each["properties"]["kind"]["enum"][0] in kinds(type_)]
    return {**legal, "items": {"anyOf": branches}, **needed}


def _upto(most: int, none: str) -> str:
    return f"1 to {most}" if most > 1 else "1" if most == 1 else none


def _one_of(shown: Sequence[Any], more: int, others: str) -> str:
    """The numbers of what is shown; `more` are not."""
    ids = ", ".join(map(str, sorted({each.id for each in shown}))) or "none"
    return f"{ids}, or {others}" if more else ids
