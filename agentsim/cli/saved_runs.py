"""`agentsim runs`, `watch`, `logs`, `export` and `bundle`: list, follow, render, export and pack recorded runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, TypeVar

import typer

from agentsim.cli import shared_options as o
from agentsim.cli.terminal_output import columns, left_out, note, remark, safe, say, say_json, shortened
from agentsim.engine.wording import aligned, counted
from agentsim.errors import UsageError

if TYPE_CHECKING:
    from agentsim.records.load import BatchSummary
    from agentsim.records.run_files import RunFiles


ExportFormat: TypeAlias = Literal["csv", "jsonl", "parquet", "chat-jsonl", "inspect"]
"""The formats of exported tables, with their file extensions, and of conversations (`chat-jsonl`, `inspect`)."""
T = TypeVar("T")


def runs(
    source: Annotated[
        str | None,
        o.run_argument("NAME|DIR", "A run, whose decisions are listed; or a folder."),
    ] = None,
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """List the runs of a folder, or the decisions of one run.

    The newest run is the last. The folder's batches stand below its runs. The numbers of decisions are those of
    `agentsim fork NAME --at N`.
    """
    from agentsim.records.load import find_source
    from agentsim.records.run_files import RunFiles

    found = logs_dir if source is None else find_source(source, logs_dir)
    if source is not None and (isinstance(found, RunFiles) or found.is_file()):
        _print_decisions(source, logs_dir, as_json=as_json)
    else:
        assert isinstance(found, Path), "a folder"
        _print_runs(found, as_json=as_json)


def _print_decisions(source: str, logs_dir: Path, *, as_json: bool) -> None:
    """Print the decisions on record of one run."""
    from agentsim.records.journal import read_journal
    from agentsim.records.load import elsewhere, load_history, named_run
    from agentsim.records.run_files import is_running

    files = named_run(source, logs_dir)
    if files.history.is_file() and not is_running(files.journal):
        decisions = list(load_history(files.history).decisions)
    else:
        decisions = sorted(read_journal(files.journal).decisions.values(), key=lambda record: record.index)
    if as_json:
        keys = ("index", "wave", "player", "kind", "decision", "source")
        say_json([{key: getattr(record, key) for key in keys} for record in decisions])
        return
    rows: list[tuple[str, ...]] = [("decision", "wave", "player", "question", "by", "answer")]
    for record in decisions:
        answer = json.dumps(record.decision, ensure_ascii=False)
        row = (str(record.index), str(record.wave), record.player, record.kind, record.source, answer)
        rows.append(tuple(shortened(cell, 80) for cell in row))
    typer.echo("\n".join(aligned(rows)))
    if decisions:
        where = elsewhere(files.directory)
        note(f"play on from decision N in another way: agentsim fork {files.name} --at N{where}")


def _print_runs(directory: Path, *, as_json: bool) -> None:
    """Print the runs and batches of a folder."""
    from agentsim.cli.finish import money
    from agentsim.records.fallback_rates import NOTABLE
    from agentsim.records.load import list_batches, list_runs
    from agentsim.records.run_files import MANIFEST

    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{directory}: is not a directory")
    found, batches = list_runs(directory), list_batches(directory)
    if as_json:
        say_json([*(run.to_json() for run in found), *map(asdict, batches)])
        return
    if not found and (directory / MANIFEST).is_file():
        typer.echo(safe(f"no game of the batch {directory} is recorded yet: agentsim resume {directory} plays it"))
        return
    if not found and not batches:
        typer.echo(
            safe(f"no runs in {directory.absolute()} (--logs-dir DIR or AGENTSIM_LOGS_DIR names another folder)")
        )
        return
    if not found:
        _print_batches(batches)
        return
    if above := [
        f"{run.name} {run.fallback_rates.short}"
        for run in found
        if run.fallback_rates is not None and run.fallback_rates.notable
    ]:
        remark(f"warning: fallbacks decided more than {NOTABLE:.0%} of {', '.join(above)}")
    rows: list[tuple[str, ...]] = [
        ("name", "started", "status", "game", "seed", "players", "winner", "fallbacks", "lost to", "cost", "models")
    ]
    for run in found:
        # an unreadable run has no models
        free = not run.cost_usd and all(model.startswith("bot/") for model in run.models)
        cost = "-" if free else money(run.cost_usd)
        fallbacks = "-" if run.fallback_rates is None else run.fallback_rates.short
        count, models = sum(run.models.values()), ", ".join(f"{n} {model}" for model, n in run.models.items())
        lost = "-" if run.fallback_rates is None else run.fallback_rates.whole.causes_in_words or "-"
        about = ("-" if run.seed is None else str(run.seed), str(count or "-"), run.first or "-", fallbacks, lost, cost)
        when = run.started_at[:16].replace("T", " ")
        row = (
            run.name,
            when or "-",
            run.status,
            run.game,
            *about,
            "; ".join(filter(None, (run.branch_of, models, run.trouble))),
        )
        rows.append(tuple(shortened(cell, 100) for cell in row))
    lines, width = aligned(rows), columns(sys.stdout)
    if width is None or max(map(len, lines)) <= width:
        typer.echo("\n".join(lines))
    else:  # one block per run
        for name, *cells in rows[1:]:
            say(name)
            say(f"  {'  '.join(cells)}")
    _print_batches(batches)


def _print_batches(batches: Sequence[BatchSummary]) -> None:
    for each in batches:
        name, games = shortened(each.batch, 100), "?" if each.games is None else each.games
        say(shortened(f"batch {name}: {each.game}, {each.done} of {games} games (agentsim runs {name})", 300))


def watch(name: o.RunName, logs_dir: o.LogsDir = Path("logs"), display: o.Display = "auto") -> None:
    """Follow a running game in the terminal.

    It reads the journal and touches nothing; Ctrl-C ends the watching, not the game. Of a game that is over it shows
    every public event.
    """
    from agentsim.cli.display import shown
    from agentsim.records.load import named_run
    from agentsim.runs.follower import follow

    files = named_run(name, logs_dir)
    with shown(display) as watcher:
        status = follow(files, watcher)
    typer.echo(f"{files.name}: {status}")


def logs(
    *,
    name: Annotated[str | None, o.run_argument()] = None,
    filename: Annotated[str | None, o.option("--filename", "Name of the run, as an option.", "NAME")] = None,
    logs_dir: o.LogsDir = Path("logs"),
    page: o.Page,
    as_seen_by: Annotated[str | None, o.option("--as-seen-by", "Only what this player could see.", "PLAYER")] = None,
    out: Annotated[Path | None, o.path_option("--out", "File to write; default: beside the run.")] = None,
    open_page: Annotated[bool, o.option("--open", "Open the page in a browser.")] = False,
    as_json: o.AsJson = False,
) -> None:
    """Write the page of a run: NAME.html beside NAME.json.

    As seen by a player it is NAME.PLAYER.html (of a name in another script, PLAYER in ASCII), and the whole page stays.
    """
    from agentsim.records.load import named_run
    from agentsim.results import run_in

    if (name is None) == (filename is None):
        raise UsageError(f"NAME: is {'missing' if name is None else 'given twice'} (`agentsim runs` lists the runs)")
    files = named_run(name or filename or "", logs_dir)
    check_history(files, "the page shows")
    run = run_in(files)
    path = run.page_path(as_seen_by)  # checks the player, too
    written = run.page(out or path, as_seen_by=as_seen_by, **page.options)
    if as_json:
        say_json({"name": files.name, "as_seen_by": as_seen_by, "html": str(written)})
    else:
        typer.echo(str(written))
    if open_page:
        typer.launch(str(written))


def rm(
    name: o.RunName,
    yes: Annotated[bool, o.option("--yes", "Do not ask.")] = False,
    logs_dir: o.LogsDir = Path("logs"),
) -> None:
    """Delete a run: its journal, history, pages and exported tables.

    Asks first. A run that is being played is not deleted.
    """
    from agentsim.records.load import named_run
    from agentsim.records.run_files import is_running

    files = named_run(name, logs_dir)
    if is_running(files.journal):
        raise UsageError(f"{files.name}: is being played now; nothing was deleted")
    paths = files.written
    if not yes:
        for path in paths:
            typer.echo(safe(str(path)))
        if not sys.stdin.isatty():
            raise UsageError(f"{files.name}: --yes deletes these files without a question; nothing was deleted")
        if not typer.confirm(f"Delete {counted(len(paths), 'file')} of {files.name}?"):
            typer.echo("nothing was deleted")
            return
    for path in paths:
        path.unlink()
    say(safe(f"{files.name}: {counted(len(paths), 'file')} deleted"))


def export(
    source: o.RunOrFolder,
    file_format: Annotated[
        ExportFormat,
        o.option(
            "--format",
            "csv (strings like formulas get an apostrophe), jsonl, parquet (needs the extra data), or chat-jsonl: "
            "every decision of a model as messages, or inspect: one .eval log (needs the extra inspect)",
            "csv|jsonl|parquet|chat-jsonl|inspect",
        ),
    ] = "csv",
    out: Annotated[Path | None, o.path_option("--out", "Folder for the files; default: the run's.", "DIR")] = None,
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Write the tables of a run, or of a folder of runs, as files.

    Of a run, NAME.<table>.<format> is written beside NAME.json. Of a folder, each table over all its runs is written
    into it, with the columns run, game, seed, status and the settings that vary first. Files of an earlier export are
    replaced. --json prints the number of rows (or lines) of each file.
    """
    from agentsim.records.people_file import PEOPLE
    from agentsim.records.run_files import table_file, write_whole

    found = _source(source, logs_dir)
    directory, name = _place(found)
    if out is not None and out.exists() and not out.is_dir():
        raise UsageError(f"--out {out}: is not a directory")
    directory = out or directory
    contents: dict[Path, tuple[bytes, int]]
    if file_format == "inspect":
        contents = {directory / f"{name}.eval": _inspect_log(found, source)}
        private = None
    else:
        tables = _chats(found) if file_format == "chat-jsonl" else _tables(found, file_format, source)
        extension = "jsonl" if file_format == "chat-jsonl" else file_format
        contents = {table_file(directory, name, table, extension): content for table, content in tables.items()}
        private = table_file(directory, name, PEOPLE, extension)
    directory.mkdir(parents=True, exist_ok=True)
    for path, (content, _) in contents.items():  # all contents are built before the first file is written
        write_whole(path, content, private=path == private)
        if not as_json:
            typer.echo(str(path))
    rows = {str(path): count for path, (_, count) in contents.items()}
    if as_json:
        say_json(rows)
    if not any(rows.values()):
        note(f"no rows in {', '.join(path.name for path in contents)}")


