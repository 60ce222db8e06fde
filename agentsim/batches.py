"""Batches played from Python, and made ready for the command line as well: many games of a scenario, or of a design."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from agentsim.api import Folder, Models, variables
from agentsim.engine.wording import counted
from agentsim.errors import UsageError, needed_by
from agentsim.results import Runs, load, logs_folder
from agentsim.runner.batch.manifest import DRAWN, Manifest, planned, prepared
from agentsim.runner.batch.run_batch import Batch
from agentsim.runner.batch.seating import Design
from agentsim.scenario.design_file import cells, labels, read_design
from agentsim.scenario.factorial import EVERYONE, Until
from agentsim.scenario.load import LoadOptions, Source
from agentsim.scenario.load import load as load_scenario
from agentsim.scenario.scenario import check_prices
from agentsim.scenario.validation import validated

if TYPE_CHECKING:
    from agentsim.analysis.design_effects import FactorEffect


async def batch(
    scenario: Source | None = None,
    *,
    games: int | None = None,
    design: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    until: Mapping[str, Any] | None = None,
    models: Sequence[str] = (),
    rotate: bool = False,
    paired: bool = False,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    out: Folder = None,
    logs_dir: Folder = None,
    jobs: int | None = None,
    abort_after: int = 5,
    own_models: Models | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
    max_cost_usd: float | None = None,
) -> Runs:
    """Play many games of a scenario in a folder of their own, `jobs` at once; the same call goes on where one ended.

    `models` take the seats in turn; `rotate` lets players change places; `paired` gives one seed to games that differ
    only in who sits where. Of a `design` (a file, or what it holds) every seed plays all cells; `until={"width": 0.2}`
    ends it early. Limits hold for all games together. Bots alone play in worker processes. Raises as `run`.
    """
    directory, manifest = prepare_batch(
        scenario,
        games=games,
        cast=models,
        rotate=rotate,
        paired=paired,
        out=None if out is None else Path(out),
        logs_dir=logs_folder(logs_dir),
        seed=seed,
        overrides=set or {},
        own=own_models or (),
        max_cost_usd=max_cost_usd,
        design=design,
        until=until,
    )
    result = await Batch(
        manifest,
        directory,
        env=variables(env, allow_keys),
        jobs=jobs,
        abort_after=abort_after,
        own=own_models or {},
        enough=width_reached(directory, manifest.design.until),
    ).play()
    if result.stopped is not None:
        raise result.stopped
    found = load(directory)
    assert isinstance(found, Runs), "a folder"
    return found


def prepare_batch(
    scenario: Source | None,
    *,
    games: int | None,
    cast: Sequence[str],
    rotate: bool,
    paired: bool,
    out: Path | None,
    logs_dir: Path,
    own: Collection[str] = (),
    design: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    until: Mapping[str, Any] | None = None,
    **loading: Unpack[LoadOptions],
) -> tuple[Path, Manifest]:
    """A batch's folder with its manifest; `cast` are the models that take the players' seats in turn.

    A `design` says what is varied; without `scenario` and `games` they are those that it names. `until` is an `Until`.
    """
    seed = loading.pop("seed", None)
    asked = Design(DRAWN, games or 0, tuple(cast), rotate, paired)
    if design is None:
        if scenario is None or games is None or until is not None:
            missing = "--config" if scenario is None else "--games" if games is None else None
            raise UsageError(f"{missing}: is missing" if missing else "--until-width: is of a --design")
        casts = [load_scenario(scenario, model=model, own=own, **loading) for model in cast or (None,)]
    else:
        found = read_design(design if isinstance(design, Mapping) else Path(design))
        if (scenario := scenario or found.config) is None:
            raise UsageError(f"{found.where}: config: is missing; give it there or as --config")
        casts, carriers = cells(found, scenario, cast or (None,), own=own, **loading)
        size, times = len(found.factorial.cells), found.factorial.table.replicates
        if games is None and times is None:
            raise UsageError(f"{found.where}: replicates: is missing; give it there, or --games")
        asked = replace(asked, games=games or (times or 0) * size, factorial=found.factorial, carriers=carriers)
        if until is not None:
            width = validated(Until, until)
            found.factorial.effect(width.factor)
            if width.player not in {None, EVERYONE, *(known := labels(casts[: max(1, len(cast))]))}:
                raise UsageError(f"--player {width.player}: plays in no game (valid: {', '.join(known)})")
            asked = replace(asked, until=width)
    for each in casts:
        check_prices(each, {})  # what depends on the environment is checked when players are seated
    given = seed if seed is not None else casts[0].seed
    return prepared(planned(replace(asked, seed=DRAWN if given is None else given), casts), out, logs_dir)


def width_reached(directory: Path, until: Until | None) -> Callable[[], str | None] | None:
    """What says why no more games are needed, None while they are; itself None where no width was asked for.

    It looks at the games that are done whenever it is called, and its intervals allow for that.
    """
    if until is None:
        return None
    with needed_by("--until-width"):
        from agentsim.analysis.design_effects import effects
        from agentsim.analysis.finished_games import DesignGames
        from agentsim.analysis.paired import FEWEST_SEEN
    games = DesignGames(directory)

    def enough() -> str | None:
        blocks = games.blocks()
        if blocks is None or not blocks.complete:
            return None
        measure = until.measure or blocks.usual
        found = effects(blocks, measures=(measure,), factor=until.factor, player=until.player, anytime=True)
        if not found and not measure.endswith(")"):  # a deed may be done in a later game
            raise UsageError(f"--measure {measure}: {blocks.without(measure)}")
        if not found or blocks.complete < FEWEST_SEEN:
            return None
        widest = max(found, key=lambda each: each.alone.width)
        return _reached(widest, until.width) if widest.alone.width < until.width else None

    return enough


def _reached(widest: FactorEffect, width: float) -> str:
    effect = f"{widest.measure} of {widest.player}, {widest.effect}: {widest.mean:+.3f}"
    ends = f"({widest.low:+.3f} to {widest.high:+.3f})"
    return f"{effect} {ends} after {counted(widest.blocks, 'block')}, narrower than {width:g}"
