"""The report of folders of games, by condition and between conditions: its tables, its sentences and its page."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agentsim.analysis.arms import Comparison, arm_panels, comparisons
from agentsim.analysis.beliefs import BeliefLine, Bin, belief_lines, reliability_bins
from agentsim.analysis.conditions import (
    Condition,
    Difference,
    Measured,
    by_condition,
    differences,
    measured,
    same_sizes,
)
from agentsim.analysis.estimate_text import SMALL, p_value
from agentsim.analysis.finished_games import (
    RANK,
    WIN,
    Games,
    OnHistory,
    counts_by_label,
    labelled,
    read_games,
    without_branches,
)
from agentsim.analysis.hosts import HostLine, differ, host_lines
from agentsim.analysis.intervals import Interval
from agentsim.analysis.positions import Ballots, ballots
from agentsim.analysis.preference import OwnMaker, Relation, own_makers, relations
from agentsim.analysis.said_and_done import promise_lines
from agentsim.analysis.standings import Standings, relative, standings
from agentsim.engine.panel import Cell, DataTable, Frame, Panel
from agentsim.engine.wording import by_count, counted, few, listed, sentence
from agentsim.errors import UsageError, needed_by
from agentsim.games import score_words
from agentsim.records.folders import design_cells
from agentsim.records.formats import Tables
from agentsim.records.history import FINISHED
from agentsim.records.load import RunSummary
from agentsim.records.run_files import CODES, MANIFEST
from agentsim.report import paper
from agentsim.report.markup import money
from agentsim.report.page import GameLink, Served, game_title, render_batch
from agentsim.scenario.validation import nearest
from agentsim.studies.effects import DesignEffects, all_effects, design_effects, design_panels
from agentsim.studies.report_tables import (
    ballot_panel,
    belief_panels,
    condition_panels,
    cost_panel,
    difference_sentence,
    equal_rank,
    host_panel,
    panels,
    score_panel,
    without_host_panels,
)

if TYPE_CHECKING:
    import pandas as pd

    from agentsim.studies.coding import Coding

MAIN = frozenset(
    {"standings", "mean-rank", "mean-relative-rank", "scores", "beliefs", "calibration-of-beliefs", "calls-and-cost"}
)
"""The tables and charts of a game that a report shows first, by `slug`."""
MOST_CONDITIONS = 8
"""The most conditions that get a section each. If there are more, the report only compares them."""
MOST_NAMED = 12
"""The most models and scenario files that the header of a page names."""


@dataclass(frozen=True)
class ReportSection:
    """The games of one game under one condition.

    `above` names the games with too many fallbacks, `few_fallbacks` are the standings without them. `lost_to_host`
    names the games with a decision lost to a host, `without_host` are the standings without them; both are None if
    there are no such games. `hosts` has the answers by host.
    """

    game: str
    condition: Condition
    table: Standings
    above: tuple[str, ...]
    few_fallbacks: Standings | None
    lost_to_host: tuple[str, ...]
    without_host: Standings | None
    hosts: tuple[HostLine, ...]
    favours: tuple[OwnMaker, ...]
    relations: tuple[Relation, ...]
    ballots: tuple[Ballots, ...]
    scores: tuple[Measured, ...]
    beliefs: tuple[BeliefLine, ...]
    reliability: tuple[Bin, ...]

    @property
    def name(self) -> str:
        return ", ".join(filter(None, (self.game, self.condition.name)))

    def panels(self) -> list[Panel]:
        """Return the tables and charts of the section."""
        shown = panels(self.table, self.favours, self.relations, self.few_fallbacks)
        if self.scores:
            shown.insert(-1, score_panel(self.scores, score_words(self.game)))
        if self.beliefs:
            shown[-1:-1] = belief_panels(self.beliefs, self.reliability)
        if self.without_host is not None:
            shown.extend(without_host_panels(self.without_host, len(self.lost_to_host)))
        if differ(self.hosts):
            shown.append(host_panel(self.hosts, relative=self.table.relative))
        return [*shown, ballot_panel(self.ballots)] if self.ballots else shown

    def figures(self) -> Iterator[tuple[str, tuple[Sequence[Any], dict[str, Cell]]]]:
        """Yield the same tables as records, each with its name and the cells that all its rows share."""
        yield "standings", (self.table.lines, {})
        if self.without_host is not None:
            yield "standings-without-games-lost-to-hosts", (self.without_host.lines, {})
        yield "results-by-host", (self.hosts, {})
        yield "scores", (self.scores, {})
        yield "beliefs", (self.beliefs, {})
        yield "reliability", (self.reliability, {})
        yield "calls-and-cost", (self.table.played, {})
        yield "head-to-head", (list(_head_to_head(self.table)), {})
        yield "seats", (self.table.seats, {"p": self.table.seats_p})
        yield "order-of-speaking", (self.table.turn, {"p": self.table.turn_p})
        yield "votes-for-the-own-maker", (self.favours, {})
        yield "for-and-against-each-other", (self.relations, {})
        for each in self.ballots:
            yield "position-on-the-ballot", (each.positions, {"p": each.p})


@dataclass(frozen=True)
class GameGroup:
    """All games of one game, by condition."""

    game: str
    conditions: tuple[Condition, ...]
    parts: tuple[ReportSection, ...]
    means: tuple[Measured, ...]
    differences: tuple[Difference, ...]

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the settings that vary."""
        return frozenset(self.conditions[0].levels)

    def panels(self) -> list[DataTable]:
        """Return the tables that compare conditions, or none if there is one condition."""
        if len(self.conditions) < 2:
            return []
        relative = len({len(game.entrants) for each in self.conditions for game in each.ranked}) > 1
        return condition_panels(
            self.conditions, self.means, self.differences, score_words(self.game), relative=relative
        )


