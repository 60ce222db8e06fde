"""Answers in words: separates the words that others hear from headings, asides and thinking.

`**My pitch:** Vote for me.` says `Vote for me.`
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice

from agentsim.engine.prompt import cleaned
from agentsim.engine.reading.objects import Object
from agentsim.engine.reading.tags import goes_on_behind_its_end, tag_content, tag_pattern, tags, without_wrappers
from agentsim.engine.reading.text import any_name, folded, headings, spaced, without
from agentsim.engine.reading.thinking import ASIDES, THINKING, heads_thinking, thought_spans
from agentsim.errors import UnreadableReply

_JSON_BEGINS = re.compile(r"\s*(?:```\w*\s*)?(?:\{|\[\s*(?:[{\"\]]|$))")
_PRIVATE = re.compile(r"think|thought|reason|plan|analy|reflect|scratch|strateg|explan|private|secret|note", re.I)
_KEPT = re.compile(rf"memory|{_PRIVATE.pattern}", re.IGNORECASE)
_FORMATTING = re.compile(
    r"</?(?=[a-z])(?:b|i|u|s|em|strong|br|p|sub|sup|small|mark|span|div|ul|ol|li|h[1-6]|hr|blockquote)(?:\s[^<>]*)?/?>",
    re.I,
)
_PAIRED = re.compile(r"<([a-z][\w:-]{1,40})(?:\s[^<>]{0,80})?>(?=[^<>]*</\1\s*>)", re.I)
_FENCE = re.compile(r"```\w*\n?")
_MARKS_OPEN = re.compile(r"(?:\*{1,2}|_{1,2})(?=\s)")
_MARKS_CLOSE = re.compile(r"(?<=\s)(?:\*{1,2}|_{1,2})$")
_ENDS = 5  # characters at the end of a text that hold its closing marks
# line and block comments as in code; a URL may also begin with //
_COMMENT = re.compile(
    r"^[ \t]*//(?!/?[\w-]+(?:\.[\w-]+)+(?:[/:]|\s|$))[^\n]*(?:\n|\Z)|^[ \t]*/\*(?s:.*?)(?:\*/|\Z)"
    r"|/\*(?:(?!\*/)(?s:.))*+(?:\*/)?(?=\s*\Z)",
    re.MULTILINE,
)
_IN_A_SENTENCE = r"[^\n.,!?:…。，！？：]"
# a first sentence that only says that the model thinks (zero-shot chain of thought: Kojima et al. 2022, in other
# languages Shi et al. 2022), or that speaks of the user, as the reasoning of gpt-oss, Qwen and DeepSeek begins
_THINKS_ALOUD = re.compile(
    r"[\s*_\"(]{0,8}+(?:(?:ok(?:ay)?|alright|all right|so|well|hm+|first|now)[,.!:]?\s{1,2}){0,3}+"
    r"(?:(?:(?:(?:let's|let us|let me|(?:i|we) (?:need to|should|must|have to)) (?:just |first )?(?:think|reason)"
    r"|(?:thinking|reasoning)(?= (?:out loud|aloud|step)))"
    r"(?: about (?:this|it)| this| it| through| out loud| aloud| carefully| step[ -]by[ -]step){0,3},?"
    rf"|(?={_IN_A_SENTENCE}{{0,60}}?(?:schritt fur schritt|etape par etape|paso a paso|passo (?:a|dopo) passo"
    r"|шаг за шагом|по шагам|一步一步|一步步|逐步|ステップ))"
    rf"{_IN_A_SENTENCE}{{0,60}}?(?:denk|uberleg|reflech|pens|дума|思考|想|分析|考え){_IN_A_SENTENCE}{{0,60}}+"
    r")[*_\")]{0,3}\s{0,2}(?:[.!:…。：]|\n|\Z)"
    r"|the user (?:wants|asks|asked|is asking|has asked|says|said|provided|gave)\b"
    r"|(?:i|we) (?:need to|should|must|have to) (?:write|craft|produce|output|generate|compose|return) (?:[a-z]+ ){0,3}"
    r"(?:pitch|speech|statement|response|reply|answer|json)\b)"
)
_STEPS = re.compile(r"\s*+[*_#]{0,4}\s?(?:step|schritt|etape|paso|passo|шаг|步骤) ?1\b")
"""A first step, of thinking or of a plan (`Step 1`): if a heading of the answer follows, it is unclear which."""
_SENTENCE_ENDS = re.compile(r"[.!?…。！？](?=[\s\"'”’)*_]|$)[\"'”’)*_]*")


def said_aloud(
    body: str, objects: Sequence[Object], names: Sequence[str], *, any_text: bool = False
) -> tuple[str, list[str]]:
    """Return the words of a reply in prose, and the thoughts in it; `names` are those that the words may have.

    With `any_text` lists and tags are words too. Raises `UnreadableReply` if there are no words, or if they cannot be
    told from objects, lists or tags around them.
    """
    wanted = UnreadableReply("The words cannot be told from what stands around them.")
    for each in objects:
        private = each.value is not None and any(_PRIVATE.search(key) for key in each.value)
        if each.state != "strict" or each.fenced or each.call or private:
            raise wanted
    if not any_text and _JSON_BEGINS.match(body):
        raise wanted
    if not any_text and goes_on_behind_its_end(body):
        raise wanted
    whole = list(islice(tags(folded(body), tuple(names)), 2))
    if len(whole) == 1:
        start, end = tag_content(whole[0])
        rest = without_wrappers(body[: whole[0].start()] + body[whole[0].end() :])
        return _plain(body[start:end]), [rest] if rest.strip() else []
    body, scratch = without_scratch(without_wrappers(body), names)
    words, hidden = _under_headings(body, tuple(names))
    hidden = [*scratch, *hidden]
    if not any_text and _PAIRED.search(_FORMATTING.sub("", words)):
        raise wanted
    words = _plain(words)
    if not words:
        raise UnreadableReply("The reply says nothing.")
    return words, hidden


def aloud(words: str, names: Sequence[str], others: Sequence[str] = ()) -> str:
    """Remove from the words of a field its own headings and tags, thinking, and text for the fields named `others`.

    Raises `UnreadableReply` for a tag in them that seems to be private (`<plan>`).
    """
    if any(_is_private(tag[1], names) for tag in _PAIRED.finditer(words)) or goes_on_behind_its_end(words):
        raise UnreadableReply("The words cannot be told from what stands around them.")
    words = without(words, thought_spans(folded(words), names))
    if not is_kept(names[0]):
        words, _ = without_scratch(words, names)
    words, _ = _under_headings(words, tuple(names))
    if others and (other := _other_field(tuple(others)).search(folded(words))):
        words = words[: other.start()]
    while "<" in words and (tag := tag_pattern(tuple(names)).fullmatch(folded(words).strip())):
        words = words.strip()[slice(*tag_content(tag))]
    return words


def is_kept(name: str) -> bool:
    """Return whether a name is that of words that no other player hears: a memory, a thought, a reason."""
    return _KEPT.search(name) is not None


def may_hold_scratch(words: str) -> bool:
    """Return whether `without_scratch` may find notes in the words."""
    return "//" in words or "/*" in words or bool(_THINKS_ALOUD.match(plain := folded(words)) or _STEPS.match(plain))


def without_scratch(words: str, names: Sequence[str]) -> tuple[str, list[str]]:
    """Return the words without the writer's notes to itself, and these notes.

    Notes are comments (`// plan`), and thinking aloud up to a heading with one of the `names`. Raises `UnreadableReply`
    if thinking aloud has no such heading behind it, or if there is one behind steps, which may be a plan.
    """
    notes: list[str] = []
    if "//" in words or "/*" in words:
        notes = [each[0] for each in _COMMENT.finditer(words)]
        words = _COMMENT.sub("", words)
    plain = folded(words)
    thinks = _THINKS_ALOUD.match(plain)
    if thinks is None and _STEPS.match(plain) is None:
        return words, notes
    answer = next(headings(plain, tuple(names), heads_thinking), None)
    if thinks is not None and answer is not None:
        return words[answer.start() :], [*notes, words[: answer.start()]]
    if thinks is not None or answer is not None:
        raise UnreadableReply("The reply thinks aloud. Answer with the words alone.")
    return words, notes


def _is_private(name: str, own: Sequence[str]) -> bool:
    plain = spaced(name)
    return plain not in own and (plain in THINKING or plain in ASIDES or _PRIVATE.search(plain) is not None)


@cache
def _other_field(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for the beginning of another field: name with a colon, in brackets or as a tag, or a rule."""
    name = any_name(names)
    return re.compile(
        rf"[(\[<*_]{{1,3}}\s?(?:{name})\s?[)\]>*_]{{1,3}}|(?<![\w-])(?:{name})[*_]{{0,2}}\s?:"
        r"|(?<=\n)[^\S\n]*+-{3,}+[^\S\n]*+\n"
    )


