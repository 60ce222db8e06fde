"""Claims: what players say of the facts of a game, found by coders, beside what is true.

A codebook with the details of `CLAIM_FIELDS` makes claims. The game declares its facts (`Game.truths`): a claim is set
beside the latest fact of its name and player at that moment. A false claim of a player about itself is a lie, since a
player knows its own role, value, cash and votes. A false claim about others may be an error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, TypeAlias

from agentsim.engine.event import PlayerId
from agentsim.engine.truth import Truth
from agentsim.games import find
from agentsim.lazy import dataclass
from agentsim.records.codes import NONE, Codes, Unit, agreed, codes_by_codebook, units_of
from agentsim.records.events import told_events
from agentsim.records.history import History
from agentsim.records.run_files import RunFiles

CLAIM: Final = "claim"
"""The code whose units are claims."""
CLAIM_FIELDS: Final = frozenset({"about", "fact", "says", "number"})
"""The details that a codebook of claims has."""
ROUNDED: Final = 0.05
"""The share of a number by which a claim may miss it and be true: players round."""
Veracity: TypeAlias = Literal["true", "false", "lie", "unknown"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of `by` at event `seq` that `fact` of the player `about` is `says`, and what is true.

    `truth` is None, and the claim `unknown`, if the game has no such fact at that moment. `truth_at` is the number of
    the event with which the fact became true, or None if it holds for the whole game.
    """

    run: str
    seq: int
    round: int
    by: PlayerId
    to: str
    words: str
    fact: str
    about: str
    says: str
    truth: str | None
    veracity: Veracity
    coders: tuple[str, ...]
    truth_at: int | None = None

    @property
    def what(self) -> str:
        """The claim in words: `role of Ben: seer`."""
        of = "" if self.about == NONE else f" of {self.about}"
        return f"{self.fact}{of}: {self.says}"


def claims_of(files: RunFiles, history: History, codebook: str | None = None) -> list[Claim]:
    """Return the claims of a run in the order of the game, or [] if none are coded.

    They are those found by the codebook with this digest, or by any. What a person says of a unit counts before what
    judges say; of several judges more than half must call it a claim.
    """
    found: list[Claim] = []
    for coded in codes_by_codebook(files, CLAIM, CLAIM_FIELDS, codebook):
        found += claims(files.name, history, coded)
    return sorted(found, key=lambda claim: claim.seq)


def claims(run: str, history: History, coded: Sequence[Codes]) -> list[Claim]:
    """Return the claims that these coders found in a run by one codebook."""
    game = find(history.game)
    log = told_events(history, game)
    truths = list(game.truths(log, [player.id for player in history.seated]))
    found = []
    for unit in units_of(run, history, coded[0].codebook):
        opinions = agreed(coded, unit.anchor, CLAIM)
        if opinions and unit.by is not None:
            coders = tuple(codes.coder for codes, _ in opinions)
            found.append(_beside_truth(unit, opinions[0][1].codes, truths, coders))
    return found


def _beside_truth(unit: Unit, codes: Mapping[str, str], truths: Sequence[Truth], coders: tuple[str, ...]) -> Claim:
    assert unit.by is not None, "a claim has a speaker"
    fact, about = codes.get("fact", NONE), codes.get("about", NONE)
    known = [
        each
        for each in truths
        if each.name == fact and each.at <= unit.seq and each.about in {about, None if about == NONE else about}
    ]
    latest = known[-1] if known else None
    numeric = latest is not None and not isinstance(latest.value, str)
    says = codes.get("number" if numeric else "says", NONE)
    veracity: Veracity = "unknown"
    if latest is not None and says != NONE:
        is_true = _agrees(says, latest.value)
        veracity = "true" if is_true else "lie" if about == unit.by else "false"
    return Claim(
        run=unit.run,
        seq=unit.seq,
        round=unit.round,
        by=unit.by,
        to=unit.to,
        words=unit.words,
        fact=fact,
        about=about,
        says=says,
        truth=None if latest is None else str(latest.value),
        veracity=veracity,
        coders=coders,
        truth_at=(latest.at or None) if latest is not None else None,
    )


def _agrees(says: str, value: str | int | float) -> bool:
    if isinstance(value, str):
        return says == value
    return says.isdigit() and abs(int(says) - value) <= ROUNDED * abs(value)
