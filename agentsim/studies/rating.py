"""The rating of a new model against a reference pool, in rounds of games, until its interval is narrow enough.

The games are a batch in a folder of its own, whose manifest grows by one round at a time. The next games are chosen
from the results of those that are played, so the same command resumes a rating that was killed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from agentsim.analysis.finished_games import game_record
from agentsim.analysis.posterior import ChoiceSets, choice_sets
from agentsim.engine.wording import counted
from agentsim.errors import UsageError
from agentsim.lazy import dataclass
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.runs.batch.manifest import Design, Manifest, prepared, read_manifest
from agentsim.runs.batch.run_batch import Batch
from agentsim.runs.batch.seating import PlannedGame, derived_seed
from agentsim.runs.batch.tally import is_done, used
from agentsim.scenario.document import overridden
from agentsim.scenario.load import Overrides
from agentsim.scenario.player_plan import OWN
from agentsim.scenario.scenario import LimitOverrides
from agentsim.studies.placement import Placement, next_tables, placement
from agentsim.studies.reference_pool import new_member, read_pool

GAMES, WIDTH = 100, 0.5


@dataclass
class Rating:
    """The rounds of one model's games, and its rating by them. The command `rate` documents the options.

    Raises `UsageError` for options that are not valid. Writes no file before `next_games`.
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
    max_calls: int | None = None
    max_wall_s: float | None = None
    _over: dict[str, tuple[ChoiceSets, tuple[int, float, int]]] = field(default_factory=dict)
    _lost_to_host: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.frozen = pool = read_pool(self.pool)
        new = new_member(pool, f"{OWN}{self.model}" if self.model in self.own else self.model, overridden({}, self.set))
        self.seats, self.blocks = pool.seats, self.games // pool.seats
        fewest = max(1, self.seats - len(pool.members))
        self.most = self.entries or max(fewest, self.seats // 2)
        if not self.blocks:
            raise UsageError(f"--games: a block has {self.seats}, one for every seat; ask for at least as many")
        if not fewest <= self.most < self.seats:
            raise UsageError(
                f"--entries: {self.most} of {counted(self.seats, 'seat')}; {fewest} to {self.seats - 1} can be its own"
            )
        what = hashlib.sha256(f"{pool.digest}/{json.dumps(new.record(), sort_keys=True)}/{self.seed}".encode())
        seed = int(what.hexdigest()[:7], 16) if self.seed is None else self.seed
        casts = tuple(pool.cast(plan) for plan in (*map(pool.plan, pool.members), new))
        design = Design(seed, 0, (*pool.labels, f"{new.title} (rated)"), paired=True)
        limits = LimitOverrides(self.max_cost_usd, self.max_calls, self.max_wall_s)
        self.manifest = Manifest(design, (), casts).with_limits(self.env, limits)
        name = f"rate_{re.sub('[^A-Za-z0-9._-]+', '-', new.title)[:60]}_{what.hexdigest()[:8]}"
        self.directory = self.out or self.logs_dir / name
        if (there := read_manifest(self.directory)) is not None:
            self.manifest = replace(self.manifest, games=there.games)
            prepared(self.manifest, self.directory, self.logs_dir)  # raises if the folder has another batch

    def batches(self, **options: Any) -> Iterator[Batch]:
        """Yield the rounds that are left. The caller plays each before it asks for the next.

        Stops after a round with an incomplete game. The options are those of `Batch`.
        """
        while (manifest := self.next_games()) is not None:
            batch = Batch(manifest, self.directory, env=self.env, **options)
            yield batch
            if not batch.result.complete:
                return

    def next_games(self) -> Manifest | None:
        """Return the manifest to play in `directory`, or None if the interval is narrow enough or no game is left."""
        if self.finished:
            known, played = self.placement, len(self.manifest.games) // self.seats
            if played and (known.strength.width < self.width or played >= self.blocks):
                return None
            tables = next_tables(known.found, self.seats, most=self.most, played=played, blocks=self.blocks)
            rows = [row for number, table in enumerate(tables, played) for row in self._block(number, table)]
            self.manifest = replace(self.manifest, games=(*self.manifest.games, *rows))
            del self.placement
        _, self.manifest = prepared(self.manifest, self.directory, self.logs_dir)
        return self.manifest

    @property
    def finished(self) -> bool:
        """True if every game that is planned so far is over."""
        for game in self.manifest.games:
            files = RunFiles(self.directory, game.name)
            if game.name not in self._over:
                if not is_done(files, game.seed)[0]:
                    return False
                record = game_record(files.name, load_history(files.history))
                assert record is not None, "it is over"
                ranks = [entrant.rank for entrant in sorted(record.entrants, key=lambda entrant: entrant.seat)]
                result = choice_sets(ranks, game.models, len(self.manifest.casts))
                self._over[game.name] = result, used(files, done=True)
                if record.lost_to_host:
                    self._lost_to_host.append(game.name)
        return True

    def _block(self, number: int, table: tuple[int, ...]) -> list[PlannedGame]:
        """Return one game for every seat, all with one seed.

        The labels have a random order that is drawn for the block, and move on by one seat from game to game.
        """
        seed, seats = derived_seed(self.manifest.design.seed, number), range(self.seats)
        order = np.random.default_rng(seed).permutation(table)
        names = [f"game_{number * self.seats + turn + 1:04d}" for turn in seats]
        return [
            PlannedGame(name, seed, tuple(seats), tuple(np.roll(order, turn).tolist()))
            for turn, name in enumerate(names)
        ]

    @cached_property
    def placement(self) -> Placement:
        """The placement of the model by all planned games, which must be over."""
        return self._placed([game.name for game in self.manifest.games])

    @property
    def lost_to_host(self) -> list[str]:
        """The names of the games in which a decision was lost to a host."""
        return [game.name for game in self.manifest.games if game.name in self._lost_to_host]

    @property
    def without_host(self) -> Placement | None:
        """The placement without the games that lost a decision to a host, or None if none or all of them did."""
        left = [game.name for game in self.manifest.games if game.name not in self._lost_to_host]
        return self._placed(left) if 0 < len(left) < len(self.manifest.games) else None

    def _placed(self, games: Sequence[str]) -> Placement:
        own, size = [self._over[game][0] for game in games], len(self.manifest.casts)
        return placement(self.frozen.results(size), own, size, block=self.seats, weight=self.frozen.weight)

    @property
    def sentence(self) -> str:
        """The result as one sentence that may be quoted."""
        strength, first, size = self.placement.strength, self.placement.rank_probabilities[0], len(self.frozen.members)
        played = len(self.manifest.games)
        return (
            f"{self.model} has a log strength of {strength.value:+.2f} over the mean of a reference pool of "
            f"{counted(size, 'model')} (95% of the posterior: {strength.low:+.2f} to {strength.high:+.2f}; "
            f"{counted(played, 'game')} of {self.seats}, {sum(self.had)} of their seats), and is the strongest of all "
            f"with a probability of {first:.0%}."
        )

    @property
    def had(self) -> list[int]:
        """The number of games in which the model had each seat."""
        tables = [game.models for game in self.manifest.games]
        return [sum(table[seat] == len(self.frozen.members) for table in tables) for seat in range(self.seats)]

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON, once all planned games are over.

        Log strengths are relative to the mean of the pool. `seats` counts the games of the model in each seat, `games`
        of a member those in which it met the model. `wide` is true if the interval is wider than asked.
        """
        known, spent = self.placement, [spent for _, spent in self._over.values()]
        without = self.without_host
        by_member = zip(self.frozen.labels, known.members, known.stronger, strict=True)
        return {
            "model": self.model,
            "pool": str(self.pool),
            "directory": str(self.directory),
            "strength": asdict(known.strength),
            "width": known.strength.width,
            "wide": known.strength.width >= self.width,
            "rank_probabilities": list(known.rank_probabilities),
            "members": [
                {
                    "label": label,
                    "strength": asdict(strength),
                    "stronger": stronger,
                    "games": sum(number in game.models for game in self.manifest.games),
                }
                for number, (label, strength, stronger) in enumerate(by_member)
            ],
            "dispersion": None if known.dispersion is None else asdict(known.dispersion),
            "games": len(self.manifest.games),
            "lost_to_host": self.lost_to_host,
            "without_host": None if without is None else asdict(without.strength),
            "seats": self.had,
            "calls": sum(calls for calls, _, _ in spent),
            "cost_usd": round(sum(cost for _, cost, _ in spent), 10),
            "unpriced_calls": sum(unpriced for _, _, unpriced in spent),
            "sentence": self.sentence,
        }
