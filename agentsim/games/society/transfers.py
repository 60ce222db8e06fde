"""Transfers: which amounts an event hands over, between agents and the common pool, or takes for good."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from agentsim.engine import Event
from agentsim.games.society import building, exchange, laws, offices, shocks, work

POOL = 0
"""The number of the common pool among agents."""

Transfer: TypeAlias = tuple[str, int, int | None, str, int, int | None]
"""As what, from whom, to whom (None: it is lost), of what, how much, and by which law, project, proposal or so."""


def _from_pool(what: str, event: laws.AllocationPaid | laws.DividendPaid, by: int) -> Iterable[Transfer]:
    return ((what, POOL, agent, event.resource, amount, by) for agent, amount in event.paid.items())


def _lost(giver: int, lost: Mapping[str, int]) -> Iterable[Transfer]:
    return (("loss", giver, None, resource, amount, None) for resource, amount in lost.items())


_MOVED: Mapping[type[Event], Callable[[Any], Iterable[Transfer]]] = {
    work.Traded: lambda it: [("gift", it.agent, it.recipient, it.resource, it.amount, None)],
    work.Worked: lambda it: [("tax", it.agent, POOL, it.resource, it.taxed, None)],
    building.Contributed: lambda it: [("contribution", it.agent, POOL, "materials", it.amount, it.project)],
    building.UpkeepPaid: lambda it: [("upkeep", POOL, POOL, "materials", it.materials, None)],
    laws.AllocationPaid: lambda it: _from_pool("allocation", it, it.proposal),
    laws.DividendPaid: lambda it: _from_pool("dividend", it, it.law),
    laws.FinePaid: lambda it: (("fine", each, POOL, it.resource, amount, it.law) for each, amount in it.paid.items()),
    offices.OfficePaid: lambda it: [("office", POOL, it.recipient, it.resource, it.amount, it.office)],
    exchange.Accepted: lambda it: (("exchange", *each, it.offer) for each in it.handed()),
    shocks.LostToShock: lambda it: _lost(it.agent, it.lost),
    shocks.ShockStruck: lambda it: _lost(POOL, it.lost) if it.what == "pool" else (),
}


def moved(event: Event) -> Iterable[Transfer]:
    """What an event hands over; agents by number, amounts above 0 in hundredths."""
    of = _MOVED.get(type(event))
    return [each for each in of(event) if each[4]] if of else []


def changes(event: Event) -> Iterator[tuple[int, str, int]]:
    """By it, whose stock of what changes by how much; the pool's own is left out."""
    for _, giver, taker, resource, amount, _ in moved(event):
        yield from ((owner, resource, change) for owner, change in ((giver, -amount), (taker, amount)) if owner)