_EFFECT = ("effect", "measure", "player", "mean", "low", "high", "low_adj", "high_adj", "blocks", "sd")


class ShownPanel(NamedTuple):
    """A table or chart of a report: whether it was planned, and whether it is shown first or among the rest."""

    planned: bool
    main: bool
    panel: Panel


@dataclass(frozen=True)
class Report:
    """The comparison of all games. `left_out_branches` counts the branches that are in no figure.

    `codings` are what coders said of the games, by codebook. `named` are the tables and settings that the caller names
    as planned, `planned` those and the batches' own.
    """

    read: Games
    by: str
    groups: tuple[GameGroup, ...]
    arms: tuple[Comparison, ...]
    designs: tuple[DesignEffects, ...]
    left_out_branches: int
    named: frozenset[str]
    planned: frozenset[str]
    codings: tuple[Coding, ...] = ()

    def __repr__(self) -> str:
        groups = ", ".join(
            f"{sum(len(each.games) for each in group.conditions)} of {group.game}" for group in self.groups
        )
        return f"<Report of {counted(self.games, 'game')}: {groups}>"

    def __str__(self) -> str:
        """Return the tables that `agentsim report` prints, and the forest plot in characters."""
        return "\n\n".join(filter(None, map(paper.text, self.main)))

    def _repr_html_(self) -> str:
        return paper.html(self.main)

    def to_frame(self) -> pd.DataFrame:
        """Return the effects of a design, or else the standings, as a DataFrame (extra `data`)."""
        frame = self.frames["design" if self.designs else "standings"]
        if not self.designs:
            return Tables({"standings": frame})["standings"]
        rows = [dict(zip(frame.columns, row, strict=True)) for row in frame.rows]
        return Tables({"design": Frame(_EFFECT, tuple(tuple(map(row.get, _EFFECT)) for row in rows))})["design"]

    @cached_property
    def tables(self) -> Tables:
        """Every table in numbers, as DataFrames (extra `data`)."""
        return Tables(self.frames)

    @property
    def main(self) -> list[Panel]:
        """The tables and charts that are shown first."""
        return [each.panel for each in self.panels if each.main]

    @property
    def games(self) -> int:
        return sum(len(each.games) for group in self.groups for each in group.conditions)

    @property
    def whole(self) -> ReportSection | None:
        """The only section, or None if there are several games or conditions."""
        parts = [part for group in self.groups for part in group.parts]
        return parts[0] if len(parts) == 1 and len(self.groups) == 1 else None

    @property
    def slugs(self) -> set[str]:
        """The names of tables, as `--planned` takes them."""
        parts = (part for group in self.groups for part in group.parts)
        return {slug(panel.title) for part in parts for panel in part.panels()}

    @cached_property
    def panels(self) -> list[ShownPanel]:
        """All tables and charts, those of designs first. Titles name the game or condition if there are several."""
        found: list[ShownPanel] = []
        for design in self.designs:
            found += (ShownPanel(design.planned, main=True, panel=panel) for panel in design_panels(design))
        several = len(self.groups) > 1
        for group in self.groups:
            planned, of = group.keys <= self.planned, group.game if several else ""
            main = not self.designs or (group.keys <= self.named and bool(group.keys))
            found += (ShownPanel(planned, main, _titled(panel, of)) for panel in group.panels())
        for group in self.groups:
            only_game = len(group.conditions) == 1 and not self.designs
            for part in group.parts:
                of = part.name if several else part.condition.name
                for panel in part.panels():
                    name = slug(panel.title)
                    shown = name in self.named or (only_game and name in MAIN)
                    found.append(ShownPanel(name in self.planned, shown, _titled(panel, of)))
        found += (ShownPanel(planned=False, main=True, panel=panel) for panel in arm_panels(self.arms))
        for group in self.groups:
            if len(group.conditions) > 1 or self.designs:
                games = [game for each in group.conditions for game in each.games]
                panel = _titled(cost_panel(list(counts_by_label(games).values())), group.game if several else "")
                found.append(ShownPanel(planned=False, main=True, panel=panel))
        for coding in self.codings:
            found += (ShownPanel(planned=False, main=True, panel=panel) for panel in coding.panels)
        for design in self.designs:
            found += (ShownPanel(planned=False, main=False, panel=panel) for panel in all_effects(design))
        return found

    @cached_property
    def frames(self) -> dict[str, Frame]:
        """Every table in numbers. An interval takes three columns, and game, condition and `planned` lead each row."""
        rows: dict[str, list[dict[str, Cell]]] = {}

        for name, game, condition, found, more in self._figures():
            keys = next((group.keys for group in self.groups if group.game == game), None)
            planned = name in self.planned
            if name in {"design", "cells"}:
                planned = all(each.planned for each in self.designs)
            if name in {"conditions", "differences"} and keys is not None:
                planned = keys <= self.planned
            head = {"game": game, "condition": condition, "planned": planned, **more}
            rows.setdefault(name, []).extend({**head, **dict(_cells(each))} for each in found)
        return {name: _frame(found) for name, found in rows.items()}

    def _figures(self) -> Iterator[tuple[str, str, str, Sequence[Any], dict[str, Cell]]]:
        """Yield for each table its name, the game, the condition, the records, and the cells that all rows share."""
        for group in self.groups:
            for part in group.parts:
                yield from ((name, part.game, part.condition.name, *rest) for name, rest in part.figures())
            for mean in group.means:
                yield "conditions", group.game, mean.condition, [mean], {}
            for gap in group.differences:
                said = difference_sentence(gap)
                yield "differences", group.game, gap.condition, [gap], {"sentence": said}
        for design in self.designs:
            yield "design", "", "", design.effects, {}
            for cell in design.cells:
                yield "cells", "", "", [cell], {**cell.levels}
        for coding in self.codings:
            yield "codes", "", "", coding.rates, {"codebook": coding.codebook.name}
            yield "promises", "", "", promise_lines(coding.promising), {"codebook": coding.codebook.name}
            yield "claims", "", "", coding.claim_lines, {"codebook": coding.codebook.name}
        for each in self.arms:
            for arm in each.arms:
                yield "arms", each.game, "", arm.effects, {"of": each.of, "at": each.at, "arm": arm.arm}

    def sentences(self) -> list[dict[str, Any]]:
        """Return the title, the note (assumptions) and the sentence of each table."""
        return [
            {"title": panel.title, "planned": planned, "note": panel.note, "sentence": panel.sentence}
            for planned, _, panel in self.panels
            if isinstance(panel, DataTable)
        ]


