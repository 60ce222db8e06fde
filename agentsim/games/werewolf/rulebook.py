"""Rulebook: what is true of every game of Werewolf, said apart from the rules that see to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agentsim.engine import LogEntry, Lot, PlayerId, Request
from agentsim.games.werewolf.words import NOBODY, Dealt, Died, Protected, Question, Role, Team, Unmasked, Voted


class Referee:
    """What happened so far; `most` have the most votes of this night or day, `safe` is protected, `won` who has won."""

    def __init__(self, players: Sequence[PlayerId]) -> None:
        self.living = list(players)
        self.roles: dict[PlayerId, Role] = {}
        self.most: tuple[PlayerId, ...] = ()
        self.safe = self.safe_before = NOBODY
        self.won: Team | None = None

    def hear(self, event: object) -> Iterator[str | Lot]:
        if self.won and not isinstance(event, Unmasked):
            yield f"{event!r}, and the {self.won} have won"
        match event:
            case Dealt():
                self.roles[event.player] = event.role
                if event.pack and event.role != "werewolf":
                    yield f"{event.player} is told the werewolves, and is a {event.role}"
            case Protected():
                self.safe = event.target
                if event.target in {self.safe_before} - {NOBODY}:
                    yield f"{event.target} is protected twice in a row"
            case Voted():
                tally = Counter(vote for vote in event.votes.values() if vote != NOBODY)
                self.most = tuple(each for each in self.living if tally[each] == max(tally.values(), default=-1))
            case Died():
                yield from self.bury(event)
            case Unmasked() if event.winners != self.won:
                yield f"the {event.winners} are said to have won, and {self.won} have"

    def bury(self, died: Died) -> Iterator[str | Lot]:
        """At night one of those with the most votes dies, by lot, unless protected; by day the one who has the most."""
        night, victim = died.at == "night", died.victim
        can = self.most if night or len(self.most) == 1 else ()
        if victim is None and can and (not night or self.safe not in can):
            yield f"no player dies at {died.at}, and {', '.join(can)} had the most votes"
        elif victim is not None and (victim not in can or (night and victim == self.safe)):
            yield f"{victim} dies at {died.at}, with {', '.join(self.most)} ahead and {self.safe} protected"
        elif victim is not None and len(can) > 1:
            yield Lot("between players with as many votes of the night", can, victim)
        self.safe_before, self.safe = (self.safe, NOBODY) if night else (self.safe_before, NOBODY)
        self.living = [each for each in self.living if each != victim]
        werewolves = [each for each in self.living if self.roles[each] == "werewolf"]
        self.won = "village" if not werewolves else "werewolves" if 2 * len(werewolves) >= len(self.living) else None

    def asked(self, question: Question[Any]) -> Iterator[str]:
        """A player knows its own role and findings, and who lives; werewolves know each other."""
        player, role = question.player, self.roles[question.player]
        known: list[object] = [question.role, bool(question.pack), question.living]
        right: list[object] = [role, role == "werewolf", tuple(self.living)]
        if known != right:
            yield f"{player} is shown {known}, and {right} is right"
        if strange := {each.seer for each in question.found} - {player}:
            yield f"{player} is shown what {', '.join(sorted(strange))} has seen"


def laws(course: Iterable[LogEntry | Request[Any]], players: Sequence[PlayerId]) -> Iterator[str | Lot]:
    """The rules' statements on deaths, protection and victory, and on what a player knows."""
    referee = Referee(players)
    for step in course:
        if isinstance(step, LogEntry):
            yield from referee.hear(step.event)
        elif isinstance(step, Question):
            yield from referee.asked(step)
