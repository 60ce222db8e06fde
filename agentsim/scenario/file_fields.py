"""File fields: the files that a game's own table names, read for it, since games read none.

Which of its fields name files is the config's word (`InFile`, `SeatsInFolder`); what the contents mean is the game's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from agentsim.engine.game import GameConfig, InFile, SeatsInFolder
from agentsim.engine.prompt import cleaned
from agentsim.errors import ScenarioError
from agentsim.scenario.files import located, read_prompt
from agentsim.scenario.players import PlayerTable
from agentsim.scenario.wording import Key, dotted

__all__ = ["Material", "gathered", "stem"]

SUFFIX = ".txt"


@dataclass(frozen=True, slots=True)
class Material:
    """A game's table with the contents of its files, and the players of its folder, each with the file in its key."""

    game_config: dict[str, JsonValue]
    players: tuple[tuple[PlayerTable, Key], ...] = ()


def gathered(
    values: Mapping[str, JsonValue], config: type[GameConfig], path: Path, allowed: Sequence[Path]
) -> Material:
    """What `values`, the `[game_config]` of the scenario at `path`, names; `ScenarioError` for a file that is not."""
    out = dict(values)
    for name, mark in config.marked(InFile).items():
        value = out.get(name)
        if isinstance(value, str) and value not in mark.words:
            out[name] = _content(value, mark, path, allowed, dotted(("game_config", name)))
        elif mark.parts(value) is not None:  # ours to put there, and nobody else's
            raise ScenarioError("unknown key name", key=dotted(("game_config", name)), valid=f"a {mark.suffix} file")
    players: list[tuple[PlayerTable, Key]] = []
    for name in config.marked(SeatsInFolder):
        value = out.get(name)
        if isinstance(value, str):
            del out[name]
            players += _prompts(value, path, allowed, ("game_config", name))
    return Material(out, tuple(players))


def stem(name: str) -> str:
    """A file's name without its folder and suffix, as it may be shown: cleaned, on one line."""
    return " ".join(cleaned(Path(name).stem).split())


def _content(name: str, mark: InFile, path: Path, allowed: Sequence[Path], key: str) -> dict[str, Any]:
    if not name.lower().endswith(mark.suffix):
        words = "".join(f' or "{word}"' for word in mark.words)
        raise ScenarioError(f"must be a {mark.suffix} file{words}, found {name[:80]!r}", key=key)
    return mark.content(stem(name), read_prompt(located(name, path, allowed, key=key), key=key))


def _prompts(name: str, path: Path, allowed: Sequence[Path], key: Key) -> tuple[tuple[PlayerTable, Key], ...]:
    """A player for every prompt in the folder, in the order of their names; hidden files are none."""
    at = dotted(key)
    folder = located(name, path, allowed, key=at, folder=True)
    try:
        found = sorted(entry.name for entry in folder.iterdir() if entry.suffix.lower() == SUFFIX)
    except OSError as error:
        raise ScenarioError(f"cannot be read: {error.strerror}", key=at) from None
    shown = [file for file in found if not file.startswith(".")]
    if not shown:
        raise ScenarioError(f"there is no {SUFFIX} file in {name[:80]!r}", key=at)
    return tuple((PlayerTable(prompt_file=str(Path(name, file))), (*key, file)) for file in shown)
