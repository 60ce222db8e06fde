"""A network laid out: its nodes on a circle, its ties as arcs through it. The markup is `templates/people.html.j2`.

A circle, since it needs no search for a layout: the same game gives the same drawing, and who belongs to one group
stands together, so that arcs across the middle are those between groups.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentsim.engine.panel import Network, Node, Tie
from agentsim.engine.wording import sentence
from agentsim.report.table import TableView, cell
from agentsim.report.text import fitted, number
from agentsim.report.tones import tone

__all__ = ["Arc", "NetworkView", "Spot", "network"]

MOST_NODES = 120
"""More than so many names around a circle cannot be read; the busiest are drawn."""
MOST_ARCS = 1500
MOST_ROWS = 1000
_SIZE, _MARGIN = 640.0, 22.0
_LABEL = 18  # characters of a name that are drawn
_LETTER = 5.4  # width of one, in the units of the drawing
_THIN, _THICK = 0.6, 5.0
_MANY_ARCS = 60  # beyond so many, arcs are thinner: they would fill the circle
_PULL = 0.35  # how far from the middle an arc's bend stays, as a part of the way to its chord
_APART = 9.0  # of one direction from the chord, so that the other is beside it; a further kind is as much again


@dataclass(frozen=True, slots=True)
class Spot:
    """A node on the circle; its name stands outside, turned by `angle` degrees."""

    place: int
    x: float
    y: float
    radius: float
    angle: float
    flipped: bool  # on the left half, where a name would stand on its head
    label: str
    name: str
    tone: str


@dataclass(frozen=True, slots=True)
class Arc:
    """A tie from one spot to another, by their places."""

    source: int
    target: int
    path: str
    width: float
    tone: str
    title: str


@dataclass(frozen=True, slots=True)
class NetworkView:
    """A network in units of its own, and its ties as a table. `left_out` nodes and arcs are in the table alone."""

    title: str
    note: str
    size: float
    spots: tuple[Spot, ...]
    arcs: tuple[Arc, ...]
    groups: tuple[tuple[str, str], ...]  # name and tone
    kinds: tuple[tuple[str, str], ...]
    left_out: str
    data: TableView
    shape: str = "network"


def network(panel: Network, players: Mapping[str, int]) -> NetworkView:
    """The busiest nodes on a circle, group by group, and the heaviest ties between them."""
    known = {node.name for node in panel.nodes}
    ties = [tie for tie in _joined(panel.ties) if tie.source in known and tie.target in known]
    traffic: dict[str, float] = {}
    for tie in ties:
        for name in {tie.source, tie.target}:
            traffic[name] = traffic.get(name, 0.0) + tie.weight
    groups = list(dict.fromkeys(node.group for node in panel.nodes))
    tones = {group: tone(place) for place, group in enumerate(groups)} if len(groups) > 1 else {}
    drawn = _drawn(panel.nodes, traffic, groups)
    spots = _spots(drawn, traffic, tones, players)
    at = {node.name: spot for node, spot in zip(drawn, spots, strict=True)}
    kinds = {kind: place for place, kind in enumerate(sorted({tie.kind for tie in ties}))}
    between = [tie for tie in ties if tie.source in at and tie.target in at and tie.source != tie.target]
    heaviest = sorted(between, key=lambda tie: -tie.weight)[:MOST_ARCS]
    most = max((tie.weight for tie in heaviest), default=1.0)
    thick = _THIN + (_THICK - _THIN) * min(1.0, math.sqrt(_MANY_ARCS / max(1, len(heaviest))))
    return NetworkView(
        title=panel.title,
        note=panel.note,
        size=_SIZE,
        spots=spots,
        # the heaviest last: they lie on top
        arcs=tuple(_arc(tie, at, thick * math.sqrt(tie.weight / most), kinds[tie.kind]) for tie in reversed(heaviest)),
        groups=tuple((group or "–", its) for group, its in tones.items()),
        kinds=tuple((kind or "–", _tone_of(place)) for kind, place in kinds.items()) if len(kinds) > 1 else (),
        left_out=_left_out(len(panel.nodes) - len(drawn), len(between) - len(heaviest), len(ties)),
        data=_data(ties, named=len(kinds) > 1 or any(kinds)),
    )


def _joined(ties: Sequence[Tie]) -> list[Tie]:
    """Each pair and kind once, in the order of their first; what has no weight is nothing."""
    weights: dict[tuple[str, str, str], float] = {}
    for tie in ties:
        if math.isfinite(tie.weight) and tie.weight > 0:
            key = (tie.source, tie.target, tie.kind)
            weights[key] = weights.get(key, 0.0) + tie.weight
    return [Tie(source, target, weight, kind) for (source, target, kind), weight in weights.items()]


def _drawn(nodes: Sequence[Node], traffic: Mapping[str, float], groups: Sequence[str]) -> list[Node]:
    busiest = sorted(nodes, key=lambda node: -traffic.get(node.name, 0.0))[:MOST_NODES]
    chosen = {node.name for node in busiest}
    # Within its group everybody keeps the game's own order, in which a reader looks for a name.
    return sorted((node for node in nodes if node.name in chosen), key=lambda node: groups.index(node.group))


def _spots(
    nodes: Sequence[Node], traffic: Mapping[str, float], tones: Mapping[str, str], players: Mapping[str, int]
) -> tuple[Spot, ...]:
    most = max(traffic.values(), default=0.0) or 1.0
    # names stand outside the circle, and none may lean out of the drawing
    around = _SIZE / 2 - _MARGIN - _LETTER * max((len(fitted(node.name, _LABEL)) for node in nodes), default=0)
    largest = min(9.0, 2.2 * around / max(1, len(nodes)))
    spots: list[Spot] = []
    for place, node in enumerate(nodes):
        turn = 2 * math.pi * place / len(nodes) - math.pi / 2
        spots.append(
            Spot(
                place=place,
                x=round(_SIZE / 2 + around * math.cos(turn), 1),
                y=round(_SIZE / 2 + around * math.sin(turn), 1),
                radius=round(largest * (0.45 + 0.55 * math.sqrt(traffic.get(node.name, 0.0) / most)), 1),
                angle=round(math.degrees(turn), 1),
                flipped=math.cos(turn) < -1e-9,
                label=fitted(node.name, _LABEL),
                name=node.name,
                tone=tones.get(node.group) or tone(players.get(node.name, place)),
            )
        )
    return tuple(spots)


def _arc(tie: Tie, at: Mapping[str, Spot], width: float, kind: int) -> Arc:
    a, b = at[tie.source], at[tie.target]
    middle = _SIZE / 2
    across, down = b.x - a.x, b.y - a.y
    length = math.hypot(across, down) or 1.0
    aside = _APART * (1 + 2 * kind)
    x = middle + _PULL * ((a.x + b.x) / 2 - middle) - down / length * aside
    y = middle + _PULL * ((a.y + b.y) / 2 - middle) + across / length * aside
    what = f"{number(tie.weight)} {tie.kind}" if tie.kind else number(tie.weight)
    return Arc(
        a.place,
        b.place,
        f"M{a.x} {a.y}Q{round(x, 1)} {round(y, 1)} {b.x} {b.y}",
        round(max(_THIN, width), 1),
        _tone_of(kind),
        f"{tie.source} to {tie.target}: {what}",
    )


def _tone_of(kind: int) -> str:
    return f"kind{kind % 3}"


def _left_out(nodes: int, arcs: int, ties: int) -> str:
    parts = [f"{nodes:,} who had less to do with others are not drawn"] if nodes else []
    parts += [f"{arcs:,} slighter ties are not drawn"] if arcs else []
    parts += [f"the table holds the {MOST_ROWS:,} strongest ties of {ties:,}"] if ties > MOST_ROWS else []
    return sentence("; ".join(parts))


def _data(ties: Sequence[Tie], *, named: bool) -> TableView:
    rows = tuple(
        (cell(tie.source), cell(tie.target), *((cell(tie.kind),) if named else ()), cell(tie.weight))
        for tie in sorted(ties, key=lambda tie: -tie.weight)[:MOST_ROWS]
    )
    return TableView("", "", ("from", "to", *(("what",) if named else ()), "how much"), rows)
