"""restore: a history's events as the game's own, for its panels and tables. Reading the file is not done here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from agentsim.engine.event import Audience, Everyone, LogEntry, PlayerId
from agentsim.engine.game import Game
from agentsim.errors import AgentsimError, UsageError
from agentsim.history.record import EventRecord, History

__all__ = ["derived", "told_events"]

T = TypeVar("T")


def derived(
    make: Callable[[Sequence[LogEntry], Sequence[PlayerId]], T], log: Sequence[LogEntry], history: History
) -> T:
    """What is made of a log and its players; `UsageError` where events, each of which could be, do not fit each other.

    Only a game could say which do: what comes of others in its code may be any error.
    """
    try:
        return make(log, [player.id for player in history.seated])
    except AgentsimError:
        raise
    except Exception as error:
        problem = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise UsageError(
            f"its events do not fit each other in {history.game}, rules version {history.rules_version} ({problem})"
        ) from error


def told_events(history: History, game: Game) -> list[LogEntry]:
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
            log.append(LogEntry(event, to, part.index, _by(record), record.metadata.get("decision")))
    return log


def _by(record: EventRecord) -> str | None:
    if record.role == "narrator":
        return None
    return record.role.removeprefix("player ") if record.role.startswith("player ") else f"@{record.role}"
