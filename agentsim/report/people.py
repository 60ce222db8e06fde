"""The layout of networks and discussions. The markup is `templates/people.html.j2`.

A network is drawn on a circle, which needs no layout search: the same game gives the same drawing. Members of a group
are adjacent, so arcs across the middle connect groups.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from agentsim.engine.panel import DataTable, Edge, Network, Node, Threads
from agentsim.engine.wording import sentence
from agentsim.report.markup import TemplateContext, fitted, number, series_tone, table, tone, tone_of

MOST_NODES = 120
"""The most names around a circle, which must stay readable. The nodes with the most traffic are drawn."""
MOST_ARCS, MOST_ROWS = 1500, 1000
DEEPEST = 5
"""The deepest indentation of answers to answers, for lack of room."""
_SIZE, _MARGIN = 640.0, 22.0
_LABEL = 18  # the most characters of a name
_SHORT, _FEW = 9, 30  # labels of so many characters, of so many nodes, can be larger on a telephone
_LETTER = 5.4  # width of a character, in units of the drawing
_THIN, _THICK = 0.6, 5.0
_MANY_ARCS = 60  # with more arcs, each is thinner, so that they do not fill the circle
_PULL = 0.35  # distance of an arc's control point from the middle, as a fraction of the chord's distance
_APART = 9.0  # offset of one direction from the chord, so that both are visible; each further kind adds twice as much


def network(panel: Network, players: Mapping[str, int]) -> TemplateContext:
    """Lay out the nodes with the most traffic on a circle by group, the heaviest edges, and a table of all edges."""
    edges = _joined(panel)
    traffic: dict[str, float] = defaultdict(float)
    for edge in edges:
        for name in {edge.source, edge.target}:
            traffic[name] += edge.weight
    groups = list(dict.fromkeys(node.group for node in panel.nodes))
    tones = {group: series_tone(index) for index, group in enumerate(groups)} if len(groups) > 1 else {}
    busiest = {node.name for node in sorted(panel.nodes, key=lambda node: -traffic[node.name])[:MOST_NODES]}
    # Within a group nodes keep the game's order, in which a reader looks for a name.
    drawn = sorted((node for node in panel.nodes if node.name in busiest), key=lambda node: groups.index(node.group))
    spots = _spots(drawn, traffic, tones, players)
    at = {spot.name: spot for spot in spots}
    kinds = {kind: index for index, kind in enumerate(sorted({edge.kind for edge in edges}))}
    strongest = sorted(edges, key=lambda edge: -edge.weight)
    between = [edge for edge in strongest if edge.source in at and edge.target in at and edge.source != edge.target]
    heaviest = between[:MOST_ARCS]
    most = max((edge.weight for edge in heaviest), default=1.0)
    thick = _THIN + (_THICK - _THIN) * min(1.0, math.sqrt(_MANY_ARCS / max(1, len(heaviest))))
    fewer = {
        "who had less to do with others are not drawn": len(panel.nodes) - len(drawn),
        "slighter edges are not drawn": len(between) - len(heaviest),
    }
    left_out = [f"{count:,} {whose}" for whose, count in fewer.items() if count]
    if len(edges) > MOST_ROWS:
        left_out.append(f"the table holds the {MOST_ROWS:,} strongest edges of {len(edges):,}")
    what = ("what",) if any(kinds) else ()
    rows = ((edge.source, edge.target, *((edge.kind,) if what else ()), edge.weight) for edge in strongest[:MOST_ROWS])
    return TemplateContext(
        shape="network",
        panel=panel,
        size=_SIZE,
        brief=len(spots) <= _FEW and all(len(spot.label) <= _SHORT for spot in spots),
        spots=spots,
        # the heaviest are drawn last, on top
        arcs=[_arc(edge, at, thick * math.sqrt(edge.weight / most), kinds[edge.kind]) for edge in reversed(heaviest)],
        groups=tuple((group or "–", its) for group, its in tones.items()),
        kinds=tuple((kind or "–", f"kind{index % 3}") for kind, index in kinds.items()) if len(kinds) > 1 else (),
        left_out=sentence("; ".join(left_out)),
        data=table(DataTable("", ("from", "to", *what, "how much"), tuple(rows))),
    )


def _joined(panel: Network) -> list[Edge]:
    """Sum the edges of each pair and kind, in order of first occurrence, without edges of no weight."""
    names = {node.name for node in panel.nodes}
    weights: dict[tuple[str, str, str], float] = defaultdict(float)
    for edge in panel.edges:
        if math.isfinite(edge.weight) and edge.weight > 0 and {edge.source, edge.target} <= names:
            weights[edge.source, edge.target, edge.kind] += edge.weight
    return [Edge(source, target, weight, kind) for (source, target, kind), weight in weights.items()]


def _spots(
    nodes: Sequence[Node], traffic: Mapping[str, float], tones: Mapping[str, str], players: Mapping[str, int]
) -> list[TemplateContext]:
    most = max(traffic.values(), default=0.0) or 1.0
    # names are outside the circle but must fit into the drawing
    around = _SIZE / 2 - _MARGIN - _LETTER * max((len(fitted(node.name, _LABEL)) for node in nodes), default=0)
    largest = min(9.0, 2.2 * around / max(1, len(nodes)))

    def spot(index: int, node: Node) -> TemplateContext:
        turn = 2 * math.pi * index / len(nodes) - math.pi / 2
        return TemplateContext(
            place=index,
            x=round(_SIZE / 2 + around * math.cos(turn), 1),
            y=round(_SIZE / 2 + around * math.sin(turn), 1),
            radius=round(largest * (0.45 + 0.55 * math.sqrt(traffic[node.name] / most)), 1),
            angle=round(math.degrees(turn), 1),  # rotation of the name, in degrees
            flipped=math.cos(turn) < -1e-9,  # on the left half, where the name would be upside down
            label=fitted(node.name, _LABEL),
            name=node.name,
            tone=tones.get(node.group) or tone(players.get(node.name, index)),
        )

    return [spot(index, node) for index, node in enumerate(nodes)]


def _arc(edge: Edge, at: Mapping[str, TemplateContext], width: float, kind: int) -> TemplateContext:
    a, b = at[edge.source], at[edge.target]
    middle = _SIZE / 2
    across, down = b.x - a.x, b.y - a.y
    length = math.hypot(across, down) or 1.0
    aside = _APART * (1 + 2 * kind)
    x = round(middle + _PULL * ((a.x + b.x) / 2 - middle) - down / length * aside, 1)
    y = round(middle + _PULL * ((a.y + b.y) / 2 - middle) + across / length * aside, 1)
    title = f"{edge.source} to {edge.target}{f', {edge.kind}' if edge.kind else ''}: {number(edge.weight)}"
    path = f"M{a.x} {a.y}Q{x} {y} {b.x} {b.y}"
    width = round(max(_THIN, width), 1)
    return TemplateContext(source=a.place, target=b.place, path=path, width=width, tone=f"kind{kind % 3}", title=title)


def threads(panel: Threads, players: Mapping[str, int]) -> TemplateContext:
    """Lay out the posts by thread. A post that answers a missing or later post starts its own thread."""
    index_of: dict[int, int] = {}
    answers: dict[int | None, list[int]] = defaultdict(list)
    for index, post in enumerate(panel.posts):
        answers[None if post.answers is None else index_of.get(post.answers)].append(index)
        index_of[post.number] = index

    def thread(first: int) -> list[TemplateContext]:
        waiting = [(first, 0)]  # depth first without recursion, since a thread may be deeper than the call stack
        found = []
        while waiting:
            index, depth = waiting.pop()
            found.append((panel.posts[index], min(depth, DEEPEST)))
            waiting += [(answer, depth + 1) for answer in reversed(answers[index])]
        told = len(found) - 1  # answers in the whole thread, stored in its first post
        return [
            TemplateContext(post=post, depth=depth, tone=tone_of(post.author, players), answers=0 if depth else told)
            for post, depth in found
        ]

    return TemplateContext(shape="threads", panel=panel, threads=[thread(first) for first in list(answers[None])])
