"""The tables of a scenario's TOML as pydantic models, and their JSON Schema for editors.

`seating` and `load` check what involves more than one table, such as whether the game has a bot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, field_validator, model_validator
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from agentsim.engine.codec import StrictTable
from agentsim.engine.game import Game, SeatsInFolder
from agentsim.engine.letters import NAME_PATTERN as ID_PATTERN
from agentsim.engine.letters import look_alike, written_name
from agentsim.engine.survey import Interview, SurveyQuestion
from agentsim.engine.wording import NARRATOR
from agentsim.errors import ScenarioError
from agentsim.models.prices import Price
from agentsim.models.profiles import BUILT_IN, ProviderSettings, extra_problem
from agentsim.scenario.player_plan import PEOPLE, MaxTokens, ModelName, ModelSettings, Temperature, Unset, is_provider
from agentsim.scenario.validation import dotted, nearest, validated

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
RESERVED_IDS = (NARRATOR, "ENGINE", "SYSTEM", "EVERYONE", "ALL")
MAX_SEED = 2**63 - 1


_RESERVED = {look_alike(name): name for name in RESERVED_IDS}


def legal_id(text: str) -> str:
    """Return a player's name in NFC. Raises `ValueError` if it is invalid."""
    name = written_name(text)
    if look_alike(name) in _RESERVED:
        raise ValueError(f"must not be one of {', '.join(RESERVED_IDS)}, in any case")
    return name


def is_reserved(name: str) -> bool:
    """Return whether a name is reserved for the narrator or the program."""
    return look_alike(name) in _RESERVED


def _model(text: str) -> str:
    ModelName.parse(text)
    return text


def _chain(models: tuple[str, ...]) -> tuple[str, ...]:
    for model in models:
        if len(models) > 1 and ModelName.parse(model).kind in {"bot", *PEOPLE}:
            raise ValueError(f"{model} can always be reached; a list is for models that may fail")
        if models.count(model) > 1:
            raise ValueError(f"{model} occurs twice in the list")
    return models


PlayerName: TypeAlias = Annotated[str, AfterValidator(legal_id), Field(json_schema_extra={"pattern": ID_PATTERN})]
Model: TypeAlias = Annotated[str, AfterValidator(_model)]
Chain: TypeAlias = Annotated[
    tuple[Model, ...], Field(min_length=1, json_schema_extra={"uniqueItems": True}), AfterValidator(_chain)
]


class ClientKwargs(StrictTable):
    """What is passed through to the client; sampling that agentsim itself accounts for is read from here too."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue]

    temperature: Temperature | Unset = None
    max_tokens: MaxTokens | Unset = None

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        if problem := extra_problem(self.__pydantic_extra__):
            raise ValueError(problem)
        return self


class Defaults(ModelSettings):
    """`[defaults]`: settings of every player, unless its own table has them."""

    model: Model | Chain | None = Field(
        default=None,
        description="provider/model, bot/<policy>, human, web, script:<file>, local/<model>; of a list, each "
        "takes over if those before it cannot be reached",
    )
    prompt: str | None = Field(
        default=None, description="The persona; ${player}, ${players}, ${others}, ${game} are filled in"
    )
    prompt_file: str | None = Field(default=None, description="The persona's file, relative to this one")
    client_kwargs: ClientKwargs | None = Field(
        default=None, description="Fields for the body of every call, as the provider calls them"
    )

    @property
    def models(self) -> tuple[str, ...]:
        """The models in the order in which they are asked, empty if the table has none."""
        return (self.model,) if isinstance(self.model, str) else self.model or ()

    @model_validator(mode="after")
    def _no_key_twice(self) -> Self:
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
        description="The player's name, in any script; with count, numbers follow it; absent: prompt_file's name",
    )
    player_id: PlayerName | None = Field(default=None, description="Accepted for id")
    character_prompt: str | None = Field(default=None, description="Accepted for prompt")
    player_type: Literal["ai", "human"] | None = Field(default=None, description='"human": accepted for model "human"')
    memory: Literal["full", "summary"] | None = Field(
        default=None, description="How this player remembers, if the game has that by player"
    )
    memory_strategy: Literal["none", "summarization"] | None = Field(
        default=None, description='Accepted for memory: "none" is "full", "summarization" is "summary"'
    )
    count: int | None = Field(default=None, ge=1, le=20_000, description="A population: id1, id2, ...")

    @model_validator(mode="after")
    def _one_id(self) -> Self:
        if self.name is None and (self.prompt_file is None or self.count is not None):
            raise ValueError("id is missing")
        for name, other in (("id", "player_id"), ("memory", "memory_strategy")):
            if None not in (getattr(self, name), getattr(self, other)):
                raise ValueError(f"{name} and {other} are two names of one key")
        return self

    @property
    def name(self) -> str | None:
        """The id under either of its keys, or None if it is made from the prompt file's name."""
        return self.id or self.player_id


