"""Invariants: checks that those of a game hold in every game, and that warnings of answers are true."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import prod

from agentsim.engine.decision import Decision
from agentsim.engine.event import PlayerId
from agentsim.engine.game import Game, RandomDraw, bots_of
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Ask, Request
from agentsim.engine.wording import counted
from agentsim.errors import DecisionError
from agentsim.testing.case import RANDOM, Asked, Case, SampleGame, data_of
from agentsim.testing.check import Check, Findings

_UNLIKELY = 1e-3
"""The probability, if draws are fair, below which draws that all fall on the first or last player are a finding."""


@Check
def invariants_hold(case: Case) -> Findings:
    """The game's `invariants` hold in every game, and its draws fall now on one player, now on another.

    An invariant is a statement of the rulebook about what is told and asked (`Game.invariants`): mend the rules.
    """
    if type(case.game).invariants is Game.invariants:
        return "nothing: the game has no `invariants`"
    draws: defaultdict[str, list[RandomDraw]] = defaultdict(list)
    for where, played in _games(case):
        for broken in case.game.invariants(played.steps(), case.players):
            if isinstance(broken, RandomDraw):
                draws[broken.what].append(broken)
            else:
                yield where, broken
    for what, drawn in draws.items():
        for position, word in ((0, "first"), (-1, "last")):
            fixed = all(draw.among[position] == draw.chosen for draw in drawn)
            if fixed and prod(1 / len(draw.among) for draw in drawn) < _UNLIKELY:
                yield (
                    f"{counted(len(drawn), 'draw')}, {what}",
                    f"each falls on the {word} of those among whom it is drawn",
                )
    said = f", {counted(sum(map(len, draws.values())), 'draw')}" if draws else ""
    return f"the courses of {counted(case.seeds, 'game')} and of each bot's{said}"


def _games(case: Case) -> Iterator[tuple[str, SampleGame]]:
    yield from ((f"seed {seed}", played) for seed, played in enumerate(case.games))
    yield from ((f"a game of bot/{name}", case.game_by(f"bot/{name}")) for name in bots_of(case.game))
    yield f"a game of {RANDOM}", case.game_by(RANDOM)


@Check
def warnings_true(case: Case) -> Findings:
    """Where the others do nothing, an answer that a person is warned of is turned away, and no other one is.

    Ask the same `why_not` in a request's `warning` and in the rules, and let the request know what it needs.
    """
    if all(kind.warning is Request.warning for kind in case.game.requests):
        return "nothing: no question of the game has a `warning`"
    warned = judged = 0
    games = ((seed, player) for seed in range(case.seeds) for player in case.players)
    for seed, player in games:
        for asked, away in _alone(case, seed, player):
            warning = asked.ask.request.warning(asked.decision)
            judged += 1
            warned += bool(warning)
            if warning and not away:
                yield f"seed {seed}, {asked}", f"{asked.decision} is warned of ({warning!r}), and is not turned away"
            elif away and not warning:
                yield f"seed {seed}, {asked}", f"{asked.decision} is turned away ({away!r}) without a warning"
    return f"{counted(judged, 'answer')}, {warned} of them warned of" if warned else "nothing: no answer was warned of"


def _alone(case: Case, seed: int, player: PlayerId) -> Iterator[tuple[Asked, str]]:
    """Yield every answer of a player, with its refusal by the game, in a game in which all others give their fallbacks.

    Each second answer to a kind of question repeats the one before, which exhausts limited resources.
    """
    play, said = case.start(seed), dict[str, Decision]()
    wave = play.start()
    while wave is not None:
        told, asked = len(play.log), []
        for ask in wave.asks:
            kind, decision = ask.request.kind, ask.request.fallback()
            if ask.request.player == player:
                policy = random_decision if ask.nth % 4 == 3 else case.bot
                again = said.get(kind) if ask.nth % 2 == 0 else None
                said[kind] = decision = _legal(ask, again) or policy(ask.request, play.bot_rng(ask))
            asked.append(Asked(ask, decision, data_of(ask), told, ""))
        wave = play.answer([each.decision for each in asked])
        for each in (each for each in asked if each.player == player):
            heard = (entry.event for entry in play.log[told:] if entry.decision == each.ask.index)
            away = [event.content or event.heading for event in heard if event.turned_away]
            yield each, "; ".join(away)


def _legal(ask: Ask, decision: Decision | None) -> Decision | None:
    """Return the decision if it is a legal answer to this question, else None."""
    if decision is not None:
        try:
            ask.request.check(decision)
        except DecisionError:
            return None
    return decision
