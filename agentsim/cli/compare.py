"""`agentsim report` and `diff`: compare the players of many games, and two runs with each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from agentsim.cli import options as o
from agentsim.cli.terminal_output import aligned, remark, safe, say_json, shortened
from agentsim.engine.wording import counted
from agentsim.errors import UsageError

if TYPE_CHECKING:
    from agentsim.analysis.game_records import GameRecord, Games
    from agentsim.analysis.standings import Standing
    from agentsim.engine.panel import Panel
    from agentsim.history.load import Divergence, Parted


Compared: TypeAlias = Literal["model", "player"]
_WIDEST = 80
"""A cell of a table on the terminal, in characters."""
_LONGEST = 300
"""A line about where two runs part, in characters."""


def report(  # noqa: PLR0917 - the argument and one option each
    source: Annotated[
        str, typer.Argument(metavar="DIR", help="A folder of games: a batch's, or any other in one game.")
    ],
    by: Annotated[
        Compared | None, o.option("--by", "What to compare; default: models if there are several.", "model|player")
    ] = None,
    max_fallbacks: Annotated[
        float,
        o.option(
            "--max-fallbacks",
            "Ratings are also given without games that have a larger share of fallbacks.",
            "SHARE",
            min=0,
            max=1,
        ),
    ] = 0.10,
    html: Annotated[bool, o.option("--html", "Also write DIR/index.html, with links to the games' pages.")] = False,
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Compare the players of many games.

    Ranks, ratings, who beats whom and who was for or against whom, what a seat is worth; arms of a fork beside their
    control; main effects and interactions of a design.
    Needs the extra analysis. Games that are not finished are left out, and so are copies (games of bots with the same
    seed, past and luck); both are counted.
    """
    directory = next((path for path in (Path(source), logs_dir / source) if path.is_dir()), Path(source))
    try:
        from agentsim.analysis.arm_panels import arm_panels
        from agentsim.analysis.arms import comparisons
        from agentsim.analysis.design_panels import design_panels
        from agentsim.analysis.effects import design_effects
        from agentsim.analysis.findings import relations, without_branches
        from agentsim.analysis.preference import own_makers
        from agentsim.analysis.standings import standings
    except ImportError:
        raise UsageError("agentsim report needs the extra analysis: pip install 'agentsim[analysis]'") from None
    from agentsim.analysis.game_records import labelled, read_games
    from agentsim.analysis.panels import panels

    found = read_games(directory)
    models = {entrant.model for game in found.games for entrant in game.entrants}
    compared = by or ("model" if len(models) > 1 else "player")
    games = labelled(without_branches(found.games), compared)
    table, votes, between = standings(games), own_makers(games), relations(games)
    arms, design = comparisons(directory), design_effects(directory)
    alone = 0 if arms else len(found.games) - len(games)
    above = [game.name for game in games if game.fallen > max_fallbacks]
    kept = standings([game for game in games if game.fallen <= max_fallbacks]) if above else None
    shown = [*design_panels(design), *panels(table, votes, between, kept), *arm_panels(arms)]
    fell = f"{len(above)} of {counted(len(games), 'game')} with more than {max_fallbacks:.0%}"
    warned = f"{fell}: what fallbacks decided says nothing about the players" if above else None
    if html:
        facts = [("Fallbacks", fell)] if any(line.asked for line in table.lines) else []
        _write_page(directory, shown, [line.label for line in table.lines], facts, warned)
    if as_json:
        say_json(
            {
                "directory": str(directory),
                "game": games[0].game,
                "games": len(games),
                "left_out": dict(found.skipped),
                "copies": dict(found.copies),
                "by": compared,
                **asdict(table),
                "max_fallbacks": max_fallbacks,
                "above": above,
                "kept": None if kept is None else asdict(kept),
                "favours": [asdict(each) for each in votes],
                "relations": [asdict(relation) for relation in between],
                "arms": [each.to_json() for each in arms],
                "design": None if design is None else design.to_json(),
            }
        )
        return
    _say_what_is_left_out(found, games)
    if alone:
        many = "1 branch is" if alone == 1 else f"{alone} branches are"
        remark(f"{many} in no figure: `agentsim fork --arm` plays a control beside them")
    typer.echo(f"{safe(str(directory))}: {counted(len(games), 'game')} of {games[0].game}, by {compared}")
    if any(line.asked for line in table.lines):
        typer.echo(f"warning: fallbacks: {warned}" if warned else f"fallbacks: {fell}")
        _warn_of(table.lines)
    for panel in shown:
        print_panel(panel)


def _say_what_is_left_out(found: Games, games: Sequence[GameRecord]) -> None:
    if found.skipped:
        first = next(iter(found.skipped))
        remark(f"{len(found.skipped)} left out: {first} {found.skipped[first]}", 300)
    if found.copies:
        name, other = next(iter(found.copies.items()))
        many = f"{len(found.copies)} games of bots are others over again and count once"
        if len(found.copies) == 1:
            many = "1 game of bots is another over again and counts once"
        remark(f"{many}: {name} is {other}", 300)
    if apart := [game.parent for game in games if game.parent is not None]:
        whose = f"{len(set(apart))} {'run that is' if len(set(apart)) == 1 else 'runs that are'} not here"
        many = "1 game is a branch" if len(apart) == 1 else f"{len(apart)} games are branches"
        remark(f"{many} of {whose} ({apart[0]}): they share a past", 300)


