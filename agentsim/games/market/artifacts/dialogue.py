"""Dialogue: messages between agents. An agent's words are shown to another when that one asks for its inbox."""

from __future__ import annotations

from collections import deque
from typing import Annotated, Any, ClassVar

from pydantic import Field

from agentsim.engine.event import Everyone
from agentsim.engine.game import GameConfig
from agentsim.engine.schema import Text
from agentsim.games.market.artifact import Answer, Artifact, Refused, action, an_agent, query
from agentsim.games.market.events import Messaged
from agentsim.games.market.world import World

EVERYONE = "everyone"


class DialogueSettings(GameConfig):
    """`[game_config.settings.dialogue]`."""

    message_chars: Annotated[int, Field(ge=20, le=2_000)] = 300
    inbox: Annotated[int, Field(ge=1, le=100)] = Field(default=10, description="Messages that an inbox keeps")


class Dialogue(Artifact):
    name: ClassVar[str] = "dialogue"
    description: ClassVar[str] = (
        "messages to other agents or to all. You are told who has written to you; the inbox shows the latest."
    )
    settings: ClassVar[type[GameConfig]] = DialogueSettings

    def __init__(self, world: World, settings: DialogueSettings) -> None:
        super().__init__(world, settings)
        self._inboxes: dict[str, deque[dict[str, Any]]] = {}
        self._to_all: deque[tuple[int, dict[str, Any]]] = deque(maxlen=settings.inbox)  # kept once, not for each
        self._sent = 0

    @action(
        "send a message",
        to=an_agent(f"who gets it, or {EVERYONE}", EVERYONE),
        text=lambda dialogue: Text(dialogue.config.message_chars, "what it says"),
    )
    def send(self, agent: str, to: str, text: str) -> str:
        if to != EVERYONE and (to == agent or not self.world.known([to])):
            raise Refused(f"{to} is no other agent")
        self._sent += 1
        entry = (self._sent, {"round": self.world.round, "from": agent, "text": text})
        if to == EVERYONE:
            self._to_all.append(entry)
            self.world.tell(Messaged(agent, None, text), to=Everyone)
            self.world.announce(agent, message_from=agent, to=EVERYONE)
            return "Sent to all."
        inbox = self._inboxes.setdefault(to, deque(maxlen=self.config.inbox))
        inbox.append({"sent": self._sent, **entry[1]})
        self.world.tell(Messaged(agent, (to,), text), to=(agent, to))
        self.world.note(to, message_from=agent)
        return f"Sent to {to}."

    @query("the latest messages to you or to all, newest first")
    def inbox(self, agent: str) -> Answer:
        own = [(entry["sent"], entry) for entry in self._inboxes.get(agent, ())]
        public = [(sent, {**entry, "to": EVERYONE}) for sent, entry in self._to_all if entry["from"] != agent]
        # what is too long for an agent is cut at the end, and must not be the news
        latest = sorted([*own, *public], key=lambda pair: pair[0], reverse=True)[: self.config.inbox]
        return {"messages": [{key: entry[key] for key in entry if key != "sent"} for _, entry in latest]}


ARTIFACT = Dialogue
