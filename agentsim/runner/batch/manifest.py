"""Manifest: what a batch is to play, on the disk before its first game. What is played already, each game's files say.

Playing writes nothing there, so a batch of a million games rewrites nothing, and a kill finds no half of it. A batch
that is to have more games gets a new one in its place, with the same games before them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentsim.engine.codec import json_line
from agentsim.errors import ScenarioError, UsageError
from agentsim.history.files import MANIFEST, check_name, write_new, write_whole
from agentsim.runner.batch.design import Row, balance, rows
from agentsim.scenario.limits import with_limits
from agentsim.scenario.scenario import Scenario

__all__ = ["Design", "Manifest", "Planned", "planned", "plays_alone", "read_manifest", "require_manifest"]

FORMAT = "agentsim-batch/1"


@dataclass(frozen=True, slots=True)
class Design:
    """What a batch was asked for; `models` are names, empty where the scenario's own play."""

    seed: int
    games: int
    models: tuple[str, ...] = ()
    rotate: bool = False
    paired: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """One game of the plan: its name and its row."""

    name: str
    row: Row


@dataclass(frozen=True)
class Manifest:
    """The design, the games, and the scenario once with each model in every seat (or once as it is)."""

    design: Design
    games: tuple[Planned, ...]
    casts: tuple[Scenario, ...]

    def scenario(self, game: Planned) -> Scenario:
        """What is played in that game."""
        row = game.row
        first = self.casts[0]
        by_position = row.models or (0,) * len(row.seats)
        players = tuple(self.casts[model].players[seat] for seat, model in zip(row.seats, by_position, strict=True))
        return replace(first, seed=row.seed, players=players)

    def limited(self, env: Mapping[str, str], **given: float | None) -> Manifest:
        """The same games under these limits, where they are not None; see `with_limits`."""
        return replace(self, casts=tuple(with_limits(cast, env, **given) for cast in self.casts))

    def balance(self) -> list[dict[str, Any]]:
        """How evenly the design spreads models and seats over the games."""
        spreads = balance([game.row for game in self.games], len(self.casts[0].players), len(self.design.models))
        return [{"what": spread.what, "least": spread.least, "most": spread.most} for spread in spreads]

    def same_batch(self, other: Manifest) -> bool:
        """Whether the games of one are the first of the other's, or all of them.

        Limits and addresses may differ, as they may between two runs of one. Names do not count: how many digits they
        have depends on how many games were asked for first.
        """
        rows = zip(self.games, other.games, strict=False)
        return (
            replace(self.design, games=0) == replace(other.design, games=0)
            and all(one.row == two.row for one, two in rows)
            and [cast.identity() for cast in self.casts] == [cast.identity() for cast in other.casts]
        )

    def following(self, there: Manifest) -> Manifest:
        """The same games, those that are planned `there` under the names that they have there."""
        return replace(self, games=(*there.games, *self.games[len(there.games) :]))

    def digest(self) -> str:
        """A short name for the batch, whatever seed it has and however many games."""
        what = [self.design.models, self.design.rotate, self.design.paired]
        text = json.dumps([what, [cast.identity() for cast in self.casts]], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    def write(self, directory: Path, *, instead: bool = False) -> None:
        """Put it into the batch's folder; it is whole or not there.

        `FileExistsError` where one is there already, unless it takes its place; who has it do that holds the lock.
        """
        design = self.design
        head = {
            "format": FORMAT,
            "game": self.casts[0].game,
            "seed": design.seed,
            "models": list(design.models),
            "rotate": design.rotate,
            "paired": design.paired,
            "balance": self.balance(),
            "casts": [{"scenario": cast.identity(), "run": cast.run_part()} for cast in self.casts],
        }
        lines = [
            json_line({"name": game.name, "seed": game.row.seed, "seats": game.row.seats, "models": game.row.models})
            for game in self.games
        ]
        body = [b"%b:%b" % (json_line(key), json_line(value)) for key, value in head.items()]
        body.append(b'"games":[\n' + b",\n".join(lines) + b"\n]")
        whole = b"{\n" + b",\n".join(body) + b"\n}\n"
        if instead:
            write_whole(directory / MANIFEST, whole)
        else:
            write_new(directory / MANIFEST, whole)


def plays_alone(manifest: Manifest) -> bool:
    """Whether bots alone decide, in every game."""
    return all(plan.name.kind == "bot" for cast in manifest.casts for plan in cast.seats)


def planned(design: Design, casts: Sequence[Scenario]) -> Manifest:
    """The plan of a design; `UsageError` where it cannot be one."""
    if len(set(design.models)) < len(design.models):
        raise UsageError("--models: names one twice; games of a model against itself need it twice in the scenario")
    if design.paired and not (design.models or design.rotate):
        raise UsageError("--paired: there is nothing to pair: it needs --models or --rotate")
    for plan in (plan for cast in casts for plan in cast.seats):
        if plan.name.kind == "human":
            raise UsageError(f"{plan.id} is a person: a batch plays without anybody at the terminal")
    seats = len(casts[0].players)
    table = rows(design.games, seats, len(design.models), seed=design.seed, rotate=design.rotate, paired=design.paired)
    digits = max(4, len(str(design.games)))
    games = tuple(Planned(f"game_{number:0{digits}d}", row) for number, row in enumerate(table, start=1))
    return Manifest(design, games, tuple(casts))


def read_manifest(directory: Path) -> Manifest | None:
    """The manifest in a folder, None where there is none; `UsageError` for a file that cannot be one."""
    path = directory / MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: is not a batch's manifest: {str(error)[:200]}") from None
    try:
        if found["format"] != FORMAT:
            raise ValueError(f"format {str(found['format'])[:40]!r}, this version reads {FORMAT}")
        games = tuple(_game(line) for line in found["games"])
        casts = tuple(Scenario.restore(cast["scenario"], cast["run"]) for cast in found["casts"])
        models = tuple(map(str, found["models"]))
        design = Design(int(found["seed"]), len(games), models, bool(found["rotate"]), bool(found["paired"]))
        _sound(games, casts, models)
    except (KeyError, TypeError, ValueError, OverflowError, ScenarioError, UsageError) as error:
        what = f"missing {error}" if isinstance(error, KeyError) else str(error)[:200]
        raise UsageError(f"{path}: is not a batch's manifest: {what}") from None
    return Manifest(design, games, casts)


def require_manifest(directory: Path) -> Manifest:
    """The manifest in a folder; `UsageError` where there is none."""
    manifest = read_manifest(directory)
    if manifest is None:
        raise UsageError(f"{directory}: holds no batch")
    return manifest


def _sound(games: Sequence[Planned], casts: Sequence[Scenario], models: Sequence[str]) -> None:
    """`ValueError`, or `UsageError` for a name, unless every game of a manifest can be told apart, seated and cast."""
    if not games:
        raise ValueError("it plans no games")
    if len(casts) != max(1, len(models)):
        raise ValueError(f"{len(casts)} casts for {len(models)} models")
    players = [[plan.id for plan in cast.players] for cast in casts]
    if any(each != players[0] for each in players):
        raise ValueError("its casts seat different players")
    names: set[str] = set()
    for game in games:
        check_name(game.name)
        if game.name in names:
            raise ValueError(f"two games are called {game.name}")
        names.add(game.name)
        seats, cast = game.row.seats, game.row.models
        if sorted(seats) != list(range(len(players[0]))):
            raise ValueError(f"{game.name} does not seat each of {len(players[0])} players once")
        if len(cast) != (len(seats) if models else 0) or not all(0 <= model < len(casts) for model in cast):
            raise ValueError(f"{game.name} does not give each seat one of {len(models)} models")
        if game.row.seed < 0:
            raise ValueError(f"{game.name} has a seed below 0")


def _game(line: Mapping[str, Any]) -> Planned:
    row = Row(int(line["seed"]), tuple(map(int, line["seats"])), tuple(map(int, line["models"])))
    return Planned(str(line["name"]), row)
