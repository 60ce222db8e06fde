"""Helpers that create, open and play runs in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentsim.engine.decision import Decision
from agentsim.records.run_files import RunFiles
from agentsim.runs.fork import Change, ForkPoint
from agentsim.runs.run import Run, RunOptions, RunResult
from agentsim.scenario.scenario import LimitOverrides, Scenario


def play_scenario(
    scenario: Scenario, logs_dir: Path, *, env: Mapping[str, str] = {}, stem: str | None = None, **options: Any
) -> RunResult:
    """Create a run and play it; `options` are those of `RunOptions`."""
    return Run.create(scenario, logs_dir, run_options(env, **options), name=stem).play_sync()


def open_run(files: RunFiles, *, env: Mapping[str, str] = {}, **options: Any) -> Run:
    """Open a run; `options` are those of `RunOptions` and `LimitOverrides`."""
    limits = {key: options.pop(key) for key in ("max_cost_usd", "max_calls", "max_wall_s") if key in options}
    return Run.open(files, run_options(env, **options), LimitOverrides(**limits))


def resume_run(files: RunFiles, *, env: Mapping[str, str] = {}, **options: Any) -> RunResult:
    """Open a run and play it; see `open_run`."""
    return open_run(files, env=env, **options).play_sync()


def run_options(env: Mapping[str, str] = {}, **options: Any) -> RunOptions:
    """Return the options of a run, without those that are None."""
    return RunOptions(env, **{key: value for key, value in options.items() if value is not None})


def branch_of(
    point: ForkPoint,
    *,
    env: Mapping[str, str] = {},
    instead: str | Decision | None = None,
    changes: Sequence[str] = (),
    stem: str | None = None,
    **options: Any,
) -> Run:
    """Create a branch from a fork point."""
    return point.branch(RunOptions(env), Change(instead, tuple(changes)), name=stem, **options)
