"""Artifact: what one is made of: the actions and queries it offers, its own state, and when it is told of rounds.

What each does is a file in `artifacts/`; when agents are asked, and what they are shown, is `turn` and `prompts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

from pydantic_core import PydanticCustomError

from agentsim.engine.game import GameConfig
from agentsim.engine.number import whole
from agentsim.engine.schema import closed_object
from agentsim.engine.wording import cut
from agentsim.games.market.order_book import OpenOrder
from agentsim.games.market.world import World

F = TypeVar("F", bound=Callable[..., Any])
Answer: TypeAlias = Mapping[str, Any]
"""What a query brings: JSON values by name."""
MOST_CHOICES = 30  # agents that are listed as choices; of more, the name is a text that is looked up


class Refused(ValueError):
    """An action or query that comes to nothing, in words fit for the agent; nothing has changed."""


class NoSettings(GameConfig):
    """Of an artifact that has none."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `good` and `agent` are choices among those of the market; text is cut at `limit` characters."""

    name: str
    kind: Literal["integer", "text", "choice", "good", "agent"]
    description: str
    optional: bool = False
    low: int = 0
    high: int | None = None
    choices: tuple[str, ...] = ()
    limit: int = 400

    def read(self, given: Any) -> Any:
        """The value in what was given; `Refused` where there is none."""
        if self.kind == "integer":
            try:
                number = whole(given)
            except PydanticCustomError:
                raise Refused(f"{self.name} must be a whole number") from None
            if number < self.low or (self.high is not None and number > self.high):
                upto = "or more" if self.high is None else f"to {self.high}"
                raise Refused(f"{self.name} must be a whole number, {self.low} {upto}")
            return number
        if not isinstance(given, str) or not given.strip():
            raise Refused(f"{self.name} must {'not be empty' if isinstance(given, str) else 'be a text'}")
        if self.choices and given not in self.choices:
            raise Refused(f"{self.name} must be one of: {', '.join(self.choices)}")
        return given if self.choices else cut(given, self.limit)

    def schema(self) -> dict[str, Any]:
        """Its JSON Schema."""
        if self.kind == "integer":
            upto = {} if self.high is None else {"maximum": self.high}
            return {"type": "integer", "minimum": self.low, **upto}
        return (
            {"type": "string", "enum": list(self.choices)}
            if self.choices
            else {"type": "string", "maxLength": self.limit}
        )

    def words(self) -> str:
        """What an agent reads of it."""
        if self.kind == "integer":
            what = f"whole number, {self.low} " + ("or more" if self.high is None else f"to {self.high}")
        else:
            what = "one of " + ", ".join(self.choices) if self.choices else f"text, at most {self.limit} characters"
        return f"{self.name} ({what}{', may be left out' if self.optional else ''}): {self.description}"


@dataclass(frozen=True, slots=True)
class Capability:
    """An action, a query or a tool that an agent may name."""

    name: str
    description: str
    parameters: tuple[Parameter, ...] = ()

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Its parameters in what was given, whatever else that holds; `Refused` where one is missing or wrong."""
        out: dict[str, Any] = {}
        for parameter in self.parameters:
            value = given.get(parameter.name)
            if value is not None and not (parameter.optional and value == ""):
                out[parameter.name] = parameter.read(value)
            elif not parameter.optional:
                raise Refused(f"{self.name} needs {parameter.name}")
        return out

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its parameters."""
        return closed_object({each.name: each.schema() for each in self.parameters})

    def words(self) -> tuple[str, ...]:
        """What an agent reads of it, a line each."""
        return (f"- {self.name}: {self.description}", *(f"    {each.words()}" for each in self.parameters))


def either(capabilities: Iterable[Capability]) -> dict[str, Any]:
    """The JSON Schema of the parameters of one of them: every key must be there, and what is not its own is null."""
    properties: dict[str, Any] = {}
    for each in (parameter for capability in capabilities for parameter in capability.parameters):
        legal = each.schema()
        properties[each.name] = _wider(properties[each.name], legal) if each.name in properties else legal
    for name, legal in properties.items():
        kinds = legal["type"] if isinstance(legal["type"], list) else [legal["type"]]
        nothing = {"enum": [*legal["enum"], None]} if "enum" in legal else {}
        properties[name] = {**legal, "type": [*kinds, "null"], **nothing}
    return closed_object(properties)


