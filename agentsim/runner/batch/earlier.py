"""earlier: what a game's files say of it: whether it is done, and what it used, whoever played it."""

from __future__ import annotations

from dataclasses import replace

from agentsim.errors import AgentsimError, JournalError, UsageError
from agentsim.history.contents import read_journal
from agentsim.history.files import RunFiles
from agentsim.history.load import load_history
from agentsim.history.record import FINISHED
from agentsim.runner.batch.one import GameEnd, has_begun, known_usd
from agentsim.runner.replay import over, rebuilt, unfit

__all__ = ["finished", "in_prompt", "is_done", "used"]


def is_done(files: RunFiles, seed: int) -> tuple[bool, str | None]:
    """Whether a game is over and its history is there, and what was wrong with one that had to be made again.

    A history whose journal is gone is the game's if it is whole and has its seed: it is not paid for again.
    """
    if not has_begun(files.journal):
        return _kept(files, seed), None
    if not over(files):
        return False, None
    try:
        if (why := unfit(files)) is None:
            return True, None
        rebuilt(files)
    except AgentsimError:
        return False, None  # its session will say what is wrong with the journal
    return True, f"{files.history.name} {why}"


def _kept(files: RunFiles, seed: int) -> bool:
    try:
        history = load_history(files.history)
    except UsageError:
        return False
    return history.status in FINISHED and history.seed == seed


def used(files: RunFiles, *, done: bool) -> tuple[int, float, int]:
    """Calls, known dollars and calls of unknown price of a game in earlier sessions."""
    try:
        if done:
            history = load_history(files.history)
            costs = [each.usage.cost_usd for each in history.decisions if each.usage is not None]
            known = known_usd(history.usage.cost_usd, costs)
            return history.usage.calls, known, history.usage.unpriced_calls
        contents = read_journal(files.journal)
    except (UsageError, JournalError):
        return 0, 0.0, 0
    tries = [attempt for key in {*contents.entries, *contents.tries} for attempt in contents.calls(*key)]
    costs = [each.usage.cost_usd for each in tries if each.usage is not None]
    return len(tries), sum(cost or 0.0 for cost in costs), costs.count(None)


def finished(files: RunFiles) -> GameEnd:
    """The line of a game that is over, by its history."""
    return GameEnd(files.name, load_history(files.history).status, *used(files, done=True))


def in_prompt(end: GameEnd, files: RunFiles, seed: int) -> GameEnd:
    """The line of a game of which its player could not say what it used; it may even be over."""
    if is_done(files, seed)[0]:
        return finished(files)
    calls, cost, unpriced = used(files, done=False)
    return replace(end, calls=calls, cost_usd=cost, unpriced_calls=unpriced)
