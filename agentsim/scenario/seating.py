"""Seating: makes plans from the players' and staff's tables, with defaults, ids, populations and prompts.

The game's `admit` checks whether these players can play this config.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from agentsim.engine.game import ByPlayer, Game, GameConfig, SeatsInFolder, bots_of
from agentsim.engine.letters import LONGEST_NAME, look_alike, made_name
from agentsim.errors import ErrorCollector, ScenarioError
from agentsim.models.profiles import resolve
from agentsim.patterns import Pattern
from agentsim.scenario.player_plan import PEOPLE, ModelName, ModelSettings, PlayerPlan, numbered
from agentsim.scenario.source_files import Material, located, read_prompt, stem
from agentsim.scenario.toml_tables import Defaults, PlayerTable, ScenarioTable, is_reserved, legal_id
from agentsim.scenario.validation import KeyPath, dotted, nearest, no_such_bot, shown

MOST_PLAYERS = 20_000
_PLACEHOLDER = Pattern(r"\$(?:\$|\{([^{}\n]{0,80})\}|(?=\{))")
_FOLDERS = "game_config"  # the start of the keys of seats that come from a folder's files


class _Template(NamedTuple):
    """A prompt with its placeholders not filled in, and its key in the file."""

    text: str
    key: str


@dataclass(frozen=True)
class Seating:
    """The seating of one scenario. Paths are relative to `config` and must stay under `allowed`.

    `material` holds the players that the game's own table names.
    """

    table: ScenarioTable
    game: Game
    material: Material
    config: Path
    allowed: Sequence[Path]

    @cached_property
    def _seats(self) -> list[tuple[PlayerTable, KeyPath, list[str]]]:
        """The table of each seat or population, with its key and its ids."""
        tables = [(table, ("players", index)) for index, table in enumerate(self.table.players)]
        seats: list[tuple[PlayerTable, KeyPath]] = [*tables, *self.material.players]
        return [(table, key, names) for (table, key), names in zip(seats, seat_ids(seats), strict=True)]

    def players(self) -> tuple[PlayerPlan, ...]:
        """Return the plan of every player in seat order. Raises `ScenarioError` for tables that cannot be seated."""
        if not self._seats:
            folders = "".join(f", or a file in {_FOLDERS}.{name}" for name in self.game.config.marked(SeatsInFolder))
            raise ScenarioError(f"there are none; each needs a [[players]] table{folders}", key="players")
        called = {name: name for _, _, names in self._seats for name in names}
        if self.game.config.called_by_files:
            files = {name: stem(table.prompt_file or "") for table, _, names in self._seats for name in names}
            called = called_by_files(files)
        everyone = list(called.values())
        plans: list[PlayerPlan] = []
        errors = ErrorCollector()
        for table, key, names in self._seats:
            template = None
            with errors.noted():
                template = self._template(table, key) or self._template(self.table.defaults, ("defaults",))
            with errors.noted():
                plan = self._plan(table, key)
                plans += [self._seated(plan, template, name, called[name], everyone) for name in names]
        errors.raised()
        return tuple(plans)

    def by_player(self, config: GameConfig) -> GameConfig:
        """Return the game's config with the settings of the players' tables.

        Raises `ScenarioError` if the game has none by player.
        """
        fields = {mark.key: name for name, mark in config.marked(ByPlayer).items()}
        for table, key, names in self._seats:
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

    def staff(self, players: Sequence[PlayerPlan]) -> dict[str, PlayerPlan]:
        """Return the plan of each role, with the id `@role`.

        Raises `ScenarioError` for a role that the game does not have.
        """
        everyone = [player.name_in_game for player in players]
        plans: dict[str, PlayerPlan] = {}
        for role, table in self.table.staff.items():
            key = ("staff", role)
            if role not in self.game.staff:
                hint, valid = nearest(role, sorted(self.game.staff)) if self.game.staff else ("; it takes none", "")
                raise ScenarioError(f"{self.game.name} has no such staff{hint}", key=dotted(key), valid=valid)
            template = self._template(table, key)
            plans[role] = self._seated(self._plan(table, key), template, f"@{role}", f"@{role}", everyone)
        return plans

    def _plan(self, table: Defaults, key: KeyPath) -> PlayerPlan:
        """Return the plan that all of a table's seats share."""
        defaults = self.table.defaults
        texts = table.models or defaults.models
        if not texts and key[0] == _FOLDERS:
            raise ScenarioError("is missing", key="defaults.model")
        if not texts:
            raise ScenarioError("is missing, and [defaults] has none", key=dotted((*key, "model")))
        source = (*(key if table.model is not None else ("defaults",)), "model")
        listed = not isinstance(table.model or defaults.model, str)
        models = [self._model(text, dotted((*source, index) if listed else source)) for index, text in enumerate(texts)]
        usual = ModelSettings(reasks=self.game.config.reasks, repair=self.game.config.repair)
        settings, client_kwargs = _overlaid(usual, defaults, table)
        for model, _ in models:
            name = ModelName.parse(model)
            # Only a temperature in the table itself is an error; that of [defaults] is dropped for such models
            # (`settings.translated`).
            at = _temperature_key(table, key)
            if at and not self._takes_temperature(name):
                raise ScenarioError(
                    f"{model} takes none: supports_temperature is false in "
                    f'{dotted(("providers", name.provider))}; leave it out, or say "default" (it is not '
                    "left out for you, since another temperature is another experiment)",
                    key=at,
                )
        first = ModelName.parse(models[0][0])
        if first.kind in PEOPLE:
            if first.kind == "web" and key[0] == "staff":
                raise ScenarioError("web is for players; staff may be human, at the terminal", key=dotted(source))
            # a person's deadline must be set in the table itself: that of [defaults] is for models
            own = table.timeout_s if first.kind == "web" and "timeout_s" in table.model_fields_set else None
            settings = settings.model_copy(update={"timeout_s": own, "reasks": None, "max_attempts": None})
        plan = PlayerPlan.model_construct(
            id="",
            models=tuple(model for model, _ in models),
            client_kwargs=client_kwargs,
            prompt=None,
            **dict(settings),
        )
        idle = () if any(name.kind in {"remote", "local", "own"} for name in plan.names) else _sampling_of(table)
        return plan.with_files([file for _, file in models], key=dotted(source), idle=idle)

    def _model(self, text: str, key: str) -> tuple[str, Path | None]:
        """Return a model without the directory of its file, and that file.

        Raises `ScenarioError` if the scenario cannot use it.
        """
        name = ModelName.parse(text)
        if name.kind == "bot" and name.rest not in bots_of(self.game):
            raise no_such_bot(self.game.name, name.rest, bots_of(self.game), key=key)
        if name.kind == "remote":
            try:
                resolve(name.provider, self.table.providers, {})
            except ScenarioError as error:
                raise error.placed(key=key) from None
        if name.file is None:
            return text, None
        path = located(name.file, self.config, self.allowed, key=key)
        return (f"script:{path.name}" if name.kind == "script" else f"local/{path.name}"), path

    def _takes_temperature(self, name: ModelName) -> bool:
        return name.kind != "remote" or resolve(name.provider, self.table.providers, {}).supports_temperature

    def _template(self, table: Defaults, key: KeyPath) -> _Template | None:
        if table.prompt_file is not None:
            at = dotted(key if key[0] == _FOLDERS else (*key, "prompt_file"))
            return _Template(read_prompt(located(table.prompt_file, self.config, self.allowed, key=at), key=at), at)
        for name in ("prompt", "character_prompt"):
            if (text := getattr(table, name, None)) is not None:
                return _Template(text, dotted((*key, name)))
        return None

    def _seated(
        self, plan: PlayerPlan, template: _Template | None, player: str, name: str, everyone: Sequence[str]
    ) -> PlayerPlan:
        """Return the table's plan for one player, with the prompt's placeholders filled in."""
        prompt = None
        if template is not None:
            values = {"player": name, "players": "", "others": "", "game": self.game.title}
            if "${players}" in template.text:  # join thousands of names only if they are used
                values["players"] = ", ".join(everyone)
            if "${others}" in template.text:
                values["others"] = ", ".join(other for other in everyone if other != name)
            try:
                prompt = expanded(template.text, values)
            except ValueError as error:
                raise ScenarioError(str(error), key=template.key) from None
        return plan.model_copy(update={"id": player, "called": None if name == player else name, "prompt": prompt})


