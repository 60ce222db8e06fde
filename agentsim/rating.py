"""A new model rated against a reference pool: rounds of games, each chosen from what is known, until that is enough.

The games are a batch in a folder of its own, whose manifest grows by a round at a time. Which games come next follows
from those that are played, so that the same command goes on where one was killed. The command line and `rate` play the
same rounds.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from agentsim.analysis.game_records import game_record
from agentsim.analysis.inference import stages
from agentsim.analysis.placement import Placement, next_tables, placement
from agentsim.analysis.pool import new_member, read_pool
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
from agentsim.scenario.document import overridden
from agentsim.scenario.load import Overrides
from agentsim.scenario.plan import OWN

GAMES, WIDTH = 100, 0.5


@dataclass
class Rating:
    """The rounds of one model's games; `rate` says what is asked.

    Raises `UsageError` for what cannot be asked, and writes nothing before `next_games`.
    """

    model: str
    pool: Path
    env: Mapping[str, str]
    games: int = GAMES
    width: float = WIDTH
    entries: int | None = None
    set: Overrides = ()
    seed: int | None = None
    out: Path | None = None
    logs_dir: Path = Path("logs")
    own: Collection[str] = ()
    max_cost_usd: float | None = None
    _over: dict[str, tuple[Stages, tuple[int, float, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.frozen = pool = read_pool(self.pool)
        new = new_member(pool, f"{OWN}{self.model}" if self.model in self.own else self.model, overridden({}, self.set))
        self.seats, self.blocks = pool.seats, self.games // pool.seats
        fewest = max(1, self.seats - len(pool.members))
        self.most = self.entries or max(fewest, self.seats // 2)
        if not self.blocks:
            raise UsageError(f"--games: a block has {self.seats}, one for every seat; ask for as many or more")
        if not fewest <= self.most < self.seats:
            raise UsageError(
                f"--entries: {self.most} of {self.seats} seats; {fewest} to {self.seats - 1} can be its own"
            )
        what = hashlib.sha256(f"{pool.digest}/{json.dumps(new.record(), sort_keys=True)}/{self.seed}".encode())
        seed = int(what.hexdigest()[:7], 16) if self.seed is None else self.seed
        casts = tuple(pool.cast(plan) for plan in (*map(pool.plan, pool.members), new))
        design = Design(seed, 0, (*pool.labels, f"{new.title} (rated)"), paired=True)
        self.manifest = Manifest(design, (), casts).limited(self.env, max_cost_usd=self.max_cost_usd)
        name = f"rate_{re.sub('[^A-Za-z0-9._-]+', '-', new.title)[:60]}_{what.hexdigest()[:8]}"
        self.directory = self.out or self.logs_dir / name
        if (there := read_manifest(self.directory)) is not None:
            self.manifest = replace(self.manifest, games=there.games)
            prepared(self.manifest, self.directory, self.logs_dir)  # which refuses a batch that is another one

    def next_games(self) -> Manifest | None:
        """What to play, in `directory`; None where the interval is narrow enough, or all games are played."""
        if self.finished:
            known, played = self.placement, len(self.manifest.games) // self.seats
            if played and (known.width < self.width or played >= self.blocks):
                return None
            tables = next_tables(known.found, self.seats, most=self.most, played=played, blocks=self.blocks)
            rows = [row for number, table in enumerate(tables, played) for row in self._block(number, table)]
            self.manifest = replace(self.manifest, games=(*self.manifest.games, *rows))
            del self.placement
        _, self.manifest = prepared(self.manifest, self.directory, self.logs_dir)
        return self.manifest

    @property
    def finished(self) -> bool:
        """Whether every game that is planned so far is over."""
        for game in self.manifest.games:
            files = RunFiles(self.directory, game.name)
            if game.name not in self._over:
                if not is_done(files, game.seed)[0]:
                    return False
                record = game_record(files.name, load_history(files.history))
                assert record is not None, "it is over"
                ranks = [entrant.rank for entrant in sorted(record.entrants, key=lambda entrant: entrant.seat)]
                result = stages(ranks, game.models, len(self.manifest.casts))
                self._over[game.name] = result, used(files, done=True)
        return True

    def _block(self, number: int, table: tuple[int, ...]) -> list[Planned]:
        """A game for every seat, of one seed: the labels, in an order of the block's own, move on by a seat a game."""
        seed, seats = derived_seed(self.manifest.design.seed, number), range(self.seats)
        order = np.random.default_rng(seed).permutation(table)
        names = [f"game_{number * self.seats + turn + 1:04d}" for turn in seats]
        return [
            Planned(name, seed, tuple(seats), tuple(np.roll(order, turn).tolist())) for turn, name in enumerate(names)
        ]

    @cached_property
    def placement(self) -> Placement:
        """Where the model stands by the games that are planned, all of which are over."""
        own, size = [self._over[game.name][0] for game in self.manifest.games], len(self.manifest.casts)
        return placement(self.frozen.results(size), own, size, block=self.seats, weight=self.frozen.weight)

    def rated(self) -> Rated:
        """What is known, by the games that are planned, all of which are over."""
        games, new = self.manifest.games, len(self.frozen.members)
        spent = [spent for _, spent in self._over.values()]
        return Rated(
            model=self.model,
            directory=self.directory,
            members=tuple(self.frozen.labels),
            placement=self.placement,
            games=len(games),
            seats=tuple(sum(game.models[seat] == new for game in games) for seat in range(self.seats)),
            met=tuple(sum(label in game.models for game in games) for label in range(new)),
            wide=self.placement.width >= self.width,
            calls=sum(calls for calls, _, _ in spent),
            cost_usd=sum(cost for _, cost, _ in spent),
            unpriced_calls=sum(unpriced for _, _, unpriced in spent),
        )


