"""`agentsim influence`: what a message did to the next deeds of those who heard it, and to the outcome."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from agentsim.cli import options as o
from agentsim.cli.terminal_output import print_panel, remark, safe, say, say_json, shortened
from agentsim.errors import UsageError

Swap: TypeAlias = Literal["silence", "neutral"]
_SHOWN = 300
"""Characters of a message that a terminal shows; JSON has all."""


def influence(
    *,
    name: o.RunName,
    at: Annotated[int, o.option("--at", "Number of the decision that said the message.", "N", min=1)],
    swap: Annotated[
        Swap | None,
        o.option(
            "--swap",
            "What takes the place of the message; default: silence where a player can be silent, else neutral.",
            "silence|neutral",
        ),
    ] = None,
    words: Annotated[str | None, o.option("--words", "Words in place of the message.", "TEXT")] = None,
    each: Annotated[bool, o.option("--each", "Do it for such a message of every player of that round.")] = False,
    branches: Annotated[int, o.option("--branches", "How many branches a side.", "K", min=1)] = 20,
    max_cost: o.MaxCost = None,
    max_calls: o.MaxCalls = None,
    max_wall: o.MaxWall = None,
    logs_dir: o.LogsDir = Path("logs"),
    display: o.Display = "auto",
    as_json: o.AsJson = False,
    env_file: o.EnvFile = None,
    allow_key: o.AllowKey = None,
) -> None:
    """Say what a message did to its listeners and the outcome.

    Plays K branches in which decision N says what it said and K in which it is silent, says neutral words of the same
    length, or says TEXT; branch k of both has the same chance. The same command again goes on where one ended, and
    plays nothing that is there. Limits hold for what each branch calls itself. Needs the extra analysis.
    """
    from agentsim.cli.display import shown
    from agentsim.counterfactual import Asked
    from agentsim.history.run_files import find_run
    from agentsim.models.keys import environment
    from agentsim.runner.wanted import to_play

    asked = Asked.of(find_run(logs_dir, name), at, swap=swap, words=words, each=each, branches=branches)
    env = environment(env_file, allow_key)
    limits = {"max_cost_usd": max_cost, "max_calls": max_calls, "max_wall_s": max_wall}
    for wanted in to_play(asked.wanted, remark):
        with shown(display) as watcher:
            result = wanted.played(env=env, limits=limits, watcher=watcher)
        if result is not None and result.status == "degraded":
            remark(f"{result.files.name} is degraded: its share of fallbacks is above the limit")
        if result is not None and result.error is not None:
            remark(f"{result.files.name} was stopped: the same command goes on with it")
            raise result.error
    found = asked.measured()
    if not any(one.pairs for one in found):
        raise UsageError(f"{name}: no pair of branches is finished")
    if as_json:
        say_json([one.to_json() for one in found])
        return
    from agentsim.analysis.comparison_panels import influence_panels

    for one in found:
        for text, side in ((one.message.words, "said"), (one.message.instead, one.message.swap)):
            say(safe(f"{one.message.speaker}, {side}: {json.dumps(shortened(text, _SHOWN), ensure_ascii=False)}"))
    for panel in influence_panels(found):
        print_panel(panel)
