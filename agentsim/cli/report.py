"""`agentsim report`: compares the players of many games, in the terminal, as JSON, as CSV or on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from agentsim.cli import shared_options as o
from agentsim.cli.terminal_output import note, print_panel, remark, safe, say, say_json, shortened, some_left_out
from agentsim.engine.wording import counted, few
from agentsim.errors import UsageError, needed_by

if TYPE_CHECKING:
    from agentsim.analysis.finished_games import Games, LabelCounts
    from agentsim.studies.folder_report import Compared, ReportSection


By: TypeAlias = Literal["model", "player"]
ReportFormat: TypeAlias = Literal["csv", "json"]


def report(  # noqa: PLR0917 - the argument and one option each
    sources: Annotated[
        list[str], typer.Argument(metavar="DIR", help="Folders of games: a batch's, or any other; of any games.")
    ],
    by: Annotated[
        By | None, o.option("--by", "What to compare; default: models if there are several.", "model|player")
    ] = None,
    pool: Annotated[bool, o.option("--pool", "Take all games of a game together, whatever their conditions.")] = False,
    planned: Annotated[
        list[str] | None,
        o.option(
            "--planned",
            "A table (standings, seats, ...) or a setting that varies, which was named before the games were played; "
            "repeatable.",
            "KEY",
        ),
    ] = None,
    max_fallbacks: Annotated[
        float,
        o.option(
            "--max-fallbacks",
            "Also give ratings without games that have a larger share of fallbacks.",
            "SHARE",
            min=0,
            max=1,
        ),
    ] = 0.10,
    file_format: Annotated[
        ReportFormat | None, o.option("--format", "Print all tables as data instead.", "csv|json")
    ] = None,
    out: Annotated[
        Path | None, o.option("--out", "With --format csv: a folder for a file of each table.", "FOLDER")
    ] = None,
    html: Annotated[
        bool, o.option("--html", "Also write DIR/index.html, and the pages of the games that it links to.")
    ] = False,
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Compare the players of many games.

    Ranks, ratings, who beats whom and who was for or against whom, what a seat is worth; arms of a fork beside their
    control; main effects and interactions of a design. Games whose scenarios differ in more than seed, name and who
    sits where are conditions: each has its tables, and one compares them. Several games have tables each.
    Needs the extra analysis. Games that are not finished are left out, and so are copies (games of bots with the same
    seed, past and luck); both are counted.
    """
    if out is not None and file_format != "csv":
        raise UsageError("--out: needs --format csv")
    directories = [
        next((path for path in (Path(name), logs_dir / name) if path.is_dir()), Path(name)) for name in sources
    ]
    with needed_by("report"):
        from agentsim.studies.folder_report import compared, planned_by_batch

    wanted = frozenset({*(planned or ()), *(name for path in directories for name in planned_by_batch(path))})
    found = compared(directories, by=by, pool=pool, max_fallbacks=max_fallbacks, planned=wanted)
    _check_planned(found, planned or ())
    if html:
        note(f"page: {write_page(directories[0], found, max_fallbacks)}")
    if as_json or file_format == "json":
        say_json(_as_json(directories, found, max_fallbacks))
    elif file_format == "csv":
        _write_csv(found, out)
    else:
        _say(directories, found, max_fallbacks)


def _check_planned(found: Compared, planned: Sequence[str]) -> None:
    known = {*found.tables, *found.slugs, *(key for kind in found.kinds for key in kind.keys)}
    if unknown := [name for name in planned if name not in known]:
        raise UsageError(
            f"--planned: {unknown[0]} is neither a table here nor a setting that varies ({', '.join(sorted(known))})"
        )


def _say(directories: Sequence[Path], found: Compared, max_fallbacks: float) -> None:
    from agentsim.report.page import EXPLORATORY

    _say_what_is_left_out(found)
    where = ", ".join(map(str, directories))
    games = [_of(kind.game, [(each.name, len(each.games)) for each in kind.conditions]) for kind in found.kinds]
    typer.echo(safe(f"{where}: {'; '.join(games)}, by {found.by}"))
    for kind in found.kinds:
        for part in kind.parts:
            _say_fallbacks(part, max_fallbacks, alone=found.whole is part)
    headed = any(wanted for wanted, _ in found.panels)
    for wanted in (True, False) if headed else (False,):
        if headed:
            typer.echo("\nPlanned comparisons" if wanted else "\nExploratory comparisons")
        if not wanted:
            say(EXPLORATORY)
        for panel in (panel for was, panel in found.panels if was is wanted):
            print_panel(panel)


def _of(game: str, conditions: Sequence[tuple[str, int]]) -> str:
    """Describe the games: `14 games of auction in 2 conditions: sidebars=false (7), sidebars=true (7)`."""
    games = f"{counted(sum(many for _, many in conditions), 'game')} of {game}"
    if len(conditions) < 2:
        return games
    named = few([f"{name} ({many})" for name, many in conditions], 4)
    return f"{games} in {len(conditions)} conditions, not pooled: {named}"


