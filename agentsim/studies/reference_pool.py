"""A reference pool: finished games of one scenario, frozen in a file, that new models are rated against.

The file holds the results and not a fit of them, so that the uncertainty about its members is kept
(`analysis.posterior`).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from agentsim import games
from agentsim.analysis.finished_games import read_games
from agentsim.analysis.intervals import clusters
from agentsim.analysis.posterior import ChoiceSets, choice_sets, game_weight
from agentsim.engine.game import bots_of
from agentsim.engine.wording import counted
from agentsim.errors import UsageError, first_objection
from agentsim.records.load import parsed, read
from agentsim.records.run_files import RunFiles, write_whole
from agentsim.records.versions import require_version
from agentsim.scenario.player_plan import ModelName, ModelSettings, PlayerPlan
from agentsim.scenario.scenario import Scenario
from agentsim.scenario.validation import no_such_bot, validated

FORMAT: Final = "agentsim-pool/2"
_OF_SEAT = ("id", "prompt", "called")
"""The fields of a player that belong to the seat, whichever model has it. The others are the model's."""
_UNSEEN = ("players", "prices")
"""The parts of a scenario in which a pool's games may differ: players are the members, and prices change no game."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Member(_Part):
    """A model with its settings. `files` has the weights file of each of its models, None for one without."""

    label: str
    plan: dict[str, JsonValue]
    files: tuple[str | None, ...] = ()


class PoolGame(_Part):
    """One game: by seat the index of the member and its rank (ties share their mean), and the digest of its history."""

    name: str
    seed: int
    members: tuple[int, ...]
    ranks: tuple[float, ...]
    sha256: str


class Pool(_Part):
    """The content of the file. `versions`, `scenario` and `run` are those of its first game, its players the seats.

    `sha256` is the digest of all other fields; a file that was changed is refused.
    """

    format: Literal["agentsim-pool/2"] = FORMAT
    game: str
    rules_version: int
    reader: int
    versions: dict[str, JsonValue]
    scenario: dict[str, JsonValue]
    run: dict[str, JsonValue]
    members: tuple[Member, ...] = Field(min_length=2)
    games: tuple[PoolGame, ...] = Field(min_length=1)
    sha256: str = ""

    @model_validator(mode="after")
    def _refers_to_what_is_there(self) -> Pool:
        seats, size = len(self.games[0].members), len(self.members)
        for game in self.games:
            if not len(game.members) == len(game.ranks) == seats or any(not 0 <= at < size for at in game.members):
                raise ValueError(f"{game.name} does not give each of {counted(seats, 'seat')} a member and a rank")
        return self

    @property
    def labels(self) -> list[str]:
        return [member.label for member in self.members]

    @property
    def seats(self) -> int:
        return len(self.games[0].members)

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.model_dump_json(exclude={"sha256"}).encode()).hexdigest()

    def results(self, size: int) -> list[ChoiceSets]:
        """Return the games as data for a fit of `size` labels, the members first."""
        return [choice_sets(game.ranks, game.members, size) for game in self.games]

    @cached_property
    def weight(self) -> float:
        """The number of independent games that each one counts as, since games of one seed share their luck."""
        size = len(self.members)
        return game_weight(self.results(size), size, clusters([game.seed for game in self.games]))

    def plan(self, member: Member) -> PlayerPlan:
        """Return the plan of a member without a seat."""
        plan = PlayerPlan.model_validate_json(json.dumps({**member.plan, "id": "", "prompt": None}))
        return plan.with_files([None if file is None else Path(file) for file in member.files])

    def shared(self) -> dict[str, Any]:
        """Return the settings that all members have in common, which are the defaults of a new one."""
        first, *others = (member.plan for member in self.members)
        return {key: value for key, value in first.items() if key != "model" and all(o[key] == value for o in others)}

    def cast(self, plan: PlayerPlan) -> Scenario:
        """Return the pool's scenario with this model in every seat, without cost, call and time limits."""
        scenario = Scenario.restore(self.scenario, self.run)
        seats = (
            plan.model_copy(update={"id": each.id, "prompt": each.prompt, "called": each.called})
            for each in scenario.players
        )
        free = scenario.limits.model_copy(update=dict.fromkeys(("max_cost_usd", "max_calls", "max_wall_s")))
        return replace(scenario, name=None, players=tuple(seats), limits=free)

    def write(self, path: Path) -> None:
        """Write the pool to a new file. Raises `UsageError` if the file exists, since a pool is never changed."""
        if path.exists():
            raise UsageError(f"{path}: already exists, and a pool is never changed; give another --out")
        head = self.model_dump(mode="json")
        body = [f" {json.dumps(key)}: {_lines(value)}" for key, value in head.items()]
        write_whole(path, "{\n" + ",\n".join(body) + "\n}\n")


def _lines(value: Any) -> str:
    """Return JSON with one line per item of a list."""
    if not isinstance(value, list):
        return json.dumps(value)
    return "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"


def read_pool(path: Path) -> Pool:
    """Read the pool in a file.

    Raises `UsageError` if it is not a valid pool, and `OtherVersion` if another version made it.
    """
    raw = read(path)
    require_version(str(path), raw, written_as=FORMAT)
    try:
        pool = Pool.model_validate_json(raw)
    except ValidationError as error:
        where, why = first_objection(error)
        raise UsageError(
            f"{path}: is not a reference pool: {where or 'the file'}: {why.replace('Input should', 'must')}"
        ) from None
    if pool.sha256 != pool.digest:
        raise UsageError(f"{path}: was changed since it was frozen: its digest is that of another pool")
    return pool


