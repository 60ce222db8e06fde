"""Groups: what agents of each personality did, and how they fared."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from agentsim.engine.event import Event
from agentsim.engine.panel import Cell, DataTable, Panel
from agentsim.games.society.amounts import UNIT
from agentsim.games.society.building import Contributed
from agentsim.games.society.config import PERSONALITIES
from agentsim.games.society.ending import SocietyEnded
from agentsim.games.society.giving import Traded
from agentsim.games.society.life import FellDormant, Idled
from agentsim.games.society.panels.people import People
from agentsim.games.society.talk import MessageSent, Posted, Renamed
from agentsim.games.society.turn import InvalidAction
from agentsim.games.society.voting import Proposed, Voted
from agentsim.games.society.work import Worked

_DEEDS: dict[type[Event], str] = {
    Worked: "work",
    Posted: "posts",
    MessageSent: "messages",
    Proposed: "proposals",
    Voted: "votes",
    Traded: "gifts",
    Contributed: "to projects",
    Renamed: "names",
    Idled: "idle",
    InvalidAction: "invalid",
    FellDormant: "fell dormant",
}


def groups(events: Sequence[Event], people: People) -> list[Panel]:
    """For each personality: deeds of its agents on average, and in the end how many are active and what they hold."""
    done: dict[str, Counter[str]] = defaultdict(Counter)
    ended: SocietyEnded | None = None
    for event in events:
        if isinstance(event, SocietyEnded):
            ended = event
        elif (name := _DEEDS.get(type(event))) is not None:
            done[people.beings[event.agent].personality][name] += 1  # type: ignore[attr-defined] # each of `_DEEDS` has one
    sizes = Counter(being.personality for being in people.beings.values())
    present = [personality for personality in PERSONALITIES if sizes[personality]]
    if not done or len(present) < 2:
        return []
    columns = ("personality", "agents", *_DEEDS.values(), *(("active in the end", "wealth") if ended else ()))
    rows: list[tuple[Cell, ...]] = []
    for personality in present:
        size = sizes[personality]
        row: list[Cell] = [personality, size, *(round(done[personality][name] / size, 2) for name in _DEEDS.values())]
        if ended:
            own = [result for result in ended.results if result.personality == personality]
            row += [sum(result.status == "active" for result in own)]
            row += [round(sum(result.wealth for result in own) / UNIT / size, 2)]
        rows.append(tuple(row))
    note = "ActionHandler are per agent, over the whole game; wealth is an agent's food, energy and materials together."
    return [DataTable("By personality", columns, tuple(rows), note)]
