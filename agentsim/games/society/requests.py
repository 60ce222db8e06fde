"""Requests of Society: the one question that an active agent is asked in every tick."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, get_args

from agentsim.engine.prompt import Prompt
from agentsim.engine.reading import Reading, split
from agentsim.engine.request import Choice, Number, Options, Request, Text
from agentsim.engine.schema import said, schema_of
from agentsim.engine.wording import sentence
from agentsim.errors import DecisionError, IllegalDecision, UnreadableReply
from agentsim.games.society import prompts
from agentsim.games.society.actions import (
    ACTIONS,
    Acted,
    Contribute,
    CreateProposal,
    DirectMessage,
    ForumPost,
    ForumReply,
    Idle,
    Rejected,
    Said,
    SetName,
    Trade,
    Vote,
    Work,
)
from agentsim.games.society.amounts import UNIT, shown
from agentsim.games.society.names import misnomer
from agentsim.games.society.reading import UNPARSED, action_of, rejected
from agentsim.games.society.rules import Rules
from agentsim.games.society.terms import ALLOWED, ProposalType, misfit
from agentsim.games.society.view import Own, World

# an object that is none, or that has lost its braces: as a post it would tell all what may be meant for one
_MEANT_AS_ACTION = re.compile(
    r"[{｛]|&#123;|\b(?:direct_message\b|recipient_agent_id\b|action[\"']?\s{0,3}[:=]\s{0,3}[\"']?[a-z]++(?:_[a-z]*+)?\b)"
    r"|<(?:function|invoke|tool_call|parameter)\b",
    re.IGNORECASE,
)
_MAY_BE_EMPTY = frozenset({"action.description"})


class Act(Request[Acted]):
    """What do you do now?

    Every reply is an action, if only a rejected one, so no agent is asked again. Whether an action still holds when its
    turn comes is the society's verdict, and no matter of reading.
    """

    any_text: ClassVar[bool] = True

    rules: Rules
    world: World
    you: Own

    def options(self) -> Options:
        return self.rules.options

    def schema(self) -> dict[str, Any]:
        """The same for all agents in one game, so made once: it was half of what a question to a model costs."""
        known: dict[str, Any] | None = self.rules.__dict__.get("_schema")
        if known is None:
            known = self.rules.__dict__["_schema"] = schema_of(Said, self.legal)
        return known

    def prompt(self) -> Prompt:
        return prompts.composed(self.player, self.rules, self.world, self.you)

    def facts(self) -> tuple[str, ...]:
        return (
            *prompts.rules_lines(self.rules),
            *prompts.world_lines(self.rules, self.world),
            *prompts.own_lines(self.rules, self.you),
        )

    def fingerprint_fields(self) -> Mapping[str, Any]:
        you, world = self.you, self.world
        return {"day": world.day, "tick": world.tick, "stock": [you.food, you.energy, you.materials, you.hours]}

    def check(self, decision: Acted) -> None:
        if decision.action.action not in {"rejected", "idle"}:  # most decisions of a large society: nothing limits them
            super().check(decision)

    def check_value(self, path: str, value: Any, legal: Choice | Number | Text) -> None:
        """Lengths are limits here: an action that breaks one is rejected as a whole. Reasons alone are cut."""
        if not isinstance(legal, Text):
            super().check_value(path, value, legal)
        elif path != "action.reasoning":
            if len(value) > legal.limit:
                raise IllegalDecision(f"{path} must be at most {legal.limit} characters, and has {len(value)}.")
            if not value.strip() and path not in _MAY_BE_EMPTY:
                raise IllegalDecision(f"{path} must not be empty.")

    def warning(self, decision: Acted) -> str:
        action, rules = decision.action, self.rules
        match action:
            case Rejected():
                return action.reason.removeprefix("Invalid action data: ")
            case Work():
                return self._of_work(action)
            case Trade() | DirectMessage():
                return self._of_company(action)
            case SetName():
                return sentence(misnomer(action.display_name, self.you.agent, rules.agents, {}))
            case Vote():
                return self._of_vote(action)
            case ForumReply():
                newest = max((each.id for each in self.world.posts), default=0)
                return f"There is no post {action.parent_message_id} yet." if action.parent_message_id > newest else ""
            case Contribute():
                return self._of_contribution(action)
            case CreateProposal():
                return sentence(misfit(action.proposal_type, action.terms, rules.agents, rules.hours_per_day))
            case _:
                return ""

    def _of_work(self, action: Work) -> str:
        you, rules = self.you, self.rules
        energy = rules.work(action.work_type)[2] * action.hours
        if action.hours > rules.hours_per_day - you.hours:
            return f"Only {rules.hours_per_day - you.hours} hours are left today."
        if you.food < rules.work_needs_food:
            return f"Work needs {shown(rules.work_needs_food)} food, and you hold {shown(you.food)}."
        return f"That takes {shown(energy)} energy, and you hold {shown(you.energy)}." if you.energy < energy else ""

    def _of_company(self, action: Trade | DirectMessage) -> str:
        you = self.you
        if isinstance(action, Trade):
            held = {"food": you.food, "energy": you.energy, "materials": you.materials}[action.resource_type]
            if held < action.amount:
                return f"You hold {shown(held)} {action.resource_type}."
        if action.recipient_agent_id == you.agent:
            return "That is yourself."
        gone = action.recipient_agent_id in self.world.gone
        return f"Agent #{action.recipient_agent_id} is dead." if gone else ""

    def _of_vote(self, action: Vote) -> str:
        known = {each.id for each in (*self.world.proposals, *self.you.proposals)}
        # others may make one in this very turn, whose text is not known yet
        if action.proposal_id > max((*known, *self.you.votes), default=0):
            return f"There is no open proposal {action.proposal_id}."
        return (
            ""
            if action.proposal_id in known or self.world.more_proposals
            else f"Proposal {action.proposal_id} is closed."
        )

    def _of_contribution(self, action: Contribute) -> str:
        you, missing = self.you, {each.id: each.cost - each.given for each in self.world.projects}
        if action.project_id not in missing and not self.world.more_projects:
            return f"Project {action.project_id} needs no materials."
        # others may leave less to give, so that what is too much now is sure to fail only where one holds nothing
        return "You hold no materials." if not you.materials else ""

    def form_schema(self, name: str, legal: Mapping[str, Any], answered: Mapping[str, Any]) -> Mapping[str, Any]:
        if name == "action.terms":
            return _carried(legal, answered["proposal_type"])
        if name == "action.terms.agents":
            return {**legal, "items": {**legal["items"], "maximum": self.rules.agents}}
        most = {"action.terms.hours": self.rules.hours_per_day, "action.terms.quorum": self.rules.agents}
        if name in most:
            return {**legal, "maximum": most[name]}
        if name.endswith("amount"):
            legal = {**legal, "minimum": 1 / UNIT}
        hint = self._hint(name, answered)
        if name == "action.recipient_agent_id" and not legal["minimum"]:
            hint = f"0 for the common pool, or 1 to {self.rules.agents}"
        return said(legal, "", description=hint) if hint else legal

    def _hint(self, name: str, answered: Mapping[str, Any]) -> str:
        """What can be answered in this state of the society, where the range does not tell."""
        you, world = self.you, self.world
        match name:
            case "action.hours":
                left = self.rules.hours_per_day - you.hours
                return _upto(left) if left > 0 else "none are left today"
            case "action.proposal_id":
                return _one_of([each.id for each in (*world.proposals, *you.proposals)], world.more_proposals)
            case "action.project_id":
                return _one_of([each.id for each in world.projects], world.more_projects)
            case "action.terms.law":
                return _one_of([each.id for each in (*world.laws, *you.laws)], world.more_laws)
            case "action.parent_message_id":
                return _upto(max(each.id for each in world.posts)) if world.posts else "there is no post"
            case "action.amount":
                resource = answered.get("resource_type", "materials")
                held = {"food": you.food, "energy": you.energy, "materials": you.materials}[resource]
                return f"you hold {shown(held)} {resource}"
        return ""

    def parse(self, text: str, *, cut: bool = False, last: bool = False, repair: bool = True) -> Reading[Acted]:
        """Every reply is an action: nothing is asked again, and what is unreadable or in doubt is rejected."""
        try:
            reading = super().parse(text, cut=cut, last=True, repair=repair)
        except DecisionError as error:
            return rejected(UNPARSED if isinstance(error, UnreadableReply) else f"{UNPARSED}: {error}")
        if reading.stage in {"words", "cut"} and _MEANT_AS_ACTION.search(split(text)[0]):
            return rejected(UNPARSED)
        if isinstance(reading.decision.action, Rejected):
            return replace(reading, stage="rejected", candidates=0, checked=True)
        return replace(reading, checked=True)

    def fits(self, said: Mapping[str, Any]) -> bool:
        name = said.get("action")
        kind = ACTIONS.get(name) if isinstance(name, str) else None
        return kind is not None and said.keys() == kind.model_fields.keys()

    def counts(self, said: Mapping[str, Any]) -> bool:
        return not isinstance(action_of(said, self.check).action, Rejected)

    def decision_of(self, said: Mapping[str, Any]) -> Acted:
        return action_of(said, self.check)

    def in_words(self, words: str) -> Acted | None:
        """A reply that opens no brace is a post."""
        if self.rules.strict_actions:
            return None
        return Acted(action=ForumPost(content=words[: self.rules.post_chars].strip()))

    def fallback(self) -> Acted:
        return Acted(action=Idle())


def _carried(legal: Mapping[str, Any], type_: ProposalType) -> Mapping[str, Any]:
    """The terms that a proposal of this type can carry: none, where it can carry no kind."""
    kinds = {get_args(term.model_fields["kind"].annotation)[0] for term in ALLOWED[type_]}
    if not kinds:
        return {**legal, "maxItems": 0}
    branches = [each for each in legal["items"]["anyOf"] if each["properties"]["kind"]["enum"][0] in kinds]
    needed = {"minItems": 1, "maxItems": 1} if type_ == "infrastructure" else {}
    return {**legal, **needed, "items": {"anyOf": branches}}


def _upto(most: int) -> str:
    return f"1 to {most}" if most > 1 else "1"


def _one_of(numbers: Sequence[int], more: int) -> str:
    """Which numbers there are; `more` are not shown."""
    known = ", ".join(map(str, sorted(set(numbers)))) or "none"
    return f"{known}, or an older one" if more else known


REQUESTS: tuple[type[Request[Any]], ...] = (Act,)
