"""Island: who is still there and how each round ended. Words and prompts do not belong here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agentsim.engine.game import Standing, ranked

__all__ = ["Island", "Tally"]


@dataclass(frozen=True)
class Tally:
    """How a vote came out: votes by candidate (all candidates, zero too), who left or won, and whether by lot.

    `tied` are the candidates between whom chance decided; empty where the votes did.
    """

    round: int
    final: bool
    votes: tuple[tuple[str, int], ...]
    abstentions: int
    chosen: str
    tied: tuple[str, ...] = ()


@dataclass
class Island:
    """The state of one game; `round` is 0 before the first."""

    players: tuple[str, ...]
    rounds: int
    round: int = 0
    active: list[str] = field(default_factory=list)
    eliminated: list[str] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    winner: str | None = None

    def __post_init__(self) -> None:
        self.active = list(self.players)

    @property
    def final(self) -> bool:
        """Whether the present round is the last."""
        return self.round == self.rounds

    def begin_round(self) -> None:
        """Go on to the next round."""
        self.round += 1

    def settle(self, tally: Tally) -> None:
        """Let a vote take effect: its choice leaves, or wins in the final round."""
        self.tallies.append(tally)
        if tally.final:
            self.winner = tally.chosen
        else:
            self.active.remove(tally.chosen)
            self.eliminated.append(tally.chosen)

    def standings(self) -> tuple[Standing, ...]:
        """The winner, the other finalists by jury votes, then the eliminated, the last to leave first."""
        jury = dict(self.tallies[-1].votes)
        against = dict.fromkeys(self.players, 0)
        for tally in self.tallies[:-1]:
            for player, votes in tally.votes:
                against[player] += votes
        entries = []
        for player in self.players:
            gone = self.eliminated.index(player) + 1 if player in self.eliminated else None
            survived = self.rounds if gone is None else gone - 1
            key = (player == self.winner, survived, jury.get(player, -1) if gone is None else -1)
            score = {"rounds_survived": survived, "votes_against": against[player], "jury_votes": jury.get(player, 0)}
            entries.append((player, key, score))
        return ranked(entries)

    def check(self) -> Sequence[str]:
        """Every broken invariant, in words."""
        broken = []
        if sorted(self.active + self.eliminated) != sorted(self.players):
            broken.append("every player is either active or eliminated")
        if len(self.eliminated) != sum(not tally.final for tally in self.tallies):
            broken.append("one player leaves by each vote before the final")
        if self.winner is not None and self.winner not in self.active:
            broken.append("the winner is a finalist")
        if [tally.round for tally in self.tallies] != list(range(1, len(self.tallies) + 1)):
            broken.append("rounds settle in order, once each")
        for tally in self.tallies:
            if tally.tied and tally.chosen not in tally.tied:
                broken.append(f"round {tally.round}: the lot falls on one of the tied")
            if any(votes < 0 for _, votes in tally.votes):
                broken.append(f"round {tally.round}: no negative votes")
        return broken
