"""Templates: fields that are put into words, of dataclasses and of pydantic's models alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import pytest
from pydantic import BaseModel, Field

from agentsim.engine.wording import Worded, filled

Seat: TypeAlias = Annotated[int, Worded("#{}".format)]


@dataclass
class Plain:
    seat: Seat
    seats: tuple[Seat, ...]


class Model(BaseModel):
    seat: Seat
    seats: Annotated[tuple[Annotated[Seat, Field(ge=1)], ...], Field(max_length=3)]


@pytest.mark.parametrize("kind", [Plain, Model])
def test_a_marked_field_is_put_into_words_and_so_is_each_of_a_list(kind: Any) -> None:
    assert filled("{seat}: {seats}", kind(seat=1, seats=(2, 3))) == "#1: #2, #3"