def _titled(panel: Panel, of: str) -> Panel:
    return replace(panel, title=f"{panel.title} ({of})") if of else panel


def slug(title: str) -> str:
    """Return a table's name for `--planned` and files: `Head to head` is `head-to-head`."""
    return "-".join("".join(mark for mark in title.lower() if mark.isalnum() or mark == " ").split())


def compared(
    directories: Sequence[Path],
    *,
    by: str | None = None,
    pool: bool = False,
    max_fallbacks: float = 0.10,
    planned: Collection[str] = (),
    measures: Sequence[str] = (),
    on_history: OnHistory | None = None,
) -> Report:
    """Compare the games of some folders.

    `pool` treats all conditions as one. `planned` names tables and settings that were named before the games were
    played, `measures` takes the place of those of a design, and `on_history` is called with each history. Raises
    `UsageError` for a folder without a finished game, and for a name that is not found.
    """
    read = read_games(*directories, on_history=on_history)
    models = {entrant.model for game in read.games for entrant in game.entrants}
    by = by or ("model" if len(models) > 1 else "player")
    games = labelled(without_branches(read.games), by)
    arms = tuple(each for directory in directories for each in comparisons(directory))
    records = read.games if len(directories) == 1 else ()  # games of several folders have other names
    of_designs = (design_effects(directory, measures, records) for directory in directories)
    designs = tuple(each for each in of_designs if each is not None)
    if measures and not designs:
        raise UsageError("--measure: is of the effects of a design, and none of these folders is a design's batch")
    cells = _cells_of(directories, designs, models=by != "model") if len(directories) == 1 else {}
    groups = []
    copies = dict(read.copies)
    for name in dict.fromkeys(game.game for game in games):
        own = [game for game in games if game.game == name]
        conditions = by_condition(own, models=by != "model", pool=pool, cells=cells)
        counted = {game.name for each in conditions for game in each.games}
        copies |= {game.name: "a game of another folder" for game in own if game.name not in counted}
        groups.append(_group(name, conditions, max_fallbacks))
    left_out = 0 if arms else len(read.games) - len(games)
    named = frozenset(planned)
    of_batches = named.union(*map(planned_by_batch, directories))
    coded = tuple(each for directory in directories for each in _codings(directory))
    found = Report(replace(read, copies=copies), by, tuple(groups), arms, designs, left_out, named, of_batches, coded)
    _check_planned(found)
    return found


