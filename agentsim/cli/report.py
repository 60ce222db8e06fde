"""`agentsim report`: compares the players of many games, in the terminal, as JSON, as CSV or on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    from agentsim.records.history import History
    from agentsim.records.load import RunSummary
    from agentsim.records.run_files import RunFiles
    from agentsim.studies.folder_report import Report


By: TypeAlias = Literal["model", "player"]
ReportFormat: TypeAlias = Literal["csv", "json", "latex", "markdown"]


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
    exploratory: Annotated[
        bool, o.option("--exploratory", "Also print all that was not planned: ratings, head to head, seats, ...")
    ] = False,
    measure: Annotated[
        list[str] | None,
        o.option("--measure", "Show the effects of a design on this measure; repeatable; default: its own.", "MEASURE"),
    ] = None,
    file_format: Annotated[
        ReportFormat | None,
        o.option("--format", "Print tables for a paper (LaTeX, Markdown), or as data.", "latex|markdown|csv|json"),
    ] = None,
    out: Annotated[
        Path | None, o.option("--out", "With --format: a folder for a file of each table.", "FOLDER")
    ] = None,
    figure: Annotated[
        Path | None, o.path_option("--figure", "Write the effects, or else the mean ranks, as an SVG file.", "FILE.svg")
    ] = None,
    plot: Annotated[
        str | None,
        o.option(
            "--plot",
            "With --figure: another plot, such as share-of-promises-broken or calibration-of-beliefs.",
            "KEY",
        ),
    ] = None,
    html: Annotated[
        bool, o.option("--html", "Also write DIR/index.html, and the pages of the games that it links to.")
    ] = False,
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Compare the players of many games.

    Of a design: its effects, the means of its cells and a forest plot. Of other games: standings with a rating, scores,
    calls and cost. --exploratory adds who beats whom, who was for or against whom, and what a seat is worth. Games
    whose scenarios differ in more than seed, name and who sits where are conditions, which are compared. Needs the
    extra analysis. Games that are not finished are left out, and so are copies (games of bots with the same seed, past
    and luck); both are counted.
    """
    if out is not None and file_format in {None, "json"}:
        raise UsageError("--out: needs --format csv, latex or markdown")
    if plot is not None and figure is None:
        raise UsageError("--plot: needs --figure FILE.svg")
    from agentsim.records.load import require_folder, summarized

    directories = [require_folder(name, logs_dir) for name in sources]
    with needed_by("report"):
        from agentsim.studies.folder_report import compared

    summaries: dict[RunFiles, RunSummary] = {}  # for the page, so that no history is read twice

    def summarize(files: RunFiles, history: History) -> None:
        summaries[files] = summarized(files, history)

    found = compared(
        directories,
        by=by,
        pool=pool,
        max_fallbacks=max_fallbacks,
        planned=planned or (),
        measures=measure or (),
        on_history=summarize if html else None,
    )
    if html:
        note(f"page: {write_page(directories[0], found, max_fallbacks, summaries)}")
    if figure is not None:
        note(f"figure: {_write_figure(found, figure, plot)}")
    if as_json or file_format == "json":
        say_json(_as_json(directories, found, max_fallbacks))
    elif file_format == "csv":
        _write_csv(found, out)
    elif file_format is not None:
        _write_tables(found, file_format, out, exploratory=exploratory)
    else:
        _say(directories, found, max_fallbacks, exploratory=exploratory)


def _write_figure(found: Report, path: Path, key: str | None) -> Path:
    """Write the plot of this name, or the first one, as an SVG file. Raises `UsageError` if there is none."""
    from agentsim.records.run_files import write_whole
    from agentsim.report.paper import plots, svg
    from agentsim.studies.folder_report import slug

    if path.suffix.lower() != ".svg":
        raise UsageError(f"--figure {path}: must end with .svg")
    by_key = {slug(panel.title): panel for panel in reversed(plots([each.panel for each in found.panels]))}
    if key is not None and by_key and key not in by_key:
        raise UsageError(f"--plot {key}: there is no such plot in this report (plots: {', '.join(sorted(by_key))})")
    panel = next(iter(plots(found.main)), None) if key is None else by_key.get(key)
    if panel is None:
        raise UsageError("--figure: there is no plot in this report")
    write_whole(path, svg(panel))
    return path


