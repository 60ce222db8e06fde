"""A simulated world of a persuader with known effects: branches in which A said its message, or was silent.

Five listeners vote for A, B or C and bid. Branch k of both sides shares its luck, which moves each listener; every vote
and bid is drawn separately in each branch, as a model's sampling is. The message adds `added` to each listener's
probability to vote for A (B and C lose half of it each) and `4 * added` to its bid: with 0 it has no effect.
"""

from __future__ import annotations

import numpy as np

from agentsim.studies.influence import BranchResult, Influence, Responses, Sides, Swapped, influences

LISTENERS = ("B", "C", "D", "E", "F")
CHANCES = np.array([0.20, 0.27, 0.34, 0.41, 0.48])
"""Each listener's probability to vote for A without the message and luck. Luck moves it by less than 0.1."""
MESSAGE = Swapped("trunk", 1, "any", "A", "pitch", 1, "Vote for me.", "silence", "", LISTENERS)


def persuasion(generator: np.random.Generator, *, pairs: int, added: float) -> Influence:
    """Return the estimated influence of one message, from so many pairs."""
    (found,) = influences([(MESSAGE, sides(generator, pairs=pairs, added=added))])
    return found


def sides(generator: np.random.Generator, *, pairs: int, added: float) -> Sides:
    """Return branches in which the message was said, and in which it was not."""
    luck = generator.normal(size=(pairs, len(LISTENERS)))
    return _branches(generator, luck, added), _branches(generator, luck, 0.0)


def true_effect(measure: str, added: float) -> float:
    """Return the effect on a measure of each listener, which is that on the mean too; for the score, on the sum."""
    effects = {"vote = A": added, "vote = B": -added / 2, "vote = C": -added / 2, "bid": 4 * added}
    return effects.get(measure, added * len(LISTENERS))


def _branches(
    generator: np.random.Generator, luck: np.ndarray[tuple[int, ...], np.dtype[np.float64]], added: float
) -> dict[int, BranchResult]:
    chances = CHANCES + 0.1 * np.tanh(luck) + added
    drawn = generator.random(luck.shape)
    votes = np.where(drawn < chances, "A", np.where(drawn < (1 + chances) / 2, "B", "C"))
    bids = np.round(10 + luck + 4 * added + 2 * generator.normal(size=luck.shape), 6)
    found = {}
    for number, (cast, bid) in enumerate(zip(votes.tolist(), bids.tolist(), strict=True), start=1):
        chosen = {("vote", listener): vote for listener, vote in zip(LISTENERS, cast, strict=True)}
        amounts = {("bid", listener): amount for listener, amount in zip(LISTENERS, bid, strict=True)}
        found[number] = BranchResult(Responses(chosen, amounts), {("votes", "A"): float(cast.count("A"))}, number)
    return found
