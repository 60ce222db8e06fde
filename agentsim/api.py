"""api: games played from Python. The command line asks for the same things in words; what a run leaves is `results`."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from agentsim.engine.event import LogEntry
from agentsim.environment import environment
from agentsim.errors import Interrupted, UsageError
from agentsim.history.files import check_name, find_run
from agentsim.history.fold import event_record
from agentsim.history.record import FINISHED, EventRecord
from agentsim.models.own import OwnModel
from agentsim.models.permits import Variables
from agentsim.results import Run, Runs, load, logs_folder, run_in
from agentsim.runner.batch.manifest import Design, planned
from agentsim.runner.batch.prepare import DRAWN, at_once, prepared
from agentsim.runner.batch.run_batch import run_batch_in_loop
from agentsim.runner.fork import parent_of
from agentsim.runner.replay import Proof, over, prove, rebuilt, unfit
from agentsim.runner.session import Session, opened, reopened
from agentsim.runner.watch import Watcher
from agentsim.scenario.load import load as load_scenario
from agentsim.scenario.scenario import Scenario
from agentsim.scenario.schema import ScenarioTable

__all__ = ["OnEvent", "Source", "batch", "fork", "replay", "resume", "run", "run_sync"]

Source: TypeAlias = str | os.PathLike[str] | Mapping[str, Any] | ScenarioTable
"""A scenario: the path of a TOML file, what such a file holds as a mapping, or an `agentsim.Scenario`."""
OnEvent: TypeAlias = Callable[[EventRecord], object]
"""Is called with each event as it happens, in the loop that plays; what it raises ends the run."""
Folder: TypeAlias = str | os.PathLike[str] | None
"""The folder of runs: None is that of `AGENTSIM_LOGS_DIR`, or `logs`."""
Models: TypeAlias = Mapping[str, OwnModel]
"""Models of the program's own by the name that the scenario gives them: `model = "mine"`."""


async def run(
    scenario: Source,
    *,
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    name: str | None = None,
    logs_dir: Folder = None,
    on_event: OnEvent | None = None,
    models: Models | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
    max_cost_usd: float | None = None,
    allow_dirs: Sequence[str | os.PathLike[str]] = (),
) -> Run:
    """Play a game to its end, and leave journal and history in `logs_dir`.

    `set` puts values at dotted keys of the scenario (`{"players.0.temperature": 0.2}`), `env` takes the place of the
    process's environment and `./.env`, where keys come from; variables in `allow_keys` may go to any address that the
    scenario names. Several runs may be played at once. Who cancels one can
    `resume` it. A run that too many fallbacks decided is returned, with status `degraded`.

    Raises `ScenarioError` before anything is written; `ProviderStopped` or `BudgetReached` where the run was stopped
    and can be resumed: the error's notes name it.
    """
    if name is not None:
        check_name(name)
    resolved = _resolved(
        scenario, seed=seed, changes=set, models=models, max_cost_usd=max_cost_usd, allow_dirs=allow_dirs
    )
    session = opened(
        resolved,
        logs_folder(logs_dir),
        env=_env(env, allow_keys),
        stem=name,
        watcher=_Listening(on_event),
        own=models,
    )
    return await _played(session)


def run_sync(scenario: Source, **options: Any) -> Run:
    """`run` for programs without an event loop, with the same arguments; Ctrl-C leaves a run to resume.

    Raises `UsageError`, and writes nothing, where a loop is running, as in a notebook: `await agentsim.run(...)` there.
    """
    return _without_loop(lambda: run(scenario, **options), "run")


async def resume(
    name: str,
    *,
    logs_dir: Folder = None,
    on_event: OnEvent | None = None,
    models: Models | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
    max_cost_usd: float | None = None,
    max_calls: int | None = None,
    max_wall_s: float | None = None,
) -> Run:
    """Go on with a run where its journal ends; nothing is paid for twice. A finished run is returned as it is.

    New limits take the place of those it met. Raises as `run`, and `JournalError` for a journal that cannot be used.
    """
    files = find_run(logs_folder(logs_dir), name)
    if over(files) and unfit(files, closely=True) is not None:
        rebuilt(files)
    session = reopened(
        files,
        env=_env(env, allow_keys),
        watcher=_Listening(on_event),
        max_cost_usd=max_cost_usd,
        max_calls=max_calls,
        max_wall_s=max_wall_s,
        own=models,
    )
    return run_in(files) if session is None else await _played(session)


