"""Thinking in a reply and its separation from the answer; the spellings in which models think aloud are data.

`<think>B or C?</think>C` says `C` and thinks `B or C?`. A mark (`<think>`) has an end of its own. A heading
(`**Thinking:**`) ends where a heading of the question, an object or a tag begins a line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice

from agentsim.engine.markup import CLOSE_BRACKETS, OPEN_BRACKETS, in_sentence, is_quoted
from agentsim.engine.reading.fields import REASONS
from agentsim.engine.reading.objects import strict_spans
from agentsim.engine.reading.text import headings, listed, spaced, words_in
from agentsim.errors import UnreadableReply

THINKING = listed("""
    thinking, thoughts, thought, thought process, my thoughts, my thinking, internal monologue, thinks,
    inner monologue, internal thoughts, inner thoughts, private thoughts, private thought, scratchpad,
    chain of thought, reasoning, reasoning content, internal reasoning, private reasoning, internal analysis,
    reasoning process, internal strategy, internal notes, step-by-step thinking, step by step thinking,
    private strategy, private notes,
    notes to self, note to self, private, internal, my reasoning steps, reasoning steps, private thinking,
    internal thinking, private analysis, thinking out loud, step-by-step reasoning, step by step reasoning,
    thinking process, deliberation, uberlegung, uberlegungen, gedanken, pensee, pensees, reflexion, pensamiento,
    pensamientos, pensamento, razonamiento, raisonnement, ragionamento, pensieri, mysli, myslenie, rozumowanie, мысли,
    размышления, 思考, 思考过程, 推理, 内心独白
""")
"""Folded headings of thinking, unless the question has a field of that name."""

ASIDES = listed("""
    analysis, reflection, strategy, my strategy, plan, my plan, planning, rationale, draft, hidden, why this works,
    explanation, notes, note, strategy note, strategic note, 分析, analyse, analisis
""")
"""Folded headings of text that is no part of an answer in words, if that has a heading of its own."""

_LEAD_IN = frozenset(
    listed("""
    a, above, all, alright, also, and, answer, are, as, asi, based, below, certainly, conclusion, considering,
    daher, decision, donc, endgultige, everything, final, finally, following, for, formal, hence, here, here's, i,
    i'm, il, im, in, is, json, jury, la, ma, me, mein, meine, meu, mi, mijn, minha, mio, moj, moja, moje, mon, my,
    now, of, official, ok, okay, on, ostateczny, overall, player, private, public, que, quindi, reply, requested,
    required, response, round, secret, so, sure, that, the, then, therefore, this, thus, well, wiec, with, итак,
    мои, моя, 我的, 最终, 私の
""")
)
"""Words that may stand before such a heading on its line: `here are my thoughts`."""

_ABROAD = frozenset(
    listed("""
    akilyurutme, ajatuksia, ajattelu, analisi, analisis, analyse, berpikir, borrador, bozza, brouillon, denken,
    denkproces, denkprozess, denkweise, dusunce, dusunceler, dusunuyorum, gedachte, gedachten, gedanke, gedanken,
    gedankengang, grubeln, monolog, monologo, mysl, mysli, myslenie, myslenky, nachdenken, nachgedacht, namysl,
    overweging, pemikiran, penalaran, pensamento, pensamentos, pensamiento, pensamientos, pensando, pensar, pensee,
    pensees, pensieri, pensiero, premysleni, raciocinio, ragionamento, raisonnement, rascunho, razonamiento, razonando,
    redenering, reflechir, reflexao, reflexion, reflexiones, reflexions, resonemang, riflessione, riflessioni,
    rozumowanie, rozwazania, selbstgesprach, suy nghi, suy luan, taenkning, tankande, tankar, tanker, uberlegen,
    uberlegung, uberlegungen, анализ, думаю, думки, міркування, мысли, мысль, мышление, обдумывание, размышление,
    размышления, рассуждение, рассуждения, роздуми, σκέψεις, σκέψη, أفكار, التفكير, تفكير, चिंतन, विचार, सोच, ความคิด,
    การคิด, 反思, 心の声, 心想, 心理活动, 心裡想, 心里想, 心里话, 想法, 考え, 考え中, 考察, 考虑, 草稿, 独り言, 생각,
    생각중, 사고, 사고과정, 속마음, 추론, 추론과정, 혼잣말
