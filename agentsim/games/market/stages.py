"""Stages: the query and the action of a turn: the questions, the answers, and what comes of both.

A reply outside the format forfeits its stage. An action's artifact decides whether it can be done.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BeforeValidator, Field

from agentsim.engine import Choice, Decision, Event, Options, Text, joined, quoted
from agentsim.engine.capability import Capability, Refused, use_tool, variant
from agentsim.engine.options import FormField, LegalValues
from agentsim.engine.prompt import bounded
from agentsim.engine.wording import If, counted, cut, listed
from agentsim.errors import IllegalDecision, UnreadableReply
from agentsim.games.market.briefing import Memo
from agentsim.games.market.restrictions import Scope
from agentsim.games.market.state import NO_QUERY, SKIP, Agent
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
    """Return a value without its nulls, which tell nothing."""
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
        """The parameters without nulls, which a schema gives for fields left out."""
        return given(self.parameters)

    @property
    def answer(self) -> dict[str, Any]:
        """The observation without nulls, as its agent reads it."""
        return given(self.observation)

    @property
    def turned_away(self) -> bool:
        return "refused" in self.observation


class Forfeited(
    Event,
    heading="{agent} forfeits its {stage}",
    content=("The reply was outside the format", If("lacked", ": {lacked}", ".")),
    private=("agent",),
):
    """A reply was outside the format, and its stage is lost; `lacked` says what was wrong."""

    agent: str
    stage: Stage
    lacked: str = ""
    turned_away = True


class Acted(
    Event, heading=("{agent}: {action}", If("accepted", "", " (refused)")), content="{result}", private=("agent",)
):
    """An agent's action; `result` is the message for the agent, or the reason if the action is refused."""

    agent: str
    action: str
    parameters: dict[str, Any]
    accepted: bool
    result: str

    @property
    def turned_away(self) -> bool:
        return not self.accepted


class Remembered(Event, heading="{agent}'s working memory", words="text", private=("agent",)):
    """The working memory that an agent wrote; no other agent reads it."""

    agent: str
    text: str


# -- what is asked


def _parameters(given: Any) -> Any:
    """Return the parameters as an object: "None", null and "" are no parameters."""
    return {} if given is None or (isinstance(given, str) and given.strip() in {"", "None"}) else given


Parameters: TypeAlias = Annotated[dict[str, Any], BeforeValidator(_parameters)]


class QueryChosen(Decision):
    """A query or a tool, with parameters; a `query` of None is a forfeit, given by the fallback alone."""

    query: str | None
    query_parameters: Parameters = Field(default={})


class QueryForfeited(QueryChosen):
    """A forfeit that says what its reply `lacked`."""

    query: None = None
    lacked: str = ""


class StageRequest(MarketRequest[D]):
    """Base of the questions of a turn; `observed` are the answers that the turn has brought so far."""

    observed: tuple[Observed, ...] = ()

    def state(self) -> tuple[str, ...]:
        return (*self.now.lines(), *map(_in_words, self.observed))


def _in_words(seen: Observed) -> str:
    asked = (" ", quoted(**seen.asked)) if seen.asked else ()
    return joined(f"OBSERVATION ({seen.query}", *asked, "): ", quoted(**seen.answer))


class AskQuery(StageRequest[QueryChosen], kind="query"):
    """The question what an agent wants to know before it acts."""

    calls_left: int = 0

    @property
    def offered(self) -> Mapping[str, Capability]:
        """Queries, and tools while any call is left; by name."""
        return {each.name: each for each in (*self.menu.queries, *(self.menu.tools if self.calls_left else ()))}

    def options(self) -> Options:
        names = Choice((NO_QUERY, *self.offered), nothing=NO_QUERY, about="name")
        return {"query": names, "query_parameters": variant("query", self.offered.values())}

    def asks(self) -> tuple[str, ...]:
        queries, tools = ([each.name for each in offered] for offered in (self.menu.queries, self.menu.tools))
        one = f" Name one query: {', '.join((NO_QUERY, *queries))}." if queries else f" Name {NO_QUERY} to go on."
        use = f" Before it you may use tools, {counted(self.calls_left, 'more time')}: {', '.join(tools)}."
        more = use if tools and self.calls_left else ""
        return (f"QUERY: what do you want to know before you act?{one}{more} {self.answer_line}",)

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {**super().fingerprint_fields(), "calls": self.calls_left}

    def check(self, decision: QueryChosen) -> None:
        if decision.query is not None:
            super().check(decision)

    def fallback(self) -> QueryChosen:
        return QueryChosen(query=None)

    def forfeit(self, problem: str) -> QueryChosen:
        return QueryForfeited(lacked=cut(problem, LACKED_CHARS)) if self.menu.explains else self.fallback()


class ActionChosen(Decision):
    """An action and what the agent wants to remember; an `action` of None is a forfeit, given by the fallback alone."""

    action: str | None
    action_parameters: Parameters = Field(default={})
    working_memory: Memo = ""


