"""`agentsim interview`: questions to the players of a run that was played."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentsim.cli import shared_options as o
from agentsim.cli.terminal_output import remark, safe, say, say_json, shortened
from agentsim.engine.wording import counted
from agentsim.errors import BudgetReached

if TYPE_CHECKING:
    from agentsim.runs.interview import InterviewResult


def interview(
    *,
    name: o.RunName,
    at: Annotated[
        list[int] | None,
        o.option("--at", "Before decision N; repeatable; default: at the end of the game.", "N", min=1),
    ] = None,
    ask: Annotated[
        Path | None, o.path_option("--ask", "A TOML file with [[questions]], as those of [[interviews]].")
    ] = None,
    battery: Annotated[
        list[str] | None, o.option("--battery", "Questions that come with agentsim; repeatable.", "BATTERY")
    ] = None,
    players: Annotated[list[str] | None, o.option("--player", "Only this player; repeatable.", "ID")] = None,
    model: Annotated[
        str | None, o.option("--model", "This model answers instead of each player's own.", "MODEL")
    ] = None,
    label: Annotated[
        str | None, o.option("--label", "Name of the file NAME.LABEL.interview; default: atN or end.", "LABEL")
    ] = None,
    limits: o.LimitOptions,
    record: o.Record = None,
    replay_replies: o.Replies = None,
    logs_dir: o.LogsDir = Path("logs"),
    display: o.Display = "auto",
    as_json: o.AsJson = False,
    keys: o.Keys,
) -> None:
    """Ask the players of a run that was played, off the record.

    The run is played again from its journal up to decision N, and its players answer as if they had been asked then.
    Nothing of the run changes: the answers are in a file beside it, which tables and pages show. The same command
    continues an interview that was stopped. Limits count only its own calls.
    """
    from agentsim.cli.display import shown
    from agentsim.cli.finish import forecast_lines
    from agentsim.records.load import named_run
    from agentsim.runs.interview import InterviewPlan, RunInterview
    from agentsim.runs.playback import reply_source_of
    from agentsim.runs.run import RunOptions

    files = named_run(name, logs_dir)
    moments = tuple(sorted(set(at))) if at else (None,)
    plan = InterviewPlan(ask, tuple(battery or ()), moments, tuple(players or ()), model, label)
    with shown(display) as watcher:
        options = RunOptions(keys.env, watcher, reply_source_of(record, replay_replies))
        asked = RunInterview(files, plan, options, limits.given)
        for line in forecast_lines(asked.forecast()):
            watcher.noted(f"agentsim: {line}")
        result = asked.play_sync()
    _show(result, as_json=as_json)


def _show(result: InterviewResult, *, as_json: bool) -> None:
    """Print where the answers are and what they cost, and exit with the code of the error, if any."""
    from agentsim.cli.finish import spent

    decisions, error = result.interview.decisions, result.error
    without = sum(each.source == "fallback" for each in decisions)
    if as_json:
        usage = result.totals.model_dump(exclude={"by_player"})
        say_json({"file": str(result.path), "surveys": len(decisions), "without_answer": without, "usage": usage})
    else:
        lost = f", {without} without a usable reply" if without else ""
        say(safe(f"{result.path}: {counted(len(decisions), 'survey')} answered{lost}"))
        if result.totals.calls:
            say(spent(result.totals))
    if error is not None:
        more = "with a higher limit, " if isinstance(error, BudgetReached) else ""
        remark(f"{shortened(str(error), 600)}; {more}the same command goes on", 1200)
        raise typer.Exit(error.exit_code)
