"""`agentsim run`, `resume`, `fork` and `replay`: play, continue, branch and prove a single run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentsim.cli import shared_options as o
from agentsim.cli.batch import carry_on
from agentsim.cli.terminal_output import note, remark, say, say_json
from agentsim.engine.wording import by_count, counted
from agentsim.errors import UsageError

if TYPE_CHECKING:
    from agentsim.runs.fork import BranchJob
    from agentsim.runs.replay import Proof
    from agentsim.runs.run import Run, RunResult
    from agentsim.runs.watcher import Watcher
    from agentsim.scenario.scenario import LimitOverrides


def run(
    *,
    scenario: o.ConfigFile,
    loading: o.Loading,
    seed: o.Seed = None,
    name: Annotated[
        str | None, o.option("--name", "The run's name; default: gameplay_YYYYMMDD_HHMMSS.", "NAME")
    ] = None,
    logs_dir: o.LogsDir = Path("logs"),
    limits: o.LimitOptions,
    record: o.Record = None,
    replay_replies: o.Replies = None,
    display: o.Display = "auto",
    as_json: o.AsJson = False,
    html: o.Html = True,
    keys: o.Keys,
    page: o.Page,
    serving: o.Serving,
) -> None:
    """Play a scenario; leaves a journal, a history and a page."""
    from agentsim.cli.display import shown
    from agentsim.cli.finish import finish
    from agentsim.cli.serve import play_and_serve
    from agentsim.runs.playback import reply_source_of
    from agentsim.runs.run import RunOptions, create_run

    def created(watcher: Watcher) -> Run:
        reply_source = reply_source_of(record, replay_replies)
        options = RunOptions(keys.env, watcher, reply_source, served=serving.serve)
        return create_run(scenario.path, logs_dir, options, name=name, seed=seed, **loading.with_limits(limits))

    def ended(result: RunResult) -> None:
        finish(result, page=page.options if html else None, as_json=as_json)

    if (at := serving.at) is not None:
        play_and_serve(created, ended, logs_dir=logs_dir, at=at, display=display, as_json=as_json)
        return
    with shown(display) as watcher:
        result = created(watcher).play_sync()
    ended(result)


def resume(
    *,
    name: Annotated[
        str,
        o.run_argument("NAME|DIR", "The run; or a batch's folder."),
    ],
    logs_dir: o.LogsDir = Path("logs"),
    limits: o.LimitOptions,
    record: o.Record = None,
    replay_replies: o.Replies = None,
    display: o.Display = "auto",
    as_json: o.AsJson = False,
    html: Annotated[
        bool | None, o.option("--html/--no-html", "Write the page of each game, or none; default: of a run alone.")
    ] = None,
    keys: o.Keys,
    playing: o.Playing,
    page: o.Page,
    serving: o.Serving,
) -> None:
    """Continue a run or batch; nothing is paid for twice.

    Of a batch, limits in calls and dollars are those of all games together; --jobs, --abort-after, --executor and
    --scheduler are for batches alone, --record, --replay-replies, --serve and what a page is to hold for single runs.
    """
    from agentsim.cli.display import shown
    from agentsim.cli.finish import finish, show_finished
    from agentsim.cli.serve import play_and_serve
    from agentsim.records.load import named_run
    from agentsim.runs.batch.manifest import folder_of, require_manifest
    from agentsim.runs.playback import reply_source_of
    from agentsim.runs.run import Run, RunOptions

    at = serving.at
    if (folder := folder_of(name, logs_dir)) is not None:
        if record is not None or replay_replies or at is not None:
            raise UsageError("--record, --replay-replies and --serve are for single runs")
        env = keys.env
        manifest = require_manifest(folder).with_limits(env, limits.given)
        carry_on(manifest, folder, playing, env=env, display=display, as_json=as_json, html=bool(html))
        return
    files = named_run(name, logs_dir)

    def opened(watcher: Watcher) -> Run:
        reply_source = reply_source_of(record, replay_replies)
        return Run.open(files, RunOptions(keys.env, watcher, reply_source, served=serving.serve), limits.given)

    def ended(result: RunResult) -> None:
        if result.how == "unchanged":  # its page does not change either
            show_finished(result, as_json=as_json)
            note(f"{files.name} is finished already: nothing was played")
        else:
            finish(result, page=None if html is False else page.options, as_json=as_json)

    if at is not None:
        play_and_serve(opened, ended, logs_dir=logs_dir, at=at, display=display, as_json=as_json)
        return
    with shown(display) as watcher:
        result = opened(watcher).play_sync()
    ended(result)


def fork(
    *,
    name: o.RunName,
    at: Annotated[int, o.option("--at", "Number of the decision to fork from.", "N", min=1)],
    instead: Annotated[
        str | None, o.option("--instead", "The decision to take there, as a model would reply.", "JSON")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        o.option(
            "--set", "Change a value: players.Ada.model=bot/random, players.0 for the first; repeatable.", "KEY=VALUE"
        ),
    ] = None,
    arm: Annotated[
        str | None,
        o.option("--arm", "Name what is changed: `agentsim compare` sets it beside the arm control.", "ARM"),
    ] = None,
    branches: Annotated[
        int | None,
        o.option("--branches", "How many branches, each with its own chance; of an arm, numbers 1 to K.", "K", min=1),
    ] = None,
    paired: Annotated[bool, o.option("--paired", "Give all branches the parent's chance.")] = False,
    jobs: o.BranchesAtOnce = None,
    limits: o.LimitOptions,
    new_name: Annotated[str | None, o.option("--name", "Name of the branch; default: NAME_atN.", "NEW")] = None,
    logs_dir: o.LogsDir = Path("logs"),
    display: o.Display = "auto",
    as_json: o.AsJson = False,
    html: o.Html = True,
    keys: o.Keys,
) -> None:
    """Play a run again from one of its decisions on.

    Decisions before N, and those of N's own wave, stay and are not paid for again. A branch is a run of its own,
    beside its parent, and `agentsim resume` continues it. Limits count only the branch's own calls.

    With --arm, branches 1 to K are played of the arm, and of a control that changes nothing; branch k of both has the
    same chance. The same command again continues where it stopped. Without --arm, branches that were stopped are
    finished first, and new ones get the next numbers.
    """
    from agentsim.records.history import CONTROL
    from agentsim.records.load import elsewhere, named_run
    from agentsim.runs.fork import BranchJob, Change, ForkPoint, jobs_of_arm, jobs_of_several, kinds_of_models

    if arm is not None and paired:
        raise UsageError("--paired: branches of an arm have chance of their own, number by number; leave it out")
    env = keys.env
    point = ForkPoint.of(named_run(name, logs_dir), at)
    change = Change(instead, tuple(overrides or ()))
    if arm is not None:
        planned = jobs_of_arm(point, arm, branches or 1, change)
    elif branches is not None:
        planned = jobs_of_several(point, branches, change, paired=paired)
    else:
        planned = [BranchJob(point, change, paired=paired)]
    if len(planned) > 1 and display == "auto" and "human" not in kinds_of_models(planned):
        display = "none"  # each would show the shared past again
    page: dict[str, Any] | None = {} if html else None
    _play_each(planned, jobs, env, new_name, limits.given, display=display, page=page, as_json=as_json)
    if arm not in {None, CONTROL} and not as_json:
        say(f"compare the arms: agentsim compare {point.files.name}{elsewhere(logs_dir)}")


def _play_each(
    planned: Sequence[BranchJob],
    concurrency: int | None,
    env: Mapping[str, str],
    name: str | None,
    limits: LimitOverrides,
    *,
    display: o.DisplayMode,
    page: Mapping[str, Any] | None,
    as_json: bool,
) -> None:
    """Play the branches and print their results, one line each if there are several.

    Exit with the first nonzero code.
    """
    from agentsim.cli.finish import finish, show_finished
    from agentsim.runs.run import RunOptions

    brief = len(planned) > 1
    worst = there = 0

    def opened(job: BranchJob, watcher: Watcher) -> Run:
        return job.run(RunOptions(env, watcher), name=name, limits=limits)

    def ended(result: RunResult) -> None:
        nonlocal worst, there
        try:
            if result.how != "unchanged":
                finish(result, page=page, as_json=as_json, brief=brief)
            else:
                there += 1
                if as_json or not brief:
                    show_finished(result, as_json=as_json)
        except typer.Exit as left:
            worst = worst or left.exit_code

    play_branches(planned, concurrency, display, opened, ended)
    if there:
        branches = f"{there} of {counted(len(planned), 'branch')} {by_count(there, 'was', 'were')}"
        note(f"{branches} finished already: nothing was played there")
    if worst:
        raise typer.Exit(worst)


def play_branches(
    planned: Sequence[BranchJob],
    concurrency: int | None,
    display: o.DisplayMode,
    opened: Callable[[BranchJob, Watcher], Run],
    ended: Callable[[RunResult], object],
) -> None:
    """Play branches, one after another with a display or several at once without, until a signal ends them in order.

    `opened` makes the run of a branch when its turn comes; `ended` gets each result.
    """
    import asyncio

    from agentsim.cli.display import shown
    from agentsim.errors import Interrupted
    from agentsim.runs.fork import concurrent_branches, jobs_to_play, kinds_of_models, play_concurrently
    from agentsim.runs.process import stoppable

    concurrency = concurrent_branches(kinds_of_models(planned), concurrency)
    if min(concurrency, len(planned)) == 1:
        for job in jobs_to_play(planned, remark):
            with shown(display) as watcher:
                result = opened(job, watcher).play_sync()
            ended(result)
            if isinstance(result.error, Interrupted):
                break
        return
    with shown("none") as watcher, stoppable() as stop:

        async def play() -> None:
            task = asyncio.create_task(
                play_concurrently(
                    planned, lambda job: opened(job, watcher), ended, concurrency=concurrency, noted=remark
                )
            )
            stop(task)
            await task

        asyncio.run(play())


def replay(
    name: Annotated[str, o.run_argument("NAME|FILE", "The run; or a bundle.")],
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Play a journal again and prove the history; no network.

    Every decision comes from the journal; the history that follows from them must be the one on disk.
    """
    from agentsim.api import proofs

    for proved, proof in proofs(name, logs_dir):
        _show(proved, proof, as_json=as_json)


def _show(name: str, proof: Proof, *, as_json: bool) -> None:
    if as_json:
        say_json({"name": name, "identical": True, "decisions": proof.decisions, "complete": proof.complete})
        return
    end = "to the end of the game" if proof.complete else f"as far as the run went ({proof.history['status']})"
    say(f"{name}: {counted(proof.decisions, 'decision')} replayed {end}; the history is identical")