def _write_tables(found: Report, form: Literal["latex", "markdown"], out: Path | None, *, exploratory: bool) -> None:
    """Write a file per table to the folder, or print the tables to stdout."""
    from agentsim.engine.panel import DataTable, Struck
    from agentsim.records.run_files import write_whole
    from agentsim.report.paper import latex, markdown
    from agentsim.studies.folder_report import slug

    shown = [each.panel for each in found.panels if each.main or exploratory]
    tables = [panel for panel in shown if isinstance(panel, DataTable)]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    elif form == "latex":
        struck = any(isinstance(cell, Struck) for panel in tables for row in panel.rows for cell in row)
        typer.echo("% needs \\usepackage{booktabs}" + " and \\usepackage[normalem]{ulem}" * struck)
    for panel in tables:
        name = slug(panel.title)
        text = latex(panel, name) if form == "latex" else markdown(panel)
        if out is None:
            typer.echo(f"{text}\n")
        else:
            path = out / f"{name}.{'tex' if form == 'latex' else 'md'}"
            write_whole(path, f"{text}\n")
            typer.echo(str(path))


def _say(directories: Sequence[Path], found: Report, max_fallbacks: float, *, exploratory: bool) -> None:
    from agentsim.report.page import EXPLORATORY
    from agentsim.studies.folder_report import slug

    _say_what_is_left_out(found)
    where = ", ".join(map(str, directories))
    if found.designs:
        games = [
            f"{counted(found.games, 'game')} in {counted(each.blocks, 'complete block')}; {each.design}"
            for each in found.designs
        ]
    else:
        games = [_of(group.game, [(each.name, len(each.games)) for each in group.conditions]) for group in found.groups]
    typer.echo(safe(f"{where}: {'; '.join(games)}, by {found.by}"))
    _say_fallbacks(found, max_fallbacks)
    counts = {"calls-and-cost"}
    tables = [each for each in found.panels if each.main or exploratory]
    headed = any(each.planned for each in tables) and not found.designs
    for planned in (True, False):
        shown = [each.panel for each in tables if each.planned is planned]
        if headed and shown:
            typer.echo("\nPlanned comparisons" if planned else "\nExploratory comparisons")
        if not planned and any(slug(panel.title) not in counts for panel in shown):
            say(EXPLORATORY)
        for panel in shown:
            print_panel(panel)
    if not exploratory and (left := [each for each in found.panels if not each.main]):
        typer.echo(f"\n{counted(len(left), 'more table or chart', 'more tables and charts')}: --exploratory")


def _of(game: str, conditions: Sequence[tuple[str, int]]) -> str:
    """Describe the games: `14 games of auction in 2 conditions: sidebars=false (7), sidebars=true (7)`."""
    games = f"{counted(sum(many for _, many in conditions), 'game')} of {game}"
    if len(conditions) < 2:
        return games
    named = few([f"{name} ({many})" for name, many in conditions], 4)
    return f"{games} in {len(conditions)} conditions, not pooled: {named}"


def _say_fallbacks(found: Report, max_fallbacks: float) -> None:
    from agentsim.studies.folder_report import DECIDED, fell, lost_to_hosts

    if not (said := fell(found, max_fallbacks)):
        return
    parts = [part for group in found.groups for part in group.parts]
    above = any(part.above for part in parts)
    typer.echo(safe(f"warning: fallbacks: {said}: {DECIDED}" if above else f"fallbacks: {said}"))
    if lost := lost_to_hosts(found):
        typer.echo(safe(f"hosts: {lost}"))
    for part in parts:
        _warn_of(part.table.played)