""")
)
"""Folded names of tags of thinking in other languages."""

_ROOTS = re.compile("思考|思索|思維|思维|思绪|思路|推理|推論|推论|内心|內心")
"""Characters that stand in any name of thinking in Chinese and Japanese: `<深度思考>`."""

_MOST_MARKS = 1_000  # marks of thinking in a reply
_NEAR = 200  # characters before a tag that are looked at
# the prefix of a family, or the suffix of a mode: <longcat_think>, <think_faster>, <reasoning_content>
_PREFIX, _SUFFIX = r"(?:[a-z]{2,12}_)", r"_(?!(?:on|off|end|start|begin)\b)[a-z]{2,12}"
_NAME = (
    rf"(?:ant-?|{_PREFIX})?think(?:ing|s)?(?:[_ -]process|{_SUFFIX})?|{_PREFIX}?thoughts?(?:[_ -]process|{_SUFFIX})?"
    rf"|{_PREFIX}?reason(?:ing|s)?(?:{_SUFFIX})?|scratch[_ -]?pad|analysis"
    r"|reflections?|deliberations?|(?:inner|internal|private)[_ -](?:monologue|thoughts?|thinking|reasoning|dialogue)"
    r"|monologue|chain[_ -]of[_ -]thoughts?|cot|brainstorm(?:ing)?|cot_budget_reflect"
    r"|思考(?:过程)?|推理|内心独白|internal|private|hidden|plan(?:ning)?|strategy|secret"
)
# a tag of any namespace in any brackets: <think>, <seed:think>, [THINK], ◁think▷, <|begin_of_thought|>, &lt;think&gt;
_TAG = (
    r"(?:<<?+|[◁＜⟨〈‹【]|&lt;|[-=]{3,8}+|(?P<square>\[))\s{0,2}+(?P<slash>/)?+\|?+\s{0,2}+"
    r"(?P<end>/|end[_ -](?:of[_ -])?)?(?:(?:begin|start)[_ -](?:of[_ -])?)?(?:[\w.-]{1,20}:)?"
    r"(?=[atrsdimpcbh思推内][nhectlroi考理心]|[a-z]{2,12}_(?:think|thought|reason))"
    rf"(?P<name>{_NAME})(?P<last>[_ -]end)?"
    r"(?:\s[^<>\[\]:\n]{0,80})?\s{0,2}\|?\s{0,2}(?:>{1,2}|[▷＞⟩〉›】]|&gt;|[-=]{3,8}|\])"
)
# the same names in brackets that ordinary words may stand in
_BRACKETED = re.compile(
    rf"(?P<open>[{OPEN_BRACKETS}｛（(［\[{{](?:(?<=\[)\[|(?<=\{{)\{{|(?<!\[)))"
    r"(?=[ \t/／]{0,3}[tsrcip思推内])[ \t]?(?P<slash>[/／]?)[ \t]?"
    r"(?P<name>think(?:ing)?|thoughts?|scratch ?pad|reasoning|chain of thought|cot"
    r"|(?:inner|internal) (?:monologue|thoughts?)|思考(?:过程)?|推理(?:过程)?|内心独白|内心|心理活动)"
    rf"[ \t]?(?:[{CLOSE_BRACKETS}｝）)］]|\]\]|\}}{{1,2}})",
    re.IGNORECASE,
)
_BRACKETS = rf"<>＜＞()（）{{}}｛｝［］{OPEN_BRACKETS}{CLOSE_BRACKETS}"
_ANY_TAG = re.compile(
    rf"(?P<open>[<＜(（{{｛［\[{OPEN_BRACKETS}])[ \t]?(?P<slash>[/／]?)[ \t]?"
    rf"(?P<name>[^\W\d_][^\n{_BRACKETS}\[\]\"=:：|/]{{0,30}}+)(?P<more>=[^\n{_BRACKETS}\[\]]{{0,80}})?"
    rf"[>＞)）}}｝］\]{CLOSE_BRACKETS}]"
)
"""A name in any language in any brackets."""
_SQUARE = re.compile(
    r"think(?:ing)?|thoughts?|reasoning|scratch[_ -]?pad|cot|internal|private|hidden|plan|思考(?:过程)?|推理|内心独白",
    re.IGNORECASE,
)  # [analysis] is a word
_ORDINARY = re.compile(
    r"analysis|reflections?|deliberations?|brainstorm(?:ing)?|internal|private|hidden|plan(?:ning)?|strategy|secret"
    r"|reasons?|reasoning|monologue|思考|推理",
    re.IGNORECASE,
)
"""Names of tags that are ordinary words as well."""
_SPACED_OUT = re.compile(r"<\s[^<>]*\s>")  # less-than and greater-than signs around a word
# the ends of marks, by the name of the group that finds their beginning
_ENDS = {
    "channel": re.compile(r"<channel\|>|<\|(?:end|channel)\|?>(?:\s*(?:final|response|answer)\b(?:<\|message\|>)?)?"),
    "inner": re.compile(r"<\|inner_suffix\|>"),
    "unused": re.compile(r"<(?:unused|ctrl)95>|</(?:unused|ctrl)94>"),
    "comment": re.compile(r"-->"),
    "fence": re.compile(r"```|~~~|:::"),
    "aside": re.compile(r"[)）]"),
    "starred": re.compile(r"\*"),
    "bracketed": re.compile(r"[\]】]"),
    "angled": re.compile(r">"),
    "cloud": re.compile(r"\n|$"),
    "role": re.compile(r"<\|im_end\|>(?:\s*<\|im_start\|>\s*(?:answer|response|final|assistant)\b)?"),
    "terminal": re.compile(r"^(?:\.{3}|…)\s?done thinking\.?", re.IGNORECASE | re.MULTILINE),
    "details": re.compile(r"</details\s*>", re.IGNORECASE),
}
_NESTS = re.compile(r"[(（\[【<]|[)）\]】>]")
_NOTES = r"(?:think(?:ing)?|thoughts?|reasoning|scratchpad|analysis|思考(?:过程)?|推理(?:过程)?)(?: process)?"
_ASIDE = (
    r"(?:(?:(?:inner|internal|private|secret)(?:\s(?:thoughts?|thinking|monologue|note))?"
    r"|aside|secretly|ooc|out of character|(?:[a-z]{2,10} )?to (?:my|him|her|them)?self"
    r"|thinking|thinks|thoughts?|monologue|gedanken?|denkt|denke|innerlich|pens[ée]es?|pense|pensando|piensa|pienso"
    r"|pensamientos?|pensamentos?|pensa|pensiero|pensieri|my[śs]li|мысли|мысль|думает|думаю|про себя)\b"
    r"|内心|內心|心想|心里想|心裡想|心里话|心声|心の声|心理活动|思考|独白|暗想|속마음|생각|속으로)"
)
# a quick test for the beginning of a mark: its bracket and two letters of its name
_BEGINS = (
    r"(?=(?:<<?+|[◁＜⟨〈‹【\[]|&lt;|[-=]{3,8}+(?![-=]))[\s/|]{0,7}+(?:[atrsdimpcbheu思推内][nhectlroim考理心]|[\w.-]{1,20}+:|[a-z]{2,12}_(?:think|thought|reason))"
    r"|<!|[(（*\[【<][^\W\d_]|```(?!`)|~~~(?!~)|:::(?!:)|💭|^T|^(?:\.{3}|…)\s?d)"
)
_MARK = re.compile(
    rf"{_BEGINS}(?:(?P<tag>{_TAG})"
    r"|(?P<channel><\|channel\|?>\s*(?:thoughts?|thinking|analysis|reasoning)\b)"
    r"|(?P<inner><\|inner_prefix\|>)"
    r"|(?P<unused><(?:unused|ctrl)94>(?:\s*thoughts?\b)?)"
    r"|(?P<comment><!--)"
    rf"|(?P<fence>(?:```|~~~|:::)[ \t]*+(?:(?:{_NOTES}|plan)\b"
    rf"|\w{{0,12}}+[ \t]*+\n[\s#*_>]{{0,8}}+{_NOTES}[*_:：]{{0,4}}+[ \t]*+\n))"
    r"|(?P<details><details[^<>]{0,80}>\s*<summary[^<>]{0,80}>[^<>]{0,60}(?:think|thought|reason|思考|推理)[^<>]{0,60}</summary>)"
    rf"|(?P<aside>[(（]\s?{_ASIDE}[^()（）:：\n]{{0,30}}[:：])|(?P<starred>(?<!\*)\*(?!\*){_ASIDE}[^*:：\n]{{0,30}}[:：])"
    rf"|(?P<bracketed>[\[【]\s?{_ASIDE}[^\[\]【】:：\n]{{0,30}}[:：])|(?P<angled><{_ASIDE}[^<>:：\n]{{0,30}}[:：])|(?P<cloud>💭)"
    r"|(?P<role><\|im_start\|>\s*(?:think(?:ing)?|thoughts?|reasoning|analysis)\b)"
    r"|(?P<terminal>^Thinking(?:\.{3}|…)[ \t]*$)"
    r"|(?P<stray><channel\|>|<(?:unused|ctrl)95>|</ctrl94>|^(?:\.{3}|…)\s?done thinking\.?[ \t]*$))",
    re.IGNORECASE | re.MULTILINE,
)
# the pattern begins with one character class, so that the search skips to the next character in it
_SIGNS = r"<◁＜⟨〈‹【\[(（*💭"
_ANY = re.compile(
    rf"[{_SIGNS}=&`~:aT.…-](?:(?<=[{_SIGNS}])|(?<=[-=])[-=]{{2}}|(?<=&)lt;|(?<=`)``|(?<=~)~~|(?<=:)::"
    r"|(?<=a)(?:nalysis|ssistant)|(?<=T)hinking(?:\.{3}|…)|(?<=[.…])\s?done thinking)"
)
# the first line of a channel of thinking whose tokens were stripped
_STRIPPED_LINE = re.compile(
    r"\s*+(?:[>▶▼▸▾⏳🤔🧠💭][ \t]?)?(?P<name>(?i:(?:think(?:ing)?|thoughts?|reasoning)(?: process)?|analysis"
    r"|commentary|思考(?:过程)?|(?:thought|reasoned) for [\w ]{1,20}"
    r"|推理(?:过程)?|内心独白))[ \t]*+(?:\n|\Z)"
)
# the channels of OpenAI's harmony format, with its special tokens and without them
_CHANNEL = re.compile(r"<\|channel\|>([^<]{0,80})\s*+(?:<\|constrain\|>[^<]{0,20})?<\|message\|>")
_TOKEN = re.compile(r"<\|[^<>|\n]{1,40}\|>")
_RECIPIENT = re.compile(r"(?:\A|(?<=assistant)|(?<=\n))\s{0,4}to=[\w.]{1,80}(?:\s?code)?\s{0,4}\Z")
"""The function that a message calls, in front of its channel."""
_CHANNEL_ENDS = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_STRIPPED = re.compile(r"\s*+(?:assistant)?\s*+analysis(?![a-z\s:,.;_-])")
# the beginning of an answer behind thinking that has no end of its own
_FINAL = re.compile(
    r"assistant\s?final(?:\s?json)?|assistant\s?commentary\s+to=[\w.]{1,60}(?:\s?json)?"
    r"|\[BEGIN FINAL (?:RESPONSE|ANSWER)\]"
    r"|<\|(?:begin_of_solution|START_RESPONSE|start_of_response)\|>"
)
# besides a heading of the question's own, an object, a fence, a tag or a box at the beginning of a line ends a thought
_ANSWER_BEGINS = re.compile(r"^[ \t]*(?:\{\s*[\"'“]|\[\s*\{|```|<[a-z_]{2,30}>|\\boxed)", re.MULTILINE)
_UNQUOTED = re.compile(r"^(?![ \t]*>)[ \t]*\S", re.MULTILINE)


_LONGEST_MARKS = 6
_MARKS_OPEN = re.compile(r"[*_`~(（\[{\"“「『]+\Z")
_MARKS_CLOSE = re.compile(r"[*_`~)）\]}\"”」』]{1,6}")
_MIRRORED = str.maketrans("(（[{“「『", ")）]}”」』")
_EMPTY = re.compile(r"<\s?(?:think|thinking|thought|reasoning)\s{0,3}/>", re.IGNORECASE)
"""A tag of thinking that is empty."""


def split(text: str, own: Collection[str] = (), *, strict: bool = False) -> tuple[str, tuple[str, ...]]:
    """Return a text without its thinking, and the thoughts in order: `C` and `("hm",)` for `<think>hm</think>C`.

    Tags with one of the question's `own` names (folded, blanks for separators) hold a field of it, if they close.

    Thinking that does not end hides everything behind it. If only its end is in the reply (some templates write the
    beginning themselves), everything before it is thinking. If a text has more than `_MOST_MARKS` marks, everything
    behind the last that was read is thinking. The strings of valid objects are left alone.

    A tag in quotes is a word, and so is a tag in a sentence that does not end if its name is an ordinary word
    (`a <strategy> we share`). If `strict`, raises `UnreadableReply` for another tag in a sentence, because it may be
    either.
    """
    text = _in_angles(_EMPTY.sub("", text) if "/>" in text else text)
    if not _ANY.search(text):
        return text, ()
    thoughts: list[str] = []
    text = _final(text, thoughts)
    kept = "".join(_spoken(text, thoughts, own, strict=strict))
    return kept, tuple(thought for each in thoughts if (thought := each.strip()))


def _in_angles(text: str) -> str:
    """Replace names of thinking in other brackets (`【思考】`) by `<think>`, if they begin a line or have an end.

    Elsewhere, and in the brackets of quotations, a name without an end is a word.
    """
    ends = {_plain_name(tag) for tag in islice(_ANY_TAG.finditer(text), _MOST_MARKS) if tag["slash"]}
    ends |= {_plain_name(tag) for tag in islice(_BRACKETED.finditer(text), _MOST_MARKS) if tag["slash"]}

    def plain(tag: re.Match[str]) -> str:
        abroad = tag.re is _ANY_TAG
        if abroad and not _is_abroad(tag):
            return tag[0]
        above = text[max(0, tag.start() - _NEAR) : tag.start()]
        begins = not above.rpartition("\n")[2].strip() and tag["open"] not in "「『«‹"
        begins = begins and (not abroad or tag["open"] in "<＜")
        if not begins and _plain_name(tag) not in ends:
            return tag[0]
        return f"<{'/' if tag['slash'] else ''}think>"

    return _BRACKETED.sub(plain, _ANY_TAG.sub(plain, text))


def _plain_name(tag: re.Match[str]) -> str:
    return spaced(tag["name"])


def _is_abroad(tag: re.Match[str]) -> bool:
    """Return whether a tag has a name of thinking in a language other than English."""
    name = spaced(tag["name"])
    return name in _ABROAD or _ROOTS.search(name) is not None or not _ABROAD.isdisjoint(words_in(name))


def in_later_channel(text: str) -> bool:
    """Return whether words stand before a text's first channel, so that the channel is another message."""
    first = _CHANNEL.search(text)
    if first is None:
        return False
    before = _RECIPIENT.sub("", _TOKEN.sub("", text[: first.start()]))
    return bool(before.strip().removesuffix("assistant").strip())


