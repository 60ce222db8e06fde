"""Networks, discussions and the pages of single players laid out. The markup is `templates/people.html.j2`.

A network is drawn on a circle, which needs no search for a layout: the same game gives the same drawing. The members
of a group stand together, so that arcs across the middle are those between groups.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from agentsim.engine.panel import DataTable, DiaryLine, Network, Node, PlayerProfiles, ThreadPost, Threads, Tie
from agentsim.engine.wording import sentence
from agentsim.report.charts import ChartView, chart
from agentsim.report.data_table import CellView, TableView, cell, table
from agentsim.report.style import tone, tone_of
from agentsim.report.text import fitted, number

__all__ = ["MOST_NODES", "NetworkView", "ProfilesView", "ThreadsView", "network", "profiles", "threads"]

MOST_NODES = 120
"""More than so many names around a circle cannot be read; the busiest are drawn."""
MOST_ARCS, MOST_ROWS = 1500, 1000
DEEPEST = 5
"""Answers to answers beyond this are indented no further: there is no room."""
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
    spots: tuple[Spot, ...]
    arcs: tuple[Arc, ...]
    groups: tuple[tuple[str, str], ...]  # name and tone
    kinds: tuple[tuple[str, str], ...]
    left_out: str
    data: TableView
    size: float = _SIZE
    shape: str = "network"


def network(panel: Network, players: Mapping[str, int]) -> NetworkView:
    """The busiest nodes on a circle, group by group, and the heaviest ties between them."""
    names = {node.name for node in panel.nodes}
    ties = [tie for tie in _joined(panel.ties) if {tie.source, tie.target} <= names]
    traffic: dict[str, float] = defaultdict(float)
    for tie in ties:
        for name in {tie.source, tie.target}:
            traffic[name] += tie.weight
    groups = list(dict.fromkeys(node.group for node in panel.nodes))
    tones = {group: tone(place) for place, group in enumerate(groups)} if len(groups) > 1 else {}
    busiest = {node.name for node in sorted(panel.nodes, key=lambda node: -traffic[node.name])[:MOST_NODES]}
    # Within its group each node keeps the game's own order, in which a reader looks for a name.
    drawn = sorted((node for node in panel.nodes if node.name in busiest), key=lambda node: groups.index(node.group))
    spots = _spots(drawn, traffic, tones, players)
    at = {spot.name: spot for spot in spots}
    kinds = {kind: place for place, kind in enumerate(sorted({tie.kind for tie in ties}))}
    between = [tie for tie in ties if tie.source in at and tie.target in at and tie.source != tie.target]
    heaviest = sorted(between, key=lambda tie: -tie.weight)[:MOST_ARCS]
    most = max((tie.weight for tie in heaviest), default=1.0)
    thick = _THIN + (_THICK - _THIN) * min(1.0, math.sqrt(_MANY_ARCS / max(1, len(heaviest))))
    left_out = [f"{len(panel.nodes) - len(drawn):,} who had less to do with others are not drawn"]
    left_out += [f"{len(between) - len(heaviest):,} slighter ties are not drawn"]
    left_out += [f"the table holds the {MOST_ROWS:,} strongest ties of {len(ties):,}"] if len(ties) > MOST_ROWS else []
    what = ("what",) if len(kinds) > 1 or any(kinds) else ()
    rows = tuple(
        (tie.source, tie.target, *((tie.kind,) if what else ()), tie.weight)
        for tie in sorted(ties, key=lambda tie: -tie.weight)[:MOST_ROWS]
    )
    return NetworkView(
        title=panel.title,
        note=panel.note,
        spots=spots,
        # the heaviest last: they lie on top
        arcs=tuple(_arc(tie, at, thick * math.sqrt(tie.weight / most), kinds[tie.kind]) for tie in reversed(heaviest)),
        groups=tuple((group or "–", its) for group, its in tones.items()),
        kinds=tuple((kind or "–", f"kind{place % 3}") for kind, place in kinds.items()) if len(kinds) > 1 else (),
        left_out=sentence("; ".join(part for part in left_out if not part.startswith("0 "))),
        data=table(DataTable("", ("from", "to", *what, "how much"), rows)),
    )


def _joined(ties: Sequence[Tie]) -> list[Tie]:
    """Each pair and kind once, in the order of their first; a tie without weight is left out."""
    weights: dict[tuple[str, str, str], float] = defaultdict(float)
    for tie in ties:
        if math.isfinite(tie.weight) and tie.weight > 0:
            weights[tie.source, tie.target, tie.kind] += tie.weight
    return [Tie(source, target, weight, kind) for (source, target, kind), weight in weights.items()]


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
                radius=round(largest * (0.45 + 0.55 * math.sqrt(traffic[node.name] / most)), 1),
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
    x = round(middle + _PULL * ((a.x + b.x) / 2 - middle) - down / length * aside, 1)
    y = round(middle + _PULL * ((a.y + b.y) / 2 - middle) + across / length * aside, 1)
    path = f"M{a.x} {a.y}Q{x} {y} {b.x} {b.y}"
    weight = f"{number(tie.weight)} {tie.kind}" if tie.kind else number(tie.weight)
    title = f"{tie.source} to {tie.target}: {weight}"
    return Arc(a.place, b.place, path, round(max(_THIN, width), 1), f"kind{kind % 3}", title)


@dataclass(frozen=True, slots=True)
class PostView:
    """A post, `depth` answers below the beginning of its thread."""

    post: ThreadPost
    depth: int
    tone: str
    answers: int  # in the whole thread, given with its first post


@dataclass(frozen=True, slots=True)
class ThreadsView:
    """All threads in the order in which they began, each with its answers in order."""

    title: str
    note: str
    threads: tuple[tuple[PostView, ...], ...]
    posts: int
    shape: str = "threads"


def threads(panel: Threads, players: Mapping[str, int]) -> ThreadsView:
    """The posts by thread; one that answers a post that is not there, or comes later, begins a thread of its own."""
    place_of: dict[int, int] = {}
    answers: dict[int | None, list[int]] = defaultdict(list)
    for place, post in enumerate(panel.posts):
        answers[None if post.answers is None else place_of.get(post.answers)].append(place)
        place_of[post.number] = place

    def thread(first: int) -> Iterator[PostView]:
        waiting = [(first, 0)]  # depth first without recursion: a thread may be deeper than the call stack
        found = []
        while waiting:
            place, depth = waiting.pop()
            found.append((panel.posts[place], min(depth, DEEPEST)))
            waiting += [(answer, depth + 1) for answer in reversed(answers[place])]
        for post, depth in found:
            yield PostView(post, depth, tone_of(post.author, players), 0 if depth else len(found) - 1)

    begun = list(answers[None])
    return ThreadsView(panel.title, panel.note, tuple(tuple(thread(first)) for first in begun), len(panel.posts))


@dataclass(frozen=True, slots=True)
class ProfileView:
    """One player's page."""

    name: str
    tone: str
    facts: tuple[tuple[str, CellView], ...]
    chart: ChartView | None
    days: tuple[tuple[str, tuple[DiaryLine, ...]], ...]  # neighbouring lines of one time together


@dataclass(frozen=True, slots=True)
class ProfilesView:
    """A page for each player."""

    title: str
    note: str
    people: tuple[ProfileView, ...]
    shape: str = "profiles"


def profiles(panel: PlayerProfiles, players: Mapping[str, int]) -> ProfilesView:
    """Every player's page, of which a reader opens one."""
    people = tuple(
        ProfileView(
            profile.name,
            tone_of(profile.name, players),
            tuple((name, cell(value)) for name, value in profile.facts),
            # without dots, which are most of a small drawing's bytes, and of which a page may have a hundred
            None if profile.chart is None else replace(chart(profile.chart, players), dots=()),
            tuple((when, tuple(lines)) for when, lines in groupby(profile.lines, key=lambda line: line.when)),
        )
        for profile in panel.people
    )
    return ProfilesView(panel.title, panel.note, people)
