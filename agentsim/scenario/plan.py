"""PlayerPlan: one seat with everything decided, and what a history and a journal keep of it.

How the tables of a TOML become plans is `seats`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, JsonValue

from agentsim.scenario.player_tables import ModelName, ModelSettings

__all__ = ["ModelPlan", "PlayerPlan", "SeatRecord"]


class SeatRecord(ModelSettings):
    """A plan as it is stored: flat, and without paths."""

    id: str
    model: str | Annotated[tuple[str, ...], Field(min_length=1)]
    repair: bool = False  # older records have no word of it, and nothing was repaired
    client_kwargs: dict[str, JsonValue]
    prompt: str | None
    called: str | None = None


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """One model of a seat. `model` holds no directory: of `script:` and weight files it names the file alone, which
    `path` finds.
    """

    model: str
    path: Path | None = None

    @property
    def name(self) -> ModelName:
        """The model's name taken apart."""
        return ModelName.parse(self.model)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerPlan:
    """Who sits where: a player, or staff with an id such as `@summarizer`.

    `model` and `path` are those of a `ModelPlan`; `spares` are asked in this order where it cannot be reached.
    `prompt` is the persona, its placeholders filled in; `called` what the game calls the player where that is
    not the id. `client_kwargs` goes into the call as it is. `key` is where the file names the model; a restored plan
    has none.
    """

    id: str
    model: str
    settings: ModelSettings
    client_kwargs: Mapping[str, JsonValue] = field(default_factory=dict)
    prompt: str | None = None
    called: str | None = None
    path: Path | None = None
    spares: tuple[ModelPlan, ...] = ()
    key: str = field(default="", compare=False)

    @property
    def name(self) -> ModelName:
        """The first model's name taken apart."""
        return ModelName.parse(self.model)

    @property
    def models(self) -> tuple[ModelPlan, ...]:
        """Every model in the order in which they are asked."""
        return (ModelPlan(self.model, self.path), *self.spares)

    @property
    def spare(self) -> PlayerPlan | None:
        """The same seat without its first model; None where there is no other."""
        if not self.spares:
            return None
        model, *spares = self.spares
        return replace(self, model=model.model, path=model.path, spares=tuple(spares))

    @property
    def title(self) -> str:
        """All models in one line: `openrouter/a > openrouter/b`."""
        return " > ".join(each.model for each in self.models)

    @property
    def name_in_game(self) -> str:
        """What the game and the other players call this one."""
        return self.called or self.id

    def listed(self) -> dict[str, Any]:
        """A line of the history's players; what the game calls one is there only where it is not the id."""
        line = {"id": self.id, "model": self.title, "temperature": self.settings.temperature}
        return line if self.called is None else {**line, "name": self.called}

    def record(self) -> dict[str, Any]:
        """What a history stores, in a fixed order of keys."""
        settings = self.settings.model_dump(mode="json", exclude=None if self.settings.repair else {"repair"})
        return {
            "id": self.id,
            "model": [each.model for each in self.models] if self.spares else self.model,
            **settings,
            "client_kwargs": dict(self.client_kwargs),
            "prompt": self.prompt,
            **({} if self.called is None else {"called": self.called}),
        }

    @classmethod
    def restore(cls, record: SeatRecord, paths: Sequence[Path | None]) -> PlayerPlan:
        """The plan that `record()` came from; `paths` are those of its models, and may be fewer."""
        names = (record.model,) if isinstance(record.model, str) else record.model
        models = [ModelPlan(name, path) for name, path in zip_longest(names, paths[: len(names)])]
        settings = ModelSettings(**{name: getattr(record, name) for name in ModelSettings.model_fields})
        return cls(
            id=record.id,
            model=models[0].model,
            settings=settings,
            client_kwargs=record.client_kwargs,
            prompt=record.prompt,
            called=record.called,
            path=models[0].path,
            spares=tuple(models[1:]),
        )
