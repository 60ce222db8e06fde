"""Turn: an agent's action when its turn comes: it holds as the society is then and happens, or it is rejected.

The actions are in `talk`, `voting`, `work`, `building` and `evening`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias

from pydantic import BeforeValidator, Field

from agentsim.engine import Decision, Event, Everyone, Table
from agentsim.engine.decision import whole
from agentsim.engine.event import Interaction, Past
from agentsim.engine.wording import cut
from agentsim.games.society.amounts import number, shown
from agentsim.games.society.founding import SocietyBegan
from agentsim.games.society.rules import Rules
from agentsim.games.society.state import Citizen, Counted, State
from agentsim.games.society.terms import Resource

Id: TypeAlias = Annotated[int, Field(ge=1), BeforeValidator(whole)]
Why: TypeAlias = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class Daily(Event, base=True):
    """Base of what happens on some day; its `deeds` name agents by number, and amounts in hundredths."""

    day: int

    def dealings(self, past: Past) -> Iterable[Interaction]:
        """Its interactions, in such numbers."""
        return super().interactions(past)

    def interactions(self, past: Past) -> Iterator[Interaction]:
        if (began := past.last(SocietyBegan)) is not None:
            for done in self.dealings(past):
                amount = None if done.amount is None else number(int(done.amount))
                who, whom = (began.player(int(agent)) for agent in (done.who, done.whom))
                yield replace(done, who=who, whom=whom, amount=amount)


class Deed(Daily, base=True, concerns=("agent",)):
    """Base of what an agent does on some day, or what befalls it."""

    agent: int


class Known(NamedTuple):
    """What decides whether an action holds: the society as it is when an agent's turn comes.

    `posts` and `proposals` are the highest numbers that there are; `open` are the proposals that can be voted on, and
    `missing` says which materials a project still needs.
    """

    rules: Rules
    agent: int
    hours_left: int
    stock: Mapping[Resource, int]
    names: Mapping[str, int]
    dead: Container[int]
    posts: int
    proposals: int
    open: Container[int]
    missing: Callable[[int], int]

    def no_company(self, agent: int) -> str:
        """Why the agent cannot write or give to that one, or ""."""
        if agent == self.agent:
            return "that is yourself"
        if not 1 <= agent <= self.rules.agents:
            return f"there is no agent #{agent}"
        return f"agent #{agent} is dead" if agent in self.dead else ""

    def too_little(self, resource: Resource, amount: int) -> str:
        """Why it cannot hand over so much, or ""."""
        held = self.stock[resource]
        return f"you hold {shown(held)} {resource}, not {shown(amount)}" if held < amount else ""


class Action(Decision):
    """Base of the actions: whether one holds, said once for its author and for the society; and what comes of it.

    There is one only where the rules have all that it `needs`.
    """

    needs: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, needs: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.needs = needs or cls.needs

    def why_not(self, known: Known) -> str:
        """Why the action comes to nothing, in words without a full stop; "" where it holds."""
        return ""

    def happen(self, turn: Turn) -> None:
        """Change the society, and tell who hears of it. Asked only where the action holds."""
        raise NotImplementedError


class InvalidAction(
    Deed, heading="Agent #{agent}: an action is rejected", content="Action rejected: {reason}", private=("agent",)
):
    """An action that came to nothing, without any penalty; `action` is the object as JSON, "" where none was read."""

    action: str
    reason: str

    @property
    def turned_away(self) -> bool:
        return True


class Noted(Deed, heading="Agent #{agent} notes for itself", words="text", private=("agent",)):
    """What an agent writes for itself, in place of what it wrote before."""

    text: str


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
    """One agent's turn at one table."""

    table: Table
    state: State
    rules: Rules
    citizen: Citizen

    @property
    def known(self) -> Known:
        """The society as it is now."""
        state, citizen, rules = self.state, self.citizen, self.rules
        return Known(
            rules=rules,
            agent=citizen.number,
            hours_left=rules.hours_per_day - citizen.worked,
            stock=citizen.stock,
            names=state.names,
            dead=state.gone,
            posts=state.forum.count,
            proposals=state.assembly.proposed,
            open=state.assembly.open,
            missing=state.projects.missing,
        )

    def take(self, action: Action) -> None:
        """Let the action happen, or reject it."""
        if why_not := action.why_not(self.known):
            self.reject(action.model_dump_json(), why_not)
        else:
            action.happen(self)

    def note(self, words: str) -> None:
        """Keep what the agent wrote for itself, if it wrote anything, in place of what it wrote before."""
        if words and self.rules.note_chars:
            self.citizen.note = cut(words, self.rules.note_chars)
            self.tell_alone(Noted(self.day, self.agent, self.citizen.note))

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
        """Today."""
        return self.state.day

    @property
    def agent(self) -> int:
        """Whose turn it is."""
        return self.citizen.number