def _temperature_key(table: Defaults, key: KeyPath) -> str:
    """Return the key of a table's own temperature, or "" if it has none."""
    if table.client_kwargs is not None and table.client_kwargs.temperature is not None:
        return dotted((*key, "client_kwargs", "temperature"))
    return "" if table.temperature is None else dotted((*key, "temperature"))


def _sampling_of(table: Defaults) -> tuple[str, ...]:
    """Return the names of the sampling settings in a table."""
    names = ["temperature"] if _temperature_key(table, ()) else []
    return (*names, *(name for name in ("reasoning", "seed", "logprobs") if getattr(table, name)))


def _overlaid(base: ModelSettings, defaults: Defaults, table: Defaults) -> tuple[ModelSettings, dict[str, JsonValue]]:
    """Merge the settings of the game, the defaults and the table, and the `client_kwargs` of the latter two.

    Sampling settings in `client_kwargs` become settings.
    """
    values: dict[str, object] = {}
    client_kwargs: dict[str, JsonValue] = {}
    for layer in (defaults, table):
        kwargs = layer.client_kwargs
        for source in (layer, *([kwargs] if kwargs else [])):
            names = source.model_fields_set & type(source).model_fields.keys() & ModelSettings.model_fields.keys()
            values |= {name: getattr(source, name) for name in names}
        client_kwargs |= kwargs.__pydantic_extra__ if kwargs else {}
    return base.model_copy(update=values), client_kwargs


