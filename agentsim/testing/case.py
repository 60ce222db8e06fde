"""Case: a game with the small scenario in which it is checked, played by the kernel alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module, resources
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from agentsim import games
from agentsim.engine.chance import Chance
from agentsim.engine.codec import json_fields
from agentsim.engine.decision import Decision
from agentsim.engine.event import LoggedEvent, PlayerId
from agentsim.engine.game import Bot, Game, Outcome, bots_of
from agentsim.engine.play import GamePlay
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Ask, Request
from agentsim.engine.wording import counted
from agentsim.errors import UsageError
from agentsim.lazy import dataclass

MOST_DECISIONS: Final = 60
"""A tiny scenario takes fewer decisions."""
RANDOM: Final = "random answers"
"""The name of the policy that draws from all legal decisions."""
_ENDLESS = 20_000


class Asked(NamedTuple):
    """A question with its answer.

    `data` is the request when it was asked, `events_before` the number of events told before it.
    """

    ask: Ask
    decision: Decision
    data: str
    events_before: int
    round: str

    @property
    def player(self) -> PlayerId:
        return self.ask.request.player

    @property
    def key(self) -> tuple[PlayerId, str, int]:
        return self.player, self.ask.request.kind, self.ask.nth

    @property
    def restored(self) -> Decision:
        """The decision as it is restored from a journal."""
        return type(self.decision).model_validate_json(self.decision.model_dump_json())

    def __str__(self) -> str:
        return f"wave {self.ask.wave}, {self.player} is asked {self.ask.request.kind} (number {self.ask.nth})"


@dataclass(frozen=True)
class SampleGame:
    """A finished game."""

    play: GamePlay
    outcome: Outcome
    asked: tuple[Asked, ...]

    @property
    def log(self) -> Sequence[LoggedEvent]:
        return self.play.log

    def steps(self) -> Iterator[LoggedEvent | Request[Any]]:
        """Yield all events, and each question when it was asked."""
        upto = 0
        for asked in self.asked:
            yield from self.log[upto : asked.events_before]
            yield asked.ask.request
            upto = asked.events_before
        yield from self.log[upto:]

    @property
    def waves(self) -> list[list[Asked]]:
        """The questions of each moment."""
        return [list(wave) for _, wave in groupby(self.asked, lambda asked: asked.ask.wave)]

    def lines(self) -> list[str]:
        """Return the whole game as lines of questions, events and the outcome. Equal games have equal lines."""
        asked = [f"{asked}: {asked.data} decides {asked.decision.model_dump_json()}" for asked in self.asked]
        told = [f"round {told.round}, to {told.to} by {told.by} {told.decision}: {words_of(told)}" for told in self.log]
        return [*asked, *told, repr(self.outcome)]


@dataclass(frozen=True)
class Case:
    """A game and a small scenario for it.

    `reference` is how another process finds the game: its registered name, or `module:ATTRIBUTE`. `seeds` is the number
    of games that a check plays, `tiny` the file of the scenario or None, `golden` a folder of golden files. `others`
    are cases of the same game in other scenarios, which every check except the golden files examines too; such a case
    is `partial`, and need not ask everything.
    """

    reference: str
    game: Game
    players: tuple[PlayerId, ...]
    config: Mapping[str, Any]
    staff: tuple[str, ...] = ()
    seed: int = 1
    seeds: int = 20
    tiny: Path | None = None
    golden: Path | None = None
    update: bool = False
    others: tuple[Case, ...] = ()
    partial: bool = False

    @property
    def name(self) -> str:
        """The name of its scenario."""
        return self.tiny.stem if self.tiny else self.reference

    @property
    def bot(self) -> Bot:
        """The policy that most checks play with: the game's bot `random`, or a random legal decision."""
        return bots_of(self.game)["random"]

    def start(self, seed: int | None = None) -> GamePlay:
        """Return a game that is about to start."""
        config = self.game.config.from_toml(self.config)
        return GamePlay(self.game, config, self.players, self.seed if seed is None else seed, staff=self.staff)

    def play(self, policy: Bot | None = None, seed: int | None = None, chance: Chance | None = None) -> SampleGame:
        """Play a whole game, and check each answer as a player's is checked. `chance` replaces that of the seed."""
        play, decide = self.start(seed), policy or self.bot
        play.table.chance = chance or play.table.chance
        asked: list[Asked] = []
        wave = play.start()
        while wave is not None:
            told, title = len(play.log), f"{len(play.table.rounds) - 1}. {play.table.rounds[-1]}"
            # serialized now, since the rules could change a part of it later
            held = [data_of(ask) for ask in wave.asks]
            decisions = [decide(ask.request, play.bot_rng(ask)) for ask in wave.asks]
            for ask, decision, data in zip(wave.asks, decisions, held, strict=True):
                ask.request.check(decision)
                asked.append(Asked(ask, decision, data, told, title))
            assert len(asked) < _ENDLESS, f"the game has not ended after {_ENDLESS:,} decisions"
            wave = play.answer(decisions)
        assert play.outcome is not None, "a play without a wave has an outcome"
        return SampleGame(play, play.outcome, tuple(asked))

    @cached_property
    def policies(self) -> Mapping[str, Bot]:
        """The policies of which each plays a game: the bots by `bot/NAME`, random answers and fallbacks alone."""
        bots = {f"bot/{name}": bot for name, bot in bots_of(self.game).items()}
        return {**bots, RANDOM: random_decision, "fallbacks alone": lambda request, rng: request.fallback()}

    @cached_property
    def _played(self) -> dict[tuple[str, int], SampleGame]:
        return {}

    def game_by(self, policy: str = "bot/random", seed: int | None = None) -> SampleGame:
        """Return the game that one of the `policies` plays, played once for all checks."""
        key = policy, self.seed if seed is None else seed
        if key not in self._played:
            self._played[key] = self.play(self.policies[policy], key[1])
        return self._played[key]

    @cached_property
    def games(self) -> tuple[SampleGame, ...]:
        """One game of each seed from 0, played once for all checks."""
        return tuple(self.game_by(seed=seed) for seed in range(self.seeds))

    def every(self) -> Iterator[tuple[str, Asked]]:
        """Yield every question of these games, with the game it is from."""
        for seed, played in enumerate(self.games):
            yield from ((f"seed {seed}, {asked}", asked) for asked in played.asked)

    @property
    def looked_at(self) -> str:
        return (
            f"{counted(sum(len(played.asked) for played in self.games), 'question')} of {counted(self.seeds, 'game')}"
        )


