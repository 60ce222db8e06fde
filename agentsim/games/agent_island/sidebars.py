"""Sidebars: players pair up and talk in private. The other phases stand in `round_phases`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentsim.engine.event import Everyone
from agentsim.engine.wording import cut
from agentsim.games.agent_island.events import Approached, OrderDrawn, Paired, Whispered
from agentsim.games.agent_island.requests import NOBODY, AnswerApproach, Approach, Whisper

if TYPE_CHECKING:
    from agentsim.games.agent_island.round import RoundContext

__all__ = ["phase_sidebars"]


async def phase_sidebars(context: RoundContext) -> None:
    """In a drawn order each unpaired player approaches one other; then all pairs talk at the same time."""
    table = context.table
    order = table.chance.stream(f"sidebars/{context.round_index}").shuffled(context.active_player_ids)
    table.tell(OrderDrawn("sidebars", tuple(order)), to=Everyone)
    pairs: list[tuple[str, str]] = []
    for player in order:
        taken = {member for pair in pairs for member in pair}
        free = tuple(other for other in context.active_player_ids if other not in taken and other != player)
        if player not in taken and free:
            partner = await _approach(context, player, free)
            if partner is not None:
                pairs.append((player, partner))
                table.tell(Paired((player, partner)), to=Everyone)
    await table.together([_exchange(context, *pair) for pair in pairs])


async def _approach(context: RoundContext, player: str, free: tuple[str, ...]) -> str | None:
    """The partner who accepted, or None. An approach that fails stays between those it concerns."""
    table = context.table
    made = await table.ask(Approach(player=player, view=context.view_of(player), free=free))
    if made.partner == NOBODY:
        table.tell(Approached(player, None, False), to=(player,), by=player)
        return None
    partner = made.partner
    answer = await table.ask(AnswerApproach(player=partner, view=context.view_of(partner), by=player))
    table.tell(Approached(player, partner, answer.accept), to=(player, partner), by=player)
    return partner if answer.accept else None


async def _exchange(context: RoundContext, first: str, second: str) -> None:
    """The two speak in turn, heard by themselves alone."""
    table, limit = context.table, context.settings.message_chars
    turns = context.settings.messages_per_exchange
    for turn in range(1, turns + 1):
        speaker, listener = (first, second) if turn % 2 else (second, first)
        request = Whisper(
            player=speaker, view=context.view_of(speaker), partner=listener, turn=turn, turns=turns, limit=limit
        )
        speech = await table.ask(request)
        table.tell(Whispered(speaker, listener, cut(speech.text, limit)), to=(first, second), by=speaker)
