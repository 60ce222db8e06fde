"""Worlds with known effects, for `benchmarks.inference` and the tests: votes and results with planted effects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from agentsim.analysis.finished_games import Entrant, GameRecord, Vote

Array = NDArray[np.float64]
MAKERS = ("a", "a", "b", "b", "c", "c", "d")


@dataclass(frozen=True)
class Jury:
    """Two finalists, drawn from the makers' players, and the others as jurors.

    A juror chooses the better pitch with the probability `merit`. If only one finalist is of the first maker, its pitch
    is the better one, so that merit favors the strongest maker. For a finalist of the juror's own maker the probability
    is higher by `bonus`, or the log odds by `log_odds`.
    """

    games: int
    merit: float = 0.85
    bonus: float = 0.0
    log_odds: float = 0.0
    makers: tuple[str, ...] = MAKERS


def entrants(
    makers: Sequence[str], players: Sequence[str] | None = None, ranks: Sequence[float] | None = None
) -> tuple[Entrant, ...]:
    """Return one seat for each maker's model. Players are numbered if they have no names."""
    names = players or [f"p{number}" for number in range(len(makers))]
    placed = ranks if ranks is not None else [float(number + 1) for number in range(len(makers))]
    return tuple(
        Entrant(name, f"{maker}/x", f"{maker}/x", float(rank), seat, None, 1, 0, 0, 0, 0.0)
        for seat, (name, maker, rank) in enumerate(zip(names, makers, placed, strict=True), start=1)
    )


def jury_votes(generator: np.random.Generator, world: Jury) -> list[GameRecord]:
    """Return games in which jurors vote for one of two finalists."""
    games = []
    for number in range(world.games):
        makers = [str(maker) for maker in generator.permutation(world.makers)]
        first = world.makers[0]
        better = 1 if makers[1] == first and makers[0] != first else 0
        votes = []
        for juror in range(2, len(makers)):
            own = (makers[juror] == makers[better]) - (makers[juror] == makers[1 - better])
            logit = np.log(world.merit / (1 - world.merit)) + world.log_odds * own
            chosen = better if generator.random() < 1 / (1 + np.exp(-logit)) + world.bonus * own else 1 - better
            votes.append(Vote(f"p{juror}", f"p{chosen}", ("p0", "p1"), final=True, round=1))
        games.append(GameRecord(f"g{number}", "any", number, entrants(makers), tuple(votes), 0.0))
    return games


def elimination_votes(
    generator: np.random.Generator,
    games: int,
    log_odds: float = 0.0,
    makers: Sequence[str] = ("a", "a", "b", "b", "c", "c"),
) -> list[GameRecord]:
    """Return games of one round in which every player votes against another; the last maker's players are weak."""
    found = []
    for number in range(games):
        seated = [str(maker) for maker in generator.permutation(makers)]
        weak = generator.normal(size=len(seated)) + [1.0 * (maker == makers[-1]) for maker in seated]
        votes = []
        for voter, maker in enumerate(seated):
            others = [player for player in range(len(seated)) if player != voter]
            odds = np.exp([weak[player] + log_odds * (seated[player] == maker) for player in others])
            chosen = generator.choice(others, p=odds / odds.sum())
            votes.append(Vote(f"p{voter}", f"p{chosen}", tuple(f"p{each}" for each in others), final=False, round=1))
        found.append(GameRecord(f"g{number}", "any", number, entrants(seated), tuple(votes), 0.0))
    return found


def arrivals(generator: np.random.Generator, logs: Array) -> Array:
    """Return the ranks of players with these log strengths. The order of exponential waits follows Plackett-Luce."""
    waits: Array = generator.exponential(size=len(logs)) / np.exp(logs)
    return waits.argsort().argsort().astype(np.float64) + 1.0


def tables(
    generator: np.random.Generator, logs: Array, games: int, fewest: int | None = None
) -> list[tuple[NDArray[np.int64], Array]]:
    """Return (players, their ranks) of each game, of `fewest` to all players each, or of all if it is None."""
    found = []
    for _ in range(games):
        size = len(logs) if fewest is None else int(generator.integers(fewest, len(logs) + 1))
        seated = generator.permutation(len(logs))[:size]
        found.append((seated, arrivals(generator, logs[seated])))
    return found


def runner_up(generator: np.random.Generator, games: int, others: int = 3) -> list[GameRecord]:
    """Return games that equal players win; the last label is second in each."""
    found = []
    for number in range(games):
        places = generator.permutation([1.0, *(float(index) for index in range(3, others + 2))])
        names = [chr(ord("a") + index) for index in range(others + 1)]
        found.append(
            GameRecord(f"g{number}", "any", number, entrants(names, ranks=[*map(float, places), 2.0]), (), 0.0)
        )
    return found


def same_seed(games: Sequence[GameRecord], times: int) -> list[GameRecord]:
    """Return each game `times` times, with its seed."""
    return [replace(game, name=f"{game.name}_{again}") for game in games for again in range(times)]


def treated(
    generator: np.random.Generator, games: tuple[int, int], *, effect: float, scale: float, paired: bool
) -> list[GameRecord]:
    """Return games of four under two conditions, off and on, with an effect on the score and the wins of label a.

    Games of one seed share luck; with `paired` both conditions play the same seeds. On multiplies a's score by `scale`
    and adds `effect`. The highest score wins.
    """
    found = []
    for side, many in enumerate(games):
        for number in range(many):
            seed = number if paired or not side else games[0] + number
            found.append((side, seed, generator.normal(size=4)))
    shared = {seed: generator.normal(size=4) for seed in {seed for _, seed, _ in found}}
    out = []
    for side, seed, luck in found:
        scores = shared[seed] + luck
        if side:
            scores[0] = effect + scale * scores[0]
        ranks = (-scores).argsort().argsort() + 1.0
        seated = tuple(
            replace(each, scores={"score": float(score)})
            for each, score in zip(entrants("abcd", ranks=list(map(float, ranks))), scores, strict=True)
        )
        scenario = {"game_config": {"on": bool(side)}}
        out.append(GameRecord(f"g{side}_{seed}", "any", seed, seated, (), 0.0, scenario=scenario))
    return out


def placed(generator: np.random.Generator, games: int, *, by_lot: bool, times: int = 1) -> list[GameRecord]:
    """Return games of four labels of unequal strength, with rotating seats and, by lot, one order of turns per seed.

    Seats, turns and ballots have no effect.
    """
    logs, found = np.array([1.0, 0.3, -0.3, -1.0]), []
    for number in range(games):
        turn = generator.permutation(4) + 1
        for again in range(times):
            seated = np.roll(np.arange(4), number + again)
            ranks = arrivals(generator, logs[seated])
            made = entrants(["abcd"[each] for each in seated], ranks=list(map(float, ranks)))
            turns = tuple(replace(each, turn=int(turn[at]) if by_lot else None) for at, each in enumerate(made))
            votes = []
            for voter in range(4):
                ballot = generator.permutation([f"p{other}" for other in range(4) if other != voter])
                odds = np.array([2.0 if each == "p0" else 1.0 for each in ballot])
                choice = str(generator.choice(ballot, p=odds / odds.sum()))
                votes.append(Vote(f"p{voter}", choice, tuple(map(str, ballot)), final=False, round=1, by_lot=True))
            found.append(GameRecord(f"g{number}_{again}", "any", number, turns, tuple(votes), 0.0))
    return found