Checkable: TypeAlias = str | Case
"""A game, by its registered name or as a `Case`."""


def case_of(game: Checkable, **changes: Any) -> Case:
    """Return the case of a registered game: the `tiny.toml` in its package, and every `tiny_*.toml` as its `others`.

    `changes` are other values of the case; `seeds` applies to the others too. Raises `UsageError` if there is no
    `tiny.toml`.
    """
    if not isinstance(game, Case):
        found = games.find(game)
        tiny = Path(str(resources.files(sys.modules[type(found).__module__].__package__ or "") / "tiny.toml"))
        if not tiny.is_file():
            raise UsageError(f"{game}: there is no {tiny}, the small scenario in which a game is checked")
        others = tuple(_case(game, found, path) for path in sorted(tiny.parent.glob("tiny_*.toml")))
        game = replace(_case(game, found, tiny), partial=False, others=others)
    if "seeds" in changes:
        changes = {"others": tuple(replace(each, seeds=changes["seeds"]) for each in game.others), **changes}
    # an unchanged case keeps the games that it has played
    return replace(game, **changes) if changes else game


def _case(reference: str, game: Game, tiny: Path) -> Case:
    from agentsim.scenario.load import load

    scenario = load(tiny)
    players, config = tuple(plan.id for plan in scenario.players), scenario.config.model_dump(mode="json")
    return Case(
        reference, game, players, config, tuple(sorted(scenario.staff)), scenario.seed or 0, tiny=tiny, partial=True
    )


def game_of(reference: str) -> Game:
    """Return the game that a case's `reference` names."""
    module, _, attribute = reference.partition(":")
    found: Game = getattr(import_module(module), attribute) if attribute else games.find(reference)
    return found


def data_of(ask: Ask) -> str:
    """Return all fields of a request as JSON."""
    return json.dumps(json_fields(ask.request), ensure_ascii=False)


def words_of(told: LoggedEvent) -> str:
    """Return all that a player who hears an event is told, as JSON."""
    event = told.event
    return json.dumps([event.kind, event.heading, event.content, event.data()], ensure_ascii=False)


def differences(one: Any, other: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the paths at which two JSON values differ, with both values."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differences(one[key], other[key], f"{path}.{key}".lstrip("."))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, both in enumerate(zip(one, other, strict=True)):
            yield from differences(*both, f"{path}.{index}".lstrip("."))
    elif one != other:
        yield path, one, other


def named(path: Sequence[str | int], players: Collection[PlayerId]) -> str:
    """Return the name of a path in all requests of a kind: `#` is any entry of a list, `*` any player."""
    return ".".join("#" if str(part).isdigit() else "*" if part in players else str(part) for part in path)


def excused(name: str, reasons: Collection[str]) -> bool:
    """Return whether a path is one of these, or a part of one."""
    return any(f"{name}.".startswith(f"{each}.") for each in reasons)
