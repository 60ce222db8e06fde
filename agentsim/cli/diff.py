"""`agentsim diff`: where two runs part, and what followed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentsim.cli import options as o

if TYPE_CHECKING:
    from agentsim.history.record import DecisionRecord, EventRecord, History

__all__ = ["Divergence", "Parted", "diff", "divergence"]

_LENGTH = 300


def diff(
    one: Annotated[str, typer.Argument(metavar="A", help="A run's name, or its history file.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Another's.")],
    logs_dir: o.LogsDir = Path("logs"),
    as_json: o.AsJson = False,
) -> None:
    """Show where two runs part and what followed."""
    import json
    from dataclasses import asdict

    from agentsim.cli.terminal_output import safe
    from agentsim.errors import UsageError
    from agentsim.history.files import RunFiles
    from agentsim.history.load import find_source, load_history, require_history

    histories = []
    for name in (one, other):
        found = find_source(name, logs_dir)
        if isinstance(found, RunFiles):
            require_history(found)
            found = found.history
        histories.append(load_history(found))
    if histories[0].game != histories[1].game:
        raise UsageError(f"{one} is a game of {histories[0].game}, {other} of {histories[1].game}")
    parted = divergence(*histories)
    if as_json:
        line = {"a": one, "b": other, "same": parted.same, **asdict(parted)}
        typer.echo(json.dumps(line, ensure_ascii=True, allow_nan=False))
        return
    for row in _report(parted, one, other):
        typer.echo(safe(row))


def _report(parted: Divergence, one: str, other: str) -> list[str]:
    from agentsim.cli.terminal_output import shortened

    rows = [
        shortened(f"{player}: {mine or 'nobody'} in {one}, {theirs or 'nobody'} in {other}", _LENGTH)
        for player, (mine, theirs) in parted.settings.items()
    ]
    if parted.same:
        return [*rows, f"{one} and {other}: the same decisions, events and outcome"]
    rows += _place("decision", parted.decision, one, other)
    rows += _place("event", parted.event, one, other)
    if parted.decision is not None:
        rows.append(
            f"from there on: {parted.decisions_after[0]} decisions in {one}, {parted.decisions_after[1]} in {other}"
        )
    rows.append("ranks:")
    for player, (mine, theirs) in parted.ranks.items():
        moved = "" if mine == theirs else "  <"
        rows.append(f"  {shortened(player, _LENGTH)}: {_rank(mine)} in {one}, {_rank(theirs)} in {other}{moved}")
    return rows


def _place(what: str, parted: Parted | None, one: str, other: str) -> list[str]:
    import json

    from agentsim.cli.terminal_output import shortened

    if parted is None:
        return [f"no {what} differs"]
    rows = [f"the first {what} that differs is number {parted.place}:"]
    for name, side in ((one, parted.one), (other, parted.other)):
        said = "it has ended" if side is None else json.dumps(side, ensure_ascii=False)
        rows.append(f"  {name}: {shortened(said, _LENGTH)}")
    return rows


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


@dataclass(frozen=True, slots=True)
class Parted:
    """The first place where two lists differ, counted from 1. A side that has ended before is None."""

    place: int
    one: dict[str, Any] | None
    other: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Divergence:
    """How two histories differ: the first decision, the first event, and each player's rank in both.

    `decision` and `event` are None where none differs. `decisions_after` counts the decisions of each history from the
    first difference on. A rank is None where the game has no outcome. `settings` lists the seats whose models differ.
    """

    decision: Parted | None
    event: Parted | None
    decisions_after: tuple[int, int]
    ranks: dict[str, tuple[int | None, int | None]]
    settings: dict[str, tuple[str | None, str | None]]

    @property
    def same(self) -> bool:
        """Whether decisions, events and outcome are the same."""
        return self.decision is None and self.event is None and all(one == other for one, other in self.ranks.values())


def divergence(one: History, other: History) -> Divergence:
    """Compare two histories, decision by decision and event by event."""
    decision = _first([_decided(each) for each in one.decisions], [_decided(each) for each in other.decisions])
    event = _first([*map(_told, _events(one))], [*map(_told, _events(other))])
    before = len(one.decisions) if decision is None else decision.place - 1
    ranks, models = [_ranks(each) for each in (one, other)], [_models(each) for each in (one, other)]
    return Divergence(
        decision=decision,
        event=event,
        decisions_after=(max(0, len(one.decisions) - before), max(0, len(other.decisions) - before)),
        ranks={player: (ranks[0].get(player), ranks[1].get(player)) for player in {**models[0], **models[1]}},
        settings={
            player: (models[0].get(player), models[1].get(player))
            for player in {**models[0], **models[1]}
            if models[0].get(player) != models[1].get(player)
        },
    )


def _first(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> Parted | None:
    pairs = enumerate(zip_longest(one, other), start=1)
    return next((Parted(place, mine, theirs) for place, (mine, theirs) in pairs if mine != theirs), None)


def _decided(record: DecisionRecord) -> dict[str, Any]:
    return {"player": record.player, "kind": record.kind, "decision": record.decision}


def _events(history: History) -> list[tuple[str, EventRecord]]:
    return [(part.title, event) for part in history.rounds for event in part.events]


def _told(event: tuple[str, EventRecord]) -> dict[str, Any]:
    title, record = event
    shown = {"kind": record.kind, "heading": record.heading, "content": record.content, "data": record.data}
    return {"round": title, **shown, "visibility": record.visibility}


def _ranks(history: History) -> dict[str, int]:
    return {} if history.outcome is None else {each.player: each.rank for each in history.outcome.standings}


def _models(history: History) -> dict[str, str]:
    return {player.id: player.model for player in history.seated}
