"""Talk: posts, replies, direct messages, and the names that agents choose. The posts are kept by `commons`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from agentsim.engine.event import NAMED, Interaction, Past, PlayerId
from agentsim.engine.template import If
from agentsim.games.society.founding import towards
from agentsim.games.society.names import misnomer
from agentsim.games.society.turn import Action, Daily, Deed, Id, Known, Turn

MOST_MENTIONED = 10
_MENTION = re.compile(r"#([1-9][0-9]{0,5})(?![0-9])")


class Posted(
    Daily,
    heading=("Agent #{agent}: post {post}", If("parent", ", a reply to {parent}")),
    words="text",
    concerns=("mentions",),
):
    """`parent` is the post that this one replies to; `mentions` are agents named by number."""

    post: int
    agent: int
    parent: int | None
    mentions: tuple[int, ...]
    text: str

    def concerned(self, past: Past) -> Iterator[PlayerId | int]:
        """Those whom it calls, and whom it replies to."""
        yield from self.mentions
        if (answered := self._answered(past)) is not None:
            yield answered.agent

    def _answered(self, past: Past) -> Posted | None:
        return None if self.parent is None else past.last(Posted, post=self.parent)

    def interactions(self, past: Past) -> Iterator[Interaction]:
        if (answered := self._answered(past)) is not None:
            yield from towards(past, self.agent, answered.agent, "replied to")
        for agent in self.mentions:
            yield from towards(past, self.agent, agent, NAMED)


class ForumPost(Action):
    action: Literal["forum_post"] = "forum_post"
    content: str

    def happen(self, turn: Turn) -> None:
        post(turn, None, self.content)


class ForumReply(Action):
    action: Literal["forum_reply"] = "forum_reply"
    parent_message_id: Id
    content: str

    def why_not(self, known: Known) -> str:
        return "" if self.parent_message_id <= known.posts else f"there is no post {self.parent_message_id}"

    def happen(self, turn: Turn) -> None:
        post(turn, self.parent_message_id, self.content)


def post(turn: Turn, parent: int | None, content: str) -> None:
    """Put a post up, and tell all; the first few agents that it names by number, such as #7, are mentioned."""
    new = turn.state.forum.post(turn.day, turn.agent, turn.citizen.name, parent, content.strip())
    turn.count("posts")
    named = dict.fromkeys(int(found[1]) for found in _MENTION.finditer(new.text))
    mentions = [agent for agent in named if agent <= turn.rules.agents][:MOST_MENTIONED]
    others = tuple(agent for agent in mentions if agent != turn.agent)
    turn.tell(Posted(turn.day, new.id, turn.agent, parent, others, new.text))


class MessageSent(
    Deed, kind="message", heading="Agent #{agent} to agent #{recipient}", words="text", private=("agent", "recipient")
):
    """A direct message: its two agents alone hear it."""

    recipient: int
    text: str

    def interactions(self, past: Past) -> Iterator[Interaction]:
        return towards(past, self.agent, self.recipient, "wrote to")


class DirectMessage(Action):
    action: Literal["direct_message"] = "direct_message"
    recipient_agent_id: Id
    content: str

    def why_not(self, known: Known) -> str:
        return known.no_company(self.recipient_agent_id)

    def happen(self, turn: Turn) -> None:
        other = turn.state.citizen(self.recipient_agent_id)
        turn.count("messages")
        turn.tell_alone(MessageSent(turn.day, turn.agent, other.number, self.content.strip()), other)


class Renamed(Deed, heading="Agent #{agent} chooses a name", words="name"):
    name: str


class SetName(Action):
    action: Literal["set_name"] = "set_name"
    display_name: str

    @property
    def name(self) -> str:
        """The name without needless spaces."""
        return " ".join(self.display_name.split())

    def why_not(self, known: Known) -> str:
        return misnomer(self.name, known.agent, known.rules.agents, known.names)

    def happen(self, turn: Turn) -> None:
        turn.state.rename(turn.citizen, self.name)
        turn.tell(Renamed(turn.day, turn.agent, self.name))
