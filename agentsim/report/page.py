"""The pages of one game and of many games, each as one self-contained HTML document.

The same history gives the same bytes. `timeline` lays out events; `markup`, `charts`, `board` and `people` lay out
panels; colors are in `logs.css`, markup is in `templates/`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from markupsafe import Markup

from agentsim.engine.event import LoggedEvent
from agentsim.engine.panel import (
    Board,
    Chart,
    DataTable,
    Estimates,
    Forest,
    Network,
    Overview,
    Panel,
    Scatter,
    Threads,
)
from agentsim.errors import ScenarioError
from agentsim.games import find
from agentsim.lazy import dataclass
from agentsim.records.claims import Claim, claims_of
from agentsim.records.events import compute_from_log, pairs, told_events
from agentsim.records.fallback_rates import fallback_rates_in
from agentsim.records.history import History
from agentsim.records.journal import Totals
from agentsim.records.ledger import Promise, ledger_of
from agentsim.records.run_files import RunFiles
from agentsim.report import markup
from agentsim.report.board import board
from agentsim.report.charts import chart, forest, ranges, scatter
from agentsim.report.game_panels import (
    event_labels,
    label_of,
    model_table,
    pairs_table,
    phases,
    said_and_done_table,
    survey_panels,
)
from agentsim.report.markup import table
from agentsim.report.people import network, threads
from agentsim.report.player_view import as_seen_by
from agentsim.report.summary import exchanges, summary
from agentsim.report.timeline import MOST_FOLDS, Timeline

EXPLORATORY = (
    "Exploratory: nothing here was named beforehand. One interval of 95% in twenty misses by chance alone; what is "
    "found here is to be confirmed with games of other seeds."
)
MOST_OPEN = 30
"""The most rows or posts of a panel that is not folded."""


@dataclass(frozen=True, slots=True)
class PageOptions:
    """The optional contents of the page, besides the events: prompts, reasoning, usage, or only one player's view."""

    include_prompts: bool = False
    include_reasoning: bool = False
    include_usage: bool = False
    as_seen_by: str | None = None


@dataclass
class Served:
    """The settings of a page from the server, which links its style sheet and scripts, and the parts collected from it.

    `home` is the address of the list of runs; `links` are other addresses with their labels. `stream` is the address of
    further events, empty if none will follow; if `whole` is False, the transcript's events are left out because they
    are streamed. Rendering fills `parts`: HTML by the id of its element. A part without content is a hidden element.
    """

    style: str
    scripts: tuple[str, ...]
    home: str = "/"
    links: tuple[tuple[str, str], ...] = ()
    stream: str = ""
    playing: bool = False
    whole: bool = True
    parts: dict[str, Markup] = field(default_factory=dict)

    def part(self, name: str, caller: Callable[[], Markup]) -> Markup:
        """Record one part, and return it."""
        found = caller()
        found = found if found.strip() else Markup('<div id="{}" hidden></div>').format(name)
        self.parts[name] = found
        return found


def _as_it_is(_name: str, caller: Callable[[], Markup]) -> Markup:
    return caller()


@dataclass(frozen=True, slots=True)
class GameLink:
    """One game of many. `page` is its file beside this one; `fallbacks` is the share of decisions by fallback."""

    name: str
    status: str
    seed: int | None
    winner: str | None
    cost_usd: float | None
    page: str | None
    fallbacks: str | None = None


def page_of(history: History, options: PageOptions, *, name: str, directory: Path) -> str:
    """Return the page of a run with its game's panels, and with the style sheet of its directory if there is one."""
    css = markup.find_css(directory)
    return shown(history, options, name=name, css=css, files=RunFiles(directory, name))


