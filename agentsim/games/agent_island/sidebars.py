"""Sidebars: players pair up and talk in private. The other phases stand in `round_phases`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentsim.engine.event import Everyone
from agentsim.engine.wording import cut
from agentsim.games.agent_island.events import Approached, ExchangeBegan, OrderDrawn, Paired, TakenAside, Whispered
from agentsim.games.agent_island.requests import NOBODY, AnswerApproach, Approach, Whisper

if TYPE_CHECKING:
    from agentsim.games.agent_island.round import RoundContext


async def phase_sidebars(context: RoundContext) -> None:
    """As many exchanges as the round has: in each the players choose partners, in a drawn order, and talk."""
    settings = context.settings
    for exchange in range(1, settings.exchanges + 1):
        if settings.exchanges > 1:
            began = ExchangeBegan(exchange, settings.exchanges, settings.messages_per_exchange)
            context.tell(began, to=Everyone)
        where = f"{context.round_index}" if exchange == 1 else f"{context.round_index}/{exchange}"
        order = context.history.chance.stream(f"sidebars/{where}").shuffled(context.active_player_ids)
        context.tell(OrderDrawn("sidebars", tuple(order)), to=Everyone)
        await (_in_turn(context, order, where) if settings.partners == "any" else _at_once(context, order))


async def _at_once(context: RoundContext, order: Sequence[str]) -> None:
    """Each player who is still free approaches one other who is; then all pairs talk at the same time."""
    pairs: list[tuple[str, str]] = []
    for player in order:
        taken = {member for pair in pairs for member in pair}
        free = tuple(other for other in context.active_player_ids if other not in taken and other != player)
        if player not in taken and free:
            partner = await _approach(context, player, free)
            if partner is not None:
                pairs.append((player, partner))
    await context.history.together([_exchange(context, *pair) for pair in pairs])


async def _in_turn(context: RoundContext, order: Sequence[str], where: str) -> None:
    """Every player opens one talk, with anyone; what is said in it is known to the two when the next is opened."""
    for player in order:
        others = [other for other in context.active_player_ids if other != player]
        drawn = context.history.chance.stream(f"partners/{where}/{player}").shuffled(others)
        partner = await _approach(context, player, tuple(drawn)) if drawn else None
        if partner is not None:
            await _exchange(context, player, partner)


async def _approach(context: RoundContext, player: str, free: tuple[str, ...]) -> str | None:
    """The partner who talks, or None. An approach that fails stays between those it concerns."""
    table, settings = context.history, context.settings
    made = await table.ask(
        Approach(player=player, view=context.view_of(player), free=free, may_decline=settings.may_decline)
    )
    partner = made.partner
    if partner == NOBODY:
        context.tell(Approached(player, None, False), to=(player,), by=player)
        return None
    if settings.may_decline:
        answer = await table.ask(AnswerApproach(player=partner, view=context.view_of(partner), by=player))
        context.tell(Approached(player, partner, answer.accept), to=(player, partner), by=player)
        if not answer.accept:
            return None
    else:
        context.tell(TakenAside(player, partner), to=(player, partner), by=player)
    if not settings.secret_pairs:
        context.tell(Paired((player, partner)), to=Everyone)
    return partner


async def _exchange(context: RoundContext, first: str, second: str) -> None:
    """The two speak in turn, heard by themselves alone."""
    table, limit = context.history, context.settings.message_chars
    turns = context.settings.messages_per_exchange
    for turn in range(1, turns + 1):
        speaker, listener = (first, second) if turn % 2 else (second, first)
        request = Whisper(
            player=speaker, view=context.view_of(speaker), partner=listener, turn=turn, turns=turns, limit=limit
        )
        speech = await table.ask(request)
        context.tell(Whispered(speaker, listener, cut(speech.text, limit)), to=(first, second), by=speaker)
