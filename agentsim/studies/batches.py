"""Batches of a scenario or a design: their folder and manifest, and the rule that stops a design at a width."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from agentsim.analysis.finished_games import RANK, WIN, no_such_measure
from agentsim.engine.event import NAMED
from agentsim.engine.wording import counted
from agentsim.errors import ScenarioError, UsageError, needed_by
from agentsim.games import find
from agentsim.records.events import pairs
from agentsim.runs.batch.manifest import DRAWN, Design, Manifest, Until, planned, prepared
from agentsim.runs.forecast import rehearse
from agentsim.scenario.load import LoadOptions, Source
from agentsim.scenario.load import load as load_scenario
from agentsim.scenario.player_plan import ModelName
from agentsim.scenario.scenario import Scenario, check_prices
from agentsim.scenario.validation import shown, validated
from agentsim.studies.designs import EVERYONE, cells, is_design, labels, read_design

if TYPE_CHECKING:
    from agentsim.studies.effects import FactorEffect

FEWEST_BLOCKS = 20
"""The fewest blocks after which a batch may stop at a width: fewer do not tell well how much blocks vary."""


def _check_cast(cast: Sequence[str], own: Collection[str], *, prefixed: bool) -> None:
    """Raise `UsageError` if a model that takes seats in turn has no model's name."""
    for name in () if prefixed else (name for name in cast if name not in own):
        try:
            ModelName.parse(name)
        except ValueError as error:
            raise UsageError(f"--models {shown(name)}: {error}") from None


def prepare_batch(
    scenario: Source | None,
    *,
    games: int | None,
    cast: Sequence[str],
    rotate: bool,
    paired: bool,
    out: Path | None,
    logs_dir: Path,
    own: Collection[str] = (),
    design: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    until: Mapping[str, Any] | None = None,
    **loading: Unpack[LoadOptions],
) -> tuple[Path, Manifest]:
    """Return a batch's folder and its manifest. `cast` are the models that take the players' seats in turn.

    A `design` names the factors to vary, and the scenario and the number of games if these are None. `until` holds the
    fields of an `Until`.
    """
    seed = loading.pop("seed", None)
    _check_cast(cast, own, prefixed=loading.get("provider") is not None)
    asked = Design(DRAWN, games or 0, tuple(cast), rotate, paired)
    if design is None:
        if scenario is None or games is None or until is not None:
            missing = "--config: is missing: the scenario's TOML file" if scenario is None else ""
            if isinstance(scenario, str | os.PathLike) and is_design(Path(scenario)):
                missing = f"{scenario}: is a design, not a scenario: `agentsim batch --design {scenario}` plays it"
            missing = missing or ("--games: is missing: how many games to play" if games is None else "")
            raise UsageError(missing or "--until-width: is of a --design")
        casts = [load_scenario(scenario, model=model, own=own, **loading) for model in cast or (None,)]
    else:
        found = read_design(design if isinstance(design, Mapping) else Path(design))
        if (scenario := scenario or found.config) is None:
            raise UsageError(f"{found.where}: config: is missing; give it there or as --config")
        casts, carriers = cells(found, scenario, cast or (None,), own=own, **loading)
        size, times = len(found.factorial.cells), found.factorial.table.replicates
        if games is None and times is None:
            raise UsageError(f"{found.where}: replicates: is missing; give it there, or --games")
        width = None if until is None else validated(Until, until)
        if width is not None:
            found.factorial.effect(width.factor)
            if width.player not in {None, EVERYONE, *(known := labels(casts[: max(1, len(cast))]))}:
                raise UsageError(f"--player {width.player}: plays in no game (valid: {', '.join(known)})")
        check_measures(casts[0], found.factorial.table.measures, where=found.where)
        if width is not None and width.measure is not None:
            check_measures(casts[0], (width.measure,))
        record = found.factorial.record(carriers, width)
        asked = replace(asked, games=games or (times or 0) * size, factorial=record)
    for each in casts:
        check_prices(each, {})  # without the environment, which is checked when players are seated
    given = seed if seed is not None else casts[0].seed
    return prepared(planned(replace(asked, seed=DRAWN if given is None else given), casts), out, logs_dir)


