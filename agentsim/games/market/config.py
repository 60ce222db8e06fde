"""The `[game_config]` table of the market; the scenario names the players and their models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, JsonValue, ValidationError, model_validator

from agentsim.engine import GameConfig
from agentsim.engine.event import NamedPlayer
from agentsim.engine.game import InFile
from agentsim.engine.menu import Tool
from agentsim.errors import first_objection
from agentsim.games.market import artifacts
from agentsim.games.market.restrictions import Restriction, RuleName
from agentsim.games.market.rules_text import problem, used
from agentsim.games.market.world import CAPITAL

ROUNDS = 20
REDEMPTION = "redemption"
CAPITAL_HELD = 100
Name: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,31}$")]
Amount: TypeAlias = Annotated[int, Field(ge=0, le=10**12)]
Price: TypeAlias = Annotated[int, Field(ge=1, le=10**6)]
Units: TypeAlias = Annotated[tuple[Price, ...], Field(min_length=1, max_length=100)]
Goods: TypeAlias = dict[str, Amount]
Asked: TypeAlias = Annotated[str, Field(min_length=1, max_length=2_000)]


def _in_full(given: tuple[RuleName | Restriction, ...]) -> tuple[RuleName | Restriction, ...]:
    return tuple(Restriction(rule=each) if isinstance(each, str) else each for each in given)


Restrictions: TypeAlias = Annotated[tuple[RuleName | Restriction, ...], AfterValidator(_in_full)]

INDUCED = "induced_values"
_PROTOCOLS: dict[str, dict[str, JsonValue]] = {
    "smith_1962": {},
    "gode_sunder_1993": {"quotes": "best", "cancel_after_trade": True},
}


class SystemPrompt(GameConfig):
    """The text of the agents' instructions, with placeholders such as `#!inventory!#`."""

    text: Annotated[str, Field(min_length=1, max_length=50_000)]

    @model_validator(mode="before")
    @classmethod
    def _from_file(cls, value: Any) -> Any:
        parts = InFile.parts(value)
        return value if parts is None else {"text": parts[1]}

    @model_validator(mode="after")
    def _placeholders_are_known(self) -> Self:
        if wrong := problem(self.text):
            raise ValueError(wrong)
        return self


class AgentTable(GameConfig):
    """`[[game_config.agents]]`: what holds for some agents instead of what holds for all."""

    ids: Annotated[tuple[NamedPlayer, ...], Field(min_length=1)]
    capital: Amount | None = None
    goods: Goods | None = None
    values: dict[str, Price] = Field(default={}, description="Private values of a unit, by good")
    goal: Annotated[str, Field(min_length=1, max_length=2_000)] | None = None
    restrictions: Restrictions = ()


class Interview(GameConfig):
    """`[[game_config.moderator]]`: a question before the turns of a round, to all agents where none is named."""

    round: Annotated[int, Field(ge=1, le=100_000)]
    agents: tuple[NamedPlayer, ...] = ()
    question: Asked | Annotated[tuple[Asked, ...], Field(min_length=1, max_length=10)] = Field(
        description="A list is asked in one pause, one after the other"
    )

    @property
    def questions(self) -> Sequence[str]:
        return (self.question,) if isinstance(self.question, str) else self.question


