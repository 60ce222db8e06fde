"""Requests of Society: the one question that an active agent is asked in every tick."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from agentsim.engine.options import Option, Subset, Text
from agentsim.engine.prompt import Prompt
from agentsim.engine.reading import Reading, split
from agentsim.engine.request import Options, Request
from agentsim.engine.schema import said, schema_of
from agentsim.engine.wording import sentence
from agentsim.errors import DecisionError, IllegalDecision, UnreadableReply
from agentsim.games.society import prompts
from agentsim.games.society.actions import ACTIONS, Acted, Said, options_of
from agentsim.games.society.amounts import UNIT, shown
from agentsim.games.society.life import Idle
from agentsim.games.society.reading import UNPARSED, action_of, given_in, rejected
from agentsim.games.society.rules import Rules, once
from agentsim.games.society.talk import ForumPost
from agentsim.games.society.terms import ProposalType, kinds
from agentsim.games.society.turn import Rejected
from agentsim.games.society.view import Own, Shown, World

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

    unshown: ClassVar[Mapping[str, str]] = {
        "rules.starvation_days": "the rules say it where agents can starve",
        "rules.strict_actions": "how a reply is read",
        "rules.values": "each agent is shown its own",
        "world.laws.#.proposal": "what a law was proposed as is of no use once it is in force",
        "world.more_projects": "said where there are more",
        "world.more_proposals": "said where there are more",
        "you.notices": "said in words, by kind",
        "you.missed": "said where something was missed",
    }
    unheard: ClassVar[Mapping[str, str]] = {
        "world.pool": "public, and told in no event where it changes by a law",
        "world.totals": "public, and told in no event",
    }

    any_text: ClassVar[bool] = True

    rules: Rules
    world: World
    you: Own

    def options(self) -> Options:
        return once(self.rules, "_options", lambda: options_of(self.rules))

    def schema(self) -> dict[str, Any]:
        """The same for all agents in one game, so made once: it was half of what a question to a model costs."""
        return once(self.rules, "_schema", lambda: schema_of(Said, self.legal))

    def prompt(self) -> Prompt:
        return prompts.composed(self.player, self.rules, self.world, self.you)

    def fingerprint_fields(self) -> Mapping[str, Any]:
        you, world = self.you, self.world
        return {"day": world.day, "tick": world.tick, "stock": [you.food, you.energy, you.materials, you.hours]}

    def check(self, decision: Acted) -> None:
        if decision.action.action not in {"rejected", "idle"}:  # most decisions of a large society: nothing limits them
            super().check(decision)

    def check_value(self, path: str, value: Any, legal: Option | Subset) -> None:
        """Lengths are limits here: an action that breaks one is rejected as a whole. Reasons alone are cut."""
        if not isinstance(legal, Text):
            super().check_value(path, value, legal)
        elif path != "action.reasoning":
            if len(value) > legal.limit:
                raise IllegalDecision(f"{path} must be at most {legal.limit} characters, and has {len(value)}.")
            if not value.strip() and path not in _MAY_BE_EMPTY:
                raise IllegalDecision(f"{path} must not be empty.")

    @property
    def shown(self) -> Shown:
        """What its player is shown, as what decides whether an action holds."""
        return Shown(self.rules, self.world, self.you)

    def warning(self, decision: Acted) -> str:
        action = decision.action
        if isinstance(action, Rejected):
            return action.reason.removeprefix("Invalid action data: ")
        return sentence(action.why_not(self.shown))

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
        known, world = self.shown, self.world
        match name:
            case "action.hours":
                return _upto(known.hours_left) if known.hours_left > 0 else "none are left today"
            case "action.proposal_id":
                return _one_of(known.proposals, world.more_proposals)
            case "action.project_id":
                return _one_of([each.id for each in world.projects], world.more_projects)
            case "action.terms.law":
                return _one_of([each.id for each in (*world.laws, *self.you.laws)], world.more_laws)
            case "action.parent_message_id":
                return _upto(known.latest_post) if world.posts else "there is no post"
            case "action.amount":
                resource = answered.get("resource_type", "materials")
                return f"you hold {shown(known.held(resource))} {resource}"
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
        given = given_in(said)
        name = given.get("action")
        kind = ACTIONS.get(name) if isinstance(name, str) else None
        return kind is not None and given.keys() == kind.model_fields.keys()

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
    if not kinds(type_):
        return {**legal, "maxItems": 0}
    branches = [each for each in legal["items"]["anyOf"] if each["properties"]["kind"]["enum"][0] in kinds(type_)]
    needed = {"minItems": 1, "maxItems": 1} if type_ == "infrastructure" else {}
    return {**legal, **needed, "items": {"anyOf": branches}}


def _upto(most: int) -> str:
    return f"1 to {most}" if most > 1 else "1"


def _one_of(numbers: Sequence[int], more: int) -> str:
    """Which numbers there are; `more` are not shown."""
    known = ", ".join(map(str, sorted(set(numbers)))) or "none"
    return f"{known}, or an older one" if more else known


REQUESTS: tuple[type[Request[Any]], ...] = (Act,)
