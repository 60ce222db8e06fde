"""`agentsim logs`, `export` and `bundle`: a run, or a folder of runs, as a page, as tables, or as one file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentsim.cli import options as o
from agentsim.cli.terminal_output import left_out, note
from agentsim.errors import UsageError

if TYPE_CHECKING:
    from agentsim.history.record import History, TryRecord
    from agentsim.history.run_files import RunFiles

__all__ = ["FileFormat", "bundle", "chat_lines", "export", "logs"]


def logs(
    *,
    filename: Annotated[
        str, typer.Option("--filename", help="The run's name: a bare name inside the logs folder.", metavar="NAME")
    ],
    logs_dir: o.LogsDir = Path("logs"),
    include_prompts: o.IncludePrompts = False,
    include_reasoning: o.IncludeReasoning = False,
    include_usage: o.IncludeUsage = False,
    as_seen_by: Annotated[
        str | None, typer.Option("--as-seen-by", help="Only what this player could see.", metavar="PLAYER")
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write NAME.html beside NAME.json."""
    from agentsim.cli.finish import write_page
    from agentsim.history.run_files import find_run
    from agentsim.report.page import PageOptions

    files = find_run(logs_dir, filename)
    check_history(files, "the page shows")
    page = write_page(files, PageOptions(include_prompts, include_reasoning, include_usage, as_seen_by))
    typer.echo(str(page))
    if open_page:
        typer.launch(str(page))


class FileFormat(StrEnum):
    """How tables are written, and the file's extension; or, instead of tables, conversations."""

    csv = "csv"
    jsonl = "jsonl"
    parquet = "parquet"
    chat_jsonl = "chat-jsonl"


def export(
    source: Annotated[
        str,
        typer.Argument(
            metavar="NAME|DIR", help="The run's name, as `agentsim runs` lists it; or a directory, for all runs in it."
        ),
    ],
    file_format: Annotated[
        FileFormat,
        typer.Option(
            "--format",
            help="csv (strings that a spreadsheet would take for formulas get an apostrophe before them), jsonl, or "
            "parquet (needs the extra data); or chat-jsonl: instead of tables every decision of a model as messages.",
            metavar="csv|jsonl|parquet|chat-jsonl",
        ),
    ] = FileFormat.csv,
    logs_dir: o.LogsDir = Path("logs"),
) -> None:
    """Write the tables of a run, or of a folder of runs, as files.

    NAME.<table>.<format> goes beside NAME.json; with DIR, its name and its tables over all runs go into it, with
    run, game, seed and status before each table's own columns. Files of an earlier export are replaced.
    """
    from agentsim.history.formats import FORMATS
    from agentsim.history.load import load_history
    from agentsim.history.run_files import RunFiles, table_file, write_whole
    from agentsim.history.tables import read_folder, run_tables

    found = require_source(source, logs_dir)
    if file_format is FileFormat.chat_jsonl:
        _export_chats(found)
        return
    if isinstance(found, RunFiles):
        check_history(found, "the tables show")
        directory, stem, tables = found.directory, found.name, run_tables(load_history(found.history))
    else:
        folder = read_folder(found)
        for name, why in folder.skipped.items():
            left_out(name, why)
        directory, stem, tables = found, found.resolve().name, dict(folder.tables)
        if stem in folder.names:
            raise UsageError(f"{source}: holds a run called {stem} as well, whose tables have the same file names")
    encode = FORMATS[file_format]
    files = [
        (table_file(directory, stem, name, file_format), encode(name, frame)) for name, frame in tables.items()
    ]  # all of them before the first is written
    for path, content in files:
        write_whole(path, content)
        typer.echo(str(path))


def _export_chats(found: RunFiles | Path) -> None:
    """NAME.chat.jsonl beside NAME.json; for a folder one file for all its runs."""
    from agentsim.history.load import list_runs, load_history, require_history
    from agentsim.history.run_files import RunFiles, find_run, table_file, write_whole

    lines: list[bytes] = []
    if isinstance(found, RunFiles):
        check_history(found, "the messages are those of")
        directory, stem = found.directory, found.name
        lines += chat_lines(found.name, load_history(found.history))
    else:
        directory, stem = found, found.resolve().name
        for run in list_runs(found):
            with unless_unusable(run.name):
                files = find_run(found, run.name)
                require_history(files)
                lines += chat_lines(run.name, load_history(files.history))
    path = table_file(directory, stem, "chat", "jsonl")
    write_whole(path, b"".join(line + b"\n" for line in lines))
    typer.echo(str(path))


