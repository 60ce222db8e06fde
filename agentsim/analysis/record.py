"""record: what is needed of one game to compare its players: who they were, where they sat, how they came out.

What is reckoned from it belongs to the other modules here; the history's own format is `history.record`.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from agentsim import games
from agentsim.engine.interaction import AGAINST, FOR
from agentsim.errors import ScenarioError, UsageError
from agentsim.history.fallbacks import Share, shares_in
from agentsim.history.load import derived, told_events
from agentsim.history.pairs import pairs
from agentsim.history.record import FINISHED, DecisionRecord, ForkRecord, History

__all__ = ["Between", "Entrant", "GameRecord", "Vote", "game_record", "labelled", "vendor"]


@dataclass(frozen=True, slots=True)
class Entrant:
    """One player of one game. `rank` has ties at their middle: 1.5, 1.5, 3; `spoke` is None for who never did.

    `seat` counts from 1 in the order of the table, `spoke` in the order of the first round in which they all speak.
    `asked` are the decisions that no bot made, `turned_away` those of them that the game itself refused.
    """

    player: str
    model: str
    label: str
    rank: float
    seat: int
    spoke: int | None
    decisions: int
    calls: int
    reasks: int
    fallbacks: int
    cost_usd: float | None
    asked: int = 0
    turned_away: int = 0


@dataclass(frozen=True, slots=True)
class Vote:
    """A vote for one of a ballot; `final` where it is for the winner and not for who must go."""

    voter: str
    choice: str
    ballot: tuple[str, ...]
    final: bool


@dataclass(frozen=True, slots=True)
class Between:
    """How often `who` did something for or against `whom` in a game, and how often the pair turned either way."""

    who: str
    whom: str
    done_for: int
    done_against: int
    turned_for: int
    turned_against: int


@dataclass(frozen=True, slots=True)
class GameRecord:
    """One finished game, with the votes that its events tell of; a branch has a `parent`, `fork` says what it did.

    A branch's decisions, calls and dollars are those of its own part: the rest is its parent's. `certain` is there
    where bots alone decided that part: two games with the same could not have come out differently. `between` has the
    pairs of which one was for or against the other; None where the game is not installed, or its events are of other
    rules.
    `fallen` is the largest share of fallbacks in it, as `history.shares` looks for it.
    """

    name: str
    game: str
    seed: int
    entrants: tuple[Entrant, ...]
    votes: tuple[Vote, ...]
    cost_usd: float | None
    parent: str | None = None
    fork: str = ""
    certain: str | None = None
    between: tuple[Between, ...] | None = ()
    fallen: float = 0.0


def game_record(name: str, history: History) -> GameRecord | None:
    """The record of a history; None where the game has no outcome."""
    outcome = history.outcome
    if outcome is None or history.status not in FINISHED:
        return None
    ranks = _middled({standing.player: standing.rank for standing in outcome.standings})
    spoke = _spoke(history)
    own = [each for each in history.decisions if not history.inherits(each)]
    decided = Counter(decision.player for decision in own)
    fork, paid = history.fork, history.paid
    by_player = paid.by_player or {}
    fallbacks = shares_in(history)
    entrants = []
    seated = history.seated
    for seat, player in enumerate(seated, start=1):
        usage, share = by_player.get(player.id), fallbacks.by_player.get(player.id, Share())
        entrants.append(
            Entrant(
                player=player.id,
                model=player.model,
                label=player.model,
                rank=ranks.get(player.id, float(len(seated))),
                seat=seat,
                spoke=spoke.get(player.id),
                decisions=decided[player.id],
                calls=usage.calls if usage else 0,
                reasks=usage.reasks if usage else 0,
                fallbacks=usage.fallbacks if usage else 0,
                cost_usd=usage.cost_usd if usage else 0.0,
                asked=share.decisions,
                turned_away=share.turned_away,
            )
        )
    votes = tuple(_votes(history))
    parent = None if history.fork is None else history.fork.of
    return GameRecord(
        name=name,
        game=history.game,
        seed=history.seed,
        entrants=tuple(entrants),
        votes=votes,
        cost_usd=paid.cost_usd,
        parent=parent,
        fork=_fork(fork),
        certain=_certain(history, own),
        between=_between(history),
        fallen=fallbacks.worst,
    )


def labelled(games: Sequence[GameRecord], by: str) -> list[GameRecord]:
    """The games with entrants compared by `model` or by `player`."""
    return [
        replace(game, entrants=tuple(replace(each, label=getattr(each, by)) for each in game.entrants))
        for game in games
    ]


def vendor(model: str) -> str:
    """Who made a model, as far as its name tells: behind a router the second segment, else the provider."""
    first, _, rest = model.partition(" > ")[0].partition("/")
    return rest.partition("/")[0] if first == "openrouter" and "/" in rest else first


def _fork(fork: ForkRecord | None) -> str:
    """What a branch does otherwise, in a word: branches that do the same are compared with their parents together."""
    if fork is None:
        return ""
    done = [f"decision {fork.at}", *fork.changed]
    if fork.instead is not None:
        done.append(json.dumps(fork.instead, ensure_ascii=True))
    return ", ".join(done)


def _certain(history: History, own: Sequence[DecisionRecord]) -> str | None:
    """What a game follows from, in a digest, where that is all: bots draw from the seed, and from nothing else."""
    fork = history.fork
    given = None if fork is None or fork.instead is None else fork.at
    if any(each.source != "bot" and each.index != given for each in own):
        return None
    done = None if fork is None else [fork.of, fork.at, fork.instead, fork.changed, fork.salts]
    what = [history.game, history.rules_version, history.seed, history.scenario, done]
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def _between(history: History) -> tuple[Between, ...] | None:
    try:
        log = told_events(history, games.find(history.game))
        dealt = derived(partial(pairs, names=history.names), log, history)
    except (UsageError, ScenarioError):
        return None
    found = []
    for pair in dealt:
        done_for, done_against = pair.times(FOR), pair.times(AGAINST)
        if done_for or done_against:
            turned = Counter(sign for _, sign in pair.turns)
            found.append(Between(pair.who, pair.whom, done_for, done_against, turned[FOR], turned[AGAINST]))
    return tuple(found)


def _middled(ranks: Mapping[str, int]) -> dict[str, float]:
    """Ranks 1, 1, 3 as 1.5, 1.5, 3, so that those of one game always sum to the same."""
    counts = Counter(ranks.values())
    return {player: rank + (counts[rank] - 1) / 2 for player, rank in ranks.items()}


def _spoke(history: History) -> dict[str, int]:
    """Who was heard in which place: in the first round in which every player decides something that is told."""
    everybody = {player.id for player in history.seated}
    for part in history.rounds:
        heard: dict[str, int] = {}
        for event in part.events:
            player = event.role.removeprefix("player ")
            if event.visibility == "all" and event.role != player and player in everybody and player not in heard:
                heard[player] = len(heard) + 1
        if len(heard) == len(everybody):
            return heard
    return {}


def _votes(history: History) -> list[Vote]:
    found = []
    for part in history.rounds:
        final = any(event.data.get("final") is True for event in part.events)
        for event in part.events:
            vote = _vote(event.data, final=final)
            if vote is not None:
                found.append(vote)
    return found


def _vote(data: Mapping[str, Any], *, final: bool) -> Vote | None:
    """An event with a voter, a choice and the ballot that it was made from is a vote, whatever its game calls it."""
    voter, choice, ballot = data.get("voter"), data.get("choice"), data.get("ballot")
    if not (isinstance(voter, str) and isinstance(choice, str) and isinstance(ballot, list) and choice in ballot):
        return None
    return Vote(voter, choice, tuple(map(str, ballot)), final)