def has_marks(text: str) -> bool:
    """Return whether a text may hold a mark of thinking or a special token."""
    if _STRIPPED_LINE.match(text) is not None or _BRACKETED.search(text) is not None:
        return True
    if any(map(_is_abroad, _ANY_TAG.finditer(text))):
        return True
    return _ANY.search(text) is not None and (bool(_first_marks(text)) or "assistant" in text or "<|" in text)


def _final(text: str, thoughts: list[str]) -> str:
    """Return the content of the final channel, or the text if it has none; append everything else to `thoughts`."""
    channels = [*_CHANNEL.finditer(text)] if "<|message|>" in text and "<|channel|>" in text else []
    if channels and "{" in text:
        spans = strict_spans(text)
        channels = [each for each in channels if not _inside(spans, each.start())]
    if channels:
        said: list[str] = []
        position = 0
        for channel in channels:
            if channel.start() < position:
                continue
            before = _TOKEN.sub("", text[position : channel.start()])
            to = _RECIPIENT.search(before)
            thoughts.append((before[: to.start()] if to else before).removesuffix("assistant"))
            end = _CHANNEL_ENDS.search(text, channel.end())
            position = end.start() if end else len(text)
            called = (to or " to=" in channel[1]) and not channel[1].lstrip().startswith("analysis")
            aloud = called or channel[1].startswith(("final", "response", "answer"))
            (said if aloud else thoughts).append(text[channel.end() : position])
        thoughts.append(_TOKEN.sub("", text[position:]))
        return "\n".join(said)
    spans = strict_spans(text) if "{" in text and _FINAL.search(text) else []
    finals = [each for each in _FINAL.finditer(text) if not _inside(spans, each.start())]
    if finals:
        thoughts.append(text[: finals[-1].start()])
        return text[finals[-1].end() :]
    if _STRIPPED.match(text):
        thoughts.append(text)
        return ""
    return text


