"""`agentsim replay`: prove that a history is what its journal leads to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentsim.cli import options as o

if TYPE_CHECKING:
    from agentsim.runner.replay import Proof

__all__ = ["replay"]


def replay(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME|FILE", help="The run's name, as `agentsim runs` lists it, or a bundle."),
    ],
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Play a journal again and prove the history; no network.

    Every decision comes from the journal; the history that follows from them must be the one on disk.
    """
    from agentsim.errors import UsageError
    from agentsim.history.contents import read_journal
    from agentsim.history.files import find_run
    from agentsim.history.journal_file import is_running
    from agentsim.history.load import again_with
    from agentsim.runner.replay import prove

    if name.endswith(".zip"):
        _replay_bundle(Path(name), as_json=as_json)
        return
    files = find_run(logs_dir, name)
    if is_running(files.journal):
        raise UsageError(f"{files.name}: is being played now; it can be proved when it has ended")
    if not files.history.is_file():
        read_journal(files.journal)  # a journal that cannot be used is the worse news
        raise UsageError(f"{files.name}: there is no history to prove; `{again_with(files)}` ends the run")
    _show(files.name, prove(files), as_json=as_json)


def _replay_bundle(path: Path, *, as_json: bool) -> None:
    """Prove every run of a bundle, in a folder that is gone afterwards."""
    import tempfile

    from agentsim.history.bundle import unpack
    from agentsim.runner.replay import prove

    with tempfile.TemporaryDirectory(prefix="agentsim-") as folder:
        for files in unpack(path, Path(folder)).runs:
            _show(files.name, prove(files), as_json=as_json)


def _show(name: str, proof: Proof, *, as_json: bool) -> None:
    import json

    from agentsim.cli.terminal_output import say

    if as_json:
        line = {"name": name, "identical": True, "decisions": proof.decisions, "complete": proof.complete}
        typer.echo(json.dumps({**line, "protected": proof.protected, "reread": proof.reread}))
        return
    end = "to the end of the game" if proof.complete else f"as far as the run went ({proof.history['status']})"
    say(f"{name}: {proof.decisions} decisions replayed {end}; the history is identical")
    if not proof.protected:
        say("The journal is of an earlier version: its lines carry no digests, so that it may have been changed.")
    if not proof.reread:
        say("The replies were read by another version of the reader: they were not read again.")
