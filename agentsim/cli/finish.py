"""What the commands that play print at the end, and the code they exit with."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from agentsim.cli.terminal_output import note, safe, say, shortened
from agentsim.engine.wording import counted
from agentsim.errors import AgentsimError, BudgetReached
from agentsim.history.diagnostics import shares_in
from agentsim.history.load import again_with, elsewhere
from agentsim.history.record import FINISHED, History, TotalsRecord
from agentsim.history.totals import Totals, cached_share

if TYPE_CHECKING:
    from agentsim.history.run_files import RunFiles
    from agentsim.report.page import PageOptions
    from agentsim.runner.session import RunResult

__all__ = ["finish", "money", "show", "spent", "write_page"]

DEGRADED = 4
MOST_STANDINGS = 8
"""Rows of standings that a terminal shows, so that the winner stays on a small one; JSON, page and history have all."""
_LEAST_SHOWN_USD = 0.00005  # less would be rounded to none


def finish(result: RunResult, *, page: PageOptions | None, as_json: bool) -> None:
    """Write the page, print the result, and exit with the run's code."""
    html = None if page is None else _page(result.files, page)
    history, error = History.model_validate(result.history), result.error
    show(result.files, history, html, as_json=as_json)
    if result.remark is not None:
        note(f"agentsim: {shortened(result.remark, 600)}")
    if error is not None:
        note(f"agentsim: {shortened(str(error), 600)}; {_hint(result, error)}")
        raise typer.Exit(error.exit_code)
    if result.status == "degraded":
        limit, found = history.volatile["run"]["limits"]["max_fallback_rate"], shares_in(history)
        note(shortened(f"agentsim: degraded: fallbacks decided more than {limit:.0%}: {found.in_words}", 600))
        raise typer.Exit(DEGRADED)


def show(files: RunFiles, history: History, html: Path | None, *, as_json: bool) -> None:
    """Print a run's result on stdout."""
    with contextlib.suppress(BrokenPipeError):  # who reads no further still gets the exit code
        _print(files, history, html, as_json=as_json)


def _page(files: RunFiles, page: PageOptions) -> Path | None:
    """The page's path; None and a note where it cannot be written, since the run's result is still to be printed."""
    try:
        return write_page(files, page)
    except (AgentsimError, OSError) as error:
        write = f"agentsim logs --filename {files.name}{elsewhere(files.directory)}"
        note(f"agentsim: there is no page: {shortened(str(error), 600)}; write it with: {write}")
        return None


def _hint(result: RunResult, error: AgentsimError) -> str:
    if result.status in FINISHED:
        return "the game itself is over"
    # Without the option, who only replays would suddenly call models.
    again = f"go on with: {again_with(result.files)}{' --replay-replies FILE' if result.replayed else ''}"
    if not isinstance(error, BudgetReached):
        return again
    options = {"max_calls": "--max-calls N", "max_cost_usd": "--max-cost USD", "max_wall_s": "--max-wall SECONDS"}
    option = next(option for limit, option in options.items() if limit in str(error))  # it names the limit that it met
    return f"a higher limit is needed; {again} {option}"


def _print(files: RunFiles, history: History, html: Path | None, *, as_json: bool) -> None:
    if as_json:
        outcome = history.outcome
        line = {
            "name": files.name,
            "status": history.status,
            "game": history.game,
            "seed": history.seed,
            "winner": None if outcome is None else outcome.winner,
            "standings": [] if outcome is None else [standing.model_dump() for standing in outcome.standings],
            "usage": history.usage.model_dump(exclude_unset=True),
            **({"fork": history.fork.model_dump(exclude_unset=True)} if history.fork else {}),
            "history": str(files.history),
            "journal": str(files.journal),
            "html": None if html is None else str(html),
            "fallbacks": shares_in(history).to_json(),
        }
        typer.echo(json.dumps(line, ensure_ascii=True, allow_nan=False))
        return
    for row in _report(files.name, history):
        say(row)
    typer.echo(f"history: {files.history}")
    if html is not None:
        typer.echo(f"page:    {html}")


def _report(run: str, history: History) -> list[str]:
    outcome, usage, fork = history.outcome, history.paid, history.fork
    rows = [f"{run}: {history.status}, {history.game}, seed {history.seed}"]
    models = {player.id: player.model for player in history.players}
    found = shares_in(history)
    if outcome is not None:
        rows.append(f"winner: {outcome.winner or 'shared'} ({outcome.reason.replace('_', ' ')})")
        for place in outcome.standings[:MOST_STANDINGS]:
            score = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in place.score.items())
            name = f" ({history.names[place.player]})" if place.player in history.names else ""
            own = found.by_player.get(place.player)
            fell = f"  fallbacks {own}" if own is not None and found.whole.fallbacks else ""
            rows.append(f"  {place.rank}. {place.player}{name}  {models[place.player]}  {score}{fell}")
        if (more := len(outcome.standings) - MOST_STANDINGS) > 0:
            rows.append(f"  and {more:,} more, in the history")
    if found.warning is not None:
        rows.append(f"warning: {found.warning}")
    elif found.whole.fallbacks or found.whole.turned_away:
        rows.append(f"fallbacks: {found.in_words}")
    if usage.calls:
        calls = [made.usage for made in history.decisions if made.usage is not None and not history.inherits(made)]
        known = usage.cost_usd or sum(call.cost_usd or 0.0 for call in calls)
        words = {"repaired": usage.repaired, "cut short": usage.cut}
        mended = "".join(f", {count} {word}" for word, count in words.items() if count)
        takeovers = f", {counted(usage.takeovers, 'takeover')}" if usage.takeovers else ""
        rows.append(
            f"calls: {usage.calls} ({usage.failed_calls} failed, {usage.reasks} re-asked, "
            f"{usage.fallbacks} fallbacks{mended}{takeovers}); {spent(usage, cached_share(calls))}; "
            f"cost: {money(known, usage.unpriced_calls)}; {history.volatile.get('wall_s', 0.0):.1f} s"
        )
    if fork is not None and fork.inherited is not None and fork.inherited.calls:
        before = f"{counted(fork.inherited.calls, 'call')}, {money(fork.inherited.cost_usd)}"
        rows.append(f"the parent's own calls are not in that, and were not made again: {before}")
    rows += [f"warning ({warning.count} times): {warning.message}" for warning in history.warnings]
    return [safe(row) for row in rows]


def spent(usage: Totals | TotalsRecord, share: float | None = None) -> str:
    """The tokens of a run's or a player's usage in words; `share` is the measured part that was cached."""
    share = usage.cached_share if isinstance(usage, Totals) else share
    cached = "" if share is None else f" ({usage.cached_tokens:,} cached: {share:.0%})"
    thinking = f" ({usage.reasoning_tokens:,} reasoning)" if usage.reasoning_tokens else ""
    return f"{usage.prompt_tokens:,} tokens in{cached}, {usage.completion_tokens:,} out{thinking}"


def money(cost_usd: float | None, unpriced: int = 0) -> str:
    """US dollars, or `unknown`; `unpriced` calls have no known price and are named besides."""
    if cost_usd is None or (unpriced and not cost_usd):
        return "unknown"
    known = "under $0.0001" if 0 < cost_usd < _LEAST_SHOWN_USD else f"${cost_usd:.4f}"
    return f"{known} and {counted(unpriced, 'call')} of unknown price" if unpriced else known


def write_page(files: RunFiles, options: PageOptions) -> Path:
    """Write NAME.html from NAME.json."""
    from agentsim.results import run_in

    return run_in(files).page(files.page, **asdict(options))