def _plain(words: str) -> str:
    """Clean the words, and remove a fence, quotes or marks around them."""
    words = cleaned(words).strip()
    fence = _FENCE.match(words)
    words = words[fence.end() if fence else 0 :].removesuffix("```").strip()
    words = _without_rules(words).strip()
    for opens, closes in (('"', '"'), ("“", "”"), ("'", "'")):
        if len(words) > 1 and words.startswith(opens) and words.endswith(closes) and opens not in words[1:-1]:
            words = words[1:-1].strip()
    return words


def _without_rules(words: str) -> str:
    """Remove blank lines, horizontal rules and emphasis marks without a word from both ends."""
    lines = words.split("\n")
    first, last = 0, len(lines)
    while first < last - 1 and _is_rule(lines[first]):
        first += 1
    while first < last - 1 and _is_rule(lines[last - 1]):
        last -= 1
    left = "\n".join(lines[first:last])
    opens = None if first else _MARKS_OPEN.match(left)
    left = left[opens.end() if opens else 0 :]
    return left if last < len(lines) else left[:-_ENDS] + _MARKS_CLOSE.sub("", left[-_ENDS:])


def _is_rule(line: str) -> bool:
    marks = line.strip()
    return not marks or (len(marks) > 2 and not marks.strip("-*_"))


