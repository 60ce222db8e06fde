"""Answers in words: separates the words that others hear from headings, asides and thinking.

`**My pitch:** Vote for me.` says `Vote for me.`
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice

from agentsim.engine.markup import CLOSE_BRACKETS, OPEN_BRACKETS, in_sentence, is_quoted
from agentsim.engine.prompt import cleaned
from agentsim.engine.reading.objects import Object
from agentsim.engine.reading.tags import goes_on_behind_its_end, tag_content, tag_pattern, tags, without_wrappers
from agentsim.engine.reading.text import any_name, folded, headings, listed, spaced, without
from agentsim.engine.reading.thinking import ASIDES, THINKING, heads_thinking, thought_spans
from agentsim.errors import UnreadableReply

_JSON_BEGINS = re.compile(r"\s*(?:```\w*\s*)?(?:\{|\[\s*(?:[{\"\]]|$))")
_PRIVATE = re.compile(r"think|thought|reason|plan|analy|reflect|scratch|strateg|explan|private|secret|note", re.I)
_KEPT = re.compile(rf"memory|{_PRIVATE.pattern}", re.IGNORECASE)
_FORMATS = "b|i|u|s|em|strong|br|p|sub|sup|small|mark|span|div|ul|ol|li|h[1-6]|hr|blockquote"
_FORMATTING = re.compile(rf"</?(?=[a-z])(?:{_FORMATS})(?:\s[^<>]*)?/?>", re.I)
_FORMAT = re.compile(rf"{_FORMATS}|a|q|del|ins|strike|code|pre|cite|center|font|color|size|quote|url|table|tr|td|th")
_ANY_TAG = re.compile(
    rf"(?P<open>[<＜\[{{｛［{OPEN_BRACKETS}])[ \t]?(?P<slash>[/／]?)(?P<name>[^\W\d_][\w:.-]{{0,40}}+)"
    rf"(?:[\s=][^<>\[\]{{}}]{{0,200}})?[>＞\]}}｝］{CLOSE_BRACKETS}]"
)
"""A tag with a name in any script, in brackets of any kind."""
_NEAR = 200  # characters around a tag that are looked at
_MOST_WORDS = 3  # in a tag that is part of a sentence
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
_COMPOSES = (
    r"(?:write|craft|draft|compose|formulate|generate|produce|output|create|return|prepare|phrase|come up with"
    r"|put together)"
)
_PIECES = r"(?:pitch|speech|statement|response|reply|answer|json|message)"
_NEEDS = r"(?:need to|should|must|have to|want to|am supposed to|'m supposed to|ought to|'d better|had better)"
_TASKS = (
    # the user, the task, the prompt
    r"the user (?:wants|asks|asked|is asking|has asked|says|said|provided|gave|needs|requests|requested|instructs)\b"
    r"|the (?:prompt|task|question|system (?:prompt|message)|instructions?|assignment) "
    r"(?:asks?|wants?|says? (?:that )?i|tells? me|instructs?|is asking)\b"
    rf"|(?:the|my) (?:task|job|goal|assignment|objective)(?: here| now)? is to {_COMPOSES} (?:[a-z]+ ){{0,4}}"
    rf"{_PIECES}\b"
    rf"|(?:i am|i'm|we are|we're|i was|i've been|i have been)(?: being)? (?:asked|tasked|instructed|prompted|told)"
    rf" to (?:{_COMPOSES}|give|make|deliver|provide) (?:[a-z]+ ){{0,4}}{_PIECES}\b"
    r"|we (?:need to|should|must|have to) (?:respond|answer|reply) (?:as|in|with)\b"
    r"|(?:considering|given|based on|looking at) (?:the|this|my) (?:prompt|instructions|system (?:prompt|message))\b"
    # a sentence that says that words will be written
    rf"|(?:i|we) (?:need to|should|must|have to) (?:write|craft|produce|output|generate|compose|return)"
    rf" (?:[a-z]+ ){{0,3}}{_PIECES}\b"
    rf"|(?:(?:i'll|i will|i'm going to|i am going to|i {_NEEDS})(?: now| just| first| try to| also){{0,2}}"
    rf"|let me(?: now| just| first| try to| also){{0,2}}|let's(?![^.\n]{{0,80}}\btogether))"
    rf"\s?{_COMPOSES} (?:[a-z-]+,? ){{0,5}}{_PIECES}"
    r"(?=\s*(?:[.:!,;(-]|$)|\s(?:that|which|in which|as|now|here|without|while|so|to (?:the (?:group|others|table)"
    r"|convince|persuade|make|keep|get|stay|win|avoid)|for (?:the|this|my)|from|with)\b)"
    r"|i (?:need|have) to (?:give|make|deliver|provide|present) (?:a|my|the) (?:[a-z]+ ){0,3}pitch\b"
    # an answer that is introduced by what it is for
    rf"|(?:sure[,!.]? |certainly[,!.]? |of course[,!.]? )?(?:here(?:'s| is)|below is|this is)"
    rf" (?:a|an|my|the|your) (?:[a-z-]+,? ){{0,4}}{_PIECES}"
    rf"(?:,)? (?:that|which|designed|meant|intended|aimed|crafted|to|where)\b{_IN_A_SENTENCE}{{0,120}}:\s*\n"
)
_TASKS_ABROAD = (
    r"用户(?:让|要求|希望|想|问|请|说|给|需要|正在|要(?!的))|(?:题目|任务|提示词?|系统提示)(?:要求|让|说我)"
    r"|我(?:需要|应该|必须|得|要|来|先|现在)(?:先|来|要)?(?:写|生成|输出|构思|撰写|组织)[^.,!?:\n]{0,12}"
    r"(?:发言|演讲|演说|回复|回答|陈述|宣言|台词|json)"
    r"|ユーザー(?:は|が|から|の(?:要求|指示|質問|依頼))|(?:スピーチ|発言|回答|返答|メッセージ)を(?:書|作成|生成|考え)[^.\n]{0,6}(?:必要|ましょう|べき)"
    r"|사용자(?:는|가|의|께서|로부터)"
    r"|der (?:nutzer|user|benutzer|anwender) (?:mochte|will|fragt|bittet|hat|verlangt|erwartet|wunscht)\b"
    r"|ich (?:muss|soll|sollte|werde)(?: nun| jetzt| also)? (?:eine?n?|meine?n?) (?:\w+ ){0,2}(?:rede|antwort|nachricht"
    r"|pitch|aussage|beitrag) (?:schreiben|verfassen|formulieren|erstellen)\b"
    r"|l'utilisateur (?:veut|demande|souhaite|me|a)\b|je (?:dois|vais)(?: maintenant)?"
    r" (?:ecrire|rediger|composer|generer) (?:un|une|mon|ma) (?:\w+ ){0,2}(?:discours|message|reponse|declaration"
    r"|pitch)\b"
    r"|el usuario (?:quiere|pide|me|solicita|desea|ha)\b|(?:debo|necesito|tengo que|voy a) (?:escribir|redactar|generar"
    r"|crear) (?:un|una|mi) (?:\w+ ){0,2}(?:discurso|mensaje|respuesta|declaracion)\b"
    r"|o usuario (?:quer|pede|pediu|me|solicita|deseja)\b|(?:preciso|devo|vou) (?:escrever|redigir|gerar|criar)"
    r" (?:um|uma|meu|minha) (?:\w+ ){0,2}(?:discurso|mensagem|resposta|declaracao)\b"
    r"|l'utente (?:vuole|chiede|mi|ha)\b|(?:devo|dovrei) (?:scrivere|comporre|generare) (?:un|una|il mio|la mia)"
    r" (?:\w+ ){0,2}(?:discorso|messaggio|risposta|dichiarazione)\b"
    r"|пользователь (?:просит|хочет|спрашивает|попросил|требует|сказал)\b|(?:мне |я )?(?:нужно|надо|должен|должна)"
    r" (?:написать|составить|сгенерировать|придумать) (?:\w+ ){0,2}(?:речь|ответ|сообщение|выступление|текст)\b"
    r"|uzytkownik (?:chce|prosi|pyta|poprosil)\b|(?:musze|powinienem|powinnam) (?:napisac|wygenerowac|stworzyc)"
    r" (?:\w+ ){0,2}(?:mowe|przemowe|odpowiedz|wiadomosc|wypowiedz)\b"
    r"|de gebruiker (?:wil|vraagt|heeft)\b|kullanici (?:benden|istiyor|soruyor)\b|المستخدم (?:يريد|يطلب|يسأل)"
)
"""What reasoning says first in other languages, folded: `the user wants`, `I must write a speech`."""
_MUSES = (
    rf"i(?:'m| am)? {_NEEDS} (?:give|make|deliver|provide|present) (?:a|an|my|the) (?:[a-z]+ ){{0,3}}{_PIECES}\b"
    rf"|i {_NEEDS} (?:figure out|think (?:about|of|through)|decide|choose|consider|analy[sz]e|convince the|persuade the"
    r"|respond to the|come up|be careful|plan)\b"
    r"|(?:i'm|i am|we're|we are) (?:(?:player|agent) \w+[.,]? |playing|in (?:a|this|the) game|given|supposed to)"
    r"|so,? (?:i'm|i am|i have|i've got) (?:player|agent|in|to|a (?:pitch|speech|vote|decision))\b"
)
"""What reasoning says behind a first word of hesitation: `Okay, so I need to figure out ...`."""
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
    rf"|{_TASKS}|(?:(?:好的?|嗯+|首先|那么|现在|また|まず|さて|also|bon|bueno|итак|так|хорошо|음)[,.!]?\s{{0,2}}){{0,3}}+(?:{_TASKS_ABROAD}))"
    rf"|[\s*_\"(]{{0,8}}+(?:(?:ok(?:ay)?|alright|all right|hm+|as (?:player|agent) \w{{1,30}}+)[,.!:…]{{0,3}}\s{{1,2}})"
    rf"{{1,3}}+(?:so,? )?(?:{_MUSES}|i {_NEEDS} {_COMPOSES} )"
    # a direction that what follows is thought
    r"|\s*+[*(\[_]{1,3}(?:thinks?|thinking|to (?:my|him|her|them)self|internally|inner voice|ooc|out of character)"
    r"(?: to (?:my|him|her|them)self| hard| deeply| aloud)?[)*\]_]{1,3}(?=\s)"
)
_STRATEGIES = listed("""
    strategy, my strategy, explanation, strategy note, strategic note, strategic reasoning, rationale, hidden,
    hidden agenda, hidden motive, why this works, intent, intention, tactic, tactics, strategie, estrategia, strategia,
    стратегия, 策略, 战略, 戦略, 전략
