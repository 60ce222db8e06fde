"""The phases of a round. Each takes the round's context and asks and tells.

What players are asked in words stands in `requests` and `prompts`, the private exchanges in `sidebars`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from agentsim.engine.event import Everyone
from agentsim.engine.wording import cut
from agentsim.games.agent_island.events import (
    Eliminated,
    OrderDrawn,
    Pitched,
    PollOpened,
    Quipped,
    Summarized,
    Tallied,
    Voted,
    Won,
)
from agentsim.games.agent_island.requests import Pitch, Quips, Summarize, Vote, VoteCast
from agentsim.games.agent_island.sidebars import phase_sidebars
from agentsim.games.agent_island.state import Tally

if TYPE_CHECKING:
    from agentsim.games.agent_island.round import RoundContext


async def phase_pitches(context: RoundContext) -> None:
    """Each active player in a drawn order makes a public pitch, which everyone hears before the next."""
    table, limit = context.history, context.settings.pitch_chars
    order = table.chance.stream(f"pitches/{context.round_index}").shuffled(context.active_player_ids)
    context.tell(OrderDrawn("pitches", tuple(order)), to=Everyone)
    for position, player in enumerate(order, start=1):
        speech = await table.ask(Pitch(player=player, view=context.view_of(player), limit=limit))
        context.tell(Pitched(player, position, cut(speech.text, limit)), to=Everyone, by=player)


async def phase_votes(context: RoundContext) -> None:
    """All voters vote at once, in secret; most votes leave (final: win), and chance decides a tie."""
    table, index = context.history, context.round_index
    candidates = tuple(context.active_player_ids)
    voters = context.eliminated_player_ids if context.final_round else candidates if len(candidates) > 1 else ()
    if context.settings.vote == "poll":
        context.tell(PollOpened(index), to=Everyone)
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
        context.tell(voted, to=(voter,), by=voter)
    _count(context, votes)
    if context.settings.vote == "eliminate" and "elimination" not in context.settings.phases:
        await phase_elimination(context)


def _count(context: RoundContext, votes: Mapping[str, VoteCast]) -> None:
    index, final = context.round_index, context.final_round
    counts = dict.fromkeys(context.active_player_ids, 0)
    for vote in votes.values():
        if vote.vote is not None:
            counts[vote.vote] += 1
    most = max(counts.values())
    tied = tuple(candidate for candidate, count in counts.items() if count == most)
    if context.settings.vote == "poll":
        chosen, tied = None, ()
    elif len(tied) > 1:
        chosen = context.history.chance.stream(f"tie/{index}").pick(tied)
    else:
        (chosen,), tied = tied, ()
    abstentions = sum(vote.vote is None for vote in votes.values())
    context.state.settle(Tally(index, final, tuple(counts.items()), abstentions, chosen, tied))
    context.votes.update(vote_tally=counts, selected_player=chosen, tied=tied)
    context.tell(Tallied(index, final, counts, abstentions, tied, bool(tied)), to=Everyone)
    if final and chosen is not None:
        context.tell(Won(chosen, most, bool(tied)), to=Everyone)


async def phase_elimination(context: RoundContext) -> None:
    """The player whom the votes of this round chose leaves and joins the jury."""
    chosen, votes = context.votes["selected_player"], context.votes["vote_tally"]
    context.state.eliminate(chosen)
    eliminated = Eliminated(chosen, context.round_index, votes[chosen], bool(context.votes["tied"]))
    context.tell(eliminated, to=Everyone)


async def phase_quips(context: RoundContext) -> None:
    """Each speaker says one public line about every other player: all at once, or each knowing those before.

    The eliminated are spoken of where they may speak.
    """
    table, settings, limit = context.history, context.settings, context.settings.quip_chars
    active = settings.quips_by == "active"
    players = tuple(context.active_player_ids if active else context.players)
    speakers = players if isinstance(settings.quips_by, str) else settings.quips_by
    order = table.chance.stream(f"quips/{context.round_index}").shuffled(speakers)
    context.tell(OrderDrawn("quips", tuple(order)), to=Everyone)
    for together in [[player] for player in order] if settings.quips_in_turn else [order]:
        requests = [
            Quips(
                player=player,
                view=context.view_of(player),
                about=tuple(other for other in players if other != player),
                limit=limit,
            )
            for player in together
        ]
        for request, quips in zip(requests, await table.ask_all(requests), strict=True):
            for about in request.about:
                line = cut(quips.quips.get(about, ""), limit)
                context.tell(Quipped(request.player, about, line), to=Everyone, by=request.player)


async def phase_summaries(context: RoundContext) -> None:
    """Each player who remembers by summaries, the jury too, writes a private one of the round so far, all at once."""
    limit = context.config.summary_chars
    requests = [
        Summarize(player=player, view=context.view_of(player), limit=limit)
        for player in context.players
        if context.config.remembers(player) == "summary"
    ]
    for request, note in zip(requests, await context.history.ask_all(requests), strict=True):
        summarized = Summarized(request.player, context.round_index, cut(note.text, limit))
        context.tell(summarized, to=(request.player,), by=request.player)


PHASES: Mapping[str, Callable[[RoundContext], Awaitable[None]]] = {
    "pitches": phase_pitches,
    "votes": phase_votes,
    "elimination": phase_elimination,
    "sidebars": phase_sidebars,
    "quips": phase_quips,
    "summaries": phase_summaries,
}
