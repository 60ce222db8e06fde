"""Options that several commands share, so that one name means one thing in each of them."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from agentsim.errors import UsageError

__all__ = [
    "AbortAfter",
    "AllowDir",
    "AllowKey",
    "AsJson",
    "Config",
    "Display",
    "DisplayMode",
    "EnvFile",
    "Executor",
    "ExecutorKind",
    "Game",
    "GameConfig",
    "Html",
    "IncludePrompts",
    "IncludeReasoning",
    "IncludeUsage",
    "Jobs",
    "LogsDir",
    "MaxCalls",
    "MaxCost",
    "MaxWall",
    "NoHtml",
    "Overrides",
    "Provider",
    "Record",
    "Replies",
    "RunName",
    "Scheduler",
    "Seed",
    "given_path",
]


class DisplayMode(StrEnum):
    """How progress is shown; `auto` is `rich` on a terminal that is not `dumb`, and `plain` elsewhere."""

    auto = "auto"
    rich = "rich"
    plain = "plain"
    none = "none"


class ExecutorKind(StrEnum):
    """Where a batch's games are played."""

    local = "local"
    dask = "dask"


def given_path(text: str | Path) -> Path:
    """The path as typed. An unset shell variable gives "", which `Path` would take for the working directory."""
    if not str(text).strip() or "\0" in str(text):
        raise typer.BadParameter(f"must be a path, found {str(text)[:80]!r}")
    return Path(text)


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


Config = Annotated[Path, typer.Option("--config", help="The scenario's TOML file.", metavar="FILE", parser=given_path)]
GameConfig = Annotated[
    Path | None,
    typer.Option(
        "--game-config",
        help="A second TOML file, with tables that --config's has not, such as [game_config].",
        metavar="FILE",
        parser=given_path,
    ),
]
LogsDir = Annotated[
    Path,
    typer.Option(
        "--logs-dir", envvar="AGENTSIM_LOGS_DIR", help="Where runs are kept.", metavar="DIR", parser=given_path
    ),
]
Display = Annotated[
    DisplayMode,
    typer.Option(
        "--display", envvar="AGENTSIM_DISPLAY", help="How progress is shown, on stderr.", metavar="auto|rich|plain|none"
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print exactly one line of JSON on stdout.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Instead of the scenario's seed.", min=0, metavar="N")]
Game = Annotated[
    str | None,
    typer.Option("--game", help="Which game, where the file does not say or says otherwise.", metavar="GAME"),
]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", help="Such as players.0.temperature=0.2; repeatable.", metavar="KEY=VALUE")
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
Provider = Annotated[
    str | None, typer.Option("--provider", help="Put PROVIDER/ before every model name.", metavar="PROVIDER")
]
AllowDir = Annotated[
    list[Path] | None,
    typer.Option(
        "--allow-dir",
        help="A further directory that files may be read from; repeatable.",
        metavar="DIR",
        callback=_there,
        parser=given_path,
    ),
]
AllowKey = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-key",
        help="A variable that may be sent as a key to wherever the scenario says; repeatable.",
        metavar="VAR",
        callback=_named,
    ),
]
Record = Annotated[
    Path | None,
    typer.Option(
        "--record", help="Write every reply of a model into this new file as well.", metavar="FILE", parser=given_path
    ),
]
Replies = Annotated[
    list[Path] | None,
    typer.Option(
        "--replay-replies",
        help="Take models' replies from a file that --record wrote, without keys or network; repeatable.",
        metavar="FILE",
        parser=given_path,
    ),
]
EnvFile = Annotated[
    Path | None,
    typer.Option(
        "--env-file",
        help="A file of KEY=VALUE besides ./.env; the environment wins.",
        metavar="FILE",
        parser=given_path,
    ),
]
NoHtml = Annotated[bool, typer.Option("--no-html", help="Write no page.")]
IncludePrompts = Annotated[bool, typer.Option("--include-prompts", help="Put every prompt into the page, folded.")]
IncludeReasoning = Annotated[
    bool, typer.Option("--include-reasoning", help="Put the models' reasoning into the page, folded.")
]
IncludeUsage = Annotated[bool, typer.Option("--include-usage", help="End the page with calls, tokens and cost.")]
RunName = Annotated[str, typer.Argument(metavar="NAME", help="The run's name, as `agentsim runs` lists it.")]
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
Html = Annotated[bool, typer.Option("--html", help="Write a page for every game.")]
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
