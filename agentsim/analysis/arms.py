"""Paired comparison of a fork's arms with its control, branch k against branch k.

Branch k of every arm has the same chance, so that a pair differs by what the arm changes and by what players draw of
their own. The run that was forked is in no figure: it is one game, which was chosen, and its branches fall back to the
mean of such games. Intervals are those of `intervals.paired_intervals`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.special import nctdtr, stdtrit

from agentsim.analysis.estimate_text import clearest_effect, effect_cell, ends
from agentsim.analysis.finished_games import MeasureKey, Measures, game_record, histories, tabled
from agentsim.analysis.intervals import FEWEST, UPPER, Array, Effect, estimate_row, paired_intervals
from agentsim.engine.panel import Cell, DataTable, Frame
from agentsim.engine.wording import counted, near
from agentsim.errors import UsageError
from agentsim.games import score_words
from agentsim.lazy import dataclass
from agentsim.records.events import divergence
from agentsim.records.formats import Tables
from agentsim.records.history import CONTROL, Branch, History
from agentsim.records.load import branches_in, load_history
from agentsim.records.run_files import find_run
from agentsim.report import paper

if TYPE_CHECKING:
    import pandas as pd

POWER = 0.8
"""The chance to find an effect that studies are planned for."""
_MOST_BRANCHES = 1_000_000
STUDENT = (
    "Intervals of 95% of the mean of the paired differences (Student's); simultaneous ones hold for all rows{}. They "
    "are of this game from this decision on, not of other games."
)


@dataclass(frozen=True, slots=True)
class PairedEffect(Effect):
    """The effect of an arm on one measure of one player: the mean of arm less control, over pairs of branches.

    `sd` is the standard deviation of the differences, `needed` how many branches an arm needs for an effect of the size
    that was asked about to be found with a power of 80%. `same_as` names an earlier measure that has the same
    values in every branch for all players, or their negatives: one fact under two names. `interaction` is true for a
    count of interactions, false for a result of the outcome: rank, win or a score.
    """

    pairs: int
    control_mean: float
    arm_mean: float
    sd: float | None = None
    needed: int | None = None
    same_as: str | None = None
    interaction: bool = False


@dataclass(frozen=True, slots=True)
class ArmEffects:
    """The effects of one arm: `changed` says what it changes, `unpaired` counts branches without a partner.

    `identical` is true if in every pair the decisions, events and ranks are the same.
    """

    arm: str
    changed: str
    pairs: int
    unpaired: int
    identical: bool
    effects: tuple[PairedEffect, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The arms of the run `of`, forked at decision `at`; `left_out` has by name why branches are left out."""

    of: str
    at: int
    game: str
    control: str
    arms: tuple[ArmEffects, ...]
    left_out: Mapping[str, str]
    effect: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what `agentsim compare --json` prints."""
        return {**asdict(self), "left_out": dict(self.left_out)}

    def filtered(self, measure: str | None = None, player: str | None = None) -> Comparison:
        """Return the comparison with the effects on one measure, one player or both.

        The intervals stay those that hold for all effects together. Raises `UsageError` for a measure or player without
        effects.
        """
        whole = [each for arm in self.arms for each in arm.effects]
        for option, wanted, there in (
            ("--measure", measure, [each.measure for each in whole]),
            ("--player", player, [each.player for each in whole]),
        ):
            if wanted is not None and wanted not in there:
                valid = list(dict.fromkeys(there))
                raise UsageError(
                    f"{option} {wanted}: has no effect here{near(wanted, valid)} (valid: {', '.join(valid)})"
                )
        arms = (
            replace(
                arm,
                effects=tuple(
                    each for each in arm.effects if measure in {None, each.measure} and player in {None, each.player}
                ),
            )
            for arm in self.arms
        )
        return replace(self, arms=tuple(arms))

    def __repr__(self) -> str:
        arms = ", ".join(arm.arm for arm in self.arms)
        return f"<Comparison of {self.of} at {self.at}: {arms} beside {self.control}>"

    def __str__(self) -> str:
        """Return the tables that `agentsim compare` prints."""
        return "\n\n".join(map(paper.text, arm_panels([self])))

    def _repr_html_(self) -> str:
        return paper.html(arm_panels([self]))

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each effect of each arm, as a DataFrame (extra `data`)."""
        rows = [{"arm": arm.arm, **asdict(each)} for arm in self.arms for each in arm.effects]
        columns = ("arm", *(field.name for field in fields(PairedEffect)))
        return Tables({"arms": Frame(columns, tuple(tuple(map(row.get, columns)) for row in rows))})["arms"]


