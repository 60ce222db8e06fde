"""Reader: from the text of a reply to the one decision that it means, for every question of every game.

Every stage collects claims: objects (whole, fenced, embedded, repaired), tags, labels, sentences, bare values. One
decision that stands clean is read; two, or one in doubt, are asked again. What follows an error is the game's policy.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from agentsim.engine.decision import Question, Reading
from agentsim.engine.reading.claims import Claim
from agentsim.engine.reading.doubts import taken_back
from agentsim.engine.reading.fields import UNSAID
from agentsim.engine.reading.prose import FEW_WORDS, aloud, introduced, last_sentence
from agentsim.engine.reading.reply import Reply
from agentsim.engine.reading.scanning import MAX_TEXT
from agentsim.engine.reading.text import HOLE, decoded, folded
from agentsim.engine.reading.thinking import alternatives, has_marks, split, thought_spans
from agentsim.engine.reading.vocabulary import ASIDES, REASON_FIELDS, REASONS, THINKING
from agentsim.errors import AmbiguousReply, DecisionError, IllegalDecision, UnreadableReply

# what may be a tag, an escape, or a heading in a string: looked at more closely
_DETOUR = re.compile(r"<|\\u|\\n[^\\\"]{0,40}:|\"[\s*_#]{0,4}[\w' -]{1,30}:[*_ ]")
_RANKS = ("bare", "sentence", "label", "tag", "repaired", "embedded", "fenced", "json")
_NOT_SAID = re.compile(alternatives((*THINKING, *ASIDES)))


def read(request: Question, text: str, *, cut: bool = False, last: bool = False, repair: bool = True) -> Reading[Any]:
    """The decision of a reply. `cut`: it reached its longest allowed length; `last`: the question is not put again.

    Raises `UnreadableReply` where there is none, `AmbiguousReply` where there are two or one is in doubt, and
    `IllegalDecision` where the one that decides names what cannot be chosen.
    """
    text = text[:MAX_TEXT]
    if at_once := _at_once(request, text):
        return at_once
    reply = Reply(request, text, cut=cut, repair=repair)
    if not reply.body.strip():
        raise UnreadableReply("The reply is empty.")
    if request.leading:
        return _leading(reply)
    claims = reply.claims()
    return _decided(reply, claims) if claims else _without_claims(reply, last=last)


def _at_once(request: Question, text: str) -> Reading[Any] | None:
    """The decision of a reply that is the JSON that was asked for, as nearly all are, and nothing else."""
    if not text.startswith("{") or not text.endswith("}") or _DETOUR.search(text) or has_marks(text):
        return None
    try:
        value = _value(text)
        if None in value.values() or not request.fits(value) or not request.counts(value):
            return None
        if not request.knows(value):  # what has no place in the answer may be what is meant
            return None
        decision = request.decision_of(value)
        request.check(decision)
    except (ValueError, RecursionError, DecisionError):
        return None
    return Reading(decision, "json", checked=True)


def thoughts_in(request: Question, text: str) -> tuple[str, ...]:
    """What of a reply was thought and not said."""
    text = text[:MAX_TEXT]
    if "\\u" not in text and not has_marks(text) and (whole := _object(text)) is not None:
        return tuple(_thought_in(whole, set(_names(request.shape))) if _NOT_SAID.search(folded(text)) else ())
    reply = Reply(request, text)
    found: list[str] = []
    try:
        found += reply.thoughts
        for each in reply.objects:
            found += _thought_in(each.value, {field.name for field in reply.fields})
        if reply.speaks and reply.body.strip() and not reply.objects:
            found += reply.aloud[1]
    except DecisionError:
        pass  # what cannot be read is kept as it came
    return tuple(found)


@lru_cache(1)  # a reply is looked through for thoughts, and then read
def _value(text: str) -> Any:
    """The JSON value that a text is, which is not to be changed; raises as `decoded`."""
    return decoded(text)


def _object(text: str) -> dict[str, Any] | None:
    """The object that a text is and no more than; None where it is something else."""
    try:
        value = _value(text) if text.startswith("{") else None
    except (ValueError, RecursionError, DecisionError):
        return None
    return value if isinstance(value, dict) else None


def _names(schema: Mapping[str, Any]) -> Iterator[str]:
    """The names of a question's fields, and of those of its records."""
    for name, node in schema.get("properties", {}).items():
        yield name
        yield from _names(node)


