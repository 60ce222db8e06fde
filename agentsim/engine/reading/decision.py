"""Decision: base of what players decide, and the record of how one was read. How a reply is read stands in `reader`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict

__all__ = ["Decision", "Reading"]


class Decision(BaseModel):
    """Base of what players decide: frozen, JSON both ways; keys it does not know are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


D = TypeVar("D", bound=Decision)


@dataclass(frozen=True, slots=True)
class Reading(Generic[D]):
    """A decision, the stage that found it, and how many places of the reply claim to be one.

    Stages: `json`, `fenced`, `embedded`, `repaired` (objects); `tag`, `label`, `sentence`, `bare`; `words` (prose that
    is the answer), `cut` (such prose, ended at its last whole sentence); `rejected` (a game's own verdict).
    `checked` says that the request has been asked already whether the decision is legal.
    """

    decision: D
    stage: str
    candidates: int = 1
    repaired: bool = False
    checked: bool = False