def _codings(directory: Path) -> list[Coding]:
    if not any(directory.glob(f"*{CODES}")):
        return []
    with needed_by("a report of codes"):  # slow to import, and rarely needed
        from agentsim.studies.coding import codings_in
    return codings_in(directory)


def _cells_of(
    directories: Sequence[Path], designs: Sequence[DesignEffects], *, models: bool
) -> dict[str, dict[str, Cell]]:
    """Return the labels of a design's levels by game and factor, by cell.

    Factors that are models are left out without `models`.
    """
    return {
        game: {
            name: label
            for (key, name), label in zip(design.names.items(), design.labels[int(str(levels["cell"]))], strict=True)
            if models or not key.endswith("model")
        }
        for directory, design in zip(directories, designs, strict=False)
        for game, levels in sorted(design_cells(directory).items(), key=lambda each: int(str(each[1]["cell"])))
    }


def _check_planned(found: Report) -> None:
    known = {*found.frames, *found.slugs, *(key for group in found.groups for key in group.keys)}
    if unknown := sorted(found.named - known):
        hint, _ = nearest(unknown[0], sorted(known))
        raise UsageError(
            f"--planned: {unknown[0]} is neither a table here nor a setting that varies{hint} "
            f"({', '.join(sorted(known))})"
        )


def _group(name: str, conditions: Sequence[Condition], max_fallbacks: float) -> GameGroup:
    shown = conditions if len(conditions) <= MOST_CONDITIONS else ()
    parts = tuple(_part(name, each, max_fallbacks) for each in shown)
    if len(conditions) == 1:
        return GameGroup(name, tuple(conditions), parts, (), ())
    sized = same_sizes(conditions)
    return GameGroup(name, tuple(conditions), parts, tuple(measured(sized)), tuple(differences(sized)))


