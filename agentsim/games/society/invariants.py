"""Invariants of every society, stated independently of the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentsim.games.society.assembly import RESOURCES

if TYPE_CHECKING:
    from agentsim.games.society.state import State


def broken(state: State) -> Iterator[str]:
    """Yield the broken invariants of a society, in words."""
    yield from _citizens(state)
    yield from _accounts(state)
    yield from _assembly(state)


def _citizens(state: State) -> Iterator[str]:
    """Check each agent, and the counts and lists of agents by status."""
    config = state.config
    for citizen in state.citizens:
        food, energy = citizen.stock["food"], citizen.stock["energy"]
        if min(citizen.stock.values()) < 0:
            yield f"agent #{citizen.number} owes nothing"
        if citizen.worked > config.hours_per_day:
            yield f"agent #{citizen.number} works no more than it may"
        if citizen.status == "dormant" and food >= config.wake_food and energy >= config.wake_energy:
            yield f"agent #{citizen.number} wakes when it has enough"
    counted = Counter[str](citizen.status for citizen in state.citizens)
    if any(counted[status] != count for status, count in state.counts.items()):
        yield "active, dormant and dead are counted"
    if (counted["dormant"], counted["dead"]) != (len(state.dormant), len(state.dead)):
        yield "all who are dormant or dead are known"
    if len(state.names) != sum(1 for citizen in state.citizens if citizen.name):
        yield "every name is one agent's"


def _accounts(state: State) -> Iterator[str]:
    """Check the sums of each resource."""
    for resource in RESOURCES:
        if state.held[resource] != sum(citizen.stock[resource] for citizen in state.citizens):
            yield "what is held is what all agents hold"
    if min(state.pool.values()) < 0:
        yield "the pool owes nothing"
    for name, start in state.initial.items():
        there, used = state.held[name] + state.pool[name], state.consumed[name] + state.spent[name]
        if start + state.produced[name] != there + used:
            yield f"{name}: initial and produced are held, in the pool, consumed or spent"


def _assembly(state: State) -> Iterator[str]:
    """Check the votes of open proposals, and the index of authors."""
    assembly = state.assembly
    for proposal in assembly.open.values():
        if sum(proposal.counts.values()) != len(proposal.votes) or min(proposal.counts.values()) < 0:
            yield f"proposal {proposal.id} counts every vote once"
    for index, known in ((assembly.by_author, len(assembly.open)), (assembly.laws_by, len(assembly.laws))):
        if sum(map(len, index.values())) != known:
            yield "authors are known of all that is open or in force"