def _wider(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The schema of a parameter that two capabilities have by the same name: whatever either allows."""
    kinds = [list(each["type"]) if isinstance(each["type"], list) else [each["type"]] for each in (one, other)]
    out: dict[str, Any] = {"type": list(dict.fromkeys([*kinds[0], *kinds[1]]))}
    if len(out["type"]) == 1:
        out["type"] = out["type"][0]
    elif kinds[0] != kinds[1]:
        return out
    for key, widest in (("minimum", min), ("maximum", max), ("maxLength", max)):
        if key in one and key in other:
            out[key] = widest(one[key], other[key])
    if "enum" in one and "enum" in other:
        out["enum"] = list(dict.fromkeys([*one["enum"], *other["enum"]]))
    return out


def action(description: str, *parameters: Parameter) -> Callable[[F], F]:
    """Marks a method as an action of that name: it is called with the agent and the parameters, by name.

    It returns what the agent is told, or raises `Refused` before anything has changed.
    """
    return _marked("_action", description, parameters)


def query(description: str, *parameters: Parameter) -> Callable[[F], F]:
    """Marks a method as a query of that name: it changes nothing, and returns an `Answer` or raises `Refused`."""
    return _marked("_query", description, parameters)


def _marked(mark: str, description: str, parameters: tuple[Parameter, ...]) -> Callable[[F], F]:
    def marked(method: F) -> F:
        setattr(method, mark, Capability(method.__name__, description, parameters))
        return method

    return marked


class Artifact:
    """Base of all. A subclass sets `name` and `description`, marks its actions and queries, and keeps its own state."""

    name: ClassVar[str]
    description: ClassVar[str]
    settings: ClassVar[type[GameConfig]] = NoSettings

    def __init__(self, world: World, settings: Any) -> None:
        self.world = world
        self.config = settings
        self.actions = self._capabilities("_action")
        self.queries = self._capabilities("_query")

    def bounds(self) -> Mapping[str, tuple[int, int | None]]:
        """What follows from the settings, by the parameter's name: a number's range, or a text's greatest length."""
        return {}

    def act(self, agent: str, name: str, given: Mapping[str, Any]) -> str:
        """Do what an agent chose; what it is told. `Refused` where it cannot be done."""
        result: str = getattr(self, name)(agent, **self.actions[name].read(given))
        return result

    def answer(self, agent: str, name: str, given: Mapping[str, Any]) -> Answer:
        """Answer an agent's query; `Refused` where it cannot be answered."""
        found: Answer = getattr(self, name)(agent, **self.queries[name].read(given))
        return found

    def meaning(self, agent: str, name: str, given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """What an action comes to in the eyes of restrictions, where that is another one; or `Refused`."""
        return name, given

    def round_began(self, number: int) -> None:
        """A round begins; they count from 1."""

    def round_ended(self, number: int) -> None:
        """A round is over."""

    def promised(self, agent: str) -> Mapping[str, int]:
        """What this artifact has reserved of an agent's holdings, by asset."""
        return {}

    def orders(self, agent: str) -> Sequence[OpenOrder]:
        """The agent's open orders, oldest first."""
        return ()

    def most(self, agent: str) -> Mapping[str, int]:
        """The greatest `amount` of an action, by its name, in this state of the market."""
        return {}

    def claims(self, agent: str) -> int:
        """Capital that is the agent's and not on its account, such as a deposit; less what it owes."""
        return 0

    def check(self) -> Sequence[str]:
        """Every broken invariant of its state, in words."""
        return ()

    def _capabilities(self, mark: str) -> dict[str, Capability]:
        found = {}
        for cls in reversed(type(self).__mro__):
            for name, member in vars(cls).items():
                if isinstance(marked := getattr(member, mark, None), Capability):
                    found[name] = Capability(name, marked.description, tuple(map(self._resolved, marked.parameters)))
        return found

    def _resolved(self, parameter: Parameter) -> Parameter:
        """The parameter with what this market knows of it: goods, agents, ranges."""
        low, high = self.bounds().get(parameter.name, (parameter.low, parameter.high))
        limit = high if parameter.kind == "text" and high is not None else parameter.limit
        choices = parameter.choices
        if parameter.kind == "good":
            choices = self.world.goods
        elif parameter.kind == "agent" and len(self.world.agents) <= MOST_CHOICES:
            choices = (*parameter.choices, *self.world.agents)
        elif parameter.kind == "agent":
            choices = ()
        return replace(parameter, low=low, high=high, choices=choices, limit=limit)
