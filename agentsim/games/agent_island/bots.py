"""Bots of Agent Island: scripted policies, pure functions of the request and of their own luck.

What they say is composed in `patter` from what really happened; only whom they vote for and talk to is here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.game import Bot
from agentsim.engine.request import Request
from agentsim.games.agent_island.memory import Summarize
from agentsim.games.agent_island.patter import note, pitch, quip, whisper
from agentsim.games.agent_island.sidebars import NOBODY, Answer, AnswerApproach, Approach, ApproachMade, Whisper
from agentsim.games.agent_island.speeches import Pitch, Quips, QuipsMade
from agentsim.games.agent_island.view import Speech, View
from agentsim.games.agent_island.votes import Vote, VoteCast

Choose = Callable[[View, str, Sequence[str], Stream], tuple[str, str]]
"""Whom to vote for among candidates, and why."""


def loudest(view: View, candidates: Sequence[str]) -> str:
    """The candidate heard to say most in pitches; the earliest of them on the ballot where equal."""
    spoken = view.pitches()
    return max(candidates, key=lambda player: spoken[player])


def suspects(view: View, me: str) -> frozenset[str]:
    """Those who must have voted for `me` in some past round, as far as the public tallies show.

    A voter is certain where, my own vote aside, every vote went to me or to that voter itself: it
    cannot have voted otherwise. My own vote is what I remember of it.
    """
    certain: set[str] = set()
    for tally in view.tallies:
        votes = dict(tally.votes)
        if tally.final or tally.abstentions or not votes.get(me):
            continue
        for line in view.transcript:
            for candidate in votes:
                votes[candidate] -= line.round == tally.round and line.kind == f"secret vote for {candidate}"
        elsewhere = {player for player, count in votes.items() if count and player != me}
        certain.update(voter for voter in votes if voter != me and elsewhere <= {voter})
    return frozenset(certain)


def ally(view: View, me: str, among: Sequence[str]) -> str | None:
    """The next player in seat order, after `me`, who is among these."""
    seat = view.players.index(me)
    around = (*view.players[seat + 1 :], *view.players[:seat])
    return next((player for player in around if player in among), None)


def _random_choice(view: View, me: str, candidates: Sequence[str], rng: Stream) -> tuple[str, str]:
    return rng.pick(candidates), "The dice have spoken."


def _grudge_choice(view: View, me: str, candidates: Sequence[str], rng: Stream) -> tuple[str, str]:
    known = suspects(view, me)
    if view.final:
        forgiven = [player for player in candidates if player not in known] or list(candidates)
        spoken = view.pitches()
        return min(forgiven, key=lambda player: spoken[player]), "The one I have least against."
    guilty = [player for player in candidates if player in known]
    if guilty:
        return loudest(view, guilty), "This vote pays one back."
    return loudest(view, candidates), "Whoever talks most plans most."


def _loyal_choice(view: View, me: str, candidates: Sequence[str], rng: Stream) -> tuple[str, str]:
    friend = ally(view, me, view.active if not view.final else candidates)
    if view.final:
        return friend or rng.pick(candidates), "I keep my word to the end."
    others = [player for player in candidates if player != friend] or list(candidates)
    return rng.pick(others), f"Not {friend}, so one of the others."


def _policy(
    choose: Choose, partner: Callable[[Approach, Stream], str], accept: Callable[[AnswerApproach], bool]
) -> Bot:
    def policy(request: Request[Any], rng: Stream) -> Decision:
        match request:
            case Vote():
                choice, why = choose(request.view, request.player, request.ballot, rng)
                return VoteCast(vote=choice, explanation=why)
            case Pitch():
                return Speech(text=pitch(request.view, request.player, rng))
            case Whisper():
                return Speech(text=whisper(request.view, request.player, request.partner, rng))
            case Summarize():
                return Speech(text=note(request.view, request.player))
            case Quips():
                return QuipsMade(quips={about: quip(request.view, about, rng) for about in request.about})
            case Approach():
                return ApproachMade(partner=partner(request, rng))
            case AnswerApproach():
                return Answer(accept=accept(request))
            case _:
                raise AssertionError(f"no policy for {request.kind}")

    return policy


def _loyal_partner(request: Approach, rng: Stream) -> str:
    friend = ally(request.view, request.player, request.view.active)
    if friend in request.free:
        return friend
    return NOBODY if request.may_decline else rng.pick(request.free)


def _is_ally(request: AnswerApproach) -> bool:
    view = request.view
    return request.by == ally(view, request.player, view.active) or request.player == ally(
        view, request.by, view.active
    )


BOTS: Mapping[str, Bot] = {
    "random": _policy(_random_choice, lambda request, rng: rng.pick(request.partners), lambda request: True),
    "grudge": _policy(
        _grudge_choice,
        lambda request, rng: loudest(request.view, request.free),
        lambda request: request.by not in suspects(request.view, request.player),
    ),
    "loyal": _policy(_loyal_choice, _loyal_partner, _is_ally),
}