_Words = Annotated[str, Field(min_length=1, max_length=20_000)]


class PeopleTable(StrictTable):
    """`[people]`: those who play at pages of the server (`model = "web"`)."""

    consent: _Words | None = Field(default=None, description="What a person agrees to first; absent: nothing is asked")
    wait_s: Annotated[float, Field(gt=0, le=86_400)] | None = Field(
        default=None,
        description="Seconds after the first person is ready; absent: all are waited for",
    )
    fill_with: str | None = Field(default=None, description="bot/<policy>: takes seats that stay empty")
    before: Annotated[tuple[SurveyQuestion, ...], Field(max_length=30)] = Field(
        default=(), description="Questions before the game: [[people.before]]"
    )
    after: Annotated[tuple[SurveyQuestion, ...], Field(max_length=30)] = Field(
        default=(), description="Questions after the game: [[people.after]]"
    )
    completion: _Words | None = Field(default=None, description="Text beside a person's completion code")

    @model_validator(mode="after")
    def _together(self) -> Self:
        if (self.wait_s is None) != (self.fill_with is None):
            raise ValueError("wait_s and fill_with go together: when an empty seat is filled, and with which bot")
        names = [question.name for question in (*self.before, *self.after)]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two questions are called {twice}")
        if any(each.among or each.about or each.probabilities for each in (*self.before, *self.after)):
            raise ValueError("among, about and probabilities are of questions in [[interviews]]")
        return self


class Limits(StrictTable):
    """`[limits]`: what stops a run."""

    max_cost_usd: float | None = Field(default=None, ge=0, description="US dollars, checked before each call")
    max_calls: int | None = Field(default=None, ge=0, description="Calls to models, failed ones included")
    max_wall_s: float | None = Field(
        default=None, gt=0, description="Seconds of all sessions together, checked before each call"
    )
    wave_deadline_s: float | None = Field(
        default=None,
        gt=0,
        description="Seconds for the decisions of one wave; a model that is late falls back (`wave_deadline`)",
    )
    concurrency: int = Field(default=16, ge=1, le=10_000, description="Calls in flight at once to each provider")
    max_fallback_rate: float | None = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Share of fallbacks, without bots' decisions, above which a run is degraded: of the run, or of a "
        "player with ten decisions; 1: never",
    )
    on_provider_failure: Literal["stop", "fallback"] = Field(
        default="stop",
        description="After five decisions in a row without an answer or with equal refusals, or a first one without an "
        "answer: stop the run, or go on with fallbacks; a bad key, an unknown model or missing credit always stop it",
    )


