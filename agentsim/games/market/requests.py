"""Requests of the market: what agents are asked in a turn, and before the first. A moderator's are `moderator`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import BeforeValidator, Field

from agentsim.engine import Choice, Decision, Options, Text
from agentsim.engine.capability import Capability, variant
from agentsim.engine.moderator import InterviewAnswer, Questioned
from agentsim.engine.schema import said
from agentsim.engine.tools import calculate
from agentsim.engine.wording import counted, cut, listed
from agentsim.errors import IllegalDecision, UnreadableReply
from agentsim.games.market.restrictions import Scope
from agentsim.games.market.state import NO_QUERY, SKIP
from agentsim.games.market.view import MarketRequest, StageRequest

UNCLEAR = "unclear"


def _parameters(given: Any) -> Any:
    """The parameters as an object: "None", null and nothing are none at all."""
    return {} if given is None or (isinstance(given, str) and given.strip() in {"", "None"}) else given


def _as_text(given: Any) -> Any:
    """Working memory that is no string is kept as its JSON: it decides nothing, so it never spoils an action."""
    return given if isinstance(given, str) else "" if given is None else json.dumps(given, ensure_ascii=False)


Parameters: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_parameters)]
Memo: TypeAlias = Annotated[str, BeforeValidator(_as_text)]


class QueryChosen(Decision):
    """Which query or tool; `query` None is what no readable reply comes to: only the fallback gives it."""

    query: str | None
    query_parameters: Parameters = Field(default={})


class ActionChosen(Decision):
    """What an agent does, and what it wants to remember; `action` None is a forfeit: only the fallback gives it."""

    action: str | None
    action_parameters: Parameters = Field(default={})
    working_memory: Memo = ""


class QueryForfeited(QueryChosen):
    """A forfeit that says what its reply `lacked`."""

    query: None = None
    lacked: str = ""


class ActionForfeited(ActionChosen):
    """A forfeit that says what its reply `lacked`."""

    action: None = None
    lacked: str = ""


LACKED_CHARS = 200
SKIPPED = ActionChosen(action=SKIP)


class BriefingAnswered(Decision):
    """A skip, from who understands; or in words what is unclear."""

    action: str
    working_memory: Memo = ""


class Brief(MarketRequest[BriefingAnswered], kind="briefing"):
    """Do you understand what is asked of you?"""

    unshown: ClassVar[Mapping[str, str]] = {
        **MarketRequest.unshown,
        "now": "a briefing comes before there is anything to see",
    }

    def options(self) -> Options:
        return {"action": Choice((SKIP, UNCLEAR)), "working_memory": Text(self.menu.memory_chars)}

    def state(self) -> tuple[str, ...]:
        return ()

    def asks(self) -> tuple[str, ...]:
        return (
            "The simulation is about to begin. If you understand what is asked of you, answer skip, and write what you "
            "want to remember as working_memory. If not, answer unclear, and write there what you do not understand. "
            f"{self.answer_line}",
        )

    def in_words(self, words: str) -> BriefingAnswered:
        """A reply without an object is in words what the agent does not understand."""
        return BriefingAnswered(action=UNCLEAR, working_memory=cut(words, self.menu.memory_chars))

    def fallback(self) -> BriefingAnswered:
        return BriefingAnswered(action=UNCLEAR)


class Interviewed(Questioned, MarketRequest[InterviewAnswer], kind="interview"):
    def state(self) -> tuple[str, ...]:
        return (*self.now.lines(), *self.so_far())

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {"round": self.now.round}


class AskQuery(StageRequest[QueryChosen], kind="query"):
    """What do you want to know before you act?"""

    calls_left: int = 0

    @property
    def offered(self) -> Mapping[str, Capability]:
        """Queries, and tools as long as any call is left; by name."""
        return {each.name: each for each in (*self.menu.queries, *(self.menu.tools if self.calls_left else ()))}

    def options(self) -> Options:
        names = Choice((NO_QUERY, *self.offered), nothing=NO_QUERY, about="name")
        return {"query": names, "query_parameters": variant("query", self.offered.values())}

    def asks(self) -> tuple[str, ...]:
        queries, tools = ([each.name for each in offered] for offered in (self.menu.queries, self.menu.tools))
        one = f" Make one query, or none: {', '.join(queries)}." if queries else " Choose none to go on."
        use = f" Before that you can use tools, {counted(self.calls_left, 'more time')}: {', '.join(tools)}."
        more = use if tools and self.calls_left else ""
        return (f"QUERY: what do you want to know before you act?{one}{more} {self.answer_line}",)

    def try_out(self, decision: QueryChosen) -> None:
        named = self.offered.get(decision.query or NO_QUERY)
        given = {} if named is None else named.read(decision.query_parameters)
        if decision.query == "calculator":
            calculate(given["expression"])

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {**super().fingerprint_fields(), "calls": self.calls_left}

    def check(self, decision: QueryChosen) -> None:
        if decision.query is not None:
            super().check(decision)

    def fallback(self) -> QueryChosen:
        return QueryChosen(query=None)

    def forfeit(self, problem: str) -> QueryChosen:
        return QueryForfeited(lacked=cut(problem, LACKED_CHARS)) if self.menu.explains else self.fallback()


class Act(StageRequest[ActionChosen], kind="action"):
    """What do you do? Whether it can be done is for the artifact to say, and no matter of reading."""

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
        return (SKIP, *(each.name for each in self.actions))

    def options(self) -> Options:
        return {
            "action": Choice(self.names, about="name"),
            "action_parameters": variant("action", self.actions),
            "working_memory": Text(self.menu.memory_chars, "what to remember"),
        }

    def asks(self) -> tuple[str, ...]:
        begin = "" if self.menu.lenient else " Answer with one JSON object and nothing before it."
        return (f"ACTION: what do you do? Choose one of {', '.join(self.names)}.{begin} {self.answer_line}",)

    def check(self, decision: ActionChosen) -> None:
        # one that is barred is no matter of form: it is refused in the words of the restriction
        if decision.action not in {None, SKIP, *(each.name for each in self.menu.actions)}:
            raise IllegalDecision(f"action must be one of: {', '.join(self.names)}.")

    def try_out(self, decision: ActionChosen) -> None:
        if named := next((each for each in self.actions if each.name == decision.action), None):
            self.scope.try_out(self.player, self.now, named.name, named.read(decision.action_parameters))

    def form_schema(self, name: str, legal: Mapping[str, Any], answered: Mapping[str, Any]) -> Mapping[str, Any]:
        if name == "working_memory":
            return said(legal, "", description=f"at most {self.menu.memory_chars} characters", default="")
        out = super().form_schema(name, legal, answered)
        if "enum" in (to := out.get("properties", {}).get("to", {})):
            out = said(out, "to", enum=[each for each in to["enum"] if each != self.player])
        if orders := ", ".join(each.words for each in self.scope.orders):
            out = said(out, "order", description=orders)
        most = self.scope.most.get(str(answered.get("action")))
        upto = f"1 to {most}" if most else "none can be now"
        return out if most is None else said(out, "amount", description=upto)

    def decision_of(self, said: Mapping[str, Any]) -> ActionChosen:
        missing = ActionChosen.model_fields.keys() - said.keys()
        if missing and self.leading:
            raise UnreadableReply(f"The object lacks {listed([f'`{name}`' for name in sorted(missing)])}.")
        return super().decision_of(said)

    def fallback(self) -> ActionChosen:
        return ActionChosen(action=None)

    def forfeit(self, problem: str) -> ActionChosen:
        return ActionForfeited(lacked=cut(problem, LACKED_CHARS)) if self.menu.explains else self.fallback()
