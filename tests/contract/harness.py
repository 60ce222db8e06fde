"""Helpers of the tests of every game: its tiny scenario, played on bots by the kernel, or on a fake server."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from agentsim import games
from agentsim.engine.game import Bot, Game
from agentsim.engine.simulate import Simulation, simulate
from agentsim.runs.run import RunResult
from agentsim.scenario.load import load
from agentsim.scenario.scenario import Scenario
from agentsim.testing import Case, case_of
from tests.playing import play_scenario

GAMES = games.names()
FEW = ("auction", "society", "werewolf")
"""The games whose rows of a test of the engine are in every run; a test of the rules has a row of each game there."""

LONG = ("market", "monopoly")
"""The games with the longest journals. Where runs are resumed at every line, theirs are at one line in five: the engine
is the same, and each line costs the rest of a game. The number is odd since lines of text and decisions alternate."""


def spaced(name: str, one_of: int) -> int:
    """Return at which multiple of lines a run of a game is played on, if it is at `one_of` in short games."""
    return max(one_of, 5) if name in LONG else one_of


@cache
def case(name: str, seeds: int = 3) -> Case:
    """Return the case of a game, cached so that its games are played once in a process."""
    return case_of(name, seeds=seeds)


@cache
def alone(name: str, seeds: int = 3) -> Case:
    """Return the case of a game without its other scenarios, cached for the same reason."""
    return case_of(case(name, seeds), others=())


def tiny_path(name: str) -> Path:
    """Return the path of the tiny scenario in the game's package."""
    path = case(name).tiny
    assert path is not None
    return path


def tiny(name: str, *overrides: str) -> Scenario:
    return load(tiny_path(name), overrides=overrides)


def on_bots(name: str, bot: Bot | str, *, seed: int | None = None) -> Simulation:
    of = case(name)
    seed = of.seed if seed is None else seed
    return simulate(of.game, of.config, of.players, bot=bot, seed=seed, staff=of.staff)


def some_bot(game: Game) -> Bot:
    return game.bots["random" if "random" in game.bots else min(game.bots)]


def on_server(name: str, url: str, logs: Path, *overrides: str, stem: str = "run") -> RunResult:
    """Play the tiny game with all seats filled by the model behind `url`."""
    scenario = tiny(name, 'defaults.model="fake/echo"', f'providers.fake.base_url="{url}"', *overrides)
    return play_scenario(scenario, logs, env={}, stem=stem)