def _marks(text: str, own: Collection[str]) -> tuple[list[re.Match[str]], bool]:
    """Return the marks at which thinking may begin or end, and whether they are all such marks of the text."""
    first = _first_marks(text)
    # a name in square brackets may be a word
    marks = [mark for mark in first if mark["square"] is None or _SQUARE.fullmatch(mark["name"])]
    if own:
        ended = {_named(mark) for mark in marks if _is_end(mark)} & set(own)
        marks = [mark for mark in marks if _named(mark) not in ended]
    return marks, len(first) < _MOST_MARKS


@lru_cache(4)
def _first_marks(text: str) -> tuple[re.Match[str], ...]:
    return tuple(islice(_MARK.finditer(text), _MOST_MARKS))


def _spoken(text: str, thoughts: list[str], own: Collection[str], *, strict: bool) -> Iterator[str]:
    """Yield the pieces of the text between thoughts, and append these to `thoughts`."""
    marks, all_seen = _marks(text, own)
    spans = strict_spans(text) if marks and "{" in text else []
    kept: list[str] = []
    position, opened, place = 0, False, 0
    last_end = max((mark.start() for mark in marks if _is_end(mark)), default=-1)
    for mark in marks:
        start, end = mark.span()
        if start < position:
            continue  # within a mark that has its own end
        while place < len(spans) and spans[place][1] <= start:
            place += 1
        if not opened and place < len(spans) and spans[place][0] < start:
            continue  # in a string of a whole object
        kind = mark.lastgroup if mark.lastgroup in _ENDS else "tag"
        if kind == "tag" and not opened and _is_word(text, mark, ends=last_end > start, strict=strict):
            continue
        if kind in _ENDS and not opened:
            kept.append(text[position:start])
            stop, position = _end_of(text, mark, kind)
            thoughts.append(text[end:stop])
        elif _is_end(mark):
            thoughts += ["".join(kept)] * (not opened) + [text[position:start]]
            kept = kept if opened else []  # the beginning is not in the reply: everything before is thinking
            position, opened = end, False
        elif kind == "tag" and not opened:
            kept.append(text[position:start])
            position, opened = end, True
    if opened or not all_seen:
        thoughts.append(text[position:])
    else:
        kept.append(text[position:])
    yield from _unmarked(kept)


