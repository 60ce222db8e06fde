"""`agentsim code`: units of games are coded by judges and people, and their codes compared."""

from __future__ import annotations

from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentsim.cli import shared_options as o
from agentsim.cli.terminal_output import print_panel, remark, say, say_json, shortened, some_left_out
from agentsim.engine.wording import counted
from agentsim.errors import AgentsimError, BudgetReached, RunStopped, UsageError, needed_by

if TYPE_CHECKING:
    from agentsim.studies.coding import CodingPlan, Judges


def code(
    *,
    source: o.RunOrFolder,
    codebook: Annotated[
        str,
        o.option(
            "--codebook", "A TOML file, or promises, claims, deception, persuasion, threats, appeals, fairness.", "BOOK"
        ),
    ],
    judge: Annotated[list[str] | None, o.option("--judge", "A model that codes; repeatable.", "MODEL")] = None,
    human: Annotated[
        bool, o.option("--human", "A person codes, too, in a browser, and sees no judge's codes.")
    ] = False,
    sample: Annotated[
        int | None, o.option("--sample", "Code only N units, drawn from all by the seed; default: all.", "N", min=1)
    ] = None,
    overrides: Annotated[
        list[str] | None, o.option("--set", "A setting of the judges, as temperature=0; repeatable.", "KEY=VALUE")
    ] = None,
    seed: Annotated[int | None, o.option("--seed", "Draws the order of the units; default: 1.", "S", min=0)] = None,
    limits: o.LimitOptions,
    logs_dir: o.LogsDir = Path("logs"),
    record: o.Record = None,
    replay_replies: o.Replies = None,
    port: Annotated[
        int, o.option("--port", "The port of --human; 0 takes a free one.", "PORT", min=0, max=65535)
    ] = o.PORT,
    as_json: o.AsJson = False,
    keys: o.Keys,
) -> None:
    """Have models or people code games by a codebook.

    The units are messages, events, decisions or rounds. Each coder's codes are in NAME.BOOK.CODER.codes beside the run.
    The same command again continues where it stopped, and asks nothing twice. Without --judge and --human it shows what
    is coded. Agreement stands beside each number; below an alpha of 0.67 it is struck through. If a person coded a
    sample, rates are corrected for the judges' errors. Needs the extra analysis.
    """
    from agentsim.cli.display import PlainCoding
    from agentsim.cli.finish import forecast_lines
    from agentsim.runs.playback import reply_source_of

    with needed_by("code"):
        from agentsim.studies.coding import Coding, CodingPlan, Judges, load_codebook

    plan = CodingPlan.of(source, load_codebook(codebook), logs_dir, seed=seed, sample=sample)
    some_left_out(plan.skipped)
    stopped: AgentsimError | None = None
    judges = None
    if judge:
        reply_source = reply_source_of(record, replay_replies)
        judges = Judges(plan, judge, keys.env, overrides or (), limits.given, reply_source=reply_source)
        left = judges.forecast()
        for line in forecast_lines(left):
            remark(line)
        judges.watcher = PlainCoding(sum(each.calls for each in left))
    elif record is not None or replay_replies or overrides:
        raise UsageError("--record, --replay-replies and --set are of judges; name one with --judge")
    try:
        if human:
            _in_browser(plan, judges, port)
        elif judges is not None:
            _until_signal(judges.code())
    except RunStopped as error:
        stopped = error
    found = Coding.read(plan)
    if as_json:
        say_json(found.to_json())
    else:
        _say(found)
    if stopped is not None:
        more = "with a higher limit, " if isinstance(stopped, BudgetReached) else ""
        remark(f"{shortened(str(stopped), 600)}; {more}the same command goes on", 1200)
        raise typer.Exit(stopped.exit_code)


def _say(found: Any) -> None:
    from agentsim.studies.coding import done_of

    games = counted(len(found.plan.games), "game")
    say(f"{found.codebook.title} in {games}, {counted(sum(len(each.units) for each in found.plan.games), 'unit')}")
    for coder in found.coders:
        failed = f", {counted(coder.failed, 'unit')} without a usable answer" if coder.failed else ""
        say(f"{coder.name}: {done_of(found.plan, coder.name)}{failed}")
    if not found.coders:
        say("not coded yet: --judge MODEL, or --human")
    for panel in found.panels:
        print_panel(panel)


def _until_signal(coding: Coroutine[Any, Any, None]) -> None:
    """Code until it is done or a signal comes, which ends it in order."""
    import asyncio

    from agentsim.runs.process import stoppable

    with stoppable() as stop:

        async def play() -> None:
            task = asyncio.ensure_future(coding)
            stop(task)
            await task

        asyncio.run(play())


def _in_browser(plan: CodingPlan, judges: Judges | None, port: int) -> None:
    """Serve the person's page, with the judges at work meanwhile, until all is coded or a signal comes."""
    import asyncio

    from agentsim.server.address import Address
    from agentsim.server.coding import coded_in_browser

    at = Address.asked(port, None, None)
    asyncio.run(coded_in_browser(plan, at, typer.echo, judges=None if judges is None else judges.code))