def _part(name: str, condition: Condition, max_fallbacks: float) -> ReportSection:
    games = condition.games
    above = tuple(game.name for game in games if game.worst_fallback_rate > max_fallbacks)
    below = [game for game in games if game.worst_fallback_rate <= max_fallbacks]
    lost = tuple(game.name for game in games if game.lost_to_host)
    both_kinds, table = (ballots(games, final=final) for final in (False, True)), standings(games)
    return ReportSection(
        game=name,
        condition=condition,
        table=table,
        above=above,
        few_fallbacks=standings(below) if above else None,
        lost_to_host=lost,
        without_host=standings([game for game in games if not game.lost_to_host]) if lost else None,
        hosts=host_lines([relative(game) for game in games] if table.relative else games),
        favours=tuple(own_makers(games)),
        relations=tuple(relations(games)),
        ballots=tuple(each for each in both_kinds if each is not None),
        scores=tuple(_scores(condition, [line.label for line in table.lines])),
        beliefs=tuple(belief_lines(games)),
        reliability=tuple(reliability_bins(games)),
    )


def _scores(condition: Condition, labels: Sequence[str]) -> list[Measured]:
    """Return the means of the game's own scores by label, in the order of the labels."""
    found = [each for each in measured([condition]) if each.label is not None and each.measure not in {RANK, WIN}]
    order = {label: index for index, label in enumerate(labels)}
    return sorted(found, key=lambda each: order.get(each.label or "", len(order)))


@dataclass(frozen=True, slots=True)
class _Pair:
    who: str
    whom: str
    pairs: int
    won: float
    ahead: Interval


def _head_to_head(table: Standings) -> Iterator[_Pair]:
    labels = [line.label for line in table.lines]
    for row, who in enumerate(labels):
        for column, whom in enumerate(labels):
            won, pairs = table.beats[row][column]
            if row != column and pairs:
                yield _Pair(who, whom, pairs, won, table.ahead[row][column] or Interval(won / pairs))


def _cells(each: Any) -> Iterator[tuple[str, Cell]]:
    """Yield the columns of a record: an interval as value, low and high, a tuple numbered from 1."""
    for field in fields(each):
        yield from _cell(field.name, getattr(each, field.name))


def _cell(name: str, value: Any) -> Iterator[tuple[str, Cell]]:
    if isinstance(value, Interval):
        yield from zip((name, f"{name}_low", f"{name}_high"), asdict(value).values(), strict=True)
    elif isinstance(value, tuple):
        for number, inner in enumerate(value, start=1):
            yield from _cell(f"{name}_{number}", inner)
    elif not is_dataclass(value) and not isinstance(value, Mapping):
        yield name, value


def _frame(rows: Sequence[Mapping[str, Cell]]) -> Frame:
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    return Frame(columns, tuple(tuple(map(row.get, columns)) for row in rows))


DECIDED = "decisions by fallbacks say nothing about the players"


def fell(found: Report, max_fallbacks: float) -> str:
    """Say how many games have too many fallbacks, and of which conditions; "" if bots made all decisions."""
    parts = [part for group in found.groups for part in group.parts if any(line.asked for line in part.table.played)]
    if not parts:
        return ""
    above = [f"{len(part.above)} of {part.name}" for part in parts if part.above and found.whole is not part]
    games = counted(sum(len(part.condition.games) for part in parts), "game")
    where = f" ({'; '.join(above)})" if above else ""
    return f"{sum(len(part.above) for part in parts)} of {games} with more than {max_fallbacks:.0%}{where}"


def lost_to_hosts(found: Report) -> str:
    """Say how many games lost decisions to a host; "" if none did."""
    parts = [part for group in found.groups for part in group.parts]
    if not (lost := sum(len(part.lost_to_host) for part in parts)):
        return ""
    games = counted(sum(len(part.condition.games) for part in parts), "game")
    return f"{lost} of {games} lost decisions to a host: --exploratory has standings without these games"