@dataclass(frozen=True)
class Rated:
    """Where a model stands against a pool; log strengths are natural logarithms, over the pool's mean.

    `seats` is how often the model had each seat, `met` its games with each member. It is `wide` where all games were
    played and the interval is not as narrow as asked.
    """

    model: str
    directory: Path
    members: tuple[str, ...]
    placement: Placement
    games: int
    seats: tuple[int, ...]
    met: tuple[int, ...]
    wide: bool
    calls: int
    cost_usd: float
    unpriced_calls: int

    @property
    def sentence(self) -> str:
        """What one may write."""
        strength, first, size = self.placement.strength, self.placement.places[0], len(self.members)
        return (
            f"{self.model} has a log strength of {strength.value:+.2f} over the mean of a reference pool of {size} "
            f"models (95% of the posterior: {strength.low:+.2f} to {strength.high:+.2f}; {self.games} games of "
            f"{len(self.seats)}, {sum(self.seats)} of their seats), and is the strongest of all with {first:.0%}."
        )

    def to_json(self) -> dict[str, Any]:
        """All of it, as JSON values; the figures by member are in the order of `members`."""
        known = self.placement
        own = {key: value for key, value in vars(self).items() if key != "placement"}
        return {
            **own,
            "directory": str(self.directory),
            "strength": asdict(known.strength),
            "width": known.width,
            "strengths": [asdict(each) for each in known.members],
            "stronger": known.stronger,
            "places": known.places,
            "dispersion": None if known.dispersion is None else asdict(known.dispersion),
            "sentence": self.sentence,
        }


async def rate(
    model: str,
    pool: str | Path,
    *,
    logs_dir: str | Path | None = None,
    jobs: int | None = None,
    models: Mapping[str, OwnModel] | None = None,
    env: Mapping[str, str] | None = None,
    allow_keys: Collection[str] = (),
    **options: Any,
) -> Rated:
    """Rate a model against the reference pool in a file, in `games` games at most (100; extra `analysis`).

    It stops where the interval of 95% of the log strength is narrower than `width` (0.5). At a table the model has at
    most `entries` seats (half of them, rounded down). `set` has its settings (`{"temperature": 0.2}`), which are
    otherwise those that all members share. Further options are `seed`, `out` and `max_cost_usd`, as of `batch`. The
    same call goes on where one ended. Raises as `batch`.
    """
    found = environment(None, allow_keys) if env is None else Variables(env, allow_keys)
    rating = Rating(model, Path(pool), found, logs_dir=logs_folder(logs_dir), own=models or (), **options)
    while (manifest := rating.next_games()) is not None:
        at = jobs or at_once(manifest)
        result = await run_batch_in_loop(manifest, rating.directory, env=found, jobs=at, abort_after=5, own=models)
        if result.stopped is not None:
            raise result.stopped
        if not result.complete:
            raise AgentsimError(f"{rating.directory}: not every game came to a result; the same call tries again")
    return rating.rated()
