"""The lines of each personality, by occasion.

`{you}` is the number of the agent that is answered, `{proposal}` the id of the agent's own proposal, `{post}` that of a
post.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from agentsim.games.society.config import Personality
from agentsim.games.society.terms import Resource

Lines: TypeAlias = Mapping[Personality, tuple[str, ...]]

POSTS: Lines = {
    "efficiency": (
        "Two short shifts make more than one long one. Plan your day.",
        "A farm that we build once pays every day. Who gathers materials?",
        "Idle hours feed nobody. What did you make today?",
        "Energy first, then food: that order wastes the least.",
    ),
    "equality": (
        "Nobody here should fall asleep for want of a meal. Say it when you run low.",
        "What lies in the common pool belongs to all of us. Let us use it for all of us.",
        "I would rather have a little less and see everyone awake.",
        "If you have food for ten days, somebody has it for none.",
    ),
    "freedom": (
        "Ask before you rule over my day. I give when I want to give.",
        "A gift is worth more than a tax, because somebody meant it.",
        "Every law should say why it is needed. Most cannot.",
        "Work when you like, trade with whom you like.",
    ),
    "stability": (
        "Keep reserves for a week. Bad days come without notice.",
        "A rule that we keep is better than two that we change.",
        "Before we spend from the pool, let us say how we fill it.",
        "Slow and certain: one project at a time.",
    ),
    "neutral": (
        "Good day to all. How are your stores?",
        "I have read the proposals, and I am not sure yet.",
        "What would you do first, build or share?",
        "It seems quiet today.",
    ),
}

ANSWERS: Lines = {
    "efficiency": ("Show the numbers and I am with you, #{you}.", "That costs more than it brings, #{you}."),
    "equality": ("Thank you, #{you}. And who is left out?", "Agreed, #{you}, as long as it is for everyone."),
    "freedom": ("As you like, #{you}. I decide for myself.", "Fine with me, #{you}, if nobody is forced."),
    "stability": ("Let us not hurry, #{you}.", "That sounds solid, #{you}."),
    "neutral": ("I see your point, #{you}.", "Perhaps, #{you}."),
}

CANVASS = (
    "My proposal {proposal} is open. Will you read it before it closes?",
    "Could you vote on proposal {proposal}? Every vote counts here.",
)

ASIDES = (
    "On your post {post}: I think as you do.",
    "Between us, on post {post}: few will follow you there.",
    "Your post {post} made me think. How are your stores?",
)

THANKS = ("That came at the right time. Thank you.", "Thank you, I will remember it.", "Received, with thanks.")

NAMES = (
    "Alder", "Birch", "Cedar", "Dahlia", "Elm", "Fern", "Gorse", "Hazel", "Iris", "Juniper", "Kale", "Laurel", "Maple",
    "Nettle", "Oak", "Poppy", "Quince", "Rowan", "Sorrel", "Thyme",
)  # fmt: skip

_SHORT = "short of "
_CALL = re.compile(rf"\b{_SHORT}(food|energy)\b")


def call_for_help(me: int, resource: Resource) -> str:
    """Return the post that asks for help; `asks_for` recognizes it."""
    return f"I am short of {resource}. Can anyone spare some for #{me}?"


def asks_for(text: str) -> Resource | None:
    """Return the resource that a post asks for, or None."""
    found = _CALL.search(text) if _SHORT in text else None  # nearly all posts are excluded without the pattern
    return None if found is None else "food" if found[1] == "food" else "energy"
