"""of_run: the page of a run: its history with the panels of its game. How a page looks is `page`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from agentsim.games import find
from agentsim.history.load import derived, told_events
from agentsim.history.pairs import pairs
from agentsim.history.record import History
from agentsim.report.page import PageOptions, render
from agentsim.report.pairs import pairs_table
from agentsim.report.style import find_css
from agentsim.report.visible import as_seen_by

__all__ = ["page_of"]


def page_of(history: History, options: PageOptions, *, name: str, directory: Path) -> str:
    """The page of the run of that name; the style sheet of its directory is used, where it has one."""
    seen = history if options.as_seen_by is None else as_seen_by(history, options.as_seen_by)
    game = find(history.game)
    log = told_events(seen, game)
    found = derived(partial(pairs, names=history.names), log, history)
    between = pairs_table(found, {part.index: part.title for part in seen.rounds})
    panels = [*derived(game.panels, log, history), *([] if between is None else [between])]
    return render(history, panels, options, name=name, css=find_css(directory))
