"""Manifest: the games of a batch, written into its folder before the first of them.

Playing does not change it: each game's files hold that game's progress. A batch that grows gets a new manifest, which
begins with the same games.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from filelock import lock_descriptor
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agentsim.engine.codec import StrictTable, json_fields, json_line
from agentsim.engine.reading import READER_VERSION
from agentsim.engine.wording import counted
from agentsim.errors import ScenarioError, UsageError, first_objection
from agentsim.games import find
from agentsim.lazy import dataclass
from agentsim.records.disk import write_problem
from agentsim.records.run_files import MANIFEST, check_name, written_beside
from agentsim.records.versions import package_versions, require_version
from agentsim.runs.batch.seating import PlannedGame, balance, rows
from agentsim.runs.run import MAX_DRAWN_SEED
from agentsim.scenario.scenario import LimitOverrides, Scenario, with_limits

FORMAT: Final = "agentsim-batch/2"
DRAWN = -1
"""The placeholder of a seed that was not given; no seed is negative."""
_CALLERS = 8
"""The number of games with models that are played at once by default; each waits for its own replies."""


class Until(StrictTable):
    """A condition that ends a batch before its last game: the intervals of a planned effect are narrower than `width`.

    `factor` is a factor, or two with a comma between for their interaction; None stands for all. Without a `measure`,
    it is win, or the first score if no player is ranked.
    """

    width: Annotated[float, Field(gt=0)]
    measure: str | None = None
    factor: str | None = None
    player: str | None = None


class DesignTable(StrictTable):
    """A factorial design. `factors` are levels by the dotted key of a scenario; the first level is the reference."""

    config: str | None = Field(default=None, description="The base scenario's file, relative to this one")
    factors: dict[str, Annotated[tuple[JsonValue, ...], Field(min_length=2)]] = Field(min_length=1)
    fraction: str | None = Field(default=None, pattern=r"^1/[1-9][0-9]{0,3}$")
    interactions: tuple[tuple[str, str], ...] = Field(default=(), description="Pairs of factors")
    replicates: int | None = Field(default=None, ge=1, description="Blocks: how often the whole design is played")
    measures: tuple[str, ...] = Field(default=(), description="The planned measures; all if absent")
    players: tuple[str, ...] = Field(
        default=(), description="Whose measures; absent: players that a factor concerns, or all"
    )
    names: dict[str, str] = Field(default={}, description="What a report calls factors, by key")
    labels: dict[str, tuple[str, ...]] = Field(default={}, description="What a report calls a factor's levels, by key")


class DesignRecord(StrictTable):
    """The factorial design in a batch's manifest: the table, and the levels of each cell; games name cells by index.

    `carriers` are the players that a factor concerns; empty if it concerns the whole game.
    """

    table: DesignTable
    cells: tuple[dict[str, JsonValue], ...] = Field(min_length=1)
    carriers: dict[str, tuple[str, ...]]
    until: Until | None = None


@dataclass(frozen=True, slots=True)
class Design:
    """The requested design; `models` are names, empty if the scenario's own models play."""

    seed: int
    games: int
    models: tuple[str, ...] = ()
    rotate: bool = False
    paired: bool = False
    factorial: DesignRecord | None = None

    @property
    def cells(self) -> int:
        """The number of games with one seed and one seating: a block."""
        return 1 if self.factorial is None else len(self.factorial.cells)

    @property
    def until(self) -> Until | None:
        return None if self.factorial is None else self.factorial.until


class _Cast(BaseModel):
    scenario: dict[str, Any]
    run: dict[str, Any]


class _File(BaseModel):
    """The fields that are read of a manifest; others are for people."""

    model_config = ConfigDict(strict=True)

    format: Literal["agentsim-batch/2"]
    seed: int
    models: tuple[str, ...]
    rotate: bool
    paired: bool
    casts: list[_Cast]
    games: tuple[PlannedGame, ...]
    design: DesignRecord | None = None


