"""tables: a history as rows and columns: the five tables of every run, and those its game adds.

How they are written (`formats`), united over many runs (`folder`) or become DataFrames (`frames`) is not here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from agentsim import games
from agentsim.engine.event import LogEntry, PlayerId
from agentsim.engine.panel import Cell, Frame
from agentsim.errors import UsageError
from agentsim.history.columns import BASE, RESERVED
from agentsim.history.pairs import pairs
from agentsim.history.record import DecisionRecord, History
from agentsim.history.restore import derived, told_events
from agentsim.models.base import Usage

__all__ = ["run_tables"]

Row = tuple[Cell, ...]


def run_tables(history: History) -> dict[str, Frame]:
    """Every table of a run, by name; what a history does not know is None, never 0.

    Raises `UsageError` for a history whose events are not its game's or hold what JSON cannot, `ScenarioError`
    where its game is not installed.
    """
    game = games.find(history.game)
    log = told_events(history, game)
    own = derived(game.tables, log, history)
    assert not set(own) & set(BASE), f"{game.name}: tables {sorted(set(own) & set(BASE))} are every run's"
    for name, frame in own.items():
        assert not set(frame.columns) & RESERVED, f"{game.name}: columns of {name} that are kept for agentsim"
    base = {
        "events": tuple(_events(history)),
        "decisions": tuple(_decision(history, decision) for decision in history.decisions),
        "usage": tuple(_usage(history)),
        "pairs": derived(partial(_pairs, history), log, history),
    }
    frames = {name: Frame(tuple(BASE[name]), rows) for name, rows in base.items()}
    return {**{name: frames.get(name) or _standings(history) for name in BASE}, **own}


def _events(history: History) -> Iterator[Row]:
    for part in history.rounds:
        for event in part.events:
            decision = event.metadata.get("decision")
            where = f"event {event.seq}"
            yield (
                *(part.index, part.title, event.seq, event.kind, event.heading, event.role, event.content),
                event.visibility if event.visibility == "all" else _json(event.visibility, where),
                decision if isinstance(decision, int) else None,
                _json(event.data, where),
            )


def _decision(history: History, record: DecisionRecord) -> Row:
    parse = record.parse
    return (
        *(record.index, record.wave, record.player, record.kind),
        _json(record.decision, f"decision {record.index}"),
        *(record.source, record.fallback_reason),
        *((None, None, None) if parse is None else (parse.stage, parse.candidates, parse.repaired)),
        *(len(record.tries), record.model, record.provider),
        *_tokens(record.usage),
        history.inherits(record),
    )


def _tokens(usage: Usage | None) -> Row:
    if usage is None:
        return (None,) * 5
    return (
        *(usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, usage.reasoning_tokens),
        usage.cost_usd,
    )


def _standings(history: History) -> Frame:
    if history.outcome is None:
        return Frame(tuple(BASE["standings"]), ())
    seats = {player.id: player for player in history.players}
    keys = list(dict.fromkeys(key for standing in history.outcome.standings for key in standing.score))
    rows = []
    for standing in history.outcome.standings:
        seat = seats.get(standing.player)
        model, temperature = (seat.model, seat.temperature) if seat else (None, None)
        winner = standing.player == history.outcome.winner
        score = (standing.score.get(key) for key in keys)
        rows.append((standing.player, model, temperature, standing.rank, winner, *score))
    return Frame((*BASE["standings"], *(f"score_{key}" for key in keys)), tuple(rows))


def _usage(history: History) -> Iterator[Row]:
    models = {player.id: player.model for player in history.players}
    for player, totals in (history.paid.by_player or {}).items():
        counted: Mapping[str, Cell] = totals.model_dump(exclude={"by_player"})
        yield (player, models.get(player), *(counted[name] for name in list(BASE["usage"])[2:]))


def _pairs(history: History, log: Sequence[LogEntry], seats: Sequence[PlayerId]) -> tuple[Row, ...]:
    rows: list[Row] = []
    for pair in pairs(log, seats, history.names):
        for deed in pair.deeds:
            did = (deed.deed, deed.sign, deed.times, deed.after_naming, deed.amount, deed.turned)
            rows.append((deed.round, history.rounds[deed.round].title, pair.who, pair.whom, *did))
    return tuple(rows)


def _json(value: Any, where: str) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise UsageError(f"{where} holds a number that JSON has no word for") from None