def bundle(
    source: Annotated[
        str,
        typer.Argument(
            metavar="NAME|DIR", help="The run's name, as `agentsim runs` lists it; or a directory, for all runs in it."
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="The file; else NAME.zip beside the run.", metavar="FILE")
    ] = None,
    cassette: Annotated[
        list[Path] | None,
        typer.Option("--cassette", help="A file that --record wrote, to be put in too; repeatable.", metavar="FILE"),
    ] = None,
    logs_dir: o.LogsDir = Path("logs"),
) -> None:
    """Put a run into one file that proves it.

    It holds scenario, prompts, journal, history and versions; `agentsim replay FILE` executes it again anywhere,
    without keys or network. What was said in the game is in it, and no key.
    """
    from agentsim.history.bundle import pack
    from agentsim.history.load import list_runs, require_history
    from agentsim.history.run_files import MANIFEST, RunFiles, find_run

    found = require_source(source, logs_dir)
    others = list(cassette or ())
    if isinstance(found, RunFiles):
        require_history(found)
        runs, beside = [found], found.directory / f"{found.name}.zip"
    else:
        runs = []
        for run in sorted(list_runs(found), key=lambda run: run.name):
            with unless_unusable(run.name):
                files = find_run(found, run.name)
                require_history(files)
                runs.append(files)
        if not runs:
            raise UsageError(f"{found}: holds no run with a history")
        beside = found / f"{found.resolve().name}.zip"
        others += [path for path in [found / MANIFEST] if path.is_file()]
    pack(runs, out or beside, others)
    typer.echo(str(out or beside))


def require_source(source: str, logs_dir: Path) -> RunFiles | Path:
    """The run of that name or path, or the directory that is there; `UsageError` where there is neither."""
    from agentsim.history.load import find_source
    from agentsim.history.run_files import RunFiles

    found = find_source(source, logs_dir)
    if isinstance(found, RunFiles) or found.is_dir():
        return found
    raise UsageError(f"{source}: is neither a run in {logs_dir} nor a directory")


@contextmanager
def unless_unusable(name: str) -> Iterator[None]:
    """Skips a run of a directory, with a note, where the block raises `UsageError`."""
    try:
        yield
    except UsageError as error:
        left_out(name, str(error).removeprefix(f"{name}: "))


def check_history(files: RunFiles, shown: str) -> None:
    """Raise `UsageError` where there is no history; note that the history is behind where the run is being played."""
    from agentsim.history.journal_file import is_running
    from agentsim.history.load import require_history

    require_history(files)
    if is_running(files.journal):
        note(f"agentsim: {files.name}: is being played now; {shown} it as it last stopped")


def chat_lines(run: str, history: History) -> Iterator[bytes]:
    """A line of JSON for each decision of a model: `messages`, the last of which is the reply, and the outcome.

    A decision that was asked again has its last reply, and the messages before it. `used` is false where the decision
    is a fallback all the same. `inherited` is true for a decision of the parent run, which has it as well. `rank` is
    the player's final rank; None for staff and unfinished games.
    """
    from agentsim.engine.codec import json_line

    standings = [] if history.outcome is None else history.outcome.standings
    ranks = {standing.player: standing.rank for standing in standings}
    models = {player.id: player.model for player in history.players}
    for decision in history.decisions:
        answered = [attempt for attempt in decision.tries if attempt.reply is not None]
        if decision.source == "human" or not answered:
            continue
        yield json_line(
            {
                "messages": _messages(history, answered[-1]),
                "run": run,
                "game": history.game,
                "seed": history.seed,
                "decision": decision.index,
                "kind": decision.kind,
                "player": decision.player,
                "model": decision.answered_by or models.get(decision.player, ""),
                "parsed": decision.decision,
                "used": decision.source != "fallback",
                "inherited": history.inherits(decision),
                "rank": ranks.get(decision.player),
                "winner": None if history.outcome is None else history.outcome.winner == decision.player,
            }
        )


def _messages(history: History, attempt: TryRecord) -> list[dict[str, str]]:
    said = [*attempt.messages, ("assistant", attempt.reply or [])]
    return [{"role": role, "content": "\n".join(history.texts[place] for place in places)} for role, places in said]
