"""Tables: a history as rows and columns. Every run has the six tables of `BASE`, and those that its game adds.

`run_tables` makes those of one run, `read_folder` unites those of many. `formats` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from agentsim import games
from agentsim.engine.event import LogEntry, PlayerId
from agentsim.engine.panel import Cell, Frame
from agentsim.engine.prompt import cleaned
from agentsim.errors import ScenarioError, UsageError
from agentsim.history.levels import Levels, levels
from agentsim.history.load import derived, load_history, require_history, run_names, told_events
from agentsim.history.pairs import pairs
from agentsim.history.record import DecisionRecord, History
from agentsim.history.run_files import find_run
from agentsim.history.surveys import survey_rows

Kind: TypeAlias = Literal["text", "whole", "number", "flag", "json", "mixed"]
"""`json` is text that begins with `[` or `{` where it is JSON, and stands for itself where it does not."""


def _columns(named: str) -> dict[str, Kind]:
    """The kinds of columns by name, of `name kind, name kind`."""
    return {name: cast("Kind", kind) for name, kind in (column.split() for column in named.split(", "))}


LEADING: Mapping[str, Kind] = _columns("run text, game text, seed whole, status text")
"""What stands before a table's own columns when it holds more than one run."""

_TOKENS = "prompt_tokens whole, cached_tokens whole, completion_tokens whole, reasoning_tokens whole, cost_usd number"
BASE: Mapping[str, Mapping[str, Kind]] = {
    "events": _columns(
        "round whole, round_title text, seq whole, kind text, heading text, role text, content text, visibility json, "
        "decision whole, data json"
    ),
    "decisions": _columns(
        "index whole, wave whole, player text, kind text, decision json, source text, fallback_reason text, "
        f"stage text, candidates whole, repaired flag, tries whole, model text, provider text, {_TOKENS}, "
        "inherited flag, player_model text"
    ),
    "standings": _columns("player text, model text, temperature number, rank whole, winner flag"),
    "usage": _columns(
        f"player text, model text, calls whole, failed_calls whole, reasks whole, fallbacks whole, {_TOKENS}, "
        "unpriced_calls whole"
    ),
    "pairs": _columns(
        "round whole, round_title text, who text, whom text, deed text, sign whole, times whole, after_naming whole, "
        "amount number, turned whole, who_model text, whom_model text"
    ),
    "survey": _columns(
        "round whole, round_title text, player text, model text, question text, answer mixed, source text, "
        "decision whole"
    ),
}
"""The tables of every run, whatever its game."""

RESERVED = frozenset({*LEADING, "record"})
"""No table may have these: they lead a folder's tables, and `record` is how a journal's lines are told from rows."""

_SHOWN = 5  # names of runs in an error line
Row = tuple[Cell, ...]


def run_tables(history: History) -> dict[str, Frame]:
    """Every table of a run, by name; what a history does not know is None, never 0.

    Raises `UsageError` for a history whose events are not its game's or hold what JSON cannot, `ScenarioError`
    where its game is not installed.
    """
    return {**{name: make() for name, make in _base_tables(history).items()}, **_own_tables(history)}


def _base_tables(history: History) -> dict[str, Callable[[], Frame]]:
    """How each table that every run has is made."""
    models = {player.id: player.model for player in history.players}

    def paired() -> tuple[Row, ...]:
        return derived(partial(_pairs, history), told_events(history, games.find(history.game)), history)

    rows: dict[str, Callable[[], Iterable[Row]]] = {
        "events": partial(_events, history),
        "decisions": lambda: (_decision(history, decision, models) for decision in history.decisions),
        "usage": partial(_usage, history, models),
        "pairs": paired,
        "survey": partial(survey_rows, history, models),
    }
    makers = {name: partial(_framed, name, make) for name, make in rows.items()}
    return {name: makers.get(name) or partial(_standings, history) for name in BASE}


def _framed(name: str, make: Callable[[], Iterable[Row]]) -> Frame:
    return Frame(tuple(BASE[name]), tuple(make()))


def _own_tables(history: History) -> dict[str, Frame]:
    """The tables of the run's game, with players' models."""
    game = games.find(history.game)
    own = derived(game.tables, told_events(history, game), history)
    assert not set(own) & set(BASE), f"{game.name}: tables {sorted(set(own) & set(BASE))} exist in every run"
    for name, frame in own.items():
        assert not set(frame.columns) & RESERVED, f"{game.name}: columns of {name} that are reserved for agentsim"
    models = {player.id: player.model for player in history.players}
    models |= {name: models[player] for player, name in history.names.items()}
    return {name: _with_models(frame, models) for name, frame in own.items()}


