"""Tables that compare: conditions with each other, positions on ballots, and several games."""

from __future__ import annotations

from collections.abc import Sequence

from agentsim.analysis.across import Across
from agentsim.analysis.conditions import Condition, Difference, Measured
from agentsim.analysis.positions import Ballots
from agentsim.analysis.sentences import ends, estimated, p_value, written
from agentsim.engine.panel import Cell, DataTable, Estimate, Estimates, Panel
from agentsim.engine.wording import counted, listed

_ALL = "all"


def condition_panels(
    conditions: Sequence[Condition], means: Sequence[Measured], found: Sequence[Difference], *, relative: bool
) -> list[DataTable]:
    """Every measure by label and condition, then the differences from the first condition."""
    names = [each.name for each in conditions]
    cells: dict[tuple[str, str | None], dict[str, str]] = {}
    for mean in means:
        shown = f"{written(mean.mean, '.2f')}, {mean.games}"
        cells.setdefault((mean.measure, mean.label), {})[mean.condition] = shown
    rows = [(measure, label or _ALL, *map(own.get, names)) for (measure, label), own in cells.items()]
    note = (
        "Mean, interval of 95% by drawing games again (those of one seed together), number of games. Below, each "
        "condition less the first."
    )
    if relative:
        note += " Tables differ in size, so ranks are relative: 0 for the first, 1 for the last."
    said = "; ".join(
        f"under {each.condition} {estimated(each.mean, '.2f', counted(each.games, 'game'))}"
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


def difference_sentence(each: Difference) -> str:
    """`With on=true, the mean rank of A was 0.40 lower than with on=false (95% interval -0.90 to +0.10; ...).`."""
    whose = f"the mean {each.measure} of {each.label or 'all'}"
    many = f"{each.games[0]} and {counted(each.games[1], 'game')}"
    gap = estimated(each.difference, "+.2f", many)
    return f"The difference in {whose} between {each.condition} and {each.less} was {gap}."


def _verdict(found: Sequence[Difference]) -> str:
    """How many differences can be told from none, and the clearest of them."""
    known = [each for each in found if each.difference.low is not None]
    if found and not any(each.difference.value for each in found):
        return f"Every mean is the same under {found[0].condition} and {found[0].less}."
    if not known:
        return ""
    alone = [each for each in known if each.difference.leaves_out(0)]
    together = sum(each.together.leaves_out(0) for each in known)
    if not alone:
        return f"None of {counted(len(known), 'difference')} can be told from 0 (intervals of 95%)."
    clearest = max(alone, key=lambda each: abs(each.difference.value) / max(1e-12, each.difference.width))
    counts = (
        f"Of {counted(len(known), 'difference')} {len(alone)} can be told from 0 each alone, {together} all together."
    )
    return f"{counts} {difference_sentence(clearest)}"


def ballot_panel(found: Sequence[Ballots]) -> DataTable:
    """What a position on the ballot is worth, for each kind of vote."""
    rows, tests, said = [], [], []
    for each in found:
        kind = "to win" if each.places[0].final else "to go"
        for at in each.places:
            share = written(at.share, ".0%")
            rows.append((kind, at.position, at.votes, at.chosen, share, f"{at.expected:.0%}"))
        votes = f"{counted(each.votes, 'vote')} in {counted(each.games, 'game')}"
        tests.append(f"votes {kind}: {p_value(each.p)}")
        verdict = "went along with" if each.p <= 0.05 else "was not seen to go along with"
        first = each.places[0]
        whole = estimated(first.share, ".0%", f"{first.expected:.0%} by the lot alone; {votes}")
        said.append(f"Position on the ballot {verdict} votes {kind} ({p_value(each.p)}): the first got {whole}.")
    note = (
        "Ballots whose order chance drew: how many votes went to each position, of those whose ballot had it, beside "
        "what the lot alone gives. Intervals of 95% by games. The tests (permutation) draw the orders again and leave "
        f"the choices as they are; {', '.join(tests)}."
    )
    columns = ("vote", "position", "ballots", "chosen", "share", "by lot")
    return DataTable("Position on the ballot", columns, tuple(rows), note, sentence=" ".join(said))


def across_panels(found: Across) -> list[Panel]:
    """The fit over several games."""
    games = listed([f"{name} ({counted(many, 'game')})" for name, many in found.games.items()])
    rows = tuple(
        (
            *(line.label, written(line.strength, "+.2f"), written(line.elsewhere, "+.2f"), f"{line.best:.0%}"),
            *(written(own, "+.2f") for own in line.by_game),
        )
        for line in found.lines
    )
    note = (
        "Log strengths, with 95% of the posterior, from one fit in which each game has strengths of its own, spread "
        "around those of the label. The mean over these games counts each game alike, however often it was played; the "
        "next column is of games like these. It is taken for granted that these games are a sample of such games, and "
        f"that the spread is the same for all. The spread between games is {written(found.spread, '.2f')}; Kendall's W "
        f"of their orders is {found.w:.2f} (0: nothing in common, 1: the same order; permutation test: "
        f"{p_value(found.w_p)})."
    )
    if found.apart:
        note += f" Not in all games, so without a line: {listed(found.apart)}."
    first = found.lines[0]
    sentence = (
        f"Over {games}, each counting alike, {first.label} has the highest mean log strength: "
        f"{estimated(first.strength, '+.2f', of='95% of the posterior')}; the games' orders agree with W = "
        f"{found.w:.2f} ({p_value(found.w_p)})."
    )
    columns = ("", "mean of these games", "games like these", "strongest", *found.games)
    chart = tuple(Estimate(e.label, e.strength.value, e.strength.low, e.strength.high) for e in found.lines)
    return [
        DataTable("Across games", columns, rows, note, sentence=sentence),
        Estimates("Strength across games", chart, "mean log strength", f"95% of the posterior; {games}."),
    ]