async def fork(
    name: str,
    *,
    at: int,
    instead: Mapping[str, Any] | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    another: bool = False,
    paired: bool = False,
    new_name: str | None = None,
    logs_dir: Folder = None,
    on_event: OnEvent | None = None,
    models: Models | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
) -> Run:
    """Play a run again from its decision number `at`, as a run of its own beside it.

    What was decided before stays and is not paid for again. `instead` is the decision to take, `set` changes players,
    staff, prices or providers from there on. `another` branch gets a number and luck of its own after the decision,
    unless `paired`. Raises as `run`, and `UsageError` where there is no such decision or it is not allowed.
    """
    folder = logs_folder(logs_dir)
    parent = parent_of(find_run(folder, name), at)
    files = await asyncio.to_thread(
        parent.branch,
        env=_env(env, allow_keys),
        instead=None if instead is None else json.dumps(instead),
        changes=[f"{key}={json.dumps(value)}" for key, value in (set or {}).items()],
        of_several=another,
        paired=paired,
        stem=new_name,
        own=models,
    )
    return await resume(files.name, logs_dir=folder, on_event=on_event, models=models, env=env, allow_keys=allow_keys)


async def batch(
    scenario: Source,
    *,
    games: int,
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

    `models` take the players' seats in turn, so that each has every seat equally often; `rotate` lets players change
    places; `paired` gives one seed to games that differ only in who sits where. Limits hold for all games together.
    Games of bots alone play in worker processes. Raises as `run`: what stopped the batch before its last game.
    """
    own = own_models or {}
    casts = [
        _resolved(scenario, changes=set, models=own, max_cost_usd=max_cost_usd, everybody=name)
        for name in (models or (None,))
    ]
    given = seed if seed is not None else casts[0].seed
    design = Design(DRAWN if given is None else given, games, tuple(models), rotate, paired)
    directory, manifest = prepared(planned(design, casts), None if out is None else Path(out), logs_folder(logs_dir))
    result = await run_batch_in_loop(
        manifest,
        directory,
        env=_env(env, allow_keys),
        jobs=jobs or at_once(manifest),
        abort_after=abort_after,
        own=own,
    )
    if result.stopped is not None:
        raise result.stopped
    found = load(directory)
    assert isinstance(found, Runs), "a folder"
    return found


def replay(name: str, *, logs_dir: Folder = None) -> Proof:
    """Prove a history: play its journal again, without any network, and compare.

    Raises `ReplayDiffers` or another `AgentsimError` where the two do not belong together.
    """
    return prove(find_run(logs_folder(logs_dir), name))


class _Listening(Watcher):
    """Hands the events on as the history will have them, but for what is known of their decisions."""

    def __init__(self, on_event: OnEvent | None) -> None:
        self._on_event, self._count = on_event, 0

    def told(self, events: Sequence[LogEntry]) -> None:
        for told in events:
            self._count += 1
            if self._on_event is not None:
                self._on_event(EventRecord.model_validate(event_record(self._count, told, {})))


async def _played(session: Session) -> Run:
    result = await session.play()
    if isinstance(result.error, Interrupted):
        raise asyncio.CancelledError
    if result.error is not None and result.status not in FINISHED:
        result.error.add_note(f"agentsim.resume({result.files.name!r}) goes on with the run")
        raise result.error
    return run_in(result.files)


def _resolved(
    source: Source,
    *,
    seed: int | None = None,
    changes: Mapping[str, Any] | None,
    models: Models | None,
    max_cost_usd: float | None,
    allow_dirs: Sequence[str | os.PathLike[str]] = (),
    everybody: str | None = None,
) -> Scenario:
    if isinstance(source, ScenarioTable):
        source = source.model_dump(mode="json", exclude_unset=True, by_alias=True)
    return load_scenario(
        source if isinstance(source, Mapping) else Path(source),
        overrides=changes or {},
        seed=seed,
        allow_dirs=[Path(folder) for folder in allow_dirs],
        max_cost_usd=max_cost_usd,
        everybody=everybody,
        own=models or (),
    )


def _env(env: Mapping[str, str] | None, allowed: Collection[str]) -> Variables:
    return environment(None, allowed) if env is None else Variables(env, allowed)


def _without_loop(play: Callable[[], Coroutine[Any, Any, Run]], called: str) -> Run:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(play())
    raise UsageError(f"an event loop is running here, as in a notebook: `await agentsim.{called}(...)`")
