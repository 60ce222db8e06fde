"""Turns: the order of the players, where chance drew it. Events declare that (`Event.drawn`)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from agentsim.engine.event import EveryoneType, LogEntry
from agentsim.history.record import History


def turns(log: Sequence[LogEntry], history: History) -> dict[str, int]:
    """The first order of all players that chance drew and all heard: as a list in one event, or by events of a round.

    Orders that players or rules make are none: a place in them would say who came first, not what coming first does.
    """
    players = {player.id for player in history.seated}
    told = [entry for entry in log if entry.event.drawn and isinstance(entry.to, EveryoneType)]
    for _, entries in groupby(told, lambda entry: (entry.round, entry.event.kind)):
        in_turn: dict[str, list[str]] = {}
        for event in (entry.event for entry in entries):
            for name in event.drawn:
                drawn = getattr(event, name)
                in_turn.setdefault(name, []).extend((drawn,) if isinstance(drawn, str) else drawn)
        for order in map(list, map(dict.fromkeys, in_turn.values())):
            if set(order) == players:
                return {player: place for place, player in enumerate(order, start=1)}
    return {}
