"""Folder: tables over all runs of a folder, and the conditions that distinguish its runs.

A condition is a difference between scenarios other than seed, name, prices, and the seating. `tables` has the tables of
one run.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from agentsim.engine.panel import Cell, Frame
from agentsim.engine.wording import cleaned, few
from agentsim.errors import OtherVersion, ScenarioError, UsageError
from agentsim.lazy import dataclass
from agentsim.records.load import load_history, require_history, run_names
from agentsim.records.run_files import MANIFEST, RunFiles, find_run
from agentsim.records.tables import BASE, LEADING, base_tables, own_tables

_SHOWN = 5  # names of runs in an error line
Levels: TypeAlias = Mapping[str, Cell]
"""The settings of a game that vary, by key of the scenario; None if the scenario lacks the key."""

_APART = frozenset({"game", "seed", "name", "players", "prices"})
_LONGEST = 60
"""The maximum number of characters of a level in a name."""


def levels(scenarios: Sequence[Mapping[str, Any]], *, models: bool = False) -> list[Levels]:
    """Return for each scenario the keys that are not the same in all, with their values.

    Settings of players are those of the whole table: one level if all players have it, else the number of players with
    each (`2 x 0.7, 1 x 1.2`), so that neither players who change places nor models that rotate through seats make a
    condition. Models count only with `models`. `players.count` is the number of players. Scenarios whose players differ
    only in the combinations of their settings get a number in `players.together`.
    """
    texts = [json.dumps(scenario) for scenario in scenarios]
    distinct = dict(zip(texts, scenarios, strict=True))
    settings = {text: dict(_settings(scenario, models)) for text, scenario in distinct.items()}
    keys = dict.fromkeys(key for each in settings.values() for key in each)
    varying = [key for key in keys if len({json.dumps(each.get(key)) for each in settings.values()}) > 1]
    combinations = {text: _together(scenario, models) for text, scenario in distinct.items()}
    out = [{key: settings[text].get(key) for key in varying} for text in texts]
    together = [combinations[text] for text in texts]
    same: dict[str, set[str]] = {}
    for own, text in zip(out, together, strict=True):
        same.setdefault(json.dumps(own), set()).add(text)
    if any(len(alike) > 1 for alike in same.values()):
        numbers = {text: number for number, text in enumerate(dict.fromkeys(together), start=1)}
        for own, text in zip(out, together, strict=True):
            own["players.together"] = numbers[text]
    return list(out)


def design_cells(directory: Path) -> dict[str, Levels]:
    """Return by run the block, the cell and the level of each factor as the design of the folder's batch has them.

    Blocks and cells count from 0, as in the batch's manifest. Returns {} for any other folder.
    """
    try:
        manifest = json.loads((directory / MANIFEST).read_bytes())
        cells, games = manifest["design"]["cells"], manifest["games"]
        return {
            game["name"]: {
                "block": number // len(cells),
                "cell": game["cell"],
                **{key: _cell(level) for key, level in cells[game["cell"]].items()},
            }
            for number, game in enumerate(games)
        }
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, ZeroDivisionError):
        return {}


def _cell(level: Any) -> Cell:
    plain = level is None or isinstance(level, str | int | float | bool)
    return level if plain else json.dumps(level, ensure_ascii=False)


def named(found: Levels, among: Sequence[Levels] = ()) -> str:
    """Return the levels as `key=level, key=level`; long ones are cut, and numbered if that would make two alike."""
    words = []
    for key, level in found.items():
        text = _word(level)
        others = {_word(each[key]): each[key] for each in among if key in each}
        if len(text) > _LONGEST:
            alike = [each for each in others if each[:_LONGEST] == text[:_LONGEST]]
            text = f"{text[: _LONGEST - 1]}…" + (f" #{alike.index(text) + 1}" if len(alike) > 1 else "")
        words.append(f"{key}={text}")
    return ", ".join(words)


def _word(level: Cell) -> str:
    return level if isinstance(level, str) else json.dumps(level)


def _settings(scenario: Mapping[str, Any], models: bool) -> Iterator[tuple[str, Cell]]:
    for key, value in scenario.items():
        if key not in _APART:
            yield from _flat(key, value)
    players = _players(scenario, models)
    yield "players.count", len(players)
    for key in dict.fromkeys(key for player in players for key in player):
        counts = Counter(json.dumps(player.get(key)) for player in players)
        if len(counts) == 1:
            yield f"players.{key}", players[0].get(key)
        else:
            yield f"players.{key}", ", ".join(f"{many} x {level}" for level, many in sorted(counts.items()))


def _flat(key: str, value: Any) -> Iterator[tuple[str, Cell]]:
    """Yield the values of nested tables by dotted key; a list is one level, as JSON."""
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _flat(f"{key}.{name}", inner)
    elif value is None or isinstance(value, str | int | float | bool):
        yield key, value
    else:
        yield key, json.dumps(value, ensure_ascii=False, sort_keys=True)


def _players(scenario: Mapping[str, Any], models: bool) -> list[dict[str, Cell]]:
    entries = scenario.get("players")
    apart = {"id"} if models else {"id", "model"}
    return [
        {key: level for name, value in entry.items() if name not in apart for key, level in _flat(name, value)}
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, Mapping)
    ]


def _together(scenario: Mapping[str, Any], models: bool) -> str:
    return json.dumps(sorted(json.dumps(player, sort_keys=True) for player in _players(scenario, models)))


@dataclass(frozen=True)
class Folder:
    """Tables over all runs of a folder, the names of the runs, and the reasons why others are skipped, by name.

    Each table begins with `run, game, seed, status` and the settings that vary between the runs of a game (`levels`),
    or `block`, `cell` and the factors of a design. A table is built when it is first read; a run whose events do not
    fit its game is found only then, and joins `skipped`.
    """

    names: tuple[str, ...]
    tables: Mapping[str, Frame]
    skipped: Mapping[str, str]


def read_folder(directory: Path) -> Folder:
    """Read all runs with a readable history, oldest first. Raises `UsageError` if there is none."""
    found: list[tuple[str, RunFiles, tuple[Cell, ...]]] = []
    scenarios: dict[str, dict[str, Mapping[str, Any]]] = {}
    own: dict[str, None] = {}  # the names of the games' own tables
    skipped: dict[str, str] = {}
    of_others: list[OtherVersion] = []
    for name in sorted(run_names(directory)):
        try:
            files = find_run(directory, name)
            require_history(files)
            history = load_history(files.history)
            if history.game not in scenarios:
                own |= dict.fromkeys(own_tables(history))
        except (UsageError, ScenarioError) as error:
            skipped[name] = str(error).removeprefix(f"{name}: ")
            if isinstance(error, OtherVersion):
                of_others.append(error)
            continue
        leading = (name, history.game, history.seed, history.status)
        found.append((str(history.volatile.get("started_at", "")), files, leading))
        scenarios.setdefault(history.game, {})[name] = history.scenario
    found.sort(key=lambda each: (each[0], each[1].name))
    if not found and of_others:
        raise of_others[0]
    if not found:
        without = f" (without one: {listed(skipped)})" if skipped else ""
        raise UsageError(f"{directory}: holds no run with a readable history{without}")
    settings: dict[Cell, Levels] = {}
    for of in scenarios.values():
        settings |= zip(of, levels(list(of.values())), strict=True)
    cells = design_cells(directory)
    if cells.keys() >= settings.keys():  # the design says what varies, and better
        settings = {run: cells[str(run)] for run in settings}
    else:
        settings = {run: {**cells.get(str(run), {}), **own} for run, own in settings.items()}
    tables = _FolderTables([(files, leading) for _, files, leading in found], tuple(own), settings, skipped)
    return Folder(tuple(files.name for _, files, _ in found), tables, skipped)


class _FolderTables(Mapping[str, Frame]):
    """Tables over all runs by name, built when they are first read; the games' own tables are built together."""

    def __init__(
        self,
        runs: Sequence[tuple[RunFiles, tuple[Cell, ...]]],
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
            for files, leading in self._runs:
                try:
                    history = load_history(files.history)
                    made = {name: base_tables(history)[name]()} if name in BASE else own_tables(history)
                except (UsageError, ScenarioError) as error:
                    self._skipped[files.name] = str(error)
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
    """Return names of files in one line: the first few, and the number of the others."""
    return cleaned(few(list(names), _SHOWN))


def _united(parts: Iterable[tuple[tuple[Cell, ...], Frame]], settings: Mapping[Cell, Levels]) -> Frame:
    """Concatenate tables; columns keep their order of first appearance, and a run without a column has None in it.

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