class Trait(GameConfig):
    """`[[game_config.traits]]`: a trait beside working memory, of all agents where none is named."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    text: Annotated[str, Field(min_length=1, max_length=2_000)]
    agents: tuple[NamedPlayer, ...] = ()
    artifacts: tuple[str, ...] = Field(default=(), description="Artifacts that only agents with such a trait can use")
    tools: tuple[Tool, ...] = Field(default=(), description="Tools that only agents with such a trait can use")


_PRIVATE_VALUES = Trait(
    name="private values",
    text="units of some goods have a value to you, which only you are told.",
    artifacts=(REDEMPTION,),
)


class Experiment(GameConfig):
    """`[game_config.experiment]`: traders with private values for their units, renewed every period.

    The first players in the scenario are the buyers, the others the sellers, in the order of these lists.
    """

    kind: Literal["smith_1962", "gode_sunder_1993", "induced_values"] = Field(
        description="The first two are protocols of the marketplace; induced_values holds at any artifact that trades"
    )
    periods: Annotated[int, Field(ge=1, le=100)] = 5
    period_rounds: Annotated[int, Field(ge=1, le=10_000)] = 100
    price_max: Price = 200
    buyers: Annotated[tuple[Units, ...], Field(min_length=1, description="Values of each buyer's units, falling")]
    sellers: Annotated[tuple[Units, ...], Field(min_length=1, description="Costs of each seller's units, rising")]

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        for name, traders, falling in (("buyers", self.buyers, True), ("sellers", self.sellers, False)):
            for index, units in enumerate(traders, start=1):
                if list(units) != sorted(units, reverse=falling):
                    raise ValueError(f"units of {name} {index} must {'fall' if falling else 'rise'}: they go in order")
                if max(units) > self.price_max:
                    raise ValueError(f"units of {name} {index} must not be above price_max, {self.price_max}")
        return self


class MarketConfig(GameConfig):
    """The whole table."""

    reasks: ClassVar[int] = 0
    repair: ClassVar[bool] = False

    goods: tuple[Name, ...] = ("wheat",)
    """What can be owned beside capital"""
    artifacts: Annotated[tuple[str, ...], Field(min_length=1)] = ("marketplace",)
    """The artifacts that agents deal through, in the order of prompts"""
    settings: dict[str, dict[str, JsonValue]] = Field(default={}, description="Of artifacts, by name")
    rounds: Annotated[int, Field(ge=1, le=100_000)] | None = Field(
        default=None, description=f"{ROUNDS} if absent; an experiment has periods instead"
    )
    stable_rounds: Annotated[int, Field(ge=1, le=1_000)] | None = Field(
        default=None, description="Rounds without a trade after which the market ends; absent: never"
    )
    capital: Amount | None = Field(default=None, description=f"What every agent begins with; {CAPITAL_HELD} if absent")
    stock: Goods = Field(default={}, description="Units of goods that every agent begins with")
    agents: tuple[AgentTable, ...] = ()
    """Endowments, private values and goals of single agents"""
    restrictions: Restrictions = ()
    """Rules on actions, for all; single agents have theirs in `agents`"""
    redeem: bool = Field(
        default=True, description="Whether goods can be redeemed at private values, and standings count them so"
    )
    standings: Literal["capital", "wealth", "surplus"] | None = Field(
        default=None, description="Capital if absent, in an experiment surplus; wealth has goods at their last price"
    )
    simultaneous: bool = Field(default=False, description="All agents decide on one state, and act in the drawn order")
    queries: bool = Field(default=True, description="Whether a turn has its query stage")
    ticker: bool | None = Field(
        default=None,
        description="Whether agents see quotes and trades since their last turn; absent: in experiments",
    )
    tools: tuple[Tool, ...] = ()
    """Tools that agents may use in the query stage"""
    tool_calls: Annotated[int, Field(ge=0, le=10)] = Field(default=2, description="At most, in one turn")
    window: Annotated[int, Field(ge=1, le=50)] = Field(default=7, description="Steps of an agent's own information")
    working_memory_chars: Annotated[int, Field(ge=20, le=20_000)] = 600
    """Characters of the text that an agent keeps with every action"""
    observation_chars: Annotated[int, Field(ge=100, le=20_000)] = 4_000
    """Characters of the answer to a query; the rest is cut"""
    answer_chars: Annotated[int, Field(ge=20, le=20_000)] = Field(default=1_000, description="To a moderator")
    lenient_format: bool = Field(default=False, description="Whether words may stand before the action's object")
    explain_forfeits: bool = Field(default=True, description="Whether an agent is told what its forfeited reply lacked")
    briefing: bool = True
    """Whether agents are briefed before the first round"""
    traits: tuple[Trait, ...] = ()
    """Traits of agents, beside working memory"""
    moderator: tuple[Interview, ...] = ()
    """Pauses in which a moderator asks agents, by round"""
    follow_ups: Annotated[int, Field(ge=0, le=10)] = Field(
        default=2, description="Questions that a moderator in `staff` may add in one pause"
    )
    experiment: Experiment | None = None
    """Buyers and sellers with induced values, in periods instead of rounds"""
    system_prompt: Annotated[SystemPrompt | None, InFile(".txt")] = None
    """A file with the system prompt, with placeholders such as `#!traits!#`"""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for wrong in chain(self._of_goods(), self._of_what_is_said(), self._of_artifacts(), self._of_experiment()):
            raise ValueError(wrong)
        return self

    def _of_goods(self) -> Iterator[str]:
        if len(set(self.goods)) != len(self.goods) or CAPITAL in self.goods:
            yield f"goods: each once, and none is called {CAPITAL}"
        named = [self.stock, *(table.goods or {} for table in self.agents), *(table.values for table in self.agents)]
        if unknown := sorted(set().union(*named).difference(self.goods)):
            yield f"{unknown[0]} is not among the goods: {', '.join(self.goods)}"
        agents = ("agents", [player for table in self.agents for player in table.ids])
        tables = (("moderator", self.moderator), ("traits", self.traits))
        for what, ids in (agents, *((key, each.agents) for key, found in tables for each in found)):
            if twice := [player for player in ids if list(ids).count(player) > 1]:
                yield f"{what}: {twice[0][:40]} stands there twice"

    def _of_what_is_said(self) -> Iterator[str]:
        """Yield what agents would never be told or use: tools without a query stage, words without a placeholder."""
        if (self.tools or any(trait.tools for trait in self.traits)) and not (self.queries and self.tool_calls):
            off = "tool_calls = 0" if self.queries else "queries = false"
            yield f"tools: they are used in the query stage, which {off} leaves out"
        restricted = self.restrictions or self.experiment or any(table.restrictions for table in self.agents)
        goals = any(table.goal is not None for table in self.agents)
        said: dict[str, tuple[str, Any]] = {"traits": ("traits", self.all_traits), "goal": ("agents.goal", goals)}
        said["action_restrictions"] = ("restrictions", restricted)
        for name, (what, given) in said.items():
            if given and self.system_prompt is not None and name not in used(self.system_prompt.text):
                yield f"system_prompt: without #!{name}!# agents are not told of {what}"

    def _of_artifacts(self) -> Iterator[str]:
        if len(set(self.artifacts)) != len(self.artifacts):
            yield "artifacts: each once"
        named = dict.fromkeys((*self.artifacts, *(name for trait in self.traits for name in trait.artifacts)))
        if REDEMPTION in named:
            yield f"artifacts: {REDEMPTION} is there by itself where agents have values, unless redeem = false"
        if unused := sorted(set(self.settings) - set(named)):
            yield f"settings.{unused[0]}: there is no such artifact in this market"
        for trait in self.traits:
            for key, brought, shared in (
                ("artifacts", trait.artifacts, self.artifacts),
                ("tools", trait.tools, self.tools),
            ):
                if twice := set(brought).intersection(shared):
                    yield f"traits: {trait.name} brings {min(twice)}, which all agents have by {key}"
        for name in named:
            try:
                self.settings_of(name)
            except ValidationError as error:
                where, why = first_objection(error)
                yield f"{'.'.join(filter(None, ('settings', name, where)))}: {why}"

    def _of_experiment(self) -> Iterator[str]:
        if self.experiment is None:
            if self.standings == "surplus":
                yield "standings: surplus is for experiments, which have private values"
            return
        if self.ranked_by != "surplus" and self.experiment.periods > 1:
            yield f"standings: {self.ranked_by} is taken back after every period; an experiment ranks by surplus"
        induced = self.experiment.kind == INDUCED
        if (not induced and "marketplace" not in self.artifacts) or len(self.goods) != 1:
            yield f"an experiment takes place {'' if induced else 'at the marketplace, '}with one good"
        meant = [set(artifacts.find(name).meaning.values()) for name in self.artifacts]
        if not any({"buy", "sell"} <= each for each in meant):
            yield "artifacts: none of them has an action that means buy and one that means sell, as an experiment needs"
        if self.rounds is not None or self.stable_rounds is not None:
            yield "rounds and stable_rounds: an experiment has periods instead"
        if self.stock or self.agents or self.capital is not None:
            yield "capital, stock and agents: an experiment endows its traders itself"
        for name in self.all_artifacts:
            if not getattr(self.settings_of(name), "single_unit", True):
                yield f"settings.{name}.single_unit: traders of an experiment trade one unit at a time"

    def settings_of(self, artifact: str) -> Any:
        """Return the settings of an artifact as its own class. Raises `ValidationError` if they do not fit."""
        given, kind = self.settings.get(artifact, {}), artifacts.find(artifact).settings
        if self.experiment is not None and (artifact == "marketplace" or self.experiment.kind == INDUCED):
            protocol = {} if artifact != "marketplace" else _PROTOCOLS.get(self.experiment.kind, {})
            preset = {"single_unit": True, "price_max": self.experiment.price_max, **protocol}
            given = {name: value for name, value in preset.items() if name in kind.model_fields} | given
        return kind.from_toml(given)

    @property
    def all_traits(self) -> tuple[Trait, ...]:
        """The traits of the config, and the private values of agents that can redeem goods."""
        redeeming = [player for table in self.agents if table.values for player in table.ids] if self.redeem else []
        return (*self.traits, _PRIVATE_VALUES.model_copy(update={"agents": redeeming})) if redeeming else self.traits

    @property
    def all_artifacts(self) -> tuple[str, ...]:
        """The artifacts of all agents, and those that traits bring to some."""
        brought = (name for trait in self.all_traits for name in trait.artifacts)
        return tuple(dict.fromkeys((*self.artifacts, *brought)))

    def traits_of(self, player: str) -> Sequence[Trait]:
        return [trait for trait in self.all_traits if not trait.agents or player in trait.agents]

    @property
    def most_rounds(self) -> int:
        experiment = self.experiment
        return self.rounds or (ROUNDS if experiment is None else experiment.periods * experiment.period_rounds)

    @property
    def capital_held(self) -> int:
        """The capital with which every agent begins, unless its own table says otherwise."""
        return CAPITAL_HELD if self.capital is None else self.capital

    @property
    def ranked_by(self) -> Literal["capital", "wealth", "surplus"]:
        return self.standings or ("capital" if self.experiment is None else "surplus")

    @property
    def shows_ticker(self) -> bool:
        """Whether agents see what was quoted and traded since their last turn without asking."""
        return self.experiment is not None if self.ticker is None else self.ticker
