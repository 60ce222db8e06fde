"""Words: what each personality says, by occasion. When it says anything is `character`, and what it does is its own.

In a pitch `{name}` is who it is made to, and `{group}` the group that the proposer would have.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Lines: TypeAlias = Mapping[str, tuple[str, ...]]

SHARK: Lines = {
    "build": ("Mind your step from now on.", "Bricks are cheap. Visiting them is not.", "More houses. Mine."),
    "pitch": (
        "{group}, to me, now. You will not see better terms.",
        "Sign, {name}. Next turn it costs you.",
        "I want the {group} group. You want my price. Done.",
    ),
    "accept": ("Mine, then.", "Good. Now watch."),
    "reject": ("You insult me.", "Come back with real money.", "No. I take, I do not give."),
    "done": ("Wise. For once.", "That was the easy part."),
}
PROFESSOR: Lines = {
    "build": (
        "The expected return has passed my threshold, so I invest.",
        "By my figures, these houses pay for themselves.",
        "A textbook moment to build, if you follow the probabilities.",
    ),
    "pitch": (
        "By my estimate, {name}, this leaves us both better off.",
        "The {group} group for me, fair compensation for you: please check the arithmetic.",
        "I have priced in what this costs you, {name}. Shall we?",
    ),
    "accept": ("The expected value is not negative. Agreed.", "The numbers hold. I accept."),
    "reject": ("The expected value is negative, I am afraid.", "Your figures omit what it would cost me."),
    "done": ("A sound transaction, statistically speaking.", "Thank you. Both sides gain, on average."),
}
HUSTLER: Lines = {
    "build": ("Look at these beauties go up!", "Come and stay, first night is on you!", "All in! Well, nearly!"),
    "pitch": (
        "{name}, my friend, this is the deal of your LIFE!",
        "Only for you, {name}, and only today!",
        "I must be crazy to offer you this, {name}!",
        "Everybody wins, {name}, and you win most!",
    ),
    "accept": ("Deal! You will not regret it!", "Love it! Shake on it!"),
    "reject": ("Ha! Nice try, I taught you well!", "Almost! Sweeten it a little, friend!"),
    "done": ("What did I say? WIN-WIN!", "Pleasure, as always! Who is next?"),
}
TURTLE: Lines = {
    "build": ("Slowly.", "One more wall."),
    "pitch": ("Take it or leave it.", "My only offer, {name}."),
    "accept": ("Fine.", "All right."),
    "reject": ("No.", "Pass.", "Too little.", "I have what I need."),
    "done": ("Good.",),
}
