"""SeatPanels: the boards, charts and tables that one seat may see while its game is played.

They are derived from the events that the seat has heard, as on the page that shows a run as one player saw it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from markupsafe import Markup

from agentsim.engine.panel import Board, Panel
from agentsim.games import find
from agentsim.records.events import compute_from_log, told_events
from agentsim.records.history import History
from agentsim.report import markup
from agentsim.report.page import view
from agentsim.report.player_view import as_seen_by
from agentsim.server.site import environment

NO_PANELS = Markup('<div id="panels" hidden></div>')
"""The empty element of a page without panels, which a later fragment replaces."""


def seat_panels(history: History, player: str) -> dict[str, Markup]:
    """Return the parts of the page by the id of their element: `panels` holds all, each `figure-N` one of them.

    Boards come first and show the present position. If there is a board, all panels below the first one are folded.
    """
    seen = as_seen_by(history, player)
    game = find(seen.game)
    seat_indices = {record.id: index for index, record in enumerate(seen.players)}
    seat_indices |= {name: seat_indices[each] for each, name in seen.names.items() if name not in seat_indices}
    panels = sorted(
        compute_from_log(game.panels, told_events(seen, game), seen), key=lambda panel: not isinstance(panel, Board)
    )
    macros: Any = markup.environment().get_template("panels.html.j2").module
    figures: dict[str, Markup] = {}
    for number, panel in enumerate(panels, start=1):
        drawn = view(_now(panel), seat_indices)
        drawn.folded = drawn.folded or (isinstance(panels[0], Board) and number > 1)
        figures[f"figure-{number}"] = macros.panel(drawn, number)
    if not figures:
        return {"panels": NO_PANELS}
    own: Any = environment().get_template("seat_part.html.j2").module
    return {**figures, "panels": own.panels(list(figures.values()))}


def _now(panel: Panel) -> Panel:
    """Return the panel with its last scene only: the page of a seat has no control to step back."""
    return replace(panel, scenes=panel.scenes[-1:]) if isinstance(panel, Board) else panel
