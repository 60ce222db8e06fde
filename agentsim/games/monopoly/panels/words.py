"""Words: what was said and thought in a turn, as a board's notes quote it."""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.engine.event import Event
from agentsim.engine.wording import cut
from agentsim.games.monopoly.talk import Spoke, Thought
from agentsim.games.monopoly.trade import TradeProposed

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