def shown(
    history: History,
    options: PageOptions,
    *,
    name: str,
    css: str = "",
    served: Served | None = None,
    files: RunFiles | None = None,
) -> str:
    """Return the page of a run with its game's panels, and the promises and claims that coders found, by its `files`.

    They are not on the page as a player saw the game. The parts of a `served` page are recorded in it.
    """
    seen = history if options.as_seen_by is None else as_seen_by(history, options.as_seen_by)
    game = find(history.game)
    log = told_events(seen, game)
    found = compute_from_log(partial(pairs, names=history.names), log, history)
    between = pairs_table(found, {part.index: part.title for part in seen.rounds})
    overview = compute_from_log(game.overview, log, history)
    standing = overview.score_chart and overview.score_chart.title
    coded = files if options.as_seen_by is None else None
    # the summary already shows this panel
    panels = [panel for panel in compute_from_log(game.panels, log, history) if panel.title != standing]
    panels += [*([] if between is None else [between]), *survey_panels(seen)]
    return render(
        history,
        panels,
        options,
        name=name,
        css=css,
        overview=overview,
        log=log,
        served=served,
        promises=() if coded is None else ledger_of(coded, history),
        claims=() if coded is None else claims_of(coded, history),
    )


_LAYOUTS: Mapping[type[Panel], Callable[[Any, Mapping[str, int]], markup.TemplateContext]] = {
    DataTable: lambda panel, _players: table(panel),
    Chart: chart,
    Scatter: scatter,
    Estimates: ranges,
    Forest: forest,
    Board: board,
    Network: network,
    Threads: threads,
}


def view(panel: Panel, players: Mapping[str, int]) -> markup.TemplateContext:
    """Lay out a panel. A series, owner or author with the name of a player has that player's tone.

    The panel is folded if it is long or contains only zeros.
    """
    drawn = _LAYOUTS[type(panel)](panel, players)
    drawn.folded = False
    match panel:
        case DataTable(rows=rows):
            numbers = {value for row in rows for value in row if isinstance(value, int | float)}
            drawn.folded = len(rows) > MOST_OPEN or numbers == {0}
        case Chart(series=series):
            drawn.folded = not {value for line in series for value in line.values} - {0, None}
        case Threads(posts=posts):
            drawn.folded = len(posts) > MOST_OPEN
    return drawn


def render(
    history: History,
    panels: Sequence[Panel],
    options: PageOptions,
    *,
    name: str,
    css: str,
    overview: Overview = Overview(),  # noqa: B008 (it is frozen)
    log: Sequence[LoggedEvent] = (),
    served: Served | None = None,
    promises: Sequence[Promise] = (),
    claims: Sequence[Claim] = (),
) -> str:
    """Return the page.

    `name` is the run's name, `css` the style sheet's text, `log` the history's events as the game's types. A `served`
    page links its style sheet and scripts; its parts are recorded in it.

    With `as_seen_by` this function filters the history. The caller must build panels, overview and log from that
    player's events, since the sources of a panel's numbers are unknown.
    """
    if options.as_seen_by is not None:
        history = as_seen_by(history, options.as_seen_by)
    run = name if options.as_seen_by is None else None
    prompts, reasoning = options.include_prompts, options.include_reasoning
    timeline = Timeline(history, prompts=prompts, reasoning=reasoning, run=run, promises=promises, claims=claims)
    rounds = list(timeline.rounds())
    silent = list(timeline.silent())  # the decisions that no event tells
    entries = [entry for record in rounds for entry in record.entries]
    actions: dict[str, Counter[str]] = {record.id: Counter() for record in history.players}
    for entry in entries:
        if entry.player in actions:
            actions[entry.player][entry.record.kind] += 1
    told = {entry.player for entry in entries}  # the players whose decisions some event tells
    seat_indices = {record.id: index for index, record in enumerate(history.players)}
    names = history.names
    # charts refer to players by their names in the game
    seat_indices = {name: seat_indices[player] for player, name in names.items()} | seat_indices
    views = [view(panel, seat_indices) for panel in panels]
    labels = event_labels(history.game)
    if by_model := model_table(history, actions, labels):
        views.append(view(by_model, seat_indices))
    words = said_and_done_table(history, reasoning=options.include_reasoning)
    card = summary(history, log, overview, seat_indices)
    standings = history.outcome.standings if history.outcome else []
    scores = list(dict.fromkeys(key for standing in standings for key in standing.score))
    style = markup.inlined(css)
    script = files("agentsim.report").joinpath("templates", "page.js").read_text("utf-8")
    return markup.environment().get_template("page.html.j2").render(
        history=history,
        options=options,
        served=served,
        part=_as_it_is if served is None else served.part,
        name=name,
        game=game_title(history.game),
        style=style,
        script=Markup(script),  # noqa: S704 (ours, and the same on every page)
        csp=markup.content_security_policy(style, script),
        fallbacks=fallback_rates_in(history),
        asked_again=sum(len(decision.attempts) > 1 for decision in history.decisions),
        taken_over=sum(any(attempt.takeover for attempt in decision.attempts) for decision in history.decisions),
        fallen_back=sum(decision.source == "fallback" for decision in history.decisions),
        standings=standings,
        scores=scores,
        decimals={key: markup.shared_decimals(standing.score.get(key) for standing in standings) for key in scores},
        models={record.id: record.model for record in history.players},
        names=names,
        actions=actions,
        card=card,
        spoken=None if words is None else exchanges(words, history, {point.round for point in card.points}),
        slim=len(entries) > MOST_FOLDS,  # a page of so many events leaves out their data
        phases=phases(rounds),
        personas=_personas(history.scenario) if options.include_prompts else {},
        panels=views,
        promises=promises,
        claims=claims,
        rounds=rounds,
        silent=silent,
        tones={player: markup.tone(index) for player, index in seat_indices.items()},
        labels=labels,
        kinds=sorted({entry.record.kind for entry in entries}, key=lambda kind: (label_of(kind, labels), kind)),
        fork=None if run is None else f"agentsim fork {run} --at",
        visibilities=[each for each in ("public", "private", "log") if any(entry.sight == each for entry in entries)],
        speakers=[(index, record.id) for index, record in enumerate(history.players) if record.id in told],
        cached=_cached(history),
        scenario=json.dumps(history.scenario, ensure_ascii=False, indent=2) if options.include_prompts else None,
    )  # fmt: skip


