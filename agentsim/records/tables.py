"""Tables: a history as rows and columns. Every run has the six tables of `BASE`, and those that its game adds.

`folders` unites the tables of many runs, `formats` writes them. Interviews are read here too: their answers are a
table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from pydantic import TypeAdapter, ValidationError

from agentsim import games
from agentsim.engine.event import LoggedEvent, PlayerId
from agentsim.engine.panel import Cell, Frame
from agentsim.engine.steering import Aside
from agentsim.engine.survey import Interview, SurveyPlace, SurveyQuestion
from agentsim.errors import UsageError
from agentsim.records.events import compute_from_log, pairs, told_events
from agentsim.records.history import History
from agentsim.records.journal import DecisionRecord

ColumnKind: TypeAlias = Literal["text", "whole", "number", "flag", "json", "mixed"]
"""The kind of a column. `json` is text that is JSON if it begins with `[` or `{`, and stands for itself otherwise."""


def _columns(named: str) -> dict[str, ColumnKind]:
    """Return the kinds of columns by name from `name kind, name kind`."""
    return {name: cast("ColumnKind", kind) for name, kind in (column.split() for column in named.split(", "))}


LEADING: Mapping[str, ColumnKind] = _columns("run text, game text, seed whole, status text")
"""The columns before a table's own if it holds more than one run."""

_TOKENS = "prompt_tokens whole, cached_tokens whole, completion_tokens whole, reasoning_tokens whole, cost_usd number"
_USED = tuple(_TOKENS.split()[::2])
BASE: Mapping[str, Mapping[str, ColumnKind]] = {
    "events": _columns(
        "round whole, round_title text, seq whole, kind text, heading text, role text, content text, visibility json, "
        "decision whole, data json"
    ),
    "decisions": _columns(
        "index whole, round whole, wave whole, player text, kind text, decision json, source text, "
        "fallback_reason text, cause text, stage text, candidates whole, repaired flag, attempts whole, model text, "
        f"provider text, {_TOKENS}, inherited flag, reply_model text"
    ),
    "standings": _columns("player text, model text, temperature number, rank whole, winner flag"),
    "usage": _columns(
        f"player text, model text, calls whole, failed_calls whole, reasks whole, fallbacks whole, {_TOKENS}, "
        "unpriced_calls whole"
    ),
    "pairs": _columns(
        "round whole, round_title text, who text, whom text, action text, sign whole, times whole, after_naming whole, "
        "amount number, turned whole, who_model text, whom_model text"
    ),
    "survey": _columns(
        "round whole, round_title text, player text, model text, question text, answer mixed, source text, "
        "decision whole"
    ),
}
"""The tables of every run of any game."""

RESERVED = frozenset({*LEADING, "record"})
"""Names that tables may not use: they lead a folder's tables, and only journals' lines have a `record`."""

Row = tuple[Cell, ...]
_ASIDES = TypeAdapter(tuple[Aside, ...])
_INTERVIEWS = TypeAdapter(tuple[Interview, ...])


def run_tables(history: History) -> dict[str, Frame]:
    """Return every table of a run, by name; unknown values are None, never 0.

    Raises `UsageError` if the history's events are not its game's or have values that JSON lacks, `ScenarioError` if
    the game is not installed.
    """
    return {**{name: make() for name, make in base_tables(history).items()}, **own_tables(history)}


def base_tables(history: History) -> dict[str, Callable[[], Frame]]:
    """Return a function for each table that every run has, which builds it."""
    models = {player.id: player.model for player in history.players}

    def paired() -> tuple[Row, ...]:
        return compute_from_log(partial(_pairs, history), told_events(history, games.find(history.game)), history)

    rows: dict[str, Callable[[], Iterable[Row]]] = {
        "events": partial(_events, history),
        "decisions": partial(_decisions, history, models),
        "usage": partial(_usage, history, models),
        "pairs": paired,
        "survey": partial(survey_rows, history, models),
    }
    makers = {name: partial(_framed, name, make) for name, make in rows.items()}
    return {name: makers.get(name) or partial(_standings, history) for name in BASE}


def _framed(name: str, make: Callable[[], Iterable[Row]]) -> Frame:
    return Frame(tuple(BASE[name]), tuple(make()))


def own_tables(history: History) -> dict[str, Frame]:
    """Return the tables of the run's game, with added columns for players' models."""
    game = games.find(history.game)
    own = compute_from_log(game.tables, told_events(history, game), history)
    assert not set(own) & set(BASE), f"{game.name}: tables {sorted(set(own) & set(BASE))} exist in every run"
    for name, frame in own.items():
        assert not set(frame.columns) & RESERVED, f"{game.name}: columns of {name} that are reserved for agentsim"
    models = {player.id: player.model for player in history.players}
    models |= {name: models[player] for player, name in history.names.items()}
    return {name: _with_models(frame, models) for name, frame in own.items()}


def _with_models(frame: Frame, models: Mapping[str, str]) -> Frame:
    """Add to a table the model of each player that a column names: `model`, or `<column>_model`.

    A column names players if each of its cells is a player's id or name, or empty.
    """
    added: dict[str, tuple[Cell, ...]] = {}
    for column, cells in zip(frame.columns, zip(*frame.rows, strict=True), strict=False):
        present = {cell for cell in cells if cell is not None and cell != ""}
        name = "model" if column == "player" else f"{column}_model"
        if present and all(isinstance(cell, str) and cell in models for cell in present) and name not in frame.columns:
            added[name] = tuple(models.get(cell) if isinstance(cell, str) else None for cell in cells)
    rows = (row + more for row, more in zip(frame.rows, zip(*added.values(), strict=True), strict=True))
    return Frame((*frame.columns, *added), tuple(rows)) if added else frame


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