def _as_json(directories: Sequence[Path], found: Report, max_fallbacks: float) -> dict[str, Any]:
    """Return the report as JSON values. With a single game and condition, its figures are at the top level."""
    parts = [
        {
            "game": part.game,
            "condition": part.condition.name,
            "levels": dict(part.condition.levels),
            "games": len(part.condition.games),
            **asdict(part.table),
            "above": list(part.above),
            "few_fallbacks": None if part.few_fallbacks is None else asdict(part.few_fallbacks),
            "lost_to_host": list(part.lost_to_host),
            "without_host": None if part.without_host is None else asdict(part.without_host),
            "hosts": [asdict(each) for each in part.hosts],
            "favours": [asdict(each) for each in part.favours],
            "relations": [asdict(relation) for relation in part.relations],
            "ballots": [asdict(each) for each in part.ballots],
        }
        for group in found.groups
        for part in group.parts
    ]
    return {
        "directory": ", ".join(map(str, directories)),
        "left_out": dict(found.read.skipped),
        "copies": dict(found.read.copies),
        "by": found.by,
        "max_fallbacks": max_fallbacks,
        **(parts[0] if found.whole is not None else {"games": found.games, "parts": parts}),
        "conditions": [
            {"game": group.game, "condition": each.name, "levels": dict(each.levels), "games": len(each.games)}
            for group in found.groups
            for each in group.conditions
        ],
        "differences": [{"game": group.game, **asdict(each)} for group in found.groups for each in group.differences],
        "arms": [each.to_json() for each in found.arms],
        "designs": [each.to_json() for each in found.designs],
        "tables": {
            name: [dict(zip(frame.columns, row, strict=True)) for row in frame.rows]
            for name, frame in found.frames.items()
        },
        "sentences": found.sentences(),
    }


def _write_csv(found: Report, out: Path | None) -> None:
    """Write a file per table to the folder, or print all tables to stdout."""
    from agentsim.records.formats import FORMATS
    from agentsim.records.run_files import write_whole

    files = {name: FORMATS["csv"](name, frame) for name, frame in found.frames.items()}
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        if out is not None:
            write_whole(out / f"{name}.csv", content)
        typer.echo(f"# {name}\n{content.decode()}" if out is None else str(out / f"{name}.csv"))


def _say_what_is_left_out(compared: Report) -> None:
    found: Games = compared.read
    games = [game for group in compared.groups for each in group.conditions for game in each.games]
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
    if compared.left_out_branches:
        many = counted(compared.left_out_branches, "branch is", "branches are")
        remark(f"{many} in no figure: `agentsim fork --arm` plays a control beside them")
    for group in compared.groups:
        if (conditions := len(group.conditions)) > 1 and not group.parts:
            remark(f"{group.game}: too many conditions ({conditions}) for tables of each; --pool makes them one")


def _warn_of(lines: Sequence[LabelCounts]) -> None:
    """Print a warning about models or players with many fallbacks."""
    from agentsim.records.fallback_rates import NOTABLE, FallbackRate

    found = {line.label: FallbackRate(line.asked, line.fallbacks, line.turned_away) for line in lines}
    notable = {label: share for label, share in found.items() if share.rate > NOTABLE}
    if notable:
        whose = ", ".join(f"{label} {share}" for label, share in sorted(notable.items(), key=lambda e: -e[1].rate))
        typer.echo(shortened(f"warning: fallbacks decided more than {NOTABLE:.0%} of {whose}", 600))


def write_page(directory: Path, found: Report, max_fallbacks: float, summaries: Mapping[RunFiles, RunSummary]) -> Path:
    """Write the folder's page, and the missing pages of its finished games. Return the path of the folder's page."""
    from agentsim.cli.batch import write_pages
    from agentsim.records.history import FINISHED
    from agentsim.records.load import list_runs
    from agentsim.records.run_files import write_whole
    from agentsim.report.markup import find_css
    from agentsim.studies.folder_report import folder_page

    runs = list_runs(directory, summaries)
    write_pages(directory, (run.name for run in runs if run.status in FINISHED))
    pages = {run.name: f"{run.name}.html" for run in runs if (directory / f"{run.name}.html").is_file()}
    text = folder_page(directory, found, runs, pages, max_fallbacks=max_fallbacks, css=find_css(directory))
    write_whole(directory / "index.html", text)
    return directory / "index.html"
