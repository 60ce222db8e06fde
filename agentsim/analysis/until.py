"""When a batch of a design has enough games: the interval of a planned effect is as narrow as was asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from agentsim.engine.wording import counted
from agentsim.errors import UsageError, needed_by

if TYPE_CHECKING:
    from agentsim.analysis.design_effects import FactorEffect
    from agentsim.scenario.factorial import Until


def width_reached(directory: Path, until: Until | None) -> Callable[[], str | None] | None:
    """What says why no more games are needed, None while they are; itself None where no width was asked for.

    It looks at the games that are done whenever it is called, and its intervals allow for that.
    """
    if until is None:
        return None
    with needed_by("--until-width"):
        from agentsim.analysis.design_effects import effects
        from agentsim.analysis.design_records import DesignGames
        from agentsim.analysis.paired import FEWEST_SEEN
    games = DesignGames(directory)

    def enough() -> str | None:
        blocks = games.blocks()
        if blocks is None or not blocks.complete:
            return None
        found = effects(blocks, measures=(until.measure,), factor=until.factor, player=until.player, anytime=True)
        if not found and not until.measure.endswith(")"):  # a deed may be done in a later game
            raise UsageError(f"--measure {until.measure}: {blocks.without(until.measure)}")
        if not found or blocks.complete < FEWEST_SEEN:
            return None
        widest = max(found, key=lambda each: each.alone.width)
        return _said(widest, until) if widest.alone.width < until.width else None

    return enough


def _said(widest: FactorEffect, until: Until) -> str:
    effect = f"{until.measure} of {widest.player}, {widest.effect}: {widest.mean:+.3f}"
    ends = f"({widest.low:+.3f} to {widest.high:+.3f})"
    return f"{effect} {ends} after {counted(widest.blocks, 'block')}, narrower than {until.width:g}"
