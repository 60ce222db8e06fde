"""The report of folders of games, by condition and between conditions: its tables, its sentences and its page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from agentsim.analysis.arms import Comparison, arm_panels, comparisons
from agentsim.analysis.conditions import (
    Condition,
    Difference,
    Measured,
    by_condition,
    condition_panels,
    difference_sentence,
    differences,
    measured,
    same_sizes,
)
from agentsim.analysis.finished_games import Games, labelled, read_games, without_branches
from agentsim.analysis.hosts import HostLine, differ, host_lines, host_panel
from agentsim.analysis.in_words import SMALL, p_value
from agentsim.analysis.intervals import Interval
from agentsim.analysis.positions import Ballots, ballot_panel, ballots
from agentsim.analysis.preference import OwnMaker, Relation, own_makers, relations
from agentsim.analysis.standings import Standings, panels, relative, standings, without_host_panels
from agentsim.engine.panel import Cell, DataTable, Frame, Panel
from agentsim.engine.wording import counted
from agentsim.records.history import FINISHED
from agentsim.records.load import RunSummary
from agentsim.records.run_files import MANIFEST
from agentsim.report.markup import money
from agentsim.report.page import GameLink, Served, render_batch
from agentsim.studies.effects import DesignEffects, design_effects, design_panels

MOST_CONDITIONS = 8
"""The most conditions that get a section each. If there are more, the report only compares them."""


@dataclass(frozen=True)
class ReportSection:
    """The games of one game under one condition.

    `above` names the games with too many fallbacks, `kept` are the standings without them. `lost_to_host` names the
    games with a decision lost to a host, `without_host` are the standings without them; both are None if there are no
    such games. `hosts` has the answers by host.
    """

    game: str
    condition: Condition
    table: Standings
    above: tuple[str, ...]
    kept: Standings | None
    lost_to_host: tuple[str, ...]
    without_host: Standings | None
    hosts: tuple[HostLine, ...]
    favours: tuple[OwnMaker, ...]
    relations: tuple[Relation, ...]
    ballots: tuple[Ballots, ...]

    @property
    def name(self) -> str:
        return ", ".join(filter(None, (self.game, self.condition.name)))

    def panels(self) -> list[Panel]:
        """Return the tables and charts of the section."""
        shown = panels(self.table, self.favours, self.relations, self.kept)
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
        yield "calls-and-cost", (self.table.played, {})
        yield "head-to-head", (list(_head_to_head(self.table)), {})
        yield "seats", (self.table.seats, {"p": self.table.seats_p})
        yield "order-of-speaking", (self.table.spoke, {"p": self.table.spoke_p})
        yield "votes-for-the-own-maker", (self.favours, {})
        yield "for-and-against-each-other", (self.relations, {})
        for each in self.ballots:
            yield "position-on-the-ballot", (each.places, {"p": each.p})


@dataclass(frozen=True)
class Kind:
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
        return condition_panels(self.conditions, self.means, self.differences, relative=relative)


@dataclass(frozen=True)
class Compared:
    """The whole comparison. `alone` counts the branches that are in no figure."""

    read: Games
    by: str
    kinds: tuple[Kind, ...]
    arms: tuple[Comparison, ...]
    designs: tuple[DesignEffects, ...]
    alone: int
    planned: frozenset[str]

    @property
    def games(self) -> int:
        return sum(len(each.games) for kind in self.kinds for each in kind.conditions)

    @property
    def whole(self) -> ReportSection | None:
        """The only section, or None if there are several games or conditions."""
        parts = [part for kind in self.kinds for part in kind.parts]
        return parts[0] if len(parts) == 1 and len(self.kinds) == 1 else None

    @property
    def slugs(self) -> set[str]:
        """The names of tables, as `--planned` takes them."""
        parts = (part for kind in self.kinds for part in kind.parts)
        return {slug(panel.title) for part in parts for panel in part.panels()}

    @cached_property
    def panels(self) -> list[tuple[bool, Panel]]:
        """Each table or chart, after whether it was planned. Titles name the game or condition if there are several."""
        found = [("planned conditions", panel) for design in self.designs for panel in design_panels(design)]
        parts = [part for kind in self.kinds for part in kind.parts]
        several = len(self.kinds) > 1
        for kind in self.kinds:
            name = "conditions" if not kind.keys <= self.planned else "planned conditions"
            found += ((name, replace(each, title=f"{each.title} ({kind.game})" if several else each.title))
                      for each in kind.panels())  # fmt: skip
        for part in parts:
            of = part.name if several else part.condition.name
            found += ((slug(each.title), replace(each, title=f"{each.title} ({of})" if of else each.title))
                      for each in part.panels())  # fmt: skip
        found += (("arms", each) for each in arm_panels(self.arms))
        return [(name in {*self.planned, "planned conditions"}, panel) for name, panel in found]

    @cached_property
    def tables(self) -> dict[str, Frame]:
        """Every table in numbers. An interval takes three columns, and game, condition and `planned` lead each row."""
        rows: dict[str, list[dict[str, Cell]]] = {}

        for name, game, condition, found, more in self._figures():
            keys = next((kind.keys for kind in self.kinds if kind.game == game), None)
            planned = name in self.planned
            if name in {"conditions", "differences"} and keys is not None:
                planned = keys <= self.planned
            head = {"game": game, "condition": condition, "planned": planned, **more}
            rows.setdefault(name, []).extend({**head, **dict(_cells(each))} for each in found)
        return {name: _frame(found) for name, found in rows.items()}

    def _figures(self) -> Iterator[tuple[str, str, str, Sequence[Any], dict[str, Cell]]]:
        """Yield for each table its name, the game, the condition, the records, and the cells that all rows share."""
        for kind in self.kinds:
            for part in kind.parts:
                yield from ((name, part.game, part.condition.name, *rest) for name, rest in part.figures())
            for mean in kind.means:
                yield "conditions", kind.game, mean.condition, [mean], {}
            for gap in kind.differences:
                said = difference_sentence(gap)
                yield "differences", kind.game, gap.condition, [gap], {"sentence": said}
        for design in self.designs:
            yield "design", "", "", design.effects, {}
        for each in self.arms:
            for arm in each.arms:
                yield "arms", each.game, "", arm.effects, {"of": each.of, "at": each.at, "arm": arm.arm}

    def sentences(self) -> list[dict[str, Any]]:
        """Return the title, the note (assumptions) and the sentence of each table."""
        return [
            {"title": panel.title, "planned": planned, "note": panel.note, "sentence": panel.sentence}
            for planned, panel in self.panels
            if isinstance(panel, DataTable)
        ]


def slug(title: str) -> str:
    """Return a table's name for `--planned` and files: `Head to head` is `head-to-head`."""
    return "-".join("".join(mark for mark in title.lower() if mark.isalnum() or mark == " ").split())