def _under_headings(body: str, names: tuple[str, ...]) -> tuple[str, list[str]]:
    """Return the text under the answer's headings, or all of it if there are none, and the rest."""
    plain = folded(body)
    asides = [(*match.span(), False) for match in headings(plain, _asides(names), heads_thinking, anywhere=False)]
    anywhere = bool(asides) and not plain[: asides[0][0]].strip()  # `analysis: ...` and then `final: ...`
    answers = [(*match.span(), True) for match in headings(plain, names, heads_thinking, anywhere=anywhere)]
    if not answers:
        return body, []
    sections = sorted([*answers, *asides])
    words: list[str] = []
    hidden = [body[: sections[0][0]]]
    for place, (_, end, answer) in enumerate(sections):
        section = body[end : sections[place + 1][0] if place + 1 < len(sections) else len(body)]
        if answer:
            if len(words) == 1 and not words[0].strip():
                words.clear()
            words.append(section)
        else:
            hidden.append(section)
    return "\n".join(words), [each for each in map(str.strip, hidden) if each]


def _asides(own: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in ASIDES if name not in own)


def last_sentence(words: str) -> str:
    """Return the words up to the end of their last whole sentence, or "" if there is none."""
    ends = [each.end() for each in _SENTENCE_ENDS.finditer(words)]
    return words[: ends[-1]].strip() if ends else ""
