"""The actions of an agent, by name, and the ones that the rules of a game allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, get_args

from agentsim.games.society.building import Contribute
from agentsim.games.society.config import once
from agentsim.games.society.evening import Idle
from agentsim.games.society.rules import Rules
from agentsim.games.society.talk import DirectMessage, ForumPost, ForumReply, SetName
from agentsim.games.society.turn import Action
from agentsim.games.society.voting import CreateProposal, Vote
from agentsim.games.society.work import Trade, Work

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
