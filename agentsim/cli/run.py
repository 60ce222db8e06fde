"""`agentsim run`: play a scenario and leave journal, history and page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentsim.cli import options as o

__all__ = ["run"]


def run(
    *,
    config: o.Config,
    game_config: o.GameConfig = None,
    seed: o.Seed = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Instead of gameplay_YYYYMMDD_HHMMSS.", metavar="NAME")
    ] = None,
    logs_dir: o.LogsDir = Path("logs"),
    overrides: o.Overrides = None,
    game: o.Game = None,
    max_cost: o.MaxCost = None,
    record: o.Record = None,
    replay_replies: o.Replies = None,
    display: o.Display = o.DisplayMode.auto,
    as_json: o.AsJson = False,
    no_html: o.NoHtml = False,
    env_file: o.EnvFile = None,
    allow_key: o.AllowKey = None,
    provider: o.Provider = None,
    allow_dir: o.AllowDir = None,
    include_prompts: o.IncludePrompts = False,
    include_reasoning: o.IncludeReasoning = False,
    include_usage: o.IncludeUsage = False,
) -> None:
    """Play a scenario; leaves a journal, a history and a page."""
    from agentsim.cli.display import shown
    from agentsim.cli.finish import finish
    from agentsim.cli.terminal_output import note, shortened
    from agentsim.environment import environment
    from agentsim.history.files import check_name
    from agentsim.report.page import PageOptions
    from agentsim.runner.playback import recording_of
    from agentsim.runner.session import begin
    from agentsim.scenario.load import load
    from agentsim.scenario.scenario import idle_prices

    if name is not None:
        check_name(name)
    env = environment(env_file, allow_key)
    scenario = load(
        config,
        game_config=game_config,
        overrides=overrides or (),
        provider=provider,
        game=game,
        seed=seed,
        allow_dirs=allow_dir or (),
        max_cost_usd=max_cost,
    )
    for line in idle_prices(scenario):
        note(f"agentsim: {shortened(f'{config}: {line}', 600)}")
    recording = recording_of(record, replay_replies)
    with shown(display) as watcher:
        result = begin(scenario, logs_dir, env=env, stem=name, watcher=watcher, recording=recording)
    page = None if no_html else PageOptions(include_prompts, include_reasoning, include_usage)
    finish(result, page=page, as_json=as_json)
