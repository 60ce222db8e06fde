"""Round: one round of the game, phase by phase. What a phase does stands in `round_phases`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentsim.engine.event import Everyone, Told
from agentsim.engine.table import Table
from agentsim.games.agent_island.config import RoundSettings
from agentsim.games.agent_island.events import RoundBegan
from agentsim.games.agent_island.prompts import rules_prompt
from agentsim.games.agent_island.round_phases import PHASES
from agentsim.games.agent_island.state import Island, Tally
from agentsim.games.agent_island.view import View, view

__all__ = ["Round", "RoundContext"]


@dataclass(frozen=True)
class RoundContext:
    """What a phase works with: the table, the state and this round's settings.

    The properties are the fields of the seed's class of the same name, read from the state, which is the
    one place that knows them.
    """

    table: Table
    island: Island
    settings: RoundSettings

    @property
    def round_index(self) -> int:
        """From 1."""
        return self.island.round

    @property
    def final_round(self) -> bool:
        """Whether the jury votes in this round."""
        return self.island.final

    @property
    def players(self) -> tuple[str, ...]:
        """Everyone who began the game, in seat order."""
        return self.island.players

    @property
    def active_player_ids(self) -> tuple[str, ...]:
        """Those still in the game."""
        return tuple(self.island.active)

    @property
    def eliminated_player_ids(self) -> tuple[str, ...]:
        """The jury, in the order in which they left."""
        return tuple(self.island.eliminated)

    @property
    def history(self) -> Sequence[Told]:
        """Everything told so far; what one player may know of it is in `view_of`."""
        return self.table.log

    @property
    def rules_prompt(self) -> str:
        """The rules as every player reads them."""
        return rules_prompt(self.island.players, self.island.rounds)

    @property
    def votes(self) -> Tally | None:
        """The result of this round's vote, once there is one."""
        tallies = self.island.tallies
        return tallies[-1] if tallies and tallies[-1].round == self.island.round else None

    def view_of(self, player: str) -> View:
        """What this player may know now."""
        return view(self.table, self.island, player)


class Round:
    """One round."""

    def __init__(self, context: RoundContext) -> None:
        self.context = context

    async def play(self) -> None:
        """Announce the round and play its phases in order."""
        context = self.context
        context.table.round("Final round" if context.final_round else f"Round {context.round_index}")
        began = RoundBegan(
            context.round_index,
            context.island.rounds,
            context.active_player_ids,
            context.eliminated_player_ids,
            context.settings.phases,
        )
        context.table.tell(began, to=Everyone)
        for phase in context.settings.phases:
            await PHASES[phase](context)
