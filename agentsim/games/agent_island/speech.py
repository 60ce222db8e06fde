"""Speech: reading answers that are words. What a player thought to itself is never taken for what it says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentsim.engine.reading import Decision, Found, Reading, find_objects, without_thinking
from agentsim.errors import UnreadableReply

__all__ = ["QuipsMade", "Speech", "read_quips", "read_speech"]

FEW_WORDS = 4  # "Here is my pitch:" may stand before the object


class Speech(Decision):
    """Words; empty where a player says nothing."""

    text: str


class QuipsMade(Decision):
    """One line about each other active player, by id."""

    quips: dict[str, str]


_JSON_BEGINS = re.compile(r"\s*(?:```\w*\s*)?(?:\{|\[\s*(?:[{\"\]]|$))")
_HALF_OBJECT = re.compile(r"\{\s*[\"']")
_PRIVATE = re.compile(r"think|thought|reason|plan|analy|reflect|scratch|strateg|explan|private|secret|note", re.I)
_QUOTES = re.compile(r"\b(?:wrote|writes?|said|says?|told|tells?|asked|asks|quot\w*|example|format)\b", re.I)


def read_speech(text: str, kind: str) -> Reading[Speech]:
    """The words of a reply: of an object's `text` (or the key named like the request), else of plain prose.

    An object in the middle of prose may be a quotation, and one with other keys may hold private thoughts:
    both are asked again rather than published.
    """
    body = without_thinking(text).strip()
    if not body:
        raise UnreadableReply("The reply says nothing.")
    wanted = UnreadableReply('There is no complete JSON object {"text": ...} and nothing else in the reply.')
    stage, found = find_objects(body)
    said = [(entry, words) for entry in found if (words := _words(entry.value, kind)) is not None]
    around = _around(body, found)
    if said:
        entry, words = said[-1]
        if stage == "embedded" and not _introduced(around, body[entry.end :]):
            raise wanted
        if not words.strip():
            raise UnreadableReply("The reply says nothing.")
        return Reading(Speech(text=words.strip()), stage, candidates=len(said))
    private = any(_PRIVATE.search(key) for entry in found for key in entry.value)
    if private or stage == "fenced" or _JSON_BEGINS.match(body) or _HALF_OBJECT.search(around):
        raise wanted
    return Reading(Speech(text=body), "prose")


def _words(value: Mapping[str, Any], kind: str) -> str | None:
    said = [words for key, words in value.items() if key.strip().casefold() in {"text", kind}]
    return said[0] if len(said) == 1 and isinstance(said[0], str) else None


def _around(body: str, found: Sequence[Found]) -> str:
    """The text without its objects."""
    parts, position = [], 0
    for entry in found:
        parts.append(body[position : entry.start])
        position = entry.end
    return "\n".join((*parts, body[position:]))


def _introduced(around: str, after: str) -> bool:
    """Whether the prose only announces the object: a few words before it that quote nobody, none behind it."""
    few = len(re.findall(r"\w+", around.replace("```json", ""))) <= FEW_WORDS
    return few and not re.search(r"\w", after) and not _QUOTES.search(around)


def read_quips(text: str, about: Sequence[str]) -> Reading[QuipsMade]:
    """A line about each of these players; `UnreadableReply` names the ones that are missing."""
    stage, found = find_objects(without_thinking(text))
    read = [lines for entry in found if (lines := _lines(entry.value, about))]
    if not read:
        raise UnreadableReply(f"There is no JSON object with a line about each of: {', '.join(about)}.")
    whole = [lines for lines in read if len(lines) == len(about)]
    if not whole:
        missing = [player for player in about if player not in read[-1]]
        raise UnreadableReply(f"There is no line about: {', '.join(missing)}.")
    return Reading(QuipsMade(quips=whole[-1]), stage, candidates=len(whole))


def _lines(value: Mapping[str, Any], about: Sequence[str]) -> dict[str, str]:
    inner = value.get("quips")
    if isinstance(inner, dict) and "quips" not in {player.casefold() for player in about}:
        value = inner
    lines: dict[str, str] = {}
    for name, line in value.items():
        alike = [player for player in about if player.casefold() == name.strip().casefold()]
        player = name.strip() if name.strip() in about else alike[0] if len(alike) == 1 else None
        if player is not None and isinstance(line, str) and line.strip():
            lines[player] = line.strip()
    return lines
