"""The one request of Society, which each active agent is asked in every tick, and the reading of replies to it.

Every reply is an action: a reply without JSON is a post, and an unreadable reply is a rejected action.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, TypeAlias, get_args

from pydantic import Field, ValidationError

from agentsim.engine import Choice, Decision, Number, Options, Prompt, Request, Text
from agentsim.engine.decision import Reading
from agentsim.engine.markup import first_turn
from agentsim.engine.options import FormField, JsonObject, Kinds, LegalValues, RealNumber, Schema, Several, record_of
from agentsim.engine.wording import counted, cut
from agentsim.errors import DecisionError, IllegalDecision, UnreadableReply, first_objection
from agentsim.games.society.amounts import UNIT, shown
from agentsim.games.society.assembly import RESOURCES, Ballot, ProposalType, kinds
from agentsim.games.society.building import Contribute
from agentsim.games.society.config import Conditions, Rules, WorkType, once
from agentsim.games.society.evening import Idle
from agentsim.games.society.rules_text import composed
from agentsim.games.society.talk import DirectMessage, ForumPost, ForumReply, SetName
from agentsim.games.society.turn import Action, Rejected
from agentsim.games.society.view import Own, World
from agentsim.games.society.voting import CreateProposal, Vote
from agentsim.games.society.work import Trade, Work
from agentsim.patterns import Pattern

# -- actions


_Talk: TypeAlias = ForumPost | ForumReply | DirectMessage
Spoken: TypeAlias = _Talk | CreateProposal | Vote | Work | Trade | Contribute | SetName | Idle
ACTIONS: dict[str, type[Action]] = {kind.model_fields["action"].default: kind for kind in get_args(Spoken)}


def possible(rules: Rules) -> Mapping[str, type[Action]]:
    """Return the actions that exist under these rules, by name."""
    return once(
        rules,
        "_possible",
        lambda: {name: kind for name, kind in ACTIONS.items() if all(getattr(rules, need) for need in kind.needs)},
    )


# -- the request


LONGEST_GIVEN = 2_000  # characters of a rejected object that are kept
_DIRECT: str = DirectMessage.model_fields["action"].default
UNPARSED = "Failed to parse action"

# broken JSON, or JSON without braces: as a post it could tell all agents a private message
_MEANT_AS_ACTION = Pattern(
    r"[{｛]|&#123;|\b(?:direct_message\b|recipient_agent_id\b|action[\"'*_`]{0,3}\s{0,3}[:=][\"'*_`\s]{0,5}[a-z]++(?:_[a-z]*+)?\b)"
    r"|<(?:function|invoke|tool_call|parameter)\b",
    re.IGNORECASE,
)
_MAY_BE_EMPTY = frozenset({"action.description"})
_CUT = frozenset({"action.reasoning", "note"})


class Acted(Decision):
    """The action of an agent in one turn, with an optional note."""

    action: Annotated[Spoken | Rejected, Field(discriminator="action")]
    note: Annotated[str, Field(exclude_if=lambda note: not note)] = ""


class Said(Decision):
    """The shape of a reply: one of the actions."""

    action: Annotated[Spoken, Field(discriminator="action")]


class Noting(Said):
    """The shape of a reply if agents can write notes."""

    note: str


_UNSHOWN: Mapping[str, tuple[str, ...]] = {
    "the rules say it where agents can starve": ("rules.starvation_days",),
    "how a reply is read": ("rules.strict_actions",),
    "each agent is shown its own": ("rules.values",),
    "what a law was proposed as is of no use once it is in force": ("world.laws.#.proposal",),
    "said where there are more": (
        *("world.more_projects", "world.more_proposals", "world.events.older", "world.outcomes.older"),
    ),
    "what counts is when it closes": ("world.proposals.#.day", "you.proposals.#.day"),
    "the rules say it": ("world.rules_in_force.entrenched",),
    "the rules say it, and what it comes to": ("world.rules_in_force.quorum_percent",),
    "each is shown with its law": ("world.rules_in_force.dividends",),
    "each is shown with its law, and the most of them counts": ("world.rules_in_force.minimums",),
    "none is, while it is being built": ("world.projects.#.running",),
    "what of the past is too long for them is counted in its place": ("rules.memory_chars",),
    "what is too long for them is counted in its place": ("rules.prompt_tokens",),
    "its line says it": tuple(f"you.memory.told.#.{name}" for name in ("kind", "own", "other", "about")),
    "what a law paid once it pays no more": ("world.laws.#.terms.#.agents",),
    "what a law repealed is gone": ("world.laws.#.terms.#.law",),
    "the scenario says whether agents are told": ("rules.days",),
}
"""The fields that no prompt shows, by reason."""


class Act(Request[Acted]):
    """What do you do now?

    Every reply is an action, at worst a rejected one, which is a lost decision: the run counts it as a fallback.
    Reading does not check whether an action is possible: the society checks that when the agent's turn comes.
    """

    unshown: ClassVar[Mapping[str, str]] = {path: why for why, paths in _UNSHOWN.items() for path in paths}
    leak_exempt: ClassVar[Mapping[str, str]] = {
        "world.pool": "public, and told in no event where it changes by a law",
        "world.totals": "public, and told in no event",
    }

    any_text: ClassVar[bool] = True
    labels: ClassVar[Mapping[str, str]] = {
        "forum_post": "post in the forum",
        "forum_reply": "reply in the forum",
        "direct_message": "write to an agent",
        "create_proposal": "make a proposal",
        "trade": "give something",
        "contribute": "give materials to a project",
        "set_name": "choose a name",
        "idle": "do nothing",
        "content": "your words",
        "parent_message_id": "number of the post",
        "recipient_agent_id": "number of the agent",
        "proposal_id": "number of the proposal",
        "project_id": "number of the project",
        "proposal_type": "kind of proposal",
        "resource_type": "resource",
        "display_name": "your name",
        "reasoning": "your reason",
        "note": "your note (private)",
    }

    rules: Rules
    world: World
    you: Own

    def options(self) -> Options:
        """Return the options, which are the same for all agents of a game and cached: half the cost of a request."""
        return once(self.rules, "_options", self._options)

    def _options(self) -> Options:
        rules = self.rules
        noted: Options = {"note": Text(rules.note_chars)} if rules.note_chars else {}
        return {
            "action.action": Choice(tuple(possible(rules))),
            "action.content": Text(rules.post_chars),
            "action.recipient_agent_id": Number(0, rules.agents),
            "action.title": Text(rules.title_chars),
            "action.description": Text(rules.description_chars),
            "action.proposal_type": Choice(get_args(ProposalType)),
            "action.vote": Choice(get_args(Ballot)),
            "action.work_type": Choice(get_args(WorkType)),
            "action.hours": Number(1, rules.hours_per_day),
            "action.resource_type": Choice(RESOURCES),
            "action.display_name": Text(rules.name_chars),
            "action.reasoning": Text(rules.post_chars),
            **noted,
        }

    def build_answer_fields(self) -> JsonObject:
        return once(self.rules, "_record", self._record)

    def _record(self) -> JsonObject:
        return record_of(Noting if self.rules.note_chars else Said, self.checked_options)

    def schema(self) -> Schema:
        return once(self.rules, "_schema", super().schema)

    def canonical_options(self) -> str:
        return once(self.rules, "_legal", super().canonical_options)

    def prompt(self) -> Prompt:
        return composed(self.player, self.rules, self.world, self.you, possible(self.rules))

    def fingerprint_fields(self) -> Mapping[str, Any]:
        you, world = self.you, self.world
        return {"day": world.day, "tick": world.tick, "stock": [*you.stock.values(), you.hours]}

    def fallback(self) -> Acted:
        return Acted(action=Idle())

    def check(self, decision: Acted) -> None:
        if decision.action.action not in {"rejected", "idle"}:  # the most frequent ones have no limits to check
            super().check(decision)

    def check_value(self, path: str, option: LegalValues, given: Mapping[str, Any]) -> None:
        """Raise `IllegalDecision` if a text is too long, or empty without leave; reasons and notes are cut instead."""
        if not isinstance(option, Text):
            super().check_value(path, option, given)
        elif path not in _CUT:
            value = given[path]
            if len(value) > option.limit:
                raise IllegalDecision(
                    f"{path} must be at most {counted(option.limit, 'character')}, and has {len(value)}."
                )
            if not value.strip() and path not in _MAY_BE_EMPTY:
                raise IllegalDecision(f"{path} must not be empty.")

    @property
    def conditions(self) -> Conditions:
        """The factors of the yield of the player's work."""
        return Conditions(self.world.bonus, self.you.skills, self.world.shock_percent, self.world.pool.get("commons"))

    # -- a person's form

    def form_field(self, path: str, option: LegalValues, answered: Mapping[str, Any]) -> FormField:
        agents = Number(1, self.rules.agents)
        match path, option:
            case "action.terms", Several(Kinds()):
                return FormField(_carried(option, answered["proposal_type"]))
            case "action.terms.agents", Several():
                return FormField(replace(option, items=agents))
            case "action.terms.hours", Number():
                return FormField(replace(option, high=self.rules.hours_per_day))
            case "action.terms.quorum", Number():
                return FormField(replace(option, high=self.rules.agents))
            case (("action.amount" | "action.terms.amount"), _):
                option = RealNumber(1 / UNIT)
            case _:
                pass
        return FormField(option, _hint(self, path, option, answered))

    # -- a reply

    def parse(
        self, text: str, *, truncated: bool = False, last_attempt: bool = False, repair: bool = True
    ) -> Reading[Acted]:
        """Read a reply as an action; one that is unreadable, doubtful or invalid is a rejected action."""
        try:
            found = super().parse(text, truncated=truncated, last_attempt=True, repair=repair)
        except DecisionError as error:
            why = UNPARSED if isinstance(error, UnreadableReply) else f"{UNPARSED}: {error}"
            return Reading(_rejected(why), "rejected", candidates=0, rejection=type(error)(f"{why}."))
        from agentsim.engine.reading.speech import split

        if found.stage in {"words", "cut"} and _MEANT_AS_ACTION.search(split(first_turn(text))[0]):
            unread = UnreadableReply(f"{UNPARSED}.")
            return Reading(_rejected(UNPARSED), "rejected", candidates=0, rejection=unread)
        if isinstance(action := found.decision.action, Rejected):
            return replace(
                found, stage="rejected", candidates=0, checked=True, rejection=IllegalDecision(action.reason)
            )
        return replace(found, checked=True)

    def fits(self, said: Mapping[str, Any]) -> bool:
        given, _ = self._parts(said)
        kind = self._kind_of(given)
        return kind is not None and given.keys() == kind.model_fields.keys()

    def knows(self, said: Mapping[str, Any]) -> bool:
        given, _ = self._parts(said)
        beside = said if isinstance(said.get("action"), Mapping) else {}
        parts = self.answer_fields.parts
        return parts["action"].knows(given) and beside.keys() <= parts.keys()

    def _parts(self, said: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
        """Return the action's object, which is the answer or its field `action`, and the note inside or beside it."""
        within = said.get("action")
        given = within if isinstance(within, Mapping) else said
        if not self.rules.note_chars or not {*given, *said} & {"note"}:
            return given, ""
        note = given.get("note", said.get("note")) or ""
        words = note if isinstance(note, str) else json.dumps(note, ensure_ascii=False)
        return {name: value for name, value in given.items() if name != "note"}, cut(words, self.rules.note_chars)

    def in_private(self, said: Mapping[str, Any]) -> bool:
        return said.get("action") == _DIRECT

    def may_be_answer(self, said: Mapping[str, Any]) -> bool:
        return not isinstance(self.decision_of(said).action, Rejected)

    def decision_of(self, said: Mapping[str, Any]) -> Acted:
        """Return the action of a JSON object, or a rejected action if it is invalid."""
        given, note = self._parts(said)
        kind = self._kind_of(given)
        if kind is None:
            return _rejected(f"Unknown action: {str(given.get('action'))[:60]}", dict(given))
        try:
            acted = Acted(action=kind.model_validate(given), note=note)  # type: ignore[arg-type] # one of them, by its name
            self.check(acted)
        except ValidationError as error:
            where, why = first_objection(error)
            return _rejected(f"Invalid action data: {where}: {why}", given)
        except DecisionError as error:
            return _rejected(f"Invalid action data: {str(error).removeprefix('action.')}", given)
        return acted

    def decision_of_prose(self, words: str) -> Acted | None:
        """Return a reply in words as a post, or None if actions are strict or talk is off."""
        if self.rules.strict_actions or not self.rules.talk:
            return None
        return Acted(action=ForumPost(content=words[: self.rules.post_chars].strip()))

    def _kind_of(self, said: Mapping[str, Any]) -> type[Action] | None:
        name = said.get("action")
        return possible(self.rules).get(name) if isinstance(name, str) else None


def _rejected(reason: str, given: Any = None) -> Acted:
    """Return a rejected action with its reason, which the author is told."""
    text = "" if given is None else json.dumps(given, ensure_ascii=False)[:LONGEST_GIVEN]
    return Acted(action=Rejected(reason=reason, given=text))


# -- a person's form


def _hint(act: Act, name: str, option: LegalValues, answered: Mapping[str, Any]) -> str:
    """Return a hint on the legal values in this state, or "" if the range of the field says enough."""
    world, you = act.world, act.you
    entries: Mapping[str, tuple[Sequence[Any], int, str]] = {
        "action.proposal_id": ((*world.proposals, *you.proposals), world.more_proposals, "an older one"),
        "action.project_id": (world.projects, world.more_projects, "an older one"),
        "action.terms.law": ((*world.laws, *you.laws), world.more_laws, "an older one"),
    }
    match name:
        case "action.recipient_agent_id" if isinstance(option, Number) and not option.low:
            return f"0 for the common pool, or 1 to {act.rules.agents}"
        case "action.hours":
            return _upto(act.rules.hours_per_day - you.hours, "none are left today")
        case "action.parent_message_id":
            return _upto(max((each.id for each in world.posts), default=0), "there is no post")
        case "action.amount":
            resource = answered.get("resource_type", "materials")
            return f"you hold {shown(you.stock[resource])} {resource}"
        case _:
            return _one_of(*entries[name]) if name in entries else ""


def _carried(option: Several, type_: ProposalType) -> Several:
    """Return the terms that a proposal of this type can carry: none, if it can carry no kind."""
    assert isinstance(option.items, Kinds), "terms are of several kinds"
    carried = {kind: record for kind, record in option.items.kinds.items() if kind in kinds(type_)}
    if not carried:
        return replace(option, upto=0)
    option = replace(option, items=replace(option.items, kinds=carried))
    return replace(option, upto=1) if type_ == "infrastructure" else option


def _upto(most: int, none: str) -> str:
    return f"1 to {most}" if most > 1 else "1" if most == 1 else none


def _one_of(shown: Sequence[Any], more: int, others: str) -> str:
    """Return the ids of the shown items; if `more` is not 0, `others` names the rest."""
    ids = ", ".join(map(str, sorted({each.id for each in shown}))) or "none"
    return f"{ids}, or {others}" if more else ids


REQUESTS: tuple[type[Request[Any]], ...] = (Act,)
