"""Small functions on words that games and displays share: cutting, counting, listing.

Nothing here changes a decision.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

__all__ = ["CUT", "counted", "cut", "first_place", "listed", "near", "sentence", "snake_case"]

CUT = " [cut]"
_LONGEST = 200  # characters of a name that is compared


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, with a visible mark where there were more."""
    text = text.strip()
    return text if len(text) <= limit else text[: limit - len(CUT)].rstrip() + CUT


def counted(count: int, noun: str) -> str:
    """So many of a thing, whose plural is regular: `1 vote`, `0 votes`."""
    return f"{count} {noun}{'s' * (count != 1)}"


def listed(names: Sequence[str]) -> str:
    """Names within a sentence: `A, B and C`."""
    return ", ".join(names) if len(names) < 2 else f"{', '.join(names[:-1])} and {names[-1]}"


def first_place(names: Sequence[str], alone: str = "wins") -> str:
    """Who came first, one or several: `A wins`, `A, B share the first place`."""
    return f"{names[0]} {alone}" if len(names) == 1 else f"{', '.join(names)} share the first place"


def near(name: str, known: Sequence[str]) -> str:
    """A hint for a misspelt name, to be appended to an error; "" where none is near."""
    found = difflib.get_close_matches(name[:_LONGEST], known, n=1)
    return f" (did you mean {found[0]}?)" if found else ""


def sentence(words: str) -> str:
    """Words as a sentence: a capital at its beginning, a full stop where it has no end of its own; "" stays nothing."""
    words = words.strip()
    return words and words[0].upper() + words[1:] + ("" if words[-1] in ".!?…" else ".")


def snake_case(name: str) -> str:
    """A class's name in small letters: `ItemSold` is `item_sold`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().lstrip("_")
