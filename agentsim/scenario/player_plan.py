"""PlayerPlan: one seat with everything decided: its models, their settings, and its prompt.

`seating` makes plans from the tables of a TOML file.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Field, JsonValue, PlainSerializer, PrivateAttr, WithJsonSchema

from agentsim.engine.codec import StrictTable
from agentsim.errors import ScenarioError
from agentsim.models.base import Level, Sampling
from agentsim.patterns import Pattern
from agentsim.records.history import PlayerRecord

SHAPE = (
    "must be provider/model such as openai/gpt-5-mini, bot/<policy>, human, web, script:<file> or local/<model>; "
    "--provider P puts P/ before every model name"
)
PROVIDER = Pattern(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
PEOPLE = ("human", "web")
"""The model names of people: at this terminal, and at a page of the server."""
OWN = "python:"
"""The prefix of a model that a Python program passes. The program may leave it out."""
_AS_IT_IS = ("bot/", "script:", "local/", OWN)


@dataclass(frozen=True, slots=True)
class ModelName:
    """A parsed model name. `provider` is the first segment of a remote model and empty for other kinds.

    An `own` model is an object that a Python program passes under the name `rest`.
    """

    kind: Literal["bot", "human", "web", "script", "local", "remote", "own"]
    rest: str
    provider: str = ""

    @classmethod
    def parse(cls, text: str) -> ModelName:
        """Parse a model name. Raises `ValueError` with the valid forms."""
        if text in PEOPLE:
            return cls(text, "")  # type: ignore[arg-type]  # the words are those of the literal
        for kind, start in (("bot", "bot/"), ("script", "script:"), ("local", "local/"), ("own", OWN)):
            rest = text.removeprefix(start)
            if rest and rest != text and rest.isprintable() and rest.strip() == rest:
                return cls(kind, rest)  # type: ignore[arg-type]  # mypy widens the tuple's literals to str
        provider, _, rest = text.partition("/")
        if not (is_provider(provider) and rest and rest.isprintable() and not re.search(r"\s", rest)):
            raise ValueError(SHAPE)
        return cls("remote", rest, provider)

    @property
    def file(self) -> str | None:
        """The path in the name of a script or of a file of weights, or None for other models."""
        weights = self.kind == "local" and self.rest.lower().endswith(".gguf")
        return self.rest if self.kind == "script" or weights else None


def is_provider(name: str) -> bool:
    """Return whether a model name that begins with `name` and a slash is that of a remote model."""
    return PROVIDER.fullmatch(name) is not None and name not in {"bot", *PEOPLE, "script", "local"}


def prefixed(name: str, provider: str) -> str:
    """Return the model name with the provider before it. Bots, people, scripts and embedded models keep their names."""
    return name if name in PEOPLE or name.startswith(_AS_IT_IS) else f"{provider}/{name}"


DEFAULT: Final = "default"
"""The value that undoes a setting of `[defaults]`: no value is sent, and the provider's default applies."""


def _taken_back(value: object) -> object:
    return None if value == DEFAULT else value


_Default = WithJsonSchema({"const": DEFAULT, "type": "string"})
Unset: TypeAlias = Annotated[None, BeforeValidator(_taken_back), _Default]
Temperature: TypeAlias = Annotated[float, Field(ge=0, le=2)]
MaxTokens: TypeAlias = Annotated[int, Field(ge=1, le=10_000_000)]
Tokens: TypeAlias = Annotated[int, Field(ge=1, le=1_000_000)]
Seed: TypeAlias = Annotated[int, Field(ge=0, lt=2**31)]
_WhereSet = Field(exclude_if=lambda value: value is None or value is False)
Seconds: TypeAlias = Annotated[float, Field(ge=0, le=86_400)]
ReplyProblem: TypeAlias = Literal["unreadable", "ambiguous", "illegal"]


