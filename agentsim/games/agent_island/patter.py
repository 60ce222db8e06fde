"""Patter: what bots say, from a small seeded grammar over what really happened in the game.

Whom a bot votes for or trusts is decided in `bots`; here are only words.
"""

from __future__ import annotations

from agentsim.engine.chance import Stream
from agentsim.games.agent_island.events import listed
from agentsim.games.agent_island.view import View

__all__ = ["note", "pitch", "quip", "whisper"]

_OPENINGS = (
    "I will be brief.",
    "Listen before you vote.",
    "You have heard a lot already, so here is what counts.",
    "I have no grand plan, only a record.",
    "Let us look at the facts.",
)
_PLEAS = (
    "Keep me, and you keep a quiet neighbour.",
    "I am no danger to anybody here.",
    "I remember who stood by me, and I pay my debts.",
    "Send home someone who makes bigger promises.",
    "There are better targets in this circle than me.",
)
_JURY_PLEAS = (
    "Judge me by how I played, not by how I talk.",
    "I said what I would do and then did it.",
    "Nobody carried me to this seat.",
    "If you want an honest winner, you know where to look.",
)
_QUIPS = (
    "{name} speaks softly and counts quickly.",
    "I would buy a boat from {name}, but not a map.",
    "{name} has survived {rounds}, and that takes something.",
    "If {name} has a plan, it is well hidden.",
    "{name} and I could do business.",
)
_WHISPERS = (
    "What do you make of {other}?",
    "If you leave me alone, I leave you alone.",
    "{other} worries me more than you do.",
    "Let us both look at {other} this time.",
)


def pitch(view: View, me: str, luck: Stream) -> str:
    """A pitch of three or four sentences."""
    sentences = [luck.pick(_OPENINGS), _fact(view, me, luck)]
    others = [player for player in view.active if player != me]
    if others and not view.final:
        other = luck.pick(others)
        spoken = view.pitches()[other]
        sentences.append(f"{other} {'has talked a good deal' if spoken > 300 else 'has said little so far'}.")
    sentences.append(luck.pick(_JURY_PLEAS if view.final else _PLEAS))
    return " ".join(sentences)


def _fact(view: View, me: str, luck: Stream) -> str:
    if not view.tallies:
        return f"There are {len(view.active)} of us and nobody has done anything wrong yet."
    tally = luck.pick(view.tallies)
    votes = dict(tally.votes)
    if tally.tied:
        return f"In round {tally.round} only the lot parted {listed(tally.tied)}, and {tally.chosen} had to go."
    if votes.get(me) == 0:
        return f"In round {tally.round} not one of you named me, and {tally.chosen} left with {votes[tally.chosen]}."
    return f"{tally.chosen} left in round {tally.round} with {votes[tally.chosen]} against."


def whisper(view: View, me: str, partner: str, luck: Stream) -> str:
    """A private line to a partner."""
    others = [player for player in view.active if player not in {me, partner}]
    return luck.pick(_WHISPERS).format(other=luck.pick(others) if others else "the jury")


def quip(view: View, about: str, luck: Stream) -> str:
    """A public line about somebody."""
    survived = len(view.tallies)
    rounds = f"{survived} round{'s' * (survived != 1)}" if survived else "breakfast"
    return luck.pick(_QUIPS).format(name=about, rounds=rounds)


def note(view: View, me: str) -> str:
    """What a bot remembers of the round that has just ended."""
    if not view.tallies:
        return "Nothing has been decided yet."
    tally = view.tallies[-1]
    mine = dict(tally.votes).get(me, 0)
    return f"{tally.chosen} left. I had {mine} vote{'s' * (mine != 1)} against me. Left: {listed(view.active)}."
