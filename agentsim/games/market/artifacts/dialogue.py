"""Dialogue: messages between agents, which another agent is shown at its next turn and in its inbox."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from agentsim.engine import Event, Everyone, GameConfig, LoggedEvent, Text
from agentsim.engine.event import InteractionRule
from agentsim.engine.menu import ActionRefused
from agentsim.engine.wording import By
from agentsim.games.market.artifact import Answer, Artifact, action, an_agent, query

EVERYONE = "everyone"
MOST_MESSAGES = 100


class DialogueSettings(GameConfig):
    """`[game_config.settings.dialogue]`."""

    message_chars: Annotated[int, Field(ge=20, le=2_000)] = 300
    inbox: Annotated[int, Field(ge=1, le=MOST_MESSAGES)] = Field(default=10, description="Messages that an inbox keeps")


class Messaged(
    Event,
    label="message",
    heading=("{sender} to ", By("to", {None: "all"}, "{to}")),
    words="text",
    interactions=(InteractionRule("sender", "to", "wrote to"),),
    private=("sender", "to"),
):
    """A message; `to` is None if it goes to all."""

    sender: str
    to: tuple[str, ...] | None
    text: str

    def news_for(self, agent: str, by: str | None) -> Mapping[str, Any] | None:
        to_all = {"to": EVERYONE} if self.to is None else {}
        return None if agent == self.sender else {"message_from": self.sender, **to_all, "text": self.text}


class Inbox:
    """The latest messages from others that an agent has heard, oldest first."""

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.messages: deque[dict[str, Any]] = deque(maxlen=MOST_MESSAGES)

    def hear(self, entry: LoggedEvent) -> None:
        match entry.event:
            case Messaged(sender=sender, to=to, text=text) if sender != self.agent:
                to_all = {"to": EVERYONE} if to is None else {}
                self.messages.append({"round": entry.round, "from": sender, "text": text, **to_all})


class Dialogue(Artifact):
    name: ClassVar[str] = "dialogue"
    description: ClassVar[str] = (
        "messages to one agent or to all; each recipient reads them at its next turn. The inbox shows the latest again."
    )
    settings: ClassVar[type[GameConfig]] = DialogueSettings

    @action(
        "send a message",
        to=an_agent(f"who gets it, or {EVERYONE}", EVERYONE),
        text=lambda dialogue: Text(dialogue.config.message_chars, "what it says"),
    )
    def send(self, agent: str, to: str, text: str) -> str:
        if to != EVERYONE and (to == agent or not self.world.known([to])):
            raise ActionRefused(f"{to} is no other agent")
        if to == EVERYONE:
            self.world.tell(Messaged(agent, None, text), to=Everyone)
            return "Sent to all."
        self.world.tell(Messaged(agent, (to,), text), to=(agent, to))
        return f"Sent to {to}."

    @query("the latest messages to you or to all, newest first")
    def inbox(self, agent: str) -> Answer:
        # newest first, because an answer that is too long is cut at the end
        return {"messages": list(reversed(self.world.memory(agent, Inbox).messages))[: self.config.inbox]}
