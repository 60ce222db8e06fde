"""The tables that describe who plays: `[defaults]`, `[[players]]`, `[staff.<role>]`, and the models they name.

`seats` makes players of them: defaults overlaid, populations counted out, prompts read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from agentsim.engine.prompt import NARRATOR
from agentsim.models.profiles import extra_problem

__all__ = [
    "OWN",
    "PROVIDER",
    "ClientKwargs",
    "ClosedTable",
    "Defaults",
    "ModelName",
    "ModelSettings",
    "PlayerTable",
    "StaffTable",
    "is_provider",
    "legal_id",
    "prefixed",
]

SHAPE = (
    "must be provider/model such as openai/gpt-5-mini, bot/<policy>, human, script:<file> or local/<model>; "
    "--provider P puts P/ before every model name"
)

PROVIDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
OWN = "python:"
"""Before the name of a model that a Python program passes; the program may leave it out."""
_AS_IT_IS = ("bot/", "script:", "local/", OWN)


@dataclass(frozen=True, slots=True)
class ModelName:
    """A name taken apart: `provider` is the first segment of a remote model and empty for the other kinds.

    An `own` model is an object that a Python program passes under the name `rest`.
    """

    kind: Literal["bot", "human", "script", "local", "remote", "own"]
    rest: str
    provider: str = ""

    @classmethod
    def parse(cls, text: str) -> ModelName:
        """The parts of `text`; `ValueError` with the shapes there are."""
        if text == "human":
            return cls("human", "")
        for kind, start in (("bot", "bot/"), ("script", "script:"), ("local", "local/"), ("own", OWN)):
            rest = text.removeprefix(start)
            if rest and rest != text and rest.isprintable() and rest.strip() == rest:
                return cls(kind, rest)  # type: ignore[arg-type]  # mypy widens the tuple's literals to str
        provider, _, rest = text.partition("/")
        if not (is_provider(provider) and rest and rest.isprintable() and not re.search(r"\s", rest)):
            raise ValueError(SHAPE)
        return cls("remote", rest, provider)

    @property
    def gguf(self) -> bool:
        """Whether a file of weights is named, rather than an embedded model."""
        return self.kind == "local" and self.rest.lower().endswith(".gguf")

    @property
    def file(self) -> str | None:
        """The path in the name, where there is one."""
        return self.rest if self.kind == "script" or self.gguf else None


def is_provider(name: str) -> bool:
    """Whether a model's name that begins with it, and a slash, is that of a remote model."""
    return PROVIDER.fullmatch(name) is not None and name not in {"bot", "human", "script", "local"}


def prefixed(name: str, provider: str) -> str:
    """The name under `--provider`: bots, people, scripts and embedded models stay as they are."""
    return name if name == "human" or name.startswith(_AS_IT_IS) else f"{provider}/{name}"


ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$"
RESERVED_IDS = (NARRATOR, "ENGINE", "SYSTEM", "EVERYONE", "ALL")


def legal_id(text: str) -> str:
    """`text`, if a player may be called so; `ValueError` says why not."""
    if not re.fullmatch(ID_PATTERN, text):
        raise ValueError("must be 1 to 32 of the characters A-Z a-z 0-9 _ -, the first a letter or a digit")
    if text.upper() in RESERVED_IDS:
        raise ValueError(f"must not be one of {', '.join(RESERVED_IDS)}, in any case")
    return text


def _model(text: str) -> str:
    ModelName.parse(text)
    return text


def _chain(models: tuple[str, ...]) -> tuple[str, ...]:
    for model in models:
        if len(models) > 1 and ModelName.parse(model).kind in {"bot", "human"}:
            raise ValueError(f"{model} can always be reached, and stands alone: a list is of models that may fail")
        if models.count(model) > 1:
            raise ValueError(f"{model} stands twice in the list")
    return models


PlayerName: TypeAlias = Annotated[str, AfterValidator(legal_id), Field(json_schema_extra={"pattern": ID_PATTERN})]
Model: TypeAlias = Annotated[str, AfterValidator(_model)]
Chain: TypeAlias = Annotated[
    tuple[Model, ...], Field(min_length=1, json_schema_extra={"uniqueItems": True}), AfterValidator(_chain)
]
Temperature: TypeAlias = Annotated[float, Field(ge=0, le=2)]
MaxTokens: TypeAlias = Annotated[int, Field(ge=1, le=10_000_000)]
Seconds: TypeAlias = Annotated[float, Field(ge=0, le=86_400)]
Fault: TypeAlias = Literal["unreadable", "ambiguous", "illegal"]


