"""Ties: who deals with whom, as a network of messages, replies and gifts, and who stands where in it."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence

from agentsim.engine import Event
from agentsim.engine.panel import Cell, DataTable, Network, Node, Panel, Tie
from agentsim.games.society.pages import People
from agentsim.games.society.talk import MessageSent, Posted
from agentsim.games.society.work import Traded

MOST_VISITS = 2_000_000
"""Ties that are walked along for betweenness, which is left out beyond that: a second or two."""
MOST_SHOWN = 30
_NOTE = (
    "Degree is the number of others with whom an agent had to do, out and in are how often it wrote, answered or gave, "
    "and others did so to it. Betweenness is the share of the shortest paths between two others that lead by it, 0 to "
    "1, ties without direction and weight (L. Freeman 1977, reckoned as by U. Brandes 2001)."
)


def ties(events: Sequence[Event], people: People) -> Iterator[Panel]:
    """The network, personality by personality, and centralities; nothing without any tie."""
    counts = _counted(events)
    if not counts:
        return
    nodes = tuple(Node(people.called(number), being.personality) for number, being in people.beings.items())
    between = tuple(
        Tie(people.called(source), people.called(target), float(times), kind)
        for (source, target, kind), times in counts.items()
    )
    note = "How often one agent wrote to another, answered it in the forum, or gave it something."
    yield Network("Who deals with whom", nodes, between, note)
    yield _centralities(counts, people)


def _counted(events: Sequence[Event]) -> Counter[tuple[int, int, str]]:
    counts: Counter[tuple[int, int, str]] = Counter()
    authors: dict[int | None, int] = {}
    for event in events:
        match event:
            case MessageSent():
                counts[event.agent, event.recipient, "messages"] += 1
            case Posted():
                authors[event.post] = event.agent
                if event.parent in authors:
                    counts[event.agent, authors[event.parent], "replies"] += 1
            case Traded() if event.recipient:
                counts[event.agent, event.recipient, "gifts"] += 1
            case _:
                pass
    return counts


def _centralities(counts: Mapping[tuple[int, int, str], int], people: People) -> DataTable:
    near: dict[int, set[int]] = {agent: set() for agent in people.beings}
    done, met = Counter[int](), Counter[int]()
    for (one, other, _), times in counts.items():
        done[one] += times
        met[other] += times
        if one != other:
            near[one].add(other)
            near[other].add(one)
    visits = len(near) * sum(map(len, near.values()))
    lies = betweenness(near) if visits <= MOST_VISITS else {}
    order = sorted(near, key=lambda agent: (-lies.get(agent, 0), -len(near[agent]), agent))
    rows: list[tuple[Cell, ...]] = [
        (
            *(people.called(agent), people.beings[agent].personality, len(near[agent]), done[agent], met[agent]),
            *([round(lies[agent], 4)] if lies else []),
        )
        for agent in order[:MOST_SHOWN]
    ]
    columns = ("agent", "personality", "degree", "out", "in", *(["betweenness"] if lies else []))
    first = f" The first {MOST_SHOWN} of {len(near):,} agents." if len(near) > MOST_SHOWN else ""
    return DataTable("Centrality in talk and gifts", columns, tuple(rows), _NOTE + first)


def betweenness(near: Mapping[int, set[int]]) -> dict[int, float]:
    """By node, the share of the shortest paths between all pairs of other nodes that lead by it, 0 to 1.

    `near` are the neighbours of each node, ties going both ways. U. Brandes, A faster algorithm for betweenness
    centrality, 2001; divided by the number of pairs of other nodes, (n - 1)(n - 2) in both directions.
    """
    through = dict.fromkeys(near, 0.0)
    for start in near:
        paths = defaultdict(int, {start: 1})
        far, before = {start: 0}, defaultdict[int, list[int]](list)
        order: list[int] = []
        queue = deque([start])
        while queue:
            node = queue.popleft()
            order.append(node)
            for other in near[node]:
                if other not in far:
                    far[other] = far[node] + 1
                    queue.append(other)
                if far[other] == far[node] + 1:
                    paths[other] += paths[node]
                    before[other].append(node)
        share = dict.fromkeys(order, 0.0)
        for node in reversed(order):
            for earlier in before[node]:
                share[earlier] += paths[earlier] / paths[node] * (1 + share[node])
            if node != start:
                through[node] += share[node]
    pairs = (len(near) - 1) * (len(near) - 2)
    return {node: total / pairs if pairs else 0.0 for node, total in through.items()}
