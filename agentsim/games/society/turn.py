"""Turn: an agent's action when its turn comes: it holds as the society is then and happens, or it is rejected.

What the ten actions are and do stands in the chapters: `talk`, `voting`, `work`, `giving`, `building`, `life`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol, TypeAlias

from pydantic import BeforeValidator, Field

from agentsim.engine.event import Event, Everyone
from agentsim.engine.number import whole
from agentsim.engine.reading import Decision
from agentsim.engine.table import Table
from agentsim.games.society.amounts import shown
from agentsim.games.society.citizen import Citizen
from agentsim.games.society.rules import Rules
from agentsim.games.society.state import Counted, State
from agentsim.games.society.terms import Resource

Id: TypeAlias = Annotated[int, Field(ge=1), BeforeValidator(whole)]
Why: TypeAlias = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class Known(Protocol):
    """What decides whether an action holds: the society as it is (`Turn`), or as shown to an agent (`view.Shown`)."""

    @property
    def rules(self) -> Rules:
        """The numbers of the society."""

    @property
    def agent(self) -> int:
        """Who acts."""

    @property
    def hours_left(self) -> int:
        """Hours that it can still work today."""

    @property
    def names(self) -> Mapping[str, int]:
        """Agents by the signatures of their names."""

    def held(self, resource: Resource) -> int:
        """What it holds."""

    def is_dead(self, agent: int) -> bool:
        """Whether another agent has died."""

    def has_post(self, post: int) -> bool:
        """Whether there is a post of that number."""

    def voting_on(self, proposal: int) -> Literal["open", "closed", "none"]:
        """Whether a proposal can be voted on."""

    def missing(self, project: int) -> int:
        """The materials that a project still needs."""


class Action(Decision):
    """Base of the actions: whether one holds, said once for its author and for the society; and what comes of it."""

    def why_not(self, known: Known) -> str:
        """Why the action comes to nothing, in words without a full stop; "" where it holds."""
        return ""

    def happen(self, turn: Turn) -> None:
        """Change the society, and tell who hears of it. Asked only where the action holds."""
        raise NotImplementedError


def no_company(known: Known, agent: int) -> str:
    """Why an agent cannot write or give to that one, or ""."""
    if not 1 <= agent <= known.rules.agents:
        return f"there is no agent #{agent}"
    if agent == known.agent:
        return "that is yourself"
    return f"agent #{agent} is dead" if known.is_dead(agent) else ""


def too_little(known: Known, resource: Resource, amount: int) -> str:
    """Why an agent cannot hand over so much, or ""."""
    held = known.held(resource)
    return f"you hold {shown(held)} {resource}, not {shown(amount)}" if held < amount else ""


class InvalidAction(Event, heading="Agent #{agent}: an action is rejected", content="Action rejected: {reason}"):
    """An action that came to nothing, without any penalty; `action` is the object as JSON, "" where none was read."""

    day: int
    agent: int
    action: str
    reason: str

    @property
    def turned_away(self) -> bool:
        return True


class Rejected(Action):
    """What a reply comes to in which no valid action can be read; no reply can ask for it.

    `given` is the object that was rejected, as JSON; empty where there was none to read.
    """

    action: Literal["rejected"] = "rejected"
    reason: str
    given: str = ""

    def happen(self, turn: Turn) -> None:
        turn.reject(self.given, self.reason)


@dataclass(frozen=True, slots=True)
class Turn:
    """One agent's turn at one table; it is `Known` as the society is now."""

    table: Table
    state: State
    rules: Rules
    citizen: Citizen

    def take(self, action: Action) -> None:
        """Let the action happen, or reject it."""
        if why_not := action.why_not(self):
            self.reject(action.model_dump_json(), why_not)
        else:
            action.happen(self)

    def reject(self, action: str, reason: str) -> None:
        """Tell the agent alone that its action came to nothing."""
        self.state.today["invalid"] += 1
        self.tell_alone(InvalidAction(self.day, self.agent, action, reason))

    def tell(self, event: Event) -> None:
        """What all hear of the agent's doing."""
        self.table.tell(event, to=Everyone, by=self.citizen.player)

    def tell_alone(self, event: Event, *others: Citizen) -> None:
        """What the agent alone hears, or with these others."""
        to = (self.citizen.player, *(other.player for other in others))
        self.table.tell(event, to=to, by=self.citizen.player)

    def count(self, what: Counted) -> None:
        """One more of these today, and by this agent."""
        self.state.today[what] += 1
        setattr(self.citizen, what, getattr(self.citizen, what) + 1)

    @property
    def day(self) -> int:
        return self.state.day

    # -- what is known

    @property
    def agent(self) -> int:
        return self.citizen.number

    @property
    def hours_left(self) -> int:
        return self.rules.hours_per_day - self.citizen.worked

    @property
    def names(self) -> Mapping[str, int]:
        return self.state.names

    def held(self, resource: Resource) -> int:
        return self.citizen.stock[resource]

    def is_dead(self, agent: int) -> bool:
        return self.state.citizen(agent).status == "dead"

    def has_post(self, post: int) -> bool:
        return self.state.forum.author_of(post) is not None

    def voting_on(self, proposal: int) -> Literal["open", "closed", "none"]:
        if proposal in self.state.assembly.open:
            return "open"
        return "closed" if 1 <= proposal <= self.state.assembly.proposed else "none"

    def missing(self, project: int) -> int:
        found = self.state.projects.building.get(project)
        return 0 if found is None else found.missing
