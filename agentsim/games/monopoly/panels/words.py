"""Words: what was said aloud beside what the speaker thought with the same decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from agentsim.engine.event import Event, PlayerId, Told
from agentsim.engine.panel import Panel, Table
from agentsim.engine.wording import cut
from agentsim.games.monopoly.events import Spoke, Thought, TradeProposed
from agentsim.games.monopoly.utterances import utterances

__all__ = ["panels", "quotations"]

_MOST = 300
_LONGEST = 160
_ROW_END = 30  # characters of a line's last row that stay empty, more or less


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
