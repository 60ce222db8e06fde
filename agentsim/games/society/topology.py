"""Topology: who is whose neighbour: a network of a standard construction, drawn from the seed, or one out of a file.

What neighbours are shown of each other is `forum`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from agentsim.engine.chance import Stream
from agentsim.engine.game import GameConfig, InFile

Construction: TypeAlias = Literal["complete", "ring", "small_world", "scale_free"]
Network: TypeAlias = Mapping[int, tuple[int, ...]]
"""The neighbours of each agent, in order; who is a neighbour has one as well."""
Pairs: TypeAlias = set[tuple[int, int]]
_PAIR = re.compile(r"\s*([1-9][0-9]{0,5})\s*,\s*([1-9][0-9]{0,5})\s*")


class Ties(GameConfig):
    """A network out of a file: two numbers of agents on a line, such as `1,2`; empty lines and `#` lines are none."""

    name: str = ""
    text: Annotated[str, Field(max_length=10_000_000)]

    @model_validator(mode="after")
    def _has_pairs(self) -> Ties:
        self.pairs()
        return self

    def pairs(self) -> Pairs:
        """The ties, the lower number first; `ValueError` for a line that is none."""
        lines = [(place, line) for place, line in enumerate(self.text.splitlines(), 1) if line.strip()]
        return {_pair(place, line) for place, line in lines if not line.lstrip().startswith("#")}

    def strangers(self, agents: int) -> list[int]:
        """The numbers in it that are no agent's, among so many."""
        return sorted({each for pair in self.pairs() for each in pair if each > agents})


def _pair(place: int, line: str) -> tuple[int, int]:
    found = _PAIR.fullmatch(line)
    if found is None or found[1] == found[2]:
        raise ValueError(f"line {place} must be the numbers of two agents, such as 1,2; found {line[:40]!r}")
    one, other = sorted((int(found[1]), int(found[2])))
    return one, other


Topology: TypeAlias = Annotated[Construction | Ties, InFile(".csv", ("complete", "ring", "small_world", "scale_free"))]


def drawn(topology: Construction | Ties, agents: int, degree: int, rewiring: float, chance: Stream) -> Network:
    """The neighbours of agents 1 to `agents`; empty where all are neighbours of all.

    Numbers are dealt to the places of a construction by chance, since agents of one model have numbers in a row.
    """
    if topology == "complete":
        return {}
    if isinstance(topology, Ties):
        return _neighbours(topology.pairs(), range(1, agents + 1))
    number = chance.shuffled(range(1, agents + 1))
    half = max(1, min(degree, agents - 1) // 2)
    made = _scale_free(agents, half, chance) if topology == "scale_free" else _ring(agents, half)
    if topology == "small_world":
        made = _rewired(made, agents, rewiring, chance)
    return _neighbours({(number[one], number[other]) for one, other in made}, range(1, agents + 1))


def _neighbours(pairs: Pairs, agents: Sequence[int]) -> Network:
    found: dict[int, set[int]] = {agent: set() for agent in agents}
    for one, other in pairs:
        found[one].add(other)
        found[other].add(one)
    return {agent: tuple(sorted(others)) for agent, others in found.items()}


def _ring(places: int, half: int) -> Pairs:
    """A ring in which each place is tied to the `half` next to it on either side."""
    return {_tie(place, (place + step) % places) for place in range(places) for step in range(1, half + 1)}


def _rewired(ring: Pairs, places: int, rewiring: float, chance: Stream) -> Pairs:
    """Each tie of a ring gets a new end with the probability `rewiring`, but for a tie to itself or one that is there.

    D. J. Watts and S. H. Strogatz, Collective dynamics of 'small-world' networks, 1998.
    """
    made = set(ring)
    for one, other in sorted(ring):
        if chance.random() < rewiring:
            end = chance.below(places)
            if end != one and _tie(one, end) not in made:
                made.remove((one, other))
                made.add(_tie(one, end))
    return made


def _scale_free(places: int, links: int, chance: Stream) -> Pairs:
    """Places come one by one, each tied to `links` earlier ones with a probability in proportion to their ties.

    The first `links` + 1 are all tied. A.-L. Barabasi and R. Albert, Emergence of scaling in random networks, 1999.
    """
    first = min(places, links + 1)
    made = {(one, other) for other in range(first) for one in range(other)}
    ends = [place for pair in sorted(made) for place in pair]
    for place in range(first, places):
        chosen: dict[int, None] = {}
        while len(chosen) < links:
            chosen[chance.pick(ends)] = None
        made |= {_tie(place, each) for each in chosen}
        ends += [end for each in chosen for end in (place, each)]
    return made


def _tie(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)
