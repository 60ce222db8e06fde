"""Words: what was said aloud beside what the speaker thought with the same decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agentsim.engine.event import Event, PlayerId, Told
from agentsim.engine.panel import Panel, Table
from agentsim.engine.wording import cut
from agentsim.games.monopoly.events import Spoke, Thought, TradeProposed

__all__ = ["Utterance", "panels", "quotations", "utterances"]

_MOST = 300
_LONGEST = 160
_ROW_END = 30  # characters of a line's last row that stay empty, more or less

Utterance = tuple[int, str, str, str]
"""(turn, the player's id, what was said, what was thought); either may be empty."""


def utterances(log: Sequence[Told]) -> list[Utterance]:
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


def quotations(events: Sequence[Event], room: int) -> tuple[str, ...]:
    """The last words of a turn, a line for each speech, pitch or thought, in at most `room` characters altogether."""
    found: list[str] = []
    for event in events:
        match event:
            case Spoke():
                found.append(f"{event.name}: \u201c{cut(event.text, _LONGEST)}\u201d")
            case Thought():
                found.append(f"{event.name}, to itself: \u201c{cut(event.text, _LONGEST)}\u201d")
            case TradeProposed() if event.pitch:
                found.append(f"{event.proposer_name} to {event.target_name}: \u201c{cut(event.pitch, _LONGEST)}\u201d")
            case _:
                pass
    last: list[str] = []
    for line in reversed(found):
        room -= len(line) + _ROW_END
        if room < 0:
            break
        last.insert(0, line)
    return tuple(last)


def panels(log: Sequence[Told], names: Mapping[PlayerId, str]) -> Iterator[Panel]:
    """Nothing where nobody said or thought anything."""
    found = utterances(log)
    if not found:
        return
    rows = tuple((turn, names[player], said, thought) for turn, player, said, thought in found[-_MOST:])
    note = "Side by side with the same decision."
    if len(found) > _MOST:
        note += f" The last {_MOST} of {len(found)}; all are in the timeline, and in the table talk that export writes."
    yield Table(
        "Said aloud, and thought in private", ("turn", "player", "said aloud", "thought in private"), rows, note
    )
