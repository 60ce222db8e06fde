"""Names: what an agent may call itself, so that nobody is taken for another. Who is called what, `state` knows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

__all__ = ["misnomer", "signature"]

# accents, and characters of other kinds that print as nothing
_UNSEEN = re.compile("[\u0300-\u036f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\ufe00-\ufe0f\uffa0]")
# small Cyrillic and Greek letters, and the Latin ones that they look like, small or as capitals
_ALIKE = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0455\u0456\u0458\u0501\u051b\u051d"
    "\u03b1\u03b2\u03b5\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7",
    "abekmhopctyxsijdqwabehikmvoptyx",
)
_NUMBER = re.compile(r"(?:(?<!\w)agent[\s#.:_-]*|#\s*)(\d{1,9})(?!\d)|^\W*(\d{1,9})\W*$")
_NO_AGENT = {
    *("system", "developer", "assistant", "user", "narrator", "society", "pool", "commonpool"),
    *("thesystem", "thenarrator", "thesociety", "thepool", "thecommonpool"),
}


def signature(name: str) -> str:
    """What names share that could be taken for each other: without case, accents, spaces, points and foreign forms."""
    return "".join(char for char in _bare(name) if unicodedata.category(char)[0] not in "PZ") or _bare(name)


def misnomer(name: str, agent: int, agents: int, taken: Mapping[str, int]) -> str:
    """Why an agent among so many cannot be called so, or ""; `taken` are the agents of signatures."""
    bare, sign = _bare(name), signature(name)
    if not bare:
        return "a name must be something that can be seen"
    for found in _NUMBER.finditer(bare):
        number = int(found[1] or found[2])
        if number != agent and 1 <= number <= agents:
            return f"that is the number of agent #{number}"
    if sign in _NO_AGENT:
        return "that name is no agent's"
    if taken.get(sign, agent) != agent:
        return f"agent #{taken[sign]} has that name"
    return ""


def _bare(name: str) -> str:
    spread = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(_UNSEEN.sub("", spread).translate(_ALIKE).split())