""")
"""Folded headings of notes on the words, which begin a paragraph of their own."""
_FIRST_NOTES = listed("""
    analysis, reflection, draft, planning, internal, private, secret, ooc, critique, objective, 分析, 内心,
    注, 备注, 旁白, 考え, 생각, 속마음
""")
"""Folded headings of notes that stand as a paragraph before the words."""
_NOTED = (*_STRATEGIES, *_FIRST_NOTES)
_PARAGRAPHS, _PARAGRAPH_ENDS = re.compile(r"\S[ \t]{0,8}\n[ \t]{0,8}\n"), re.compile(r"\n[ \t]{0,8}\n[ \t]{0,8}\Z")
_BESIDE = re.compile(
    # a note in brackets or emphasis on a line of its own, also on how long the words are
    r"[\n.!?…](?:(?<=\n)(?:[ \t]{0,8}[(\[*_]{1,3}\s?(?:note|notes|strategy|strategic note|rationale|reasoning"
    r"|explanation|analysis|intent|goal|tone|word count|words|characters|注|备注|说明|策略|解释|字数"
    r"|hinweis|anmerkung|nota|remarque"
    r"|примечание|заметка|strategie|estrategia|strategia|стратегия)\b"
    r"[^\n:()\[\]]{0,40}:(?=[^\n]{0,2000}[)\]*_][ \t]*(?:\n|\Z))"
    # a last paragraph on the words above it
    r"|[ \t]{0,8}\n[ \t]{0,8}[(\[*_>]{0,3}[ \t]?(?:(?:this|the above|my|that) "
    r"(?:pitch|speech|statement|message|response|reply|post|answer)(?: above)?"
    r" (?:aims|hides|works because|is (?:designed|meant|intended|crafted|aimed|written)"
    r"|positions|establishes|emphasi[sz]es|appeals|frames|avoids|seeks|tries|highlights|leverages|conceals|signals"
    r"|balances|does(?: not|n't) (?:reveal|mention|name))\b"
    # what a chatbot adds for its user
    r"|let me know if (?:you(?:'d| would)?|this|there|anything|any)\b[^\n]{0,40}\b"
    r"(?:changes|adjust\w*|versions?|edits?|revis\w*)\b"
    r"|(?:that|this) should (?:convince|persuade|win over|sway) (?:them|the others|the group|everyone)\b"
    r"|(?:word|character) count:|\(\d{1,4} (?:words|characters)\))"
    # several drafts
    r"|[ \t*#]{0,6}(?:draft|version) ?2\b[ *]{0,3}[:)])"
    # what stands before an answer that it introduces
    r"|(?<=[.!?…])[\"')*]{0,2} (?:so,? )?here(?:'s| is) (?:my|the|a) (?:[a-z]+ ){0,2}"
    r"(?:pitch|speech|statement|message|response|reply):[*_]{0,2}\s*\n)"
)
"""A writer's note on its own words, folded and behind a line end."""
_INTRODUCES = re.compile(
    r"\s*+(?:sure|certainly|of course|absolutely|okay|ok)[!,.]? (?:here(?:'s| is)|below is)"
    rf" (?:a|an|my|the|your) (?:[\w-]+,? ){{0,4}}{_PIECES}\b[^\n]{{0,80}}:"
)
"""A chatbot's first words for its user."""
_HIDDEN = re.compile(
    r"[\]{%<](?:(?<=\]):(?: # \(|[ \t]?(?:#|<>))|(?<=\{)(?:#|\{!)|(?<=[\n.!?…]%)%|(?<=[\n.!?…] %)%"
    r"|(?<=<)(?:[?!][a-z]|[a-z][^<>]{0,80}(?:\shidden\b|display: ?none|visibility: ?hidden))"
    r"|(?<=\{) ?(?:thinking|thoughts?|internal[^{}:\n]{0,20}|private[^{}:\n]{0,20}|inner[^{}:\n]{0,20}) ?:)"
)
"""Comments of Markdown and templates, instructions of XML, hidden text of HTML, and thinking in braces, folded
and behind a line end."""
_LEFT_LINE = re.compile(
    r"[.!?…\n][\"')*_]{0,3}[ \t]{0,8}\n[ \t]{0,8}(?:thoughts?|think|thinking|reasoning|analysis|思考|思考过程|推理"
    r"|内心独白)[ \t]{0,8}\n"
)
"""A line behind words that is left of a channel of thinking."""
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
    _check(words, names, any_text=any_text)
    words = _plain(words)
    if not words:
        raise UnreadableReply("The reply says nothing.")
    return words, hidden