def _tables(found: RunFiles | Path, file_format: str, source: str) -> dict[str, tuple[bytes, int]]:
    """Return the content and the number of rows of each table's file. `source` is used in errors."""
    from agentsim.records.folders import read_folder
    from agentsim.records.formats import FORMATS
    from agentsim.records.load import load_history
    from agentsim.records.people_file import PEOPLE, people_table
    from agentsim.records.run_files import RunFiles
    from agentsim.records.tables import run_tables

    if isinstance(found, RunFiles):
        check_history(found, "the tables show")
        tables, runs = run_tables(load_history(found.history)), [found]
    else:
        folder, name = read_folder(found), found.resolve().name
        if name in folder.names:
            raise UsageError(f"{source}: holds a run called {name} as well, whose tables have the same file names")
        runs = [RunFiles(found, run) for run in sorted(folder.names)]
        tables = dict(folder.tables)  # building the tables may add to `skipped`
        for run, why in folder.skipped.items():
            left_out(run, why)
    if (people := people_table(runs, several=not isinstance(found, RunFiles))) is not None:
        tables[PEOPLE] = people
    return {table: (FORMATS[file_format](table, frame), len(frame.rows)) for table, frame in tables.items()}


def _inspect_log(found: RunFiles | Path, source: str) -> tuple[bytes, int]:
    """Return the runs as one Inspect log, and their number. Raises `UsageError` if there are none."""
    from agentsim.records.inspect_log import inspect_log
    from agentsim.records.load import load_history
    from agentsim.records.run_files import RunFiles

    if isinstance(found, RunFiles):
        check_history(found, "the log shows")
        return inspect_log([(found.name, load_history(found.history))]), 1
    runs = list(_of_each_run(found, lambda files: (files.name, load_history(files.history))))
    if not runs:
        raise UsageError(f"{source}: holds no run with a readable history")
    return inspect_log(runs), len(runs)


