"""`agentsim logs`, `export` and `bundle`: a run, or a folder of runs, as a page, as tables, or as one file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, TypeVar

import typer

from agentsim.cli import options as o
from agentsim.cli.terminal_output import left_out, remark
from agentsim.errors import UsageError

if TYPE_CHECKING:
    from agentsim.history.files import RunFiles
    from agentsim.history.record import History, TryRecord

__all__ = ["bundle", "chat_lines", "export", "logs"]

FileFormat: TypeAlias = Literal["csv", "jsonl", "parquet", "chat-jsonl"]
"""How tables are written, and the file's extension; or, instead of tables, conversations."""
T = TypeVar("T")


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
    from agentsim.history.files import find_run
    from agentsim.results import run_in

    files = find_run(logs_dir, filename)
    check_history(files, "the page shows")
    page = run_in(files).page(
        files.page,
        include_prompts=include_prompts,
        include_reasoning=include_reasoning,
        include_usage=include_usage,
        as_seen_by=as_seen_by,
    )
    typer.echo(str(page))
    if open_page:
        typer.launch(str(page))


def export(
    source: o.RunOrFolder,
    file_format: Annotated[
        FileFormat,
        typer.Option(
            "--format",
            help="csv (strings that a spreadsheet would take for formulas get an apostrophe before them), jsonl, or "
            "parquet (needs the extra data); or chat-jsonl: instead of tables every decision of a model as messages.",
            metavar="csv|jsonl|parquet|chat-jsonl",
        ),
    ] = "csv",
    logs_dir: o.LogsDir = Path("logs"),
) -> None:
    """Write the tables of a run, or of a folder of runs, as files.

    NAME.<table>.<format> goes beside NAME.json; with DIR, its name and its tables over all runs go into it, with
    run, game, seed and status before each table's own columns. Files of an earlier export are replaced.
    """
    from agentsim.history.files import RunFiles, table_file, write_whole
    from agentsim.history.formats import FORMATS
    from agentsim.history.load import load_history
    from agentsim.history.tables import read_folder, run_tables

    found = require_source(source, logs_dir)
    if file_format == "chat-jsonl":
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
    from agentsim.history.files import RunFiles, table_file, write_whole
    from agentsim.history.load import load_history

    def lines(files: RunFiles) -> list[bytes]:
        return list(chat_lines(files.name, load_history(files.history)))

    if isinstance(found, RunFiles):
        check_history(found, "the messages are those of")
        directory, stem, parts = found.directory, found.name, [lines(found)]
    else:
        directory, stem, parts = found, found.resolve().name, list(_of_each_run(found, lines))
    path = table_file(directory, stem, "chat", "jsonl")
    write_whole(path, b"".join(line + b"\n" for part in parts for line in part))
    typer.echo(str(path))


def bundle(
    source: o.RunOrFolder,
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
    from agentsim.history.files import MANIFEST, RunFiles
    from agentsim.history.load import require_history

    found = require_source(source, logs_dir)
    others = list(cassette or ())
    if isinstance(found, RunFiles):
        require_history(found)
        runs, beside = [found], found.directory / f"{found.name}.zip"
    else:
        runs = sorted(_of_each_run(found, lambda files: files), key=lambda files: files.name)
        if not runs:
            raise UsageError(f"{found}: holds no run with a history")
        beside = found / f"{found.resolve().name}.zip"
        others += [path for path in [found / MANIFEST] if path.is_file()]
    pack(runs, out or beside, others)
    typer.echo(str(out or beside))


def require_source(source: str, logs_dir: Path) -> RunFiles | Path:
    """The run of that name or path, or the directory that is there; `UsageError` where there is neither."""
    from agentsim.history.files import RunFiles
    from agentsim.history.load import find_source

    found = find_source(source, logs_dir)
    if isinstance(found, RunFiles) or found.is_dir():
        return found
    raise UsageError(f"{source}: is neither a run in {logs_dir} nor a directory")


def _of_each_run(directory: Path, made: Callable[[RunFiles], T]) -> Iterator[T]:
    """What is made of each run of a directory; a note says which run is left out, and why."""
    from agentsim.history.files import find_run
    from agentsim.history.load import list_runs, require_history

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
    """Raise `UsageError` where there is no history; note that the history is behind where the run is being played."""
    from agentsim.history.journal_file import is_running
    from agentsim.history.load import require_history

    require_history(files)
    if is_running(files.journal):
        remark(f"{files.name}: is being played now; {shown} it as it last stopped")


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
