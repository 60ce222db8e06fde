"""Society: the game as the kernel sees it, and its course: days of ticks, evenings, an end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import Any, ClassVar

from agentsim.engine.event import Event, Everyone, LogEntry, PlayerId
from agentsim.engine.game import Bot, GameConfig, Outcome
from agentsim.engine.panel import Frame, Panel
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.errors import ScenarioError
from agentsim.games.society.action_handler import ActionHandler, Tally
from agentsim.games.society.bots import BOTS
from agentsim.games.society.config import Personality, SocietyConfig
from agentsim.games.society.ending import ended, reason, standings
from agentsim.games.society.evening import Evening, totals
from agentsim.games.society.events import EVENTS
from agentsim.games.society.events.life import Being, SocietyBegan
from agentsim.games.society.lawmaking import Lawmaking
from agentsim.games.society.panels import panels
from agentsim.games.society.requests import REQUESTS, Act
from agentsim.games.society.rules import Rules, rules_of
from agentsim.games.society.state import State, founded
from agentsim.games.society.tables import tables
from agentsim.games.society.terms import misfit
from agentsim.games.society.view import own, world


class Society:
    """Autonomous agents in one world of food, energy, materials and land."""

    name: ClassVar[str] = "society"
    title: ClassVar[str] = "Society"
    summary: ClassVar[str] = "a hundred agents talk, vote, work and give, and fall dormant without food or energy"
    rules_version: ClassVar[int] = 1
    config: ClassVar[type[GameConfig]] = SocietyConfig
    requests: ClassVar[tuple[type[Request[Any]], ...]] = REQUESTS
    events: ClassVar[tuple[type[Event], ...]] = EVENTS
    bots: ClassVar[Mapping[str, Bot]] = BOTS
    staff: ClassVar[frozenset[str]] = frozenset()

    def admit(self, config: SocietyConfig, players: Sequence[PlayerId]) -> None:
        if len(players) < 2:
            raise ScenarioError("a society needs agents that live together", key="players", valid="2 or more")
        if config.quorum > len(players):
            raise ScenarioError("there are fewer agents to vote", key="game_config.quorum", valid=f"0..{len(players)}")
        for place, law in enumerate(config.laws):
            if problem := misfit("law", law.terms, len(players), config.hours_per_day):
                raise ScenarioError(problem, key=f"game_config.laws.{place}.terms")

    async def play(self, table: Table, config: SocietyConfig) -> Outcome:
        state = founded(config, table.players, _dealt(table, config))
        rules = rules_of(config, len(table.players))
        table.watch(state)
        _tell_beginning(table, state)
        lawmaking = Lawmaking(table, state)
        for law in config.laws:
            lawmaking.found(law)
        deeds = ActionHandler(table, state, rules, Tally())
        evening = Evening(table, state, deeds, lawmaking)
        why = ""
        while not why:
            state.day += 1
            table.round(f"Day {state.day}")
            for tick in range(1, config.actions_per_day + 1):
                state.tick = tick
                await _tick(table, state, rules, deeds)
            evening.pass_()
            why = reason(state, lawmaking.passed)
        placed = standings(state)
        table.tell(ended(state, why, lawmaking.passed, placed), to=Everyone)
        return Outcome(why, placed)

    def panels(self, log: Sequence[LogEntry], players: Sequence[PlayerId]) -> list[Panel]:
        return panels(log)

    def tables(self, log: Sequence[LogEntry], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
        return tables(log)


async def _tick(table: Table, state: State, rules: Rules, deeds: ActionHandler) -> None:
    """All who are awake decide on the same world; what they decide happens in a fresh random order."""
    awake = state.active()
    kept = world(state)
    decisions = await table.ask_all(
        [Act(player=citizen.player, rules=rules, world=kept.world, you=own(state, citizen, kept)) for citizen in awake]
    )
    for citizen in awake:
        citizen.turns += 1
    decided = dict(zip((citizen.number for citizen in awake), decisions, strict=True))
    for number in table.chance.stream("order").shuffled(list(decided)):
        deeds.do(state.citizen(number), decided[number])


def _dealt(table: Table, config: SocietyConfig) -> Sequence[Personality]:
    """Personalities in turn, in an order drawn once: of any agents in a row, each has as many as any other, or one off.

    Agents of one model sit in a row, so that holds within every model too.
    """
    order = table.chance.stream("personalities").shuffled(config.personalities)
    return list(islice(cycle(order), len(table.players)))


def _tell_beginning(table: Table, state: State) -> None:
    config = state.config
    beings = tuple(Being(each.number, each.player, each.personality) for each in state.citizens)
    began = SocietyBegan(
        config.days, beings, config.start_food, config.start_energy, config.start_materials, totals(state)
    )
    table.tell(began, to=Everyone)
