"""Decision: base of what players decide, how one was read, and what the reader asks of a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict


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


class Question(Protocol):
    """What the reader goes by, of a request."""

    kind: ClassVar[str]
    leading: ClassVar[bool]
    quotes: ClassVar[frozenset[str]]
    synonyms: ClassVar[Mapping[str, tuple[str, ...]]]
    any_text: ClassVar[bool]

    @property
    def nothing(self) -> Mapping[str, Any]: ...
    @property
    def against(self) -> bool: ...
    def whole_schema(self) -> Mapping[str, Any]: ...
    def decision_of(self, said: Mapping[str, Any]) -> Decision: ...
    def knows(self, said: Mapping[str, Any]) -> bool: ...
    def fits(self, said: Mapping[str, Any]) -> bool: ...
    def counts(self, said: Mapping[str, Any]) -> bool: ...
    def check(self, decision: Any) -> None: ...
    def in_words(self, words: str) -> Decision | None: ...
