"""Base: what all requests of Monopoly show and take: the board, the memory, and words beside the action."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from types import new_class
from typing import Any, ClassVar, TypeVar

from agentsim.engine.prompt import Prompt
from agentsim.engine.request import Options, Request, Text
from agentsim.games.monopoly import prompts, trade
from agentsim.games.monopoly.actions import Proposal, Reacted, Spoken, StandIn
from agentsim.games.monopoly.board import DEEDS, SPACES
from agentsim.games.monopoly.config import LONGEST_WORD
from agentsim.games.monopoly.estate import Estate
from agentsim.games.monopoly.talk import Memory
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

    @property
    def others(self) -> tuple[str, ...]:
        """The ids of the other players who are still in the game."""
        return tuple([seat.id for seat in self.view.seats if not seat.bankrupt and seat.id != self.player])

    @property
    def aloud(self) -> Text:
        """The room for public words."""
        return Text(self.words * LONGEST_WORD)

    def options(self) -> Options:
        return {**self.choices(), **_spoken(self.words, self.chars)}

    def choices(self) -> Options:
        """The legal actions, where they are few."""
        return {}

    def prompt(self) -> Prompt:
        return prompts.composed(self, (*self.question(), self.answer_line))

    def facts(self) -> tuple[str, ...]:
        return (*prompts.state_lines(self.view, self.seat, self.max_turns), *self.question())

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

    def objection_to(self, proposal: Proposal, estate: Estate, seats: Sequence[SeatView]) -> str:
        """Why the table would discard a proposal; nothing where it would not, or where none is made."""
        terms = trade.terms_of(seats, self.seat, proposal)
        wrong = trade.problem(estate, seats, terms) if proposal.propose_trade else None
        return f"{wrong}." if wrong else ""

    def silent(self, **action: Any) -> S:
        """The decision of a player who gave no usable answer: the player says nothing, the narrator says so."""
        decision: S = _standing_in(self.answer)(
            narrated=f"{self.you.name} is thinking...",
            noted="[Decision made by fallback system due to LLM error]",
            **action,
        )
        return decision
