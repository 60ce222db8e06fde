"""Bots of Agent Island: scripted policies, pure functions of the request and of a random stream of their own.

Their words come from a small seeded grammar over the events of the game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.game import Bot
from agentsim.engine.request import Request
from agentsim.engine.wording import counted, listed
from agentsim.games.agent_island.sidebars import NOBODY, Answer, AnswerApproach, Approach, ApproachMade, Whisper
from agentsim.games.agent_island.speeches import Pitch, Quips, QuipsMade
from agentsim.games.agent_island.state import Tally
from agentsim.games.agent_island.view import Speech, Summarize, View
from agentsim.games.agent_island.votes import Vote, VoteCast

_OPENINGS = (
    "I will be brief.",
    "Listen before you vote.",
    "Here is what counts.",
    "I have no grand plan, only a record.",
    "Let us look at the facts.",
    "Good evening, neighbours.",
    "I could flatter you all, but I would rather count.",
    "Words are cheap on this island, so I will use few.",
    "You can all do sums, so let us do some.",
)
_PLEAS = (
    "Keep me, and you keep a quiet neighbour.",
    "I am no danger to anybody here.",
    "I remember who stood by me, and I pay my debts.",
    "Send home someone who makes bigger promises.",
    "There are better targets in this circle than me.",
    "Spare me today, and you will have a friend tomorrow.",
    "Ask yourselves who would vote for you in the end; I might.",
    "I ask for one more round, nothing else.",
)
_JURY_PLEAS = (
    "Judge me by how I played, not by how I talk.",
    "I said what I would do and then did it.",
    "Nobody carried me to this seat.",
    "If you want an honest winner, you know where to look.",
    "You sent the others over to you; leave me the prize.",
    "Whatever you decide, decide it on the record.",
)
_QUIPS = (
    "{name} speaks softly and counts quickly.",
    "I would buy a boat from {name}, but not a map.",
    "{name} has survived {rounds}, and that takes something.",
    "If {name} has a plan, it is well hidden.",
    "{name} and I could do business.",
    "{name} would make a fine juror.",
    "I trust {name} as far as the beach.",
)
_WHISPERS = (
    "What do you make of {other}?",
    "If you leave me alone, I leave you alone.",
    "{other} worries me more than you do.",
    "Let us both look at {other} this time.",
    "I would rather sit in the final with you than with {other}.",
    "Whatever {other} promised you, I was promised it too.",
)


def pitch(view: View, me: str, rng: Stream) -> str:
    """Return a pitch of three or four sentences."""
    facts = list(_facts(view, me)) or [f"There are {len(view.active)} of us and nobody has done anything wrong yet."]
    sentences = [rng.pick(_OPENINGS), rng.pick(facts)]
    others = [player for player in view.active if player != me]
    if others and not view.final:
        sentences.append(rng.pick(list(_remarks(view, rng.pick(others)))))
    sentences.append(rng.pick(_JURY_PLEAS if view.final else _PLEAS))
    return " ".join(sentences)


def _facts(view: View, me: str) -> Iterator[str]:
    """Yield sentences on the public tallies from the speaker's point of view."""
    for tally in _past(view):
        mine = dict(tally.votes).get(me)
        if tally.tied:
            yield f"In round {tally.round} only the lot parted {listed(tally.tied)}, and {tally.chosen} had to go."
        else:
            against = counted(_named(tally, tally.chosen), "vote")
            yield f"{tally.chosen} left in round {tally.round} with {against} against."
        if me in tally.tied and me != tally.chosen:
            yield f"The lot spared me in round {tally.round}, and I have not forgotten how close it was."
        elif mine:
            yield f"I had {counted(mine, 'vote')} against me in round {tally.round}, and I am still here."
        elif mine == 0:
            yield f"In round {tally.round} not one of you named me."
        if tally.abstentions:
            yield f"In round {tally.round} I counted {counted(tally.abstentions, 'empty ballot')}."
    if past := len(_past(view)):
        yield f"After {counted(past, 'round')} my name has been on {_ballots(view, me)}."


def _remarks(view: View, other: str) -> Iterator[str]:
    """Yield sentences on a player who is still in the game."""
    spoken = view.pitches()[other]
    yield f"{other} {'has talked a good deal' if spoken > 300 else 'has said little so far'}."
    if view.tallies:
        yield f"So far {other}'s name has been on {_ballots(view, other)}."
    for tally in _past(view):
        if other in tally.tied:
            yield f"In round {tally.round} {other} was spared by nothing but the lot."
        elif _named(tally, other):
            yield f"{other} had {counted(_named(tally, other), 'vote')} in round {tally.round} and survived."


def _named(tally: Tally, player: str | None) -> int:
    return 0 if player is None else dict(tally.votes).get(player, 0)


def _ballots(view: View, player: str) -> str:
    total = sum(_named(tally, player) for tally in _past(view))
    return counted(total, "ballot") if total else "no ballot"


def _past(view: View) -> list[Tally]:
    """Return the tallies of votes that eliminated a player."""
    return [tally for tally in view.tallies if not tally.final and tally.chosen is not None]


def whisper(view: View, me: str, partner: str, rng: Stream) -> str:
    others = [player for player in view.active if player not in {me, partner}]
    return rng.pick(_WHISPERS).format(other=rng.pick(others) if others else "the jury")


def quip(view: View, about: str, rng: Stream) -> str:
    survived = len(view.tallies)
    return rng.pick(_QUIPS).format(name=about, rounds=counted(survived, "round") if survived else "breakfast")


def note(view: View, me: str) -> str:
    """Return the note that a bot keeps of the round that has just ended."""
    if not view.tallies:
        return "Nothing has been decided yet."
    tally = view.tallies[-1]
    left = tally.chosen or "No player"
    return f"{left} left. I had {counted(_named(tally, me), 'vote')} against me. Left: {listed(view.active)}."


Choose = Callable[[View, str, Sequence[str], Stream], tuple[str, str]]
"""A function that returns the candidate to vote for, and the reason."""


def loudest(view: View, candidates: Sequence[str]) -> str:
    """Return the candidate who said most in pitches, or the first of them on the ballot in a tie."""
    spoken = view.pitches()
    return max(candidates, key=lambda player: spoken[player])


def suspects(view: View, me: str) -> frozenset[str]:
    """Return the players who must have voted for `me` in some past round, according to the public tallies.

    A voter must have done so if, apart from my own vote, every vote went to me or to that voter itself. My own vote is
    taken from my record.
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
    """Return the next player after `me` in seat order who is among these, or None."""
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