def compared(
    directories: Sequence[Path],
    *,
    by: str | None = None,
    pool: bool = False,
    max_fallbacks: float = 0.10,
    planned: frozenset[str] = frozenset(),
) -> Compared:
    """Compare the games of some folders. Raises `UsageError` for a folder without a finished game.

    `pool` treats all conditions as one.
    """
    read = read_games(*directories)
    models = {entrant.model for game in read.games for entrant in game.entrants}
    by = by or ("model" if len(models) > 1 else "player")
    games = labelled(without_branches(read.games), by)
    arms = tuple(each for directory in directories for each in comparisons(directory))
    designs = tuple(each for each in map(design_effects, directories) if each is not None)
    kinds = []
    copies = dict(read.copies)
    for name in dict.fromkeys(game.game for game in games):
        own = [game for game in games if game.game == name]
        conditions = by_condition(own, models=by != "model", pool=pool)
        counted = {game.name for each in conditions for game in each.games}
        copies |= {game.name: "a game of another folder" for game in own if game.name not in counted}
        kinds.append(_kind(name, conditions, max_fallbacks))
    alone = 0 if arms else len(read.games) - len(games)
    return Compared(replace(read, copies=copies), by, tuple(kinds), arms, designs, alone, planned)


def _kind(name: str, conditions: Sequence[Condition], max_fallbacks: float) -> Kind:
    shown = conditions if len(conditions) <= MOST_CONDITIONS else ()
    parts = tuple(_part(name, each, max_fallbacks) for each in shown)
    if len(conditions) == 1:
        return Kind(name, tuple(conditions), parts, (), ())
    sized = same_sizes(conditions)
    return Kind(name, tuple(conditions), parts, tuple(measured(sized)), tuple(differences(sized)))


