"""Actions: the ten things that an agent can do, as a reply spells them. Each stands in its chapter with what it does.

Lengths, and ranges that depend on the society, are the options of the request.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias, get_args

from pydantic import Field

from agentsim.engine.reading import Decision
from agentsim.engine.request import Choice, Number, Options, Text
from agentsim.games.society.assembly import VoteCast
from agentsim.games.society.building import Contribute
from agentsim.games.society.giving import Trade
from agentsim.games.society.life import Idle
from agentsim.games.society.rules import Rules, WorkType
from agentsim.games.society.talk import DirectMessage, ForumPost, ForumReply, SetName
from agentsim.games.society.terms import RESOURCES, ProposalType
from agentsim.games.society.turn import Action, Rejected
from agentsim.games.society.voting import CreateProposal, Vote
from agentsim.games.society.work import Work

Spoken: TypeAlias = (
    ForumPost | ForumReply | DirectMessage | CreateProposal | Vote | Work | Trade | Contribute | SetName | Idle
)
ACTIONS: dict[str, type[Action]] = {kind.model_fields["action"].default: kind for kind in get_args(Spoken)}


def options_of(rules: Rules) -> Options:
    """The legal values of an action's fields."""
    return {
        "action.action": Choice(tuple(ACTIONS)),
        "action.content": Text(rules.post_chars),
        "action.recipient_agent_id": Number(0, rules.agents),
        "action.title": Text(rules.title_chars),
        "action.description": Text(rules.description_chars),
        "action.proposal_type": Choice(get_args(ProposalType)),
        "action.vote": Choice(get_args(VoteCast)),
        "action.work_type": Choice(get_args(WorkType)),
        "action.hours": Number(1, rules.hours_per_day),
        "action.resource_type": Choice(RESOURCES),
        "action.display_name": Text(rules.name_chars),
        "action.reasoning": Text(rules.post_chars),
    }


class Acted(Decision):
    """The one decision of the game: what an agent does in this turn."""

    action: Annotated[Spoken | Rejected, Field(discriminator="action")]


class Said(Decision):
    """What a reply is asked for: an action, as one of the ten."""

    action: Annotated[Spoken, Field(discriminator="action")]
