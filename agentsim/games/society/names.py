"""The rules for names of agents, so that no agent is taken for another."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from agentsim.engine.letters import LOOK_ALIKES
from agentsim.patterns import Pattern

# accents, and characters of other categories that are invisible
_UNSEEN = Pattern("[\u0300-\u036f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\ufe00-\ufe0f\uffa0]")
# scripts that may be mixed with Latin: `LOOK_ALIKES` covers their look-alikes, or they have none
_WITH_LATIN = {"LATIN", "CYRILLIC", "GREEK", "CJK", "HIRAGANA", "KATAKANA", "HANGUL"}
_NUMBER_WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_NUMBER = Pattern(
    r"(?:(?<!\w)agent(?:\W|_)*(?:(?:no|nr|number)(?:\W|_)*)?|#\s*|^\W*no\W*)"
    rf"(\d{{1,9}}(?!\d)|(?:{'|'.join(_NUMBER_WORDS)})(?!\w))|^\W*(\d{{1,9}})\W*$"
)
_NO_AGENT = {"user", "society", "pool", "commonpool", "thesociety", "thepool", "thecommonpool"}
_NO_AGENT_SAYS = Pattern(r"(?<!\w)(?:system|developer|assistant|narrator|moderator)(?!\w)")


def signature(name: str) -> str:
    """Return the key of a name without case, accents, spaces, punctuation and look-alikes.

    Names with the same signature could be taken for each other.
    """
    return "".join(char for char in _bare(name) if unicodedata.category(char)[0] not in "PZ") or _bare(name)


def misnomer(name: str, agent: int, agents: int, taken: Mapping[str, int]) -> str:
    """Return the reason why an agent cannot have this name, or ""; `taken` maps signatures to agents."""
    bare, sign = _bare(name), signature(name)
    if not bare:
        return "a name must be something that can be seen"
    for found in _NUMBER.finditer(bare):
        said = found[1] or found[2]
        number = _NUMBER_WORDS.index(said) + 1 if said in _NUMBER_WORDS else int(said)
        if number != agent and 1 <= number <= agents:
            return f"that is the number of agent #{number}"
    if sign in _NO_AGENT or _NO_AGENT_SAYS.search(bare) or _NO_AGENT_SAYS.fullmatch(sign.removeprefix("the")):
        return "that name is no agent's"
    scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in bare if letter.isalpha()}
    if "LATIN" in scripts and not scripts <= _WITH_LATIN:
        return "a name must not mix letters that look alike"
    if taken.get(sign, agent) != agent:
        return f"agent #{taken[sign]} has that name"
    return ""


def _bare(name: str) -> str:
    spread = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(_UNSEEN.sub("", spread).translate(LOOK_ALIKES).split())
