"""`agentsim report`: compares the players of many games."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentsim.cli import options as o

if TYPE_CHECKING:
    from agentsim.analysis.game_records import GameRecord, Games
    from agentsim.analysis.standings import Standing
    from agentsim.engine.panel import Panel

__all__ = ["Compared", "report"]


_WIDEST = 80
"""A cell of a table on the terminal, in characters."""


class Compared(StrEnum):
    """What is compared: models or players."""

    model = "model"
    player = "player"


def report(  # noqa: PLR0917 - the argument and one option each
    source: Annotated[
        str, typer.Argument(metavar="DIR", help="A folder of games: a batch's, or any other in one game.")
    ],
    by: Annotated[
        Compared | None,
        typer.Option("--by", help="Whom to compare; by itself models where there are several.", metavar="model|player"),
    ] = None,
    max_fallbacks: Annotated[
        float,
        typer.Option(
            "--max-fallbacks",
            help="The share of fallbacks in a game above which every rating is given without it as well.",
            min=0,
            max=1,
            metavar="SHARE",
        ),
    ] = 0.10,
    html: Annotated[bool, typer.Option("--html", help="Write DIR/index.html too, with links to games' pages.")] = False,
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Compare the players of many games.

    Ranks, ratings, who beats whom and who was for or against whom, what a seat is worth; branches beside their parents.
    Needs the extra analysis. Games that are not finished are left out, and so are copies (games of bots with the same
    seed, past and luck); both are counted.
    """
    import json
    from dataclasses import asdict

    from agentsim.cli.terminal_output import safe
    from agentsim.engine.wording import counted
    from agentsim.errors import UsageError

    directory = next((path for path in (Path(source), logs_dir / source) if path.is_dir()), Path(source))
    try:
        from agentsim.analysis.findings import relations, shifts, vendor_biases, without_branches
        from agentsim.analysis.standings import standings
    except ImportError:
        raise UsageError("agentsim report needs the extra analysis: pip install 'agentsim[analysis]'") from None
    from agentsim.analysis.game_records import labelled, read_games
    from agentsim.analysis.panels import panels

    found = read_games(directory)
    models = {entrant.model for game in found.games for entrant in game.entrants}
    compared = by or (Compared.model if len(models) > 1 else Compared.player)
    games = labelled(without_branches(found.games), compared)
    table, votes, moved, between = standings(games), vendor_biases(games), shifts(found.games), relations(games)
    above = [game.name for game in games if game.fallen > max_fallbacks]
    kept = standings([game for game in games if game.fallen <= max_fallbacks]) if above else None
    shown = panels(table, votes, moved, between, kept)
    fell = f"{len(above)} of {counted(len(games), 'game')} with more than {max_fallbacks:.0%}"
    warned = f"{fell}: what fallbacks decided says nothing about the players" if above else None
    if html:
        facts = [("Fallbacks", fell)] if any(line.asked for line in table.lines) else []
        _write_page(directory, shown, [line.label for line in table.lines], facts, warned)
    if as_json:
        line = {
            "directory": str(directory),
            "game": games[0].game,
            "games": len(games),
            "left_out": dict(found.skipped),
            "copies": dict(found.copies),
            "by": compared.value,
            **asdict(table),
            "max_fallbacks": max_fallbacks,
            "above": above,
            "kept": None if kept is None else asdict(kept),
            "favours": [asdict(vendor_bias) for vendor_bias in votes],
            "relations": [asdict(relation) for relation in between],
            "branches": [asdict(shift) for shift in moved],
        }
        typer.echo(json.dumps(line, ensure_ascii=True, allow_nan=False))
        return
    _say_what_is_left_out(found, games)
    typer.echo(f"{safe(str(directory))}: {counted(len(games), 'game')} of {games[0].game}, by {compared.value}")
    if any(line.asked for line in table.lines):
        typer.echo(f"warning: fallbacks: {warned}" if warned else f"fallbacks: {fell}")
        _warn_of(table.lines)
    for panel in shown:
        _print(panel)


def _say_what_is_left_out(found: Games, games: Sequence[GameRecord]) -> None:
    from agentsim.cli.terminal_output import note, shortened

    if found.skipped:
        first = next(iter(found.skipped))
        note(shortened(f"agentsim: {len(found.skipped)} left out: {first} {found.skipped[first]}", 300))
    if found.copies:
        name, other = next(iter(found.copies.items()))
        many = f"{len(found.copies)} games of bots are others over again and count once"
        if len(found.copies) == 1:
            many = "1 game of bots is another over again and counts once"
        note(shortened(f"agentsim: {many}: {name} is {other}", 300))
    if apart := [game.parent for game in games if game.parent is not None]:
        whose = f"{len(set(apart))} {'run that is' if len(set(apart)) == 1 else 'runs that are'} not here"
        many = "1 game is a branch" if len(apart) == 1 else f"{len(apart)} games are branches"
        note(shortened(f"agentsim: {many} of {whose} ({apart[0]}): they share a past", 300))


def _warn_of(lines: Sequence[Standing]) -> None:
    """Warn of the compared models or players with many fallbacks."""
    from agentsim.cli.terminal_output import safe, shortened
    from agentsim.history.fallbacks import NOTABLE, Share

    found = {line.label: Share(line.asked, line.fallbacks, line.turned_away) for line in lines}
    notable = {label: share for label, share in found.items() if share.rate > NOTABLE}
    if notable:
        whose = ", ".join(f"{label} {share}" for label, share in sorted(notable.items(), key=lambda e: -e[1].rate))
        typer.echo(safe(shortened(f"warning: fallbacks decided more than {NOTABLE:.0%} of {whose}", 600)))


def _print(panel: Panel) -> None:
    from agentsim.cli.terminal_output import safe, shortened
    from agentsim.engine.panel import DataTable

    if not isinstance(panel, DataTable):
        return  # its numbers stand in a table as well
    cells = [panel.columns, *(tuple("–" if cell is None else str(cell) for cell in row) for row in panel.rows)]
    rows = [[shortened(cell, _WIDEST) for cell in row] for row in cells]  # a name must not begin a line of its own
    widths = [max(len(row[column]) for row in rows) for column in range(len(panel.columns))]
    typer.echo(safe(f"\n{panel.title}"))
    for row in rows:
        first, *rest = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        typer.echo("  ".join((first, *rest)).rstrip())
    if panel.note:
        typer.echo(safe(panel.note))


def _write_page(
    directory: Path,
    panels: Sequence[Panel],
    labels: list[str],
    more: Sequence[tuple[str, str]],
    warning: str | None,
) -> None:
    from agentsim.history.files import write_whole
    from agentsim.history.load import list_runs
    from agentsim.history.record import FINISHED
    from agentsim.report.batch_page import GameLink, render_batch
    from agentsim.report.style import find_css
    from agentsim.report.text import money

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
