"""Talk: posts, replies, direct messages, and the names that agents choose. The posts themselves are kept by `forum`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from agentsim.engine.event import NAMED, Event, Interaction, Past
from agentsim.engine.template import If
from agentsim.games.society.forum import mentioned
from agentsim.games.society.founding import towards
from agentsim.games.society.names import misnomer
from agentsim.games.society.turn import Action, Id, Known, Turn, no_company


class Posted(Event, heading=("Agent #{agent}: post {post}", If("parent", ", a reply to {parent}")), words="text"):
    """`parent` is the post that this one replies to; `mentions` are agents named by number."""

    day: int
    post: int
    agent: int
    parent: int | None
    mentions: tuple[int, ...]
    text: str

    def interactions(self, past: Past) -> Iterator[Interaction]:
        answered = None if self.parent is None else past.last(Posted, post=self.parent)
        if answered is not None:
            yield from towards(past, self.agent, answered.agent, "replied to")
        for agent in self.mentions:
            yield from towards(past, self.agent, agent, NAMED)


class ForumPost(Action):
    action: Literal["forum_post"] = "forum_post"
    content: str

    def happen(self, turn: Turn) -> None:
        _post(turn, None, self.content)


class ForumReply(Action):
    action: Literal["forum_reply"] = "forum_reply"
    parent_message_id: Id
    content: str

    def why_not(self, known: Known) -> str:
        return "" if known.has_post(self.parent_message_id) else f"there is no post {self.parent_message_id}"

    def happen(self, turn: Turn) -> None:
        _post(turn, self.parent_message_id, self.content)


def _post(turn: Turn, parent: int | None, content: str) -> None:
    citizen = turn.citizen
    post = turn.state.forum.post(turn.day, citizen.number, citizen.name, parent, content.strip())
    turn.count("posts")
    named = tuple(agent for agent in mentioned(post.text, turn.rules.agents) if agent != citizen.number)
    turn.tell(Posted(turn.day, post.id, citizen.number, parent, named, post.text))


class MessageSent(Event, kind="message", heading="Agent #{agent} to agent #{recipient}", words="text"):
    """A direct message: its two agents alone hear it."""

    day: int
    agent: int
    recipient: int
    text: str

    def interactions(self, past: Past) -> Iterator[Interaction]:
        return towards(past, self.agent, self.recipient, "wrote to")


class DirectMessage(Action):
    action: Literal["direct_message"] = "direct_message"
    recipient_agent_id: Id
    content: str

    def why_not(self, known: Known) -> str:
        return no_company(known, self.recipient_agent_id)

    def happen(self, turn: Turn) -> None:
        other = turn.state.citizen(self.recipient_agent_id)
        turn.count("messages")
        turn.tell_alone(MessageSent(turn.day, turn.agent, other.number, self.content.strip()), other)


class Renamed(Event, heading="Agent #{agent} chooses a name", words="name"):
    day: int
    agent: int
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
