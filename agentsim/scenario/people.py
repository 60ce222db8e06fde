"""People: what a scenario says to those who play at pages of the server, and asks them before and after the game."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator

from agentsim.engine.codec import ClosedTable
from agentsim.engine.game import Game
from agentsim.engine.survey import Question
from agentsim.errors import ScenarioError
from agentsim.scenario.player_plan import ModelName, PlayerPlan
from agentsim.scenario.validation import dotted, nearest

Words = Annotated[str, Field(min_length=1, max_length=20_000)]


class PeopleTable(ClosedTable):
    """`[people]`: those who play at pages of the server (`model = "web"`)."""

    consent: Words | None = Field(
        default=None, description="What a person reads and agrees to first; absent: nothing is asked"
    )
    wait_s: Annotated[float, Field(gt=0, le=86_400)] | None = Field(
        default=None,
        description="Seconds after the first person is ready in which the others may come; absent: all are waited for",
    )
    fill_with: str | None = Field(default=None, description="bot/<policy>: the bot that takes a seat that stays empty")
    before: Annotated[tuple[Question, ...], Field(max_length=30)] = Field(
        default=(), description="Questions before the game: [[people.before]]"
    )
    after: Annotated[tuple[Question, ...], Field(max_length=30)] = Field(
        default=(), description="Questions after the game: [[people.after]]"
    )
    completion: Words | None = Field(default=None, description="What stands beside a person's completion code")

    @model_validator(mode="after")
    def _together(self) -> Self:
        if (self.wait_s is None) != (self.fill_with is None):
            raise ValueError("wait_s and fill_with go together: when an empty seat is filled, and with which bot")
        names = [question.name for question in (*self.before, *self.after)]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two questions are called {twice}")
        return self


def admit_people(people: PeopleTable | None, game: Game, players: Sequence[PlayerPlan]) -> None:
    """Raise `ScenarioError` where the table cannot be of these players of this game."""
    if people is None:
        return
    if all(plan.name.kind != "web" for plan in players):
        raise ScenarioError('no player has model = "web"', key="people")
    if people.fill_with is not None:
        try:
            name = ModelName.parse(people.fill_with)
        except ValueError:
            name = None
        if name is None or name.kind != "bot" or name.rest not in game.bots:
            hint, valid = nearest(people.fill_with, [f"bot/{policy}" for policy in game.bots])
            raise ScenarioError(f"must be a bot of {game.name}{hint}", key=dotted(("people", "fill_with")), valid=valid)
