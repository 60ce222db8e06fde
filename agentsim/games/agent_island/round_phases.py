"""The phases of a round: pitches, votes, sidebars, quips. Each takes the round's context and asks and tells.

What players are asked in words stands in `requests` and `prompts`, the private exchanges in `sidebars`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from agentsim.engine.event import Everyone
from agentsim.engine.wording import cut
from agentsim.games.agent_island.events import Eliminated, OrderDrawn, Pitched, Quipped, Tallied, Voted, Won
from agentsim.games.agent_island.requests import Pitch, Quips, Vote, VoteCast
from agentsim.games.agent_island.sidebars import phase_sidebars
from agentsim.games.agent_island.state import Tally

if TYPE_CHECKING:
    from agentsim.games.agent_island.round import RoundContext

__all__ = ["PHASES", "phase_pitches", "phase_quips", "phase_votes"]


async def phase_pitches(context: RoundContext) -> None:
    """Each active player in a drawn order makes a public pitch, which everyone hears before the next."""
    table, limit = context.table, context.settings.pitch_chars
    order = table.chance.stream(f"pitches/{context.round_index}").shuffled(context.active_player_ids)
    table.tell(OrderDrawn("pitches", tuple(order)), to=Everyone)
    for position, player in enumerate(order, start=1):
        speech = await table.ask(Pitch(player=player, view=context.view_of(player), limit=limit))
        table.tell(Pitched(player, position, cut(speech.text, limit)), to=Everyone, by=player)


async def phase_votes(context: RoundContext) -> None:
    """All voters vote at once, in secret; most votes leave (final: win), and chance decides a tie."""
    table, index = context.table, context.round_index
    candidates = context.active_player_ids
    voters = context.eliminated_player_ids if context.final_round else candidates
    order = table.chance.stream(f"votes/{index}").shuffled(voters)
    ballots = {
        voter: tuple(
            table.chance.stream(f"ballot/{index}/{voter}").shuffled([other for other in candidates if other != voter])
        )
        for voter in order
    }
    limit = context.settings.explanation_chars
    requests = [Vote(player=voter, view=context.view_of(voter), ballot=ballots[voter], limit=limit) for voter in order]
    votes = dict(zip(order, await table.ask_all(requests), strict=True))
    for voter, vote in votes.items():
        voted = Voted(voter, vote.vote, ballots[voter], cut(vote.explanation, limit))
        table.tell(voted, to=(voter,), by=voter)
    _settle(context, votes)


def _settle(context: RoundContext, votes: Mapping[str, VoteCast]) -> None:
    table, final = context.table, context.final_round
    counts = dict.fromkeys(context.active_player_ids, 0)
    for vote in votes.values():
        if vote.vote is not None:
            counts[vote.vote] += 1
    most = max(counts.values())
    tied = tuple(candidate for candidate, count in counts.items() if count == most)
    by_lot = len(tied) > 1
    chosen = table.chance.stream(f"tie/{context.round_index}").pick(tied) if by_lot else tied[0]
    abstentions = sum(vote.vote is None for vote in votes.values())
    context.island.settle(
        Tally(context.round_index, final, tuple(counts.items()), abstentions, chosen, tied if by_lot else ())
    )
    tallied = Tallied(context.round_index, final, counts, abstentions, tied if by_lot else (), by_lot)
    table.tell(tallied, to=Everyone)
    if final:
        table.tell(Won(chosen, most, by_lot), to=Everyone)
    else:
        table.tell(Eliminated(chosen, context.round_index, most, by_lot), to=Everyone)


async def phase_quips(context: RoundContext) -> None:
    """Each active player says one public line about every other: all at once, then told in a drawn order."""
    table, limit = context.table, context.settings.quip_chars
    order = table.chance.stream(f"quips/{context.round_index}").shuffled(context.active_player_ids)
    table.tell(OrderDrawn("quips", tuple(order)), to=Everyone)
    requests = [
        Quips(
            player=player,
            view=context.view_of(player),
            about=tuple(other for other in context.active_player_ids if other != player),
            limit=limit,
        )
        for player in order
    ]
    made = await table.ask_all(requests)
    for request, quips in zip(requests, made, strict=True):
        for about in request.about:
            line = cut(quips.quips.get(about, ""), limit)
            table.tell(Quipped(request.player, about, line), to=Everyone, by=request.player)


PHASES: Mapping[str, Callable[[RoundContext], Awaitable[None]]] = {
    "pitches": phase_pitches,
    "votes": phase_votes,
    "sidebars": phase_sidebars,
    "quips": phase_quips,
}