def _thought_in(value: Any, own: Collection[str]) -> Iterator[str]:
    """What was thought in the strings of an object, and under keys that are none of the question's `own`."""
    if isinstance(value, str):
        said, thoughts = split(value)
        yield from thoughts
        if _NOT_SAID.search(plain := folded(said)):
            yield from (said[start:end] for start, end in thought_spans(plain, ()))
    for part in value if isinstance(value, list) else ():
        yield from _thought_in(part, own)
    for key, part in value.items() if isinstance(value, Mapping) else ():
        if isinstance(part, str) and key not in own and folded(key).replace("_", " ").strip() in {*THINKING, *ASIDES}:
            yield part
        else:
            yield from _thought_in(part, own)


def _leading(reply: Reply) -> Reading[Any]:
    """The object with which the reply begins, whatever follows."""
    first = next(iter(reply.objects), None)
    if first is None or reply.body[: first.start].strip():
        raise UnreadableReply("The reply must begin with the JSON object.")
    claim = reply.of_object(first)
    if claim is None or claim.record is None:
        raise UnreadableReply("There is no complete JSON object at the beginning of the reply.")
    return _read(reply, claim, 1)


def _decided(reply: Reply, claims: Sequence[Claim]) -> Reading[Any]:
    clean = [claim for claim in claims if claim.known and not claim.doubt]
    if not clean:
        raise _none_clean(reply, claims)
    final = max(clean, key=lambda claim: claim.end)
    for claim in claims:
        if not claim.known and not claim.doubt and claim.start >= final.end:
            raise _refused(reply, claim)
        # a decision that is denied, quoted or conditional counts for nothing before one that stands clean
        earlier = claim.start < final.start and final.how != "bare"
        weak = earlier or (claim.how in {"sentence", "bare"} and not claim.first)
        if claim.known and not (claim.doubt == "before" and weak) and (two := _differ(claim, final)):
            raise AmbiguousReply(f"The reply says {two}. Decide for exactly one.")
    tail = reply.plain[max(claim.end for claim in clean) :]
    if tail.strip() and taken_back(tail, lambda piece: _is_another(reply, piece, final)):
        raise AmbiguousReply("The reply decides, and then says more that may take it back. Answer with that alone.")
    # of claims that agree, the one with the most to say beside it
    best = max(
        clean, key=lambda claim: (_RANKS.index(claim.how), sum(map(bool, (claim.record or {}).values())), claim.end)
    )
    return _read(reply, best, len(claims))


def _none_clean(reply: Reply, claims: Sequence[Claim]) -> DecisionError:
    last = claims[-1]
    if any(claim.known for claim in claims) and (last.known or last.doubt or last.named is None):
        return AmbiguousReply(
            "The reply names a decision, but denies, quotes or conditions it. Answer with that alone."
        )
    return _refused(reply, last)


def _refused(reply: Reply, claim: Claim) -> DecisionError:
    """Why a claim that names no legal value is none."""
    field = reply.decider
    if field is not None and field.kind == "number" and claim.how != "broken":
        return UnreadableReply(f"{field.path} must be a whole number, written in plain digits.")
    if claim.named is None:
        return UnreadableReply("There is no complete JSON object in the reply.")
    return IllegalDecision(f"{claim.named[:40]!r} cannot be chosen.")


def _differ(one: Claim, other: Claim) -> str:
    """The two values that are at odds, in words; "" where none are."""
    for path in (path for path in one.values if path in other.values):
        pair = [json.dumps(each.values[path], ensure_ascii=False, sort_keys=True, default=str) for each in (one, other)]
        if pair[0] != pair[1]:
            return f"{' and '.join(each[:40] for each in pair)} for {path}"
    return ""