def _with_models(frame: Frame, models: Mapping[str, str]) -> Frame:
    """A game's own table, with the model of each player that a column names: `model`, or `<column>_model`.

    A column names players where each of its cells is one's id or name, or empty.
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


def _decision(history: History, record: DecisionRecord, models: Mapping[str, str]) -> Row:
    parse = record.parse
    return (
        *(record.index, record.wave, record.player, record.kind),
        _json(record.decision, f"decision {record.index}"),
        *(record.source, record.fallback_reason),
        *((None, None, None) if parse is None else (parse.stage, parse.candidates, parse.repaired)),
        *(len(record.tries), record.model, record.provider),
        *((None,) * 5 if record.usage is None else astuple(record.usage)),
        history.inherits(record),
        models.get(record.player),
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
        counted: Mapping[str, Cell] = totals.model_dump(exclude={"by_player"})
        yield (player, models.get(player), *(counted[name] for name in list(BASE["usage"])[2:]))


def _pairs(history: History, log: Sequence[LogEntry], seats: Sequence[PlayerId]) -> tuple[Row, ...]:
    rows: list[Row] = []
    models = {player.id: player.model for player in history.players}
    for pair in pairs(log, seats, history.names):
        for deed in pair.deeds:
            did = (deed.deed, deed.sign, deed.times, deed.after_naming, deed.amount, deed.turned)
            whose = models.get(pair.who), models.get(pair.whom)
            rows.append((deed.round, history.rounds[deed.round].title, pair.who, pair.whom, *did, *whose))
    return tuple(rows)


def _json(value: Any, where: str) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise UsageError(f"{where} holds a number that JSON cannot express") from None


@dataclass(frozen=True)
class Folder:
    """Tables over all runs; the runs in them; why others are not, by name.

    `run, game, seed, status` lead each table, then the settings that vary between the runs of a game (`levels`). A
    table is made when it is asked for; a run whose events do not fit its game is found then, and joins `skipped`.
    """

    names: tuple[str, ...]
    tables: Mapping[str, Frame]
    skipped: Mapping[str, str]


def read_folder(directory: Path) -> Folder:
    """All runs with a history that can be read, oldest first; `UsageError` where there is none."""
    found: list[tuple[str, Path, tuple[Cell, ...]]] = []
    scenarios: dict[str, dict[str, Mapping[str, Any]]] = {}
    own: dict[str, None] = {}  # the names of the games' own tables
    skipped: dict[str, str] = {}
    for name in sorted(run_names(directory)):
        try:
            files = find_run(directory, name)
            require_history(files)
            history = load_history(files.history)
            if history.game not in scenarios:
                own |= dict.fromkeys(_own_tables(history))
        except (UsageError, ScenarioError) as error:
            skipped[name] = str(error).removeprefix(f"{name}: ")
            continue
        leading = (name, history.game, history.seed, history.status)
        found.append((str(history.volatile.get("started_at", "")), files.history, leading))
        scenarios.setdefault(history.game, {})[name] = history.scenario
    found.sort(key=lambda each: (each[0], each[1].stem))
    if not found:
        without = f" (without one: {listed(skipped)})" if skipped else ""
        raise UsageError(f"{directory}: holds no run with a readable history{without}")
    settings: dict[Cell, Levels] = {}
    for of in scenarios.values():
        settings |= zip(of, levels(list(of.values())), strict=True)
    tables = _FolderTables([(path, leading) for _, path, leading in found], tuple(own), settings, skipped)
    return Folder(tuple(path.stem for _, path, _ in found), tables, skipped)


class _FolderTables(Mapping[str, Frame]):
    """Tables over all runs by name, made when they are asked for; a game's own are made together."""

    def __init__(
        self,
        runs: Sequence[tuple[Path, tuple[Cell, ...]]],
        own: Sequence[str],
        settings: Mapping[Cell, Levels],
        skipped: dict[str, str],
    ) -> None:
        self._runs, self._names, self._settings, self._skipped = runs, (*BASE, *own), settings, skipped
        self._made: dict[str, Frame] = {}

    def __getitem__(self, name: str) -> Frame:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._made:
            parts: dict[str, list[tuple[tuple[Cell, ...], Frame]]] = {each: [] for each in self._names}
            for path, leading in self._runs:
                try:
                    history = load_history(path)
                    made = {name: _base_tables(history)[name]()} if name in BASE else _own_tables(history)
                except (UsageError, ScenarioError) as error:
                    self._skipped[path.stem] = str(error)
                    continue
                for each, frame in made.items():
                    parts[each].append((leading, frame))
            wanted = [name] if name in BASE else self._names[len(BASE) :]
            self._made |= {each: _united(parts[each], self._settings) for each in wanted}
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def listed(names: Iterable[str]) -> str:
    """Names of files in a line for a person: the first few, and how many more."""
    first, rest = (known := list(names))[:_SHOWN], len(known) - _SHOWN
    return cleaned(", ".join(first)) + (f" and {rest} more" if rest > 0 else "")


def _united(parts: Iterable[tuple[tuple[Cell, ...], Frame]], settings: Mapping[Cell, Levels]) -> Frame:
    """Columns in the order in which they are first met; a run without a column has None in it.

    `settings` are those that vary, by run.
    """
    keys = tuple(dict.fromkeys(key for own in settings.values() for key in own))
    columns: dict[str, None] = {}
    rows: list[tuple[tuple[Cell, ...], Mapping[str, Cell]]] = []
    for leading, frame in parts:
        columns.update(dict.fromkeys(frame.columns))
        rows += ((leading, dict(zip(frame.columns, row, strict=True))) for row in frame.rows)
    united = tuple(
        (*leading, *map(settings[leading[0]].get, keys), *(row.get(column) for column in columns))
        for leading, row in rows
    )
    return Frame((*LEADING, *keys, *columns), united)
