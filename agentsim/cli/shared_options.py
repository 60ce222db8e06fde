"""Options that several commands share, with one meaning in all of them.

A dataclass here is a group of options, which a command takes as one argument (`grouped`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import asdict, fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, get_type_hints

import typer

from agentsim.cli.terminal_output import remark
from agentsim.errors import UsageError
from agentsim.lazy import dataclass

if TYPE_CHECKING:
    from agentsim.models.keys import Variables
    from agentsim.scenario.scenario import LimitOverrides
    from agentsim.server.address import Address


DisplayMode: TypeAlias = Literal["auto", "rich", "plain", "none"]
"""The kind of progress display. `auto` is `rich` on a terminal that is not `dumb`, and `plain` elsewhere."""
PORT = 8800
"""The default port of the site."""
ExecutorKind: TypeAlias = Literal["local", "dask"]
"""The place where a batch's games are played."""


def given_path(text: str | Path) -> Path:
    """Return the path as typed. Raises `typer.BadParameter` for "" and for a NUL.

    An unset shell variable gives "", which `Path` would take for the working directory.
    """
    if not str(text).strip() or "\0" in str(text):
        raise typer.BadParameter(f"must be a path, found {str(text)[:80]!r}")
    return Path(text)


def option(name: str, help: str, metavar: str | None = None, **more: Any) -> Any:  # noqa: A002 - as Typer calls it
    """Return an option with exactly this name, a flag if `metavar` is None."""
    return typer.Option(name, help=help, metavar=metavar, **more)


ADVANCED = "Advanced options"
"""The heading of the options that few commands need, in the help."""


def path_option(name: str, help: str, metavar: str = "FILE", **more: Any) -> Any:  # noqa: A002 - as Typer calls it
    """Return an option whose value is a path."""
    return option(name, help, metavar, parser=given_path, **more)


def _there(directories: list[Path] | None) -> list[Path] | None:
    for directory in directories or ():
        if not directory.is_dir():
            raise UsageError(f"--allow-dir {directory}: there is no such directory")
    return directories


def _named(variables: list[str] | None) -> list[str] | None:
    for variable in variables or ():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", variable):  # do not repeat it: it may be the key
            raise UsageError("--allow-key: must be the name of an environment variable, never the key itself")
    return variables


# The scenario.
Seed = Annotated[int | None, option("--seed", "The seed; overrides the scenario's.", "N", min=0)]


@dataclass(frozen=True)
class ConfigFile:
    """The scenario's file, as an argument or an option."""

    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", parser=given_path, help="The scenario's TOML file.")
    ] = None
    config: Annotated[Path | None, path_option("--config", "The scenario's TOML file, as an option.")] = None

    @property
    def given(self) -> Path | None:
        """The file, or None. Raises `UsageError` if two are given."""
        if self.file is not None and self.config is not None:
            raise UsageError(f"--config {self.config}: {self.file} is given as well; leave one of them out")
        return self.file or self.config

    @property
    def path(self) -> Path:
        """The file. Raises `UsageError` if none or two are given."""
        if (path := self.given) is None:
            raise UsageError("FILE: is missing: the scenario's TOML file (`agentsim init DIR` writes some)")
        return path


@dataclass(frozen=True)
class DesignOption:
    """The design's file, as an argument or an option."""

    file: Annotated[Path | None, typer.Argument(metavar="FILE", parser=given_path, help="The design's TOML file.")] = (
        None
    )
    design: Annotated[Path | None, path_option("--design", "The design's TOML file, as an option.")] = None

    @property
    def path(self) -> Path:
        """The file. Raises `UsageError` if none or two are given."""
        if self.file is not None and self.design is not None:
            raise UsageError(f"--design {self.design}: {self.file} is given as well; leave one of them out")
        if (path := self.file or self.design) is None:
            raise UsageError("FILE: is missing: the design's TOML file (`agentsim init DIR` writes one)")
        return path


@dataclass(frozen=True)
class LimitOptions:
    """The limits of a run, of a branch, or of all games of a batch together."""

    max_cost: Annotated[float | None, option("--max-cost", "Overrides limits.max_cost_usd.", "USD", min=0)] = None
    max_calls: Annotated[int | None, option("--max-calls", "Overrides limits.max_calls.", "N", min=0)] = None
    max_wall: Annotated[float | None, option("--max-wall", "Overrides limits.max_wall_s.", "SECONDS", min=0)] = None

    @property
    def given(self) -> LimitOverrides:
        """The limits as overrides of the scenario's."""
        from agentsim.scenario.scenario import LimitOverrides

        return LimitOverrides(self.max_cost, self.max_calls, self.max_wall)

    @property
    def settings(self) -> list[str]:
        """The limits as `KEY=VALUE` changes of a scenario."""
        keys = {"max_cost_usd": self.max_cost, "max_calls": self.max_calls, "max_wall_s": self.max_wall}
        return [f"limits.{key}={value}" for key, value in keys.items() if value is not None]


