"""Actions: the ten things that an agent can do, as a reply spells them. What comes of them is `action_handler`.

Lengths, and ranges that depend on the society, are limits of the request (`requests`).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, get_args

from pydantic import BeforeValidator, Field, field_serializer

from agentsim.engine.number import whole
from agentsim.engine.reading import Decision
from agentsim.games.society.terms import Positive, ProposalType, Resource, Term, Terms, plain

WorkType: TypeAlias = Literal["farm", "generate", "gather"]
VoteCast: TypeAlias = Literal["yes", "no", "abstain"]


def _nothing_is_no_words(value: Any) -> Any:
    return "" if value is None else value


def _nothing_is_no_terms(value: Any) -> Any:
    return () if value is None else value


Id: TypeAlias = Annotated[int, Field(ge=1), BeforeValidator(whole)]
Why: TypeAlias = Annotated[str, BeforeValidator(_nothing_is_no_words)]


class ForumPost(Decision):
    action: Literal["forum_post"] = "forum_post"
    content: str


class ForumReply(Decision):
    action: Literal["forum_reply"] = "forum_reply"
    parent_message_id: Id
    content: str


class DirectMessage(Decision):
    action: Literal["direct_message"] = "direct_message"
    recipient_agent_id: Id
    content: str


class CreateProposal(Decision):
    action: Literal["create_proposal"] = "create_proposal"
    title: str
    description: str
    proposal_type: ProposalType
    terms: Annotated[Terms, BeforeValidator(_nothing_is_no_terms)] = ()

    @field_serializer("terms")
    def _as_spelt(self, terms: tuple[Term, ...]) -> list[dict[str, Any]]:
        return plain(terms)


class Vote(Decision):
    action: Literal["vote"] = "vote"
    proposal_id: Id
    vote: VoteCast
    reasoning: Why = ""


class Work(Decision):
    action: Literal["work"] = "work"
    work_type: WorkType
    hours: Annotated[int, Field(ge=1, le=24), BeforeValidator(whole)]


class Trade(Decision):
    """A gift, to an agent or, with recipient 0, to the common pool."""

    action: Literal["trade"] = "trade"
    recipient_agent_id: Annotated[int, Field(ge=0), BeforeValidator(whole)]
    resource_type: Resource
    amount: Positive


class Contribute(Decision):
    action: Literal["contribute"] = "contribute"
    project_id: Id
    amount: Positive


class SetName(Decision):
    action: Literal["set_name"] = "set_name"
    display_name: str


class Idle(Decision):
    action: Literal["idle"] = "idle"
    reasoning: Why = ""


class Rejected(Decision):
    """What a reply comes to in which no valid action can be read; no reply can ask for it.

    `given` is the object that was rejected, as JSON; empty where there was none to read.
    """

    action: Literal["rejected"] = "rejected"
    reason: str
    given: str = ""


Spoken: TypeAlias = (
    ForumPost | ForumReply | DirectMessage | CreateProposal | Vote | Work | Trade | Contribute | SetName | Idle
)
Action: TypeAlias = Annotated[Spoken | Rejected, Field(discriminator="action")]
ACTIONS: dict[str, type[Decision]] = {kind.model_fields["action"].default: kind for kind in get_args(Spoken)}
NAMES = tuple(ACTIONS)


class Acted(Decision):
    """The one decision of the game: what an agent does in this turn."""

    action: Action


class Said(Decision):
    """What a reply is asked for: an action, as one of the ten."""

    action: Annotated[Spoken, Field(discriminator="action")]
