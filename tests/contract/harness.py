"""What the contract tests share: a game's tiny scenario, played on bots by the kernel alone or on a fake server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from agentsim import games
from agentsim.engine.chance import Stream
from agentsim.engine.game import Bot, Game
from agentsim.engine.reading import Decision
from agentsim.engine.request import Choice, Request
from agentsim.engine.simulate import Simulation, simulate
from agentsim.runner.session import RunResult, begin
from agentsim.scenario.load import load
from agentsim.scenario.scenario import Scenario

GAMES = games.names()
MOST_DECISIONS = 60


def tiny_path(name: str) -> Path:
    """The tiny scenario that ships in the game's folder."""
    return Path(str(resources.files(type(games.find(name)).__module__.rpartition(".")[0]) / "tiny.toml"))


def tiny(name: str, *overrides: str) -> Scenario:
    return load(tiny_path(name), overrides=overrides)


def on_bots(name: str, bot: Bot | str, *, seed: int | None = None) -> Simulation:
    scenario, game = tiny(name), games.find(name)
    players = [plan.id for plan in scenario.players]
    return simulate(
        game,
        scenario.config.model_dump(mode="json"),
        players,
        bot=bot,
        seed=scenario.seed if seed is None and scenario.seed is not None else seed or 0,
        staff=sorted(scenario.staff),
    )


def some_bot(game: Game) -> Bot:
    return game.bots["random" if "random" in game.bots else min(game.bots)]


def on_server(name: str, url: str, logs: Path, *overrides: str, stem: str = "run") -> RunResult:
    """The tiny game with every seat filled by the model behind `url`."""
    scenario = tiny(name, 'defaults.model="fake/echo"', f'providers.fake.base_url="{url}"', *overrides)
    return begin(scenario, logs, env={}, stem=stem)


def free_texts(request: Request[Any], decision: Decision) -> list[str]:
    """Where in a decision its player may say what it likes: `speech`, `action.pitch`, `notes.B`."""
    closed = {name for name, legal in request.legal.items() if isinstance(legal, Choice)}
    return [path for path in _strings(decision.model_dump(), "") if path not in closed and _parent(path) not in closed]


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _strings(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _strings(part, f"{path}.{name}" if path else str(name))


def marking(policy: Bot, changed: Callable[[Request[Any], int], str | None] = lambda request, nth: None) -> Bot:
    """A policy whose every free text is a marker of its own; one that is `changed` differs, not in length.

    `changed` is asked with the request and how often this policy has been asked for that player and kind, and gives
    the path of the text that is to differ.
    """
    counts: dict[tuple[str, str], int] = {}

    def marked(request: Request[Any], rng: Stream) -> Decision:
        decision = policy(request, rng)
        key = (request.player, request.kind)
        counts[key] = nth = counts.get(key, 0) + 1
        other = changed(request, nth)

        def words(path: str) -> str:
            return marker_of(request.player, request.kind, nth, path, "y" if path == other else "x")

        return reworded(request, decision, words)

    return marked


def reworded(request: Request[Any], decision: Decision, words: Callable[[str], str]) -> Decision:
    """The decision with other words wherever its player may say what it likes, by path."""
    values = decision.model_dump()
    for path in free_texts(request, decision):
        *outer, name = path.split(".")
        inside = values
        for part in outer:
            inside = inside[part]
        inside[name] = words(path)
    return type(decision).model_validate(values)


def marker_of(player: str, kind: str, nth: int, path: str, letter: str = "x") -> str:
    return f"{letter}q{player}q{kind}q{nth}q{path.replace('.', 'q')}q"


def other_players(players: Sequence[str], than: str) -> list[str]:
    return [player for player in players if player != than]
