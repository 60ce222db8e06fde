"""The commands in one Typer application; an error becomes one line and an exit code.

Nothing heavy is imported here, so that `agentsim --help` is fast. Commands import inside their functions.
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
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NoReturn, TextIO

import typer
from typer.core import TyperCommand

from agentsim.cli.batch import batch
from agentsim.cli.compare import compare, diff, influence
from agentsim.cli.rate import plan, pool, rate
from agentsim.cli.report import report
from agentsim.cli.run import fork, replay, resume, run
from agentsim.cli.saved_runs import bundle, export, logs, runs, watch
from agentsim.cli.scaffold import gen_items, init
from agentsim.cli.scenarios import check, games, models, schema, validate
from agentsim.cli.serve import serve
from agentsim.errors import AgentsimError


class _Command(TyperCommand):
    """A command whose usage line names arguments as its help and the documentation do, without Typer's braces."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [re.sub(r"^\{(.+)\}", r"\1", piece) for piece in super().collect_usage_pieces(ctx)]


app = typer.Typer(
    name="agentsim",
    help="Multi-agent games played by language models: one TOML in, a resumable, provable history out.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
_PLAY = (run, batch, resume, replay, fork, influence, rate)
_READ = (watch, serve, logs, runs, diff, report, compare, pool, export, bundle)
_PREPARE = (init, validate, plan, check, gen_items, games, models, schema)
for command in (*_PLAY, *_READ, *_PREPARE):
    app.command(cls=_Command)(command)

DEBUG = "--debug"
GC_THRESHOLD = (25_000, 20, 20)
"""A wave of a hundred calls makes many objects that live until its end: Python's 700 look through them in vain, and a
full pass takes 50 ms."""
LONGEST = 2000  # characters of an error: what was typed may be as long as one likes


def _version(wanted: bool) -> None:
    if wanted:
        from agentsim import __version__

        typer.echo(f"agentsim {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Print the traceback of an error.")] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    gc.set_threshold(*GC_THRESHOLD)
    _open_streams()
    debug = DEBUG in sys.argv
    sys.argv = [sys.argv[0], *(word for word in sys.argv[1:] if word != DEBUG)]
    try:
        code: Any = _command()(standalone_mode=False)
    except AgentsimError as error:
        code = _fail(str(error), error.exit_code, debug)
    except (KeyboardInterrupt, typer.Abort):
        code = _fail("interrupted", 130, debug)
    except BrokenPipeError:
        code = 1
    except OSError as error:  # a disk that is full, a directory that is gone
        code = _fail(_of_a_file(error), 1, debug)
    except Exception as error:
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # the parser's own usage errors
            code = _fail(_reworded(error.format_message()) + _where_to_look(error), error.exit_code, debug)
        else:
            hint = "" if debug else " (a bug in agentsim or in a game; --debug prints the traceback)"
            code = _fail(f"{type(error).__name__}: {error}{hint}", 1, debug)
    if (lost := _flush()) and not code:
        code = _fail(lost, 1, debug)
    sys.exit(code if isinstance(code, int) else 0)


@cache
def _command() -> Any:
    """The parser of all commands, built once: building it takes longer than parsing."""
    return typer.main.get_command(app)


def _fail(message: str, code: int, debug: bool) -> int:
    from agentsim.cli.terminal_output import note, safe, shortened

    if debug:
        note(safe(traceback.format_exc()).rstrip())
    note(f"agentsim: {shortened(message, LONGEST)}")
    return code


def _reworded(message: str) -> str:
    """The parser's sentence in the words of our own errors."""
    message = re.sub(r"\bValue error, |, unable to parse string as an? \w+", "", message)
    return message.replace("Input should be", "must be").removesuffix(".")


def _where_to_look(error: Any) -> str:
    """What would be valid, where the parser's sentence does not say it: an unknown word, or one that is missing."""
    context, message = getattr(error, "ctx", None), error.format_message()
    if context is None or message.startswith("Invalid value") or "Did you mean" in message or "Possible" in message:
        return ""
    command = "agentsim" if context.parent is None else f"agentsim {context.info_name}"
    return f" (`{command} --help` says what is valid)"


def _open_streams() -> None:
    """Opens /dev/null for each standard stream that is closed.

    Otherwise the first file opened would get the stream's number, and its output.
    """
    while (void := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(void)
    sys.stdout = sys.stdout or _void()
    sys.stderr = sys.stderr or _void()
    if isinstance(sys.stdout, io.TextIOWrapper):  # where the locale has no word for a character
        sys.stdout.reconfigure(errors="backslashreplace")


def _void() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - a stream like the two it stands for


_NO_ROOM = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


def _of_a_file(error: OSError) -> str:
    """Return what an error of the system says, with its file; a write that names none was to a standard stream."""
    from agentsim.history.disk import write_problem  # with it comes what `--help` does not need

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
    """Flush the standard streams, and return why the output is not whole; a closed pipe is not reported at exit."""
    lost = ""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            if isinstance(error, OSError) and error.errno in _NO_ROOM and stream is sys.stdout:
                lost = _of_a_file(error)
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # the rest of the output goes there
    return lost
