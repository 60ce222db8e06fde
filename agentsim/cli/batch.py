"""`agentsim batch`: many games of one scenario, in a folder of their own. `agentsim resume` continues them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentsim.cli import shared_options as o
from agentsim.cli.terminal_output import remark, safe, say_json, shortened
from agentsim.engine.wording import counted
from agentsim.errors import AgentsimError, BudgetReached, UsageError, installed_by

if TYPE_CHECKING:
    from agentsim.models.keys import Variables
    from agentsim.runs.batch.executors import Executor
    from agentsim.runs.batch.manifest import Manifest
    from agentsim.runs.batch.tally import BatchResult


_ON_A_CLUSTER = 100
"""The default number of games submitted to a scheduler at once, where they wait for its workers."""


def batch(
    *,
    source: o.ConfigFile,
    games: Annotated[int | None, o.option("--games", "How many games; --design may say it.", "N", min=1)] = None,
    design: o.Design = None,
    until_width: Annotated[
        float | None,
        o.option(
            "--until-width",
            "End when the interval of an effect of --design is narrower; see --measure.",
            "W",
            rich_help_panel=o.ADVANCED,
        ),
    ] = None,
    effect: o.EffectOptions,
    playing: o.Playing,
    seed: Annotated[int | None, o.option("--seed", "Source of the games' seeds.", "S", min=0)] = None,
    models: Annotated[
        str | None,
        o.option("--models", "Models that rotate through the seats.", "A,B,C"),
    ] = None,
    rotate: Annotated[bool, o.option("--rotate", "Rotate the players' places at the table.")] = False,
    paired: Annotated[bool, o.option("--paired", "Use one seed for all seatings of a game.")] = False,
    out: Annotated[Path | None, o.option("--out", "Folder of the batch; by default in --logs-dir.", "DIR")] = None,
    logs_dir: o.LogsDir = Path("logs"),
    loading: o.Loading,
    limits: o.LimitOptions,
    display: o.Display = "auto",
    as_json: o.AsJson = False,
    html: o.Html = False,
    keys: o.Keys,
) -> None:
    """Play many games of a scenario, resumably.

    The same command continues; a larger --games plays the new games. Limits hold for all games together.
    `agentsim report DIR` compares the players.
    """
    from agentsim.studies.batches import prepare_batch

    until: dict[str, Any] | None = None
    if until_width is not None:
        if not 0 < until_width < float("inf"):
            raise UsageError(f"--until-width: must be a number above 0, found {until_width:g}")
        until = {"width": until_width, **asdict(effect)}
    elif effect != o.EffectOptions():
        raise UsageError("--until-width: needs --measure, --factor or --player, which name its interval")
    directory, manifest = prepare_batch(
        source.given,
        games=games,
        cast=[name.strip() for name in models.split(",")] if models is not None else (),
        rotate=rotate,
        paired=paired,
        out=out,
        logs_dir=logs_dir,
        seed=seed,
        design=design,
        until=until,
        **loading.with_limits(limits),
    )
    carry_on(manifest, directory, playing, env=keys.env, display=display, as_json=as_json, html=html)


def carry_on(
    manifest: Manifest,
    directory: Path,
    playing: o.Playing,
    *,
    env: Variables,
    display: o.DisplayMode,
    as_json: bool,
    html: bool = False,
) -> None:
    """Play the remaining games, print the result, and exit with the batch's code."""
    from agentsim.cli.display import shown_batch
    from agentsim.runs.batch.manifest import concurrent_games
    from agentsim.runs.batch.run_batch import Batch
    from agentsim.studies.batches import width_reached

    jobs = playing.jobs
    if jobs is None and playing.executor == "dask":
        jobs = _ON_A_CLUSTER if playing.scheduler is not None else os.cpu_count() or 1
    jobs = concurrent_games(manifest) if jobs is None else jobs
    elsewhere = _elsewhere(playing.executor, playing.scheduler, jobs, env)
    enough = width_reached(directory, manifest.design.until)
    design = _design_in_words(manifest, directory)
    if design is not None and not as_json:
        blocks = counted(manifest.design.games // manifest.design.cells, "block")
        typer.echo(safe(f"design: {design}; {blocks}"))
    for spread in manifest.balance():
        if spread["least"] != spread["most"]:
            remark(f"uneven: {spread['what']}: {spread['least']} to {counted(spread['most'], 'time')}")
    with shown_batch(display, directory.name) as watcher:
        result = Batch(
            manifest,
            directory,
            env=env,
            jobs=jobs,
            abort_after=playing.abort_after,
            watcher=watcher,
            executor=elsewhere,
            enough=enough,
        ).run()
    if html:
        write_pages(directory, (game.name for game in manifest.games))
    _print(manifest, result, design, as_json=as_json)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


def _elsewhere(kind: o.ExecutorKind, scheduler: str | None, jobs: int, env: Variables) -> Callable[[], Executor] | None:
    """Return the factory of an executor on a cluster, or None for this machine.

    Raises `UsageError` if it is not available.
    """
    if kind == "local":
        if scheduler is not None:
            raise UsageError("--scheduler is for --executor dask")
        return None
    if find_spec("distributed") is None:
        raise UsageError(f"--executor dask needs the extra cluster: {installed_by('cluster')}")
    from agentsim.runs.batch.on_dask import OnDask

    return lambda: OnDask(scheduler, jobs, env)


def write_pages(directory: Path, names: Iterable[str]) -> None:
    """Write the page of each of these runs that has a history and no page yet."""
    from agentsim.records.run_files import RunFiles
    from agentsim.results import run_in

    for name in names:
        files = RunFiles(directory, name)
        if files.history.is_file() and not files.page.is_file():
            run_in(files).page(files.page)


def _design_in_words(manifest: Manifest, directory: Path) -> str | None:
    """Return the size of a batch's factorial design and the aliases of its fraction, or None without a design."""
    from agentsim.studies.designs import load_design

    record = manifest.design.factorial
    return None if record is None else load_design(directory, record).in_words


def _print(manifest: Manifest, result: BatchResult, design: str | None, *, as_json: bool) -> None:
    from agentsim.cli.finish import money
    from agentsim.records.fallback_rates import summed
    from agentsim.records.load import list_runs
    from agentsim.runs.batch.manifest import plays_alone

    tally = result.tally
    runs = [] if plays_alone(manifest) else list_runs(result.directory)  # bots have no fallbacks
    found = summed([run.fallback_rates for run in runs if run.fallback_rates is not None])
    if as_json:
        say_json(
            {
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
                **({} if design is None else {"design": design}),
                **({} if result.enough is None else {"enough": result.enough}),
                **({"mended": result.rebuilt} if result.rebuilt else {}),
                "errors": {end.name: end.error for end in result.ends if end.error is not None},
            }
        )
    else:
        calls = f"; calls: {tally.calls}; cost: {money(tally.cost_usd, tally.unpriced_calls)}" if tally.calls else ""
        typer.echo(safe(f"{result.directory}: {tally.done} of {counted(tally.games, 'game')} done{calls}"))
        if result.enough is not None:
            typer.echo(safe(f"no more are needed: {result.enough}"))
        if found.whole.fallbacks or found.whole.turned_away:
            typer.echo(safe(f"{'warning: ' * found.notable}fallbacks: {found.in_words}"))
        if degraded := tally.statuses["degraded"]:
            typer.echo(f"degraded: {counted(degraded, 'game')} of this session: above limits.max_fallback_rate")
    if result.rebuilt:
        count, first = len(result.rebuilt), next(iter(result.rebuilt.values()))
        many = counted(count, "history is", "histories are")
        remark(f"{many} made again from the journal: {first}", 300)
    again = f"agentsim resume {result.directory}"
    if result.stopped is not None:
        remark(f"{shortened(str(result.stopped), 600)}; {_hint(again, result.stopped)}", 1200)
    elif not result.complete:
        failed = [end for end in result.ends if end.error is not None]
        last = f", the last ({failed[-1].name}) with: {shortened(str(failed[-1].error), 600)}" if failed else ""
        remark(f"{counted(tally.games - tally.done, 'game')} came to no result{last}; {again} tries again", 1200)


def _hint(again: str, error: AgentsimError) -> str:
    if not isinstance(error, BudgetReached):
        return f"go on with: {again}"
    option = "--max-calls N" if "max_calls" in str(error) else "--max-cost USD"
    if " had its share " in str(error):
        return f"fewer games at once leave more to each; go on with: {again} --jobs 1, or {option}"
    return f"a higher limit is needed; go on with: {again} {option}"