@dataclass(frozen=True, slots=True)
class BranchRecord:
    """One finished branch, with what is measured in it."""

    history: History
    changed: str
    measures: Measures


Arm: TypeAlias = dict[tuple[int, str], BranchRecord]
"""Branches by number and chance."""


@dataclass(frozen=True, slots=True)
class _Folder:
    """The branches in a folder, by the run that was forked and the decision: arms by name, and reasons by name."""

    arms: dict[tuple[str, int], dict[str, Arm]] = field(default_factory=dict)
    left_out: dict[tuple[str, int], dict[str, str]] = field(default_factory=dict)


def comparisons(
    directory: Path, *, of: str | None = None, control: str = CONTROL, effect: float | None = None
) -> list[Comparison]:
    """Return every fork in the folder (or of the run `of`) that has a control and another arm."""
    folder = _read(directory, of)
    found = []
    for (parent, at), arms in sorted(folder.arms.items()):
        others = [name for name in arms if name != control]
        if control in arms and others:
            compared = tuple(_compared(name, arms[name], arms[control], effect) for name in sorted(others))
            game = next(iter(arms[control].values())).history.game
            left_out = folder.left_out.get((parent, at), {})
            found.append(Comparison(parent, at, game, control, compared, left_out, effect))
    return found


def comparison(
    directory: Path, of: str, *, at: int | None = None, control: str = CONTROL, effect: float | None = None
) -> Comparison:
    """Return the arms of one run at one decision.

    Raises `UsageError` if there are none, or if there are several decisions and no `at`.
    """
    if effect is not None and not (math.isfinite(effect) and effect > 0):
        raise UsageError(f"--effect: must be a number above 0, found {effect}")
    found = comparisons(directory, of=of, control=control, effect=effect)
    if at is not None:
        found = [each for each in found if each.at == at]
    if len(found) > 1:
        decisions = ", ".join(str(each.at) for each in found)
        raise UsageError(f"{of}: has arms at several decisions; choose one with --at (valid: {decisions})")
    if not found:
        files = find_run(directory, of)  # raises if there is no such run
        if files.history.is_file():
            load_history(files.history)  # which refuses one of another version, whose branches are not read either
        where = "" if at is None else f" at decision {at}"
        raise UsageError(
            f"{of}: has no finished branches of an arm beside the arm {control}{where}; make them with: "
            f"agentsim fork {of} --at {at or 'N'} --arm ARM --set KEY=VALUE --branches K"
        )
    return found[0]


def _read(directory: Path, of: str | None = None) -> _Folder:
    """Read the numbered branches in the folder, or those of the run `of`."""
    folder, read = _Folder(), dict(_forked(directory, of))
    # named arms first: of two branches with one number and one chance, the one without a name is left out
    for name, (history, fork) in sorted(read.items(), key=lambda each: (each[1][1].arm is None, each[0])):
        point, key = (fork.of, fork.at), (fork.branch or 0, f"{history.seed} {fork.salts}")
        left_out = folder.left_out.setdefault(point, {})
        if (record := game_record(name, history)) is None:
            left_out[name] = f"is not finished ({history.status})"
            continue
        called, changed = _called(fork)
        arm = folder.arms.setdefault(point, {}).setdefault(called, {})
        if key in arm:
            left_out[name] = "has the number and the chance of another branch of its arm"
        else:
            arm[key] = BranchRecord(history, changed, Measures.of(record))
    for files, branch in branches_in(directory):
        if files.name not in read and branch.branch is not None and of in {None, branch.of}:
            folder.left_out.setdefault((branch.of, branch.at), {})[files.name] = "has no history"
    return folder


def _forked(directory: Path, of: str | None) -> Iterator[tuple[str, tuple[History, Branch]]]:
    """Yield by name the history of each numbered branch; files that cannot be read are skipped."""
    for name, history in histories(directory, b'"fork"'):
        fork = None if isinstance(history, UsageError) else history.fork
        if isinstance(history, History) and fork is not None and fork.branch is not None and of in {None, fork.of}:
            yield name, (history, fork)


