"""SeatPanels: boards, charts and tables of a game as the person in one seat may see them while it is played.

They are derived from what that seat has heard, as on the page that shows a run as one player saw it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from markupsafe import Markup

from agentsim.engine.panel import Board, Panel
from agentsim.games import find
from agentsim.history.events import derived, told_events
from agentsim.history.record import History
from agentsim.report import markup
from agentsim.report.page import view
from agentsim.report.player_view import as_seen_by
from agentsim.server.site import environment

NO_PANELS = Markup('<div id="panels" hidden></div>')
"""Holds the place of panels that are still to come."""


def seat_panels(history: History, player: str) -> dict[str, Markup]:
    """The parts of the page by the id of their element: `panels` has all, each `figure-` one of them.

    Boards stand first and as they are now; below the first one all is folded.
    """
    seen = as_seen_by(history, player)
    game = find(seen.game)
    places = {record.id: place for place, record in enumerate(seen.players)}
    places |= {name: places[each] for each, name in seen.names.items() if name not in places}
    panels = sorted(derived(game.panels, told_events(seen, game), seen), key=lambda panel: not isinstance(panel, Board))
    macros: Any = markup.environment().get_template("panels.html.j2").module
    figures: dict[str, Markup] = {}
    for number, panel in enumerate(panels, start=1):
        drawn = view(_now(panel), places)
        drawn.folded = drawn.folded or (isinstance(panels[0], Board) and number > 1)
        figures[f"figure-{number}"] = macros.panel(drawn, number)
    if not figures:
        return {"panels": NO_PANELS}
    own: Any = environment().get_template("seat_part.html.j2").module
    return {**figures, "panels": own.panels(list(figures.values()))}


def _now(panel: Panel) -> Panel:
    """The panel without moments that are past: the page has no cursor to go back with."""
    return replace(panel, scenes=panel.scenes[-1:]) if isinstance(panel, Board) else panel
