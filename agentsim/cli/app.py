"""The Typer application with all commands. An error becomes one line and an exit code.

Heavy modules are imported inside the commands, so that `agentsim --help` is fast.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from inspect import getdoc
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, NoReturn, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from agentsim.cli import shared_options as o
from agentsim.cli.batch import batch
from agentsim.cli.code import code
from agentsim.cli.compare import compare, diff, influence
from agentsim.cli.interview import interview
from agentsim.cli.rate import plan, pool, rate
from agentsim.cli.report import report
from agentsim.cli.run import fork, replay, resume, run
from agentsim.cli.saved_runs import bundle, export, logs, rm, runs, watch
from agentsim.cli.scaffold import gen_items, init
from agentsim.cli.scenarios import check, games, models, schema, validate
from agentsim.cli.serve import serve
from agentsim.errors import AgentsimError, location_of
from agentsim.patterns import Pattern

_EXTRA = Pattern(r"  \[[\d.]*<?=?x[<>]=?[\d.]+\]$|; [\d.]*<?=?x[<>]=?[\d.]+(?=\]$)|env var: \w+; ")
"""The range and the variable of an option in its help. Its errors name both, and docs/commands.md the variables."""


class _Command(TyperCommand):
    """A command whose usage line names arguments as its help does, and whose help has a section for each panel."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [re.sub(r"^\{(.+)\}", r"\1", piece) for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], o.ADVANCED: []}
        for each in self.get_params(ctx):
            if (record := each.get_help_record(ctx)) is not None:
                name, said = record
                plain = "Arguments" if each.param_type_name == "argument" else "Options"
                sections[getattr(each, "rich_help_panel", None) or plain].append((name, _EXTRA.sub("", said)))
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


_COMMANDS: Mapping[str, tuple[Callable[..., None], ...]] = {
    "Play": (run, resume, fork, serve, watch),
    "Look": (runs, logs, diff, replay, rm),
    "Compare": (batch, report, compare, influence, rate),
    "Study": (code, interview, plan, pool, export, bundle),
    "Make": (init, validate, check, gen_items),
    "More": (games, models, schema),
}


class _Commands(TyperGroup):
    """All commands, whose help lists them by what they are for."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        room = formatter.width - 6 - max(map(len, _BY_NAME))
        for title, own in _COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(_name(each), _summary(each, room)) for each in own])


def _name(command: Callable[..., None]) -> str:
    return command.__name__.replace("_", "-")


def _summary(command: Callable[..., None], room: int) -> str:
    return str(_Command(_name(command), help=getdoc(command)).get_short_help_str(room))


_BY_NAME = {_name(command): command for command in chain.from_iterable(_COMMANDS.values())}

DEBUG = "--debug"
_ALL = "*"
_COMPLETION = "_AGENTSIM_COMPLETE"  # with which shells ask for the words that may follow
GC_THRESHOLD = (25_000, 20, 20)
"""The thresholds of Python's garbage collector. A wave of a hundred calls makes many objects that live until its end,
which collections at the default threshold of 700 would scan in vain. A full collection takes 50 ms."""
LONGEST = 2000  # characters of an error, which may quote what was typed


def _version(wanted: bool) -> None:
    if wanted:
        from agentsim import __version__

        typer.echo(f"agentsim {__version__}")
        raise typer.Exit


def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Print the traceback of an error.")] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _app(commands: Iterable[Callable[..., None]]) -> typer.Typer:
    made = typer.Typer(
        name="agentsim",
        cls=_Commands,
        help="Multi-agent games played by language models: one TOML in, a resumable, provable history out.",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    made.callback(invoke_without_command=True)(_options)
    for command in commands:
        made.command(cls=_Command)(o.grouped(command))
    return made


app = _app(_BY_NAME.values())


def _warned(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning of the library as a line of the program."""
    from agentsim.cli.terminal_output import remark  # slow to import, and rarely needed

    remark(f"warning: {message}")


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    gc.set_threshold(*GC_THRESHOLD)
    _open_streams()
    warnings.showwarning = _warned
    warnings.filterwarnings("default", message=".*: left out, ", category=UserWarning)
    debug = DEBUG in sys.argv
    sys.argv = [sys.argv[0], *(word for word in sys.argv[1:] if word != DEBUG)]
    try:
        code: Any = _parser(_named(sys.argv[1:]))(standalone_mode=False)
    except AgentsimError as error:
        code = _fail(str(error), error.exit_code, debug)
    except (KeyboardInterrupt, typer.Abort):
        code = _fail("interrupted", 130, debug)
    except BrokenPipeError:
        code = 1
    except OSError as error:  # such as a full disk or a missing directory
        code = _fail(_of_a_file(error), 1, debug)
    except Exception as error:
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # usage errors of the parser
            code = _fail(_reworded(error.format_message()) + _where_to_look(error), error.exit_code, debug)
        else:
            hint = "" if debug else " (a bug in agentsim or in a game; --debug prints the traceback)"
            code = _fail(f"{location_of(error)}: {type(error).__name__}: {error}{hint}", 1, debug)
    if (lost := _flush()) and not code:
        code = _fail(lost, 1, debug)
    sys.exit(code if isinstance(code, int) else 0)