def numbered(tables: Iterable[tuple[str, int | None]]) -> Iterator[list[str]]:
    """Yield the ids of each table, given its id and count. Populations of the same id are numbered consecutively."""
    so_far: Counter[str] = Counter()
    for name, count in tables:
        first = so_far[name] + 1
        so_far[name] += count or 0
        yield [name] if count is None else [f"{name}{first + member}" for member in range(count)]


class ModelSettings(StrictTable):
    """How a decision is asked for. None where a person is asked: no deadline, any number of re-asks."""

    temperature: Temperature | Unset = Field(default=None, description='Absent or "default": the provider\'s default')
    max_tokens: MaxTokens | Unset = Field(
        default=None, description='Most tokens of a reply, thinking included; absent or "default": no cap is sent'
    )
    timeout_s: Annotated[float, Field(gt=0, le=86_400)] | None = Field(
        default=120.0, description="Seconds for one attempt, from dispatch"
    )
    retries: int = Field(default=1, ge=0, le=100, description="Retries after transport faults")
    reasks: Annotated[int, Field(ge=0, le=100)] | None = Field(
        default=1, description="Re-asks after bad replies; a game may have a default of its own"
    )
    reask_on: tuple[ReplyProblem, ...] = Field(
        default=("unreadable", "ambiguous", "illegal"), description="Which bad replies are asked for again"
    )
    reask_with: Literal["reason", "same"] = Field(
        default="reason",
        description="The second question says why the reply was bad; or is the same, after the wait of a failed call",
    )
    repair: bool = Field(
        default=True,
        description="Mend a reply's JSON before asking again; a game may have a default of its own",
    )
    max_attempts: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=3, description="Retries and re-asks together"
    )
    retry_wait_s: Seconds | Annotated[tuple[Seconds, ...], Field(min_length=1)] = Field(
        default=0.5, description="Seconds: the first back-off, doubling; a list is exact"
    )
    rate_limit_wait_s: Seconds | Annotated[tuple[Seconds, ...], Field(min_length=1)] = Field(
        default=10.0,
        description="Seconds after a 429 without Retry-After; a list is by failures so far, its last repeating",
    )
    rate_limit_jitter_s: Seconds = Field(default=0.0, description="Most random seconds added")
    rate_limit_patience_s: Seconds = Field(default=300.0, description="Seconds of waiting on 429s in one decision")
    count_rate_limits: bool = Field(default=False, description="Whether a 429 is one of `max_attempts`")
    reasoning: Annotated[Level | Tokens | Unset, _WhereSet] = Field(
        default=None,
        description='How much a model thinks: a level or tokens; absent or "default": as the provider has it',
    )
    seed: Annotated[Seed | Unset, _WhereSet] = Field(
        default=None, description='The seed of the provider\'s sampling; absent or "default": none is sent'
    )
    logprobs: Annotated[bool, _WhereSet] = Field(
        default=False, description="Whether tokens' log probabilities are kept"
    )


def _chained(given: object) -> object:
    """Take one model as a chain of one."""
    return (given,) if isinstance(given, str) else tuple(given) if isinstance(given, list) else given


