"""Requests of the market: what agents are asked in a turn, and before the first. A moderator's are `moderator`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from pydantic import Field, field_validator

from agentsim.engine.prompt import Prompt
from agentsim.engine.reading import Decision
from agentsim.engine.request import Choice, Options, Request, Text
from agentsim.engine.schema import said
from agentsim.engine.wording import cut, sentence
from agentsim.errors import IllegalDecision, UnreadableReply
from agentsim.games.market import prompts
from agentsim.games.market.artifact import Capability, Refused, variant
from agentsim.games.market.scope import Scope
from agentsim.games.market.state import NO_QUERY, SKIP
from agentsim.games.market.tools import calculate
from agentsim.games.market.view import Menu, Now, Observation

UNCLEAR = "unclear"


def _parameters(given: Any) -> Any:
    """The parameters as an object: "None", null and nothing are none at all."""
    return {} if given is None or (isinstance(given, str) and given.strip() in {"", "None"}) else given


def _as_text(given: Any) -> Any:
    """Working memory that is no string is kept as its JSON: it decides nothing, so it never spoils an action."""
    return given if isinstance(given, str) else "" if given is None else json.dumps(given, ensure_ascii=False)


class QueryChosen(Decision):
    """Which query or tool; `query` None is what no readable reply comes to: only the fallback gives it."""

    query: str | None
    query_parameters: dict[str, Any] = Field(default={})

    _to_object = field_validator("query_parameters", mode="before")(_parameters)


class ActionChosen(Decision):
    """What an agent does, and what it wants to remember; `action` None is a forfeit: only the fallback gives it."""

    action: str | None
    action_parameters: dict[str, Any] = Field(default={})
    working_memory: str = ""

    _to_object = field_validator("action_parameters", mode="before")(_parameters)
    _to_text = field_validator("working_memory", mode="before")(_as_text)


class BriefingAnswered(Decision):
    """A skip, from who understands; or in words what is unclear."""

    action: str
    working_memory: str = ""

    _to_text = field_validator("working_memory", mode="before")(_as_text)


D = TypeVar("D", bound=Decision)


class MarketRequest(Request[D]):
    """Base of all: what every agent may do, who the agent is (`tail`), and what it knows now."""

    unshown: ClassVar[Mapping[str, str]] = {
        "menu": "the system text has it for every stage; a question shows its own part",
        "now.stale": "said where quotes of an earlier period are shown, which only an experiment has",
        "scope": "what an action may name; the person's form and the check go by it",
    }

    menu: Menu
    tail: str
    now: Now

    def fingerprint_fields(self) -> Mapping[str, Any]:
        holdings = [[holding.asset, holding.held, holding.free] for holding in self.now.holdings]
        return {"round": self.now.round, "period": self.now.period, "holdings": holdings}


def _without(legal: Mapping[str, Any], name: str, choice: str) -> Mapping[str, Any]:
    """The parameters, of which one cannot be that choice."""
    one = legal.get("properties", {}).get(name, {})
    return said(legal, name, enum=[each for each in one["enum"] if each != choice]) if "enum" in one else legal


class Brief(MarketRequest[BriefingAnswered], kind="briefing"):
    """Do you understand what is asked of you?"""

    unshown: ClassVar[Mapping[str, str]] = {
        **MarketRequest.unshown,
        "now": "a briefing comes before there is anything to see",
    }

    def options(self) -> Options:
        return {"action": Choice((SKIP, UNCLEAR)), "working_memory": Text(self.menu.memory_chars)}

    def prompt(self) -> Prompt:
        question = (
            "The simulation is about to begin. If you understand what is asked of you, answer with a skip, and with "
            "what you want to remember as your working memory. If not, answer unclear, and say there in your own words "
            f"what you do not understand. {self.answer_line}"
        )
        return prompts.composed(self.menu, self.tail, (), (question,))

    def in_words(self, words: str) -> BriefingAnswered:
        """A reply without an object is in words what the agent does not understand."""
        return BriefingAnswered(action=UNCLEAR, working_memory=cut(words, self.menu.memory_chars))

    def fallback(self) -> BriefingAnswered:
        return BriefingAnswered(action=UNCLEAR)


class AskQuery(MarketRequest[QueryChosen], kind="query"):
    """What do you want to know before you act? `observed` is what this turn has brought already."""

    observed: tuple[Observation, ...] = ()
    calls_left: int = 0

    @property
    def offered(self) -> tuple[Capability, ...]:
        """Queries, and tools as long as any call is left."""
        return (*self.menu.queries, *(self.menu.tools if self.calls_left else ()))

    @property
    def names(self) -> tuple[str, ...]:
        """What it may choose."""
        return (NO_QUERY, *(each.name for each in self.offered))

    def options(self) -> Options:
        parameters = variant("query", self.offered)
        return {"query": Choice(self.names, nothing=NO_QUERY, about="name"), "query_parameters": parameters}

    def prompt(self) -> Prompt:
        state = (*prompts.state_lines(self.now), *prompts.observed(self.observed))
        named = ", ".join(self.names[1:]) or "there are no more"
        more = self.calls_left if self.menu.tools else 0
        tools = f" Tools do not end this stage; you can use {more} more." if more else ""
        question = (
            f"QUERY: what do you want to know before you act? Queries: {named}; or none.{tools} {self.answer_line}"
        )
        return prompts.composed(self.menu, self.tail, state, (question,))

    def warning(self, decision: QueryChosen) -> str:
        """What is wrong with the parameters, and an expression that cannot be worked out."""
        named = next((each for each in self.offered if each.name == decision.query), None)
        try:
            given = {} if named is None else named.read(decision.query_parameters)
            if decision.query == "calculator":
                calculate(given["expression"])
        except Refused as error:
            return sentence(str(error))
        return ""

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {**super().fingerprint_fields(), "calls": self.calls_left}

    def check(self, decision: QueryChosen) -> None:
        if decision.query is not None and decision.query not in self.names:
            raise IllegalDecision(f"query must be one of: {', '.join(self.names)}.")

    def fallback(self) -> QueryChosen:
        return QueryChosen(query=None)


class Act(MarketRequest[ActionChosen], kind="action"):
    """What do you do? Whether it can be done is for the artifact to say, and no matter of reading."""

    observed: tuple[Observation, ...] = ()
    scope: Scope = field(default_factory=Scope)

    @property
    def leading(self) -> bool:  # type: ignore[override] # a setting of the market
        return not self.menu.lenient

    @cached_property
    def actions(self) -> tuple[Capability, ...]:
        """Every action but those that the agent's restrictions never allow."""
        barred = self.scope.barred
        return tuple(each for each in self.menu.actions if each.name not in barred) if barred else self.menu.actions

    @property
    def names(self) -> tuple[str, ...]:
        """What it may choose."""
        return (SKIP, *(each.name for each in self.actions))

    def options(self) -> Options:
        return {
            "action": Choice(self.names, about="name"),
            "action_parameters": variant("action", self.actions),
            "working_memory": Text(self.menu.memory_chars, "what to remember"),
        }

    def prompt(self) -> Prompt:
        state = (*prompts.state_lines(self.now), *prompts.observed(self.observed))
        begin = "" if self.menu.lenient else " Nothing may stand before it."
        question = f"ACTION: what do you do? Actions: {', '.join(self.names)}. Answer with one JSON object.{begin}"
        return prompts.composed(self.menu, self.tail, state, (f"{question} {self.answer_line}",))

    def check(self, decision: ActionChosen) -> None:
        # one that is barred is no matter of form: it is refused in the words of the restriction
        if decision.action not in {None, SKIP, *(each.name for each in self.menu.actions)}:
            raise IllegalDecision(f"action must be one of: {', '.join(self.names)}.")

    def warning(self, decision: ActionChosen) -> str:
        """Why the action will be refused, as far as its agent can know."""
        named = next((each for each in self.actions if each.name == decision.action), None)
        if named is None:
            return ""
        try:
            given = named.read(decision.action_parameters)
        except Refused as error:
            return sentence(str(error))
        return self.scope.warning(self.player, self.now, named.name, given)

    def form_schema(self, name: str, legal: Mapping[str, Any], answered: Mapping[str, Any]) -> Mapping[str, Any]:
        if name == "working_memory":
            return said(legal, "", description=f"at most {self.menu.memory_chars} characters", default="")
        if name != "action_parameters":
            return legal
        out = _without(super().form_schema(name, legal, answered), "to", self.player)
        if orders := ", ".join(each.words for each in self.scope.orders):
            out = said(out, "order", description=orders)
        most = self.scope.most.get(str(answered.get("action")))
        upto = f"1 to {most}" if most else "none can be now"
        return out if most is None else said(out, "amount", description=upto)

    def decision_of(self, said: Mapping[str, Any]) -> ActionChosen:
        missing = ActionChosen.model_fields.keys() - said.keys()
        if missing and self.leading:
            raise UnreadableReply(f"The object must have all three keys; {', '.join(sorted(missing))} is missing.")
        return super().decision_of(said)

    def fallback(self) -> ActionChosen:
        return ActionChosen(action=None)