def _chats(found: RunFiles | Path) -> dict[str, tuple[bytes, int]]:
    """Return the content and the number of lines of the conversations file, over all runs for a folder."""
    from agentsim.records.formats import chat_lines
    from agentsim.records.load import load_history
    from agentsim.records.run_files import RunFiles

    def lines(files: RunFiles) -> list[bytes]:
        return list(chat_lines(files.name, load_history(files.history)))

    if isinstance(found, RunFiles):
        check_history(found, "the messages are those of")
        parts = [lines(found)]
    else:
        parts = list(_of_each_run(found, lines))
    return {"chat": (b"".join(line + b"\n" for part in parts for line in part), sum(map(len, parts)))}


def bundle(
    source: o.RunOrFolder,
    out: Annotated[Path | None, o.option("--out", "File to write; default: NAME.zip beside the run.", "FILE")] = None,
    cassette: Annotated[
        list[Path] | None, o.option("--cassette", "A file written by --record, to be included; repeatable.", "FILE")
    ] = None,
    logs_dir: o.LogsDir = Path("logs"),
) -> None:
    """Put a run into one file that can be verified anywhere.

    It holds scenario, prompts, journal, history, later interviews, codes and versions; `agentsim replay FILE` executes
    it again anywhere, without keys or network. What was said in the game is in it, and no key.
    """
    from agentsim.records.bundle import pack
    from agentsim.records.load import require_history
    from agentsim.records.run_files import MANIFEST, RunFiles

    found = _source(source, logs_dir)
    others = list(cassette or ())
    if isinstance(found, RunFiles):
        require_history(found)
        runs = [found]
    else:
        runs = sorted(_of_each_run(found, lambda files: files), key=lambda files: files.name)
        if not runs:
            raise UsageError(f"{found}: holds no run with a history")
        others += [path for path in [found / MANIFEST] if path.is_file()]
    directory, name = _place(found)
    path = out or directory / f"{name}.zip"
    pack(runs, path, others)
    typer.echo(str(path))


