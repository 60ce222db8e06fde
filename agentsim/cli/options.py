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


def path_option(name: str, help: str, metavar: str = "FILE", **more: Any) -> Any:  # noqa: A002 - as Typer calls it
    """An option whose value is a path."""
    return typer.Option(name, help=help, metavar=metavar, parser=given_path, **more)


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
GameConfig = Annotated[
    Path | None,
    path_option("--game-config", "A second TOML file, with tables that --config's has not, such as [game_config]."),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", help="Such as players.0.temperature=0.2; repeatable.", metavar="KEY=VALUE"),
]
Game = Annotated[
    str | None,
    typer.Option("--game", help="Which game, where the file does not say or says otherwise.", metavar="GAME"),
]
Seed = Annotated[int | None, typer.Option("--seed", help="Instead of the scenario's seed.", min=0, metavar="N")]
Provider = Annotated[
    str | None, typer.Option("--provider", help="Put PROVIDER/ before every model name.", metavar="PROVIDER")
]
AllowDir = Annotated[
    list[Path] | None,
    path_option(
        "--allow-dir", "A further directory that files may be read from; repeatable.", metavar="DIR", callback=_there
    ),
]

# Keys and limits.
EnvFile = Annotated[Path | None, path_option("--env-file", "A file of KEY=VALUE besides ./.env; the environment wins.")]
AllowKey = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-key",
        help="A variable that may be sent as a key to wherever the scenario says; repeatable.",
        metavar="VAR",
        callback=_named,
    ),
]
MaxCost = Annotated[
    float | None, typer.Option("--max-cost", help="Instead of limits.max_cost_usd.", min=0, metavar="USD")
]
MaxCalls = Annotated[int | None, typer.Option("--max-calls", help="Instead of limits.max_calls.", min=0, metavar="N")]
MaxWall = Annotated[
    float | None,
    typer.Option(
        "--max-wall", help="Instead of limits.max_wall_s, of all sessions together.", min=0, metavar="SECONDS"
    ),
]

# Runs, and what is shown and written of them.
RunName = Annotated[str, typer.Argument(metavar="NAME", help="The run's name, as `agentsim runs` lists it.")]
RunOrFolder = Annotated[
    str,
    typer.Argument(
        metavar="NAME|DIR", help="The run's name, as `agentsim runs` lists it; or a directory, for all runs in it."
    ),
]
LogsDir = Annotated[Path, path_option("--logs-dir", "Where runs are kept.", metavar="DIR", envvar="AGENTSIM_LOGS_DIR")]
Display = Annotated[
    DisplayMode,
    typer.Option(
        "--display", envvar="AGENTSIM_DISPLAY", help="How progress is shown, on stderr.", metavar="auto|rich|plain|none"
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print exactly one line of JSON on stdout.")]
NoHtml = Annotated[bool, typer.Option("--no-html", help="Write no page.")]
IncludePrompts = Annotated[bool, typer.Option("--include-prompts", help="Put every prompt into the page, folded.")]
IncludeReasoning = Annotated[
    bool, typer.Option("--include-reasoning", help="Put the models' reasoning into the page, folded.")
]
IncludeUsage = Annotated[bool, typer.Option("--include-usage", help="End the page with calls, tokens and cost.")]
Record = Annotated[Path | None, path_option("--record", "Write every reply of a model into this new file as well.")]
Replies = Annotated[
    list[Path] | None,
    path_option(
        "--replay-replies",
        "Take models' replies from a file that --record wrote, without keys or network; repeatable.",
    ),
]

# Batches.
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        help="Games at once; by itself one for each processor for bots, 8 for models, 1 for an embedded one.",
        min=1,
        metavar="J",
    ),
]
AbortAfter = Annotated[
    int,
    typer.Option(
        "--abort-after",
        help="Begin no more after so many games in a row without a result; 0: go on.",
        min=0,
        metavar="N",
    ),
]
Executor = Annotated[
    ExecutorKind,
    typer.Option(
        "--executor", help="Where a batch's games are played; dask needs the extra cluster.", metavar="local|dask"
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler", help="A Dask scheduler, such as tcp://host:8786; else a cluster here.", metavar="ADDRESS"
    ),
]
