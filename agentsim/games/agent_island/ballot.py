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
# in an object that is not whole, the key counts with a value that is: `"agent1` may be the half of `"agent10"`
_KEY = re.compile(r"""(["'])vote\1\s*:\s*(?:(["'])([^"'\n]{0,200})\2|([\w-]{1,40})(?=\s*[,}]))""", re.IGNORECASE)
# looked at ahead, so that a second label on the line is seen too
_LABEL = re.compile(r"(?<![\w-])vote[\s*_`]*[:=](?=([^\n]{0,200}))", re.IGNORECASE)
# before a label stands nothing, the end of a sentence, or a few words; "they said: vote: A" is no vote
_LEAD_IN = re.compile(
    r"(?:^|[.!?;{(]|\s[-–—→])[\s*_`\"'“‘#>\[(<{-]*+"
    r"(?:(?:so|thus|hence|therefore|and|then|here|is|i|my|the|this|final|official|secret|private|jury|answer)"
    r"[\s,:*_`]++)*+[\s*_`\"'“‘\[(<{]*+$",
    re.IGNORECASE,
)
_VALUE_END = re.compile(r"[.,;!](?=[\s\"'*_`)\]}>”’]|$)|\(|\s[-–—]\s|\bbecause\b|\bsince\b", re.IGNORECASE)
_SECOND_THOUGHT = re.compile(
    r"[\s.,;!()–—-]*(?:no|or|and|nor|wait|actually|rather|maybe|perhaps|sorry|correction)\b", re.IGNORECASE
)
_AROUND = " \t\r\n"
_DECORATION = _AROUND + "*_`'\"[](){}<>.,;:!#“”‘’"


def read_vote(text: str, candidates: Sequence[str]) -> Reading[VoteCast]:
    """The vote in a reply, as a candidate's id.

    Raises `AmbiguousReply` for two different candidates, `IllegalDecision` where only names that are not on
    the ballot are voted for, `UnreadableReply` where no vote can be found.
    """
    body = without_thinking(text)
    if not body.strip():
        raise UnreadableReply("The reply is empty.")
    stage, objects = find_objects(body)
    claims = [(stage, name, _explanation(entry.value)) for entry in objects for name in _named(entry.value)]
    rest = _without(body, objects)
    claims += [("tag", match[1], "") for match in _TAG.finditer(rest)]
    rest = _TAG.sub(" ", rest)
    claims += [("key", match[3] or match[4] or "", "") for match in _KEY.finditer(rest)]
    claims += [("label", name, "") for name in _labelled(rest, candidates)]
    if not claims and _candidate(body, candidates) is not None:
        claims = [("bare", body, "")]
    found = [(_candidate(name, candidates), how, why) for how, name, why in claims]
    matched = {choice: (how, why) for choice, how, why in reversed(found) if choice is not None}
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


def _labelled(rest: str, candidates: Sequence[str]) -> Iterator[str]:
    """The values of labels that say a vote: not quoted in the middle of a sentence, and not taken back in it."""
    for match in _LABEL.finditer(rest):
        line = rest[max(rest.rfind("\n", 0, match.start()) + 1, match.start() - 100) : match.start()]
        if _LEAD_IN.search(line):
            # without what stands before the name, so that `**B**` does not end at its first mark
            label = match[1].lstrip(_DECORATION)
            end = _VALUE_END.search(label)
            name, tail = (label[: end.start()], label[end.start() :]) if end else (label, "")
            others = {word.casefold() for word in re.findall(r"[\w-]+", tail)} - {_plain(name)}
            doubted = _SECOND_THOUGHT.match(tail) and others & {candidate.casefold() for candidate in candidates}
            yield label if doubted else name


def _candidate(name: str, candidates: Sequence[str]) -> str | None:
    """The one candidate of this name: exactly as it is spelt, or the only one that reads the same."""
    exact = name.strip(_AROUND)
    if exact in candidates:
        return exact
    alike = [candidate for candidate in candidates if _plain(candidate) == _plain(name)]
    return alike[0] if len(alike) == 1 else None


def _plain(name: str) -> str:
    """A name as it is compared: folded case, no decoration, no `player` before it."""
    name = unicodedata.normalize("NFKC", name).casefold().strip(_DECORATION)
    return re.sub(r"^player\s+", "", name).strip(_DECORATION)
