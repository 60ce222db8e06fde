"""Ledger: the promises of a game, found by coders, each matched by rules to what its player then did.

A codebook with the details of `PROMISE_FIELDS` makes a ledger. What counts as done are the interactions that the
game's events declare. The rules, for the promise of an action towards a player until a round:

- kept with the first such deed in time; broken if its time is over, or if the player did the same to another instead;
- a promise not to do it is broken with the first such deed, and kept if the player had an occasion: did the same to
  another in that time;
- open otherwise: the time never came, the player had left, or the deed is none of the game's actions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final, Literal, NamedTuple, TypeAlias

from agentsim.engine.event import LoggedEvent, Past, PlayerId
from agentsim.games import find
from agentsim.lazy import dataclass
from agentsim.records.codes import EVERYONE, NONE, OTHER, Codes, Unit, agreed, codes_by_codebook, units_of
from agentsim.records.events import told_events
from agentsim.records.history import History
from agentsim.records.run_files import RunFiles

PROMISE: Final = "promise"
"""The code whose units are the promises of a ledger."""
PROMISE_FIELDS: Final = frozenset({"to", "will", "deed", "whom", "until"})
"""The details that a codebook of promises has."""
WILL_NOT: Final = "will not"
THIS_ROUND: Final = "this round"
NEXT_ROUND: Final = "next round"
Verdict: TypeAlias = Literal["kept", "broken", "open"]


class LoggedInteraction(NamedTuple):
    """One interaction of the log: the number of its event, its round, who did what to whom."""

    seq: int
    round: int
    who: PlayerId
    action: str
    whom: PlayerId


@dataclass(frozen=True, slots=True)
class Promise:
    """A promise of `by` to `to`, and what became of it.

    It is said at event `seq`. `whom` is `everyone` if the deed may be towards anyone. `verdict_at` is the number of the
    event that keeps or breaks it, or None if only time did. `coders` are those who found it.
    """

    run: str
    seq: int
    round: int
    by: PlayerId
    to: str
    words: str
    will: bool
    deed: str
    whom: str
    until: str
    coders: tuple[str, ...] = ()
    verdict: Verdict = "open"
    verdict_at: int | None = None

    @property
    def what(self) -> str:
        """The promise in words: `will not: voted to eliminate Ben (the end)`, `will: something else (this round)`."""
        whom = "anyone" if self.whom in {EVERYONE, NONE} else self.whom
        deed = "something else" if self.deed in {OTHER, NONE} else f"{self.deed} {whom}"
        until = "" if self.until == NONE else f" ({self.until})"
        return f"{'will' if self.will else 'will not'}: {deed}{until}"


def interactions_in(log: Sequence[LoggedEvent]) -> list[LoggedInteraction]:
    """Return every interaction between two players, in order."""
    found: list[LoggedInteraction] = []
    past = Past()
    for seq, told in enumerate(log, start=1):
        done = (each for each in told.event.interactions(past) if each.who != each.whom)
        found += (LoggedInteraction(seq, told.round, each.who, each.action, each.whom) for each in done)
        past.add(told.event)
    return found


def departures(log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> dict[PlayerId, int]:
    """Return the round in which each player left the game, of those who did."""
    found: dict[PlayerId, int] = {}
    for told in log:
        for player in told.event.eliminated_players(players):
            found.setdefault(player, told.round)
    return found


def ledger_of(files: RunFiles, history: History, codebook: str | None = None) -> list[Promise]:
    """Return the promises of a run in the order of the game, or [] if none are coded.

    They are those found by the codebook with this digest, or by any. What a person says of a unit counts before what
    judges say; of several judges more than half must call it a promise. Raises `UsageError` if the run's game is not
    installed.
    """
    found: list[Promise] = []
    for coded in codes_by_codebook(files, PROMISE, PROMISE_FIELDS, codebook):
        found += promises(files.name, history, coded)
    return sorted(found, key=lambda promise: promise.seq)


def promises(run: str, history: History, coded: Sequence[Codes]) -> list[Promise]:
    """Return the promises that these coders found in a run by one codebook, each with what became of it."""
    log = told_events(history, find(history.game))
    interactions, left = interactions_in(log), departures(log, [player.id for player in history.seated])
    last = len(history.rounds) - 1
    found = []
    for unit in units_of(run, history, coded[0].codebook):
        chosen = agreed(coded, unit.anchor, PROMISE)
        if chosen and unit.by is not None:
            promise = _claimed(unit, chosen[0][1].codes, (codes.coder for codes, _ in chosen))
            found.append(with_verdict(promise, interactions, left=left.get(unit.by), last=last))
    return found


def _claimed(unit: Unit, codes: Mapping[str, str], coders: Iterable[str]) -> Promise:
    """Return the promise that coders found in a unit, as long as nothing is known of what followed."""
    assert unit.by is not None, "a promise has a speaker"
    said = {name: codes.get(name, NONE) for name in PROMISE_FIELDS}
    return Promise(
        run=unit.run,
        seq=unit.seq,
        round=unit.round,
        by=unit.by,
        to=said["to"],
        words=unit.words,
        will=said["will"] != WILL_NOT,
        deed=said["deed"],
        whom=said["whom"],
        until=said["until"],
        coders=tuple(coders),
    )


def with_verdict(
    promise: Promise, interactions: Sequence[LoggedInteraction], *, left: int | None, last: int
) -> Promise:
    """Return a promise with what became of it.

    `left` is the round in which its player left the game, or None; `last` is the last round of the game.
    """
    if promise.deed in {OTHER, NONE}:
        return promise
    ends = {THIS_ROUND: promise.round, NEXT_ROUND: promise.round + 1}.get(promise.until)
    mine = [done for done in interactions if done.who == promise.by and done.action == promise.deed]
    occasions = [done for done in mine if done.seq > promise.seq and (ends is None or done.round <= ends)]
    meant = [done for done in occasions if promise.whom in {EVERYONE, NONE, done.whom}]
    if meant:
        return replace(promise, verdict="kept" if promise.will else "broken", verdict_at=meant[0].seq)
    if occasions:
        return replace(promise, verdict="broken" if promise.will else "kept", verdict_at=occasions[-1].seq)
    over = ends is not None and ends < last and (left is None or left > ends)
    return replace(promise, verdict="broken") if promise.will and over else promise
