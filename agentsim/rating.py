"""A new model rated against a reference pool: rounds of games, each chosen from what is known, until that is enough.

The games are a batch in a folder of its own, whose manifest grows by a round at a time. Which games come next follows
from those that are played, so that the same command goes on where one was killed. The command line and `rate` play the
same rounds.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from agentsim import games
from agentsim.analysis.game_records import game_record
from agentsim.analysis.inference import stages
from agentsim.analysis.placement import Placement, next_tables, placement
from agentsim.analysis.pool import Pool, new_member, read_pool
from agentsim.analysis.posterior import Stages
from agentsim.environment import environment
from agentsim.errors import AgentsimError, UsageError
from agentsim.history.load import load_history
from agentsim.history.run_files import RunFiles
from agentsim.models.keys import Variables
from agentsim.models.own import OwnModel
from agentsim.results import logs_folder
from agentsim.runner.batch.batch_game import is_done, used
from agentsim.runner.batch.design import Design, Planned, derived_seed
from agentsim.runner.batch.manifest import Manifest, at_once, prepared, read_manifest
from agentsim.runner.batch.run_batch import run_batch_in_loop
from agentsim.runner.forecast import Forecast, forecast
from agentsim.scenario.document import overridden
from agentsim.scenario.load import Overrides
from agentsim.scenario.plan import OWN, PlayerPlan

GAMES, WIDTH = 100, 0.5


@dataclass(frozen=True)
class Asked:
    """A model to rate against the pool in a file; see `rate`."""

    model: str
    pool: Path
    games: int = GAMES
    width: float = WIDTH
    entries: int | None = None
    settings: Overrides = ()
    seed: int | None = None
    out: Path | None = None
    logs_dir: Path = field(default_factory=lambda: logs_folder(None))
    own: Collection[str] = ()
    max_cost_usd: float | None = None


@dataclass(frozen=True)
class _Over:
    """A game that is over: its result, and what it used."""

    result: Stages
    degraded: bool
    calls: int
    cost_usd: float
    unpriced_calls: int


def _over(game: Planned, files: RunFiles, size: int) -> _Over:
    record = game_record(files.name, history := load_history(files.history))
    assert record is not None, "it is over"
    ranks = [entrant.rank for entrant in sorted(record.entrants, key=lambda entrant: entrant.seat)]
    return _Over(stages(ranks, game.models, size), history.status == "degraded", *used(files, done=True))


class Rating:
    """The rounds of one model's games. `UsageError` for what cannot be asked; nothing is written before `next`."""

    def __init__(self, asked: Asked, env: Mapping[str, str]) -> None:
        self.asked, self.pool = asked, read_pool(asked.pool)
        self.model = _plan(self.pool, asked)
        self.size, self.seats = len(self.pool.members) + 1, self.pool.seats
        self.blocks = asked.games // self.seats
        fewest = max(1, self.seats - len(self.pool.members))
        self.most = asked.entries or max(fewest, self.seats // 2)
        if not self.blocks:
            raise UsageError(f"--games: a block has {self.seats}, one for every seat; ask for as many or more")
        if not fewest <= self.most < self.seats:
            raise UsageError(
                f"--entries: {self.most} of {self.seats} seats; {fewest} to {self.seats - 1} can be its own"
            )
        what = hashlib.sha256(f"{self.pool.digest}/{json.dumps(self.model.record(), sort_keys=True)}".encode())
        seed = int(what.hexdigest()[:7], 16) if asked.seed is None else asked.seed
        labels = [*self.pool.labels, "rated"]
        casts = [self.pool.cast(plan) for plan in (*map(self.pool.plan, self.pool.members), self.model)]
        design = Design(seed, 0, tuple(labels), paired=True)
        self.manifest = Manifest(design, (), tuple(casts)).limited(env, max_cost_usd=asked.max_cost_usd)
        stem = f"rate_{re.sub('[^A-Za-z0-9._-]+', '-', self.model.title)[:60]}_{what.hexdigest()[:8]}"
        self.directory = asked.out or asked.logs_dir / (stem if asked.seed is None else f"{stem}_{asked.seed}")
        if (there := read_manifest(self.directory)) is not None:
            self.manifest = replace(self.manifest, games=there.games)
            prepared(self.manifest, self.directory, asked.logs_dir)  # which refuses a batch that is another one
        self._over: dict[str, _Over] = {}

    def next(self) -> Manifest | None:
        """The games to play, in `directory`; None where the interval is narrow enough, or all games are played."""
        if self.finished:
            known = self.placement
            if known.width < self.asked.width:
                return None
            tables = next_tables(
                known.found, self.seats, most=self.most, played=self._played // self.seats, blocks=self.blocks
            )
            if not tables:
                return None
            rows = [row for number, table in enumerate(tables) for row in self._block(number, table)]
            self.manifest = replace(self.manifest, games=(*self.manifest.games, *rows))
            del self.placement
        _, self.manifest = prepared(self.manifest, self.directory, self.asked.logs_dir)
        return self.manifest

    @property
    def finished(self) -> bool:
        """Whether every game that is planned so far is over."""
        for game in self.manifest.games:
            files = RunFiles(self.directory, game.name)
            if game.name not in self._over:
                if not is_done(files, game.seed)[0]:
                    return False
                self._over[game.name] = _over(game, files, self.size)
        return True

    @property
    def _played(self) -> int:
        return len(self.manifest.games)

    def _block(self, ahead: int, table: tuple[int, ...]) -> list[Planned]:
        """A game for every seat: the labels, in an order of the block's own, move on by one seat from game to game."""
        number = self._played // self.seats + ahead
        seed = derived_seed(self.manifest.design.seed, number)
        order = np.random.default_rng(seed).permutation(table)
        return [
            Planned(
                f"game_{number * self.seats + turn + 1:04d}",
                seed,
                tuple(range(self.seats)),
                tuple(map(int, np.roll(order, turn))),
            )
            for turn in range(self.seats)
        ]

    @cached_property
    def placement(self) -> Placement:
        """Where the model stands by the games that are played, all of which are over."""
        own = [self._over[game.name].result for game in self.manifest.games]
        pool = self.pool.results(self.size)
        return placement(pool, own, self.size, block=self.seats, weight=self.pool.weight)

    def forecast(self, env: Mapping[str, str]) -> Forecast:
        """Of one game, the first that is planned, on bots."""
        return forecast(
            self.manifest.scenario(self.manifest.games[0]), games.find(self.pool.game), env=env, most_seconds=5.0
        )

    def rated(self) -> Rated:
        """What is known now, by the games that are played."""
        over, new = self._over.values(), self.size - 1
        seats = Counter(seat for game in self.manifest.games for seat, label in enumerate(game.models) if label == new)
        met = Counter(label for game in self.manifest.games for label in set(game.models) - {new})
        return Rated(
            model=self.model.title,
            pool=self.asked.pool,
            directory=self.directory,
            labels=tuple(self.pool.labels),
            placement=self.placement,
            games=self._played,
            entries=tuple(seats[seat] for seat in range(self.seats)),
            met=tuple(met[label] for label in range(new)),
            wide=self.placement.width >= self.asked.width,
            degraded=sum(each.degraded for each in over),
            calls=sum(each.calls for each in over),
            cost_usd=sum(each.cost_usd for each in over),
            unpriced_calls=sum(each.unpriced_calls for each in over),
        )


@dataclass(frozen=True)
class Rated:
    """Where a model stands against a pool; log strengths are natural logarithms, over the pool's mean.

    `entries` are the model's by seat, `met` its games with each of the `labels`. It is `wide` where all games were
    played and the interval is not as narrow as asked.
    """

    model: str
    pool: Path
    directory: Path
    labels: tuple[str, ...]
    placement: Placement
    games: int
    entries: tuple[int, ...]
    met: tuple[int, ...]
    wide: bool
    degraded: int
    calls: int
    cost_usd: float
    unpriced_calls: int

    @property
    def sentence(self) -> str:
        """What one may write."""
        strength, seats, known = self.placement.strength, len(self.entries), self.placement
        return (
            f"{self.model} has a log strength of {strength.value:+.2f} over the mean of {len(self.labels)} models of a "
            f"reference pool (95% of the posterior: {strength.low:+.2f} to {strength.high:+.2f}; {self.games} games of "
            f"{seats}, in which it had {sum(self.entries)} seats), and is the strongest of all with "
            f"{known.places[0]:.0%}."
        )

    def to_json(self) -> dict[str, Any]:
        """All of it, as JSON values."""
        known = self.placement
        members = zip(self.labels, known.members, known.stronger, self.met, strict=True)
        return {
            "model": self.model,
            "pool": str(self.pool),
            "directory": str(self.directory),
            "strength": asdict(known.strength),
            "width": known.width,
            "wide": self.wide,
            "places": list(known.places),
            "games": self.games,
            "entries": list(self.entries),
            "members": [
                {"label": label, "strength": asdict(each), "stronger": chance, "games": met}
                for label, each, chance, met in members
            ],
            "dispersion": None if known.dispersion is None else asdict(known.dispersion),
            "degraded": self.degraded,
            "calls": self.calls,
            "cost_usd": round(self.cost_usd, 10),
            "unpriced_calls": self.unpriced_calls,
            "sentence": self.sentence,
        }


def _plan(pool: Pool, asked: Asked) -> PlayerPlan:
    model = f"{OWN}{asked.model}" if asked.model in asked.own else asked.model
    return new_member(pool, model, overridden({}, asked.settings))


async def rate(
    model: str,
    pool: str | Path,
    *,
    games: int = GAMES,
    width: float = WIDTH,
    entries: int | None = None,
    set: Mapping[str, Any] | None = None,  # noqa: A002 - as on the command line
    seed: int | None = None,
    out: str | Path | None = None,
    logs_dir: str | Path | None = None,
    jobs: int | None = None,
    models: Mapping[str, OwnModel] | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
    max_cost_usd: float | None = None,
) -> Rated:
    """Rate a model against the reference pool in a file, in at most so many games (extra `analysis`).

    It stops where the interval of 95% of its log strength is narrower than `width`. At a table it has at most
    `entries` seats (half of them, rounded down). `set` changes its settings (`{"temperature": 0.2}`), which are
    otherwise those that all members have. The same call goes on where one ended. Raises as `batch`.
    """
    found = environment(None, allow_keys) if env is None else Variables(env, allow_keys)
    asked = Asked(
        model,
        Path(pool),
        games=games,
        width=width,
        entries=entries,
        settings=set or {},
        seed=seed,
        out=None if out is None else Path(out),
        logs_dir=logs_folder(logs_dir),
        own=models or (),
        max_cost_usd=max_cost_usd,
    )
    rating = Rating(asked, found)
    while (manifest := rating.next()) is not None:
        jobs = jobs or at_once(manifest)
        result = await run_batch_in_loop(manifest, rating.directory, env=found, jobs=jobs, abort_after=5, own=models)
        if result.stopped is not None:
            raise result.stopped
        if not result.complete:
            raise AgentsimError(f"{rating.directory}: not every game came to a result; the same call tries again")
    return rating.rated()
