"""Ballot: reading a vote leniently and never wrongly.

Every place where the reply names a vote is collected; exactly one candidate among them is a vote, two are
ambiguous, and a name that is on no ballot counts for nothing as long as one that is stands beside it (it is
the quoted format, or somebody else's example). What a legal vote is stands in `requests`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from agentsim.engine.reading import Decision, Found, Reading, find_objects, without_thinking
from agentsim.errors import AmbiguousReply, IllegalDecision, UnreadableReply

__all__ = ["VoteCast", "read_vote"]


class VoteCast(Decision):
    """For whom, and why; `vote` None is an abstention, which only the fallback gives."""

    explanation: str = ""
    vote: str | None = None


_TAG = re.compile(r"<\s*vote\s*>([^<>]{0,200})<\s*/\s*vote\s*>", re.IGNORECASE)
_LABEL = re.compile(r"\bvote[\s*_`\"']*[:=]([^\n]{0,200})", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.,;!?(]|\s[-–—]\s|\bbecause\b|\bsince\b", re.IGNORECASE)
_DECORATION = " \t\r\n*_`'\"[](){}<>.,;:!#“”‘’"


def read_vote(text: str, candidates: Sequence[str]) -> Reading[VoteCast]:
    """The vote in a reply, as a candidate's id.

    Raises `AmbiguousReply` for two different candidates, `IllegalDecision` where only names that are not on
    the ballot are voted for, `UnreadableReply` where no vote can be found.
    """
    body = without_thinking(text)
    if not body.strip():
        raise UnreadableReply("The reply is empty.")
    known = {_plain(candidate): candidate for candidate in candidates}
    stage, objects = find_objects(body)
    claims = [(stage, name, _explanation(found.value)) for found in objects for name in _named(found.value)]
    rest = _without(body, objects)
    claims += [("tag", match[1], "") for match in _TAG.finditer(rest)]
    rest = _TAG.sub(" ", rest)
    claims += [("label", _SENTENCE_END.split(_opened(match[1]))[0], "") for match in _LABEL.finditer(rest)]
    if not claims and _plain(body) in known:
        claims = [("bare", body, "")]
    matched = {known[_plain(name)]: (how, why) for how, name, why in reversed(claims) if _plain(name) in known}
    if len(matched) > 1:
        raise AmbiguousReply(f"The reply votes for {' and for '.join(sorted(matched))}. Vote for exactly one.")
    if not matched and claims:
        raise IllegalDecision(f"{claims[-1][1].strip()[:40]!r} is not on the ballot: {', '.join(candidates)}.")
    if not matched:
        raise UnreadableReply(f"There is no vote in the reply. Name one of: {', '.join(candidates)}.")
    ((choice, (how, why)),) = matched.items()
    return Reading(VoteCast(vote=choice, explanation=why), how, candidates=len(claims))


def _named(value: dict[str, Any]) -> Iterator[str]:
    for key, named in value.items():
        if key.strip().casefold() == "vote":
            # `"vote": ["B"]` says the same as `"vote": "B"`
            name = named[0] if isinstance(named, list) and len(named) == 1 else named
            if isinstance(name, str):
                yield name
            elif isinstance(name, int) and not isinstance(name, bool):
                yield str(name)


def _explanation(value: dict[str, Any]) -> str:
    words = value.get("explanation", "")
    return words if isinstance(words, str) else ""


def _without(body: str, objects: Sequence[Found]) -> str:
    """The text around the JSON objects: what they quote in their strings is not a second vote."""
    parts, position = [], 0
    for found in objects:
        parts.append(body[position : found.start])
        position = found.end
    return "\n".join((*parts, body[position:]))


def _opened(label: str) -> str:
    """A label's value without what stands before the name, so that `**B**` does not end at its first mark."""
    return label.lstrip(_DECORATION)


def _plain(name: str) -> str:
    """A name as it is compared: folded case, no decoration, no `player` before it."""
    name = unicodedata.normalize("NFKC", name).casefold().strip(_DECORATION)
    return re.sub(r"^player\s+", "", name).strip(_DECORATION)
