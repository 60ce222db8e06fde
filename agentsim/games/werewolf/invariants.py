"""Invariants of every game of Werewolf, stated independently of the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agentsim.engine import LoggedEvent, PlayerId, RandomDraw, Request
from agentsim.games.werewolf.state import NOBODY, Role, Team
from agentsim.games.werewolf.words import Dealt, Died, Protected, Unmasked, Voted, WerewolfRequest


class Referee:
    """The state of a game according to its events. `most` are the players with the most votes of this night or day.

    `safe` is the protected player, `safe_before` the one of the night before, `won` the team that has won, or None.
    """

    def __init__(self, players: Sequence[PlayerId]) -> None:
        self.living = players
        self.roles: dict[PlayerId, Role] = {}
        self.most: list[PlayerId] = []
        self.safe = self.safe_before = NOBODY
        self.won: Team | None = None

    def look(self, step: object) -> Iterator[str | RandomDraw]:
        """Take an event or a question into account and yield what it breaks."""
        if self.won and not isinstance(step, Unmasked):
            yield f"{step!r}, and the {self.won} have won"
        match step:
            case Dealt():
                self.roles[step.player] = step.role
                if step.pack and step.role != "werewolf":
                    yield f"{step.player} is told the werewolves, and is a {step.role}"
            case WerewolfRequest():
                yield from self.asked(step)
            case Protected():
                self.safe = step.target
                if step.target in {self.safe_before} - {NOBODY}:
                    yield f"{step.target} is protected twice in a row"
            case Voted():
                tally = Counter(vote for vote in step.votes.values() if vote != NOBODY)
                self.most = [each for each in self.living if tally[each] == max(tally.values(), default=-1)]
            case Died():
                yield from self.bury(step, night=step.at == "night")
            case Unmasked() if step.winners != self.won:
                yield f"the {step.winners} are said to have won, and {self.won} have"

    def bury(self, died: Died, *, night: bool) -> Iterator[str | RandomDraw]:
        """Yield what a death breaks, and the lot of a night.

        At night one of the players with the most votes dies, by lot, unless protected; by day the one player with the
        most.
        """
        can = self.most if night or len(self.most) == 1 else []
        saved = night and self.safe in can
        if (died.victim not in can or died.victim == self.safe) if died.victim else (can and not saved):
            yield f"{died.heading}, with {', '.join(self.most)} ahead and {self.safe} protected"
        elif died.victim and len(can) > 1:
            yield RandomDraw("between players with as many votes of the night", tuple(can), died.victim)
        self.safe_before, self.safe = (self.safe, NOBODY) if night else (self.safe_before, NOBODY)
        self.living = [each for each in self.living if each != died.victim]
        werewolves = [each for each in self.living if self.roles[each] == "werewolf"]
        self.won = "village" if not werewolves else "werewolves" if 2 * len(werewolves) >= len(self.living) else None

    def asked(self, question: WerewolfRequest[Any]) -> Iterator[str]:
        """Yield each mistake in what a question shows its player of roles, findings and the living.

        A player knows its own role and findings, and who lives; werewolves know each other.
        """
        known = (question.role, bool(question.pack), question.living)
        role = self.roles[question.player]
        if known != (role, role == "werewolf", tuple(self.living)):
            yield f"{question.player} is a {role}, {', '.join(self.living)} live, and it is shown {known}"
        if others := {each.seer for each in question.found} - {question.player}:
            yield f"{question.player} is shown what {', '.join(sorted(others))} has seen"


def invariants(steps: Iterable[LoggedEvent | Request[Any]], players: Sequence[PlayerId]) -> Iterator[str | RandomDraw]:
    """Yield each broken rule on deaths, protection, victory, and what a player knows, and each lot."""
    referee = Referee(players)
    return (broken for step in steps for broken in referee.look(step.event if isinstance(step, LoggedEvent) else step))
