"""batches: what `batch` and `resume` do alike: a batch's folder made ready, its games played, its end printed."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from agentsim.cli.finish import money
from agentsim.cli.options import ExecutorKind
from agentsim.cli.screen import note, safe, shortened
from agentsim.engine.wording import counted
from agentsim.errors import AgentsimError, BudgetReached, UsageError

if TYPE_CHECKING:
    from agentsim.cli.options import DisplayMode
    from agentsim.history.shares import Shares
    from agentsim.models.permits import Variables
    from agentsim.runner.batch.conduct import BatchResult, Executor
    from agentsim.runner.batch.manifest import Manifest

__all__ = ["DRAWN", "carry_on", "folder_of", "prepared"]

DRAWN = -1
"""In the place of a seed that nobody gave; no seed is negative."""
_ON_A_CLUSTER = 100
"""Games that a scheduler is given at once, unless somebody says otherwise; it has them wait for its workers."""
_CALLERS = 8
"""Games with models that are played at once, unless somebody says otherwise; each waits for its own replies."""


def prepared(wanted: Manifest, out: Path | None, logs_dir: Path) -> tuple[Path, Manifest]:
    """The batch's folder with its manifest in it, the one that was there if it means the same games.

    One that means the first of these games gets the others too. The seed `DRAWN` is drawn, unless the folder knows it.
    `UsageError` where the folder holds another batch, or this one with more games.
    """
    from agentsim.history.files import MANIFEST
    from agentsim.runner.batch.lock import locked
    from agentsim.runner.batch.manifest import planned, read_manifest, require_manifest
    from agentsim.runner.session import MAX_DRAWN_SEED

    scenario = wanted.casts[0]
    directory = out if out is not None else logs_dir / f"batch_{scenario.name or scenario.game}_{wanted.digest()}"
    there = read_manifest(directory)
    drawn = wanted.design.seed == DRAWN
    if drawn:
        seed = secrets.randbelow(MAX_DRAWN_SEED) if there is None else there.design.seed
        wanted = planned(replace(wanted.design, seed=seed), wanted.casts)
    if there is None:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            names = [path.name for path in directory.iterdir()]
            if MANIFEST not in names and any(name.endswith((".json", ".jsonl")) for name in names):
                raise UsageError(f"{directory}: holds other runs; a batch needs a folder of its own")
            wanted.write(directory)
        except FileExistsError:
            if (there := read_manifest(directory)) is None:  # not the manifest's: the folder's name is a file's
                raise UsageError(f"{directory}: is not a directory") from None
            if drawn:
                wanted = planned(replace(wanted.design, seed=there.design.seed), wanted.casts)
        except OSError as error:
            raise UsageError(f"{directory}: cannot write there: {error.strerror or error}") from None
    if there is not None:
        wanted = _joined(there, wanted, directory)
        if len(wanted.games) > len(there.games):
            with locked(directory):
                wanted = _joined(require_manifest(directory), wanted, directory)  # it may have grown since
                wanted.write(directory, instead=True)
    return directory, wanted


def _joined(there: Manifest, wanted: Manifest, directory: Path) -> Manifest:
    """What is wanted, under the names that its games have in the folder; `UsageError` where that is something else."""
    if not there.same_batch(wanted):
        raise UsageError(f"{directory}: holds another batch ({_difference(there, wanted)}); give it another --out")
    if len(there.games) > len(wanted.games):
        more = f"{len(there.games)} games of this batch, and not {len(wanted.games)}"
        raise UsageError(f"{directory}: holds {more}; ask for as many or more, or give it another --out")
    return wanted.following(there)


def folder_of(name: str, logs_dir: Path) -> Path | None:
    """The folder of the batch of that name or path; None where there is none."""
    from agentsim.history.files import MANIFEST

    return next((path for path in (Path(name), logs_dir / name) if (path / MANIFEST).is_file()), None)


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
    """Play what is left, print what came of it, and exit with the batch's code."""
    from agentsim.cli.batch_display import shown
    from agentsim.runner.batch.conduct import conduct, plays_alone

    alone = plays_alone(manifest)
    if jobs is None:
        at_once = _ON_A_CLUSTER if scheduler is not None else os.cpu_count() or 1
        jobs = at_once if alone or executor is not ExecutorKind.local else _callers(manifest)
    elsewhere = _elsewhere(executor, scheduler, jobs, env)
    for spread in manifest.balance():
        if spread["least"] != spread["most"]:
            note(f"agentsim: uneven: {spread['what']}: {spread['least']} to {spread['most']} times")
    with shown(display, directory.name) as watcher:
        result = conduct(
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
    """What makes an executor that is not our own; `UsageError` where it cannot be had."""
    if kind is ExecutorKind.local:
        if scheduler is not None:
            raise UsageError("--scheduler is for --executor dask")
        return None
    if find_spec("distributed") is None:
        raise UsageError("--executor dask needs the extra cluster: pip install 'agentsim[cluster]'")
    from agentsim.runner.batch.on_dask import OnDask

    return lambda: OnDask(scheduler, jobs, env)


def _callers(manifest: Manifest) -> int:
    """How many games at once: of those with an embedded model one, since each would start a server of its own."""
    seats = (plan for cast in manifest.casts for plan in cast.seats)
    return 1 if any(each.name.kind == "local" for plan in seats for each in plan.models) else _CALLERS


def _difference(there: Manifest, wanted: Manifest) -> str:
    for name in ("seed", "models", "rotate", "paired"):
        one, other = getattr(there.design, name), getattr(wanted.design, name)
        if one != other:
            return shortened(f"{name}: {_said(one)} there, {_said(other)} here", 300)
    return "its scenario is not this one"


def _said(value: Any) -> str:
    return ",".join(value) or "none" if isinstance(value, tuple) else str(value).lower()


def _pages(manifest: Manifest, directory: Path) -> None:
    from agentsim.cli.pages import write_page
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
            **({"mended": result.mended} if result.mended else {}),
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
    if result.mended:
        count, first = len(result.mended), next(iter(result.mended.values()))
        many = "1 history is" if count == 1 else f"{count} histories are"
        note(shortened(f"agentsim: {many} made again from the journal: {first}", 300))
    if result.stopped is not None:
        note(f"agentsim: {shortened(str(result.stopped), 600)}; {_hint(result, result.stopped)}")
    elif not result.complete:
        left = counted(tally.games - tally.done, "game")
        note(f"agentsim: {left} came to no result; {_again(result)} tries again")


def _shares(manifest: Manifest, result: BatchResult) -> Shares:
    """The shares of fallbacks of all games in the folder; where bots alone decide, there are none to count."""
    from agentsim.history.listing import list_runs
    from agentsim.history.shares import summed
    from agentsim.runner.batch.conduct import plays_alone

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
