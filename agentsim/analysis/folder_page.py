"""The page of a folder of games: its report as `agentsim report --html` writes it, and as a site serves it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from agentsim.analysis.folder_report import Compared, Part
from agentsim.analysis.in_words import SMALL, p_value
from agentsim.engine.wording import counted
from agentsim.history.load import RunSummary
from agentsim.history.record import FINISHED
from agentsim.history.run_files import MANIFEST
from agentsim.report.markup import money
from agentsim.report.page import GameLink, Served, render_batch

DECIDED = "decisions by fallbacks say nothing about the players"


def fell(part: Part, max_fallbacks: float) -> str:
    """How many games of a part have too many fallbacks."""
    return f"{len(part.above)} of {counted(len(part.condition.games), 'game')} with more than {max_fallbacks:.0%}"


def planned_by_batch(directory: Path) -> list[str]:
    """The tables that a batch's design names beforehand: models that rotate are there to be compared."""
    try:
        manifest = json.loads((directory / MANIFEST).read_bytes())
    except (OSError, ValueError):
        return []
    models = manifest.get("models") if isinstance(manifest, dict) else None
    return ["standings", "ratings"] if isinstance(models, list) and len(models) > 1 else []


def folder_page(
    directory: Path,
    found: Compared,
    runs: Sequence[RunSummary],
    pages: Mapping[str, str],
    *,
    max_fallbacks: float = 0.10,
    css: str = "",
    served: Served | None = None,
) -> str:
    """The page of a folder; `pages` are the addresses of its games' pages, by name of the game."""
    games, played = [], []
    for run in runs:
        played.append(run.game.replace("_", " ").title())
        by_model = {} if run.shares is None else run.shares.by_model
        share = ", ".join(f"{model} {each.percent}" for model, each in by_model.items())
        page = pages.get(run.name)
        games.append(GameLink(run.name, run.status, run.seed, run.first, run.cost_usd, page, share or None))
    finished = sum(game.status in FINISHED for game in games)
    costs = [game.cost_usd for game in games]
    facts = [("Game", ", ".join(dict.fromkeys(played))), ("Games", f"{finished} of {len(games)} finished")]
    for kind in found.kinds:
        if len(kind.conditions) > 1:
            named = "; ".join(f"{each.name} ({len(each.games)})" for each in kind.conditions)
            facts.append((f"Conditions of {kind.game}, not pooled", named))
    if None not in costs and any(costs):
        facts.append(("Cost", money(sum(cost or 0.0 for cost in costs))))
    parts = [part for kind in found.kinds for part in kind.parts]
    fallbacks = [
        ("" if found.whole is part else f"{part.name}: ") + fell(part, max_fallbacks)
        for part in parts
        if any(line.asked for line in part.table.played)
    ]
    if fallbacks:
        facts.append(("Fallbacks", "; ".join(fallbacks)))
    labels = dict.fromkeys(line.label for part in parts for line in part.table.played)
    planned, others = ([panel for was, panel in found.panels if was is wanted] for wanted in (True, False))
    return render_batch(
        others,
        games,
        name=directory.resolve().name,
        facts=facts,
        warning=f"{'; '.join(fallbacks)}: {DECIDED}" if any(part.above for part in parts) else None,
        labels={label: place for place, label in enumerate(labels)},
        css=css,
        served=served,
        planned=planned,
        verdict=verdict(found),
    )


def verdict(found: Compared) -> str | None:
    """Who came first, as the standings may be summed up, and whether mean ranks differ by more than chance."""
    said = []
    for kind in found.kinds:
        for part in kind.parts:
            if (p := part.table.null_p) is None:
                continue
            first, games = part.table.lines[0], counted(len(part.condition.ranked), "game")
            where = "" if found.whole is part else f"{part.name}: "
            if p < SMALL:
                words = f"{where}the mean ranks differ by more than chance, and {first.label} has the best"
            else:
                words = f"{where}no difference in mean rank is shown; that {first.label} has the best may be chance"
            said.append(f"{words} (permutation test: {p_value(p)}, {games})")
    text = "; ".join(said)
    return f"{text[:1].upper()}{text[1:]}." if text else None