@dataclass(frozen=True)
class Loading:
    """The options for loading a scenario."""

    game_config: Annotated[
        Path | None,
        path_option("--game-config", "A second TOML file, for tables that --config lacks.", rich_help_panel=ADVANCED),
    ] = None
    overrides: Annotated[
        list[str] | None,
        option("--set", "Change a value, as seed=3; repeatable.", "KEY=VALUE"),
    ] = None
    game: Annotated[str | None, option("--game", "The game; overrides the file.", "GAME", rich_help_panel=ADVANCED)] = (
        None
    )
    provider: Annotated[
        str | None, option("--provider", "Put PROVIDER/ before every model name.", "PROVIDER", rich_help_panel=ADVANCED)
    ] = None
    allow_dir: Annotated[
        list[Path] | None,
        path_option(
            "--allow-dir",
            "Another directory that files may be read from; repeatable.",
            "DIR",
            callback=_there,
            rich_help_panel=ADVANCED,
        ),
    ] = None

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments of `scenario.load`."""
        given = {"game_config": self.game_config, "game": self.game, "provider": self.provider}
        return {**given, "overrides": self.overrides or (), "allow_dirs": self.allow_dir or ()}

    def with_limits(self, limits: LimitOptions) -> dict[str, Any]:
        """Return `options` with these limits, which have priority over the file and `--set`."""
        return {**self.options, "overrides": (*(self.overrides or ()), *limits.settings)}


# Keys.
EnvFile = Annotated[
    Path | None,
    path_option(
        "--env-file",
        "File of KEY=VALUE lines, read in addition to ./.env; the environment wins.",
        rich_help_panel=ADVANCED,
    ),
]


@dataclass(frozen=True)
class Keys:
    """The sources of keys, and the variables that may be sent to any address."""

    env_file: EnvFile = None
    allow_key: Annotated[
        list[str] | None,
        option(
            "--allow-key",
            "A variable that may be sent as a key to any address; repeatable.",
            "VAR",
            callback=_named,
            rich_help_panel=ADVANCED,
        ),
    ] = None

    @property
    def env(self) -> Variables:
        """The variables. Raises `UsageError` if a file cannot be read."""
        from agentsim.models.keys import environment

        found = environment(self.env_file, self.allow_key)
        for line in found.unread:
            remark(line)
        return found


# Runs, their displays and pages.
def run_names(incomplete: str) -> list[str]:
    """Return the names of runs and batches that begin with these letters, for a shell that completes them."""
    folder = Path(os.environ.get("AGENTSIM_LOGS_DIR") or "logs")
    below, _, start = incomplete.rpartition("/")
    below = f"{below}/" if below else ""
    found = {path.name.partition(".json")[0] for path in (folder / below).glob("*.json*")} - {"manifest"}
    batches = {path.parent.name for path in folder.glob("*/manifest.json")} if not below else set[str]()
    return [f"{below}{name}" for name in sorted(found | batches) if name.startswith(start)]


def run_argument(metavar: str = "NAME", help: str = "The run: its name, FOLDER/NAME or a file's path.") -> Any:  # noqa: A002 - as Typer calls it
    """Return an argument that names a run, which shells complete."""
    return typer.Argument(metavar=metavar, help=help, autocompletion=run_names)


RunName = Annotated[str, run_argument()]
RunOrFolder = Annotated[str, run_argument("NAME|DIR", "The run; or a folder, for all its runs.")]
LogsDir = Annotated[Path, path_option("--logs-dir", "Folder of the runs.", "DIR", envvar="AGENTSIM_LOGS_DIR")]
Display = Annotated[
    DisplayMode,
    option(
        "--display",
        "Progress: auto, rich, plain, none.",
        "MODE",
        envvar="AGENTSIM_DISPLAY",
    ),
]
AsJson = Annotated[bool, option("--json", "Print exactly one line of JSON on stdout.")]
Html = Annotated[bool, option("--html/--no-html", "Write the page of each game.")]
Record = Annotated[
    Path | None, path_option("--record", "Also write every model reply into this new file.", rich_help_panel=ADVANCED)
]
Replies = Annotated[
    list[Path] | None,
    path_option(
        "--replay-replies",
        "Take model replies from a file written by --record, without keys or network; repeatable.",
        rich_help_panel=ADVANCED,
    ),
]
PublicUrl = Annotated[
    str | None,
    option(
        "--public-url",
        "Where a proxy in front of the server is reached, as https://HOST; demands keys.",
        "URL",
        rich_help_panel=ADVANCED,
    ),
]


@dataclass(frozen=True)
class Serving:
    """The options for serving the runs while playing."""

    serve: Annotated[
        bool, option("--serve", "Serve the folder of runs meanwhile, until Ctrl-C.", rich_help_panel=ADVANCED)
    ] = False
    port: Annotated[
        int | None,
        option(
            "--port",
            "The server's port; 0 takes a free one; default: 8800.",
            "PORT",
            min=0,
            max=65535,
            rich_help_panel=ADVANCED,
        ),
    ] = None
    host: Annotated[
        str | None,
        option(
            "--host",
            "The server's address; one that other machines reach demands keys.",
            "ADDRESS",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    public_url: PublicUrl = None

    @property
    def at(self) -> Address | None:
        """The address to serve at, or None. Raises `UsageError` for a server option without `--serve`."""
        from agentsim.server.address import Address

        if self.serve:
            return Address.asked(PORT if self.port is None else self.port, self.host, self.public_url)
        if given := [name for name in ("port", "host", "public_url") if getattr(self, name) is not None]:
            raise UsageError(f"--{given[0].replace('_', '-')}: is the server's; add --serve")
        return None


# Batches.
Jobs = Annotated[
    int | None,
    option("--jobs", "Games at once; default: 8, or one a processor.", "J", min=1),
]
BranchesAtOnce = Annotated[
    int | None,
    option("--jobs", "Branches at once; default: 8 for models, 1 for bots, people and embedded models.", "J", min=1),
]
AbortAfter = Annotated[
    int,
    option(
        "--abort-after",
        "Start no more games after N in a row without a result; 0: never stop.",
        "N",
        min=0,
        rich_help_panel=ADVANCED,
    ),
]


@dataclass(frozen=True)
class Page:
    """The optional contents of a page."""

    include_prompts: Annotated[
        bool, option("--include-prompts", "Put every prompt into the page, folded.", rich_help_panel=ADVANCED)
    ] = False
    include_reasoning: Annotated[
        bool,
        option("--include-reasoning", "Put the models' reasoning into the page, folded.", rich_help_panel=ADVANCED),
    ] = False
    include_usage: Annotated[
        bool, option("--include-usage", "End the page with calls, tokens and cost.", rich_help_panel=ADVANCED)
    ] = False

    @property
    def options(self) -> dict[str, bool]:
        """The keyword arguments of `RecordedRun.page`."""
        return asdict(self)


@dataclass(frozen=True)
class Playing:
    """The options for playing the games of a batch."""

    jobs: Jobs = None
    abort_after: AbortAfter = 5
    executor: Annotated[
        ExecutorKind,
        option(
            "--executor",
            "Where games are played; dask needs the extra cluster.",
            "local|dask",
            rich_help_panel=ADVANCED,
        ),
    ] = "local"
    scheduler: Annotated[
        str | None,
        option(
            "--scheduler",
            "Dask scheduler, such as tcp://host:8786; default: a cluster on this machine.",
            "ADDRESS",
            rich_help_panel=ADVANCED,
        ),
    ] = None


# Designs.
Design = Annotated[Path | None, path_option("--design", "A TOML file of factors with their levels.")]


@dataclass(frozen=True)
class EffectOptions:
    """The selection of an effect of a design."""

    measure: Annotated[
        str | None,
        option(
            "--measure",
            "rank, a score, 'voted for (received)'; default: win, or a score.",
            "MEASURE",
            rich_help_panel=ADVANCED,
        ),
    ] = None
    player: Annotated[
        str | None,
        option("--player", "Measure this player; default: those the factor concerns.", "ID", rich_help_panel=ADVANCED),
    ] = None
    factor: Annotated[
        str | None,
        option(
            "--factor",
            "The factor; A,B for an interaction that the design asks for; default: all.",
            "KEY",
            rich_help_panel=ADVANCED,
        ),
    ] = None


@cache  # several commands have the same groups, and evaluating their types takes long
def _parameters(group: type[Any]) -> list[Parameter]:
    """Return the fields of a group as keyword parameters."""
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name])
        for each in fields(group)
    ]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with each group of options among its parameters expanded into its options."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[Parameter] = []
    for each in signature(command).parameters.values():
        if (kind := groups.get(each.name)) is None:
            parameters.append(each.replace(annotation=hints[each.name]))
        else:
            parameters += _parameters(kind)

    @wraps(command)
    def called(**given: Any) -> None:
        made = {name: kind(**{one.name: given.pop(one.name) for one in fields(kind)}) for name, kind in groups.items()}
        command(**given, **made)

    called.__signature__ = Signature(parameters)  # type: ignore[attr-defined] # read by Typer
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called