def expanded(template: str, values: Mapping[str, str]) -> str:
    """Return `template` with each `${name}` replaced and `$$` as a dollar sign. Other dollar signs stay.

    Values are not expanded again. Raises `ValueError` for an unknown name or a `${` that is not closed.
    """

    def value(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        name = match[1]
        if name is None:
            raise ValueError("has a ${ that is not closed; $$ gives a dollar sign")
        if name not in values:
            near = difflib.get_close_matches(name, values, n=1)
            hint = f"did you mean ${{{near[0]}}}?" if near else f"known: {', '.join(f'${{{key}}}' for key in values)}"
            raise ValueError(f"has an unknown placeholder ${{{name}}} ({hint})")
        return values[name]

    return _PLACEHOLDER.sub(value, template)


def seat_ids(seats: Sequence[tuple[PlayerTable, KeyPath]]) -> list[list[str]]:
    """Return the ids of each table, in order. Raises `ScenarioError` for ids that are equal or look alike.

    Populations of the same id are numbered consecutively. Ids made from file names get `_2`, `_3`, ... if they clash.
    """
    if (total := sum(table.count or 1 for table, _ in seats)) > MOST_PLAYERS:
        raise ScenarioError(f"{total} are too many", key="players", valid=f"at most {MOST_PLAYERS}")
    taken: dict[str, tuple[str, KeyPath]] = {}
    ids = list(numbered((table.name or "", table.count) for table, _ in seats))
    for names, (table, key) in zip(ids, seats, strict=True):
        at = dotted((*key, "id" if table.id is not None else "player_id"))
        for name in names if table.name is not None else ():
            _claim(name, at, taken, key)
    for names, (table, key) in zip(ids, seats, strict=True):
        if table.name is None:
            names[:] = [_made(stem(table.prompt_file or ""), taken, key)]
    return ids


def _claim(name: str, at: str, taken: dict[str, tuple[str, KeyPath]], key: KeyPath) -> None:
    try:
        legal_id(name)
    except ValueError as error:  # the number of a population's member can make it too long
        raise ScenarioError(f"{error}, found {shown(name)}", key=at) from None
    other, where = taken.setdefault(look_alike(name), (name, key))
    if where == key:
        return
    if other.casefold() == name.casefold():
        raise ScenarioError(f"{shown(name)} is the id of {dotted(where)} already; case does not count", key=at)
    raise ScenarioError(f"{shown(name)} can be taken for {shown(other)}, the id of {dotted(where)}", key=at)


def _made(name: str, taken: dict[str, tuple[str, KeyPath]], key: KeyPath) -> str:
    """Return a free id made from the name, shortened and numbered if necessary."""
    base = made_name(name) or "player"
    made, number = base, 1
    while look_alike(made) in taken or is_reserved(made):
        number += 1
        suffix = f"_{number}"
        made = base[: LONGEST_NAME - len(suffix)] + suffix
    taken[look_alike(made)] = made, key
    return made


def called_by_files(stems: Mapping[str, str]) -> dict[str, str]:
    """Return each player's name in the game, given the names of their prompt files ("" for none).

    It is the file's name, or the id if there is no file, if several players share it, or if it looks like another's.
    """
    called = {player: name or player for player, name in stems.items()}
    while clash := {player for player in _confused(called) if called[player] != player}:
        called = {player: player if player in clash else name for player, name in called.items()}
    return called


def _confused(called: Mapping[str, str]) -> Iterator[str]:
    """Yield the players whose name another player has, too, or whose name looks like another's in another script."""
    count = Counter(called.values())
    spelled: defaultdict[str, set[str]] = defaultdict(set)
    for name in count:
        spelled[look_alike(name)].add(name.casefold())
    for player, name in called.items():
        if count[name] > 1 or len(spelled[look_alike(name)]) > 1:
            yield player
