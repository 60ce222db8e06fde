"""Options that several commands share, so that one name means one thing in each of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

from agentsim.errors import UsageError

DisplayMode: TypeAlias = Literal["auto", "rich", "plain", "none"]
"""How progress is shown; `auto` is `rich` on a terminal that is not `dumb`, and `plain` elsewhere."""
ExecutorKind: TypeAlias = Literal["local", "dask"]
"""Where a batch's games are played."""


def given_path(text: str | Path) -> Path:
    """The path as typed. An unset shell variable gives "", which `Path` would take for the working directory."""
    if not str(text).strip() or "\0" in str(text):
        raise typer.BadParameter(f"must be a path, found {str(text)[:80]!r}")
    return Path(text)


def option(name: str, help: str, metavar: str | None = None, **more: Any) -> Any:  # noqa: A002 - as Typer calls it
    """An option under just this name; without a `metavar` it is a flag."""
    return typer.Option(name, help=help, metavar=metavar, **more)


def path_option(name: str, help: str, metavar: str = "FILE", **more: Any) -> Any:  # noqa: A002 - as Typer calls it
    """An option whose value is a path."""
    return option(name, help, metavar, parser=given_path, **more)


def _there(directories: list[Path] | None) -> list[Path] | None:
    for directory in directories or ():
        if not directory.is_dir():
            raise UsageError(f"--allow-dir {directory}: there is no such directory")
    return directories


def _named(variables: list[str] | None) -> list[str] | None:
    for variable in variables or ():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):  # not repeated, since it may be the key
            raise UsageError("--allow-key: must be the name of an environment variable, never the key itself")
    return variables


# The scenario.
Config = Annotated[Path, path_option("--config", "The scenario's TOML file.")]
GameConfig = Annotated[Path | None, path_option("--game-config", "A second TOML file, for tables that --config lacks.")]
Overrides = Annotated[
    list[str] | None, option("--set", "Change a value: players.0.temperature=0.2; repeatable.", "KEY=VALUE")
]
Game = Annotated[str | None, option("--game", "The game; overrides the file.", "GAME")]
Seed = Annotated[int | None, option("--seed", "The seed; overrides the scenario's.", "N", min=0)]
Provider = Annotated[str | None, option("--provider", "Put PROVIDER/ before every model name.", "PROVIDER")]
AllowDir = Annotated[
    list[Path] | None,
    path_option("--allow-dir", "Another directory that files may be read from; repeatable.", "DIR", callback=_there),
]

# Keys and limits.
EnvFile = Annotated[
    Path | None, path_option("--env-file", "File of KEY=VALUE lines, besides ./.env; the environment wins.")
]
AllowKey = Annotated[
    list[str] | None,
    option("--allow-key", "A variable that may be sent as a key to any address; repeatable.", "VAR", callback=_named),
]
MaxCost = Annotated[float | None, option("--max-cost", "Overrides limits.max_cost_usd.", "USD", min=0)]
MaxCalls = Annotated[int | None, option("--max-calls", "Overrides limits.max_calls.", "N", min=0)]
MaxWall = Annotated[
    float | None, option("--max-wall", "Overrides limits.max_wall_s, over all sessions.", "SECONDS", min=0)
]

# Runs, and what is shown and written of them.
RunName = Annotated[str, typer.Argument(metavar="NAME", help="The run's name, as `agentsim runs` lists it.")]
RunOrFolder = Annotated[str, typer.Argument(metavar="NAME|DIR", help="The run's name; or a folder, for all its runs.")]
LogsDir = Annotated[Path, path_option("--logs-dir", "Folder of the runs.", "DIR", envvar="AGENTSIM_LOGS_DIR")]
Display = Annotated[
    DisplayMode,
    option("--display", "How progress is shown, on stderr.", "auto|rich|plain|none", envvar="AGENTSIM_DISPLAY"),
]
AsJson = Annotated[bool, option("--json", "Print exactly one line of JSON on stdout.")]
NoHtml = Annotated[bool, option("--no-html", "Write no page.")]
IncludePrompts = Annotated[bool, option("--include-prompts", "Put every prompt into the page, folded.")]
IncludeReasoning = Annotated[bool, option("--include-reasoning", "Put the models' reasoning into the page, folded.")]
IncludeUsage = Annotated[bool, option("--include-usage", "End the page with calls, tokens and cost.")]
Record = Annotated[Path | None, path_option("--record", "Also write every model reply into this new file.")]
Replies = Annotated[
    list[Path] | None,
    path_option(
        "--replay-replies", "Take model replies from a file written by --record, without keys or network; repeatable."
    ),
]

# Batches.
Jobs = Annotated[
    int | None,
    option("--jobs", "Games at once; default: one per processor for bots, 8 for models, 1 if embedded.", "J", min=1),
]
AbortAfter = Annotated[
    int, option("--abort-after", "Start no more games after N in a row without a result; 0: never stop.", "N", min=0)
]
Executor = Annotated[
    ExecutorKind, option("--executor", "Where games are played; dask needs the extra cluster.", "local|dask")
]
Scheduler = Annotated[
    str | None,
    option("--scheduler", "Dask scheduler, such as tcp://host:8786; default: a cluster on this machine.", "ADDRESS"),
]

# Designs.
Design = Annotated[
    Path | None, path_option("--design", "A design: [factors] of the scenario with their levels, in TOML.")
]
Measure = Annotated[
    str, option("--measure", "rank, win, a score of the outcome, or a deed: 'voted for (received)'.", "MEASURE")
]
OfPlayer = Annotated[str | None, option("--player", "Of this player; default: those whom the factor is of.", "ID")]
OfFactor = Annotated[
    str | None, option("--factor", "The factor; A,B for an interaction that the design asks for; default: all.", "KEY")
]
