"""The game class of Society and its loop: days of ticks, each day followed by an evening."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from agentsim.engine import Game, Outcome, PlayerId, Table
from agentsim.engine.game import Score
from agentsim.engine.panel import Progress
from agentsim.engine.wording import counted
from agentsim.errors import ScenarioError
from agentsim.games.society import evening, founding, panels, shocks, turn, voting
from agentsim.games.society.assembly import misfit
from agentsim.games.society.bots import BOTS
from agentsim.games.society.building import Contributed, ProjectBegan, ProjectBuilt, UpkeepPaid
from agentsim.games.society.config import Rules, SocietyConfig, rules_of
from agentsim.games.society.requests import REQUESTS, Act
from agentsim.games.society.state import State, founded
from agentsim.games.society.talk import MessageSent, Posted, Renamed
from agentsim.games.society.view import ALL, Chronicle, Recollection, own, world
from agentsim.games.society.voting import ProposalResolved, Proposed, Reasoned, Voted
from agentsim.games.society.work import Traded, Worked


class Society(Game):
    """Autonomous agents in one world of food, energy, materials and land."""

    name = "society"
    title = "Society"
    summary = "agents talk, vote, work and give, and fall dormant without food or energy"
    scores: ClassVar[Mapping[str, Score]] = {"active": Score("active", ("not active", "active"))}
    rules_version = 5
    config = SocietyConfig
    requests = REQUESTS
    events = (
        founding.SocietyBegan,
        founding.SkillsDrawn,
        turn.InvalidAction,
        turn.Noted,
        Contributed,
        ProjectBegan,
        ProjectBuilt,
        UpkeepPaid,
        Reasoned,
        Proposed,
        Voted,
        ProposalResolved,
        evening.Idled,
        evening.FellDormant,
        evening.AgentDied,
        evening.AgentWoke,
        evening.Consumed,
        evening.Regrown,
        evening.DayEnded,
        evening.SocietyEnded,
        shocks.LostToShock,
        shocks.ShockStruck,
        MessageSent,
        Renamed,
        Posted,
        Worked,
        Traded,
        voting.LawEnacted,
        voting.LawRepealed,
        voting.AllocationPaid,
        voting.DividendPaid,
        voting.WorkMinimumBroken,
    )
    announcements = "restated"
    bots = BOTS
    typical = ("citizen", "farmer")  # half of the agents, the citizens, help agents in need
    seats = (2, None)
    public_scores = True
    facts = panels.FACTS
    overview = staticmethod(panels.overview)
    truths = staticmethod(panels.truths)
    tables = staticmethod(panels.tables)
    panels = staticmethod(panels.panels)

    def admit(self, config: SocietyConfig, players: Sequence[PlayerId]) -> None:
        super().admit(config, players)
        if config.quorum > len(players):
            raise ScenarioError("there are fewer agents to vote", key="game_config.quorum", valid=f"0..{len(players)}")
        for index, law in enumerate(config.laws):
            if problem := misfit("law", law.terms, len(players), config.hours_per_day):
                raise ScenarioError(problem, key=f"game_config.laws.{index}.terms")

    async def play(self, table: Table, config: SocietyConfig) -> Outcome:
        state = founded(config, table.players, founding.dealt(table, config))
        rules, rounds = rules_of(config, len(table.players)), table.rounds

        def remembers(player: PlayerId) -> Chronicle:  # the table keeps it: it must not refer to the table
            return Chronicle(config, rounds)

        table.watch(state, lambda: _progress(state))
        founding.tell_beginning(table, state)
        for law in config.laws:
            voting.found(table, state, law)
        why = ""
        while not why:
            state.day += 1
            table.round(f"Day {state.day}")
            shocks.strike(table, state)
            evening.announce_woken(table, state)
            for tick in range(1, config.actions_per_day + 1):
                state.begin_turn(tick)
                await _tick(table, state, rules, remembers)
            evening.pass_evening(table, state)
            why = evening.reason(state)
        return evening.end(table, state, why)


async def _tick(table: Table, state: State, rules: Rules, remembers: Callable[[PlayerId], Chronicle]) -> None:
    """Ask all active agents about the same world, then carry out their actions in a new random order."""
    chronicle = table.memory(ALL, remembers)
    active, seen = state.active(), world(state, chronicle)
    wording = chronicle.wording._replace(posts=frozenset(post.id for post in seen.posts))
    requests: list[Act] = []
    for each in active:
        heard = table.concerning(each.player)
        memory = Recollection(each.player, each.number, heard, each.heard, wording)
        requests.append(Act(player=each.player, rules=rules, world=seen, you=own(state, each, seen, memory)))
        each.heard = heard
    decisions = await table.ask_all(requests)
    decided = {}
    for citizen, decision in zip(active, decisions, strict=True):
        citizen.turns += 1
        decided[citizen.number] = decision
    for number in table.chance.stream("order").shuffled(list(decided)):
        decision, its = decided[number], turn.Turn(table, state, rules, state.citizen(number))
        its.note(decision.note)
        its.take(decision.action)
        evening.announce_woken(table, state)


def _progress(state: State) -> Progress:
    counts = (f"{number} {status}" for status, number in state.counts.items() if number)
    laws = counted(len(state.assembly.laws), "law")
    return Progress("day", state.day, state.config.days, facts=(", ".join(counts), laws))