def _called(fork: Branch) -> tuple[str, str]:
    """Return the arm's name, by default what it changes, and what it changes."""
    instead = [] if fork.instead is None else [", ".join(f"{key}={value}" for key, value in fork.instead.items())]
    changed = ", ".join((*fork.changed, *instead))
    return fork.arm or changed or CONTROL, changed


def _compared(name: str, arm: Arm, control: Arm, effect: float | None) -> ArmEffects:
    both = sorted(arm.keys() & control.keys())
    sides = [[side[key] for key in both] for side in (arm, control)]
    measured, rows = tabled([branch.measures for side in sides for branch in side])
    values = np.array(rows).reshape(2, len(both), len(measured))
    known = ~np.isnan(values[0] - values[1]).all(axis=0)  # `effects` leaves out the others
    columns, values = [column for column, there in zip(measured, known, strict=True) if there], values[:, :, known]
    same = [divergence(one.history, other.history).same for one, other in zip(*sides, strict=True)]
    identical = bool(same) and all(same)
    interactions = {name for side in sides for branch in side for name, _ in branch.measures.actions}
    return ArmEffects(
        arm=name,
        changed=next(iter(arm.values())).changed,
        pairs=len(both),
        unpaired=len(arm.keys() ^ control.keys()),
        identical=identical,
        effects=tuple(
            replace(each, same_as=other, interaction=each.measure in interactions)
            for each, other in zip(
                effects(columns, values, identical=identical, effect=effect), repeats(columns, values), strict=True
            )
        ),
    )


def effects(
    columns: Sequence[MeasureKey], values: Array, *, identical: bool = False, effect: float | None = None
) -> Iterator[PairedEffect]:
    """Yield the effect in each column of `values`: sides (arm, control) by pairs by columns, NaN if unknown.

    A column without a complete pair is skipped.
    """
    differences = values[0] - values[1]
    there = ~np.isnan(differences)
    counts = there.sum(axis=0)
    found = paired_intervals(differences)
    for index, (measure, player) in enumerate(columns):
        if not (number := int(counts[index])):
            continue
        arm_mean, control_mean = values[:, there[:, index], index].mean(axis=1)
        row = estimate_row(found[:, index])
        row = (row[0], 0.0, 0.0, 0.0, 0.0) if identical and number >= FEWEST else row
        sd = float(differences[there[:, index], index].std(ddof=1)) if number > 1 else None
        needed = None if effect is None or not sd else branches_needed(effect, sd)
        means = float(control_mean), float(arm_mean)
        yield PairedEffect(measure, player, *row, number, *means, sd, needed)


def repeats(columns: Sequence[MeasureKey], values: Array, mean: str | None = None) -> list[str | None]:
    """Return for each column the first measure that is the same fact under another name, or None.

    Two measures are one fact if they have the same values, or their negatives, in every branch for all players that
    have either; one that a player lacks is 0. A column of `mean` is a mean of players. One that never varies has None.
    """
    own = {column: values[:, :, index] for index, column in enumerate(columns)}
    nothing = np.zeros(values.shape[:2])
    players: dict[str, set[str]] = {}
    for measure, player in columns:
        players.setdefault(measure, set()).add(player)

    @cache
    def alike(one: str, other: str, who: str | None) -> bool:
        whose = (players[one] | players[other]) - {mean} | ({who} if who else set())
        both = [(own.get((one, each), nothing), own.get((other, each), nothing)) for each in whose]
        return any(all(np.array_equal(a, sign * b, equal_nan=True) for a, b in both) for sign in (1, -1))

    found: list[str | None] = []
    for index, (measure, player) in enumerate(columns):
        tells = np.nan_to_num(own[measure, player][0] - own[measure, player][1]).any()
        earlier = [other for other, whose in columns[:index] if whose == player] if tells else []
        who = player if player == mean else None
        found.append(next((other for other in earlier if alike(other, measure, who)), None))
    return found