def _end_of(text: str, mark: re.Match[str], kind: str) -> tuple[int, int]:
    """Return the span of the end of a mark that has an end of its own, which is the end of the text if it lacks one.

    Brackets within the mark's own are part of it, and a fence ends with the sign that began it.
    """
    end = mark.end()
    if kind in {"aside", "bracketed", "angled"}:
        depth, opens = 1, mark[0][0]
        pair = (opens, {"(": ")", "（": "）", "[": "]", "【": "】", "<": ">"}[opens])
        for sign in _NESTS.finditer(text, end):
            depth += (sign[0] == pair[0]) - (sign[0] == pair[1])
            if not depth:
                return sign.span()
        return len(text), len(text)
    signs = _ENDS[kind]
    for closes in signs.finditer(text, end):
        if kind != "fence" or closes[0] == mark[0][:3]:
            return closes.span()
    return len(text), len(text)


def _unmarked(kept: Sequence[str]) -> Iterator[str]:
    """Yield the pieces between thoughts without the marks around a thought: `**` of `**<think>so</think>** Hello`."""
    pieces = [*kept]
    for place in range(1, len(pieces)):
        before, behind = pieces[place - 1], pieces[place]
        opens = _MARKS_OPEN.search(before[-_LONGEST_MARKS:])
        if opens and (marks := _MARKS_CLOSE.match(behind)) and marks[0] == _closing(opens[0]):
            pieces[place - 1], pieces[place] = before[: len(before) - len(opens[0])], behind[marks.end() :]
    yield from pieces


