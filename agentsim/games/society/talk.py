"""Posts, replies, direct messages, and the names that agents choose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from agentsim.engine.event import NAMED, Interaction, InteractionRule, Past, PlayerId
from agentsim.engine.letters import without_joiners
from agentsim.engine.wording import If, Naming
from agentsim.games.society.names import misnomer
from agentsim.games.society.turn import Action, AgentEvent, Daily, Id, Known, Turn
from agentsim.patterns import Pattern

MOST_MENTIONED = 10
_NUMBER = r"#?[1-9][0-9]{0,5}(?![0-9])"
_MENTION = Pattern(
    rf"[#@]{_NUMBER}|\bagent[ :_-]{{0,2}}{_NUMBER}|\bagents[ :]{{0,2}}{_NUMBER}(?:(?:,? (?:and|or|&) |, ?){_NUMBER})*",
    re.IGNORECASE,
)


class Posted(
    Daily,
    label="post",
    heading=("Agent #{agent}: post {post}", If("parent", ", a reply to {parent}")),
    words="text",
    concerns=("mentions",),
    interactions=(InteractionRule("agent", "mentions", NAMED),),
):
    """An agent posts: `parent` is the post that it replies to, `mentions` are other agents that it names."""

    post: int
    agent: int
    parent: int | None
    mentions: tuple[int, ...]
    text: str

    def concerned(self, past: Past) -> Iterator[PlayerId | int]:
        """Yield the agents that the post mentions, and the author of the post that it replies to."""
        yield from self.mentions
        if (answered := self._answered(past)) is not None:
            yield answered.agent

    def _answered(self, past: Past) -> Posted | None:
        return None if self.parent is None else past.last(Posted, post=self.parent)

    def interactions_by_number(self, past: Past) -> Iterator[Interaction]:
        if (answered := self._answered(past)) is not None:
            yield Interaction(str(self.agent), str(answered.agent), "replied to")
        yield from super().interactions_by_number(past)


class ForumPost(Action, needs=("talk",)):
    action: Literal["forum_post"] = "forum_post"
    content: str

    def happen(self, turn: Turn) -> None:
        post(turn, None, self.content)


class ForumReply(Action, needs=("talk",)):
    action: Literal["forum_reply"] = "forum_reply"
    parent_message_id: Id
    content: str

    def why_not(self, known: Known) -> str:
        return "" if self.parent_message_id <= known.posts else f"there is no post {self.parent_message_id}"

    def happen(self, turn: Turn) -> None:
        post(turn, self.parent_message_id, self.content)


def post(turn: Turn, parent: int | None, content: str) -> None:
    """Add a post and tell all players.

    Agents that the text names are mentioned: at most the first `MOST_MENTIONED`, without the author.
    """
    text = content.strip()
    number = turn.state.forum.post(turn.day, turn.agent, turn.citizen.name, parent, text)
    turn.count("posts")
    mentions = [agent for agent in mentioned(text, turn.state.naming) if agent <= turn.rules.agents][:MOST_MENTIONED]
    others = tuple(agent for agent in mentions if agent != turn.agent)
    turn.tell(Posted(turn.day, number, turn.agent, parent, others, text))


def mentioned(text: str, naming: Naming) -> dict[int, None]:
    """Return the agents that a text names, once each: those named by number, then those named by name.

    `#3`, `@3`, `agent 3` and `agents 3 and 4` are numbers. A name is a whole word in its own spelling.
    """
    numbers = (int(digits) for found in _MENTION.finditer(text) for digits in re.findall(r"[0-9]+", found[0]))
    return dict.fromkeys([*numbers, *map(int, naming.named(text))])


class MessageSent(
    AgentEvent,
    kind="message",
    heading="Agent #{agent} to agent #{recipient}",
    words="text",
    private=("agent", "recipient"),
    interactions=(InteractionRule("agent", "recipient", "wrote to"),),
):
    """A direct message; only its two agents hear it."""

    recipient: int
    text: str


class DirectMessage(Action, needs=("talk",)):
    action: Literal["direct_message"] = "direct_message"
    recipient_agent_id: Id
    content: str

    def why_not(self, known: Known) -> str:
        return known.no_company(self.recipient_agent_id)

    def happen(self, turn: Turn) -> None:
        other = turn.state.citizen(self.recipient_agent_id)
        turn.count("messages")
        turn.tell_alone(MessageSent(turn.day, turn.agent, other.number, self.content.strip()), other)


class Renamed(AgentEvent, label="choice of a name", heading="Agent #{agent} chooses a name", words="name"):
    name: str


class SetName(Action):
    action: Literal["set_name"] = "set_name"
    display_name: str

    @property
    def name(self) -> str:
        """The name without surplus spaces, and without joiners, which are invisible and could imitate another name."""
        return " ".join(without_joiners(self.display_name).split())

    def why_not(self, known: Known) -> str:
        return misnomer(self.name, known.agent, known.rules.agents, known.names)

    def happen(self, turn: Turn) -> None:
        turn.state.rename(turn.citizen, self.name)
        turn.tell(Renamed(turn.day, turn.agent, self.name))
