"""`agentsim diff`: where two runs part."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentsim.cli import options as o
from agentsim.cli.terminal_output import safe, say_json, shortened
from agentsim.errors import UsageError

if TYPE_CHECKING:
    from agentsim.history.load import Divergence, Parted


_LONGEST = 300
"""A line about where two runs part, in characters."""


def diff(
    one: Annotated[str, typer.Argument(metavar="A", help="A run's name, or its history file.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Another's.")],
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Show where two runs part and what followed."""
    from agentsim.history.load import divergence, find_source, load_history, require_history
    from agentsim.history.run_files import RunFiles

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
    for row in _parting(parted, one, other):
        typer.echo(safe(row))


def _parting(parted: Divergence, one: str, other: str) -> list[str]:
    rows = [
        shortened(f"{player}: {mine or 'no player'} in {one}, {theirs or 'no player'} in {other}", _LONGEST)
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
        rows.append(f"  {shortened(player, _LONGEST)}: {_rank(mine)} in {one}, {_rank(theirs)} in {other}{moved}")
    return rows


def _place(what: str, parted: Parted | None, one: str, other: str) -> list[str]:
    if parted is None:
        return [f"no {what} differs"]
    rows = [f"the first {what} that differs is number {parted.place}:"]
    for name, side in ((one, parted.one), (other, parted.other)):
        said = "it has ended" if side is None else json.dumps(side, ensure_ascii=False)
        rows.append(f"  {name}: {shortened(said, _LONGEST)}")
    return rows


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