def _closing(marks: str) -> str:
    return marks[::-1].translate(_MIRRORED)


def _is_word(text: str, mark: re.Match[str], *, ends: bool, strict: bool) -> bool:
    """Return whether a tag is a word of a sentence; `ends` is whether the end of a tag follows.

    If `strict`, raises `UnreadableReply` if a tag in a sentence may be either.
    """
    start, end = mark.span()
    if is_quoted(text, start, end):
        return True
    in_words = in_sentence(text, start, end)
    if _is_end(mark):
        if in_words and strict:
            raise UnreadableReply("The end of a tag of thinking stands in a sentence. Answer without it.")
        return False
    before = text[max(0, start - _NEAR) : start].rpartition("\n")[2].rstrip(" \t\"'“‘`*_(")
    if ends or not (before[-1:].isalnum() or before.endswith((",", "，", ";"))):
        return False
    spaced_out = bool(_SPACED_OUT.fullmatch(mark[0])) and text[start - 1 : start] == " " == text[end : end + 1]
    if (in_words or spaced_out) and _ORDINARY.fullmatch(mark["name"] or ""):
        return True
    if not strict:
        return False
    raise UnreadableReply("A tag of thinking stands in a sentence and does not end. Answer without it.")


def _inside(spans: Sequence[tuple[int, int]], place: int) -> bool:
    before = bisect_right(spans, (place,)) - 1
    return before >= 0 and spans[before][0] < place < spans[before][1]