def aloud(words: str, names: Sequence[str], others: Sequence[str] = (), *, any_text: bool = False) -> str:
    """Remove from the words of a field its own headings and tags, thinking, and text for the fields named `others`.

    Raises `UnreadableReply` for a tag in them that seems to be private (`<plan>`) or somebody else's, for a line that
    begins thinking, and, unless the words may be `any_text`, for a note on themselves (`**Strategy:** ...`).
    """
    if any(_is_private(tag[1], names) for tag in _PAIRED.finditer(words)) or goes_on_behind_its_end(words):
        raise UnreadableReply("The words cannot be told from what stands around them.")
    words = without(words, thought_spans(folded(words), names))
    if not (kept := is_kept(names[0])):
        words, _ = without_scratch(words, names)
    words, _ = _under_headings(words, tuple(names))
    if not kept:
        _check(words, names, any_text=any_text)
    if others and (other := _other_field(tuple(others)).search(folded(words))):
        words = words[: other.start()]
    while "<" in words and (tag := tag_pattern(tuple(names)).fullmatch(folded(words).strip())):
        words = words.strip()[slice(*tag_content(tag))]
    return words


def is_kept(name: str) -> bool:
    """Return whether a name is that of words that no other player hears: a memory, a thought, a reason."""
    return _KEPT.search(name) is not None