class ScenarioTable(StrictTable):
    """The whole file. `game` may come from the command line, so it is not required here."""

    game: str | None = Field(default=None, description="Which game")
    name: str | None = Field(
        default=None,
        pattern=NAME_PATTERN,
        description="Ends the run's name, after the time; `run --name` sets all of it",
    )
    seed: int | None = Field(default=None, ge=0, le=MAX_SEED, description="Drawn and recorded if absent")
    # without validation, for which a validator of each table alone would be built at import
    defaults: Defaults = Field(default=Defaults.model_construct(), description="Settings of every player")
    game_config: dict[str, JsonValue] = Field(default_factory=dict, description="The game's own table")
    limits: Limits = Field(default=Limits.model_construct(), description="Limits that stop a run")
    providers: dict[str, ProviderSettings] = Field(default_factory=dict, description="Endpoints of models")
    prices: dict[str, Price] = Field(default_factory=dict, description="US dollars per million tokens, by model name")
    staff: dict[str, StaffTable] = Field(
        default_factory=dict, description="Models for decisions that belong to no player"
    )
    players: tuple[PlayerTable, ...] = Field(default=(), description="Who plays, in seat order")
    interviews: tuple[Interview, ...] = Field(default=(), description="Surveys at the end of rounds, off the record")
    people: PeopleTable | None = Field(default=None, description="People at pages of the server")

    @classmethod
    def model_validate(cls, obj: Any, **_: Any) -> Self:
        """Validate a mapping with the content of a scenario's file; lists stand for tuples. Raises `ScenarioError`."""
        return validated(cls, obj)

    @field_validator("providers")
    @classmethod
    def _reachable(cls, providers: dict[str, ProviderSettings]) -> dict[str, ProviderSettings]:
        """Check every provider's table, even an unused one, in which a mistyped name would have no effect."""
        for name, settings in providers.items():
            if not is_provider(name):
                raise ValueError(f"no model name can begin with {dotted([name])}/ and mean a provider")
            if name not in BUILT_IN and settings.base_url is None:
                problem = f"a provider of your own needs a base_url{nearest(name, list(BUILT_IN))[0]}"
                raise ScenarioError(problem, key=dotted(("providers", name, "base_url")))
        return providers

    @field_validator("prices")
    @classmethod
    def _of_models(cls, prices: dict[str, Price]) -> dict[str, Price]:
        for name in prices:
            try:
                ModelName.parse(name)
            except ValueError as error:
                raise ValueError(f"{dotted([name])} {error}") from None
        return prices


_DEFS = "#/$defs/"


class _TomlSchema(GenerateJsonSchema):
    """A schema generator that omits null, which TOML does not have, as a type and as a default."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        found = super().default_schema(schema)
        return {key: value for key, value in found.items() if (key, value) != ("default", None)}

    def encode_default(self, dft: Any) -> Any:
        found = super().encode_default(dft)
        return {key: value for key, value in found.items() if value is not None} if isinstance(found, dict) else found


def json_schema(games: Sequence[Game]) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a scenario for these games. `game_config` depends on `game`."""
    schema = schema_of(ScenarioTable, "agentsim scenario")
    definitions = schema.setdefault("$defs", {})
    schema["properties"]["game"] = {"enum": [game.name for game in games], "description": "Which game"}
    definitions["PlayerTable"]["anyOf"] = [{"required": [key]} for key in ("id", "player_id", "prompt_file")]
    conditions = []
    for game in games:
        at = f"{game.name}.game_config"
        own = game.config.model_json_schema(ref_template=f"{_DEFS}{game.name}.{{model}}", schema_generator=_TomlSchema)
        definitions |= {f"{game.name}.{key}": value for key, value in own.pop("$defs", {}).items()} | {at: own}
        then = {"properties": {"game_config": {"$ref": f"{_DEFS}{at}"}}}
        then |= _required(list(game.config.marked(SeatsInFolder)), bool(own.get("required")))
        conditions.append({"if": {"properties": {"game": {"const": game.name}}, "required": ["game"]}, "then": then})
    return schema | ({"allOf": conditions} if conditions else {})


def schema_of(file: type[StrictTable], title: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a kind of TOML file."""
    schema = file.model_json_schema(schema_generator=_TomlSchema)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": title}


def _required(folders: Sequence[str], config: bool) -> dict[str, Any]:
    """Return the schema of a game's required keys: players, in tables or a folder, and `game_config` if `config`."""
    required = ["game_config"] if config else []
    if not folders:
        return {"required": ["players", *required]}
    named = ({"properties": {"game_config": {"required": [key]}}, "required": ["game_config"]} for key in folders)
    return {"anyOf": [{"required": ["players"]}, *named]} | ({"required": required} if required else {})
