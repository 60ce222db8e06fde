"""Government: what the terms of the laws in force come to: taxes, dividends, duties, the rule of voting.

Kept up as laws come and go, never worked out anew from all of them. Paying and telling is `laws`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentsim.games.society.assembly import Law
from agentsim.games.society.terms import RESOURCES, Dividend, Resource, Tax, VotingRule, WorkMinimum


@dataclass
class Government:
    """Standing terms, by law where several stand beside each other; `threshold` and `quorum` hold without any."""

    threshold: int
    quorum: int
    taxed: dict[Resource, int] = field(default_factory=lambda: dict.fromkeys(RESOURCES, 0))
    dividends: dict[int, list[Dividend]] = field(default_factory=dict)
    minimums: dict[int, int] = field(default_factory=dict)
    rules: dict[int, VotingRule] = field(default_factory=dict)

    def begin(self, law: Law) -> None:
        """Let a law's standing terms hold."""
        self._change(law, 1)

    def end(self, law: Law) -> None:
        """Let them hold no longer."""
        self._change(law, -1)
        for standing in (self.dividends, self.minimums, self.rules):
            standing.pop(law.id, None)

    def _change(self, law: Law, sign: int) -> None:
        for term in law.terms:
            match term:
                case Tax():
                    for resource in RESOURCES:
                        if term.resource in {"all", resource}:
                            self.taxed[resource] += sign * term.percent
                case Dividend():
                    self.dividends.setdefault(law.id, []).append(term)
                case WorkMinimum():
                    self.minimums[law.id] = max(self.minimums.get(law.id, 0), term.hours)
                case VotingRule():
                    self.rules[law.id] = term
                case _:
                    pass  # what happens once, when a proposal passes

    def tax(self, resource: Resource) -> int:
        """Percent of what work makes that goes to the pool."""
        return min(100, self.taxed[resource])

    def voting_rule(self) -> tuple[int, int]:
        """Threshold and quorum: of the newest law that sets them, or the first ones."""
        newest = next(reversed(self.rules.values()), None)
        return (self.threshold, self.quorum) if newest is None else (newest.threshold, newest.quorum)

    def taxes(self) -> Mapping[Resource, int]:
        """The taxes that are not zero."""
        return {resource: self.tax(resource) for resource in RESOURCES if self.taxed[resource]}