class ActionForfeited(ActionChosen):
    """A forfeit that says what its reply `lacked`."""

    action: None = None
    lacked: str = ""


SKIPPED = ActionChosen(action=SKIP)


class Act(StageRequest[ActionChosen], kind="action"):
    """The question what an agent does; the artifact decides whether it can be done."""

    scope: Scope = field(default_factory=Scope)

    @property
    def leading(self) -> bool:  # type: ignore[override] # a setting of the market
        return not self.menu.lenient

    @cached_property
    def actions(self) -> tuple[Capability, ...]:
        """Every action but those that the agent's scope bars."""
        barred = self.scope.barred
        return tuple(each for each in self.menu.actions if each.name not in barred) if barred else self.menu.actions

    @property
    def names(self) -> tuple[str, ...]:
        return (SKIP, *(each.name for each in self.actions))

    def options(self) -> Options:
        return {
            "action": Choice(self.names, about="name"),
            "action_parameters": variant("action", self.actions),
            "working_memory": Text(self.menu.memory_chars, "why you choose this action, and what to remember"),
        }

    def asks(self) -> tuple[str, ...]:
        begin = "" if self.menu.lenient else " Answer with one JSON object and nothing before it."
        return (f"ACTION: what do you do? Choose one of {', '.join(self.names)}.{begin} {self.answer_line}",)

    def check(self, decision: ActionChosen) -> None:
        # a barred action is valid in form, and is refused in the words of its restriction
        if decision.action not in {None, SKIP, *(each.name for each in self.menu.actions)}:
            raise IllegalDecision(f"action must be one of: {', '.join(self.names)}.")

    def form_field(self, path: str, option: LegalValues, answered: Mapping[str, Any]) -> FormField:
        if path == "working_memory":
            return FormField(option, f"at most {counted(self.menu.memory_chars, 'character')}", usual="")
        if path == "action_parameters.to" and option.kind == "choice":
            return FormField(Choice(tuple(each for each in option.values if each != self.player)))
        if path == "action_parameters.order":
            return FormField(option, ", ".join(each.words for each in self.scope.orders))
        most = self.scope.most.get(str(answered.get("action")))
        if path == "action_parameters.amount" and most is not None:
            return FormField(option, f"1 to {most}" if most else "none can be now")
        return super().form_field(path, option, answered)

    def decision_of(self, said: Mapping[str, Any]) -> ActionChosen:
        missing = ActionChosen.model_fields.keys() - said.keys()
        if missing and self.leading:
            raise UnreadableReply(f"The object lacks {listed([f'`{name}`' for name in sorted(missing)])}.")
        return super().decision_of(said)

    def fallback(self) -> ActionChosen:
        return ActionChosen(action=None)

    def forfeit(self, problem: str) -> ActionChosen:
        return ActionForfeited(lacked=cut(problem, LACKED_CHARS)) if self.menu.explains else self.fallback()


# -- what comes of it


def offers(turns: Turns, turn: Turn) -> bool:
    """Return whether there is anything that the agent may still ask for in its turn."""
    menu = turns.menus[turn.agent.id]
    return bool(menu.queries or (menu.tools and turn.calls < turns.config.tool_calls))


def observe(turns: Turns, turn: Turn, chosen: QueryChosen) -> bool:
    """Answer a query or use a tool, and return whether the agent may ask again."""
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
    return is_tool and offers(turns, turn)


def act(turns: Turns, agent: Agent, chosen: ActionChosen, scope: Scope) -> None:
    """Carry an action out or refuse it, and keep what the agent writes for itself."""
    to, table = (agent.id,), turns.table
    if chosen.action is None:
        agent.forfeits += 1
        table.tell(Forfeited(agent.id, "action", getattr(chosen, "lacked", "")), to=to, by=agent.id)
        return
    given = bounded(chosen.action_parameters, MOST_PARAMETERS)
    try:
        accepted, result = True, _carried_out(turns, agent, chosen.action, chosen.action_parameters, scope)
    except Refused as error:
        accepted, result = False, f"Refused: {error}"
        agent.refused += 1
    table.tell(Acted(agent.id, chosen.action, given, accepted, result), to=to, by=agent.id)
    if text := cut(chosen.working_memory, turns.config.working_memory_chars):
        table.tell(Remembered(agent.id, text), to=to, by=agent.id)


def _carried_out(turns: Turns, agent: Agent, name: str, said: Mapping[str, Any], scope: Scope) -> str:
    """Execute an action and return the message for its agent. Raises `Refused`."""
    if name == SKIP:
        return "You skipped."
    artifact, world = turns.market.actions[name], turns.market.world
    given = artifact.actions[name].read(said)
    what, _, _ = scope.meant(name, given)
    if not agent.active and what in {"buy", "sell"}:  # if all act on one state, its last unit may be gone by now
        raise Refused("you have no unit left to trade in this period")
    scope.forbid(agent, name, given)
    world.acting = agent.id
    try:
        return str(artifact.call(agent.id, name, given))
    finally:
        world.acting = None
