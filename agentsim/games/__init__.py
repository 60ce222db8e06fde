"""The games, one package each. A package in this folder is a registered game.

A game is imported only when it is asked for. Other distributions add games through the entry point group
`agentsim.games` (name = "package.module:GAME"). No game's rules belong here.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from typing import cast

from agentsim.engine.game import Game, ScoreWords
from agentsim.engine.plugin import load_plugin, plugin_name
from agentsim.engine.wording import near
from agentsim.errors import ScenarioError

__all__ = ["find", "names", "score_words"]

_GROUP = "agentsim.games"


def names() -> list[str]:
    """Return the names of all games that can be played here, sorted."""
    return sorted(_own() | {entry.name for entry in entry_points(group=_GROUP)})


def find(name: str) -> Game:
    """Return the game of that name. Raises `ScenarioError` if there is none, or if its plugin cannot be used."""
    if name in _own():
        return cast("Game", importlib.import_module(f"{__name__}.{name}").GAME)
    for entry in entry_points(group=_GROUP):
        if entry.name == name:
            try:
                found = load_plugin(entry)
            except ScenarioError as error:
                raise error.placed(key="game") from error.__cause__
            if not isinstance(found, Game):
                problem = "is no game: its class does not inherit agentsim.engine.Game"
                raise ScenarioError(f"{plugin_name(entry)} {problem}", key="game")
            if found.name != name:
                raise ScenarioError(f"{plugin_name(entry)} calls itself {str(found.name)[:40]!r}", key="game")
            return found
    known = names()
    raise ScenarioError(f"there is no game {name[:40]!r}{near(name, known)}", key="game", valid=", ".join(known))


def score_words(name: str) -> ScoreWords:
    """Return the words for the scores of the game of that name, which need not be installed."""
    try:
        return ScoreWords(find(name).scores)
    except ScenarioError:
        return ScoreWords({})


@cache
def _own() -> frozenset[str]:
    return frozenset(module.name for module in pkgutil.iter_modules(__path__) if module.ispkg)
