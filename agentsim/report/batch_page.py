"""The page of many games: standings and charts, and a line for each game with a link to its own page.

Pure: what is compared, and how, comes in as panels. The page of one game is `page`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from agentsim.engine.panel import Panel
from agentsim.report.charts import view
from agentsim.report.page import environment, policy
from agentsim.report.style import inlined

__all__ = ["GameLink", "render_batch"]


@dataclass(frozen=True, slots=True)
class GameLink:
    """One game of the list; `page` is its file beside this one, `fallbacks` their share."""

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
    """The page; `labels` gives those compared their tones, `facts` are the header's small print, `warning` is large."""
    style = inlined(css)
    return environment().get_template("batch.html.j2").render(
        name=name,
        facts=facts,
        warning=warning,
        panels=[view(panel, labels) for panel in panels],
        games=[(game, None if game.page is None else quote(game.page)) for game in games],
        style=Markup(style),  # noqa: S704 (it cannot end its element: `inlined`)
        csp=policy(style),
    )  # fmt: skip
