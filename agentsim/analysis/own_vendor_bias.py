"""Own-vendor bias: whether voters choose players whose model has their own maker more often than a blind vote would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agentsim.analysis.intervals import Interval, blocks, interval, ratio_intervals
from agentsim.analysis.record import GameRecord, vendor

__all__ = ["VendorBias", "vendor_biases"]


@dataclass(frozen=True, slots=True)
class VendorBias:
    """Votes of one maker's models (None: of all makers' together), to keep (`final`) or to send away.

    `blind` is how many of them would fall on the same maker if each were drawn from its ballot; `excess` is how much
    more often, per vote, they did. Only ballots with players of both kinds count.
    """

    maker: str | None
    final: bool
    votes: int
    same: int
    blind: float
    excess: Interval


def vendor_biases(games: Sequence[GameRecord]) -> list[VendorBias]:
    """By kind of vote and maker; nothing where the models have one maker, or nobody votes."""
    makers = sorted({vendor(entrant.model) for game in games for entrant in game.entrants})
    if len(makers) < 2:
        return []
    found = [_vendor_bias(games, maker, final=final) for final in (False, True) for maker in (None, *makers)]
    return [vendor_bias for vendor_bias in found if vendor_bias is not None]


def _vendor_bias(games: Sequence[GameRecord], maker: str | None, *, final: bool) -> VendorBias | None:
    excess, counts = np.zeros((len(games), 1)), np.zeros((len(games), 1))
    same, blind = 0, 0.0
    for row, game in enumerate(games):
        made = {entrant.player: vendor(entrant.model) for entrant in game.entrants}
        for vote in game.votes:
            own = made.get(vote.voter)
            if vote.final is not final or own is None or maker not in {None, own}:
                continue
            chance = sum(made.get(player) == own for player in vote.ballot) / len(vote.ballot)
            if 0 < chance < 1:
                chosen = made.get(vote.choice) == own
                same += chosen
                blind += chance
                excess[row, 0] += chosen - chance
                counts[row, 0] += 1
    votes = int(counts.sum())
    if not votes:
        return None
    together = blocks([game.seed for game in games])
    (ends,) = ratio_intervals(together @ excess, together @ counts, centre=0.0)
    return VendorBias(maker, final, votes, same, blind, interval((same - blind) / votes, ends))
