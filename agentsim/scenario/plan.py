"""PlayerPlan: one seat with everything decided, and what a history and a journal keep of it.

How the tables of a TOML become plans is `seats`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from agentsim.scenario.model_name import ModelName
from agentsim.scenario.players import ModelSettings

__all__ = ["PlayerPlan", "SeatRecord"]


class SeatRecord(ModelSettings):
    """A plan as it is stored: flat, and without paths."""

    id: str
    model: str
    client_kwargs: dict[str, JsonValue]
    prompt: str | None
    called: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerPlan:
    """Who sits where: a player, or staff with an id such as `@summarizer`.

    `model` holds no directory: of `script:` and weight files it names the file alone, which `path` finds.
    `prompt` is the persona, its placeholders filled in; `called` what the game calls the player where that is
    not the id. `client_kwargs` goes into the call as it is. `key` is where
    the file names the model; a restored plan has none.
    """

    id: str
    model: str
    settings: ModelSettings
    client_kwargs: Mapping[str, JsonValue] = field(default_factory=dict)
    prompt: str | None = None
    called: str | None = None
    path: Path | None = None
    key: str = field(default="", compare=False)

    @property
    def name(self) -> ModelName:
        """The model's name taken apart."""
        return ModelName.parse(self.model)

    @property
    def name_in_game(self) -> str:
        """What the game and the other players call this one."""
        return self.called or self.id

    def record(self) -> dict[str, Any]:
        """What a history stores, in a fixed order of keys."""
        return {
            "id": self.id,
            "model": self.model,
            **self.settings.model_dump(mode="json"),
            "client_kwargs": dict(self.client_kwargs),
            "prompt": self.prompt,
            **({} if self.called is None else {"called": self.called}),
        }

    @classmethod
    def restore(cls, record: SeatRecord, path: Path | None) -> PlayerPlan:
        """The plan that `record()` came from."""
        settings = ModelSettings(**{name: getattr(record, name) for name in ModelSettings.model_fields})
        return cls(
            id=record.id,
            model=record.model,
            settings=settings,
            client_kwargs=record.client_kwargs,
            prompt=record.prompt,
            called=record.called,
            path=path,
        )
