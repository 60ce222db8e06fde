"""Votes: all voters vote at once and in secret, the votes are counted, and the chosen player leaves or wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from agentsim.engine import Choice, Text
from agentsim.engine.decision import Decision
from agentsim.engine.event import AGAINST, FOR, Everyone, Interaction, Past
from agentsim.engine.options import FieldOverride, JsonObject
from agentsim.engine.wording import If, Template, cut
from agentsim.games.agent_island.state import Tally
from agentsim.games.agent_island.view import IslandEvent, IslandRequest, LastRoundBegan, RoundBegan

if TYPE_CHECKING:
    from agentsim.games.agent_island.game import RoundContext


class PollOpened(
    IslandEvent, heading="A poll", content="The next vote is a poll: no player leaves by it.", in_prompt=False
):
    round: int


class VoteCast(Decision):
    """A vote and its explanation. `vote` is None for an abstention, which only the fallback gives."""

    explanation: Annotated[str, lambda asked: Text(asked.limit, "one or two sentences")] = ""
    vote: Annotated[str | None, lambda asked: Choice(asked.ballot)] = None


class Voted(
    IslandEvent,
    kind="vote",
    heading=If("choice", "Player {voter} votes for {choice}", "Player {voter} abstains"),
    words="explanation",
    private=("voter",),
    random_order=("ballot",),
):
    record_label: ClassVar[Template] = If("choice", "secret vote for {choice}", "abstention")
    voter: str
    choice: str | None
    ballot: tuple[str, ...]
    explanation: str

    def interactions(self, past: Past) -> Iterator[Interaction]:
        """Yield the vote: for the winner in the final round, against the player who is to leave in any other."""
        began = past.last(LastRoundBegan) or past.last(RoundBegan)
        if began is not None and self.choice is not None:
            action = "voted for" if began.final else "voted to eliminate"
            yield Interaction(self.voter, self.choice, action, FOR if began.final else AGAINST)


class Tallied(
    IslandEvent,
    kind="tally",
    label="count of votes",
    heading=If("final", "The jury has voted", "The votes are in"),
    content=(
        "Votes: {votes}.",
        If("abstentions", " Abstentions: {abstentions}."),
        If(
            "drawn_by_lot",
            (" ", If("cast", "It is a tie", "Nobody cast a valid vote"), "; the lot decides between {tied:and}."),
        ),
    ),
):
    round: int
    final: bool
    votes: dict[str, int]
    abstentions: int
    tied: tuple[str, ...]
    drawn_by_lot: bool

    @property
    def cast(self) -> int:
        return sum(self.votes.values())


class Eliminated(
    IslandEvent,
    label="elimination",
    heading="Player {player} is eliminated",
    content=(
        "{player} leaves the game ",
        If("drawn_by_lot", "by lot", "with {votes:vote}"),
        If("jury", " and joins the jury"),
        ".",
    ),
    in_prompt=False,
    eliminates=("player",),
):
    player: str
    round: int
    votes: int
    drawn_by_lot: bool
    jury: bool = True
    """True if a jury of the eliminated names the winner."""


class Won(
    IslandEvent,
    label="win",
    heading="Player {player} wins",
    content=("{player} wins the game ", If("drawn_by_lot", "by lot", "with {votes:vote} of the jury"), "."),
    in_prompt=False,
):
    player: str
    votes: int
    drawn_by_lot: bool


class Vote(IslandRequest[VoteCast]):
    """A request for a secret vote. `ballot` is the order in which this voter reads the candidates."""

    fallback_always_legal: ClassVar[bool] = True
    leak_exempt: ClassVar[Mapping[str, str]] = {"ballot": "its order is drawn for this vote, and is read here first"}

    ballot: tuple[str, ...]
    limit: int
    poll: bool = False
    vote_first: bool = False
    """True if the answer is the vote and then its explanation."""

    def build_answer_fields(self) -> JsonObject:
        explained = super().build_answer_fields()
        if not self.vote_first:
            return explained
        return JsonObject({name: explained.parts[name] for name in ("vote", "explanation")})

    def question(self) -> str:
        aim = "win" if self.view.final else "be eliminated"
        poll = "This vote is a poll: no player leaves by it. " if self.poll else ""
        return f"{poll}Vote for the player who should {aim}. Your vote and your explanation stay secret."

    def field_overrides(self) -> Mapping[str, FieldOverride | None]:
        return {"explanation": FieldOverride(preset="")}


async def phase_votes(context: RoundContext) -> None:
    """Ask all voters at once for a secret vote. The player with the most votes leaves (in the final: wins).

    Chance decides a tie. No player leaves by a poll.
    """
    table, index = context.table, context.round_index
    candidates = tuple(context.active_player_ids)
    voters = context.eliminated_player_ids if context.final_round else candidates if len(candidates) > 1 else ()
    if poll := context.settings.vote == "poll":
        context.tell(PollOpened(index), to=Everyone)
    order = table.chance.stream(f"votes/{index}").shuffled(voters)
    ballots = {
        voter: tuple(
            table.chance.stream(f"ballot/{index}/{voter}").shuffled([other for other in candidates if other != voter])
        )
        for voter in order
    }
    limit, vote_first = context.settings.explanation_chars, context.settings.vote_first
    requests = [
        context.question(Vote, voter, ballot=ballots[voter], limit=limit, poll=poll, vote_first=vote_first)
        for voter in order
    ]
    votes = dict(zip(order, await table.ask_all(requests), strict=True))
    for voter, vote in votes.items():
        voted = Voted(voter, vote.vote, ballots[voter], cut(vote.explanation, limit))
        context.tell(voted, to=(voter,), by=voter)
    _count(context, votes)
    if context.settings.vote == "eliminate" and "elimination" not in context.settings.phases:
        await phase_elimination(context)


def _count(context: RoundContext, votes: Mapping[str, VoteCast]) -> None:
    index, final = context.round_index, context.final_round
    cast = Counter(vote.vote for vote in votes.values())
    counts = {candidate: cast[candidate] for candidate in context.active_player_ids}
    most = max(counts.values())
    tied = tuple(candidate for candidate, count in counts.items() if count == most)
    if context.settings.vote == "poll":
        chosen, tied = None, ()
    elif len(tied) > 1:
        chosen = context.table.chance.stream(f"tie/{index}").pick(tied)
    else:
        (chosen,), tied = tied, ()
    context.state.settle(Tally(index, final, tuple(counts.items()), cast[None], chosen, tied))
    context.votes.update(vote_tally=counts, selected_player=chosen, tied=tied)
    context.tell(Tallied(index, final, counts, cast[None], tied, bool(tied)), to=Everyone)
    if final and chosen is not None:
        context.tell(Won(chosen, most, bool(tied)), to=Everyone)


async def phase_elimination(context: RoundContext) -> None:
    """Let the player with the most votes of this round leave, and join the jury if there is one."""
    chosen, votes = context.votes["selected_player"], context.votes["vote_tally"]
    context.state.eliminate(chosen)
    by_lot, jury = bool(context.votes["tied"]), context.state.jury
    eliminated = Eliminated(chosen, context.round_index, votes[chosen], by_lot, jury)
    context.tell(eliminated, to=Everyone)
