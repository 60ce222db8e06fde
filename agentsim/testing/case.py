"""Case: a game with the small scenario in which it is checked, and how it is played there, by the kernel alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module, resources
from itertools import groupby
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from agentsim import games
from agentsim.engine.chance import Chance
from agentsim.engine.codec import values
from agentsim.engine.decision import Decision
from agentsim.engine.event import LoggedEvent, PlayerId
from agentsim.engine.game import Bot, Game, Outcome, bots_of
from agentsim.engine.play import Ask, GamePlay
from agentsim.engine.request import Request
from agentsim.engine.wording import counted
from agentsim.errors import UsageError

MOST_DECISIONS: Final = 60
"""A tiny scenario takes fewer."""
_ENDLESS = 20_000


class Asked(NamedTuple):
    """A question with its answer. `data` is the request as it was then, `told` how many events had been told before."""

    ask: Ask
    decision: Decision
    data: str
    told: int
    round: str

    @property
    def player(self) -> PlayerId:
        return self.ask.request.player

    @property
    def place(self) -> tuple[PlayerId, str, int]:
        return self.player, self.ask.request.kind, self.ask.nth

    @property
    def restored(self) -> Decision:
        """The decision as it comes back from a journal."""
        return type(self.decision).model_validate_json(self.decision.model_dump_json())

    def __str__(self) -> str:
        return f"wave {self.ask.wave}, {self.player} is asked {self.ask.request.kind} (number {self.ask.nth})"


@dataclass(frozen=True)
class Played:
    """A finished game."""

    play: GamePlay
    outcome: Outcome
    asked: tuple[Asked, ...]

    @property
    def log(self) -> Sequence[LoggedEvent]:
        return self.play.log

    def course(self) -> Iterator[LoggedEvent | Request[Any]]:
        """Everything that was told, and every question where it was asked."""
        upto = 0
        for asked in self.asked:
            yield from self.log[upto : asked.told]
            yield asked.ask.request
            upto = asked.told
        yield from self.log[upto:]

    @property
    def waves(self) -> list[list[Asked]]:
        """What was asked at the same moment."""
        return [list(wave) for _, wave in groupby(self.asked, lambda asked: asked.ask.wave)]

    def lines(self) -> list[str]:
        """The whole game, a line for each question, event and standing: the same game has the same lines."""
        asked = [f"{asked}: {asked.data} decides {asked.decision.model_dump_json()}" for asked in self.asked]
        told = [f"round {told.round}, to {told.to} by {told.by} {told.decision}: {words_of(told)}" for told in self.log]
        return [*asked, *told, repr(self.outcome)]


@dataclass(frozen=True)
class Case:
    """A game and a small scenario for it.

    `reference` is how another process finds the game: its registered name, or `module:ATTRIBUTE`. `seeds` is how many
    games a check plays, `tiny` the scenario's file where there is one, `golden` a folder of golden files. `others` are
    cases of the same game in other scenarios, which every check but the golden files looks at as well; such a case
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
        """What its scenario is called."""
        return self.tiny.stem if self.tiny else self.reference

    @property
    def bot(self) -> Bot:
        """The policy that most checks play with: the game's `random`, or a draw of anything legal."""
        return bots_of(self.game)["random"]

    def start(self, seed: int | None = None) -> GamePlay:
        """A game, about to start."""
        config = self.game.config.from_toml(self.config)
        return GamePlay(self.game, config, self.players, self.seed if seed is None else seed, staff=self.staff)

    def play(self, policy: Bot | None = None, seed: int | None = None, chance: Chance | None = None) -> Played:
        """A whole game; each answer is checked as a player's is. `chance` takes the place of the seed's."""
        play, decide = self.start(seed), policy or self.bot
        play.table.chance = chance or play.table.chance
        asked: list[Asked] = []
        wave = play.start()
        while wave is not None:
            told, title = len(play.log), f"{len(play.table.rounds) - 1}. {play.table.rounds[-1]}"
            # what each request holds now: the rules could change a part of it later
            held = [data_of(ask) for ask in wave.asks]
            decisions = [decide(ask.request, play.bot_rng(ask)) for ask in wave.asks]
            for ask, decision, data in zip(wave.asks, decisions, held, strict=True):
                ask.request.check(decision)
                asked.append(Asked(ask, decision, data, told, title))
            assert len(asked) < _ENDLESS, f"the game has not ended after {_ENDLESS:,} decisions"
            wave = play.answer(decisions)
        assert play.outcome is not None, "a play without a wave has an outcome"
        return Played(play, play.outcome, tuple(asked))

    @cached_property
    def games(self) -> tuple[Played, ...]:
        """A game of each seed from 0, played once for all checks."""
        return tuple(self.play(seed=seed) for seed in range(self.seeds))

    def every(self) -> Iterator[tuple[str, Asked]]:
        """Every question of these games, with its place."""
        for seed, played in enumerate(self.games):
            yield from ((f"seed {seed}, {asked}", asked) for asked in played.asked)

    @property
    def looked_at(self) -> str:
        return (
            f"{counted(sum(len(played.asked) for played in self.games), 'question')} of {counted(self.seeds, 'game')}"
        )


Checkable: TypeAlias = str | Case
"""A game: its registered name, or a `Case`."""


def case_of(game: Checkable, **changes: Any) -> Case:
    """The case of a registered game: the `tiny.toml` that ships beside it, and every `tiny_*.toml` as its `others`.

    `changes` are other values of the case; `seeds` are those of the others too.
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
    # a case that stays as it is keeps the games that it has played
    return replace(game, **changes) if changes else game


def _case(reference: str, game: Game, tiny: Path) -> Case:
    from agentsim.scenario.load import load

    scenario = load(tiny)
    players, config = tuple(plan.id for plan in scenario.players), scenario.config.model_dump(mode="json")
    return Case(
        reference, game, players, config, tuple(sorted(scenario.staff)), scenario.seed or 0, tiny=tiny, partial=True
    )


def game_of(reference: str) -> Game:
    """The game that a case's `reference` names."""
    module, _, attribute = reference.partition(":")
    found: Game = getattr(import_module(module), attribute) if attribute else games.find(reference)
    return found


def data_of(ask: Ask) -> str:
    """All that a request holds."""
    return json.dumps(values(ask.request), ensure_ascii=False)


def words_of(told: LoggedEvent) -> str:
    """All that a player who hears an event is told."""
    event = told.event
    return json.dumps([event.kind, event.heading, event.content, event.data()], ensure_ascii=False)


def differences(one: Any, other: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The places at which two JSON values differ, with both values."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differences(one[key], other[key], f"{path}.{key}".lstrip("."))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, both in enumerate(zip(one, other, strict=True)):
            yield from differences(*both, f"{path}.{place}".lstrip("."))
    elif one != other:
        yield path, one, other


def named(path: Sequence[str | int], players: Collection[PlayerId]) -> str:
    """A place in any request of its kind: `#` is any entry of a list, `*` any player."""
    return ".".join("#" if str(part).isdigit() else "*" if part in players else str(part) for part in path)


def excused(name: str, reasons: Collection[str]) -> bool:
    """Whether a place is one of these, or a part of one."""
    return any(f"{name}.".startswith(f"{each}.") for each in reasons)