def planned_by_batch(directory: Path) -> list[str]:
    """Return the tables that a batch plans: standings and ratings if several models take turns, else none."""
    try:
        manifest = json.loads((directory / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return []
    models = manifest.get("models") if isinstance(manifest, dict) else None
    return ["standings", "ratings"] if isinstance(models, list) and len(models) > 1 else []


def folder_page(
    directory: Path,
    found: Report,
    runs: Sequence[RunSummary],
    pages: Mapping[str, str],
    *,
    max_fallbacks: float = 0.10,
    css: str = "",
    served: Served | None = None,
) -> str:
    """Return the page of a folder. `pages` has the addresses of the pages of its games, by name of the game."""
    games, played = [], []
    for run in runs:
        played.append(game_title(run.game))
        by_model = {} if run.fallback_rates is None else run.fallback_rates.by_model
        share = ", ".join(f"{model} {each.percent}" for model, each in by_model.items())
        if run.fallback_rates is not None and run.fallback_rates.whole.causes:
            share += f"; by cause: {run.fallback_rates.whole.causes_in_words}"
        page = pages.get(run.name)
        first = run.first if run.winner_model is None else f"{run.first} ({run.winner_model})"
        games.append(GameLink(run.name, run.status, run.seed, first, run.cost_usd, page, share or None))
    finished = sum(game.status in FINISHED for game in games)
    costs = [game.cost_usd for game in games]
    facts = [("Game", ", ".join(dict.fromkeys(played))), ("Games", f"{finished} of {len(games)} finished")]
    facts += _setting_facts(runs)
    facts += (("Design", f"{each.design}; {counted(each.blocks, 'complete block')}") for each in found.designs)
    for group in found.groups:
        if len(group.conditions) > 1 and not found.designs:
            named = "; ".join(f"{each.name} ({len(each.games)})" for each in group.conditions)
            facts.append((f"Conditions of {group.game}, not pooled", named))
    if None not in costs and any(costs):
        facts.append(("Cost", money(sum(cost or 0.0 for cost in costs))))
    parts = [part for group in found.groups for part in group.parts]
    fallbacks = fell(found, max_fallbacks)
    if fallbacks:
        facts.append(("Fallbacks", fallbacks))
    labels = dict.fromkeys(line.label for part in parts for line in part.table.played)
    lead = verdict(found)
    planned = [each.panel for each in found.panels if each.main and each.planned]
    return render_batch(
        [each.panel for each in found.panels if not each.main],
        games,
        name=directory.resolve().name,
        facts=facts,
        warning=f"{fallbacks}: {DECIDED}" if any(part.above for part in parts) else None,
        labels={label: index for index, label in enumerate(labels)},
        css=css,
        served=served,
        planned=[
            replace(each, sentence="") if isinstance(each, DataTable) and each.sentence == lead else each
            for each in planned
        ],
        main=[each.panel for each in found.panels if each.main and not each.planned],
        verdict=lead,
    )


def _setting_facts(runs: Sequence[RunSummary]) -> Iterator[tuple[str, str]]:
    """Yield the models, the dates and the scenario files of some runs, if they are known."""
    if models := dict.fromkeys(model for run in runs for model in run.models):
        yield by_count(len(models), "Model"), few(list(models), MOST_NAMED)
    if days := sorted({run.started_at[:10] for run in runs} - {""}):
        yield "Played", days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    if configs := dict.fromkeys(run.config for run in runs if run.config):
        yield "Config", few(list(configs), MOST_NAMED)


def verdict(found: Report) -> str | None:
    """Return the sentence on a design's effects, or on mean ranks, or None without a test.

    Players who share the best mean rank are all named; without a detectable difference, no player is.
    """
    if found.designs:
        tables = (panel for each in found.designs for panel in design_panels(each)[:1])
        return " ".join(panel.sentence for panel in tables if isinstance(panel, DataTable)) or None
    said = []
    for group in found.groups:
        for part in group.parts:
            if (p := part.table.null_p) is None:
                continue
            games = counted(len(part.condition.ranked), "game")
            where = "" if found.whole is part else f"{part.name}: "
            words = f"{where}mean ranks do not differ detectably"
            if p < SMALL:
                lines = part.table.lines
                best = [line.label for line in lines if equal_rank(line, lines[0])]
                has = "has the best" if len(best) == 1 else "share the best"
                words = f"{where}mean ranks differ by more than chance, and {listed(best)} {has}"
            said.append(f"{words} (sign-flip test: {p_value(p)}, {games})")
    return sentence("; ".join(said)) or None
