"""Config: the `[game_config]` table of the auction. Teams and their models are the scenario's players."""

from __future__ import annotations

import json
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema, field_validator, model_validator

from agentsim.engine.game import GameConfig, InFile, SeatsInFolder
from agentsim.games.auction.items import SCHEMA, Item, presentable, read_items
from agentsim.games.auction.state import PRICING, Format, Pricing

ITERATIONS = 10
LONGEST_NAME = 100


def _written_here(value: Any) -> tuple[Item, ...]:
    try:
        return read_items(json.dumps(value))
    except ValueError as error:
        raise ValueError(f"items written here: {error}") from None


Items: TypeAlias = Annotated[
    tuple[Item, ...],
    PlainValidator(_written_here),
    PlainSerializer(lambda items: [item.to_json() for item in items]),
    WithJsonSchema(SCHEMA),
]


class Catalogue(GameConfig):
    """A list of items under the name that tables show as ScenarioID: the stem of its file."""

    scenario: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    items: Items

    @field_validator("scenario")
    @classmethod
    def _can_be_shown(cls, name: str) -> str:
        if not presentable(name):
            raise ValueError("must be visible characters on one line")
        return name

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, value: Any) -> Any:
        parts = InFile.parts(value)
        if parts is None:
            return value
        name, text = parts
        if not 1 <= len(name) <= LONGEST_NAME:
            raise ValueError(f"a name of 1 to {LONGEST_NAME} visible characters before .json would be valid")
        try:
            items = read_items(text)
        except ValueError as error:
            raise ValueError(f"{name}.json: {error}") from None
        return {"scenario": name, "items": [item.to_json() for item in items]}


class BudgetByTeams(GameConfig):
    """A budget that grows with the number of teams."""

    base: Annotated[int, Field(ge=0, le=10**9)]
    per_team: Annotated[int, Field(ge=1, le=10**6)]


class AuctionConfig(GameConfig):
    """The whole table. `max_iterations` and `ask_leader` belong to the ascending format: the others are sealed."""

    called_by_files: ClassVar[bool] = True

    items: Annotated[
        Catalogue | Literal["random"],
        InFile(".json", words=("random",)),
        Field(description='A list of items, or "random": ten required ones and five others, drawn by the seed'),
    ]
    prompts_dir: Annotated[None, SeatsInFolder()] = None
    format: Format = "ascending"
    """How an item is sold: bids that rise in iterations, or one sealed bid a team"""
    budget: Annotated[int, Field(ge=1, le=10**9)] | BudgetByTeams = 1_000
    """What each team begins with, or a table of `base` and `per_team`"""
    max_iterations: Annotated[int, Field(ge=1, le=1_000)] | None = Field(
        default=None, description=f"Of one item in an ascending auction; {ITERATIONS} if absent"
    )
    item_order: Literal["listed", "shuffled"] = "listed"
    """In the order of the list, which the teams see, or in a drawn order, which they are not told"""
    strict_bids: bool = True
    """A reply without a JSON object is a bid of 0 at once; false: it is read and asked again as in every game"""
    hints: bool = False
    """Whether a question says which bids would count, and tells the leader that it may pass"""
    ask_leader: bool = Field(default=True, description="Whether the team with the high bid is asked again")
    reasoning_chars: Annotated[int, Field(ge=20, le=20_000)] = 400
    """Characters of a bid's secret reasoning; the rest is cut"""

    @model_validator(mode="after")
    def _sealed_bids_are_one(self) -> Self:
        if self.pricing.sealed and (self.max_iterations is not None or not self.ask_leader):
            key = "ask_leader" if self.max_iterations is None else "max_iterations"
            raise ValueError(f"{key} is for ascending auctions; each team makes one {self.format} bid an item")
        return self

    def starting_budget(self, teams: int) -> int:
        """Return the budget of each team, given the number of teams."""
        budget = self.budget
        return budget if isinstance(budget, int) else budget.base + budget.per_team * teams

    @property
    def pricing(self) -> Pricing:
        return PRICING[self.format]

    @property
    def iterations(self) -> int:
        """The most iterations of one item."""
        return 1 if self.pricing.sealed else self.max_iterations or ITERATIONS
