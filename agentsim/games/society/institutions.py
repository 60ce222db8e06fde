"""Institutions: what agents found beside laws: offices with their ballots, and groups with their members.

What is done in them is `offices` and `groups`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from agentsim.games.society.amounts import Amount
from agentsim.games.society.names import signature
from agentsim.games.society.terms import MOST_NAMED, OfficeTerm


@dataclass
class Office:
    """An office of a law, since the evening of a day. `holder` 0 while it is vacant, else until evening `until`.

    `ballots` are the candidates of all who voted since the last election, by voter; `paid` is what its holder has paid
    from the pool today.
    """

    id: int
    law: int
    since: int
    term: OfficeTerm
    holder: int = 0
    until: int = 0
    ballots: dict[int, int] = field(default_factory=dict)
    paid: Amount = 0

    def may_pay(self, agent: int) -> int:
        """What this agent can still pay from the pool today by this office."""
        return self.term.amount - self.paid if self.holder == agent and self.term.power == "allocate" else 0

    def may_veto(self, agent: int) -> bool:
        """Whether this agent can veto proposals by this office."""
        return self.holder == agent and self.term.power == "veto"


@dataclass
class Group:
    """Agents that have joined together, the one of longest standing first; it ends when the last one leaves."""

    id: int
    name: str
    founder: int
    members: list[int]

    def shown(self) -> Membership:
        """The group in a window of bounded size."""
        return Membership(self.id, self.name, self.founder, len(self.members), tuple(self.members[:MOST_NAMED]))


@dataclass(frozen=True, slots=True)
class Membership:
    """A group as it is shown: how many members it has, and those of longest standing."""

    id: int
    name: str
    founder: int
    size: int
    members: tuple[int, ...]


@dataclass
class Groups:
    """All groups that have members, by id from 1, with those of each agent; ids are never used again.

    `names` are the groups by the signatures of their names.
    """

    all: dict[int, Group] = field(default_factory=dict)
    of: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    names: dict[str, int] = field(default_factory=dict)
    founded: int = 0

    def found(self, name: str, founder: int) -> Group:
        """Begin a group with its founder as the one member."""
        self.founded += 1
        self.all[self.founded] = group = Group(self.founded, name, founder, [])
        self.names[signature(name)] = self.founded
        self.join(group, founder)
        return group

    def join(self, group: Group, agent: int) -> None:
        """Take a member in."""
        group.members.append(agent)
        self.of[agent].append(group.id)

    def leave(self, group: Group, agent: int) -> None:
        """Take a member out, and end a group without members."""
        group.members.remove(agent)
        self.of[agent].remove(group.id)
        if not group.members:
            del self.all[group.id], self.names[signature(group.name)]

    def check(self) -> Iterator[str]:
        """Every broken invariant, in words."""
        joined = {(agent, group.id) for group in self.all.values() for agent in group.members}
        if joined != {(agent, group) for agent, groups in self.of.items() for group in groups}:
            yield "groups and agents agree on who is a member"
        if len(self.names) != len(self.all) or not all(group.members for group in self.all.values()):
            yield "every group has a name of its own, and members"
