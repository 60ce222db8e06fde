"""Plays the games of a batch and prints the result, for `agentsim batch` and `agentsim resume`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from agentsim.cli.finish import money, write_page
from agentsim.cli.options import ExecutorKind
from agentsim.cli.terminal_output import note, safe, shortened
from agentsim.engine.wording import counted
from agentsim.errors import AgentsimError, BudgetReached, UsageError

if TYPE_CHECKING:
    from agentsim.cli.options import DisplayMode
    from agentsim.history.fallbacks import Shares
    from agentsim.models.keys import Variables
    from agentsim.runner.batch.executors import Executor
    from agentsim.runner.batch.manifest import Manifest
    from agentsim.runner.batch.tally import BatchResult

__all__ = ["carry_on"]

_ON_A_CLUSTER = 100
"""Games that a scheduler gets at once by default; there they wait for its workers."""


def carry_on(
    manifest: Manifest,
    directory: Path,
    *,
    env: Variables,
    jobs: int | None,
    abort_after: int,
    display: DisplayMode,
    as_json: bool,
    html: bool,
    executor: ExecutorKind,
    scheduler: str | None,
) -> None:
    """Play the games that are left, print the result, and exit with the batch's code."""
    from agentsim.cli.batch_display import shown
    from agentsim.runner.batch.manifest import at_once
    from agentsim.runner.batch.run_batch import run_batch

    if jobs is None and executor is not ExecutorKind.local:
        jobs = _ON_A_CLUSTER if scheduler is not None else os.cpu_count() or 1
    jobs = at_once(manifest) if jobs is None else jobs
    elsewhere = _elsewhere(executor, scheduler, jobs, env)
    for spread in manifest.balance():
        if spread["least"] != spread["most"]:
            note(f"agentsim: uneven: {spread['what']}: {spread['least']} to {spread['most']} times")
    with shown(display, directory.name) as watcher:
        result = run_batch(
            manifest,
            directory,
            env=env,
            jobs=jobs,
            abort_after=abort_after,
            watcher=watcher,
            executor=elsewhere,
        )
    if html:
        _pages(manifest, directory)
    _print(manifest, result, as_json=as_json)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


def _elsewhere(kind: ExecutorKind, scheduler: str | None, jobs: int, env: Variables) -> Callable[[], Executor] | None:
    """The factory of an executor on a cluster, None for this machine; `UsageError` where it is not available."""
    if kind is ExecutorKind.local:
        if scheduler is not None:
            raise UsageError("--scheduler is for --executor dask")
        return None
    if find_spec("distributed") is None:
        raise UsageError("--executor dask needs the extra cluster: pip install 'agentsim[cluster]'")
    from agentsim.runner.batch.on_dask import OnDask

    return lambda: OnDask(scheduler, jobs, env)


def _pages(manifest: Manifest, directory: Path) -> None:
    from agentsim.history.files import RunFiles
    from agentsim.report.page import PageOptions

    for game in manifest.games:
        files = RunFiles(directory, game.name)
        if files.history.is_file() and not files.page.is_file():
            write_page(files, PageOptions())


def _print(manifest: Manifest, result: BatchResult, *, as_json: bool) -> None:
    tally = result.tally
    found = _shares(manifest, result)
    if as_json:
        line = {
            "batch": str(result.directory),
            "complete": result.complete,
            "game": manifest.casts[0].game,
            "seed": manifest.design.seed,
            "games": tally.games,
            "done": tally.done,
            "ended_now": dict(sorted(tally.statuses.items())),
            "calls": tally.calls,
            "cost_usd": round(tally.cost_usd, 10),
            "unpriced_calls": tally.unpriced_calls,
            "fallbacks": found.to_json(),
            "balance": manifest.balance(),
            **({"mended": result.rebuilt} if result.rebuilt else {}),
            "errors": {end.name: end.error for end in result.ends if end.error is not None},
        }
        typer.echo(json.dumps(line, ensure_ascii=True, allow_nan=False))
    else:
        calls = f"; calls: {tally.calls}; cost: {money(tally.cost_usd, tally.unpriced_calls)}" if tally.calls else ""
        typer.echo(safe(f"{result.directory}: {tally.done} of {tally.games} games done{calls}"))
        if found.whole.fallbacks or found.whole.turned_away:
            typer.echo(safe(f"{'warning: ' * found.notable}fallbacks: {found.in_words}"))
        if degraded := tally.statuses["degraded"]:
            typer.echo(f"degraded: {counted(degraded, 'game')} of this session: above limits.max_fallback_rate")
    if result.rebuilt:
        count, first = len(result.rebuilt), next(iter(result.rebuilt.values()))
        many = "1 history is" if count == 1 else f"{count} histories are"
        note(shortened(f"agentsim: {many} made again from the journal: {first}", 300))
    if result.stopped is not None:
        note(f"agentsim: {shortened(str(result.stopped), 600)}; {_hint(result, result.stopped)}")
    elif not result.complete:
        left = counted(tally.games - tally.done, "game")
        note(f"agentsim: {left} came to no result; {_again(result)} tries again")


def _shares(manifest: Manifest, result: BatchResult) -> Shares:
    """The shares of fallbacks of all games in the folder; where bots alone decide, there are none to count."""
    from agentsim.history.fallbacks import summed
    from agentsim.history.load import list_runs
    from agentsim.runner.batch.manifest import plays_alone

    runs = [] if plays_alone(manifest) else list_runs(result.directory)
    return summed([run.shares for run in runs if run.shares is not None])


def _again(result: BatchResult) -> str:
    return f"agentsim resume {result.directory}"


def _hint(result: BatchResult, error: AgentsimError) -> str:
    if isinstance(error, BudgetReached):
        option = "--max-calls N" if "max_calls" in str(error) else "--max-cost USD"
        if " had its share " in str(error):
            return f"fewer games at once leave more to each; go on with: {_again(result)} --jobs 1, or {option}"
        return f"a higher limit is needed; go on with: {_again(result)} {option}"
    return f"go on with: {_again(result)}"
