"""The page of `agentsim report`: DIR/index.html."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentsim.engine.wording import counted

if TYPE_CHECKING:
    from agentsim.analysis.folder_report import Compared, Part
    from agentsim.engine.panel import Panel

DECIDED = "what fallbacks decided says nothing about the players"


def fell(part: Part, max_fallbacks: float) -> str:
    """How many games have too many fallbacks."""
    return f"{len(part.above)} of {counted(len(part.condition.games), 'game')} with more than {max_fallbacks:.0%}"


def write_page(directory: Path, found: Compared, max_fallbacks: float) -> None:
    """Write the folder's page."""
    from agentsim.history.load import list_runs
    from agentsim.history.record import FINISHED
    from agentsim.history.run_files import write_whole
    from agentsim.report.markup import find_css, money
    from agentsim.report.page import GameLink, render_batch

    games, played = [], []
    for run in list_runs(directory):
        played.append(run.game.replace("_", " ").title())
        page = f"{run.name}.html" if (directory / f"{run.name}.html").is_file() else None
        share = None if run.shares is None else run.shares.short
        games.append(GameLink(run.name, run.status, run.seed, run.winner, run.cost_usd, page, share))
    finished = sum(game.status in FINISHED for game in games)
    costs = [game.cost_usd for game in games]
    facts = [("Game", ", ".join(dict.fromkeys(played))), ("Games", f"{finished} of {len(games)} finished")]
    for kind in found.kinds:
        if len(kind.conditions) > 1:
            named = "; ".join(f"{each.name} ({len(each.games)})" for each in kind.conditions)
            facts.append((f"Conditions of {kind.game}, not pooled", named))
    if None not in costs:
        facts.append(("Cost", money(sum(cost or 0.0 for cost in costs))))
    parts = [part for kind in found.kinds for part in kind.parts]
    fallbacks = [
        ("" if found.whole is part else f"{part.name}: ") + fell(part, max_fallbacks)
        for part in parts
        if any(line.asked for line in part.table.lines)
    ]
    if fallbacks:
        facts.append(("Fallbacks", "; ".join(fallbacks)))
    labels = dict.fromkeys(line.label for part in parts for line in part.table.lines)
    shown: dict[bool, list[Panel]] = {
        was: [panel for each, panel in found.panels if each is was] for was in (True, False)
    }
    page_text = render_batch(
        shown[False],
        games,
        name=directory.resolve().name,
        facts=facts,
        warning=f"{'; '.join(fallbacks)}: {DECIDED}" if any(part.above for part in parts) else None,
        labels={label: place for place, label in enumerate(labels)},
        css=find_css(directory),
        planned=shown[True],
    )
    write_whole(directory / "index.html", page_text)
