"""Acting: the action stage of a turn: what an agent does, whether it is carried out, and what it writes for itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import Field

from agentsim.engine import Choice, Decision, Event, Options, Text
from agentsim.engine.capability import Capability, Refused, variant
from agentsim.engine.prompt import bounded
from agentsim.engine.schema import said
from agentsim.engine.wording import If, cut, listed
from agentsim.errors import IllegalDecision, UnreadableReply
from agentsim.games.market.asking import LACKED_CHARS, MOST_PARAMETERS, Forfeited, Parameters, StageRequest
from agentsim.games.market.briefing import Memo
from agentsim.games.market.restrictions import Scope
from agentsim.games.market.state import SKIP, Agent

if TYPE_CHECKING:
    from agentsim.games.market.turn import Turns


# -- what is told


class Acted(Event, heading=("{agent}: {action}", If("accepted", "", " (refused)")), content="{result}"):
    """What an agent chose to do, and what came of it; `result` is what it is told, the reason where it is refused."""

    agent: str
    action: str
    parameters: dict[str, Any]
    accepted: bool
    result: str

    @property
    def turned_away(self) -> bool:
        return not self.accepted


class Remembered(Event, heading="{agent}'s working memory", words="text", private=("agent",)):
    """The working memory an agent wrote; no other agent reads it."""

    agent: str
    text: str


# -- what is asked


class ActionChosen(Decision):
    """What an agent does, and what it wants to remember; `action` None is a forfeit: only the fallback gives it."""

    action: str | None
    action_parameters: Parameters = Field(default={})
    working_memory: Memo = ""


class ActionForfeited(ActionChosen):
    """A forfeit that says what its reply `lacked`."""

    action: None = None
    lacked: str = ""


SKIPPED = ActionChosen(action=SKIP)


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


# -- what comes of it


def act(turns: Turns, agent: Agent, chosen: ActionChosen, scope: Scope) -> None:
    """Carry an action out, or refuse it, and keep what the agent writes for itself."""
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
    """What the agent is told of its action; `Refused` where it comes to nothing."""
    if name == SKIP:
        return "You skipped."
    artifact, world = turns.market.actions[name], turns.market.world
    given = artifact.actions[name].read(said)
    what, _, _ = scope.meant(name, given)
    if not agent.active and what in {"buy", "sell"}:  # where all act on one state, its last unit may be gone by now
        raise Refused("you have no unit left to trade in this period")
    scope.forbid(agent, name, given)
    world.acting = agent.id
    try:
        return str(artifact.call(agent.id, name, given))
    finally:
        world.acting = None
