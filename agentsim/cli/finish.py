"""The results that playing commands print, and their exit codes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from agentsim.cli.terminal_output import columns, remark, safe, say, say_json, shortened
from agentsim.engine.codec import json_fields
from agentsim.engine.wording import counted
from agentsim.errors import AgentsimError, BudgetReached
from agentsim.games import score_words
from agentsim.records.fallback_rates import FallbackRates, fallback_rates_in
from agentsim.records.history import FINISHED, History
from agentsim.records.journal import Totals
from agentsim.records.load import again_with, elsewhere

if TYPE_CHECKING:
    from agentsim.records.run_files import RunFiles
    from agentsim.runs.forecast import ModelForecast
    from agentsim.runs.run import RunResult


DEGRADED = 4
MOST_STANDINGS = 8
"""The most rows of standings on a terminal, so that the winner stays on the screen. JSON, page and history have all."""
_LEAST_SHOWN_USD = 0.00005  # smaller amounts would round to zero


def finish(result: RunResult, *, page: Mapping[str, Any] | None, as_json: bool, brief: bool = False) -> None:
    """Write the page with these options if `page` is not None, print the result and exit with the run's code.

    With `brief`, the result is one line. Returns if the code is 0.
    """
    html = None if page is None or result.how == "rebuilt" else _page(result.files, page)
    history, error = result.typed_history, result.error
    _show(result.files, history, html, as_json=as_json, brief=brief)
    if result.remark is not None:
        remark(result.remark)
    if error is not None:
        remark(f"{shortened(str(error), 600)}; {_hint(result, error)}", 1200)
        raise typer.Exit(error.exit_code)
    if result.status == "degraded":
        limit, found = history.volatile["run"]["limits"]["max_fallback_rate"], fallback_rates_in(history)
        remark(f"degraded: fallbacks decided more than {limit:.0%}: {found.in_words}")
        raise typer.Exit(DEGRADED)


def show_finished(result: RunResult, *, as_json: bool) -> None:
    """Print the result of a run that had finished before, and the path of its page if it has one."""
    files = result.files
    _show(files, result.typed_history, files.page if files.page.is_file() else None, as_json=as_json)


def _show(files: RunFiles, history: History, html: Path | None, *, as_json: bool, brief: bool = False) -> None:
    with contextlib.suppress(BrokenPipeError):  # the exit code is still returned if the reader closed the pipe
        if as_json:
            _print_json(files, history, html)
        elif brief:
            said = [f"{files.name}: {history.status}", *_standings(history, found := fallback_rates_in(history))[:1]]
            said += [] if found.warning is None else [f"warning: {found.warning}"]
            said += [f"cost: {money(history.paid.cost_usd, history.paid.unpriced_calls)}"] if history.paid.calls else []
            say(safe("; ".join(said)))
        else:
            _print(files, history, html)


def _page(files: RunFiles, options: Mapping[str, Any]) -> Path | None:
    """Write the page and return its path. If it cannot be written, print a note and return None."""
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
    # Without the option, a replayed run would start to call models.
    again = f"go on with: {again_with(result.files)}{' --replay-replies FILE' if result.replayed else ''}"
    if not isinstance(error, BudgetReached):
        return again
    options = {"max_calls": "--max-calls N", "max_cost_usd": "--max-cost USD", "max_wall_s": "--max-wall SECONDS"}
    option = next(option for limit, option in options.items() if limit in str(error))  # the error names its limit
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
            "standings": [] if outcome is None else json_fields(outcome)["standings"],
            "usage": history.usage.model_dump(),
            **({"fork": history.fork.model_dump()} if history.fork else {}),
            "history": str(files.history),
            "journal": str(files.journal),
            "html": None if html is None else str(html),
            "fallbacks": fallback_rates_in(history).to_json(),
        }
    )


def _print(files: RunFiles, history: History, html: Path | None) -> None:
    found, fork = fallback_rates_in(history), history.fork
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


def _standings(history: History, found: FallbackRates) -> list[str]:
    if (outcome := history.outcome) is None:
        return []
    models, words = {player.id: player.model for player in history.players}, score_words(history.game)
    reason = outcome.reason.replace("_", " ")
    rows = [f"winner: {outcome.winner or 'shared'} ({reason})" if outcome.ranked else f"end: {reason}; no ranking"]
    for standing in outcome.standings[:MOST_STANDINGS]:
        score = ", ".join(words.sentence(key, value) for key, value in standing.score.items())
        name = f" ({history.names[standing.player]})" if standing.player in history.names else ""
        own = found.by_player.get(standing.player)
        fell = f"  fallbacks {own}" if own is not None and found.whole.fallbacks else ""
        rank = f"{standing.rank}. " if outcome.ranked else ""
        rows.append(f"  {rank}{standing.player}{name}  {models[standing.player]}  {score}{fell}")
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
    """Return the tokens of a usage in words."""
    share = usage.cached_share
    cached = "" if share is None else f" ({usage.cached_tokens:,} cached: {share:.0%})"
    thinking = f" ({usage.reasoning_tokens:,} reasoning)" if usage.reasoning_tokens else ""
    return f"{counted(usage.prompt_tokens, 'token', form=',')} in{cached}, {usage.completion_tokens:,} out{thinking}"


def forecast_lines(left: Iterable[ModelForecast]) -> list[str]:
    """Return a line for each model: the calls that are to be made, and an estimate of their tokens and price."""
    lines = []
    for each in left:
        cost = f"{money(each.usd)} (at most {money(each.most_usd)})" if each.calls else "nothing"
        calls, tokens = (
            counted(count, word, form=",")
            for count, word in ((each.calls, "call"), (each.prompt + each.completion, "token"))
        )
        lines.append(f"{each.model}: {calls} to make, about {tokens}, {cost} without re-asks")
    return lines


def money(cost_usd: float | None, unpriced: int = 0) -> str:
    """Return US dollars as text, or `unknown`, and the number of `unpriced` calls whose price is unknown."""
    if cost_usd is None or (unpriced and not cost_usd):
        return "unknown"
    known = "under $0.0001" if 0 < cost_usd < _LEAST_SHOWN_USD else f"${cost_usd:.4f}"
    return f"{known} and {counted(unpriced, 'call')} of unknown price" if unpriced else known