class PlayerPlan(ModelSettings):
    """A seat with everything decided: a player, or staff with an id such as `@summarizer`.

    It is what a journal and a history keep of the seat. Each of the `models` is asked in this order if those before it
    cannot be reached. The names of scripts and of weights are those of the files alone, which `files` finds, one for
    each model or None. `prompt` is the persona, its placeholders filled in; `called` is the player's name in the game
    if that is not the id. `client_kwargs` goes into the call as it is. `key` is the place in the scenario's file that
    names the model, and `idle` the settings of its sampling that no model of it takes; a restored plan has neither.
    """

    model_config = ConfigDict(validate_by_name=True, serialize_by_alias=True)

    id: str
    models: Annotated[
        tuple[str, ...],
        Field(min_length=1, alias="model"),
        BeforeValidator(_chained),
        PlainSerializer(lambda names: names[0] if len(names) == 1 else names),
        WithJsonSchema({"anyOf": [{"type": "string"}, {"items": {"type": "string"}, "minItems": 1, "type": "array"}]}),
    ]
    client_kwargs: dict[str, JsonValue]
    prompt: str | None
    called: Annotated[str | None, _WhereSet] = None
    _files: tuple[Path | None, ...] = PrivateAttr(())
    _key: str = PrivateAttr("")
    _idle: tuple[str, ...] = PrivateAttr(())

    def __eq__(self, other: object) -> bool:
        """Compare what is kept, and the files."""
        return isinstance(other, PlayerPlan) and (self.record(), self.files) == (other.record(), other.files)

    __hash__ = None  # type: ignore[assignment]  # it holds a dictionary

    @property
    def model(self) -> str:
        """The first model."""
        return self.models[0]

    @property
    def files(self) -> tuple[Path | None, ...]:
        """The file of each model, or None."""
        return self._files or (None,) * len(self.models)

    @property
    def file(self) -> Path | None:
        """The file of the first model, or None."""
        return self.files[0]

    @property
    def key(self) -> str:
        """The place in the scenario's file that names the model, or words for it."""
        return self._key or f"the model of {self.id}"

    @property
    def idle(self) -> tuple[str, ...]:
        """The settings of its sampling that no model of it takes."""
        return self._idle

    @property
    def name(self) -> ModelName:
        """The first model's name taken apart."""
        return ModelName.parse(self.model)

    @property
    def names(self) -> tuple[ModelName, ...]:
        """The name of each model taken apart."""
        return tuple(map(ModelName.parse, self.models))

    @property
    def chain(self) -> tuple[PlayerPlan, ...]:
        """The same seat with each of its models alone."""
        return tuple(
            self.model_copy(update={"models": (model,)}).with_files((file,))
            for model, file in zip(self.models, self.files, strict=True)
        )

    @property
    def backup(self) -> PlayerPlan | None:
        """The same seat without its first model, or None if it has no other."""
        return (
            self.model_copy(update={"models": self.models[1:]}).with_files(self.files[1:]) if self.models[1:] else None
        )

    @property
    def title(self) -> str:
        """All models in one line: `openrouter/a > openrouter/b`."""
        return " > ".join(self.models)

    @property
    def sampling(self) -> Sampling:
        """How its models are to sample."""
        return Sampling(
            self.temperature,
            self.max_tokens,
            math.inf if self.timeout_s is None else self.timeout_s,
            self.client_kwargs,
            reasoning=self.reasoning,
            seed=self.seed,
            logprobs=self.logprobs,
        )

    @property
    def name_in_game(self) -> str:
        """The player's name in the game."""
        return self.called or self.id

    def with_files(self, files: Sequence[Path | None], *, key: str = "", idle: Sequence[str] = ()) -> PlayerPlan:
        """Return the plan with the files of its models; further models have none."""
        plan = self.model_copy()
        plan._files = (*files, *[None] * len(self.models))[: len(self.models)]
        plan._key, plan._idle = key or self._key, tuple(idle) or self._idle
        return plan

    def filled(self, bot: str) -> PlayerPlan:
        """Return the seat with a bot in place of its person."""
        settings = dict(ModelSettings())
        return self.model_copy(update={"models": (bot,), **settings})

    @property
    def player_record(self) -> PlayerRecord:
        """The line of a history's players."""
        return PlayerRecord(
            id=self.id,
            model=self.title,
            temperature=self.temperature,
            reasoning=self.reasoning,
            seed=self.seed,
            logprobs=self.logprobs,
            name=self.called,
        )

    def record(self) -> dict[str, Any]:
        """Return what a journal and a history keep of it, in a fixed order of keys."""
        kept = self.model_dump(mode="json")
        return {"id": kept.pop("id"), "model": kept.pop("model"), **kept}


def check_terminal(players: Iterable[PlayerPlan]) -> None:
    """Raise `ScenarioError` if more than one player is at the terminal."""
    people = [plan for plan in players if plan.name.kind == "human"]
    if len(people) > 1:
        raise ScenarioError(
            'one player can be human, at this terminal; others play at pages: model = "web" (docs/people.md)',
            key=people[1].key,
        )
