"""Asking: what all questions of this game share. Each question stands in its chapter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, TypeVar

from agentsim.engine.prompt import Prompt
from agentsim.engine.reading import Decision
from agentsim.engine.request import Options, Request, Text
from agentsim.games.agent_island.view import View

D = TypeVar("D", bound=Decision)


class Speech(Decision):
    """Words; empty where a player says nothing."""

    text: str


class IslandRequest(Request[D]):
    """A question to a player with this view: the rules, what it heard, the state, and what it is asked."""

    unshown: ClassVar[Mapping[str, str]] = {
        "view.players": "the rules, which are a text by then, name them",
        "view.jury": "the rules say whether a jury votes",
        "view.tallies.#.abstentions": "told in the event of the tally",
    }

    view: View

    def question(self) -> str:
        """The last paragraph of the prompt, without the shape of the answer."""
        raise NotImplementedError

    def prompt(self) -> Prompt:
        return Prompt(
            rules=(self.view.rules, f"You are player {self.player}."),
            history=("What you have heard so far:", *(line.quoted() for line in self.view.transcript)),
            state=("\n".join(self.view.state(self.player)),),
            question=(f"{self.question()} {self.answer_line}",),
        )


class SpeechRequest(IslandRequest[Speech]):
    """A question that is answered in words: JSON, or plain prose, which cannot be misunderstood here."""

    about: ClassVar[str]
    limit: int

    def options(self) -> Options:
        return {"text": Text(self.limit, self.about, empty=False)}

    def in_words(self, words: str) -> Speech:
        return self.decision_of({"text": words})

    def fallback(self) -> Speech:
        return Speech(text="")