def check_measures(scenario: Scenario, measures: Sequence[str], *, where: str = "") -> list[str]:
    """Check measures against games on bots, and return the interactions among them that no such game has.

    `where` is the design's file; without it the measure is an option. Raises `ScenarioError` or `UsageError` for a
    measure that no game can have. An interaction may be rare: it is an error only if it is nearly one of those that
    were seen. Nothing is checked if no game of bots ends soon.
    """
    if not set(measures) - {RANK, WIN}:
        return []
    results, actions = _measures_on_bots(scenario, measures)
    if not results:
        return []
    unseen = []
    for number, measure in enumerate(measures):
        stem, _, suffix = measure.rpartition(" (")
        if measure in results or measure in actions:
            continue
        known = {action.rpartition(" (")[0] for action in actions}
        if suffix in {"done)", "received)"} and not difflib.get_close_matches(stem, known, n=1, cutoff=0.85):
            unseen.append(measure)
            continue
        said = no_such_measure(measure, [*results, *sorted(actions)])
        if where:
            raise ScenarioError(said, key=f"measures.{number}", where=where)
        raise UsageError(f"--measure {said}")
    return unseen


def _measures_on_bots(scenario: Scenario, wanted: Collection[str]) -> tuple[list[str], set[str]]:
    """Return the results and the interactions of games on bots, of so many as are needed to find those wanted."""
    game, seats = find(scenario.game), [plan.id for plan in scenario.players]
    names = {plan.id: plan.called for plan in scenario.players if plan.called is not None}
    results: dict[str, None] = {}
    actions: set[str] = set()
    for policies in ([], *([policy] for policy in game.bots.values())):
        if results and set(wanted) <= {*results, *actions}:
            break
        if (play := rehearse(scenario, game, policies, seconds=5.0)) is None or play.outcome is None:
            continue
        standings = play.outcome.standings
        results |= dict.fromkeys((RANK, WIN) if any(each.rank for each in standings) else ())
        results |= dict.fromkeys(score for each in standings for score in each.score)
        found = (
            action.action for pair in pairs(play.log, seats, names) for action in pair.actions if action.action != NAMED
        )
        actions.update(f"{action} ({side})" for action in found for side in ("done", "received"))
    return list(results), actions


def width_reached(directory: Path, until: Until | None) -> Callable[[], str | None] | None:
    """Return a function that says why no more games are needed, or None while they are.

    Returns None if no width is asked for. Stopping at a width hardly changes the coverage of an interval, since the
    width says nothing about the effect (Y. S. Chow and H. Robbins, On the asymptotic theory of fixed-width sequential
    confidence intervals, 1965).
    """
    if until is None:
        return None
    with needed_by("--until-width"):
        from agentsim.studies.effects import DesignGames, effects
    games = DesignGames(directory)

    def enough() -> str | None:
        blocks = games.blocks()
        if blocks is None or not blocks.complete:
            return None
        measure = until.measure or blocks.usual
        found = effects(blocks, measures=(measure,), factor=until.factor, player=until.player)
        if not found and not measure.endswith(")"):  # an interaction may occur in a later game
            raise UsageError(f"--measure {blocks.without(measure)}")
        if not found or blocks.complete < FEWEST_BLOCKS:
            return None
        widest = max(found, key=lambda each: each.pointwise.width)
        return _reached(widest, until.width) if widest.pointwise.width < until.width else None

    return enough


def _reached(widest: FactorEffect, width: float) -> str:
    effect = f"{widest.measure} of {widest.player}, {widest.effect}: {widest.mean:+.3f}"
    ends = f"({widest.low:+.3f} to {widest.high:+.3f})"
    return f"{effect} {ends} after {counted(widest.blocks, 'block')}, narrower than {width:g}"
