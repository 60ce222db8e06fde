"""Folders of games: the records of those that are finished, and why others are left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentsim.analysis.game_records import GameRecord, game_record
from agentsim.errors import UsageError
from agentsim.history.load import load_history
from agentsim.history.record import History
from agentsim.history.run_files import MANIFEST


def histories(directory: Path, holding: bytes = b"") -> Iterator[tuple[str, History | UsageError]]:
    """By name, each history in a folder whose file holds these bytes, or why it cannot be read."""
    for path in sorted(directory.glob("*.json")):
        # reading a pipe of that name would never end
        if path.name == MANIFEST or not path.is_file() or (holding and holding not in path.read_bytes()):
            continue
        try:
            yield path.stem, load_history(path)
        except UsageError as error:
            yield path.stem, error


@dataclass(frozen=True)
class Games:
    """The games that can be compared, in the order of their names; by name, why others cannot.

    `copies` has games of bots that repeat another game, by name, and that game's name: they are no further evidence.
    """

    games: tuple[GameRecord, ...]
    skipped: Mapping[str, str]
    copies: Mapping[str, str] = field(default_factory=dict)


def read_games(*directories: Path) -> Games:
    """The games of some folders; `UsageError` where one holds none that is finished.

    Of several folders games are called `folder/name`. Copies are looked for in each folder by itself.
    """
    found: list[GameRecord] = []
    skipped: dict[str, str] = {}
    copies: dict[str, str] = {}
    if twice := [path for path in directories if directories.count(path) > 1]:
        raise UsageError(f"{twice[0]}: is given twice")
    names = [path.resolve().name for path in directories]
    for directory, name in zip(directories, names, strict=True):
        called = name if names.count(name) == 1 else str(directory)
        before = f"{called}/" if len(directories) > 1 else ""
        one = _read(directory)
        skipped |= {f"{before}{name}": why for name, why in one.skipped.items()}
        copies |= {f"{before}{name}": f"{before}{other}" for name, other in one.copies.items()}
        for game in one.games:
            parent = None if game.parent is None else f"{before}{game.parent}"
            found.append(replace(game, name=f"{before}{game.name}", parent=parent, folder=called))
    return Games(tuple(found), skipped, copies)


def _read(directory: Path) -> Games:
    if not directory.is_dir():
        raise UsageError(f"{directory}: is not a directory")
    found: list[GameRecord] = []
    skipped: dict[str, str] = {}
    copies: dict[str, str] = {}
    first: dict[str, str] = {}
    for name, history in histories(directory):
        record = None if isinstance(history, UsageError) else game_record(name, history)
        if record is None:
            skipped[name] = str(history) if isinstance(history, UsageError) else "is not finished"
        elif len({entrant.player for entrant in record.entrants}) < max(1, len(record.entrants)):
            skipped[name] = "does not name each player once"
        elif record.certain is not None and first.setdefault(record.certain, record.name) != record.name:
            copies[record.name] = first[record.certain]
        else:
            found.append(record)
    if not found:
        raise UsageError(f"{directory}: holds no finished game")
    known = (replace(each, parent=copies.get(each.parent, each.parent)) if each.parent else each for each in found)
    return Games(tuple(known), skipped, copies)


def without_branches(games: Sequence[GameRecord]) -> list[GameRecord]:
    """The games without branches of other games here: a branch repeats its parent's past, which would count twice."""
    by_name = {game.name: game for game in games}

    def repeats(game: GameRecord) -> bool:
        seen: set[str] = set()
        last = game
        while last.parent in by_name and last.name not in seen:
            seen.add(last.name)
            last = by_name[last.parent]
        return last.name != game.name  # two runs that name each other as parent are none's branch

    return [game for game in games if not repeats(game)]
