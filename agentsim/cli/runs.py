"""`agentsim runs`, `watch` and `diff`: what the terminal shows of runs that are there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentsim.cli import options as o
from agentsim.cli.terminal_output import aligned, columns, remark, safe, say_json, shortened
from agentsim.errors import UsageError

if TYPE_CHECKING:
    from agentsim.history.divergence import Divergence, Parted

__all__ = ["diff", "runs", "watch"]

_LENGTH = 300


def runs(logs_dir: o.LogsDir = Path("logs"), as_json: o.AsJson = False) -> None:
    """List runs: status, winner, fallbacks, cost; the newest last."""
    from agentsim.cli.finish import money
    from agentsim.history.fallbacks import NOTABLE
    from agentsim.history.load import list_runs

    if logs_dir.exists() and not logs_dir.is_dir():
        raise UsageError(f"{logs_dir}: is not a directory")
    found = list_runs(logs_dir)
    if as_json:
        say_json([run.to_json() for run in found])
        return
    if not found:
        typer.echo(f"no runs in {logs_dir}")
        return
    if above := [f"{run.name} {run.shares.short}" for run in found if run.shares is not None and run.shares.notable]:
        remark(f"warning: fallbacks decided more than {NOTABLE:.0%} of {', '.join(above)}")
    rows: list[tuple[str, ...]] = [("name", "status", "game", "winner", "fallbacks", "cost")]
    for run in found:
        cost = "-" if run.status == "unreadable" else money(run.cost_usd)
        fallbacks = "-" if run.shares is None else run.shares.short
        row = (run.name, run.status, run.game, run.winner or "-", fallbacks, cost)
        rows.append(tuple(map(safe, row)))
    lines, width = aligned(rows), columns(sys.stdout)
    if width is not None and max(map(len, lines)) > width:
        lines = [f"{name}\n  {'  '.join(others[:-2])}\n  {'  '.join(others[-2:])}" for name, *others in rows[1:]]
    for line in lines:
        typer.echo(line)


def watch(name: o.RunName, logs_dir: o.LogsDir = Path("logs"), display: o.Display = "auto") -> None:
    """Follow a running game in the terminal.

    It reads the journal and touches nothing; Ctrl-C ends the watching, not the game. Of a game that is over it shows
    every public event.
    """
    from agentsim.cli.display import shown
    from agentsim.history.files import find_run
    from agentsim.runner.follow import follow

    files = find_run(logs_dir, name)
    with shown(display) as watcher:
        status = follow(files, watcher)
    typer.echo(f"{files.name}: {status}")


def diff(
    one: Annotated[str, typer.Argument(metavar="A", help="A run's name, or its history file.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Another's.")],
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Show where two runs part and what followed."""
    from dataclasses import asdict

    from agentsim.history.divergence import divergence
    from agentsim.history.files import RunFiles
    from agentsim.history.load import find_source, load_history, require_history

    histories = []
    for name in (one, other):
        found = find_source(name, logs_dir)
        if isinstance(found, RunFiles):
            require_history(found)
            found = found.history
        histories.append(load_history(found))
    if histories[0].game != histories[1].game:
        raise UsageError(f"{one} is a game of {histories[0].game}, {other} of {histories[1].game}")
    parted = divergence(*histories)
    if as_json:
        line = {"a": one, "b": other, "same": parted.same, **asdict(parted)}
        say_json(line)
        return
    for row in _report(parted, one, other):
        typer.echo(safe(row))


def _report(parted: Divergence, one: str, other: str) -> list[str]:
    rows = [
        shortened(f"{player}: {mine or 'nobody'} in {one}, {theirs or 'nobody'} in {other}", _LENGTH)
        for player, (mine, theirs) in parted.settings.items()
    ]
    if parted.same:
        return [*rows, f"{one} and {other}: the same decisions, events and outcome"]
    rows += _place("decision", parted.decision, one, other)
    rows += _place("event", parted.event, one, other)
    if parted.decision is not None:
        rows.append(
            f"from there on: {parted.decisions_after[0]} decisions in {one}, {parted.decisions_after[1]} in {other}"
        )
    rows.append("ranks:")
    for player, (mine, theirs) in parted.ranks.items():
        moved = "" if mine == theirs else "  <"
        rows.append(f"  {shortened(player, _LENGTH)}: {_rank(mine)} in {one}, {_rank(theirs)} in {other}{moved}")
    return rows


def _place(what: str, parted: Parted | None, one: str, other: str) -> list[str]:
    if parted is None:
        return [f"no {what} differs"]
    rows = [f"the first {what} that differs is number {parted.place}:"]
    for name, side in ((one, parted.one), (other, parted.other)):
        said = "it has ended" if side is None else json.dumps(side, ensure_ascii=False)
        rows.append(f"  {name}: {shortened(said, _LENGTH)}")
    return rows


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
