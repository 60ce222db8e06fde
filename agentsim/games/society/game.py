"""Society: the game as the kernel sees it, and its course: days of ticks, evenings, an end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentsim.engine import Event, Game, LogEntry, Outcome, PlayerId, Table
from agentsim.engine.panel import Frame, Panel
from agentsim.errors import ScenarioError
from agentsim.games.society import building, evening, founding, laws, talk, turn, voting, work
from agentsim.games.society.bots import BOTS
from agentsim.games.society.charts import panels, tables
from agentsim.games.society.config import Rules, SocietyConfig, rules_of
from agentsim.games.society.memory import Memories
from agentsim.games.society.requests import REQUESTS, Act
from agentsim.games.society.state import State, founded
from agentsim.games.society.terms import misfit
from agentsim.games.society.view import own, world

_CHAPTERS = (founding, talk, voting, work, building, laws, turn, evening)
EVENTS: tuple[type[Event], ...] = tuple(
    each
    for chapter in _CHAPTERS
    for each in vars(chapter).values()
    if isinstance(each, type) and issubclass(each, Event) and each.__module__ == chapter.__name__
    if not each.__subclasses__()
)
"""Every event of the chapters, in their order."""


class Society(Game):
    """Autonomous agents in one world of food, energy, materials and land."""

    name = "society"
    title = "Society"
    summary = "a hundred agents talk, vote, work and give, and fall dormant without food or energy"
    rules_version = 1
    config = SocietyConfig
    requests = REQUESTS
    events = EVENTS
    bots = BOTS

    def admit(self, config: SocietyConfig, players: Sequence[PlayerId]) -> None:
        if len(players) < 2:
            raise ScenarioError("a society needs agents that live together", key="players", valid="2 or more")
        if config.quorum > len(players):
            raise ScenarioError("there are fewer agents to vote", key="game_config.quorum", valid=f"0..{len(players)}")
        for place, law in enumerate(config.laws):
            if problem := misfit("law", law.terms, len(players), config.hours_per_day):
                raise ScenarioError(problem, key=f"game_config.laws.{place}.terms")

    async def play(self, table: Table, config: SocietyConfig) -> Outcome:
        state = founded(config, table.players, founding.dealt(table, config))
        rules, minds = rules_of(config, len(table.players)), Memories(config.shown_events, config.shown_chars)
        table.watch(state)
        founding.tell_beginning(table, state)
        for law in config.laws:
            laws.found(table, state, law)
        why = ""
        while not why:
            state.day += 1
            table.round(f"Day {state.day}")
            for tick in range(1, config.actions_per_day + 1):
                state.tick = tick
                await _tick(table, state, rules, minds)
            evening.pass_evening(table, state)
            why = evening.reason(state)
        return evening.end(table, state, why)

    def panels(self, log: Sequence[LogEntry], players: Sequence[PlayerId]) -> list[Panel]:
        return panels(log)

    def tables(self, log: Sequence[LogEntry], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
        return tables(log)


async def _tick(table: Table, state: State, rules: Rules, minds: Memories) -> None:
    """All who are awake decide on the same world; what they decide happens in a fresh random order."""
    minds.catch_up(table)
    awake, seen = state.active(), world(state)
    asked = [
        Act(player=each.player, rules=rules, world=seen, you=own(state, each, seen, minds.of(each.number)))
        for each in awake
    ]
    decisions = await table.ask_all(asked)
    decided = {}
    for citizen, decision in zip(awake, decisions, strict=True):
        citizen.turns += 1
        minds.of(citizen.number).forget()
        decided[citizen.number] = decision.action
    for number in table.chance.stream("order").shuffled(list(decided)):
        turn.Turn(table, state, rules, state.citizen(number)).take(decided[number])
        evening.announce_woken(table, state)
