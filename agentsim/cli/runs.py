"""`agentsim runs`: what is in the logs folder."""

from __future__ import annotations

from pathlib import Path

import typer

from agentsim.cli import options as o

__all__ = ["runs"]


def runs(logs_dir: o.LogsDir = Path("logs"), as_json: o.AsJson = False) -> None:
    """List runs: status, winner, fallbacks, cost; the newest last."""
    import json
    import sys

    from agentsim.cli.finish import money
    from agentsim.cli.terminal_output import columns, note, safe, shortened
    from agentsim.errors import UsageError
    from agentsim.history.fallbacks import NOTABLE
    from agentsim.history.load import list_runs

    if logs_dir.exists() and not logs_dir.is_dir():
        raise UsageError(f"{logs_dir}: is not a directory")
    found = list_runs(logs_dir)
    if as_json:
        typer.echo(json.dumps([run.to_json() for run in found], ensure_ascii=True, allow_nan=False))
        return
    if not found:
        typer.echo(f"no runs in {logs_dir}")
        return
    if above := [f"{run.name} {run.shares.short}" for run in found if run.shares is not None and run.shares.notable]:
        note(shortened(f"agentsim: warning: fallbacks decided more than {NOTABLE:.0%} of {', '.join(above)}", 600))
    rows = [
        ("name", "status", "game", "winner", "fallbacks", "cost"),
        *(
            (
                run.name,
                run.status,
                run.game,
                run.winner or "-",
                "-" if run.shares is None else run.shares.short,
                "-" if run.status == "unreadable" else money(run.cost_usd),
            )
            for run in found
        ),
    ]
    width = columns(sys.stdout)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    if width is not None and sum(widths) + 2 * (len(widths) - 1) > width:
        for name, *others in rows[1:]:
            typer.echo(safe(name))
            typer.echo(safe(f"  {'  '.join(others[:-2])}"))
            typer.echo(safe(f"  {'  '.join(others[-2:])}"))
        return
    for row in rows:
        typer.echo(safe("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip())
