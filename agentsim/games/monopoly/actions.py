"""Actions: what players decide, in the JSON that they write. Whether an action is legal is `bundle` and `trade`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from agentsim.engine.number import WholeNumber
from agentsim.engine.reading import Decision
from agentsim.games.monopoly.board import HOTEL


def _id(value: Any) -> Any:
    """Ids are texts, and those that are numbers are often written as such."""
    return str(value) if type(value) is int else value


def _word(value: Any) -> Any:
    """A choice in any case, with blanks for underscores; whether it is open is for the request to say."""
    return "_".join(value.casefold().split()) if isinstance(value, str) else value


Word: TypeAlias = Annotated[str, BeforeValidator(_word)]
Position: TypeAlias = Annotated[WholeNumber, WithJsonSchema({"type": "integer", "minimum": 0, "maximum": 39})]
# What is written in lists is bounded where a model's sampling can be: some small ones never come to an end.
Building: TypeAlias = Annotated[Literal["house", "hotel"], BeforeValidator(_word)]
Deeds: TypeAlias = Annotated[tuple[Position, ...], Field(json_schema_extra={"maxItems": 28})]
_LEVELS = Field(default=(), json_schema_extra={"maxItems": 40})


def _given(value: Any) -> Any:
    """An object without what is null in it, which says as little as what is left out."""
    return {name: part for name, part in value.items() if part is not None} if isinstance(value, dict) else value


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)

    _without_nulls = model_validator(mode="before")(_given)


class Reacted(Decision):
    """Words alone, public and private: what is left where nothing is to be decided."""

    private_thought: str = ""
    public_speech: str = ""

    _without_nulls = model_validator(mode="before")(_given)


class Spoken(Decision):
    """An action, and the words that come with it, public and private."""

    private_thought: str = ""
    action: Any
    public_speech: str = ""

    _without_nulls = model_validator(mode="before")(_given)


class StandIn(Decision):
    """The narrator's lines in place of a player's words, which a fallback alone has: for the table, and for the log.

    Replies are never read as one, so that no player can speak as the narrator.
    """

    narrated: str = ""
    noted: str = ""


def building(level: int) -> Literal["house", "hotel"]:
    """What stands there as the last of so many levels, from 1."""
    return "hotel" if level == HOTEL else "house"


class Build(_Part):
    """One level more on the lot at this position."""

    position: Position
    type: Building = "house"


class Sale(_Part):
    """One level less on the lot at this position: a house, or the hotel, which leaves four houses."""

    position: Position
    type: Building = "house"


class Bundle(_Part):
    """What a player does with its estate in one go, by positions; carried out in this order of the fields."""

    sells: tuple[Sale, ...] = _LEVELS
    mortgages: Deeds = ()
    unmortgages: Deeds = ()
    builds: tuple[Build, ...] = _LEVELS

    @property
    def empty(self) -> bool:
        """Whether nothing is done."""
        return not (self.sells or self.mortgages or self.unmortgages or self.builds)


class Side(_Part):
    """What one side of a trade gives: deeds by position, dollars, cards out of jail."""

    properties: Deeds = ()
    cash: WholeNumber = 0
    jail_cards: WholeNumber = 0

    @property
    def empty(self) -> bool:
        """Whether it gives nothing."""
        return not (self.properties or self.cash or self.jail_cards)


class Proposal(_Part):
    """A trade that is proposed, or that none is."""

    propose_trade: bool = False
    target_player: Annotated[str | None, BeforeValidator(_id)] = None
    offer: Side = Side()
    request: Side = Side()
    pitch: str = ""


class Raise(_Part):
    """How a debtor raises money: by selling and mortgaging, or by a trade."""

    sells: tuple[Sale, ...] = _LEVELS
    mortgages: Deeds = ()
    trade: Proposal = Proposal()

    @property
    def bundle(self) -> Bundle:
        """Its part that needs no other player."""
        return Bundle(sells=self.sells, mortgages=self.mortgages)


class StakedBid(_Part):
    """A bid in dollars; 0 withdraws."""

    bid: WholeNumber


class Bought(Spoken):
    """Buy at the printed price, or let it go to auction."""

    action: Word


class Bid(Spoken):
    """A bid, or 0."""

    action: StakedBid


class Proposed(Spoken):
    """A trade, or none."""

    action: Proposal


class Answered(Spoken):
    """`accept` or `reject`."""

    action: Word


class JailChoice(Spoken):
    """`pay_fine`, `use_card`, `roll_doubles` or `manage`."""

    action: Word


class Managed(Spoken):
    """What is done with an estate, or nothing."""

    action: Bundle


class Raised(Spoken):
    """How a debt is met."""

    action: Raise
