"""Tables: a history as rows and columns. Every run has the seven tables of `BASE`, and those that its game adds.

`folders` unites the tables of many runs, `formats` writes them. Interviews are read here too: their answers are a
table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from pydantic import ValidationError

from agentsim import games
from agentsim.engine.codec import adapter
from agentsim.engine.event import LoggedEvent, PlayerId
from agentsim.engine.panel import Cell, Frame
from agentsim.engine.probabilities import Stated
from agentsim.engine.steering import Aside
from agentsim.engine.survey import Answer, Interview, SurveyPlace, SurveyQuestion, names_of, probabilities_of
from agentsim.engine.truth import WINNER, Truth, truth_at
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
        "decision whole, about text, moment text"
    ),
    "beliefs": _columns(
        "round whole, round_title text, moment text, player text, model text, question text, about text, outcome text, "
        "stated text, probability number, fact text, truth text, happened flag, decision whole"
    ),
}
"""The tables of every run of any game."""

RESERVED = frozenset({*LEADING, "record"})
"""Names that tables may not use: they lead a folder's tables, and only journals' lines have a `record`."""

Row = tuple[Cell, ...]
_ASIDES: type[Any] = tuple[Aside, ...]
_INTERVIEWS: type[Any] = tuple[Interview, ...]


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
        "survey": partial(survey_rows, history),
        "beliefs": partial(_beliefs, history),
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
    """One player's answer to one question; None if no usable reply came. `about` is the player that it is about.

    `model` is the model of the player, or the one that answered if the interview was `later`, after the run.
    """

    survey: SurveyPlace
    question: SurveyQuestion
    about: PlayerId | None
    answer: Answer | None
    decision: DecisionRecord
    model: str | None
    later: bool


def interviews_in(history: History) -> tuple[Interview | Aside, ...]:
    """Return the interviews of a run's scenario, and those that were asked beside them while it was played.

    Raises `UsageError` if they are not valid, or if decisions answer others.
    """
    try:
        regular = adapter(_INTERVIEWS).validate_python(history.scenario.get("interviews", ()), strict=False)
        asides = adapter(_ASIDES).validate_python(history.asides, strict=False)
    except ValidationError:
        raise UsageError("its scenario's interviews are not valid") from None
    found: tuple[Interview | Aside, ...] = (*regular, *asides)
    surveys = [each.survey for each in history.decisions if each.survey is not None]
    if any(not (0 <= each.interview < len(found) and 0 <= each.round < len(history.rounds)) for each in surveys):
        raise UsageError("a decision answers an interview that its scenario does not have")
    return found


def player_names(history: History) -> dict[PlayerId, str]:
    """Return the players without staff, with the names that prompts call them."""
    return names_of((player.id for player in history.seated), history.names)


def survey_answers(history: History) -> Iterator[SurveyAnswer]:
    """Yield every answer, in the order in which they were given; those of later interviews come last."""
    interviews, models = interviews_in(history), {player.id: player.model for player in history.players}
    for decision in history.decisions:
        if decision.survey is not None:
            questions = interviews[decision.survey.interview].questions
            yield from _answers(history, decision, decision.survey, questions, models.get(decision.player))
    for interview in history.later:
        for decision in interview.decisions:
            if decision.survey is not None and decision.survey.round < len(history.rounds):
                model = interview.models.get(decision.player)
                yield from _answers(history, decision, decision.survey, interview.questions, model, later=True)


def _answers(
    history: History,
    decision: DecisionRecord,
    survey: SurveyPlace,
    questions: Iterable[SurveyQuestion],
    model: str | None,
    *,
    later: bool = False,
) -> Iterator[SurveyAnswer]:
    given = decision.decision.get("answers")
    said = given if isinstance(given, dict) else {}
    players = player_names(history)
    for question in questions:
        for each in question.posed_to(decision.player, players):
            yield SurveyAnswer(survey, question, each.about, each.answer(said), decision, model, later)


def survey_rows(history: History) -> Iterator[tuple[int | str | None, ...]]:
    """Yield a row of the table `survey` for each question to each player; `answer` is None if no usable reply came.

    Probabilities are JSON, as they were stated. The answers of a later interview have no decision of the run.
    """
    for survey, question, about, answer, decision, model, later in survey_answers(history):
        where = (survey.round, history.rounds[survey.round].title, decision.player, model)
        cell = _json(answer, f"decision {decision.index}") if isinstance(answer, dict) else answer
        yield (*where, question.name, cell, decision.source, None if later else decision.index, about, survey.moment)


class Belief(NamedTuple):
    """The probabilities that a player stated at one moment, beside the fact that they are about, if it is known.

    `truth` is the true outcome, or None if the question has no fact, it is unknown, or all players know it already.
    """

    answer: SurveyAnswer
    stated: Mapping[str, Stated]
    probabilities: Mapping[str, float]
    truth: str | None


def truths_of(history: History) -> list[Truth]:
    """Return the facts of a run's game and its winner, in the order of their events.

    Raises `UsageError` if the history's events are not its game's, `ScenarioError` if the game is not installed.
    """
    game = games.find(history.game)
    log = told_events(history, game)
    found = [*compute_from_log(lambda log, players: tuple(game.truths(log, players)), log, history)]
    first = [each.player for each in history.outcome.standings if each.rank == 1] if history.outcome else []
    if len(first) == 1:
        found.append(Truth(WINNER, first[0], len(log)))
    return found


def beliefs_in(history: History) -> Iterator[Belief]:
    """Yield every answer in probabilities, in the order in which they were given."""
    stated = [
        (answer, answer.answer, probabilities)
        for answer in survey_answers(history)
        if answer.question.probabilities
        and isinstance(answer.answer, dict)
        and (probabilities := probabilities_of(answer.answer)) is not None
    ]
    if not stated:
        return
    truths, names = truths_of(history), player_names(history)
    for answer, numbers, probabilities in stated:
        fact, events = answer.question.truth, answer.survey.events
        known = None if fact is None or events is None else truth_at(truths, fact, answer.about, events)
        true = None if known is None else names.get(str(known.value), str(known.value))
        yield Belief(answer, numbers, probabilities, true if true in probabilities else None)


def _beliefs(history: History) -> Iterator[Row]:
    """Yield a row for each member of the set of each answer in probabilities."""
    for answer, stated, probabilities, truth in beliefs_in(history):
        survey, question = answer.survey, answer.question
        where = (survey.round, history.rounds[survey.round].title, survey.moment, answer.decision.player)
        asked = (answer.model, question.name, answer.about)
        number = None if answer.later else answer.decision.index
        for outcome, probability in probabilities.items():
            happened = None if truth is None else outcome == truth
            row = (outcome, str(stated[outcome]), probability, question.truth, truth, happened, number)
            yield (*where, *asked, *row)
