"""Village: the roles, who is dead, and which team has won. Prompts do not belong here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Literal, TypeAlias

from agentsim.engine import Standing, ranked
from agentsim.lazy import dataclass

Role: TypeAlias = Literal["werewolf", "seer", "doctor", "villager"]
ROLES: tuple[Role, ...] = ("werewolf", "seer", "doctor", "villager")
Team: TypeAlias = Literal["werewolves", "village"]
NOBODY = "nobody"
TEAMS: Mapping[Role, Team] = {role: "werewolves" if role == "werewolf" else "village" for role in ROLES}


@dataclass
class Village:
    """The state of the game. `roles` is in seat order, `died` in the order of deaths.

    `protected` is the doctor's last choice, or `nobody`.
    """

    roles: dict[str, Role]
    died: list[str] = field(default_factory=list)
    protected: str = NOBODY

    def living(self, *roles: Role) -> tuple[str, ...]:
        return tuple(each for each, role in self.roles.items() if each not in self.died and role in (roles or ROLES))

    def others(self, *players: str) -> tuple[str, ...]:
        return tuple(player for player in self.living() if player not in players)

    def winners(self) -> Team | None:
        """Return the village if no werewolf lives, the werewolves if they are as many as the others, else None."""
        werewolves = len(self.living("werewolf"))
        return "village" if not werewolves else "werewolves" if 2 * werewolves >= len(self.living()) else None

    def standings(self) -> tuple[Standing, ...]:
        """Return the ranking by team; the dead win and lose with theirs. All players tie if no team has won."""
        won = {player: int(TEAMS[role] == self.winners()) for player, role in self.roles.items()}
        return ranked([(p, won[p], {"won": won[p], "survived": int(p in self.living())}) for p in self.roles])

    def check(self) -> Sequence[str]:
        died = set(self.died)
        return [] if len(died) == len(self.died) and died <= set(self.roles) else ["players die, and die once"]
