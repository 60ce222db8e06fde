"""Answers: the parts of what players write in JSON, as all chapters read them. What each decides is the chapter's."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from agentsim.engine.number import WholeNumber
from agentsim.engine.reading import Decision


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
