"""Asking: the query stage of a turn: what an agent asks artifacts and its tools before it acts, and their answers.

A reply outside the format forfeits the query, as it forfeits the action (`acting`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BeforeValidator, Field

from agentsim.engine import Choice, Decision, Event, Options, joined, quoted
from agentsim.engine.capability import Capability, Refused, calculate, use_tool, variant
from agentsim.engine.prompt import bounded
from agentsim.engine.wording import If, counted, cut, sentence
from agentsim.games.market.state import NO_QUERY
from agentsim.games.market.view import MarketRequest

if TYPE_CHECKING:
    from agentsim.games.market.turn import Turn, Turns

MOST_PARAMETERS = 400  # characters of an action's or a query's parameters that are kept
LACKED_CHARS = 200
D = TypeVar("D", bound=Decision)
Stage: TypeAlias = Literal["query", "action"]


# -- what is told


def given(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _known(value) for name, value in parameters.items() if value is not None}


def _known(value: Any) -> Any:
    """A value without what is null in it, which tells nothing."""
    if isinstance(value, Mapping):
        return given(value)
    return [_known(part) for part in value] if isinstance(value, list | tuple) else value


class Observed(Event, heading="{agent} asks for {query}", private=("agent",)):
    """An agent asked an artifact or a tool something; `observation` is the answer, for it alone."""

    agent: str
    query: str
    parameters: dict[str, Any]
    observation: dict[str, Any]

    @property
    def content(self) -> str:
        return ", ".join(f"{key}: {value}" for key, value in self.observation.items()) or "Nothing."

    @property
    def asked(self) -> dict[str, Any]:
        """The parameters that were given; a schema's fields that were not asked for come as nulls."""
        return given(self.parameters)

    @property
    def answer(self) -> dict[str, Any]:
        """The observation as its agent reads it, without nulls."""
        return given(self.observation)

    @property
    def turned_away(self) -> bool:
        return "refused" in self.observation


class Forfeited(
    Event,
    heading="{agent} forfeits its {stage}",
    content=("The reply was outside the format", If("lacked", ": {lacked}", ".")),
):
    """A reply was outside the format: the action of this round, or the query, is lost. `lacked` says what was wrong."""

    agent: str
    stage: Stage
    lacked: str = ""
    turned_away = True


# -- what is asked


def _parameters(given: Any) -> Any:
    """The parameters as an object: "None", null and nothing are none at all."""
    return {} if given is None or (isinstance(given, str) and given.strip() in {"", "None"}) else given


Parameters: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_parameters)]


class QueryChosen(Decision):
    """Which query or tool; `query` None is what no readable reply comes to: only the fallback gives it."""

    query: str | None
    query_parameters: Parameters = Field(default={})


class QueryForfeited(QueryChosen):
    """A forfeit that says what its reply `lacked`."""

    query: None = None
    lacked: str = ""


class StageRequest(MarketRequest[D]):
    """Base of the stages of a turn; `observed` is what the turn has brought already."""

    observed: tuple[Observed, ...] = ()

    def state(self) -> tuple[str, ...]:
        return (*self.now.lines(), *map(_in_words, self.observed))

    def try_out(self, decision: D) -> None:
        """Raise `Refused` where the decision will come to nothing, as far as its agent can know."""
        raise NotImplementedError

    def warning(self, decision: D) -> str:
        """Why the decision will come to nothing, as far as its agent can know."""
        try:
            self.try_out(decision)
        except Refused as error:
            return sentence(str(error))
        return ""


def _in_words(seen: Observed) -> str:
    asked = (" ", quoted(**seen.asked)) if seen.asked else ()
    return joined(f"OBSERVATION ({seen.query}", *asked, "): ", quoted(**seen.answer))


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


# -- what comes of it


def offers(turns: Turns, calls: int) -> bool:
    """Whether there is anything to ask for after so many tool calls."""
    menu = turns.menu
    return bool(menu.queries or (menu.tools and calls < turns.config.tool_calls))


def observe(turns: Turns, turn: Turn, chosen: QueryChosen) -> bool:
    """Answer a query or use a tool; whether the agent may go on asking."""
    agent, name, market = turn.agent, chosen.query, turns.market
    if name is None:
        turns.table.tell(Forfeited(agent.id, "query", getattr(chosen, "lacked", "")), to=(agent.id,), by=agent.id)
    if name is None or name == NO_QUERY:
        return False
    is_tool = name in market.tools
    try:
        if is_tool:
            found = use_tool(name, chosen.query_parameters, agent.notebook)
        else:
            artifact = market.queries[name]
            found = artifact.call(agent.id, name, artifact.queries[name].read(chosen.query_parameters))
    except Refused as error:
        found = {"refused": str(error)}
    asked = bounded(chosen.query_parameters, MOST_PARAMETERS)
    seen = Observed(agent.id, name, asked, bounded(found, turns.config.observation_chars))
    turns.table.tell(seen, to=(agent.id,), by=agent.id)
    turn.calls += is_tool
    return is_tool and offers(turns, turn.calls)
