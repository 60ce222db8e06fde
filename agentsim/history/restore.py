"""restore: a history's events as the game's own, for its panels and tables. Reading the file is not done here."""

from __future__ import annotations

from agentsim.engine.event import Audience, Everyone, Told
from agentsim.engine.game import Game
from agentsim.errors import UsageError
from agentsim.history.record import EventRecord, History

__all__ = ["told_events"]


def told_events(history: History, game: Game) -> list[Told]:
    """The log as the rules told it; `UsageError` where an event is none of this game's."""
    kinds = {event.kind: event for event in game.events}
    log = []
    for part in history.rounds:
        for record in part.events:
            try:
                event = kinds[record.kind].restore(record.data, record.content)
            except (KeyError, ValueError):
                what = f"event {record.seq} ({record.kind[:40]})"
                raise UsageError(f"{what} is none of {game.name}, rules version {game.rules_version}") from None
            to: Audience = Everyone if record.visibility == "all" else tuple(record.visibility)
            log.append(Told(event, to, part.index, _by(record), record.metadata.get("decision")))
    return log


def _by(record: EventRecord) -> str | None:
    if record.role == "narrator":
        return None
    return record.role.removeprefix("player ") if record.role.startswith("player ") else f"@{record.role}"
