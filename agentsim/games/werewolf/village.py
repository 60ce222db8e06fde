"""Village: who is what, who lives, and who has won. Words, prompts and what players think do not belong here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agentsim.engine import Standing, ranked

Role: TypeAlias = Literal["werewolf", "seer", "doctor", "villager"]
ROLES: tuple[Role, ...] = ("werewolf", "seer", "doctor", "villager")
Team: TypeAlias = Literal["werewolves", "village"]
NOBODY = "nobody"
TEAMS: Mapping[Role, Team] = {role: "werewolves" if role == "werewolf" else "village" for role in ROLES}


@dataclass
class Village:
    """`roles` is in the order of the seats, `died` in that of the deaths; `protected` is the doctor's last choice."""

    roles: dict[str, Role]
    died: list[str] = field(default_factory=list)
    protected: str = NOBODY

    def living(self, *roles: Role) -> tuple[str, ...]:
        return tuple(each for each, role in self.roles.items() if each not in self.died and role in (roles or ROLES))

    def others(self, *players: str) -> tuple[str, ...]:
        return tuple(player for player in self.living() if player not in players)

    def winners(self) -> Team | None:
        """The village when no werewolf lives, the werewolves as soon as they are as many as the others."""
        werewolves = len(self.living("werewolf"))
        return "village" if not werewolves else "werewolves" if 2 * werewolves >= len(self.living()) else None

    def standings(self) -> tuple[Standing, ...]:
        """By team: the dead win and lose with theirs. All are equal where no team has won."""
        won = {player: int(TEAMS[role] == self.winners()) for player, role in self.roles.items()}
        return ranked([(p, won[p], {"won": won[p], "survived": int(p in self.living())}) for p in self.roles])

    def check(self) -> Sequence[str]:
        """Every broken invariant, in words."""
        died = set(self.died)
        return [] if len(died) == len(self.died) and died <= set(self.roles) else ["players die, and die once"]
