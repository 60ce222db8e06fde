"""Sessions and batches made ready to be played, for the Python API and the command line alike.

The API plays them in the caller's event loop; the command line plays them under signal handlers and shows them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from agentsim.engine.wording import counted
from agentsim.errors import UsageError, needed_by
from agentsim.history.bundle import unpack
from agentsim.history.contents import read_journal
from agentsim.history.load import again_with
from agentsim.history.run_files import check_name, find_run, is_running
from agentsim.models.own import OwnModel
from agentsim.runner.batch.manifest import DRAWN, Manifest, planned, prepared
from agentsim.runner.batch.seating import Design
from agentsim.runner.recorder import Recording
from agentsim.runner.replay import Proof, prove
from agentsim.runner.session import Session, opened
from agentsim.runner.watch import Watcher
from agentsim.scenario.factorial import EVERYONE, Until
from agentsim.scenario.load import Overrides, Source, cells, labels, load, read_design
from agentsim.scenario.scenario import check_prices, idle_prices
from agentsim.scenario.validation import validated

if TYPE_CHECKING:
    from agentsim.analysis.design_effects import FactorEffect


class LoadOptions(TypedDict, total=False):
    """What `scenario.load` takes besides the scenario."""

    game_config: Path | None
    overrides: Overrides
    provider: str | None
    game: str | None
    seed: int | None
    allow_dirs: Sequence[str | os.PathLike[str]]
    max_cost_usd: float | None


def prepare_run(
    scenario: Source,
    *,
    name: str | None,
    logs_dir: Path,
    env: Mapping[str, str],
    watcher: Watcher,
    models: Mapping[str, OwnModel] | None = None,
    recording: Recording | None = None,
    served: bool = False,
    **loading: Unpack[LoadOptions],
) -> Session:
    """A session that plays a scenario from its beginning; its journal exists."""
    if name is not None:
        check_name(name)
    found = load(scenario, own=models or (), **loading)
    for line in idle_prices(found):
        watcher.noted(f"agentsim: {scenario if isinstance(scenario, Path) else found.game}: {line}")
    return opened(found, logs_dir, env=env, stem=name, watcher=watcher, recording=recording, own=models, served=served)


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
        casts = [load(scenario, model=model, own=own, **loading) for model in cast or (None,)]
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
        found = effects(blocks, measures=(until.measure,), factor=until.factor, player=until.player, anytime=True)
        if not found and not until.measure.endswith(")"):  # a deed may be done in a later game
            raise UsageError(f"--measure {until.measure}: {blocks.without(until.measure)}")
        if not found or blocks.complete < FEWEST_SEEN:
            return None
        widest = max(found, key=lambda each: each.alone.width)
        return _reached(widest, until) if widest.alone.width < until.width else None

    return enough


def _reached(widest: FactorEffect, until: Until) -> str:
    effect = f"{until.measure} of {widest.player}, {widest.effect}: {widest.mean:+.3f}"
    ends = f"({widest.low:+.3f} to {widest.high:+.3f})"
    return f"{effect} {ends} after {counted(widest.blocks, 'block')}, narrower than {until.width:g}"


def proofs(source: str, logs_dir: Path) -> Iterator[tuple[str, Proof]]:
    """The name and the proof of a run, or of each run in a bundle.

    A bundle is unpacked into a folder that is removed afterwards. Raises as `prove`, and `UsageError` for a run that is
    being played or has no history.
    """
    if source.endswith(".zip"):
        with tempfile.TemporaryDirectory(prefix="agentsim-") as folder:
            for files in unpack(Path(source), Path(folder)).runs:
                yield files.name, prove(files)
        return
    files = find_run(logs_dir, source)
    if is_running(files.journal):
        raise UsageError(f"{files.name}: is being played now; it can be proved when it has ended")
    if not files.history.is_file():
        read_journal(files.journal)  # a journal that cannot be used is the worse news
        raise UsageError(f"{files.name}: there is no history to prove; `{again_with(files)}` ends the run")
    yield files.name, prove(files)
