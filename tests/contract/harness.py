"""What tests of every game share: a game's tiny scenario, played on bots by the kernel alone or on a fake server."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from agentsim import games
from agentsim.engine.game import Bot, Game
from agentsim.engine.simulate import Simulation, simulate
from agentsim.runner.run import RunResult
from agentsim.scenario.load import load
from agentsim.scenario.scenario import Scenario
from agentsim.testing import Case, case_of
from tests.playing import play_scenario

GAMES = games.names()


@cache
def case(name: str, seeds: int = 3) -> Case:
    """The case of a game, whose games are played once for all tests of a process."""
    return case_of(name, seeds=seeds)


def tiny_path(name: str) -> Path:
    """The tiny scenario that ships in the game's folder."""
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
    """The tiny game with every seat filled by the model behind `url`."""
    scenario = tiny(name, 'defaults.model="fake/echo"', f'providers.fake.base_url="{url}"', *overrides)
    return play_scenario(scenario, logs, env={}, stem=stem)
