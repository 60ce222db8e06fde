"""The `[game_config]` table of a game of Monopoly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from agentsim.engine.event import NamedPlayer
from agentsim.engine.game import GameConfig
from agentsim.engine.wording import in_line
from agentsim.games.monopoly.board import START_CASH

LONGEST_WORD = 12
"""Characters per word, on average, that a speech may have whose length is limited in words."""


BetweenTurns: TypeAlias = Literal["never", "when_it_matters", "after_every_roll"]
OFFICIAL: Mapping[str, Any] = {
    "raise_first": True,
    "between_turns": "after_every_roll",
    "house_shortage": "auction",
    "lift_on_receipt": True,
    "official_third_turn": True,
    "auction": "open",
    "auction_min_step": 1,
    "start_cash": START_CASH,
}
"""The values that `rules = "official"` sets for keys that are not given."""


class MonopolyConfig(GameConfig):
    """Amounts are whole dollars. What is no question of taste (the official US rules) is no option."""

    rules: Literal["usual", "official"] = "usual"
    """`"official"` sets the keys below to the printed rules where they are not given."""
    questions: Literal["together", "separate"] = "together"
    """One question for trades and the estate, repeated while something is done, or one for each."""
    raise_first: bool = True
    """Whether a player who is short of a price, or of a bid, may sell and mortgage first."""
    between_turns: BetweenTurns = "when_it_matters"
    """Who acts between turns: those who were sent to jail or were paid and can build; or all, after every roll."""
    house_shortage: Literal["auction", "seat_order"] = "auction"
    """The last houses and hotels that several could build are auctioned, or go to the first to ask (S10)."""
    lift_on_receipt: bool = True
    """Whether a mortgage may be lifted when the deed is received, with the interest paid once (case 125)."""
    max_turns: Annotated[int, Field(ge=1, le=100_000)] = 1000
    """Players' turns after which the game ends and net worth decides."""
    start_cash: Annotated[int, Field(ge=0, le=1_000_000)] = START_CASH
    """What each player begins with."""
    auction: Literal["open", "sealed"] = "open"
    """Ascending bids in turn order, or one bid each, unseen by the others."""
    auction_min_step: Annotated[int, Field(ge=1, le=1000)] = 1
    """The least by which an open bid must pass the one before, and the least opening bid."""
    official_third_turn: bool = False
    """Whether paying before the roll is refused on the third turn in jail (S9)."""
    proposals_per_phase: Annotated[int, Field(ge=0, le=10)] = 2
    """Trades that a player may propose before the roll, and as many after it."""
    proposals_per_turn: Annotated[int, Field(ge=0, le=20)] = 4
    """Trades that a player may propose in one turn, however many doubles it rolls."""
    talk_turns: Annotated[int, Field(ge=1, le=100)] = 10
    """Turns before the current one whose talk and offers prompts tell word for word, and turns in one summary."""
    talk_chars: Annotated[int, Field(ge=200, le=1_000_000)] = 24_000
    """Characters of talk in a prompt above which words of the turns before those are kept to 80 characters."""
    personalities: dict[NamedPlayer, Annotated[str, AfterValidator(in_line), Field(min_length=1, max_length=200)]] = (
        Field(default_factory=dict)
    )
    """What the others read of a player on its line, by id: "aggressive, buys everything"."""
    speech_words: Annotated[int, Field(ge=1, le=200)] = 30
    """Words of a public speech; what is longer is cut, with a mark."""
    thought_chars: Annotated[int, Field(ge=40, le=4000)] = 600
    """Characters of a private thought; what is longer is cut, with a mark."""

    @model_validator(mode="before")
    @classmethod
    def _official(cls, values: Any) -> Any:
        official = isinstance(values, Mapping) and values.get("rules") == "official"
        return {**OFFICIAL, **values} if official else values
