"""AgentIsland: the game as the kernel sees it, and its rounds, phase by phase.

Each phase is implemented in a module of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Protocol, TypeVar

from agentsim.engine.event import Audience, Event, Everyone, PlayerId
from agentsim.engine.game import Game, Outcome
from agentsim.engine.table import Table
from agentsim.engine.wording import counted
from agentsim.errors import ScenarioError
from agentsim.games.agent_island import invariants, panels, rules_text
from agentsim.games.agent_island.bots import BOTS
from agentsim.games.agent_island.config import AgentIslandConfig, RoundSettings
from agentsim.games.agent_island.sidebars import (
    NOBODY,
    AnswerApproach,
    Approach,
    Approached,
    ExchangeBegan,
    Paired,
    TakenAside,
    Whisper,
    Whispered,
    phase_sidebars,
)
from agentsim.games.agent_island.speeches import Pitch, Pitched, Quipped, Quips, phase_pitches, phase_quips
from agentsim.games.agent_island.state import Island
from agentsim.games.agent_island.view import (
    GameBegan,
    IslandRequest,
    LastRoundBegan,
    OrderDrawn,
    RoundBegan,
    Summarize,
    Summarized,
    View,
    phase_summaries,
    view,
)
from agentsim.games.agent_island.votes import (
    Eliminated,
    PollOpened,
    Tallied,
    Vote,
    Voted,
    Won,
    phase_elimination,
    phase_votes,
)
from agentsim.lazy import dataclass

R = TypeVar("R", bound=IslandRequest[Any])


class Logger(Protocol):
    """The part of `logging.Logger` that phases report to."""

    def info(self, msg: str, /, *args: Any) -> Any:
        """Log one line. `args` fill the placeholders of `msg`."""
        ...


@dataclass(frozen=True, kw_only=True)
class RoundContext:
    """The working context of a phase. The names of the first nine fields are those of the original project.

    `players` are the ids in seat order. `history` is the table: `history.tell` appends to the history, and
    `history.ask` asks players. `active_player_ids` and `eliminated_player_ids` change when a player leaves. `logger`
    gets a line for every event; the game itself passes None, since rules do no IO. `votes` is the result of the round's
    vote: `vote_tally`, `selected_player` and `tied`, the players between whom the lot decided.
    """

    round_index: int
    final_round: bool
    players: Sequence[PlayerId]
    active_player_ids: list[PlayerId]
    eliminated_player_ids: list[PlayerId]
    logger: Logger | None
    history: Table
    rules_prompt: str
    votes: dict[str, Any] = field(default_factory=dict)
    config: AgentIslandConfig = field(default_factory=AgentIslandConfig)
    island: Island | None = None
    """The state of the whole game, or None if a phase is played by itself."""

    @property
    def table(self) -> Table:
        """The table, by the name that other games have for it."""
        return self.history

    @cached_property
    def state(self) -> Island:
        """The state of the game, which shares its two lists of players with this context.

        A phase that is played by itself gets the state of this round alone.
        """
        if self.island is not None:
            return self.island
        return Island(
            players=tuple(self.players),
            rounds=self.round_index + (0 if self.final_round else max(1, len(self.active_player_ids) - 2)),
            round=self.round_index,
            active=self.active_player_ids,
            eliminated=self.eliminated_player_ids,
        )

    @cached_property
    def settings(self) -> RoundSettings:
        return self.config.settings(self.round_index, self.state.rounds)

    def view_of(self, player: PlayerId) -> View:
        return view(self.table, self.state, player, self.rules_prompt)

    def question(self, kind: type[R], player: PlayerId, **fields: Any) -> R:
        """Return a request to this player, with all that it may know now."""
        return kind(player=player, view=self.view_of(player), **fields)

    def draw_order(self, phase: str, players: Sequence[PlayerId], where: str = "") -> list[PlayerId]:
        """Draw an order of these players. No player is told it before its phase is over."""
        return self.table.chance.stream(f"{phase}/{where or self.round_index}").shuffled(players)

    def tell(self, event: Event, *, to: Audience, by: PlayerId | None = None) -> None:
        """Tell the table, and log the event's heading."""
        self.table.tell(event, to=to, by=by)
        if self.logger is not None:
            self.logger.info("round %d: %s", self.round_index, event.heading)


