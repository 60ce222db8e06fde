"""Words: what was said aloud beside what the speaker thought with the same decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentsim.engine.event import Told
from agentsim.engine.panel import Panel, Table
from agentsim.games.monopoly.events import Spoke, Thought

__all__ = ["Utterance", "panels", "utterances"]

_MOST = 300

Utterance = tuple[int, str, str, str]
"""(turn, the player's id, what was said, what was thought); either may be empty."""


def utterances(log: Sequence[Told]) -> list[Utterance]:
    """One for each decision with words, in order; of others' decisions only what was said may have been heard."""
    found: dict[tuple[str, int], Utterance] = {}
    for place, told in enumerate(log):
        event = told.event
        if not isinstance(event, Spoke | Thought):
            continue
        # Of a decision that the log does not name, every event stands for itself.
        key = (event.player, told.decision if told.decision is not None else -1 - place)
        _, _, said, thought = found.get(key, (0, "", "", ""))
        said, thought = (event.text, thought) if isinstance(event, Spoke) else (said, event.text)
        found[key] = (event.turn, event.player, said, thought)
    return list(found.values())


def panels(log: Sequence[Told]) -> Iterator[Panel]:
    """Nothing where nobody said or thought anything."""
    found = utterances(log)
    if not found:
        return
    names = {told.event.player: told.event.name for told in log if isinstance(told.event, Spoke | Thought)}
    rows = tuple((turn, names[player], said, thought) for turn, player, said, thought in found[-_MOST:])
    note = "Side by side with the same decision."
    if len(found) > _MOST:
        note += f" The last {_MOST} of {len(found)}; all of them are in the timeline."
    yield Table("Said aloud, and thought in private", ("turn", "player", "said aloud", "thought in private"), rows, note)