def frozen(directory: Path) -> tuple[Pool, dict[str, str]]:
    """Return the pool of a folder's finished games, and by name why other games are not in it.

    Games may differ in seating and in the members' settings. Left out are branches of other runs, which share their
    past, games that rank no player, and copies. Raises `UsageError` if the games are not all of one scenario.
    """
    found = read_games(directory)
    left_out = {**found.skipped, **{name: f"repeats {other}" for name, other in found.copies.items()}}
    members: dict[str, Member] = {}
    results: list[PoolGame] = []
    base: dict[str, Any] | None = None
    prices: dict[str, Any] = {}
    for record in found.games:
        if record.parent is not None:
            left_out[record.name] = f"is a branch of {record.parent}"
            continue
        if not record.ranked:
            left_out[record.name] = "ranks no player"
            continue
        path = RunFiles(directory, record.name).history
        raw = read(path)
        history = parsed(raw, path)
        scenario = Scenario.restore(history.scenario, history.volatile.get("run", {}))
        here = {
            "game": history.game,
            "rules_version": history.rules_version,
            "reader": history.reader,
            "versions": history.volatile.get("versions", {}),
            "scenario": scenario.game_settings(),
            "run": history.volatile["run"],
        }
        base = base or here
        _check_alike(base, here, first=results[0].name if results else record.name, name=record.name)
        prices |= here["scenario"]["prices"]
        seated = [_member(plan, record.name) for plan in scenario.players]
        keys = [member.model_dump_json(exclude={"label"}) for member in seated]
        members |= {key: member for key, member in zip(keys, seated, strict=True) if key not in members}
        indices = [list(members).index(key) for key in keys]
        ranks = [entrant.rank for entrant in sorted(record.entrants, key=lambda entrant: entrant.seat)]
        results.append(
            PoolGame(
                name=record.name,
                seed=record.seed,
                members=tuple(indices),
                ranks=tuple(ranks),
                sha256=hashlib.sha256(raw).hexdigest(),
            )
        )
    if base is None and not any(record.ranked for record in found.games):
        raise UsageError(f"{directory}: holds games alone that rank no player; a pool is of ranks")
    if base is None:
        raise UsageError(f"{directory}: holds branches of other runs alone, which share their past")
    if len(members) < 2:
        raise UsageError(f"{directory}: a single model played all games; a pool needs two or more")
    base["scenario"] = {**base["scenario"], "prices": prices}
    pool = Pool(**base, members=_labelled(list(members.values())), games=tuple(results))
    return pool.model_copy(update={"sha256": pool.digest}), left_out


def _member(plan: PlayerPlan, game: str) -> Member:
    kinds = {name.kind for name in plan.names}
    if cannot := sorted(kinds & {"human", "web", "script", "own"}):
        raise UsageError(
            f"{game}: {plan.id} is played by {plan.title} ({cannot[0]}), which no other run can seat again"
        )
    record = {key: value for key, value in plan.record().items() if key not in _OF_SEAT}
    files = tuple(None if file is None else str(file) for file in plan.files)
    return Member(label=plan.title, plan=record, files=files if any(files) else ())


def _labelled(members: Sequence[Member]) -> tuple[Member, ...]:
    """Return the members with distinct labels. If a model has several settings, its labels name those that differ."""
    times = Counter(member.label for member in members)
    labelled = []
    for member in members:
        alike = [other.plan for other in members if other.label == member.label]
        differ = [key for key, value in member.plan.items() if any(other[key] != value for other in alike)]
        said = "".join(f" {key}={json.dumps(member.plan[key])}" for key in differ)
        labelled.append(member.model_copy(update={"label": member.label + said}) if times[member.label] > 1 else member)
    return tuple(labelled)


def _check_alike(base: Mapping[str, Any], here: Mapping[str, Any], *, first: str, name: str) -> None:
    """Raise `UsageError` if a game was not played under the scenario of the first one."""

    def seats(game: Mapping[str, Any]) -> list[str]:
        players = game["scenario"]["players"]
        return sorted(json.dumps([each.get(key) for key in _OF_SEAT]) for each in players)

    def different(key: str) -> None:
        raise UsageError(f"{key} is not the same in {first} and {name}: a pool is of one scenario")

    if seats(base) != seats(here):
        different("what players are called or told (id, prompt)")
    for part, value in base["scenario"].items():
        other = here["scenario"][part]
        if part in _UNSEEN or value == other:
            continue
        if part == "game_config":
            different(next(f"game_config.{key}" for key in {**value, **other} if value.get(key) != other.get(key)))
        different(part)


def new_member(pool: Pool, model: str, settings: Mapping[str, Any]) -> PlayerPlan:
    """Return the plan of a model to rate: the settings that the pool's members share, overridden by these.

    Raises `UsageError` if the model cannot play many games, or is not known.
    """
    try:
        name = ModelName.parse(model)
    except ValueError as error:
        raise UsageError(f"--model: {error}, found {model!r}") from None
    if name.kind in {"human", "web", "script"}:
        raise UsageError(f"--model: {model} cannot play many games")
    if name.kind == "bot" and name.rest not in (bots := bots_of(games.find(pool.game))):
        raise UsageError(str(no_such_bot(pool.game, name.rest, bots, key="--model")))
    shared = {**pool.shared(), **settings}
    kwargs = shared.pop("client_kwargs", {})
    path = None if name.file is None else Path(name.file).resolve()
    model = model if path is None else f"local/{path.name}"
    own = dict(validated(ModelSettings, shared))
    return PlayerPlan.model_construct(id="", models=(model,), client_kwargs=kwargs, prompt=None, **own).with_files(
        [path]
    )
