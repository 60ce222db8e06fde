"""Events of Werewolf; when they happen is the log's round, and who hears them is said in `game`."""

from __future__ import annotations

from typing import Literal, TypeAlias

from agentsim.engine import Event
from agentsim.engine.event import AGAINST, FOR, Deed
from agentsim.engine.template import By, If
from agentsim.games.werewolf.village import Role, Team

Part: TypeAlias = Literal["night", "day"]
_NATURE = If("werewolf", "a werewolf", "no werewolf")
_SAYS = If("aloud", "{speaker} says", "{speaker} whispers")
_CLAIM = If("claim", (", claiming to be a {claim}", If("seen", (" who saw that {seen} is ", _NATURE))))
_DIED = By("at", {"night": "was killed in the night", "day": "is hanged"})
_ACCUSED = Deed("speaker", "seen", "accused", AGAINST, when="werewolf")
_PROTECTED = Deed("doctor", "target", "protected", FOR)
_VOTED = Deed("votes", "votes", By("at", {"night": "voted to kill", "day": "voted to hang"}), AGAINST)


class Dealt(Event, heading="{player} is a {role}", content=If("pack", "Werewolves: {pack:and}.", "In secret.")):
    """`pack` names all werewolves where the player is one."""

    player: str
    role: Role
    pack: tuple[str, ...]


class Thought(Event, heading="{player} thinks", words="text"):
    player: str
    text: str


class Inspected(Event, heading="{seer} inspects {target}", content=("{target} is ", _NATURE, ".")):
    seer: str
    target: str
    werewolf: bool


class Protected(Event, heading="{doctor} protects {target}", content="In secret.", deeds=(_PROTECTED,)):
    doctor: str
    target: str


class Voted(Event, heading="The votes of the {at}", content="{ballots}.", deeds=(_VOTED,)):
    """Whom to hang, or (of werewolves, at night) whom to kill."""

    at: Part
    votes: dict[str, str]

    @property
    def ballots(self) -> tuple[str, ...]:
        return tuple(f"{voter} for {target}" for voter, target in self.votes.items())


class Died(
    Event,
    heading=(If("victim", "{victim} ", "No player "), _DIED),
    content=If("role", "Role: {role}.", "No role is shown."),
):
    at: Part
    victim: str | None
    role: Role | None


class Said(Event, heading=(_SAYS, If("text", "", " nothing"), _CLAIM), words="text", deeds=(_ACCUSED,)):
    """Words; aloud also the role that the speaker claims to have, and what it claims to have seen as the seer."""

    speaker: str
    text: str
    aloud: bool
    claim: Role | None = None
    seen: str | None = None
    werewolf: bool = False


class Unmasked(Event, heading=If("winners", "The {winners} won", "No team won"), content="Roles: {roles}."):
    winners: Team | None
    roles: dict[str, Role]


EVENTS: tuple[type[Event], ...] = (Dealt, Thought, Inspected, Protected, Voted, Died, Said, Unmasked)