def render_batch(
    panels: Sequence[Panel],
    games: Sequence[GameLink],
    *,
    name: str,
    facts: Sequence[tuple[str, str]],
    labels: Mapping[str, int],
    css: str,
    warning: str | None = None,
    planned: Sequence[Panel] = (),
    main: Sequence[Panel] = (),
    verdict: str | None = None,
    served: Served | None = None,
) -> str:
    """Return the page of many games. `labels` maps the compared models or players to the numbers of their tones.

    `verdict`, `facts` and `warning` belong to the header. `planned` comparisons come first, then the `main` ones that
    are exploratory; `panels` are folded. A `served` page links its style sheet.
    """
    style = markup.inlined(css)
    every = [*panels, *planned, *main]
    views = [view(panel, labels) for panel in every]
    folded, opened = len(panels), len(panels) + len(planned)
    return markup.environment().get_template("batch.html.j2").render(
        served=served,
        name=name,
        facts=facts,
        warning=warning,
        verdict=verdict,
        panels=views[:folded],
        planned=views[folded:opened],
        main=views[opened:],
        exploratory=EXPLORATORY,
        games=games,
        style=style,
        csp=markup.content_security_policy(style),
    )  # fmt: skip


def game_title(game: str) -> str:
    """Return the title of a game, or its name in words if the game is not installed."""
    try:
        return find(game).title
    except ScenarioError:
        return game.replace("_", " ").title()


def _cached(history: History) -> dict[str | None, str]:
    """Return the share of cached prompt tokens by player, and in total under None; "–" if no provider reports it."""
    whose: list[str | None] = [None, *(player.id for player in history.players)]
    used: dict[str | None, Totals] = {None: history.usage}
    used.update(history.usage.by_player or {})
    shares = {player: used[player].cached_share if player in used else None for player in whose}
    return {player: "–" if share is None else f"{share:.0%}" for player, share in shares.items()}


def _personas(scenario: dict[str, Any]) -> dict[str, str]:
    entries = scenario.get("players")
    return {
        str(entry.get("id")): entry["prompt"]
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("prompt"), str) and entry["prompt"]
    }
