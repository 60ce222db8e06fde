"""Island: the players still in the game and the result of each vote. Prompts do not belong here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property

from agentsim.engine.game import Standing, ranked
from agentsim.engine.panel import Progress
from agentsim.engine.wording import counted, listed
from agentsim.lazy import dataclass


@dataclass(frozen=True)
class Tally:
    """The result of a vote: votes by candidate (all candidates, also those with none), and the player who left or won.

    `tied` are the candidates between whom a lot decided, or empty if the votes did. `chosen` is None for a poll.
    """

    round: int
    final: bool
    votes: tuple[tuple[str, int], ...]
    abstentions: int
    chosen: str | None
    tied: tuple[str, ...] = ()

    @cached_property
    def in_words(self) -> str:
        """The vote in words: `R1 votes: B 2, A 1, C 0; 1 abstained. Voted out: B.`"""
        votes = ", ".join(f"{player} {count}" for player, count in self.votes)
        silent = f"; {self.abstentions} abstained" if self.abstentions else ""
        lot = f", by lot between {listed(self.tied)}" if self.tied else ""
        end = (
            f"{'Winner' if self.final else 'Voted out'}: {self.chosen}{lot}"
            if self.chosen
            else "A poll: no player left"
        )
        return f"R{self.round} votes: {votes}{silent}. {end}."


@dataclass
class Island:
    """The state of one game. `round` is 0 before the first round.

    `jury` is true if the last round is a final. `leaving` is the player who was voted out and has not left yet.
    `phases_left` are the phases of the present round after the one that is being played.
    """

    players: tuple[str, ...]
    rounds: int
    round: int = 0
    active: list[str] = field(default_factory=list)
    eliminated: list[str] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    winner: str | None = None
    jury: bool = True
    leaving: str | None = None
    phases_left: int = 0

    def __post_init__(self) -> None:
        if not self.active:
            self.active = list(self.players)

    @property
    def final(self) -> bool:
        """True if the jury names the winner in the present round."""
        return self.jury and self.round == self.rounds

    def settle(self, tally: Tally) -> None:
        """Record a vote: its choice wins in the final, and is to leave in any other round."""
        self.tallies.append(tally)
        if tally.final:
            self.winner = tally.chosen
        else:
            self.leaving = tally.chosen

    def eliminate(self, player: str) -> None:
        self.active.remove(player)
        self.eliminated.append(player)
        self.leaving = None

    def standings(self) -> tuple[Standing, ...]:
        """Return the winner, the other finalists by jury votes, then the eliminated players, the last to leave first.

        Without a final, all players who are left share the first place.
        """
        jury = dict(self.tallies[-1].votes) if self.winner is not None else {}
        left = {tally.chosen: tally.round for tally in self.tallies if not tally.final}
        against = dict.fromkeys(self.players, 0)
        for tally in self.tallies:
            for player, votes in () if tally.final else tally.votes:
                against[player] += votes
        entries = []
        for player in self.players:
            gone = player in self.eliminated
            survived = left[player] - 1 if gone else self.rounds
            key = (player == self.winner, survived, -1 if gone else jury.get(player, -1))
            score = {"rounds_survived": survived, "votes_against": against[player], "jury_votes": jury.get(player, 0)}
            entries.append((player, key, score))
        return ranked(entries)

    def progress(self) -> Progress:
        """Return the round, the players who are left, and the votes against each so far."""
        against = {each.player: int(each.score["votes_against"]) for each in self.standings()}
        rows = (
            (player, f"{counted(votes, 'vote')} against", player in self.active) for player, votes in against.items()
        )
        left = sorted(rows, key=lambda row: not row[2])
        return Progress("round", self.round, self.rounds, tuple(left), (f"{len(self.active)} left",))

    def check(self) -> Sequence[str]:
        broken = []
        if sorted(self.active + self.eliminated) != sorted(self.players):
            broken.append("every player is either active or eliminated")
        if [*self.eliminated, *([self.leaving] if self.leaving else [])] != [
            tally.chosen for tally in self.tallies if not tally.final and tally.chosen is not None
        ]:
            broken.append("one player leaves by each vote that eliminates")
        if self.winner is not None and self.winner not in self.active:
            broken.append("the winner is a finalist")
        settled = [tally.round for tally in self.tallies]
        if settled != sorted({*settled}) or not {*settled} <= {*range(1, self.round + 1)}:
            broken.append("rounds settle in order, at most once each")
        for tally in self.tallies:
            if tally.tied and tally.chosen not in tally.tied:
                broken.append(f"round {tally.round}: the lot falls on one of the tied")
            if any(votes < 0 for _, votes in tally.votes):
                broken.append(f"round {tally.round}: no negative votes")
        return broken
