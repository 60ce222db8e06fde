"""`agentsim diff`: where two runs part, and what followed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentsim.cli import options as o

if TYPE_CHECKING:
    from agentsim.history.divergence import Divergence, Parted

__all__ = ["diff"]

_LENGTH = 300


def diff(
    one: Annotated[str, typer.Argument(metavar="A", help="A run's name, or its history file.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Another's.")],
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Show where two runs part and what followed."""
    import json
    from dataclasses import asdict

    from agentsim.cli.terminal_output import safe
    from agentsim.errors import UsageError
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
        typer.echo(json.dumps(line, ensure_ascii=True, allow_nan=False))
        return
    for row in _report(parted, one, other):
        typer.echo(safe(row))


def _report(parted: Divergence, one: str, other: str) -> list[str]:
    from agentsim.cli.terminal_output import shortened

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
    import json

    from agentsim.cli.terminal_output import shortened

    if parted is None:
        return [f"no {what} differs"]
    rows = [f"the first {what} that differs is number {parted.place}:"]
    for name, side in ((one, parted.one), (other, parted.other)):
        said = "it has ended" if side is None else json.dumps(side, ensure_ascii=False)
        rows.append(f"  {name}: {shortened(said, _LENGTH)}")
    return rows


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