def _part(name: str, condition: Condition, max_fallbacks: float) -> ReportSection:
    games = condition.games
    above = tuple(game.name for game in games if game.fallen > max_fallbacks)
    kept = [game for game in games if game.fallen <= max_fallbacks]
    lost = tuple(game.name for game in games if game.lost_to_host)
    lots, table = (ballots(games, final=final) for final in (False, True)), standings(games)
    return ReportSection(
        game=name,
        condition=condition,
        table=table,
        above=above,
        kept=standings(kept) if above else None,
        lost_to_host=lost,
        without_host=standings([game for game in games if not game.lost_to_host]) if lost else None,
        hosts=host_lines([relative(game) for game in games] if table.relative else games),
        favours=tuple(own_makers(games)),
        relations=tuple(relations(games)),
        ballots=tuple(each for each in lots if each is not None),
    )


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


def fell(part: ReportSection, max_fallbacks: float) -> str:
    """Say how many games of a section have too many fallbacks."""
    return f"{len(part.above)} of {counted(len(part.condition.games), 'game')} with more than {max_fallbacks:.0%}"


def lost_to_hosts(part: ReportSection) -> str:
    """Say how many games of a section lost decisions to a host, and whether there are ratings without them."""
    if not part.lost_to_host:
        return "no game lost a decision to its host: ratings stand once"
    many = f"{len(part.lost_to_host)} of {counted(len(part.condition.games), 'game')}"
    return f"{many} lost decisions to a host: ratings stand with and without these games"


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
    found: Compared,
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
        played.append(run.game.replace("_", " ").title())
        by_model = {} if run.fallback_rates is None else run.fallback_rates.by_model
        share = ", ".join(f"{model} {each.percent}" for model, each in by_model.items())
        if run.fallback_rates is not None and run.fallback_rates.whole.causes:
            share += f"; by cause: {run.fallback_rates.whole.causes_in_words}"
        page = pages.get(run.name)
        games.append(GameLink(run.name, run.status, run.seed, run.first, run.cost_usd, page, share or None))
    finished = sum(game.status in FINISHED for game in games)
    costs = [game.cost_usd for game in games]
    facts = [("Game", ", ".join(dict.fromkeys(played))), ("Games", f"{finished} of {len(games)} finished")]
    for kind in found.kinds:
        if len(kind.conditions) > 1:
            named = "; ".join(f"{each.name} ({len(each.games)})" for each in kind.conditions)
            facts.append((f"Conditions of {kind.game}, not pooled", named))
    if None not in costs and any(costs):
        facts.append(("Cost", money(sum(cost or 0.0 for cost in costs))))
    parts = [part for kind in found.kinds for part in kind.parts]
    fallbacks = [
        ("" if found.whole is part else f"{part.name}: ") + fell(part, max_fallbacks)
        for part in parts
        if any(line.asked for line in part.table.played)
    ]
    if fallbacks:
        facts.append(("Fallbacks", "; ".join(fallbacks)))
    labels = dict.fromkeys(line.label for part in parts for line in part.table.played)
    planned, others = ([panel for was, panel in found.panels if was is wanted] for wanted in (True, False))
    return render_batch(
        others,
        games,
        name=directory.resolve().name,
        facts=facts,
        warning=f"{'; '.join(fallbacks)}: {DECIDED}" if any(part.above for part in parts) else None,
        labels={label: place for place, label in enumerate(labels)},
        css=css,
        served=served,
        planned=planned,
        verdict=verdict(found),
    )


def verdict(found: Compared) -> str | None:
    """Return a sentence on who came first and whether mean ranks differ by more than chance, or None without a test."""
    said = []
    for kind in found.kinds:
        for part in kind.parts:
            if (p := part.table.null_p) is None:
                continue
            first, games = part.table.lines[0], counted(len(part.condition.ranked), "game")
            where = "" if found.whole is part else f"{part.name}: "
            if p < SMALL:
                words = f"{where}the mean ranks differ by more than chance, and {first.label} has the best"
            else:
                words = f"{where}no difference in mean rank is shown; that {first.label} has the best may be chance"
            said.append(f"{words} (sign-flip test: {p_value(p)}, {games})")
    text = "; ".join(said)
    return f"{text[:1].upper()}{text[1:]}." if text else None
