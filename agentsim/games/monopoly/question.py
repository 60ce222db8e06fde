"""Questions: the base of all requests: the board, the memory, and words beside the action.

A prompt is in the order in which its parts change: the rules never do, the history only grows, the state is always new.
A player's words are one line of JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from types import new_class
from typing import Annotated, Any, ClassVar, Generic, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from agentsim.engine import Options, Text
from agentsim.engine.codec import computed_once
from agentsim.engine.decision import Decision, WholeNumber
from agentsim.engine.options import FieldOverride
from agentsim.engine.request import Request
from agentsim.engine.wording import Prompt, counted
from agentsim.games.monopoly.board import DEEDS, SPACES
from agentsim.games.monopoly.config import LONGEST_WORD
from agentsim.games.monopoly.rules_text import rules, state_lines
from agentsim.games.monopoly.state import Seat, View
from agentsim.games.monopoly.talk import Memory, Offer

_POSITIONS = {SPACES[position].name: position for position in DEEDS}


# -- what is answered

A = TypeVar("A")


def word(value: Any) -> Any:
    """Return a choice in lower case with underscores for blanks; the request checks whether it is open."""
    return "_".join(value.casefold().split()) if isinstance(value, str) else value


def _given(value: Any) -> Any:
    """Return an object without its nulls, which mean the same as fields left out."""
    return {name: part for name, part in value.items() if part is not None} if isinstance(value, dict) else value


Word: TypeAlias = Annotated[str, BeforeValidator(word)]
"""The name of a choice, in any case, and with blanks or underscores: "Sell house" is `sell_house`."""
Position: TypeAlias = Annotated[WholeNumber, WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 39})]
# Lists are bounded as far as a model's sampling can be: some small models never end one.
Deeds: TypeAlias = Annotated[tuple[Position, ...], Field(json_schema_extra={"maxItems": 28})]


class Part(BaseModel):
    """Base of the objects within a decision."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    _without_nulls = model_validator(mode="before")(_given)


class Reacted(Decision):
    """An answer of words alone, public and private, to a question without a decision."""

    private_thought: str = ""
    public_speech: str = ""

    _without_nulls = model_validator(mode="before")(_given)


class Spoken(Decision, Generic[A]):
    """An action, with a private thought and a public speech."""

    private_thought: str = ""
    action: A
    public_speech: str = ""

    _without_nulls = model_validator(mode="before")(_given)


class StandIn(Decision):
    """The narrator's lines in place of a player's words, in fallbacks: `narrated` for the table, `noted` for the log.

    Replies are never read as one, so that no player can speak as the narrator.
    """

    narrated: str = ""
    noted: str = ""


S = TypeVar("S", bound=Spoken[Any] | Reacted)


@cache
def _standing_in(answer: type[Any]) -> Any:
    """Return the class of an answer with the narrator's lines beside it."""
    return new_class(f"{answer.__name__}StandIn", (answer, StandIn))


# -- what is asked


USUAL_WORDS, USUAL_WORD = 20, 6
"""The words of a speech with which a forecast reckons, and the characters of a word and the space after it."""


@cache
def speech(words: int, about: str = "") -> Text:
    """Return the option of a speech of at most so many words."""
    return Text(words * LONGEST_WORD, about, usual=min(words, USUAL_WORDS) * USUAL_WORD)


@cache
def _spoken(words: int, chars: int) -> Options:
    return {
        "private_thought": Text(chars, "your private thought: why"),
        "public_speech": speech(words, f"what you say to all, at most {counted(words, 'word')}"),
    }


class MonopolyRequest(Request[S]):
    """Base of all requests: the board and the player's memory; `words` and `chars` limit its speech and its thought."""

    unshown: ClassVar[Mapping[str, str]] = {
        "view.active": "whose turn it is follows from the question",
        "view.seats.#.failed": "counts for who is in jail alone",
        "terms.proposer": "of its own trade a player is told the other side",
        "terms.target": "the player itself, where it is asked for an answer",
        "memory.told.#.brief": "hides from a person at a terminal what it has read whole",
    }
    labels: ClassVar[Mapping[str, str]] = {
        "do": "your action",
        "propose_trade": "propose a trade",
        "manage_estate": "build, sell or mortgage",
        "target_player": "the other player",
        "end_phase": "end your actions here",
        "raise_cash": "raise cash",
        "pitch": "your words to the other player",
        "private_thought": "your thought (private)",
        "public_speech": "your words to all",
    }
    schema_name: ClassVar[str | None] = "make_decision"

    view: View
    memory: Memory
    words: int
    chars: int
    max_turns: int
    start_cash: int
    auctioned: bool
    """Whether the last houses and hotels go to the highest bidder."""

    @computed_once
    def seat(self) -> int:
        """The player's number, looked up once because every decision needs it several times."""
        return self.view.seat(self.player)

    @property
    def you(self) -> Seat:
        return self.view.seats[self.seat]

    def options(self) -> Options:
        return {**super().options(), **self.choices(), **_spoken(self.words, self.chars)}

    def choices(self) -> Options:
        """Return the legal actions, if they are few and the state determines them."""
        return {}

    def prompt(self) -> Prompt:
        memory, board = self.memory, state_lines(self.view, self.seat, self.max_turns)
        return Prompt(
            rules=rules(len(self.view.seats), self.start_cash, self.max_turns, self.auctioned),
            history=("[PUBLIC_HISTORY]", *memory.public()),
            state=("[PRIVATE_HISTORY]", *memory.thought(), "[CONTEXT]", *board, *self.trading()),
            question=("[DECISION]", *self.question(), self.answer_line),
        )

    def trading(self) -> Iterator[str]:
        """Yield what the player remembers of trades."""
        return self.memory.refused()

    def question(self) -> tuple[str, ...]:
        """Return the lines that ask for a decision, with every number on which it depends."""
        raise NotImplementedError

    def named_numbers(self) -> Mapping[str, int]:
        return _POSITIONS

    def field_overrides(self) -> Mapping[str, FieldOverride | None]:
        room = {
            "public_speech": f"at most {counted(self.words, 'word')}",
            "private_thought": f"at most {counted(self.chars, 'character')}",
        }
        return {name: FieldOverride(words, preset="") for name, words in room.items()} | dict(self.on_board())

    def on_board(self) -> Iterable[tuple[str, FieldOverride | None]]:
        """Return what the board allows by path of a field, or None if the field cannot matter (`field_overrides`)."""
        return ()

    def fingerprint_fields(self) -> Mapping[str, Any]:
        return {"board": self.view.mark, **super().fingerprint_fields()}

    def fallback(self) -> S:
        """Return what an empty object means, which is to do nothing; some questions have another fallback."""
        return self.silent(action={})

    def silent(self, **action: Any) -> S:
        """Return the decision of a player without a usable answer: the narrator says so, the player nothing."""
        decision: S = _standing_in(self.answer)(
            narrated=f"{self.you.name} is thinking...",
            noted="[Decision made by fallback system due to LLM error]",
            **action,
        )
        return decision


class TradeRequest(MonopolyRequest[S]):
    """Base of the requests in a phase and in a trade: `offers` are the trades proposed and answered `since` a turn."""

    since: int
    offers: tuple[Offer, ...]

    def trading(self) -> Iterator[str]:
        yield f"Trades proposed since turn {self.since}{':' if self.offers else ': none.'}"
        yield from (offer.line for offer in self.offers)
        yield from super().trading()
