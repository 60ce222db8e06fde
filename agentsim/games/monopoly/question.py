"""Question: what all requests of Monopoly show and take: the board, the memory, and words beside the action.

A prompt stands in the order in which its parts change: the rules and the printed deeds never do, talk only grows, the
state is new each time. Whatever a player said stands as one line of JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from types import new_class
from typing import Annotated, Any, ClassVar, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from agentsim.engine import Options, Text
from agentsim.engine.decision import Decision, WholeNumber
from agentsim.engine.prompt import Prompt
from agentsim.engine.request import Request
from agentsim.engine.schema import Narrowed
from agentsim.engine.wording import counted
from agentsim.games.monopoly.board import DEEDS, SPACES
from agentsim.games.monopoly.config import LONGEST_WORD
from agentsim.games.monopoly.prompts import rules, state_lines
from agentsim.games.monopoly.state import Seat, View
from agentsim.games.monopoly.talk import Memory

_POSITIONS = {SPACES[position].name: position for position in DEEDS}


# -- what is answered

A = TypeVar("A")


def word(value: Any) -> Any:
    """A choice in any case, with blanks for underscores; whether it is open is for the request to say."""
    return "_".join(value.casefold().split()) if isinstance(value, str) else value


def _given(value: Any) -> Any:
    """An object without what is null in it, which says as little as what is left out."""
    return {name: part for name, part in value.items() if part is not None} if isinstance(value, dict) else value


Word: TypeAlias = Annotated[str, BeforeValidator(word)]
Place: TypeAlias = Annotated[WholeNumber, WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 39})]
# What is written in lists is bounded where a model's sampling can be: some small ones never come to an end.
Deeds: TypeAlias = Annotated[tuple[Place, ...], Field(json_schema_extra={"maxItems": 28})]


class Part(BaseModel):
    """Base of the objects within a decision."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    _without_nulls = model_validator(mode="before")(_given)


class Reacted(Decision):
    """Words alone, public and private: what is left where nothing is to be decided."""

    private_thought: str = ""
    public_speech: str = ""

    _without_nulls = model_validator(mode="before")(_given)


class Spoken(Decision, Generic[A]):
    """An action, and the words that come with it, public and private."""

    private_thought: str = ""
    action: A
    public_speech: str = ""

    _without_nulls = model_validator(mode="before")(_given)


class StandIn(Decision):
    """The narrator's lines in place of a player's words, which a fallback alone has: for the table, and for the log.

    Replies are never read as one, so that no player can speak as the narrator.
    """

    narrated: str = ""
    noted: str = ""


S = TypeVar("S", bound=Spoken[Any] | Reacted)


@cache
def _standing_in(answer: type[Any]) -> Any:
    """The same answer with the narrator's lines beside it."""
    return new_class(f"{answer.__name__}StandIn", (answer, StandIn))


# -- what is asked


@cache
def _spoken(words: int, chars: int) -> Options:
    return {
        "private_thought": Text(chars, "your private thought: why"),
        "public_speech": Text(words * LONGEST_WORD, f"what you say to all, at most {counted(words, 'word')}"),
    }


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
    auctioned: bool
    """Whether the last houses and hotels go to the highest bidder."""

    @cached_property
    def seat(self) -> int:
        """The player's number, looked up once: every decision asks for it several times."""
        return self.view.seat(self.player)

    @property
    def you(self) -> Seat:
        return self.view.seats[self.seat]

    def options(self) -> Options:
        return {**super().options(), **self.choices(), **_spoken(self.words, self.chars)}

    def choices(self) -> Options:
        """The legal actions, where they are few and the state decides them."""
        return {}

    def prompt(self) -> Prompt:
        memory, board = self.memory, state_lines(self.view, self.seat, self.max_turns)
        return Prompt(
            rules=rules(len(self.view.seats), self.max_turns, self.auctioned),
            history=("[PUBLIC_HISTORY]", *memory.public()),
            state=("[PRIVATE_HISTORY]", *memory.thought(), "[CONTEXT]", *board, *memory.refused()),
            question=("[DECISION]", *self.question(), self.answer_line),
        )

    def question(self) -> tuple[str, ...]:
        """What is to be decided, with every number that decides how it goes."""
        raise NotImplementedError

    def named_numbers(self) -> Mapping[str, int]:
        return _POSITIONS

    def narrowed(self) -> Mapping[str, Narrowed | None]:
        room = {
            "public_speech": f"at most {counted(self.words, 'word')}",
            "private_thought": f"at most {counted(self.chars, 'character')}",
        }
        return {name: Narrowed(words, usual="") for name, words in room.items()} | dict(self.on_board())

    def on_board(self) -> Iterable[tuple[str, Narrowed | None]]:
        """What the board says of the action's fields, by path: None of what cannot matter on it (`narrowed`)."""
        return ()

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {"board": self.view.mark, **super().fingerprint_fields()}

    def fallback(self) -> S:
        """What an empty object means, which is to do nothing, where a question has no other."""
        return self.silent(action={})

    def silent(self, **action: Any) -> S:
        """The decision of a player who gave no usable answer: the player says nothing, the narrator says so."""
        decision: S = _standing_in(self.answer)(
            narrated=f"{self.you.name} is thinking...",
            noted="[Decision made by fallback system due to LLM error]",
            **action,
        )
        return decision