PHASES: Mapping[str, Callable[[RoundContext], Awaitable[None]]] = {
    "pitches": phase_pitches,
    "votes": phase_votes,
    "elimination": phase_elimination,
    "sidebars": phase_sidebars,
    "quips": phase_quips,
    "summaries": phase_summaries,
}
"""The phases of a round, by their names in the configuration."""


class Round:
    """One round of the game."""

    def __init__(self, context: RoundContext) -> None:
        self.context = context

    async def play(self) -> None:
        """Announce the round and play its phases in order."""
        context = self.context
        last = context.round_index == context.state.rounds
        context.table.round("Final round" if context.final_round else f"Round {context.round_index}")
        began = (LastRoundBegan if last and not context.final_round else RoundBegan)(
            context.round_index,
            context.state.rounds,
            tuple(context.active_player_ids),
            tuple(context.eliminated_player_ids),
            context.settings.phases,
        )
        context.tell(began, to=Everyone)
        for index, phase in enumerate(context.settings.phases, start=1):
            context.state.phases_left = len(context.settings.phases) - index
            await PHASES[phase](context)


class AgentIsland(Game):
    """N players, N-2 eliminations, a final of two, and a jury of the eliminated."""

    name = "agent_island"
    title = "Agent Island: Deliberations"
    summary = "pitches, secret votes, elimination, and a jury of the eliminated"
    config = AgentIslandConfig
    events = (
        GameBegan,
        RoundBegan,
        LastRoundBegan,
        OrderDrawn,
        Summarized,
        Pitched,
        Quipped,
        PollOpened,
        Voted,
        Tallied,
        Eliminated,
        Won,
        ExchangeBegan,
        Approached,
        TakenAside,
        Paired,
        Whispered,
    )
    requests = (Pitch, Vote, Approach, AnswerApproach, Whisper, Quips, Summarize)
    announcements = True
    bots = BOTS
    typical = ("grudge", "loyal")
    seats = (3, None)
    public_scores = True
    reserved = frozenset({NOBODY})
    facts = panels.FACTS
    overview = staticmethod(panels.overview)
    truths = staticmethod(panels.truths)
    tables = staticmethod(panels.tables)
    invariants = staticmethod(invariants.invariants)
    panels = staticmethod(panels.panels)

    def admit(self, config: AgentIslandConfig, players: Sequence[PlayerId]) -> None:
        super().admit(config, players)
        rounds = len(config.schedule(len(players)))
        for override in config.round_overrides:
            if override.round != "final" and override.round > rounds:
                raise ScenarioError(
                    f"there is no round {override.round} with {counted(len(players), 'player')}",
                    key="game_config.round_overrides",
                    valid=f'1 to {rounds}, or "final"',
                )
        for key, named in config.named():
            if named not in players:
                raise ScenarioError(f"there is no player {named[:80]!r}", key=key, valid=", ".join(players[:24]))

    async def play(self, table: Table, config: AgentIslandConfig) -> Outcome:
        schedule = config.schedule(len(table.players))
        rules = rules_text.rules_prompt(len(table.players), schedule, config.rules, config.topic)
        island = Island(table.players, len(schedule), jury=schedule[-1].vote == "win")
        table.watch(island, island.progress)
        table.tell(GameBegan(island.players, island.rounds), to=Everyone)
        while island.round < island.rounds:
            island.round += 1
            context = RoundContext(
                round_index=island.round,
                final_round=island.final,
                players=island.players,
                active_player_ids=island.active,
                eliminated_player_ids=island.eliminated,
                logger=None,
                history=table,
                rules_prompt=rules,
                config=config,
                island=island,
            )
            await Round(context).play()
            if config.summaries == "rounds" and island.round < island.rounds:
                await phase_summaries(context)
        return Outcome(_reason(island), island.standings())


def _reason(island: Island) -> str:
    if island.winner is None:
        return "rounds played"
    last = island.tallies[-1]
    if not last.tied:
        return "jury vote"
    return "lot between tied" if any(votes for _, votes in last.votes) else "lot without votes"
