"""Patter: what bots say, from a small seeded grammar over what really happened in the game.

Whom a bot votes for or trusts is decided in `bots`; here are only words.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentsim.engine.chance import Stream
from agentsim.engine.wording import counted, listed
from agentsim.games.agent_island.state import Tally
from agentsim.games.agent_island.view import View

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
    """A pitch of three or four sentences."""
    facts = list(_facts(view, me)) or [f"There are {len(view.active)} of us and nobody has done anything wrong yet."]
    sentences = [rng.pick(_OPENINGS), rng.pick(facts)]
    others = [player for player in view.active if player != me]
    if others and not view.final:
        sentences.append(rng.pick(list(_remarks(view, rng.pick(others)))))
    sentences.append(rng.pick(_JURY_PLEAS if view.final else _PLEAS))
    return " ".join(sentences)


def _facts(view: View, me: str) -> Iterator[str]:
    """What the public tallies say, as one speaker would put it."""
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
    """What is known of a player who is still in the game."""
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
    """The votes by which a player was eliminated."""
    return [tally for tally in view.tallies if not tally.final and tally.chosen is not None]


def whisper(view: View, me: str, partner: str, rng: Stream) -> str:
    others = [player for player in view.active if player not in {me, partner}]
    return rng.pick(_WHISPERS).format(other=rng.pick(others) if others else "the jury")


def quip(view: View, about: str, rng: Stream) -> str:
    survived = len(view.tallies)
    return rng.pick(_QUIPS).format(name=about, rounds=counted(survived, "round") if survived else "breakfast")


def note(view: View, me: str) -> str:
    """What a bot remembers of the round that has just ended."""
    if not view.tallies:
        return "Nothing has been decided yet."
    tally = view.tallies[-1]
    left = tally.chosen or "No player"
    return f"{left} left. I had {counted(_named(tally, me), 'vote')} against me. Left: {listed(view.active)}."
