"""`agentsim resume`: go on with a run that did not come to its end."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentsim.cli import options as o

__all__ = ["resume"]


def resume(
    *,
    name: Annotated[
        str,
        typer.Argument(metavar="NAME|DIR", help="The run's name, as `agentsim runs` lists it; or a batch's folder."),
    ],
    logs_dir: o.LogsDir = Path("logs"),
    max_cost: o.MaxCost = None,
    max_calls: o.MaxCalls = None,
    max_wall: o.MaxWall = None,
    record: o.Record = None,
    replay_replies: o.Replies = None,
    display: o.Display = o.DisplayMode.auto,
    as_json: o.AsJson = False,
    no_html: o.NoHtml = False,
    env_file: o.EnvFile = None,
    allow_key: o.AllowKey = None,
    jobs: o.Jobs = None,
    abort_after: o.AbortAfter = 5,
    executor: o.Executor = o.ExecutorKind.local,
    scheduler: o.Scheduler = None,
    include_prompts: o.IncludePrompts = False,
    include_reasoning: o.IncludeReasoning = False,
    include_usage: o.IncludeUsage = False,
) -> None:
    """Continue a run or batch; nothing is paid for twice.

    Of a batch, limits in calls and dollars are those of all games together; --jobs, --abort-after, --executor and
    --scheduler are for batches alone, --record, --replay-replies and what a page is to hold for single runs.
    """
    from agentsim.cli.batches import carry_on
    from agentsim.cli.display import shown
    from agentsim.cli.finish import finish, show
    from agentsim.environment import environment
    from agentsim.errors import UsageError
    from agentsim.history.files import find_run
    from agentsim.history.load import load_history
    from agentsim.report.page import PageOptions
    from agentsim.runner.batch.manifest import require_manifest
    from agentsim.runner.batch.prepare import folder_of
    from agentsim.runner.playback import recording_of
    from agentsim.runner.session import go_on

    if (folder := folder_of(name, logs_dir)) is not None:
        if record is not None or replay_replies:
            raise UsageError("--record and --replay-replies are for single runs")
        env = environment(env_file, allow_key)
        manifest = require_manifest(folder).limited(
            env, max_cost_usd=max_cost, max_calls=max_calls, max_wall_s=max_wall
        )
        carry_on(
            manifest,
            folder,
            env=env,
            jobs=jobs,
            abort_after=abort_after,
            display=display,
            as_json=as_json,
            html=False,
            executor=executor,
            scheduler=scheduler,
        )
        return
    files = find_run(logs_dir, name)
    recording = recording_of(record, replay_replies)
    with shown(display) as watcher:
        result = go_on(
            files,
            env=environment(env_file, allow_key),
            watcher=watcher,
            max_cost_usd=max_cost,
            max_calls=max_calls,
            max_wall_s=max_wall,
            recording=recording,
        )
    if result is None:  # finished before: nothing changes, the page neither
        show(files, load_history(files.history), files.page if files.page.is_file() else None, as_json=as_json)
        return
    page = None if no_html or result.rebuilt else PageOptions(include_prompts, include_reasoning, include_usage)
    finish(result, page=page, as_json=as_json)
