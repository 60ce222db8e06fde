"""Ballot: reading a vote leniently and never wrongly.

Every place where the reply names a vote is a claim. The last one decides: what stands before it is reasoning
or the quoted format, but a name that is on no ballot, a second candidate, or words that take it back make it no
vote. To ask again costs one call; a vote for the wrong player costs the game. What a legal vote is stands in
`requests`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from agentsim.engine.braces import closing
from agentsim.engine.reading import Decision, Reading, find_objects, without_thinking
from agentsim.errors import AmbiguousReply, IllegalDecision, UnreadableReply

__all__ = ["VoteCast", "read_vote"]


class VoteCast(Decision):
    """For whom, and why; `vote` None is an abstention, which only the fallback gives."""

    explanation: str = ""
    vote: str | None = None


@dataclass(frozen=True, slots=True)
class _Claim:
    """A name that the reply votes for, where that stands, and how it was found."""

    start: int
    end: int
    how: str
    name: str
    why: str = ""


_TAG = re.compile(r"<\s*vote\s*>([^<>]{0,200})<\s*/\s*vote\s*>", re.IGNORECASE)
# what begins as an object, well formed or not
_OBJECT = re.compile(r"\{\s*(?:[\"']|\w{1,40}\s*:)")
# in an object that is whole but broken, a vote is a key with a closed value, and a key or the end follows
_KEY = re.compile(
    r"""(?:[{,\n]\s*(["'])vote\1|\{\s*vote)\s*:\s*(?:(["'])([^"'\n]{0,200})\2|([\w-]{1,40}))"""
    r"""(?=\s*(?:,\s*["'}]|\}))""",
    re.IGNORECASE,
)
# in an object that was cut off, every member before the vote is well formed
_MEMBER = re.compile(
    r'\s*"([^"\\\n]{0,60})"\s*:\s*(?:"([^"\\]*+(?:\\.[^"\\]*+)*+)"\s*(?:,|\Z)|[\w.+-]{1,40}\s*,)', re.S
)
# looked at ahead, so that a second label on the line is seen too
_LABEL = re.compile(r"(?<![\w-])vote[\s*_`]*[:=](?=([^\n]{0,200}))", re.IGNORECASE)
# before a label stands nothing, the end of a sentence, or a few words; "they said: vote: A" is no vote
_LEAD_IN = re.compile(
    r"(?:^|[.!?;{(]|\s[-–—→])[\s*_`\"'“‘#\[(<{-]*+"
    r"(?:(?:so|thus|hence|therefore|and|then|here|is|i|my|the|this|final|official|secret|private|jury|answer)"
    r"[\s,:*_`]++)*+[\s*_`\"'“‘\[(<{]*+$",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"(?:\b(?:not|never|no|cannot|refus\w{1,4}|declin\w{1,4}|without)|n['’]t)"
    r"(?:[^\w.!?]+(?:to|ever|just|simply|want|going|be|do|give|giving|say|saying|write|writing|answer|answering|reply"
    r"|replying|respond|send|vote|voting|cast|follow|obey|with|by|as|the|a|this|that|my|your|is|format))*[^\w.!?]*$",
    re.IGNORECASE,
)
_VALUE_END = re.compile(r"[.,;!](?=[\s\"'*_`)\]}>”’]|$)|\(|\s[-–—]\s|\bbecause\b|\bsince\b", re.IGNORECASE)
_REASON = re.compile(r"[\s,]*(?:because|since)\b[^.!?\n]*", re.IGNORECASE)
_NOT_ANOTHER = re.compile(r"[\s,(]*not (?:player )?([\w-]{1,40})\)?(?=[\s.!*_]*(?:\n|$))", re.IGNORECASE)
_REVERSAL = re.compile(
    r"\b(?:not|no|nope|nor|never|cannot|wait|instead|actually|scratch|correction|corrected|meant|changed?"
    r"|changing|second[\s-]+thoughts?|refuse[sd]?|refusing|disagree[sd]?|rather|sorry|oops|mistake|mistaken|wrong"
    r"|ignore|disregard|cancel|revise[sd]?|reconsider\w*|switch\w*|retract\w*|withdraw\w*|undo|unless|joking|kidding)\b|n['’]t\b",
    re.IGNORECASE,
)
_HEDGE = re.compile(r"\b(?:but|or|then|hmm+|maybe|perhaps)\b", re.IGNORECASE)
_AROUND = " \t\r\n"
_OPENS = _AROUND + "*_`'\"[({<“‘"
_CLOSES = _AROUND + "*_`'\"])}>”’.,;:!"


def read_vote(text: str, candidates: Sequence[str]) -> Reading[VoteCast]:
    """The vote in a reply, as a candidate's id.

    Raises `IllegalDecision` where the last vote is for nobody on the ballot, `AmbiguousReply` for two different
    candidates or a vote that is taken back, `UnreadableReply` where no vote can be found.
    """
    body = without_thinking(text)
    if not body.strip():
        raise UnreadableReply("The reply is empty.")
    claims = sorted(_claims(body, candidates), key=lambda claim: claim.start)
    if not claims and _candidate(body, candidates) is not None:
        claims = [_Claim(0, len(body), "bare", body)]
    if not claims:
        raise UnreadableReply(f"There is no vote in the reply. Name one of: {', '.join(candidates)}.")
    last = claims[-1]
    choice = _candidate(last.name, candidates)
    if choice is None:
        raise IllegalDecision(f"{last.name.strip()[:40]!r} is not on the ballot: {', '.join(candidates)}.")
    found = [(claim, _candidate(claim.name, candidates)) for claim in claims]
    matched = {named for _, named in found if named is not None}
    if len(matched) > 1:
        raise AmbiguousReply(f"The reply votes for {' and for '.join(sorted(matched))}. Vote for exactly one.")
    if _taken_back(body[last.end :], choice, candidates):
        raise AmbiguousReply(f"The reply votes for {choice} and says more after it. Answer with the vote alone.")
    own = [claim for claim, named in found if named is not None]
    why = next((claim.why for claim in reversed(own) if claim.why), "")
    return Reading(VoteCast(vote=choice, explanation=why), own[0].how, candidates=len(claims))


def _claims(body: str, candidates: Sequence[str]) -> Iterator[_Claim]:
    """All claims but those behind a negation; what objects and tags hold is masked before labels are looked for."""
    inside, regions = _in_objects(body)
    prose = _masked(body, regions)
    tags = list(_TAG.finditer(prose))
    plain = _masked(prose, [match.span() for match in tags])
    yield from (claim for claim in inside if not _negated(prose, claim.start))
    for match in tags:
        if not _negated(prose, match.start()):
            yield _Claim(match.start(), match.end(), "tag", match[1])
    for claim in _labelled(plain, candidates):
        if not _negated(plain, claim.start):
            yield claim


def _masked(body: str, regions: Sequence[tuple[int, int]]) -> str:
    """The text with newlines for what stands in the regions, so that places stay the same."""
    parts, position = [], 0
    for start, end in regions:
        parts += [body[position:start], "\n" * (end - start)]
        position = end
    return "".join((*parts, body[position:]))


def _negated(prose: str, start: int) -> bool:
    return _NEGATED.search(prose[max(0, start - 100) : start]) is not None


def _in_objects(body: str) -> tuple[list[_Claim], list[tuple[int, int]]]:
    """The claims of JSON objects, whole, broken or cut off, and the regions that all objects take up."""
    stage, objects = find_objects(body)
    claims: list[_Claim] = []
    regions: list[tuple[int, int]] = []
    position, waiting = 0, list(reversed(objects))
    while True:
        while waiting and waiting[-1].start < position:  # inside a broken one: a part of it, and no vote
            waiting.pop()
        opening = _OBJECT.search(body, position)
        if waiting and (opening is None or waiting[-1].start <= opening.start()):
            whole = waiting.pop()
            why = _explanation(whole.value)
            claims += [_Claim(whole.start, whole.end, stage, name, why) for name in _named(whole.value)]
            start, end = whole.start, whole.end
        elif opening is not None:
            start = opening.start()
            closed = closing(body, start)
            claims += _of_cut_off(body, start) if closed is None else _of_broken(body, start, closed)
            end = len(body) if closed is None else closed
        else:
            return claims, regions
        regions.append((start, end))
        position = end


def _of_broken(body: str, start: int, end: int) -> Iterator[_Claim]:
    """Top-level keys only: braces in strings count too, since where its strings end nobody can say."""
    depth, position = 0, start
    for match in _KEY.finditer(body, start, end):
        upto = match.start() + (body[match.start()] == "{")
        depth += body.count("{", position, upto) - body.count("}", position, upto)
        position = upto
        if depth == 1:
            yield _Claim(start, match.end(), "key", match[3] or match[4] or "")


def _of_cut_off(body: str, start: int) -> Iterator[_Claim]:
    position = start + 1
    while member := _MEMBER.match(body, position):
        if member[1].strip().casefold() == "vote" and member[2] is not None:
            yield _Claim(start, member.end(), "key", member[2])
        position = member.end()


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


def _labelled(plain: str, candidates: Sequence[str]) -> Iterator[_Claim]:
    """Labels that say a vote: not quoted in the middle of a sentence. A plain reason belongs to the label."""
    for match in _LABEL.finditer(plain):
        line = plain[max(plain.rfind("\n", 0, match.start()) + 1, match.start() - 100) : match.start()]
        if _LEAD_IN.search(line):
            # without what stands before the name, so that `**B**` does not end at its first mark
            label = match[1].lstrip(_OPENS)
            ends = _VALUE_END.search(label)
            name = label[: ends.start()] if ends else label
            end = match.end(1) - len(label) + len(name)
            yield _Claim(match.start(), _after_reason(plain, end, candidates), "label", name)


def _after_reason(plain: str, end: int, candidates: Sequence[str]) -> int:
    """Where a label ends that says `because ...` or `not <another>` after the name, and nothing doubtful."""
    window = plain[end : end + 400]
    reason = _REASON.match(window)
    if reason and not _REVERSAL.search(reason[0]) and not _HEDGE.search(reason[0]):
        return end + reason.end()
    other = _NOT_ANOTHER.match(window)
    return end + other.end() if other and _candidate(other[1], candidates) is not None else end


def _taken_back(tail: str, choice: str, candidates: Sequence[str]) -> bool:
    """Whether the words after a vote name another candidate, or could turn it around."""
    tail = unicodedata.normalize("NFKC", tail)
    if _REVERSAL.search(tail):
        return True
    # the longest id first, so that `agent10` is not read as `agent1`
    ids = "|".join(re.escape(name) for name in sorted(candidates, key=len, reverse=True))
    words = re.findall(rf"(?<![^\W_])(?<![^\W_]-)(?:{ids})(?![^\W_])(?!-[^\W_])", tail, re.IGNORECASE)
    # `a` and `i` are words of English before they are anybody's name
    return any(_candidate(word, candidates) != choice for word in words if word not in {"a", "i"})


def _candidate(name: str, candidates: Sequence[str]) -> str | None:
    """The one candidate of this name: exactly as it is spelt, or the only one that reads the same."""
    exact = name.strip(_AROUND)
    if exact in candidates:
        return exact
    alike = [candidate for candidate in candidates if _plain(candidate) == _plain(name)]
    return alike[0] if len(alike) == 1 else None


def _plain(name: str) -> str:
    """A name as it is compared: folded case, no decoration, no `player` before it."""
    name = _bare(unicodedata.normalize("NFKC", name).casefold())
    return _bare(re.sub(r"^player\s+", "", name))


def _bare(name: str) -> str:
    return name.lstrip(_OPENS).rstrip(_CLOSES)
