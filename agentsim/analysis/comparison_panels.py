"""Tables and plots that compare: arms, messages, factors of a design, conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from agentsim.analysis.arms import ArmEffects, Comparison, PairedEffect
from agentsim.analysis.conditions import Condition, Difference, Measured
from agentsim.analysis.design_effects import DesignEffects, FactorEffect
from agentsim.analysis.finished_games import RANK
from agentsim.analysis.in_words import effect, effects, ends, estimated, written
from agentsim.analysis.inference import FEWEST
from agentsim.analysis.influence import ALL, Influence
from agentsim.analysis.paired import FEWEST_SEEN, POWER
from agentsim.engine.panel import Cell, DataTable, Estimate, Estimates, Panel
from agentsim.engine.wording import counted, listed

_DEED = (" (done)", " (received)")
_STUDENT = (
    "Intervals of 95% of the mean of the paired differences (Student's); beside them those that hold for all rows "
    "together{}. They are of this game from this decision on, not of other games."
)


def _paired(each: PairedEffect) -> tuple[Cell, ...]:
    means = (f"{each.control_mean:.2f}", f"{each.arm_mean:.2f}")
    alone = effect(each, "+.2f", each.pairs, "pair")
    return (each.measure, each.player, each.pairs, *means, alone, ends(each.together, "+.2f"))


def _unpaired(many: int) -> str:
    return f" Left out: {many} {'branch' if many == 1 else 'branches'} without a finished partner." if many else ""


def arm_panels(found: Sequence[Comparison]) -> list[DataTable]:
    """A table of each arm of each fork."""
    return [_arm(each, arm) for each in found for arm in each.arms]


def _arm(found: Comparison, arm: ArmEffects) -> DataTable:
    changed = f" ({arm.changed})" if arm.changed not in {"", arm.arm} else ""
    title = f"{found.of} from decision {found.at} on: {arm.arm}{changed} less {found.control}"
    columns: tuple[str, ...] = ("measure", "player", "pairs", found.control, arm.arm, "effect", "all together")
    if found.effect is not None:
        columns += (f"branches for {found.effect:g}",)
    shown = () if arm.identical else _once(arm.effects)
    rows = [(*_paired(each), *(() if found.effect is None else (each.needed,))) for each in shown]
    if arm.identical:
        note = (
            f"{arm.arm} and {found.control} are identical in every one of {counted(arm.pairs, 'pair')}: the same "
            "decisions, events and ranks. What the arm changes did nothing."
        )
        same = f"From decision {found.at} of {found.of} on, {arm.arm} changed nothing in {counted(arm.pairs, 'pair')}."
        return DataTable(title, columns, (), note, sentence=same)
    note = (
        "Branch k less branch k of the control, which has the same chance; below 0 a rank is better. "
        f"{_STUDENT.format(' (the greatest |t|)')}{_unpaired(arm.unpaired)}"
    )
    if found.effect is not None:
        note += (
            f" The last column is how many branches an arm needs, and its control as many, for an effect of "
            f"{found.effect:g} to be found with a power of {POWER:.0%}, if the differences spread as they do here."
        )
    if hidden := len(arm.effects) - len(shown) if shown else 0:
        note += f" Not shown: {counted(hidden, 'row')}, the same as another row but for the sign."
    said = _changed(found.of, found.at, arm.arm, _once(arm.effects))
    return DataTable(title, columns, tuple(rows), note, sentence=said)


def _once(found: Sequence[PairedEffect]) -> list[PairedEffect]:
    """The effects without those that are another one under a second name."""
    return [each for each in found if each.same_as is None]


def _changed(run: str, at: int, who: str, found: Sequence[PairedEffect]) -> str:
    rows, where = [(who, each, each.pairs) for each in found], f"From decision {at} of {run} on"
    return effects(rows, where, of=who, unit="pair", more=" of branches with the same chance")


def influence_panels(found: Sequence[Influence]) -> list[DataTable]:
    """Two tables of each message: what each listener did next, and the outcome."""
    return [panel for each in found for panel in _message(each, counted(len(found), "message"))]


def _message(found: Influence, messages: str) -> Iterator[DataTable]:
    message = found.message
    title = f"{message.of}: {message.kind} of {message.speaker} (decision {message.at}), said less {message.swap}"
    both = ("pairs", message.swap, "said", "effect", "all together")
    if found.identical:
        same = f"All that followed is the same in every one of {counted(found.pairs, 'pair')}: the message did nothing."
        yield DataTable(title, ("next", "listener", *both), (), same)
        return
    note = (
        f"What was said less {message.swap}, branch k less branch k with the same chance. Shares are of all branches, "
        f"and 0 where a listener does no such thing again; {ALL} is the mean of the listeners who did it in any "
        f"branch. {_STUDENT.format(f', of {messages}')}{_unpaired(found.unpaired)}"
    )
    once = list(map(_once, (found.listeners, found.outcome)))
    shown = [[each for each in part if each.mean or each.sd] for part in once]
    if hidden := len(found.listeners) + len(found.outcome) - sum(map(len, shown)):
        note += f" Not shown: {counted(hidden, 'row')}, the same in all pairs or as another row but for the sign."
    what = f"what {message.speaker} said (less {message.swap})"
    said = _changed(message.of, message.at, what, (*once[0], *once[1]))
    did = tuple(map(_paired, shown[0]))
    yield DataTable(f"{title}: what listeners did next", ("next", "listener", *both), did, sentence=said)
    yield DataTable(f"{title}: the outcome", ("measure", "player", *both), tuple(map(_paired, shown[1])), note)


def design_panels(found: DesignEffects | None) -> list[Panel]:
    """A table of each effect, and a plot of each of its measures; a deed stands in the table alone."""
    if found is None:
        return []
    shown: list[Panel] = []
    for factors, group in groupby(found.effects, key=lambda each: each.factors):
        name, own = " x ".join(factors), list(group)
        note = _intervals(found) if shown else _design_note(found)
        shown.append(_factor(name, own, note, FEWEST_SEEN if found.anytime else FEWEST))
        plotted = dict.fromkeys(each.measure for each in own if not each.measure.endswith(_DEED))
        shown += [_plot(name, measure, [each for each in own if each.measure == measure], found) for measure in plotted]
    return shown


def _factor(name: str, own: Sequence[FactorEffect], note: str, fewest: int) -> DataTable:
    several = len({each.effect for each in own}) > 1
    rows = []
    for each in own:
        alone = effect(replace(each, mean=round(each.mean, 3)), "+.3f", each.blocks, "block", fewest)
        rows.append((each.measure, each.player, each.blocks, alone, ends(each.together, "+.3f")))
    columns = ("measure", "player", "blocks", "effect", "all together")
    whole = name if several else own[0].effect
    known = [(each.effect, each, each.blocks) for each in own]
    said = effects(known, "In these games", of=whole, unit="block", fewest=fewest)
    if not several:
        return DataTable(f"Effect of {whole}", columns, tuple(rows), note, sentence=said)
    named = tuple((each.effect, *row) for each, row in zip(own, rows, strict=True))
    return DataTable(f"Effect of {name}", ("", *columns), named, note, sentence=said)


def _plot(name: str, measure: str, own: Sequence[FactorEffect], found: DesignEffects) -> Estimates:
    several = len({each.effect for each in own}) > 1
    rows = tuple(
        Estimate(f"{each.player}, {each.effect}" if several else each.player, each.mean, each.low, each.high)
        for each in own
    )
    effect = name if several else own[0].effect
    return Estimates(f"{measure}: {effect}", rows, f"effect on {measure}", _intervals(found))


def _intervals(found: DesignEffects) -> str:
    if found.anytime:
        return (
            "Intervals of 95% that hold at all times together (a confidence sequence, asymptotic: for many blocks "
            "without a long tail on one side), since the batch was to end at a width; they are wider than Student's."
        )
    return (
        "Intervals of 95% of the mean of the blocks (Student's), for one look: a batch that grows after a look needs "
        "--until-width."
    )


def _design_note(found: DesignEffects) -> str:
    beside = "Bonferroni's" if found.anytime else "the greatest |t|"
    left_out = f" Left out: {counted(found.incomplete, 'block')} without all games." if found.incomplete else ""
    if found.unseen:
        left_out += f" In no game, or the same in all: {listed(found.unseen)}."
    return (
        f"Planned; {found.design}. The games of a block have one seed and one seating, one for each cell; an effect is "
        f"a difference within blocks, averaged over them; below 0 a rank is better. {_intervals(found)} Beside them "
        f"those that hold for all effects of the design together ({beside}).{left_out}"
    )


_ALL = "all"
_RELATIVE = {RANK: f"relative {RANK}"}


def condition_panels(
    conditions: Sequence[Condition], means: Sequence[Measured], found: Sequence[Difference], *, relative: bool
) -> list[DataTable]:
    """Every measure by label and condition, then the differences from the first condition."""
    if relative:
        means = [replace(each, measure=_RELATIVE.get(each.measure, each.measure)) for each in means]
        found = [replace(each, measure=_RELATIVE.get(each.measure, each.measure)) for each in found]
    names = [each.name for each in conditions]
    cells: dict[tuple[str, str | None], dict[str, str]] = {}
    for mean in means:
        shown = f"{written(mean.mean, '.2f')}, {counted(mean.games, 'game')}"
        cells.setdefault((mean.measure, mean.label), {})[mean.condition] = shown
    rows = [(measure, label or _ALL, *map(own.get, names)) for (measure, label), own in cells.items()]
    note = (
        "Each cell is a mean, its interval of 95% (bootstrap: games are drawn again, those of one seed together) where "
        "there are games enough, and how many games it is of. Below, each condition less the first."
    )
    if relative:
        note += " Tables differ in size: a relative rank is 0 for the first and 1 for the last."
    said = "; ".join(
        f"under {each.condition} {estimated(each.mean, '.2f', each.games, counted(each.games, 'game'))}"
        for each in means
        if (each.measure, each.label) == (means[0].measure, means[0].label)
    )
    sentence = f"The mean {means[0].measure} of {means[0].label or _ALL} was, {said}."
    compared = DataTable("Conditions", ("measure", "of", *names), tuple(rows), note, sentence=sentence)
    return [compared, *(_differences(name, names[0], [each for each in found if each.condition == name])
                        for name in names[1:])]  # fmt: skip


def _differences(name: str, less: str, found: Sequence[Difference]) -> DataTable:
    rows: list[tuple[Cell, ...]] = []
    for each in found:
        both = ends(each.together, "+.2f")
        games = f"{each.games[0]}, {each.games[1]}"
        rows.append((each.measure, each.label or _ALL, games, written(each.difference, "+.2f"), both))
    note = (
        "Means under the one less those under the other; below 0 a rank is better. Intervals of 95% take games of one "
        "seed together, of both conditions: alone, and so wide that all rows hold at once. Games of other seeds are "
        "taken to be independent, and games to differ in nothing else than the condition."
    )
    title = f"Conditions: {name} less {less}"
    columns = ("measure", "of", "games of each", "difference", "all together")
    return DataTable(title, columns, tuple(rows), note, sentence=_verdict(found))


def difference_sentence(each: Difference, of: str = "95% interval") -> str:
    """`The difference in the mean rank of A between on=true and on=false was -0.40 (95% interval -0.90 to ...).`."""
    whose = f"the mean {each.measure} of {each.label or 'all'}"
    many = f"{each.games[0]} and {counted(each.games[1], 'game')}"
    gap = estimated(each.difference, "+.2f", min(each.games), many, of)
    return f"The difference in {whose} between {each.condition} and {each.less} was {gap}."


def _verdict(found: Sequence[Difference]) -> str:
    """How many differences can be told from none, and the clearest of them."""
    known = [each for each in found if each.difference.low is not None]
    if found and not any(each.difference.value for each in found):
        return f"Every mean is the same under {found[0].condition} and {found[0].less}."
    if not known:
        return ""
    apart = [each for each in known if each.together.leaves_out(0)]
    if not apart:
        alone = sum(each.difference.leaves_out(0) for each in known)
        return (
            f"None of {counted(len(known), 'difference')} can be told from 0 by 95% intervals that hold for all "
            f"together; by its own interval {alone} can."
        )
    clearest = max(apart, key=lambda each: abs(each.difference.value) / max(1e-12, each.together.width))
    together = difference_sentence(replace(clearest, difference=clearest.together), "95% interval for all together")
    return f"Of {counted(len(known), 'difference')} {len(apart)} can be told from 0 all together. {together}"