def may_hold_scratch(words: str) -> bool:
    """Return whether `without_scratch` may find notes in the words, or `holds_foreign_tag` a tag."""
    if "//" in words or "/*" in words or holds_foreign_tag(words, ()):
        return True
    plain = folded(words)
    return bool(
        _THINKS_ALOUD.match(plain) or _STEPS.match(plain) or _LEFT_LINE.search(plain) or _HIDDEN.search(f"\n{plain}")
    ) or _is_annotated(plain, ())


def holds_foreign_tag(words: str, own: Sequence[str]) -> bool:
    """Return whether words hold a pair of tags that stands apart, as of an instruction or of somebody else's words.

    A pair is part of a sentence if it stands within one and holds at most `_MOST_WORDS` words (`the <role>admin</role>
    of all`). Tags in quotes, formatting such as `<b>`, and the `own` names are left out. An end without a beginning
    counts if words stand on both sides of it.
    """
    if "/" not in words and "／" not in words:
        return False
    opened: dict[str, re.Match[str]] = {}
    ink = _first_and_last(words)
    for tag in _ANY_TAG.finditer(words):
        name = spaced(tag["name"])
        if _FORMAT.fullmatch(name) or name in own:
            continue
        if not tag["slash"]:
            opened.setdefault(name, tag)
            continue
        begins = opened.pop(name, None)
        if begins is None:
            near = words[max(0, tag.start() - _NEAR) : tag.end() + _NEAR]
            place = min(tag.start(), _NEAR)
            if ink[0] < tag.start() and tag.end() <= ink[1] and not in_sentence(near, place, place + len(tag[0])):
                return True
            continue
        start, end = begins.start(), tag.end()
        inside = words[begins.end() : tag.start()]
        within = _within(words[max(0, start - 2) : start]) and "\n" not in inside and len(inside.split()) <= _MOST_WORDS
        if not within and not is_quoted(words, start, end):
            return True
    return False