def _say_fallbacks(part: ReportSection, max_fallbacks: float, *, alone: bool) -> None:
    if not any(line.asked for line in part.table.played):
        return
    from agentsim.studies.folder_report import DECIDED, fell, lost_to_hosts

    where, said = "" if alone else f" ({part.name})", fell(part, max_fallbacks)
    line = f"fallbacks{where}: {said}"
    typer.echo(safe(f"warning: {line}: {DECIDED}" if part.above else line))
    typer.echo(safe(f"hosts{where}: {lost_to_hosts(part)}"))
    _warn_of(part.table.played)


def _as_json(directories: Sequence[Path], found: Compared, max_fallbacks: float) -> dict[str, Any]:
    """Return the report as JSON values. With a single game and condition, its figures are at the top level."""
    parts = [
        {
            "game": part.game,
            "condition": part.condition.name,
            "levels": dict(part.condition.levels),
            "games": len(part.condition.games),
            **asdict(part.table),
            "above": list(part.above),
            "kept": None if part.kept is None else asdict(part.kept),
            "lost_to_host": list(part.lost_to_host),
            "without_host": None if part.without_host is None else asdict(part.without_host),
            "hosts": [asdict(each) for each in part.hosts],
            "favours": [asdict(each) for each in part.favours],
            "relations": [asdict(relation) for relation in part.relations],
            "ballots": [asdict(each) for each in part.ballots],
        }
        for kind in found.kinds
        for part in kind.parts
    ]
    return {
        "directory": ", ".join(map(str, directories)),
        "left_out": dict(found.read.skipped),
        "copies": dict(found.read.copies),
        "by": found.by,
        "max_fallbacks": max_fallbacks,
        **(parts[0] if found.whole is not None else {"games": found.games, "parts": parts}),
        "conditions": [
            {"game": kind.game, "condition": each.name, "levels": dict(each.levels), "games": len(each.games)}
            for kind in found.kinds
            for each in kind.conditions
        ],
        "differences": [{"game": kind.game, **asdict(each)} for kind in found.kinds for each in kind.differences],
        "arms": [each.to_json() for each in found.arms],
        "designs": [each.to_json() for each in found.designs],
        "tables": {
            name: [dict(zip(frame.columns, row, strict=True)) for row in frame.rows]
            for name, frame in found.tables.items()
        },
        "sentences": found.sentences(),
    }


def _write_csv(found: Compared, out: Path | None) -> None:
    """Write a file per table to the folder, or print all tables to stdout."""
    from agentsim.records.formats import FORMATS
    from agentsim.records.run_files import write_whole

    files = {name: FORMATS["csv"](name, frame) for name, frame in found.tables.items()}
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if out is not None:
            write_whole(out / f"{name}.csv", content)
        typer.echo(f"# {name}\n{content.decode()}" if out is None else str(out / f"{name}.csv"))


def _say_what_is_left_out(compared: Compared) -> None:
    found: Games = compared.read
    games = [game for kind in compared.kinds for each in kind.conditions for game in each.games]
    some_left_out(found.skipped)
    if found.copies:
        name, other = next(iter(found.copies.items()))
        repeats = "games of bots repeat other games and count once"
        many = counted(len(found.copies), "game of bots repeats another and counts once", repeats)
        remark(f"{many}: {name} repeats {other}", 300)
    if apart := [game.parent for game in games if game.parent is not None]:
        whose = f"{counted(len(set(apart)), 'run that is', 'runs that are')} not here"
        many = counted(len(apart), "game is a branch", "games are branches")
        remark(f"{many} of {whose} ({apart[0]}): they share their first decisions", 300)
    if compared.alone:
        many = counted(compared.alone, "branch is", "branches are")
        remark(f"{many} in no figure: `agentsim fork --arm` plays a control beside them")
    for kind in compared.kinds:
        if (conditions := len(kind.conditions)) > 1 and not kind.parts:
            remark(f"{kind.game}: too many conditions ({conditions}) for tables of each; --pool makes them one")


def _warn_of(lines: Sequence[LabelCounts]) -> None:
    """Print a warning about models or players with many fallbacks."""
    from agentsim.records.fallback_rates import NOTABLE, FallbackRate

    found = {line.label: FallbackRate(line.asked, line.fallbacks, line.turned_away) for line in lines}
    notable = {label: share for label, share in found.items() if share.rate > NOTABLE}
    if notable:
        whose = ", ".join(f"{label} {share}" for label, share in sorted(notable.items(), key=lambda e: -e[1].rate))
        typer.echo(shortened(f"warning: fallbacks decided more than {NOTABLE:.0%} of {whose}", 600))


def write_page(directory: Path, found: Compared, max_fallbacks: float) -> Path:
    """Write the folder's page, and the missing pages of its finished games. Return the path of the folder's page."""
    from agentsim.cli.batch import write_pages
    from agentsim.records.history import FINISHED
    from agentsim.records.load import list_runs
    from agentsim.records.run_files import write_whole
    from agentsim.report.markup import find_css
    from agentsim.studies.folder_report import folder_page

    runs = list_runs(directory)
    write_pages(directory, (run.name for run in runs if run.status in FINISHED))
    pages = {run.name: f"{run.name}.html" for run in runs if (directory / f"{run.name}.html").is_file()}
    text = folder_page(directory, found, runs, pages, max_fallbacks=max_fallbacks, css=find_css(directory))
    write_whole(directory / "index.html", text)
    return directory / "index.html"
