"""Utterances: what was said aloud and thought with the same decision, from the events. Who shows them is its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from agentsim.engine.event import LogEntry
from agentsim.games.monopoly.events import Spoke, Thought, TradeProposed

Utterance: TypeAlias = tuple[int, str, str, str]
"""(turn, the player's id, what was said, what was thought); either may be empty."""


def utterances(log: Sequence[LogEntry]) -> list[Utterance]:
    """One for each decision with words, in order; a pitch is said aloud. Of others only what was heard is there."""
    found: dict[tuple[str, int], Utterance] = {}
    for place, told in enumerate(log):
        match told.event:
            case Spoke() as event:
                player, turn, said, thought = event.player, event.turn, event.text, ""
            case Thought() as event:
                player, turn, said, thought = event.player, event.turn, "", event.text
            case TradeProposed() as event if event.pitch:
                player, turn, said, thought = event.proposer, told.round, event.pitch, ""
            case _:
                continue
        # Of a decision that the log does not name, every event stands for itself.
        key = (player, told.decision if told.decision is not None else -1 - place)
        _, _, before, mind = found.get(key, (0, "", "", ""))
        found[key] = (turn, player, " ".join(filter(None, (before, said))), mind or thought)
    return list(found.values())
