"""An agent's turn: its action is checked against the society at that moment, then carried out or rejected.

The actions are in `talk`, `voting`, `work`, `building` and `evening`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeAlias

from pydantic import BeforeValidator, Field

from agentsim.engine import Decision, Event, Everyone, Table
from agentsim.engine.decision import whole
from agentsim.engine.event import Interaction, Past
from agentsim.engine.wording import cut
from agentsim.games.society.amounts import number, shown
from agentsim.games.society.assembly import Resource
from agentsim.games.society.config import Rules
from agentsim.games.society.founding import SocietyBegan
from agentsim.games.society.state import Citizen, Counted, State
from agentsim.lazy import dataclass

Id: TypeAlias = Annotated[int, Field(ge=1), BeforeValidator(whole)]
Why: TypeAlias = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class Daily(Event, base=True):
    """Base of the events of a day.

    Their `interactions_by_number` give agents by number and amounts in hundredths, their `interactions` players and
    decimals.
    """

    day: int

    def interactions_by_number(self, past: Past) -> Iterable[Interaction]:
        """Return the interactions of the event, with agents by number and amounts in hundredths."""
        return super().interactions(past)

    def interactions(self, past: Past) -> Iterator[Interaction]:
        if (began := past.last(SocietyBegan)) is not None:
            for done in self.interactions_by_number(past):
                amount = None if done.amount is None else number(int(done.amount))
                who, whom = (began.player(int(agent)) for agent in (done.who, done.whom))
                yield replace(done, who=who, whom=whom, amount=amount)


class AgentEvent(Daily, base=True, concerns=("agent",)):
    """Base of the events of one agent: its acts, and events that concern it alone."""

    agent: int


class Known(NamedTuple):
    """The facts that decide whether an action is legal, at the moment of an agent's turn.

    `posts` and `proposals` are the highest ids, `open` the ids of proposals that are open to votes, `names` the agents
    by the signatures of their names. `missing` returns the materials that a project still needs, in hundredths.
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
        """Return the reason why the agent cannot write or give to `agent`, or ""."""
        if agent == self.agent:
            return "that is yourself"
        if not 1 <= agent <= self.rules.agents:
            return f"there is no agent #{agent}"
        return f"agent #{agent} is dead" if agent in self.dead else ""

    def too_little(self, resource: Resource, amount: int) -> str:
        """Return the reason why the agent cannot hand over this amount, or ""."""
        held = self.stock[resource]
        return f"you hold {shown(held)} {resource}, not {shown(amount)}" if held < amount else ""


class Action(Decision):
    """Base of the actions: each has one check of its legality and one effect.

    `needs` are the names of settings; the action exists only if all of them are on.
    """

    needs: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, needs: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.needs = needs or cls.needs

    def why_not(self, known: Known) -> str:
        """Return the reason why the action is illegal, without a full stop, or "" if it is legal."""
        return ""

    def happen(self, turn: Turn) -> None:
        """Carry out the legal action: change the state and tell its events."""
        raise NotImplementedError


class InvalidAction(
    AgentEvent,
    label="rejected action",
    heading="Agent #{agent}: an action is rejected",
    content="Action rejected: {reason}",
    private=("agent",),
):
    """A rejected action, without a penalty; `action` is the object as JSON, or "" if the reply had none."""

    action: str
    reason: str

    @property
    def turned_away(self) -> bool:
        return True


class Noted(AgentEvent, label="note", heading="Agent #{agent} notes for itself", words="text", private=("agent",)):
    """A note that an agent writes for itself; it replaces the one before."""

    text: str


class Rejected(Action):
    """The action of a reply without a valid action; no reply can ask for it.

    `given` is the rejected object as JSON, or "" if the reply had none.
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
        """The facts of this moment."""
        state, citizen, rules = self.state, self.citizen, self.rules
        return Known(
            rules=rules,
            agent=citizen.number,
            hours_left=rules.hours_per_day - citizen.worked,
            stock=citizen.stock,
            names=state.names,
            dead=state.dead,
            posts=state.forum.count,
            proposals=state.assembly.proposed,
            open=state.assembly.open,
            missing=state.projects.missing,
        )

    def take(self, action: Action) -> None:
        """Carry out the action if it is legal, and reject it otherwise."""
        if why_not := action.why_not(self.known):
            self.reject(action.model_dump_json(), why_not)
        else:
            action.happen(self)

    def note(self, words: str) -> None:
        """Replace the agent's note, cut to `note_chars`; do nothing if `words` is empty or notes are off."""
        if words and self.rules.note_chars:
            self.citizen.note = cut(words, self.rules.note_chars)
            self.tell_alone(Noted(self.day, self.agent, self.citizen.note))

    def reject(self, action: str, reason: str) -> None:
        """Count the action as invalid and tell the agent alone why."""
        self.state.today["invalid"] += 1
        self.tell_alone(InvalidAction(self.day, self.agent, action, reason))

    def tell(self, event: Event) -> None:
        """Tell all players an event of this agent."""
        self.table.tell(event, to=Everyone, by=self.citizen.player)

    def tell_alone(self, event: Event, *others: Citizen) -> None:
        """Tell an event to the agent and to `others` only."""
        to = (self.citizen.player, *(other.player for other in others))
        self.table.tell(event, to=to, by=self.citizen.player)

    def count(self, what: Counted) -> None:
        """Add one to the count of today and to that of the agent."""
        self.state.today[what] += 1
        setattr(self.citizen, what, getattr(self.citizen, what) + 1)

    @property
    def day(self) -> int:
        return self.state.day

    @property
    def agent(self) -> int:
        return self.citizen.number