def _decisions(history: History, models: Mapping[str, str]) -> Iterator[Row]:
    rounds = decided_in(history)
    for each in history.decisions:
        asked_in = rounds[each.wave] if each.round is None else each.round
        yield _decision(history, each, asked_in, models.get(each.player))


def decided_in(history: History) -> dict[int, int | None]:
    """Return the round of each wave of decisions by its events, for decisions without a round of their own.

    A wave without events has the round of the waves before and after it, or None if these differ.
    """
    told: dict[int, int] = {}
    waves = {record.index: record.wave for record in history.decisions}
    for part in history.rounds:
        for event in part.events:
            decision = event.metadata.get("decision")
            if isinstance(decision, int) and (wave := waves.get(decision)) is not None:
                told.setdefault(wave, part.index)
    found: dict[int, int | None] = {}
    ordered = sorted({*waves.values()})
    later = dict(zip(ordered[::-1], _filled(map(told.get, ordered[::-1])), strict=True))
    for wave, before in zip(ordered, _filled(map(told.get, ordered)), strict=True):
        after = len(history.rounds) - 1 if later[wave] is None else later[wave]
        found[wave] = before if before == after else None
    return found


def _filled(values: Iterable[int | None]) -> Iterator[int | None]:
    """Yield each value, or the last one before it if it is None."""
    return accumulate(values, lambda last, own: last if own is None else own)


def _decision(history: History, record: DecisionRecord, asked_in: int | None, model: str | None) -> Row:
    parse = record.parse
    return (
        *(record.index, asked_in, record.wave, record.player, record.kind),
        _json(record.decision, f"decision {record.index}"),
        *(record.source, record.fallback_reason, record.cause),
        *((None, None, None) if parse is None else (parse.stage, parse.candidates, parse.repaired)),
        *(len(record.attempts), model, record.host),
        *(getattr(record.usage, name, None) for name in _USED),
        history.inherits(record),
        record.model,
    )


def _standings(history: History) -> Frame:
    if history.outcome is None:
        return Frame(tuple(BASE["standings"]), ())
    seats = {player.id: player for player in history.players}
    keys = list(dict.fromkeys(key for standing in history.outcome.standings for key in standing.score))
    rows = []
    for standing in history.outcome.standings:
        seat, winner = seats[standing.player], standing.player == history.outcome.winner
        score = (standing.score.get(key) for key in keys)
        rows.append((standing.player, seat.model, seat.temperature, standing.rank, winner, *score))
    return Frame((*BASE["standings"], *(f"score_{key}" for key in keys)), tuple(rows))


def _usage(history: History, models: Mapping[str, str]) -> Iterator[Row]:
    for player, totals in (history.paid.by_player or {}).items():
        yield (player, models.get(player), *(getattr(totals, name) for name in list(BASE["usage"])[2:]))


def _pairs(history: History, log: Sequence[LoggedEvent], seats: Sequence[PlayerId]) -> tuple[Row, ...]:
    rows: list[Row] = []
    models = {player.id: player.model for player in history.players}
    for pair in pairs(log, seats, history.names):
        for action in pair.actions:
            did = (action.action, action.sign, action.times, action.after_naming, action.amount, action.turned)
            whose = models.get(pair.who), models.get(pair.whom)
            rows.append((action.round, history.rounds[action.round].title, pair.who, pair.whom, *did, *whose))
    return tuple(rows)


def _json(value: Any, where: str) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise UsageError(f"{where} holds a number that JSON cannot express") from None


class SurveyAnswer(NamedTuple):
    """One player's answer to one question; None if no usable reply came."""

    place: SurveyPlace
    question: SurveyQuestion
    answer: int | str | None
    decision: DecisionRecord


def interviews_in(history: History) -> tuple[Interview | Aside, ...]:
    """Return the interviews of a run's scenario, and those that were asked beside them while it was played.

    Raises `UsageError` if they are not valid, or if decisions answer others.
    """
    try:
        regular = _INTERVIEWS.validate_python(history.scenario.get("interviews", ()), strict=False)
        asides = _ASIDES.validate_python(history.asides, strict=False)
    except ValidationError:
        raise UsageError("its scenario's interviews are not valid") from None
    found: tuple[Interview | Aside, ...] = (*regular, *asides)
    places = [each.survey for each in history.decisions if each.survey is not None]
    if any(not (0 <= each.interview < len(found) and 0 <= each.round < len(history.rounds)) for each in places):
        raise UsageError("a decision answers an interview that its scenario does not have")
    return found


def survey_answers(history: History) -> Iterator[SurveyAnswer]:
    """Yield every answer, in the order in which they were given."""
    interviews = interviews_in(history)
    for decision in history.decisions:
        if decision.survey is not None:
            given = decision.decision.get("answers")
            said = given if isinstance(given, dict) else {}
            for question in interviews[decision.survey.interview].questions:
                yield SurveyAnswer(decision.survey, question, question.kept(said.get(question.name)), decision)


def survey_rows(history: History, models: Mapping[str, str]) -> Iterator[tuple[int | str | None, ...]]:
    """Yield a row of the table `survey` for each question to each player; `answer` is None if no usable reply came."""
    for place, question, answer, decision in survey_answers(history):
        where = (place.round, history.rounds[place.round].title, decision.player, models.get(decision.player))
        yield (*where, question.name, answer, decision.source, decision.index)
