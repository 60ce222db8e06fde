"""Pages of single players laid out, one of which a reader opens. The markup is `templates/people.html.j2`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentsim.engine.panel import Chart, Line, Profiles
from agentsim.report.drawing import ChartView
from agentsim.report.table import CellView, cell
from agentsim.report.tones import tone

__all__ = ["ProfileView", "ProfilesView", "profiles"]


@dataclass(frozen=True, slots=True)
class ProfileView:
    """One player's page."""

    name: str
    tone: str
    facts: tuple[tuple[str, CellView], ...]
    chart: ChartView | None
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class ProfilesView:
    """A page for each player."""

    title: str
    note: str
    people: tuple[ProfileView, ...]
    shape: str = "profiles"


def profiles(panel: Profiles, players: Mapping[str, int], draw: Callable[[Chart], ChartView]) -> ProfilesView:
    """Every page with its chart drawn by `draw`."""
    people = tuple(
        ProfileView(
            profile.name,
            tone(players[profile.name]) if profile.name in players else "plain",
            tuple((name, cell(value)) for name, value in profile.facts),
            None if profile.chart is None else draw(profile.chart),
            profile.lines,
        )
        for profile in panel.people
    )
    return ProfilesView(panel.title, panel.note, people)