def _named(words: Sequence[str]) -> str:
    """Return the command that a command line names, "" for options alone, or `_ALL` if the parser needs every name."""
    named = next((word for word in words if not word.startswith("-")), "")
    return named if named in {"", *_BY_NAME} and _COMPLETION not in os.environ else _ALL


@cache
def _parser(named: str) -> Any:
    """Return the parser of one command, built once: building that of all takes a third of the time of `--help`."""
    return typer.main.get_command(app if named == _ALL else _app([_BY_NAME[named]] if named else []))


def _fail(message: str, code: int, debug: bool) -> int:
    from agentsim.cli.terminal_output import note, safe, shortened

    if debug:
        note(safe(traceback.format_exc()).rstrip())
    note(f"agentsim: {shortened(message, LONGEST)}")
    return code


def _reworded(message: str) -> str:
    """Return the parser's message in the style of our own errors."""
    message = re.sub(r"\bValue error, |, unable to parse string as an? \w+", "", message)
    return message.replace("Input should be", "must be").removesuffix(".")


def _where_to_look(error: Any) -> str:
    """Return a hint at `--help` if the parser's message does not list the valid values, else ""."""
    context, message = getattr(error, "ctx", None), error.format_message()
    if context is None or message.startswith("Invalid value") or "Did you mean" in message or "Possible" in message:
        return ""
    command = "agentsim" if context.parent is None else f"agentsim {context.info_name}"
    return f" (`{command} --help` says what is valid)"


def _open_streams() -> None:
    """Open /dev/null for each standard stream that is closed.

    Otherwise the first file that is opened would get the stream's number and receive its output.
    """
    while (void := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(void)
    sys.stdout = sys.stdout or _void()
    sys.stderr = sys.stderr or _void()
    if isinstance(sys.stdout, io.TextIOWrapper):  # for characters that the locale cannot encode
        sys.stdout.reconfigure(errors="backslashreplace")


def _void() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - a stream like the two it stands for


_NO_ROOM = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


def _of_a_file(error: OSError) -> str:
    """Return the message of a system error, with its file.

    A disk-full error without a file name concerns standard output.
    """
    from agentsim.records.disk import write_problem  # slow to import, and not needed for `--help`

    if error.filename:
        return f"{error.filename}: {error.strerror or error}"
    if error.errno not in _NO_ROOM:
        return error.strerror or str(error)
    try:
        file = Path(f"/proc/self/fd/{sys.stdout.fileno()}").readlink()
    except (OSError, ValueError):
        return f"standard output: {error.strerror}"
    return f"standard output ({file}): {write_problem(error, file) if file.is_file() else error.strerror}"


def _flush() -> str:
    """Flush the standard streams, and return the error if output is lost because the disk is full, else ""."""
    lost = ""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in _NO_ROOM and stream is sys.stdout:
                lost = _of_a_file(error)
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # discards the rest of the output
    return lost