def _warn_of(lines: Sequence[Standing]) -> None:
    """Warn of the compared models or players with many fallbacks."""
    from agentsim.cli.terminal_output import shortened
    from agentsim.history.diagnostics import NOTABLE, Share

    found = {line.label: Share(line.asked, line.fallbacks, line.turned_away) for line in lines}
    notable = {label: share for label, share in found.items() if share.rate > NOTABLE}
    if notable:
        whose = ", ".join(f"{label} {share}" for label, share in sorted(notable.items(), key=lambda e: -e[1].rate))
        typer.echo(shortened(f"warning: fallbacks decided more than {NOTABLE:.0%} of {whose}", 600))


def print_panel(panel: Panel) -> None:
    """Print a table; other panels show what stands in one as well."""
    from agentsim.engine.panel import DataTable

    if not isinstance(panel, DataTable):
        return  # its numbers stand in a table as well
    cells = [panel.columns, *(tuple("–" if cell is None else str(cell) for cell in row) for row in panel.rows)]
    typer.echo(safe(f"\n{panel.title}"))
    for line in aligned([[shortened(cell, _WIDEST) for cell in row] for row in cells]):  # a name begins no line
        typer.echo(line)
    if panel.note:
        typer.echo(safe(panel.note))


def _write_page(
    directory: Path, panels: Sequence[Panel], labels: list[str], more: Sequence[tuple[str, str]], warning: str | None
) -> None:
    from agentsim.history.load import list_runs
    from agentsim.history.record import FINISHED
    from agentsim.history.run_files import write_whole
    from agentsim.report.markup import find_css, money
    from agentsim.report.page import GameLink, render_batch

    games, played = [], []
    for run in list_runs(directory):
        played.append(run.game.replace("_", " ").title())
        page = f"{run.name}.html" if (directory / f"{run.name}.html").is_file() else None
        fallbacks = None if run.shares is None else run.shares.short
        games.append(GameLink(run.name, run.status, run.seed, run.winner, run.cost_usd, page, fallbacks))
    finished = sum(game.status in FINISHED for game in games)
    costs = [game.cost_usd for game in games]
    facts = [("Game", ", ".join(dict.fromkeys(played))), ("Games", f"{finished} of {len(games)} finished")]
    if None not in costs:
        facts.append(("Cost", money(sum(cost or 0.0 for cost in costs))))
    page_text = render_batch(
        panels,
        games,
        name=directory.resolve().name,
        facts=[*facts, *more],
        warning=warning,
        labels={label: place for place, label in enumerate(labels)},
        css=find_css(directory),
    )
    write_whole(directory / "index.html", page_text)


def diff(
    one: Annotated[str, typer.Argument(metavar="A", help="A run's name, or its history file.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Another's.")],
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Show where two runs part and what followed."""
    from agentsim.history.load import divergence, find_source, load_history, require_history
    from agentsim.history.run_files import RunFiles

    histories = []
    for name in (one, other):
        found = find_source(name, logs_dir)
        if isinstance(found, RunFiles):
            require_history(found)
            found = found.history
        histories.append(load_history(found))
    if histories[0].game != histories[1].game:
        raise UsageError(f"{one} is a game of {histories[0].game}, {other} of {histories[1].game}")
    parted = divergence(*histories)
    if as_json:
        line = {"a": one, "b": other, "same": parted.same, **asdict(parted)}
        say_json(line)
        return
    for row in _parting(parted, one, other):
        typer.echo(safe(row))


def _parting(parted: Divergence, one: str, other: str) -> list[str]:
    rows = [
        shortened(f"{player}: {mine or 'no player'} in {one}, {theirs or 'no player'} in {other}", _LONGEST)
        for player, (mine, theirs) in parted.settings.items()
    ]
    if parted.same:
        return [*rows, f"{one} and {other}: the same decisions, events and outcome"]
    rows += _place("decision", parted.decision, one, other)
    rows += _place("event", parted.event, one, other)
    if parted.decision is not None:
        rows.append(
            f"from there on: {parted.decisions_after[0]} decisions in {one}, {parted.decisions_after[1]} in {other}"
        )
    rows.append("ranks:")
    for player, (mine, theirs) in parted.ranks.items():
        moved = "" if mine == theirs else "  <"
        rows.append(f"  {shortened(player, _LONGEST)}: {_rank(mine)} in {one}, {_rank(theirs)} in {other}{moved}")
    return rows


def _place(what: str, parted: Parted | None, one: str, other: str) -> list[str]:
    if parted is None:
        return [f"no {what} differs"]
    rows = [f"the first {what} that differs is number {parted.place}:"]
    for name, side in ((one, parted.one), (other, parted.other)):
        said = "it has ended" if side is None else json.dumps(side, ensure_ascii=False)
        rows.append(f"  {name}: {shortened(said, _LONGEST)}")
    return rows


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
