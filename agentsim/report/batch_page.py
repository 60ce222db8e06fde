"""The page of many games: standings and charts, and a row for each game with a link to its own page.

The standings and charts come in as panels. The page of one game is `page`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from agentsim.engine.panel import Panel
from agentsim.report.page import view
from agentsim.report.style import content_security_policy, inlined
from agentsim.report.text import environment

__all__ = ["GameLink", "render_batch"]


@dataclass(frozen=True, slots=True)
class GameLink:
    """One game of the list; `page` is its file beside this one, `fallbacks` the share of decisions by fallback."""

    name: str
    status: str
    seed: int | None
    winner: str | None
    cost_usd: float | None
    page: str | None
    fallbacks: str | None = None


def render_batch(
    panels: Sequence[Panel],
    games: Sequence[GameLink],
    *,
    name: str,
    facts: Sequence[tuple[str, str]],
    labels: Mapping[str, int],
    css: str,
    warning: str | None = None,
) -> str:
    """The page; `labels` numbers the entrants for their tones, `facts` and `warning` stand in the header."""
    style = inlined(css)
    return environment().get_template("batch.html.j2").render(
        name=name,
        facts=facts,
        warning=warning,
        panels=[view(panel, labels) for panel in panels],
        games=[(game, None if game.page is None else quote(game.page)) for game in games],
        style=style,
        csp=content_security_policy(style),
    )  # fmt: skip