def _named(mark: re.Match[str]) -> str:
    return re.sub(r"[\s_-]+", " ", (mark["name"] or "").casefold())


def _is_end(mark: re.Match[str]) -> bool:
    return bool(mark["slash"] or mark["end"] or mark["last"] or mark["stray"])


def heads_thinking(lead: str) -> bool:
    """Return whether folded words before a heading leave its meaning as it is: `here are my`."""
    return all(word in _LEAD_IN or word.isdigit() for word in words_in(lead))


@lru_cache(1024)
def _thinking(own: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in THINKING if name not in own)


def _stripped_line(plain: str, own: Sequence[str]) -> Iterator[re.Match[str]]:
    line = _STRIPPED_LINE.match(plain)
    if line is not None and (line["name"] not in own or line["name"] in REASONS):
        yield line


def thought_spans(plain: str, own: Sequence[str]) -> list[tuple[int, int]]:
    """Return the spans of a folded text under headings of thinking.

    Each ends where the answer begins: at a heading with one of the question's `own` names, an object, a fence or a tag.
    """
    spans: list[tuple[int, int]] = []
    ends: list[int] | None = None
    for match in chain(_stripped_line(plain, own), headings(plain, _thinking(tuple(own)), heads_thinking)):
        whole = re.sub(r"[\s_-]+", " ", match["lead"] + match["name"]) if match.re is not _STRIPPED_LINE else ""
        if (spans and match.start() < spans[-1][1]) or whole in own:
            continue
        if ends is None:
            ends = [each.start() for each in headings(plain, own, heads_thinking)]
            ends = sorted([*ends, *(each.start() for each in _ANSWER_BEGINS.finditer(plain))])
        place = bisect_right(ends, match.start())
        end = ends[place] if place < len(ends) else len(plain)
        if plain.startswith(">", match.start()) and (after := _UNQUOTED.search(plain, match.end())):
            end = min(end, after.start())  # thinking in a block quote ends with it
        spans.append((match.start(), end))
    return spans
