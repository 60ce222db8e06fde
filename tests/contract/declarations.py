"""What the games have yet to declare of themselves: what no prompt shows, or no event told; which events forget.

A game's own `unshown`, `unheard` and `forgets` take the place of its lines here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from agentsim.engine.game import Game

UNSHOWN: Mapping[str, Sequence[str]] = {
    "agent_island": ("view.players", "view.jury", "view.tallies.#.abstentions"),
    "auction": ("terms.teams",),
    "market": ("menu", "now", "scope"),
    "monopoly": ("view.active", "view.seats.#.failed", "terms.target", "terms.proposer", "lot.high", "lot.leader"),
    "society": (
        *("rules.starvation_days", "rules.strict_actions", "rules.values", "world.more_projects"),
        *("world.more_proposals", "you.notices", "you.missed"),
    ),
}
UNHEARD: Mapping[str, Sequence[str]] = {"society": ("world",)}
"""The totals of the world, its votes and its dead are public, and told to nobody in an event."""
FORGETS = {"summary", "summarized"}
"""Kinds of event, of Agent Island and of Monopoly."""


def declare(game: Game, patch: pytest.MonkeyPatch) -> None:
    """Put into the game's requests and events what they have yet to declare."""
    for request in game.requests:
        for name, places in (("unshown", UNSHOWN), ("unheard", UNHEARD)):
            said = dict.fromkeys(places.get(game.name, ()), "as before")
            patch.setattr(request, name, {**said, **getattr(request, name)})
    for event in game.events:
        patch.setattr(event, "forgets", event.forgets or event.kind in FORGETS)
