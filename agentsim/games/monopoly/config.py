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
    """`"official"` sets the keys below, if absent, to the printed rules."""
    questions: Literal["together", "separate"] = "together"
    """One question for trades and the estate, or one for each."""
    raise_first: bool = True
    """Whether a player short of a price or bid may sell and mortgage first."""
    between_turns: BetweenTurns = "when_it_matters"
    """Who acts between turns: players who were sent to jail or were paid and can build; or all, after every roll."""
    house_shortage: Literal["auction", "seat_order"] = "auction"
    """Whether the last houses and hotels are auctioned, or go to the first to ask."""
    lift_on_receipt: bool = True
    """Whether a deed may be unmortgaged when it is received, with the interest paid once."""
    max_turns: Annotated[int, Field(ge=1, le=100_000)] = 1000
    """Turns after which net worth decides."""
    start_cash: Annotated[int, Field(ge=0, le=1_000_000)] = START_CASH
    """What each player begins with."""
    auction: Literal["open", "sealed"] = "open"
    """Ascending bids in turn order, or one bid each, unseen by the others."""
    auction_min_step: Annotated[int, Field(ge=1, le=1000)] = 1
    """Least raise of an open bid, and least opening bid."""
    official_third_turn: bool = False
    """Whether paying before the roll is refused on the third turn in jail."""
    proposals_per_phase: Annotated[int, Field(ge=0, le=10)] = 2
    """Trades proposed before the roll, and as many after it."""
    proposals_per_turn: Annotated[int, Field(ge=0, le=20)] = 4
    """Trades proposed in one turn, doubles included."""
    talk_turns: Annotated[int, Field(ge=1, le=100)] = 10
    """Turns whose talk and offers prompts tell word for word, and turns in one summary."""
    talk_chars: Annotated[int, Field(ge=200, le=1_000_000)] = 24_000
    """Characters of talk in a prompt above which words of earlier turns are cut to 80 characters."""
    personalities: dict[NamedPlayer, Annotated[str, AfterValidator(in_line), Field(min_length=1, max_length=200)]] = (
        Field(default_factory=dict)
    )
    """What others read of a player on its line, by id."""
    speech_words: Annotated[int, Field(ge=1, le=200)] = 30
    """Words of a public speech; the rest is cut, with a mark."""
    thought_chars: Annotated[int, Field(ge=40, le=4000)] = 600
    """Characters of a private thought; the rest is cut, with a mark."""

    @model_validator(mode="before")
    @classmethod
    def _official(cls, values: Any) -> Any:
        official = isinstance(values, Mapping) and values.get("rules") == "official"
        return {**OFFICIAL, **values} if official else values
