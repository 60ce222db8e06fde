"""What the commands that play print at the end, and the code they exit with."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from agentsim.cli.terminal_output import columns, remark, safe, say, say_json, shortened
from agentsim.engine.codec import values
from agentsim.engine.wording import counted
from agentsim.errors import AgentsimError, BudgetReached
from agentsim.history.load import again_with, elsewhere
from agentsim.history.record import FINISHED, History, Totals
from agentsim.history.shares import Shares, shares_in

if TYPE_CHECKING:
    from agentsim.history.run_files import RunFiles
    from agentsim.runner.run import RunResult


DEGRADED = 4
MOST_STANDINGS = 8
"""Rows of standings that a terminal shows, so that the winner stays on a small one; JSON, page and history have all."""
_LEAST_SHOWN_USD = 0.00005  # less would be rounded to none


def finish(result: RunResult, *, page: Mapping[str, Any] | None, as_json: bool, brief: bool = False) -> None:
    """Write the page with these options, or none, print the result, `brief` on a line, and exit with the run's code."""
    html = None if page is None or result.how == "rebuilt" else _page(result.files, page)
    history, error = result.record, result.error
    _show(result.files, history, html, as_json=as_json, brief=brief)
    if result.remark is not None:
        remark(result.remark)
    if error is not None:
        remark(f"{shortened(str(error), 600)}; {_hint(result, error)}", 1200)
        raise typer.Exit(error.exit_code)
    if result.status == "degraded":
        limit, found = history.volatile["run"]["limits"]["max_fallback_rate"], shares_in(history)
        remark(f"degraded: fallbacks decided more than {limit:.0%}: {found.in_words}")
        raise typer.Exit(DEGRADED)


def show_finished(result: RunResult, *, as_json: bool) -> None:
    """Print the result of a run that was finished before, with the page that it has."""
    files = result.files
    _show(files, result.record, files.page if files.page.is_file() else None, as_json=as_json)


def _show(files: RunFiles, history: History, html: Path | None, *, as_json: bool, brief: bool = False) -> None:
    with contextlib.suppress(BrokenPipeError):  # who reads no further still gets the exit code
        if as_json:
            _print_json(files, history, html)
        elif brief:
            said = [f"{files.name}: {history.status}", *_standings(history, found := shares_in(history))[:1]]
            said += [] if found.warning is None else [f"warning: {found.warning}"]
            said += [f"cost: {money(history.paid.cost_usd, history.paid.unpriced_calls)}"] if history.paid.calls else []
            say(safe("; ".join(said)))
        else:
            _print(files, history, html)


def _page(files: RunFiles, options: Mapping[str, Any]) -> Path | None:
    """The page's path; None and a note where it cannot be written, since the run's result is still to be printed."""
    from agentsim.results import run_in

    try:
        return run_in(files).page(files.page, **options)
    except (AgentsimError, OSError) as error:
        write = f"agentsim logs --filename {files.name}{elsewhere(files.directory)}"
        remark(f"there is no page: {shortened(str(error), 600)}; write it with: {write}", 1200)
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


def _print_json(files: RunFiles, history: History, html: Path | None) -> None:
    outcome = history.outcome
    say_json(
        {
            "name": files.name,
            "status": history.status,
            "game": history.game,
            "seed": history.seed,
            "winner": None if outcome is None else outcome.winner,
            "standings": [] if outcome is None else values(outcome)["standings"],
            "usage": history.usage.model_dump(),
            **({"fork": history.fork.model_dump()} if history.fork else {}),
            "history": str(files.history),
            "journal": str(files.journal),
            "html": None if html is None else str(html),
            "fallbacks": shares_in(history).to_json(),
        }
    )


def _print(files: RunFiles, history: History, html: Path | None) -> None:
    found, fork = shares_in(history), history.fork
    rows = [f"{files.name}: {history.status}, {history.game}, seed {history.seed}", *_standings(history, found)]
    if found.warning is not None:
        rows.append(f"warning: {found.warning}")
    elif found.whole.fallbacks or found.whole.turned_away:
        rows.append(f"fallbacks: {found.in_words}")
    if history.paid.calls:
        rows.append(_usage(history))
    if fork is not None and fork.inherited is not None and fork.inherited.calls:
        before = f"{counted(fork.inherited.calls, 'call')}, {money(fork.inherited.cost_usd)}"
        rows.append(f"the parent's calls are not included, and were not made again: {before}")
    rows += [f"warning ({counted(warning.count, 'time')}): {warning.message}" for warning in history.warnings]
    for row in rows:
        say(safe(row))
    typer.echo(f"history: {files.history}")
    if html is not None:
        typer.echo(f"page:    {html}")
        if columns(sys.stdout) is not None:
            say(f"open it: agentsim logs {files.name} --open{elsewhere(files.directory)}, or the file in a browser")


def _standings(history: History, found: Shares) -> list[str]:
    if (outcome := history.outcome) is None:
        return []
    models = {player.id: player.model for player in history.players}
    reason = outcome.reason.replace("_", " ")
    rows = [f"winner: {outcome.winner or 'shared'} ({reason})" if outcome.ranked else f"end: {reason}; no ranking"]
    for place in outcome.standings[:MOST_STANDINGS]:
        score = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in place.score.items())
        name = f" ({history.names[place.player]})" if place.player in history.names else ""
        own = found.by_player.get(place.player)
        fell = f"  fallbacks {own}" if own is not None and found.whole.fallbacks else ""
        rank = f"{place.rank}. " if outcome.ranked else ""
        rows.append(f"  {rank}{place.player}{name}  {models[place.player]}  {score}{fell}")
    if (more := len(outcome.standings) - MOST_STANDINGS) > 0:
        rows.append(f"  and {more:,} more, in the history")
    return rows


def _usage(history: History) -> str:
    usage = history.paid
    words = {"late": usage.late, "repaired": usage.repaired, "cut short": usage.cut}
    mended = "".join(f", {count} {word}" for word, count in words.items() if count)
    takeovers = f", {counted(usage.takeovers, 'takeover')}" if usage.takeovers else ""
    return (
        f"calls: {usage.calls} ({usage.failed_calls} failed, {usage.reasks} re-asked, "
        f"{counted(usage.fallbacks, 'fallback')}{mended}{takeovers}); {spent(usage)}; "
        f"cost: {money(usage.known_usd, usage.unpriced_calls)}; {history.volatile.get('wall_s', 0.0):.1f} s"
    )


def spent(usage: Totals) -> str:
    """Return the tokens of a run's or a player's usage in words."""
    share = usage.cached_share
    cached = "" if share is None else f" ({usage.cached_tokens:,} cached: {share:.0%})"
    thinking = f" ({usage.reasoning_tokens:,} reasoning)" if usage.reasoning_tokens else ""
    return f"{counted(usage.prompt_tokens, 'token', form=',')} in{cached}, {usage.completion_tokens:,} out{thinking}"


def money(cost_usd: float | None, unpriced: int = 0) -> str:
    """US dollars, or `unknown`; `unpriced` calls have no known price and are named besides."""
    if cost_usd is None or (unpriced and not cost_usd):
        return "unknown"
    known = "under $0.0001" if 0 < cost_usd < _LEAST_SHOWN_USD else f"${cost_usd:.4f}"
    return f"{known} and {counted(unpriced, 'call')} of unknown price" if unpriced else known
