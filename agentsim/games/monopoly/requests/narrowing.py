"""Narrowing: what a person is asked of an action: nothing that cannot matter, and amounts within what there is.

What is legal is the requests'; models are asked for the whole action.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from agentsim.engine.schema import said
from agentsim.games.monopoly.board import GROUPS
from agentsim.games.monopoly.estate import Estate
from agentsim.games.monopoly.view import SeatView

Schema: TypeAlias = Mapping[str, Any]

_DEEDS = "names or numbers, commas between; nothing for none"
_LOTS = "name or number, then house or hotel; commas between; nothing for none"


def bid(action: Schema, least: int, cash: int) -> Schema:
    """A bid that would be refused is not among those that are named."""
    return said(action, "bid", description=f"{least} to {cash}, or 0 to withdraw")


def bundle(action: Schema, estate: Estate, seat: int) -> Schema:
    """The lists of what there is to sell, to mortgage, to lift and to build on, if only after the ones before."""
    held = estate.held(seat)
    whole = [group for group in GROUPS if estate.completes(seat, group)]
    matters = {
        "sells": any(estate.level[position] for position in held),
        "mortgages": any(not estate.mortgaged[position] for position in held),
        "unmortgages": any(estate.mortgaged[position] for position in held),
        "builds": any(group not in {"railroad", "utility"} for group in whole),
    }
    for name, asked in matters.items():
        if name in action["properties"]:
            how = _LOTS if name in {"sells", "builds"} else _DEEDS
            action = said(action, name, description=how) if asked else _without(action, name)
    return action


def proposal(action: Schema, estate: Estate, seats: Sequence[SeatView], seat: int) -> Schema:
    """A trade with one of the others: deeds and cards of those who have any, and no more cash than there is."""
    others = [number for number, other in enumerate(seats) if number != seat and not other.bankrupt]
    names = [seats[number].id for number in others]
    action = said(action, "target_player", enum=names, **({"default": names[0]} if len(names) == 1 else {}))
    for side, givers in (("offer", [seat]), ("request", others)):
        cash, cards = max(seats[giver].cash for giver in givers), max(len(seats[giver].cards) for giver in givers)
        action = said(action, f"{side}.cash", minimum=0, maximum=cash, default=0)
        action = said(action, f"{side}.jail_cards", minimum=0, maximum=cards, default=0)
        action = said(action, f"{side}.properties", description=_DEEDS)
        part = action["properties"][side]
        part = part if any(estate.held(number) for number in givers) else _without(part, "properties")
        part = part if cards else _without(part, "jail_cards")
        action = {**action, "properties": {**action["properties"], side: part}}
    return said(action, "pitch", description="your words to that player; nothing for none")


def _without(schema: Schema, name: str) -> Schema:
    return {**schema, "properties": {other: part for other, part in schema["properties"].items() if other != name}}