def _source(source: str, logs_dir: Path) -> RunFiles | Path:
    """Return the run of that name or path, or the directory. Raises `UsageError` if there is neither."""
    from agentsim.records.load import find_source, named_run

    found = find_source(source, logs_dir)
    if isinstance(found, Path) and not found.is_dir():
        try:
            return named_run(source, logs_dir)
        except UsageError:
            raise UsageError(f"{source}: is neither a run in {logs_dir} nor a directory") from None
    return found


def _place(found: RunFiles | Path) -> tuple[Path, str]:
    """Return the folder and the base name for files about a run or a directory."""
    return (found, found.resolve().name) if isinstance(found, Path) else (found.directory, found.name)


def _of_each_run(directory: Path, made: Callable[[RunFiles], T]) -> Iterator[T]:
    """Yield the result of `made` for each run of a directory.

    A note names each run that is left out, with the reason.
    """
    from agentsim.records.load import list_runs, require_history
    from agentsim.records.run_files import find_run

    for run in list_runs(directory):
        try:
            files = find_run(directory, run.name)
            require_history(files)
            found = made(files)
        except UsageError as error:
            left_out(run.name, str(error).removeprefix(f"{run.name}: "))
        else:
            yield found


def check_history(files: RunFiles, shown: str) -> None:
    """Raise `UsageError` if there is no history.

    Print a note if the run is being played, since its history is then outdated.
    """
    from agentsim.records.load import require_history
    from agentsim.records.run_files import is_running

    require_history(files)
    if is_running(files.journal):
        remark(f"{files.name}: is being played now; {shown} it as it last stopped")