@dataclass(frozen=True)
class Manifest:
    """The design, the games, and the scenario once with each model in every seat (or once as it is), by cell."""

    design: Design
    games: tuple[PlannedGame, ...]
    casts: tuple[Scenario, ...]

    def scenario(self, game: PlannedGame) -> Scenario:
        by_position = game.models or (0,) * len(game.seats)
        width = max(1, len(self.design.models))
        casts = self.casts[game.cell * width : (game.cell + 1) * width]
        players = tuple(casts[model].players[seat] for seat, model in zip(game.seats, by_position, strict=True))
        return replace(casts[0], seed=game.seed, players=players)

    def with_limits(self, env: Mapping[str, str], limits: LimitOverrides) -> Manifest:
        """Return the same games under these limits; see `with_limits`."""
        return replace(self, casts=tuple(with_limits(cast, env, limits) for cast in self.casts))

    def balance(self) -> list[dict[str, Any]]:
        return [asdict(each) for each in balance(self.games, len(self.casts[0].players), len(self.design.models))]

    def digest(self) -> str:
        """Return 8 hex digits for the batch, which depend on neither its seed nor its number of games."""
        what = [self.design.models, self.design.rotate, self.design.paired]
        text = json.dumps([what, [cast.game_settings() for cast in self.casts]], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def write(self, directory: Path, *, instead: bool = False) -> None:
        """Write it into the batch's folder atomically.

        Raises `FileExistsError` if a manifest is there, unless this one is written `instead` by a caller that holds the
        lock, and `OSError` if it cannot be written.
        """
        design = self.design
        head = {
            "format": FORMAT,
            "game": self.casts[0].game,
            "rules_version": find(self.casts[0].game).rules_version,
            "reader": READER_VERSION,
            "versions": package_versions(),
            "seed": design.seed,
            "models": list(design.models),
            "rotate": design.rotate,
            "paired": design.paired,
            "balance": self.balance(),
            "casts": [{"scenario": cast.game_settings(), "run": cast.run_settings()} for cast in self.casts],
        }
        games = [json_fields(game) for game in self.games]
        if design.factorial is None:
            for game in games:
                del game["cell"]
        else:
            head["design"] = design.factorial.model_dump(mode="json")
        body = [b"%b:%b" % (json_line(key), json_line(value)) for key, value in head.items()]
        body.append(b'"games":[\n' + b",\n".join(map(json_line, games)) + b"\n]")
        with written_beside(directory / MANIFEST, new=not instead) as file:
            file.write(b"{\n" + b",\n".join(body) + b"\n}\n")


def plays_alone(manifest: Manifest) -> bool:
    """Return whether bots make all decisions in every game."""
    return all(plan.name.kind == "bot" for cast in manifest.casts for plan in cast.seats)


def planned(design: Design, casts: Sequence[Scenario]) -> Manifest:
    """Return the plan of a design. Raises `UsageError` if the design cannot be played."""
    if len(set(design.models)) < len(design.models):
        raise UsageError("--models: names one twice; games of a model against itself need it twice in the scenario")
    if design.paired and not (design.models or design.rotate):
        raise UsageError("--paired: there is nothing to pair: it needs --models or --rotate")
    for plan in (plan for cast in casts for plan in cast.seats):
        if plan.name.kind in {"human", "web"}:
            raise UsageError(f"{plan.id} is a person: a batch plays without a terminal and without a server")
    seats = len(casts[0].players)
    if design.games % design.cells:
        most = -(-design.games // design.cells) * design.cells
        raise UsageError(
            f"--games {design.games}: each seed plays all {counted(design.cells, 'cell')} of the design; ask for {most}"
        )
    table = rows(
        design.games,
        seats,
        len(design.models),
        seed=design.seed,
        rotate=design.rotate,
        paired=design.paired,
        cells=design.cells,
    )
    return Manifest(design, tuple(table), tuple(casts))


def read_manifest(directory: Path) -> Manifest | None:
    """Return the manifest in a folder, or None if there is none. Raises `UsageError` if the file is not valid."""
    path = directory / MANIFEST
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path}: is not a batch's manifest: {error}") from None
    require_version(str(path), raw, written_as=FORMAT)
    try:
        found = _File.model_validate_json(raw)
        casts = tuple(Scenario.restore(cast.scenario, cast.run) for cast in found.casts)
        design = Design(found.seed, len(found.games), found.models, found.rotate, found.paired, found.design)
        _check(found.games, casts, found.models, design.cells)
    except ValidationError as error:
        where, why = first_objection(error)
        why = why.replace("Input should be", "must be")
        raise UsageError(f"{path}: is not a batch's manifest: {where or 'the file'}: {why}") from None
    except (KeyError, TypeError, ValueError, OverflowError, ScenarioError, UsageError) as error:
        what = f"missing {error}" if isinstance(error, KeyError) else str(error)[:200]
        raise UsageError(f"{path}: is not a batch's manifest: {what}") from None
    return Manifest(design, found.games, casts)


def require_manifest(directory: Path) -> Manifest:
    """Return the manifest in a folder. Raises `UsageError` if there is none."""
    manifest = read_manifest(directory)
    if manifest is None:
        raise UsageError(f"{directory}: holds no batch")
    return manifest


def _check(games: Sequence[PlannedGame], casts: Sequence[Scenario], models: Sequence[str], cells: int) -> None:
    """Check that each game has its own name, and legal seats, models and cell. Raises `ValueError` or `UsageError`."""
    if not games:
        raise ValueError("it plans no games")
    if len(casts) != (width := max(1, len(models))) * cells:
        raise ValueError(
            f"{counted(len(casts), 'cast')} for {counted(len(models), 'model')}"
            + (f" in {counted(cells, 'cell')}" if cells > 1 else "")
        )
    players = [[plan.id for plan in cast.players] for cast in casts]
    if any(each != players[0] for each in players):
        raise ValueError("its casts seat different players")
    names: set[str] = set()
    for game in games:
        check_name(game.name)
        if game.name in names:
            raise ValueError(f"two games are called {game.name}")
        names.add(game.name)
        if sorted(game.seats) != list(range(len(players[0]))):
            raise ValueError(f"{game.name} does not seat each of {counted(len(players[0]), 'player')} once")
        if len(game.models) != (len(game.seats) if models else 0) or any(model >= width for model in game.models):
            raise ValueError(f"{game.name} does not give each seat one of {counted(len(models), 'model')}")
        if game.cell >= cells:
            raise ValueError(f"{game.name} is of none of {counted(cells, 'cell')}")


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the manifest's lock during the block. Raises `UsageError` if another process plays the batch."""
    path = directory / MANIFEST
    while True:
        handle = os.open(path, os.O_RDONLY)
        try:
            if not lock_descriptor(handle, blocking=False):
                raise UsageError(f"{directory}: another process is playing this batch")
            if os.path.samestat(os.fstat(handle), path.stat()):  # else the lock is of a replaced manifest
                yield
                return
        finally:
            os.close(handle)


def prepared(wanted: Manifest, out: Path | None, logs_dir: Path) -> tuple[Path, Manifest]:
    """Return the batch's folder with its manifest in it: the existing one if it plans the same games.

    A manifest with the first of these games is extended. The seed `DRAWN` is replaced by that of the folder, or drawn.
    Raises `UsageError` if the folder holds another batch, or this one with more games.
    """
    scenario = wanted.casts[0]
    directory = out if out is not None else logs_dir / f"batch_{scenario.name or scenario.game}_{wanted.digest()}"
    there = read_manifest(directory)
    drawn = wanted.design.seed == DRAWN
    if drawn:
        seed = secrets.randbelow(MAX_DRAWN_SEED) if there is None else there.design.seed
        wanted = planned(replace(wanted.design, seed=seed), wanted.casts)
    try:
        if there is None:
            directory.mkdir(parents=True, exist_ok=True)
            names = [path.name for path in directory.iterdir()]
            if MANIFEST not in names and any(name.endswith((".json", ".json.gz", ".jsonl")) for name in names):
                raise UsageError(f"{directory}: holds other runs; a batch needs its own folder")
            try:
                wanted.write(directory)
                return directory, wanted
            except FileExistsError:  # another process was first
                there = require_manifest(directory)
                if drawn:
                    wanted = planned(replace(wanted.design, seed=there.design.seed), wanted.casts)
        wanted = _joined(there, wanted, directory)
        if len(wanted.games) > len(there.games) or wanted.design.factorial != there.design.factorial:
            with locked(directory):
                wanted = _joined(require_manifest(directory), wanted, directory)  # another process may have extended it
                wanted.write(directory, instead=True)
    except FileExistsError:  # the folder's path is a file
        raise UsageError(f"{directory}: is not a directory") from None
    except OSError as error:
        raise UsageError(f"{directory}: cannot write there: {write_problem(error, directory / MANIFEST)}") from None
    return directory, wanted


def _joined(there: Manifest, wanted: Manifest, directory: Path) -> Manifest:
    """Return the wanted manifest with the names of the games that exist. Raises `UsageError` if the batches differ."""
    if (difference := _difference(there, wanted)) is not None:
        raise UsageError(f"{directory}: holds another batch ({difference}); give it another --out")
    if len(there.games) > len(wanted.games):
        more = f"{counted(len(there.games), 'game')} of this batch, and not {len(wanted.games)}"
        raise UsageError(f"{directory}: holds {more}; ask for at least as many, or give it another --out")
    games = (*there.games, *wanted.games[len(there.games) :])
    design = wanted.design
    if design.factorial is not None and design.until is None:  # an earlier session may have ended early by it
        update = {"until": there.design.until}
        design = replace(design, factorial=design.factorial.model_copy(update=update))
    return replace(wanted, design=design, games=games)


def _difference(there: Manifest, wanted: Manifest) -> str | None:
    """Return why the games of one manifest are not the first games of the other, or None if they are.

    Limits and addresses may differ, as when a run is resumed. Names may too: their number of digits depends on the
    number of games asked for first.
    """
    for name in ("seed", "models", "rotate", "paired"):
        one, other = getattr(there.design, name), getattr(wanted.design, name)
        if one != other:
            return f"{name}: {_said(one)} there, {_said(other)} here"[:300]
    records = (each.design.factorial for each in (there, wanted))
    one, other = (None if record is None else (_unnamed(record.table), record.cells) for record in records)
    if one != other:
        return "its design is not this one: factors, levels, fraction, interactions, measures and players stay"
    pairs = zip(there.games, wanted.games, strict=False)
    same_rows = all(replace(one, name=two.name) == two for one, two in pairs)
    same_casts = [cast.game_settings() for cast in there.casts] == [cast.game_settings() for cast in wanted.casts]
    return None if same_rows and same_casts else "its scenario is not this one"


def _unnamed(table: DesignTable) -> DesignTable:
    """Return the table without its names and labels, which change no game and no estimate."""
    return table.model_copy(update={"names": {}, "labels": {}})


def _said(value: Any) -> str:
    return ",".join(value) or "none" if isinstance(value, tuple) else str(value).lower()


def folder_of(name: str, logs_dir: Path) -> Path | None:
    """Return the folder of the batch with that name or path, or None."""
    return next((path for path in (Path(name), logs_dir / name) if (path / MANIFEST).is_file()), None)


def concurrent_games(manifest: Manifest) -> int:
    """Return the number of games to play at once by default; 1 with embedded models, because each runs a server."""
    if plays_alone(manifest):
        return os.cpu_count() or 1
    seats = (plan for cast in manifest.casts for plan in cast.seats)
    return 1 if any(name.kind == "local" for plan in seats for name in plan.names) else _CALLERS
