"""Artifact: what one is made of: the actions and queries it offers, its own state, and what it is told of the course.

What each does is a file in `artifacts/`; when agents are asked, and what they are shown, is `turn` and `view`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeAlias, TypeVar

from agentsim.engine import Choice, GameConfig, LoggedEvent, Text
from agentsim.engine.capability import Refused, Stated, capabilities, mark_of, marked
from agentsim.engine.options import Option
from agentsim.engine.panel import Frame, Panel
from agentsim.engine.wording import Template, filled
from agentsim.games.market.order_book import Order
from agentsim.games.market.world import World

F = TypeVar("F", bound=Callable[..., Any])
Answer: TypeAlias = Mapping[str, Any]
"""What a query brings: JSON values by name."""
MOST_CHOICES = 30  # agents that are listed as choices
MOST_TEXT = 400  # characters of a name that is looked up


def a_good(about: str) -> Stated:
    """A parameter: one of the market's goods."""
    return lambda artifact: Choice(artifact.world.goods, about=about)


def an_agent(about: str, *others: str) -> Stated:
    """A parameter: one of the agents, or one of these other words; of very many agents, a name that is looked up."""

    def named(artifact: Artifact) -> Option:
        agents = artifact.world.agents
        return Text(MOST_TEXT, about) if len(agents) > MOST_CHOICES else Choice((*others, *agents), about=about)

    return named


def action(description: str, *, means: str = "", **parameters: Stated) -> Callable[[F], F]:
    """Marks a method as an action of that name: it is called with the agent and the parameters, by name.

    It returns what the agent is told, or raises `Refused` before anything has changed. `means` is what it comes to in
    the words of restrictions and traders (buy, sell, replace, cancel, borrow, send), where its name is another.
    """
    return marked("action", description, parameters, means)


def query(description: str, **parameters: Stated) -> Callable[[F], F]:
    """Marks a method as a query of that name: it changes nothing, and returns an `Answer` or raises `Refused`."""
    return marked("query", description, parameters)


class Artifact:
    """Base of all. A subclass sets `name` and `description`, marks its actions and queries, and keeps its own state.

    The description is a template of its `settings`. `trades_itself` says that it buys and sells on its own account, so
    that one agent alone can trade. `meaning` follows from the actions: what each comes to, by its name.
    """

    name: ClassVar[str]
    description: ClassVar[Template]
    settings: ClassVar[type[GameConfig]] = GameConfig
    trades_itself: ClassVar[bool] = False
    meaning: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        marks = ((method, mark) for method, member in vars(cls).items() if (mark := mark_of(member)))
        cls.meaning = {**cls.meaning, **{name: mark.means or name for name, mark in marks if mark.kind == "action"}}

    def __init__(self, world: World, settings: Any) -> None:
        self.world = world
        self.config = settings
        self.described = filled(self.description, settings)
        self.actions = capabilities(self, "action")
        self.queries = capabilities(self, "query")

    def call(self, agent: str, name: str, given: Mapping[str, Any]) -> Any:
        """Do what an agent chose, or answer it, parameters being read; `Refused` where that cannot be."""
        most = self.most(agent).get(name) if "amount" in given else None
        if most is not None and given["amount"] > most:
            raise Refused(f"the most that you can {name} is {most}")
        return getattr(self, name)(agent, **given)

    def round_began(self, number: int) -> None:
        """A round begins; they count from 1."""

    def round_ended(self, number: int) -> None:
        """A round is over."""

    def period_ended(self) -> None:
        """A period of an experiment is over: what agents hold is taken back, and nothing may be promised of it."""

    def game_ended(self) -> None:
        """The last round is over; the standings are made of what agents have after this."""

    def promised(self, agent: str) -> Mapping[str, int]:
        """What this artifact has reserved of an agent's holdings, by asset."""
        return {}

    def shown(self, agent: str) -> Answer:
        """What the agent is shown at every turn without asking, as a query's answer; empty for nothing."""
        return {}

    def orders(self, agent: str) -> Sequence[Order]:
        """The agent's open orders, oldest first: what it may name, and what they free as they are replaced."""
        return ()

    def most(self, agent: str) -> Mapping[str, int]:
        """The greatest `amount` of an action, by its name, in this state of the market; more of it is refused."""
        return {}

    def barred(self, agent: str) -> frozenset[str]:
        """Actions that come to nothing whenever the agent takes them: it is not offered them."""
        return frozenset()

    def claims(self, agent: str) -> int:
        """Capital that is the agent's and not on its account, such as a deposit; less what it owes."""
        return 0

    def check(self) -> Sequence[str]:
        """Every broken invariant of its state, in words."""
        return ()

    @classmethod
    def panels(cls, log: Sequence[LoggedEvent]) -> list[Panel]:
        """What a page shows of it, from the events that one audience heard."""
        return []

    @classmethod
    def tables(cls, log: Sequence[LoggedEvent]) -> Mapping[str, Frame]:
        """Tables of its own for export, by name; each is there whatever happened."""
        return {}