def _first_and_last(words: str) -> tuple[int, int]:
    """Return the positions of the first and the last letter or digit, the length and -1 if there are none."""
    first = next((place for place, sign in enumerate(words) if sign.isalnum()), len(words))
    return first, next((place for place in range(len(words) - 1, -1, -1) if words[place].isalnum()), -1)


def _within(before: str) -> bool:
    """Return whether a tag behind these two characters stands within a sentence."""
    return before[-1:] == " " and (before[:1].isalnum() or before[:1] in set(",;:"))


def _is_annotated(plain: str, own: Sequence[str]) -> bool:
    """Return whether folded words have a note on themselves, or a heading of strategy on a paragraph of its own."""
    if _INTRODUCES.match(plain) or _BESIDE.search(f"\n{plain}"):
        return True
    names = tuple(name for name in _NOTED if name not in own)
    for match in headings(plain, names, heads_thinking):
        decorated = match["mark"].strip(" -(\"'>|.0123456789") or match["close"].strip(")]\"'")
        if spaced(match["name"]) in _FIRST_NOTES:
            noted = not plain[: match.start()].strip() and bool(_PARAGRAPHS.search(plain))
        else:
            before = _PARAGRAPH_ENDS.search(plain, max(0, match.start() - _NEAR), match.start())
            noted = bool(decorated or before)
        if noted:
            return True
    return False


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


def _check(words: str, names: Sequence[str], *, any_text: bool) -> None:
    """Raise `UnreadableReply` if words hold a foreign tag, a line that begins thinking, or a note on themselves."""
    if holds_foreign_tag(words, names):
        raise UnreadableReply("The words cannot be told from what stands around them.")
    plain = folded(words)
    if _LEFT_LINE.search(plain) or _HIDDEN.search(f"\n{plain}") or (not any_text and _is_annotated(plain, names)):
        raise UnreadableReply("The words hold a note on themselves. Answer with the words alone.")


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
