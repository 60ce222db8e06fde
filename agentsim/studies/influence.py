"""Influence: the effect of one message, from branches with the message paired with branches without it.

`responses` are what each listener did next, in any game: choices, amounts, and interactions with the speaker. Branch k
of both sides has the same chance, except for what players draw of their own; intervals are `paired`. For shares, a
listener who did no such thing counts as one who did not choose it, so that every pair counts. For amounts, only pairs
count in which both sides have one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from itertools import islice
from typing import Any, TypeAlias, get_args

import numpy as np

from agentsim.analysis.arms import (
    STUDENT,
    PairedEffect,
    change_sentence,
    distinct,
    effects,
    paired_row,
    repeats,
    unpaired_note,
)
from agentsim.analysis.finished_games import MeasureKey, Measures, game_record
from agentsim.analysis.intervals import Array
from agentsim.engine.codec import nodes_at, paths_in
from agentsim.engine.event import NAMED, Interaction, LoggedEvent, Past, PlayerId
from agentsim.engine.options import bare_field
from agentsim.engine.panel import DataTable
from agentsim.engine.request import Request
from agentsim.engine.wording import cleaned, counted
from agentsim.errors import UsageError
from agentsim.games import score_words
from agentsim.lazy import dataclass
from agentsim.records.journal import read_journal
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.runs.fork import BranchJob
from agentsim.runs.game_in_progress import DecidedWave, GameInProgress
from agentsim.runs.player_message import PlayerMessage, Swap, messages
from agentsim.runs.replay import is_over

ALL = "(all)"
"""The label of the mean of the listeners who did such a thing in any branch."""


@dataclass(frozen=True, slots=True)
class BranchResult:
    """One finished branch: the listeners' responses and the outcome by player.

    `rest` holds all decisions and results, to compare the branches of a pair.
    """

    responses: Responses
    results: Mapping[MeasureKey, float]
    rest: object = None


@dataclass(frozen=True, slots=True)
class Swapped:
    """A message of the run `of`: the words of decision `at`, its listeners, and the words `instead` that replace it."""

    of: str
    at: int
    game: str
    speaker: str
    kind: str
    round: int
    words: str
    swap: str
    instead: str
    listeners: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Influence:
    """The effect of a message: the mean of said less swapped, over pairs of branches.

    `listeners` has the effects on what each listener did next, `outcome` those on ranks, wins and scores. The player of
    an `Effect` is the listener. The simultaneous interval (`low_adj`, `high_adj`) covers all effects of both kinds, of
    all messages that were asked about at once. `unpaired` counts branches without a finished partner. `identical` is
    true if in every pair all that followed is the same: the message did nothing.
    """

    message: Swapped
    pairs: int
    unpaired: int
    identical: bool
    listeners: tuple[PairedEffect, ...]
    outcome: tuple[PairedEffect, ...]

    def to_json(self) -> dict[str, Any]:
        """Return what `agentsim influence --json` prints."""
        return asdict(self)


Sides: TypeAlias = tuple[Mapping[int, BranchResult], Mapping[int, BranchResult]]
"""Finished branches by number: those with the message, and those with what replaces it."""


def influences(found: Sequence[tuple[Swapped, Sides]]) -> list[Influence]:
    """Return the effect of each message. The simultaneous intervals cover all messages."""
    paired = [sorted(said.keys() & swapped.keys()) for _, (said, swapped) in found]
    most = max(map(len, paired), default=0)
    columns: list[MeasureKey] = []
    blocks: list[Array] = []
    same: list[str | None] = []
    ends: list[tuple[int, int]] = []  # by message: the number of columns of listeners, and of all columns
    for (message, sides), both in zip(found, paired, strict=True):
        named, values, own = _table(message, [[side[key] for key in both] for side in sides])
        filled = np.full((2, most, len(named)), np.nan)
        filled[:, : len(both)] = values
        known = ~np.isnan(filled[0] - filled[1]).all(axis=0)  # `effects` leaves out the others
        own_columns = [column for column, there in zip(named, known, strict=True) if there]
        columns, same = columns + own_columns, same + repeats(own_columns, values[:, :, known], ALL)
        blocks.append(filled[:, :, known])
        ends.append((int(known[:own].sum()), int(known.sum())))
    made = effects(columns, np.concatenate(blocks, axis=2)) if columns else ()
    each = (replace(one, same_as=other) for one, other in zip(made, same, strict=True))
    return [
        Influence(
            message=message,
            pairs=len(both),
            unpaired=len(said.keys() ^ swapped.keys()),
            identical=bool(both) and all(said[key].rest == swapped[key].rest for key in both),
            listeners=tuple(islice(each, own)),
            outcome=tuple(islice(each, every - own)),
        )
        for (message, (said, swapped)), both, (own, every) in zip(found, paired, ends, strict=True)
    ]


def _table(message: Swapped, sides: Sequence[Sequence[BranchResult]]) -> tuple[list[MeasureKey], Array, int]:
    """Return the columns, their values by side, branch and column, and how many columns are of listeners."""
    branches = [branch for side in sides for branch in side]
    rows = list(_rows(message, [branch.responses for branch in branches]))
    results = list(dict.fromkeys(column for branch in branches for column in branch.results))
    values = [
        [
            [*(row.value(branch.responses) for row in rows), *(branch.results.get(each, np.nan) for each in results)]
            for branch in side
        ]
        for side in sides
    ]
    columns = [row.column for row in rows] + results
    return columns, np.array(values, dtype=np.float64).reshape(2, -1, len(columns)), len(rows)


@dataclass(frozen=True, slots=True)
class _Row:
    """One measure of these listeners: the share that chose a value, or the mean amount if `chosen` is None."""

    what: str
    chosen: str | None
    listeners: tuple[str, ...]

    @property
    def column(self) -> MeasureKey:
        measure = self.what if self.chosen is None else f"{self.what} = {self.chosen}"
        return measure, self.listeners[0] if len(self.listeners) == 1 else ALL

    def value(self, found: Responses) -> float:
        keys = [(self.what, listener) for listener in self.listeners]
        if self.chosen is not None:
            return sum(found.chosen.get(key) == self.chosen for key in keys) / len(keys)
        amounts = [found.amounts[key] for key in keys if key in found.amounts]
        return sum(amounts) / len(amounts) if amounts else np.nan


def _rows(message: Swapped, found: Sequence[Responses]) -> Iterator[_Row]:
    """Yield every measure, first for all listeners who have it and then for each. Choices of the speaker come first."""
    choices = {(what, chosen) for each in found for (what, _), chosen in each.chosen.items() if chosen}
    amounts = {(what, None) for each in found for what, _ in each.amounts}
    did = {key for each in found for key in (*each.chosen, *each.amounts)}
    for what, chosen in (
        *sorted(choices, key=lambda each: (each[0], each[1] != message.speaker, each)),
        *sorted(amounts),
    ):
        who = tuple(listener for listener in message.listeners if (what, listener) in did)
        if len(who) > 1:
            yield _Row(what, chosen, who)
        yield from (_Row(what, chosen, (listener,)) for listener in who)


@dataclass(frozen=True, slots=True)
class Responses:
    """The first responses by (what was done, listener): the value chosen ("" for none), and amounts."""

    chosen: dict[tuple[str, PlayerId], str] = field(default_factory=dict)
    amounts: dict[tuple[str, PlayerId], float] = field(default_factory=dict)


def responses(
    waves: Iterable[DecidedWave],
    log: Sequence[LoggedEvent],
    *,
    heard: int,
    speaker: PlayerId,
    listeners: Sequence[PlayerId],
) -> Responses:
    """Return what listeners did from wave `heard` on, each thing the first time.

    A closed choice counts as the value chosen, true as `yes`, a whole number as an amount. Each is named by its
    request's kind and its path (`action.bid`), or by the kind alone if the path ends in it. Every interaction that
    events declare counts as done to the speaker or not. The first interaction for or against another player counts +1
    or -1 if the speaker is that other player. `log` grows while the waves are played.
    """
    found, begun, known = Responses(), -1, 0
    for each in waves:
        wave = each.wave
        if wave.number < heard:
            known = wave.asks[-1].index
            continue
        begun = len(log) if begun < 0 else begun
        for ask in wave.asks:
            if ask.request.player in listeners:
                for what, value in _response_values(ask.request, each.records[ask.place].decision):
                    into: dict[Any, Any] = found.chosen if isinstance(value, str) else found.amounts
                    into.setdefault((what, ask.request.player), value)
    past, towards = Past(), f"for (+1) or against (-1) {speaker}"
    for index, told in enumerate(log):
        # a decision from before the message may be told after it
        if 0 <= begun <= index and (told.decision is None or told.decision > known):
            acts = [act for act in told.event.interactions(past) if act.whom != act.who and act.action != NAMED]
            for player in listeners:
                _take(found, player, [act for act in acts if act.who == player], speaker, towards)
        past.add(told.event)
    for player in listeners:
        found.amounts.setdefault((towards, player), 0.0)
    return found


def _take(found: Responses, who: PlayerId, acts: Sequence[Interaction], speaker: PlayerId, towards: str) -> None:
    """Record the interactions of one player in one event, as far as it has not done them before."""
    if signs := [(act.whom, act.sign) for act in acts if act.sign]:
        found.amounts.setdefault((towards, who), float(sum(sign for whom, sign in signs if whom == speaker)))
    for action in dict.fromkeys(act.action for act in acts):
        if (action, who) not in found.chosen:
            alike = [act for act in acts if act.action == action]
            found.chosen[action, who] = speaker if any(act.whom == speaker for act in alike) else ""
            if amounts := [act.amount for act in alike if act.amount is not None]:
                found.amounts[f"{action}: amount", who] = float(sum(amounts))


def _response_values(request: Request[Any], decision: Mapping[str, Any]) -> Iterator[tuple[str, str | float]]:
    """Yield the closed choices and whole numbers of a decision, without lists and free text."""
    schema: Mapping[str, Any] = request.schema()
    if bare := bare_field(request.answer, request.checked_options):
        schema = {"properties": {bare: schema}}
    for path, value in paths_in(decision):
        nodes = list(nodes_at(schema, path))
        legal = {each for node in nodes for each in node.get("enum", ())}
        what = request.kind if path[-1] == request.kind else ".".join((request.kind, *map(str, path)))
        if any(isinstance(key, int) for key in path) or not nodes:
            continue
        if len(legal) > 1:
            yield what, "none" if value is None else str(value)
        elif isinstance(value, bool):
            yield what, "yes" if value else ""
        elif isinstance(value, int) and not legal:
            yield what, float(value)


def influence_panels(found: Sequence[Influence]) -> list[DataTable]:
    """Return two tables for each message: what each listener did next, and the outcome."""
    return [panel for each in found for panel in _message(each, counted(len(found), "message"))]


def _message(found: Influence, messages: str) -> Iterator[DataTable]:
    message = found.message
    title = f"{message.of}: {message.kind} of {message.speaker} (decision {message.at}), said vs. {message.swap}"
    both = ("pairs", message.swap, "said", "effect (95% interval)", "simultaneous")
    if found.identical:
        same = f"All that followed is the same in every one of {counted(found.pairs, 'pair')}: the message did nothing."
        yield DataTable(title, ("next", "listener", *both), (), same)
        return
    note = (
        f"What was said vs. {message.swap}, branch k vs. branch k with the same chance. Shares are of all branches, "
        f"and 0 if a listener does no such thing again; {ALL} is the mean of the listeners who did it in any "
        f"branch. {STUDENT.format(f', of {messages}')}{unpaired_note(found.unpaired)}"
    )
    label = score_words(message.game).label
    outcome = [replace(each, measure=label(each.measure)) for each in found.outcome]
    once = list(map(distinct, (found.listeners, outcome)))
    shown = [[each for each in part if each.mean or each.sd] for part in once]
    if hidden := len(found.listeners) + len(found.outcome) - sum(map(len, shown)):
        note += f" Not shown: {counted(hidden, 'row')}, the same in all pairs or as another row but for the sign."
    what = f"what {message.speaker} said (vs. {message.swap})"
    said = change_sentence(message.of, message.at, what, (*once[0], *once[1]))
    did = tuple(map(paired_row, shown[0]))
    yield DataTable(f"{title}: what listeners did next", ("next", "listener", *both), did, sentence=said)
    yield DataTable(f"{title}: the outcome", ("measure", "player", *both), tuple(map(paired_row, shown[1])), note)


@dataclass(frozen=True)
class MessageStudy:
    """The messages to study, each with its other arm, and the number of branches per side."""

    messages: tuple[PlayerMessage, ...]
    branches: int

    @classmethod
    def of(
        cls,
        files: RunFiles,
        at: int,
        *,
        swap: Swap | None = None,
        words: str | None = None,
        each: bool = False,
        branches: int,
    ) -> MessageStudy:
        """Return the study of decision `at`, with the messages of the same kind that `each` adds.

        Raises `UsageError` if the decision says nothing to another player, or is not valid without its words.
        """
        if swap is not None and words is not None:
            raise UsageError("--words: take the place of the message themselves; leave out --swap")
        if swap not in {None, *get_args(Swap)}:
            raise UsageError(f"--swap: there is no {swap!r} (valid: {', '.join(get_args(Swap))})")
        found = messages(files, at, each=each)
        return cls(
            tuple(message.swapped(swap, None if words is None else cleaned(words)) for message in found), branches
        )

    @property
    def jobs(self) -> list[BranchJob]:
        """Every branch, with its files if it exists."""
        return [job for message in self.messages for job in message.jobs(self.branches)]

    def measured(self) -> list[Influence]:
        """Return the effect of each message, by the branches that are finished."""
        found = []
        for message in self.messages:
            sides: tuple[dict[int, BranchResult], dict[int, BranchResult]] = ({}, {})
            for job in message.jobs(self.branches):
                if job.files is None or job.number is None:
                    continue
                if (followed := _followed(message, job.files)) is not None:
                    sides[job.arm == message.arm][job.number] = followed
            swapped = Swapped(
                of=message.parent.files.name,
                at=message.parent.ask.index,
                game=message.parent.game.name,
                speaker=message.parent.ask.request.player,
                kind=message.kind,
                round=message.round,
                words=message.words_of(message.decision),
                swap=message.arm,
                instead=message.words_of(message.instead),
                listeners=message.listeners,
            )
            found.append((swapped, sides))
        return influences(found)


def _followed(message: PlayerMessage, files: RunFiles) -> BranchResult | None:
    """Return what followed from the message in a branch, or None if the branch is not finished."""
    if not is_over(files) or not files.history.is_file():
        return None
    history, at = load_history(files.history), message.parent.ask.index
    if (record := game_record(files.name, history)) is None:
        return None
    contents = read_journal(files.journal)
    played = GameInProgress.of_journal(contents)
    found = responses(
        played.replay(contents),
        played.play.log,
        heard=message.heard,
        speaker=message.parent.ask.request.player,
        listeners=message.listeners,
    )
    results = Measures.of(record).results
    decided = [(each.player, each.kind, each.decision) for each in history.decisions if each.index != at]
    return BranchResult(found, results, (decided, results))
