"""folder: the finished games of a directory, a batch's or any other, as records; and why others are left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentsim.analysis.record import GameRecord, game_record
from agentsim.errors import UsageError
from agentsim.history.files import MANIFEST, RunFiles
from agentsim.history.load import load_history

__all__ = ["Games", "read_games"]


@dataclass(frozen=True)
class Games:
    """The games that can be compared, in the order of their names; by name, why others cannot.

    `copies` are games of bots that are another one again, by name, and which: they are no evidence of their own.
    """

    games: tuple[GameRecord, ...]
    skipped: Mapping[str, str]
    copies: Mapping[str, str] = field(default_factory=dict)


def read_games(directory: Path) -> Games:
    """The games of a directory; `UsageError` where it holds none that is finished, or those of several games."""
    if not directory.is_dir():
        raise UsageError(f"{directory}: is not a directory")
    found: list[GameRecord] = []
    skipped: dict[str, str] = {}
    copies: dict[str, str] = {}
    first: dict[str, str] = {}
    for files in _runs(directory):
        try:
            record = game_record(files.name, load_history(files.history))
        except UsageError as error:
            skipped[files.name] = str(error)
            continue
        if record is None:
            skipped[files.name] = "is not finished"
        elif len({entrant.player for entrant in record.entrants}) < max(1, len(record.entrants)):
            skipped[files.name] = "does not name each player once"
        elif record.certain is not None and first.setdefault(record.certain, record.name) != record.name:
            copies[record.name] = first[record.certain]
        else:
            found.append(record)
    if not found:
        raise UsageError(f"{directory}: holds no finished game")
    if len(kinds := sorted({record.game for record in found})) > 1:
        raise UsageError(f"{directory}: holds different games ({', '.join(kinds)}), which cannot be compared")
    known = (replace(each, parent=copies.get(each.parent, each.parent)) if each.parent else each for each in found)
    return Games(tuple(known), skipped, copies)


def _runs(directory: Path) -> Iterator[RunFiles]:
    for path in sorted(directory.glob("*.json")):
        if path.name != MANIFEST and path.is_file():  # a pipe of that name would never be read to its end
            yield RunFiles(directory, path.stem)
