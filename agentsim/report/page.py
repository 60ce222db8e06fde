"""The page of one game: a history becomes one self-contained HTML document.

The same history gives the same bytes. The layout of the timeline is in `timeline`, that of panels in `data_table`,
`charts`, `scatter`, `board` and `people`; colours are in `logs.css`, markup is in `templates/`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from markupsafe import Markup

from agentsim.engine.panel import Chart, DataTable, Estimates, Network, Panel, PlayerProfiles, Scatter, Threads
from agentsim.games import find
from agentsim.history.fallbacks import Shares, shares_in
from agentsim.history.load import derived, told_events
from agentsim.history.pairs import pairs
from agentsim.history.record import History, StandingRecord, Status
from agentsim.history.totals import cached_share
from agentsim.report import text
from agentsim.report.board import BoardView, board
from agentsim.report.charts import ChartView, chart
from agentsim.report.data_table import TableView, table
from agentsim.report.derived_tables import model_table, pairs_table, say_do_table
from agentsim.report.people import NetworkView, ProfilesView, ThreadsView, network, profiles, threads
from agentsim.report.redaction import as_seen_by
from agentsim.report.scatter import ranges, scatter
from agentsim.report.style import content_security_policy, find_css, inlined, tone
from agentsim.report.timeline import Timeline

__all__ = ["PageOptions", "page_of", "render", "view"]

PanelView: TypeAlias = TableView | ChartView | BoardView | NetworkView | ThreadsView | ProfilesView

_STATUS: dict[Status, str] = {
    "completed": "Completed",
    "degraded": "Completed, but degraded: too many decisions fell back",
    "interrupted": "Interrupted; it can be resumed",
    "stopped_provider": "Stopped by the provider; it can be resumed",
    "stopped_budget": "Stopped at the budget; it can be resumed",
    "failed": "Failed",
}


@dataclass(frozen=True, slots=True)
class PageOptions:
    """What the page holds besides the events: by default no prompts, no reasoning, no usage."""

    include_prompts: bool = False
    include_reasoning: bool = False
    include_usage: bool = False
    as_seen_by: str | None = None


@dataclass(frozen=True, slots=True)
class _Player:
    id: str
    name: str | None
    model: str
    temperature: float | None
    tone: str
    staff: bool
    deeds: tuple[tuple[str, int], ...]
    persona: str | None
    page: str | None  # the anchor of this player's own page in a panel


def page_of(history: History, options: PageOptions, *, name: str, directory: Path) -> str:
    """The page of a run with the panels of its game, and with the style sheet of its directory where there is one."""
    seen = history if options.as_seen_by is None else as_seen_by(history, options.as_seen_by)
    game = find(history.game)
    log = told_events(seen, game)
    found = derived(partial(pairs, names=history.names), log, history)
    between = pairs_table(found, {part.index: part.title for part in seen.rounds})
    panels = [*derived(game.panels, log, history), *([] if between is None else [between])]
    return render(history, panels, options, name=name, css=find_css(directory))


def view(panel: Panel, players: Mapping[str, int]) -> PanelView:
    """A panel laid out; a series, an owner or an author named like a player has that player's tone."""
    match panel:
        case DataTable():
            return table(panel)
        case Chart():
            return chart(panel, players)
        case Scatter():
            return scatter(panel, players)
        case Estimates():
            return ranges(panel, players)
        case Network():
            return network(panel, players)
        case Threads():
            return threads(panel, players)
        case PlayerProfiles():
            return profiles(panel, players)
        case _:
            return board(panel, players)


def render(history: History, panels: Sequence[Panel], options: PageOptions, *, name: str, css: str) -> str:
    """The page. `name` is the run's, `css` the style sheet's text.

    With `as_seen_by` the history is filtered here. The panels must then be made from what that player heard, since the
    source of a panel's numbers cannot be told.
    """
    if options.as_seen_by is not None:
        history = as_seen_by(history, options.as_seen_by)
    fallbacks = shares_in(history)
    timeline = Timeline(history, prompts=options.include_prompts, reasoning=options.include_reasoning)
    places = {record.id: place for place, record in enumerate(history.players)}
    names = history.names
    # a chart knows a player by the name that the game uses
    places = {name: places[player] for player, name in names.items()} | places
    views = [view(panel, places) for panel in panels]
    deeds = timeline.deeds()
    if by_model := model_table(history, deeds):
        views.append(table(by_model))
    if spoken := say_do_table(history, reasoning=options.include_reasoning):
        views.append(replace(table(spoken), searched=True))
    rounds = list(timeline.rounds())
    silent = list(timeline.silent())
    entries = [entry for record in rounds for entry in record.entries]
    style = inlined(css)
    script = files("agentsim.report").joinpath("templates", "page.js").read_text("utf-8")
    return text.environment().get_template("page.html.j2").render(
        history=history,
        options=options,
        name=name,
        game=history.game.replace("_", " ").title(),
        style=style,
        script=Markup(script),  # noqa: S704 (ours, and the same on every page)
        csp=content_security_policy(style, script),
        status=_STATUS[history.status],
        facts=_facts(history, options, fallbacks),
        fallbacks=fallbacks,
        standings=_standings(history),
        names=names,
        players=_players(history, deeds, options, _pages(views)),
        panels=views,
        rounds=rounds,
        silent=silent,
        tones={player: tone(place) for player, place in places.items()},
        kinds=sorted({entry.kind for entry in entries}),
        sights=[sight for sight in ("public", "private", "log") if any(entry.sight == sight for entry in entries)],
        speakers=[record.id for record in history.players if any(entry.player == record.id for entry in entries)],
        cached=_cached(history),
        scenario=json.dumps(history.scenario, ensure_ascii=False, indent=2) if options.include_prompts else None,
    )  # fmt: skip