def branches_needed(effect: float, sd: float) -> int | None:
    """Return how many branches an arm and its control need for an interval of 95% to exclude 0, with a power of 80%.

    `sd` is the standard deviation of the paired differences. At least five, since fewer have no interval. None if the
    effect is smaller than 1e-5 of `sd`.
    """

    def enough(number: int) -> bool:
        edge, shift = stdtrit(number - 1, UPPER), min(effect / sd * math.sqrt(number), 100.0)
        # the other side by symmetry: far from 0 scipy's cdf has no number for some degrees of freedom
        return bool(
            2 - nctdtr(number - 1, shift, edge) - np.nan_to_num(nctdtr(number - 1, -shift, edge), nan=1.0) >= POWER
        )

    if sd / effect > 1e5:
        return None
    needed = (1.959964 + 0.841621) ** 2 * (sd / effect) ** 2
    if needed > _MOST_BRANCHES:  # Student's distribution is the normal one there
        return math.ceil(needed)
    return fewest(enough, FEWEST - 1, 2 * _MOST_BRANCHES)


def fewest(enough: Callable[[int], bool], low: int, most: int) -> int | None:
    """Return the smallest number above `low` that is enough, if all larger ones are; None if `most` is not."""
    high = low + 1
    while not enough(high):
        low, high = high, 2 * high
        if high > most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def paired_row(each: PairedEffect) -> tuple[Cell, ...]:
    means = (f"{each.control_mean:.2f}", f"{each.arm_mean:.2f}")
    alone = effect_cell(each, "+.2f", each.pairs, "pair")
    return (each.measure, each.player, each.pairs, *means, alone, ends(each.simultaneous, "+.2f"))


def unpaired_note(many: int) -> str:
    return f" Left out: {counted(many, 'branch')} without a finished partner." if many else ""


def arm_panels(found: Sequence[Comparison], *, every_measure: bool = False) -> list[DataTable]:
    """Return the table of each arm: rank, win and scores, or also the interactions with `every_measure`."""
    return [_arm(each, arm, every_measure) for each in found for arm in each.arms]


def _arm(found: Comparison, arm: ArmEffects, every_measure: bool) -> DataTable:
    changed = f" ({arm.changed})" if arm.changed not in {"", arm.arm} else ""
    title = f"{found.of} from decision {found.at} on: {arm.arm}{changed} vs. {found.control}"
    columns: tuple[str, ...] = (
        "measure",
        "player",
        "pairs",
        found.control,
        arm.arm,
        "effect (95% interval)",
        "simultaneous",
    )
    if found.effect is not None:
        columns += (f"branches for {found.effect:g}",)
    label = score_words(found.game).label
    once = [replace(each, measure=label(each.measure)) for each in distinct(arm.effects)]
    shown = () if arm.identical else [each for each in once if every_measure or not each.interaction] or once
    rows = [(*paired_row(each), *(() if found.effect is None else (each.needed,))) for each in shown]
    if arm.identical:
        note = (
            f"{arm.arm} and {found.control} are identical in every one of {counted(arm.pairs, 'pair')}: the same "
            "decisions, events and ranks. What the arm changes did nothing."
        )
        same = f"From decision {found.at} of {found.of} on, {arm.arm} changed nothing in {counted(arm.pairs, 'pair')}."
        return DataTable(title, columns, (), note, sentence=same)
    note = (
        "Branch k of the arm vs. branch k of the control, which has the same chance; below 0 a rank is better. "
        f"{STUDENT.format(' (the greatest |t|)')}{unpaired_note(arm.unpaired)}"
    )
    if found.effect is not None:
        note += (
            f" The last column is how many branches an arm needs, and its control as many, for an effect of "
            f"{found.effect:g} to be found with a power of {POWER:.0%}, if the differences spread as they do here."
        )
    if others := len(once) - len(shown):
        note += f" Not shown: {counted(others, 'effect')} on interactions (`agentsim compare {found.of} --all`)."
    if hidden := len(arm.effects) - len(once):
        note += f" Not shown: {counted(hidden, 'row')}, the same as another row but for the sign."
    said = change_sentence(found.of, found.at, arm.arm, shown)
    return DataTable(title, columns, tuple(rows), note, sentence=said)


def distinct(found: Sequence[PairedEffect]) -> list[PairedEffect]:
    """Return the effects without those that repeat another one under a second name."""
    return [each for each in found if each.same_as is None]


def change_sentence(run: str, at: int, who: str, found: Sequence[PairedEffect]) -> str:
    rows, where = [(who, each, each.pairs) for each in found], f"From decision {at} of {run} on"
    return clearest_effect(rows, where, of=who, unit="pair", more=" of branches with the same chance")