def _is_another(reply: Reply, piece: str, final: Claim) -> bool:
    """Whether a piece of a sentence is a value of its own, and not the one that was decided for."""
    field = reply.decider
    if field is None or field.kind == "yes_no" or not piece or piece in {"a", "i", "no", "none"}:
        return False
    denied = piece.removeprefix("not ")
    if denied != piece:  # "not C" behind a decision for C
        return bool(field.read(denied.split(" ")[0]) == final.values.get(field.path))
    meant = field.read(piece)
    return meant is not UNSAID and meant != final.values.get(field.path)


def _read(reply: Reply, claim: Claim, candidates: int) -> Reading[Any]:
    said = claim.record
    amid_words = reply.speaks and not reply.decides_more and claim.how in {"embedded", "repaired"}
    if said is None:
        said = _with_words(reply, claim)
    elif amid_words and not introduced(reply.prose[: claim.start], reply.prose[claim.end :]):  # it may be a quotation
        raise UnreadableReply("The words cannot be told from what stands around them.")
    decision = reply.request.decision_of(said)
    return Reading(decision, claim.how, candidates, repaired=claim.how == "repaired")


def _with_words(reply: Reply, claim: Claim) -> dict[str, Any]:
    """What a claim in prose says, with the words around it that answer the other fields."""
    said: dict[str, Any] = {}
    values = dict(claim.values)
    for field in reply.fields:
        if field.kind == "words" and field.path in reply.labelled:
            values[field.path] = _labelled(reply, field.path)
        elif field.kind == "words" and field.name in REASON_FIELDS:
            values[field.path] = _trimmed(_besides(reply.prose, claim))
    for path, value in values.items():
        *parents, name = path.split(".")
        place = said
        for parent in parents:
            place = place.setdefault(parent, {})
        place[name] = value
    return said


def _labelled(reply: Reply, path: str) -> str:
    start, end = reply.labelled[path]
    words = reply.prose[start:end]
    if path.rpartition(".")[2] not in REASONS:  # others may hear it
        others = [name for field in reply.fields if field.path != path for name in reply.labels[field.path]]
        words = aloud(words, reply.labels[path], others)
    return _trimmed(words)


def _besides(prose: str, claim: Claim) -> str:
    """The prose but for the claim: all of it where the claim is a part of a sentence."""
    if claim.how == "tag":
        return f"{prose[: claim.start]}\n{prose[claim.end :]}"
    before, line = prose[: claim.start].rpartition("\n")[::2]
    rest, _, after = prose[claim.end :].partition("\n")
    if len(re.findall(r"[^\W_]{2,}", f"{line} {rest}")) > FEW_WORDS:
        return prose
    return f"{before}\n{after}"


def _trimmed(words: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", words.replace(HOLE, "")).strip().strip('*_"“” \n').strip()


def _without_claims(reply: Reply, *, last: bool) -> Reading[Any]:
    """Words, where words are an answer; else what is missing."""
    if any(each.state in {"cut", "broken"} for each in reply.objects):
        raise UnreadableReply("There is no complete JSON object in the reply.")
    if reply.speaks:
        return _in_words(reply, last=last)
    if len(whole := [each.value for each in reply.objects if each.value is not None]) == 1:
        if not reply.decides_more:
            return Reading(reply.request.decision_of(reply.shape.of(whole[0], reply.schema)), "json")
        missing = [field.name for field in reply.weighty if field.name not in whole[0]] or ["what was asked for"]
        raise UnreadableReply(f"The JSON object lacks {' and '.join(missing)}.")
    if not reply.decides_more and reply.labelled:
        said = {path: _labelled(reply, path) for path in reply.labelled}
        return Reading(reply.request.decision_of(said), "label")
    raise UnreadableReply("There is no decision in the reply.")


def _in_words(reply: Reply, *, last: bool) -> Reading[Any]:
    words, _ = reply.aloud
    stage = "words"
    if reply.cut:
        if not last:
            raise UnreadableReply("The words are cut off.")
        stage, words = "cut", last_sentence(words)
        if not words:
            raise UnreadableReply("The words are cut off before their first sentence ends.")
    decision = reply.request.in_words(words)
    assert decision is not None, "asked of requests alone that take words"
    return Reading(decision, stage)