def _facts(history: History, options: PageOptions, fallbacks: Shares) -> list[tuple[str, str]]:
    """The facts in the header, which identify the game."""
    volatile = history.volatile
    facts = [("Seed", str(history.seed)), ("Players", f"{len(history.seated):,}")]
    if isinstance(started := volatile.get("started_at"), str):
        facts.append(("Started", text.when(started)))
    if isinstance(wall := volatile.get("wall_s"), int | float):
        facts.append(("Took", text.span_of_time(wall)))
    versions = volatile.get("versions")
    version = versions.get("agentsim") if isinstance(versions, dict) else None
    facts.append(("agentsim", f"{version}" if version else "version unknown"))
    facts.append(("Rules", f"version {history.rules_version}"))
    again = sum(len(decision.tries) > 1 for decision in history.decisions)
    spare = sum(any(attempt.takeover for attempt in decision.tries) for decision in history.decisions)
    by_spare = f", {spare:,} where another model took over" if spare else ""
    fell_back = sum(decision.source == "fallback" for decision in history.decisions)
    facts.append(
        ("Decisions", f"{len(history.decisions):,}, {fell_back:,} by fallback, {again:,} asked again{by_spare}")
    )
    if fallbacks.whole.fallbacks or fallbacks.whole.turned_away:
        facts.append(("Fallbacks", fallbacks.in_words))
    facts += [("Warning", f"{found.message} ({found.count:,} times)") for found in history.warnings]
    if options.include_usage:
        facts.append(("Cost", text.money(history.usage.cost_usd)))
        if history.paid is not history.usage:
            facts.append(("Of that by the branch itself", text.money(history.paid.cost_usd)))
    if models := _models([record.model for record in history.seated if record.model]):
        facts.append(("Models", models))
    return facts


def _cached(history: History) -> dict[str | None, str]:
    """The measured share of cached prompt tokens, by player and (None) in all; a dash where no provider reports it."""
    usages = {player.id: [d.usage for d in history.decisions if d.player == player.id] for player in history.players}
    shares = {None: cached_share(d.usage for d in history.decisions)} | {
        player: cached_share(used) for player, used in usages.items()
    }
    return {player: "–" if share is None else f"{share:.0%}" for player, share in shares.items()}


def _models(models: list[str]) -> str:
    distinct = list(dict.fromkeys(models))
    return ", ".join(distinct[:8]) + (f" and {len(distinct) - 8} more" if len(distinct) > 8 else "")


def _standings(history: History) -> tuple[list[str], list[tuple[StandingRecord, str]]]:
    """The names of all scores, and the standings with each player's model."""
    if history.outcome is None:
        return [], []
    models = {record.id: record.model for record in history.players}
    scores = list(dict.fromkeys(key for standing in history.outcome.standings for key in standing.score))
    return scores, [(standing, models.get(standing.player, "")) for standing in history.outcome.standings]


def _pages(views: Sequence[PanelView]) -> dict[str, str]:
    """The anchor of each player's own page, by its name there; the markup counts panels and people as this does."""
    return {
        person.name: f"panel-{panel}-{place}"
        for panel, shown in enumerate(views, start=1)
        if isinstance(shown, ProfilesView)
        for place, person in enumerate(shown.people, start=1)
    }


def _players(
    history: History, deeds: Mapping[str, Counter[str]], options: PageOptions, pages: Mapping[str, str]
) -> list[_Player]:
    personas = _personas(history.scenario) if options.include_prompts else {}
    return [
        _Player(
            id=record.id,
            name=record.name,
            model=record.model,
            temperature=record.temperature,
            tone=tone(place),
            staff=record.staff,
            deeds=tuple(deeds[record.id].items()),
            persona=personas.get(record.id),
            page=pages.get(record.id) or pages.get(record.name or ""),
        )
        for place, record in enumerate(history.players)
    ]


def _personas(scenario: dict[str, Any]) -> dict[str, str]:
    entries = scenario.get("players")
    return {
        str(entry.get("id")): entry["prompt"]
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("prompt"), str) and entry["prompt"]
    }
