"""Artifacts: through what agents deal: actions and queries, a state of their own, and hooks in the course of a game.

Each one is a file in `artifacts/`. `turn` decides when agents are asked, and `view` what they are shown.
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
"""The answer to a query: JSON values by name."""
MOST_CHOICES = 30  # agents that are listed as choices
MOST_TEXT = 400  # characters of a name that is looked up


def a_good(about: str) -> Stated:
    """Return a parameter that is one of the market's goods."""
    return lambda artifact: Choice(artifact.world.goods, about=about)


def an_agent(about: str, *others: str) -> Stated:
    """Return a parameter that is an agent or one of `others`; if agents are very many, a name that is looked up."""

    def named(artifact: Artifact) -> Option:
        agents = artifact.world.agents
        return Text(MOST_TEXT, about) if len(agents) > MOST_CHOICES else Choice((*others, *agents), about=about)

    return named


def action(description: str, *, means: str = "", **parameters: Stated) -> Callable[[F], F]:
    """Mark a method as an action of that name, called with the agent and the parameters by name.

    The method returns what the agent is told, or raises `Refused` before anything has changed. `means` is the action's
    meaning for restrictions and bots (buy, sell, replace, cancel, borrow, send), if that is not its name.
    """
    return marked("action", description, parameters, means)


def query(description: str, **parameters: Stated) -> Callable[[F], F]:
    """Mark a method as a query of that name: it changes nothing, and returns an `Answer` or raises `Refused`."""
    return marked("query", description, parameters)


class Artifact:
    """Base of all artifacts. A subclass sets `name` and `description`, marks actions and queries, and keeps its state.

    The description is a template of its `settings`. `trades_itself` says that it buys and sells on its own account, so
    that one agent alone can trade. `meaning` is made of the actions: the meaning of each by its name.
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
        """Run an action or a query with parsed parameters. Raises `Refused`."""
        most = self.most(agent).get(name) if "amount" in given else None
        if most is not None and given["amount"] > most:
            raise Refused(f"the most that you can {name} is {most}")
        return getattr(self, name)(agent, **given)

    def round_began(self, number: int) -> None:
        """Called when a round begins; rounds count from 1."""

    def round_ended(self, number: int) -> None:
        """Called when a round is over."""

    def period_ended(self) -> None:
        """Called when a period of an experiment is over: holdings are taken back, and nothing may stay reserved."""

    def game_ended(self) -> None:
        """Called after the last round and before standings are made of what agents have."""

    def promised(self, agent: str) -> Mapping[str, int]:
        """Return what this artifact has reserved of an agent's holdings, by asset."""
        return {}

    def quotes(self) -> Answer:
        """Return the quotes that all are shown at every turn in a market without queries; in others they are asked."""
        return {}

    def shown(self, agent: str) -> Answer:
        """Return what the agent is shown at every turn without asking, as a query's answer; empty for nothing."""
        return {}

    def orders(self, agent: str) -> Sequence[Order]:
        """Return the agent's open orders, oldest first: it may name them, and replacing them frees their reserve."""
        return ()

    def most(self, agent: str) -> Mapping[str, int]:
        """Return the greatest `amount` of each action in this state of the market, by name; more is refused."""
        return {}

    def barred(self, agent: str) -> frozenset[str]:
        """Return the actions that fail whenever this agent takes them: it is not offered them."""
        return frozenset()

    def claims(self, agent: str) -> int:
        """Return the agent's capital outside its account, such as a deposit, less what it owes."""
        return 0

    def check(self) -> Sequence[str]:
        """Return every broken invariant of its state, in words."""
        return ()

    @classmethod
    def panels(cls, log: Sequence[LoggedEvent]) -> list[Panel]:
        """Return the panels of a page, from the events that one audience heard."""
        return []

    @classmethod
    def tables(cls, log: Sequence[LoggedEvent]) -> Mapping[str, Frame]:
        """Return its own tables for export by name; each is there even if nothing happened."""
        return {}
