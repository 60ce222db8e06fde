"""Makes plans of the players' and staff's tables: overlays defaults, expands populations, reads prompts.

The tables are defined in `player_tables`; whether these players can play this config is the game's `admit`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import JsonValue

from agentsim.engine.game import ByPlayer, Game, GameConfig, SeatsInFolder
from agentsim.errors import ScenarioError
from agentsim.models.profiles import resolve
from agentsim.scenario.files import Material, located, read_prompt, stem
from agentsim.scenario.ids import called_by_files, seat_ids
from agentsim.scenario.plan import ModelPlan, PlayerPlan
from agentsim.scenario.player_tables import Defaults, ModelName, ModelSettings, PlayerTable
from agentsim.scenario.schema import ScenarioTable
from agentsim.scenario.validation_error import Key, dotted, nearest, shown

__all__ = ["Seating", "expanded"]

_PLACEHOLDER = re.compile(r"\$(?:\$|\{([^{}\n]{0,80})\}|(?=\{))")
_FOLDERS = "game_config"  # where the keys of seats begin that a folder's files take


@dataclass(frozen=True, slots=True)
class _Template:
    """A prompt before its placeholders are filled in, and the key it stands under."""

    text: str
    key: str


@dataclass(frozen=True)
class Seating:
    """One scenario's tables and what they refer to; paths are relative to `config` and stay under `allowed`.

    `material` holds the players that the game's own table names.
    """

    table: ScenarioTable
    game: Game
    material: Material
    config: Path
    allowed: Sequence[Path]

    def players(self) -> tuple[PlayerPlan, ...]:
        """Every player in seat order; `ScenarioError` where a table cannot be seated."""
        seats = self._seats()
        if not seats:
            folders = "".join(f", or a file in {_FOLDERS}.{name}" for name in self.game.config.marked(SeatsInFolder))
            raise ScenarioError(f"there are none; each needs a [[players]] table{folders}", key="players")
        ids = seat_ids(seats)
        called = self._called(seats, ids)
        everyone = list(called.values())
        plans: list[PlayerPlan] = []
        for (table, key), names in zip(seats, ids, strict=True):
            plan, template = self._plan(table, key)
            template = template or self._template(self.table.defaults, ("defaults",))
            plans.extend(self._seated(plan, template, name, called[name], everyone) for name in names)
        return tuple(plans)

    def _seats(self) -> list[tuple[PlayerTable, Key]]:
        """The table of each seat, with its key."""
        named: list[tuple[PlayerTable, Key]] = [
            (table, ("players", index)) for index, table in enumerate(self.table.players)
        ]
        return [*named, *self.material.players]

    def by_player(self, config: GameConfig) -> GameConfig:
        """The game's table with what the players' tables say for themselves; `ScenarioError` where it takes none."""
        fields = {mark.key: name for name, mark in config.marked(ByPlayer).items()}
        seats = self._seats()
        for (table, key), names in zip(seats, seat_ids(seats), strict=True):
            if table.memory is None:
                continue
            at = dotted((*key, "memory"))
            if "memory" not in fields:
                raise ScenarioError(f"{self.game.name} has none by player", key=at)
            said = getattr(config, fields["memory"])
            if twice := [name for name in names if name in said]:
                raise ScenarioError(f"{twice[0]} stands in game_config.{fields['memory']} too", key=at)
            config = config.model_copy(update={fields["memory"]: {**said, **dict.fromkeys(names, table.memory)}})
        return config

    def _called(self, seats: Sequence[tuple[PlayerTable, Key]], ids: Sequence[Sequence[str]]) -> dict[str, str]:
        """What the game calls each player, by id in seat order."""
        if not self.game.config.called_by_files:
            return {name: name for names in ids for name in names}
        pairs = zip(seats, ids, strict=True)
        return called_by_files({name: stem(table.prompt_file or "") for (table, _), names in pairs for name in names})

    def staff(self, players: Sequence[PlayerPlan]) -> dict[str, PlayerPlan]:
        """The plan of each role, with the id `@role`; `ScenarioError` for a role that the game does not have."""
        everyone = [player.name_in_game for player in players]
        plans: dict[str, PlayerPlan] = {}
        for role, table in self.table.staff.items():
            if role not in self.game.staff:
                hint, valid = nearest(role, sorted(self.game.staff)) if self.game.staff else ("; it takes none", "")
                raise ScenarioError(
                    f"{self.game.name} has no such staff{hint}", key=dotted(("staff", role)), valid=valid
                )
            plan, template = self._plan(table, ("staff", role))
            plans[role] = self._seated(plan, template, f"@{role}", f"@{role}", everyone)
        return plans

    def _plan(self, table: Defaults, key: Key) -> tuple[PlayerPlan, _Template | None]:
        """The plan that all of a table's seats share, and the table's own prompt."""
        defaults = self.table.defaults
        source = (*(key if table.model is not None else ("defaults",)), "model")
        texts = table.models or defaults.models
        if not texts and key[0] == _FOLDERS:
            raise ScenarioError("is missing", key="defaults.model")
        if not texts:
            raise ScenarioError("is missing, and [defaults] has none", key=dotted((*key, "model")))
        listed = not isinstance(table.model or defaults.model, str)
        first, *spares = (
            self._model(text, dotted((*source, place) if listed else source)) for place, text in enumerate(texts)
        )
        settings, client_kwargs = _overlaid(ModelSettings(reasks=self.game.config.reasks), defaults, table)
        for each in (first, *spares):
            if settings.temperature is not None and not self._takes_temperature(each.name):
                table_name = dotted(("providers", each.name.provider))
                raise ScenarioError(
                    f"{each.model} takes none: supports_temperature is false in {table_name}; leave it out (it is not "
                    "left out for you, since another temperature is another experiment)",
                    key=_temperature_key(defaults, table, key),
                )
        if first.name.kind == "human":
            settings = settings.model_copy(update={"timeout_s": None, "reasks": None, "max_attempts": None})
        plan = PlayerPlan(
            id="",
            model=first.model,
            settings=settings,
            client_kwargs=client_kwargs,
            path=first.path,
            spares=tuple(spares),
            key=dotted(source),
        )
        return plan, self._template(table, key)

    def _model(self, text: str, key: str) -> ModelPlan:
        """The model of that name, its directory taken out; `ScenarioError` where this scenario has no such model."""
        name = ModelName.parse(text)
        path = self._checked(name, text, key)
        if path is not None:
            text = f"script:{path.name}" if name.kind == "script" else f"local/{path.name}"
        return ModelPlan(text, path)

    def _checked(self, name: ModelName, text: str, key: str) -> Path | None:
        """The file that the model names, where it names one; `ScenarioError` where this scenario has no such model."""
        if name.kind == "bot" and name.rest not in self.game.bots:
            hint, valid = nearest(text, [f"bot/{policy}" for policy in self.game.bots])
            raise ScenarioError(f"{self.game.name} has no {shown(text)}{hint}", key=key, valid=valid)
        if name.kind == "remote":
            try:
                resolve(name.provider, self.table.providers, {})
            except ScenarioError as error:
                raise error.placed(key=key) from None
        return None if name.file is None else located(name.file, self.config, self.allowed, key=key)

    def _takes_temperature(self, name: ModelName) -> bool:
        return name.kind != "remote" or resolve(name.provider, self.table.providers, {}).supports_temperature

    def _template(self, table: Defaults, key: Key) -> _Template | None:
        if table.prompt_file is not None:
            at = dotted(key if key[0] == _FOLDERS else (*key, "prompt_file"))
            text = read_prompt(located(table.prompt_file, self.config, self.allowed, key=at), key=at)
            return _Template(text, at)
        if table.prompt is not None:
            return _Template(table.prompt, dotted((*key, "prompt")))
        if isinstance(table, PlayerTable) and table.character_prompt is not None:
            return _Template(table.character_prompt, dotted((*key, "character_prompt")))
        return None

    def _seated(
        self, plan: PlayerPlan, template: _Template | None, player: str, name: str, everyone: Sequence[str]
    ) -> PlayerPlan:
        """The table's plan for one player, its prompt's placeholders filled in with what players are called."""
        plan = replace(plan, id=player, called=None if name == player else name)
        if template is None:
            return plan
        values = {"player": name, "players": "", "others": "", "game": self.game.title}
        if "${players}" in template.text:  # thousands of names are joined only where they are used
            values["players"] = ", ".join(everyone)
        if "${others}" in template.text:
            values["others"] = ", ".join(other for other in everyone if other != name)
        try:
            return replace(plan, prompt=expanded(template.text, values))
        except ValueError as error:
            raise ScenarioError(str(error), key=template.key) from None


def _temperature_key(defaults: Defaults, table: Defaults, key: Key) -> str:
    """Where the temperature of a seat stands."""
    for layer, at in ((table, key), (defaults, ("defaults",))):
        if layer.client_kwargs is not None and layer.client_kwargs.temperature is not None:
            return dotted((*at, "client_kwargs", "temperature"))
        if layer.temperature is not None:
            return dotted((*at, "temperature"))
    return ""


def _overlaid(base: ModelSettings, defaults: Defaults, table: Defaults) -> tuple[ModelSettings, dict[str, JsonValue]]:
    """The table's settings over the defaults' over the game's, and what is passed through, without its sampling."""
    values: dict[str, object] = {}
    client_kwargs: dict[str, JsonValue] = {}
    for layer in (defaults, table):
        kwargs = layer.client_kwargs
        for source in (layer, *([kwargs] if kwargs else [])):
            names = source.model_fields_set & ModelSettings.model_fields.keys()
            values |= {name: getattr(source, name) for name in names}
        client_kwargs |= kwargs.__pydantic_extra__ if kwargs else {}
    return base.model_copy(update=values), client_kwargs


def expanded(template: str, values: Mapping[str, str]) -> str:
    """`template` with each `${name}` replaced once and `$$` as a dollar; a lone dollar stays.

    Values are not expanded again. Raises `ValueError` for a name that is not among `values`.
    """

    def value(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        name = match[1]
        if name is None:
            raise ValueError("has a ${ that is not closed; $$ is a dollar")
        if name not in values:
            near = difflib.get_close_matches(name, values, n=1)
            hint = f"did you mean ${{{near[0]}}}?" if near else f"known: {', '.join(f'${{{key}}}' for key in values)}"
            raise ValueError(f"has an unknown placeholder ${{{name}}} ({hint})")
        return values[name]

    return _PLACEHOLDER.sub(value, template)