class ClosedTable(BaseModel):
    """Base of every table: closed to unknown keys, strict about types, finite."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class ClientKwargs(ClosedTable):
    """What is passed through to the client; sampling that agentsim itself accounts for is read from here too."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    temperature: Temperature | None = None
    max_tokens: MaxTokens | None = None

    @model_validator(mode="after")
    def _can_be_sent(self) -> ClientKwargs:
        if problem := extra_problem(self.__pydantic_extra__):
            raise ValueError(problem)
        return self


class ModelSettings(ClosedTable):
    """How a decision is asked for. None where a person is asked: no deadline, any number of re-asks."""

    temperature: Temperature | None = Field(default=None, description="0 to 2; absent: the provider's default")
    max_tokens: MaxTokens | None = Field(
        default=None, description="The most tokens of a reply, thinking included; absent: no cap is sent"
    )
    timeout_s: Annotated[float, Field(gt=0, le=86_400)] | None = Field(
        default=120.0, description="Seconds for one attempt, from dispatch, in which the process runs"
    )
    retries: int = Field(default=1, ge=0, le=100, description="After transport faults")
    reasks: Annotated[int, Field(ge=0, le=100)] | None = Field(
        default=1, description="After bad replies; a game may have a default of its own"
    )
    reask_on: tuple[Fault, ...] = ("unreadable", "ambiguous", "illegal")
    reask_with: Literal["reason", "same"] = "reason"
    repair: bool = Field(default=True, description="Mend the punctuation of a reply's JSON before asking again")
    max_attempts: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=3, description="Retries and re-asks together"
    )
    retry_wait_s: Seconds | Annotated[tuple[Seconds, ...], Field(min_length=1)] = Field(
        default=0.5, description="Seconds: the first back-off, doubling; a list is exact"
    )
    rate_limit_wait_s: Seconds = Field(default=10.0, description="Seconds after a 429 without Retry-After")
    rate_limit_patience_s: Seconds = Field(default=300.0, description="Seconds of waiting on 429s in one decision")


class Defaults(ModelSettings):
    """`[defaults]`: what holds for every player that does not say otherwise."""

    model: Model | Chain | None = Field(
        default=None,
        description="provider/model, bot/<policy>, human, script:<file>, local/<model>; of a list, each takes over for "
        "a decision where those before it cannot be reached",
    )
    prompt: str | None = Field(
        default=None, description="The persona; ${player}, ${players}, ${others}, ${game} are filled in"
    )
    prompt_file: str | None = Field(default=None, description="The persona's file, relative to this one")
    client_kwargs: ClientKwargs | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The models in the order in which they are asked; none where the table names none."""
        return (self.model,) if isinstance(self.model, str) else self.model or ()

    @model_validator(mode="after")
    def _no_key_twice(self) -> Any:
        if len(prompts := self.model_fields_set & {"prompt", "prompt_file", "character_prompt"}) > 1:
            raise ValueError(f"{' and '.join(sorted(prompts))} exclude each other")
        twice = self.client_kwargs.model_fields_set & self.model_fields_set if self.client_kwargs else ()
        if twice:
            raise ValueError(f"{min(twice)} stands both here and in client_kwargs")
        return self


class StaffTable(Defaults):
    """`[staff.<role>]`: a decision maker that is not seated."""


class PlayerTable(Defaults):
    """`[[players]]`: one seat, or `count` of them with numbered ids."""

    id: PlayerName | None = Field(
        default=None,
        description="The player's id; with count, what the numbers are put after; absent: made of prompt_file's name",
    )
    player_id: PlayerName | None = Field(default=None, description="Accepted for id")
    character_prompt: str | None = Field(default=None, description="Accepted for prompt")
    player_type: Literal["ai", "human"] | None = Field(default=None, description='"human": accepted for model "human"')
    memory: Literal["full", "summary"] | None = Field(
        default=None, description="How this player remembers, in a game that has it by player"
    )
    memory_strategy: Literal["none", "summarization"] | None = Field(
        default=None, description='Accepted for memory: "none" is "full", "summarization" is "summary"'
    )
    count: int | None = Field(default=None, ge=1, le=20_000, description="A population: id1, id2, ...")

    @model_validator(mode="after")
    def _one_id(self) -> Any:
        if self.id is None and self.player_id is None and (self.prompt_file is None or self.count is not None):
            raise ValueError("id is missing")
        if self.id is not None and self.player_id is not None:
            raise ValueError("id and player_id are two names of one key")
        if self.memory is not None and self.memory_strategy is not None:
            raise ValueError("memory and memory_strategy are two names of one key")
        return self

    @property
    def name(self) -> str | None:
        """The id under either of its names; None where it is made from the prompt file's name."""
        return self.id or self.player_id
