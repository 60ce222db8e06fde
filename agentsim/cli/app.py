"""app: the commands put together, and how an error becomes one line and an exit code.

Nothing heavy may be imported here: `agentsim --help` is typed often. Commands import inside their functions.
"""

from __future__ import annotations

import sys
import traceback
from typing import Annotated, Any, NoReturn

import typer

from agentsim.cli.games import games
from agentsim.cli.logs import logs
from agentsim.cli.models import models
from agentsim.cli.replay import replay
from agentsim.cli.resume import resume
from agentsim.cli.run import run
from agentsim.cli.runs import runs
from agentsim.cli.schema import schema
from agentsim.cli.validate import validate
from agentsim.errors import AgentsimError

__all__ = ["app", "main"]

app = typer.Typer(
    name="agentsim",
    help="Multi-agent games played by language models: one TOML in, a resumable, provable history out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (run, resume, replay, logs, runs, validate, games, models, schema):
    app.command()(command)

DEBUG = "--debug"


def _version(wanted: bool) -> None:
    if wanted:
        from agentsim import __version__

        typer.echo(f"agentsim {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Show where an error came from, not only what it is.")] = False,
) -> None:
    pass


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    debug = DEBUG in sys.argv
    sys.argv = [sys.argv[0], *(word for word in sys.argv[1:] if word != DEBUG)]
    try:
        code: Any = app(standalone_mode=False)
    except AgentsimError as error:
        code = _fail(str(error), error.exit_code, debug)
    except (KeyboardInterrupt, typer.Abort):
        code = _fail("interrupted", 130, debug)
    except BrokenPipeError:
        code = 1
    except Exception as error:
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # the parser's own usage errors
            code = _fail(error.format_message(), error.exit_code, debug)
        else:
            hint = "" if debug else " (a mistake of agentsim or of a game; --debug shows where)"
            code = _fail(f"{type(error).__name__}: {error}{hint}", 1, debug)
    _flush()
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int, debug: bool) -> int:
    from agentsim.cli.screen import safe

    if debug:
        traceback.print_exc(file=sys.stderr)
    line = " ".join(safe(message).split())
    typer.echo(f"agentsim: {line}", err=True)
    return code


def _flush() -> None:
    """A reader that has gone away is no error of ours, and must not become a message at exit."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stdout = None  # nothing is left to flush at exit
