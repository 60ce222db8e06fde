"""Pages of single players laid out, one of which a reader opens. The markup is `templates/people.html.j2`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from agentsim.engine.panel import Chart, Line, Profiles
from agentsim.report.drawing import ChartView
from agentsim.report.table import CellView, cell
from agentsim.report.tones import tone_of

__all__ = ["ProfileView", "ProfilesView", "profiles"]


@dataclass(frozen=True, slots=True)
class ProfileView:
    """One player's page."""

    name: str
    tone: str
    facts: tuple[tuple[str, CellView], ...]
    chart: ChartView | None
    days: tuple[tuple[str, tuple[Line, ...]], ...]  # lines by what they say of when, as they follow each other


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
            tone_of(profile.name, players),
            tuple((name, cell(value)) for name, value in profile.facts),
            # without dots, which are most of a small drawing's bytes, and of which a page may have a hundred
            None if profile.chart is None else replace(draw(profile.chart), dots=()),
            tuple((when, tuple(lines)) for when, lines in groupby(profile.lines, key=lambda line: line.when)),
        )
        for profile in panel.people
    )
    return ProfilesView(panel.title, panel.note, people)
