"""`agentsim replay`: prove that a history is what its journal leads to."""

from __future__ import annotations

from pathlib import Path

import typer

from agentsim.cli import options as o

__all__ = ["replay"]


def replay(name: o.RunName, logs_dir: o.LogsDir = Path("logs"), as_json: o.AsJson = False) -> None:
    """Play a journal again and prove the history; no network.

    Every decision comes from the journal; the history that follows from them must be the one on disk.
    """
    import json

    from agentsim.cli.screen import say
    from agentsim.errors import UsageError
    from agentsim.history.contents import read_journal
    from agentsim.history.files import find_run
    from agentsim.history.journal import is_running
    from agentsim.history.load import again_with
    from agentsim.runner.replay import prove

    files = find_run(logs_dir, name)
    if is_running(files.journal):
        raise UsageError(f"{files.name}: is being played now; it can be proved when it has ended")
    if not files.history.is_file():
        read_journal(files.journal)  # a journal that cannot be used is the worse news
        raise UsageError(f"{files.name}: there is no history to prove; `{again_with(files)}` ends the run")
    proof = prove(files)
    if as_json:
        line = {"name": files.name, "identical": True, "decisions": proof.decisions, "complete": proof.complete}
        typer.echo(json.dumps(line))
        return
    end = "to the end of the game" if proof.complete else f"as far as the run went ({proof.history['status']})"
    say(f"{files.name}: {proof.decisions} decisions replayed {end}; the history is identical")
