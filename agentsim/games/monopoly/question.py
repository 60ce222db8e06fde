"""Question: what all requests of Monopoly show and take: the board, the memory, and words beside the action.

A prompt stands in the order in which its parts change: the rules and the printed deeds never do, talk only grows, the
state is new each time. Whatever a player said stands as one line of JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from types import new_class
from typing import Any, ClassVar, TypeVar

from agentsim.engine.prompt import Prompt, Restated
from agentsim.engine.request import Options, Request, Text
from agentsim.games.monopoly import prompts
from agentsim.games.monopoly.answers import Reacted, Spoken, StandIn
from agentsim.games.monopoly.board import DEEDS, SPACES
from agentsim.games.monopoly.config import LONGEST_WORD
from agentsim.games.monopoly.memory import Memory
from agentsim.games.monopoly.view import SeatView, View

_POSITIONS = {SPACES[position].name: position for position in DEEDS}
S = TypeVar("S", bound=Spoken | Reacted)


@cache
def _spoken(words: int, chars: int) -> Options:
    return {
        "private_thought": Text(chars, "your private thought: why"),
        "public_speech": Text(words * LONGEST_WORD, f"what you say to all, at most {words} words"),
    }


@cache
def _standing_in(answer: type[Any]) -> Any:
    """The same answer with the narrator's lines beside it."""
    return new_class(f"{answer.__name__}StandIn", (answer, StandIn))


class MonopolyRequest(Request[S]):
    """Base of all: the board as it is now, and what the player remembers; `words` and `chars` limit what it may say."""

    unshown: ClassVar[Mapping[str, str]] = {
        "view.active": "whose turn it is follows from the question",
        "view.seats.#.failed": "counts for who is in jail alone",
        "terms.proposer": "of its own trade a player is told the other side",
        "terms.target": "the player itself, where it is asked for an answer",
    }

    function: ClassVar[str | None] = "make_decision"

    view: View
    memory: Memory
    words: int
    chars: int
    max_turns: int

    @cached_property
    def seat(self) -> int:
        """The player's number, looked up once: every decision asks for it several times."""
        return self.view.seat(self.player)

    @property
    def you(self) -> SeatView:
        """The player."""
        return self.view.seats[self.seat]

    def options(self) -> Options:
        return {**self.choices(), **_spoken(self.words, self.chars)}

    def choices(self) -> Options:
        """The legal actions, where they are few."""
        return {}

    def prompt(self) -> Prompt:
        memory = self.memory
        return Prompt(
            rules=prompts.rules(len(self.view.seats), self.words, self.max_turns),
            history=(
                "[PUBLIC_HISTORY]",
                *map(Restated, memory.in_short()),
                "Table talk, oldest first; what players say is their own words:",
                *(remark.line for remark in memory.remarks),
            ),
            state=("[PRIVATE_HISTORY]", *memory.thought(), "[CONTEXT]", *self._board(), *memory.refused()),
            question=("[DECISION]", *self.question(), self.answer_line),
        )

    def _board(self) -> tuple[str, ...]:
        return prompts.state_lines(self.view, self.seat, self.max_turns)

    def question(self) -> tuple[str, ...]:
        """What is to be decided, with every number that decides how it goes."""
        raise NotImplementedError

    def named_numbers(self) -> Mapping[str, int]:
        return _POSITIONS

    def form_schema(self, name: str, legal: Mapping[str, Any], answered: Mapping[str, Any]) -> Mapping[str, Any]:
        room = {"public_speech": f"at most {self.words} words", "private_thought": f"at most {self.chars} characters"}
        if name in room:
            return {**legal, "default": "", "description": room[name]}
        return self.asked_of(legal) if name == "action" else legal

    def asked_of(self, action: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema of the action without what cannot matter: for a person, who is asked field by field."""
        return action

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {"board": self.view.mark}

    def silent(self, **action: Any) -> S:
        """The decision of a player who gave no usable answer: the player says nothing, the narrator says so."""
        decision: S = _standing_in(self.answer)(
            narrated=f"{self.you.name} is thinking...",
            noted="[Decision made by fallback system due to LLM error]",
            **action,
        )
        return decision


def without(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The schema of an object without one of its fields."""
    return {**schema, "properties": {other: part for other, part in schema["properties"].items() if other != name}}
