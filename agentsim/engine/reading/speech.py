"""Answers in words: separates the words that others hear from headings, asides, notes and thinking.

`**My pitch:** Vote for me.` says `Vote for me.`, and `<think>B or C?</think>C` says `C` and thinks `B or C?`. The
spellings in which models think are data. A mark (`<think>`) has an end of its own; a heading (`**Thinking:**`) ends
where a heading of the question, an object or a tag begins a line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, islice
from typing import Any, NamedTuple

from agentsim.engine.markup import (
    CLOSE_BRACKETS,
    OPEN_BRACKETS,
    in_sentence,
    is_quoted,
    replaced,
    with_latin,
    with_plain_lines,
)
from agentsim.engine.reading.fields import REASONS, SPEECH, is_private_field
from agentsim.engine.reading.text import (
    REMOVED_MARK,
    Object,
    any_name,
    folded,
    goes_on_behind_its_end,
    has_words,
    headings,
    listed,
    scan,
    spaced,
    strict_spans,
    tag_content,
    tag_pattern,
    tags,
    without,
    without_fences,
    without_wrappers,
    words_in,
)
from agentsim.engine.wording import cleaned
from agentsim.errors import UnreadableReply
from agentsim.patterns import Pattern

_JSON_BEGINS = Pattern(r"\s*(?:```\w*\s*)?(?:\{|\[\s*(?:[{\"\]]|$))")
_FORMATS = "b|i|u|s|em|strong|br|p|sub|sup|small|mark|span|div|ul|ol|li|h[1-6]|hr|blockquote"
_FORMATTING = Pattern(rf"</?(?=[a-z])(?:{_FORMATS})(?:\s[^<>]*)?/?>", re.I)
_FORMAT = Pattern(rf"{_FORMATS}|a|q|del|ins|strike|code|pre|cite|center|font|color|size|quote|url|table|tr|td|th")
_PAIR_TAG = Pattern(
    rf"(?P<open>[<＜\[{{｛［{OPEN_BRACKETS}])[ \t]?(?P<slash>[/／]?)(?P<name>[^\W\d_][\w:.-]{{0,40}}+)"
    rf"(?:[\s=][^<>\[\]{{}}]{{0,200}})?[>＞\]}}｝］{CLOSE_BRACKETS}]"
)
"""A tag with a name in any script, in brackets of any kind."""
_ELEMENTS = listed("""
    audio, base, button, canvas, embed, form, iframe, img, input, link, math, meta, option, pre, script, select, style,
    svg, textarea, title, video
""")
"""Folded names of elements of HTML that name no part of an answer: words, in a reply of the structure asked for."""
_GESTURE = Pattern(
    r"(?:applau|beat|blush|bow|cheer|chuckl|clap|cough|cr(?:y|ies)|frown|gasp|giggl|grin|groan|gulp|laugh|nod|paus|rant"
    r"|scoff|shiver|shrug|sigh|silen|sit|smil|smirk|sniff|snort|sob|stand|wav|whisper|wink|yawn)\w{0,4}"
)
"""A stage direction, which has no end: `<sighs>`."""
_IN_ONE_TAG = Pattern(r"\s*<(?P<name>[^\W\d_][\w-]{0,40})>[^<>]*</(?P=name)>\s*")
"""Words in one pair of tags without attributes: `<announcement>Work!</announcement>`."""
_LAST_TAG = Pattern(r"(?<!\s)\s*+[<＜][/／](?P<name>[A-Za-z][\w-]{0,40})\s?[>＞]\s*\Z")
_FIRST_TAG = Pattern(r"\s*[<＜](?P<name>[A-Za-z][\w-]{0,40})[>＞]\s*")
_IN_SQUARE_TAGS = Pattern(
    r"\s*+\[(?P<name>[A-Za-z][\w-]{0,40})\](?P<inner>(?:(?!\[/?(?P=name)\]).)*+)\[/(?P=name)\]\s*", re.S
)
"""Words in one pair of tags in square brackets: `[pitch]Keep me.[/pitch]`."""
_COMMAND = Pattern(r"\s*+`?(?P<sign>[/!])(?P<name>[A-Za-z][\w-]{0,30})[ \t:]++(?=\S)")
"""The name of a command of a chat before its words: `/pitch Keep me.`"""
_SAYS = frozenset(("say", "speak"))
_IN_A_SHELL = Pattern(
    r"\s*+(?:```\w{0,12}\s*)?`?(?:\$ )?[a-z][\w-]{1,30} (?:--?[a-z][\w-]{0,30}[ =])?--?[a-z][\w-]{0,30}[ =][\"'“]"
)
"""A command with an option and its value: `pitch --text "Keep me."`"""
_CODE_BEFORE_A_CALL = Pattern(
    r"(?:\A|\n)[ \t]{0,8}`{0,3}(?:(?:await|return|yield|(?:const|let|var) \w{1,30} ?=|[a-z_]\w{0,30} =)[ \t]){1,3}"
    r"[a-zA-Z_][\w.]{1,40}\("
)
"""A call in a statement: `await pitch(`."""
_CALL_ALONE = Pattern(
    r"\s*+(?:[a-zA-Z_]\w{0,30}\.)?[a-z_]\w{1,40}\(\s{0,8}"
    r"(?:\{\s{0,8}[\"']?[a-z_]\w{0,40}[\"']?\s?:|[a-z_]\w{0,40}\s?=(?!=))"
    r".*\)[\s;`]*",
    re.DOTALL,
)
"""A call with a named argument that is all of the words: `vote(target="C")`."""
_NEAR_A_TAG = 200  # characters around a tag that are looked at
_MOST_WORDS = 3  # in a tag that is part of a sentence
_PAIRED = Pattern(r"<([a-z][\w:-]{1,40})(?:\s[^<>]{0,80})?>(?=[^<>]*</\1\s*>)", re.I)
_ATTRIBUTED = Pattern(r"[\w-]\s?=\s?[\"'“]")
"""An attribute of a tag: `<pitch text="Hi"/>` is markup wherever it stands."""
_FENCE = Pattern(r"```\w*\n?")
_EMPHASIS_OPENS = Pattern(r"(?:\*\*|_{1,2})(?=\s)|\*(?=[ \t]*\n)")  # `* ` before words begins an item of a list
_EMPHASIS_CLOSES = Pattern(r"(?<=\s)(?:\*{1,2}|_{1,2})$")
_CLOSING = 5  # characters at the end of a text that hold its closing marks
# line and block comments as in code; a URL may also begin with //
_COMMENT = Pattern(
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
    rf" (?:[a-z]+ ){{0,3}}{_PIECES}\b(?! of\b|,? but\b)"
    rf"|(?:(?:i'll|i will|i'm going to|i am going to|i {_NEEDS})(?: now| just| first| try to| also){{0,2}}"
    rf"|let me(?: now| just| first| try to| also){{0,2}}|let's(?![^.\n]{{0,80}}\btogether))"
    rf"\s?{_COMPOSES} (?:[a-z-]+,? ){{0,5}}{_PIECES}(?!,? but\b)"
    r"(?=\s*(?:[.:!,;(-]|$)|\s(?:that|which|in which|as|now|here|without|while|so|to (?:the (?:group|others|table)"
    r"|convince|persuade|make|keep|get|stay|win|avoid)|for (?:the|this|my)|from|with)\b)"
    r"|i (?:need|have) to (?:give|make|deliver|provide|present) (?:a|my|the) (?:[a-z]+ ){0,3}pitch\b"
    # an answer that is introduced by what it is for
    rf"|(?:sure[,!.]? |certainly[,!.]? |of course[,!.]? )?(?:here(?:'s| is)|below is|this is)"
    rf" (?:a|an|my|the|your) (?:[a-z-]+,? ){{0,4}}{_PIECES}"
    r"(?:,)? (?:that|which|designed|meant|intended|aimed|crafted|(?<!response )(?<!reply )(?<!answer )to|where)\b"
    rf"{_IN_A_SENTENCE}{{0,120}}:\s*\n"
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
"""The first words of reasoning in other languages, folded: `the user wants`, `I must write a speech`."""
_TO_NONE = (
    r"(?![^\n]{0,200}(?:\b(?:you|your|yours|yourselves|euch|vous|ustedes|vosotros|voces|voi|вам|вами|вас|wam|wami)\b"
    r"|[你您]))"
)
"""A pattern behind words on the player, folded: no player is addressed on the rest of the line."""
_MUSES = (
    rf"i(?:'m| am)? {_NEEDS} (?:give|make|deliver|provide|present) (?:a|an|my|the) (?:[a-z]+ ){{0,3}}{_PIECES}\b"
    rf"|i {_NEEDS} figure out\b|(?:let me|let's) (?:\w+ )?break (?:this|it|things|that) down\b(?!:)"
    rf"|(?:so,? )?(?:i'm|i am|we're|we are) (?:player|agent) \w{_TO_NONE}"
)
"""The words of reasoning behind a first word of hesitation: `Okay, so I need to give a pitch ...`."""
# a first sentence that only says that the model thinks (zero-shot chain of thought: Kojima et al. 2022, in other
# languages Shi et al. 2022), or that speaks of the user, as the reasoning of gpt-oss, Qwen and DeepSeek begins
_THINKS_ALOUD = Pattern(
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
    r"|\s*+analysis [^\n]{0,2000}[.!?] (?:assistant ?)?final "
    r"|\s*+[*(\[_]{1,3}(?:thinks?|thinking|to (?:my|him|her|them)self|internally|inner voice|ooc|out of character"
    r"|(?:private|inner|aside|under (?:my|his|her|their) breath|psst)(?=[^\n]*\n)|internal|silent|unspoken"
    r"|hidden|not (?:said|spoken) aloud"
    r"|(?:internal|private|inner|hidden|secret) (?:reasoning|thinking|monologue|notes?|analysis|strategy)"
    r"|in (?:my|his|her|their) head|inner thoughts?"
    r"|(?<=[(\[])(?:secret|secretly|privately|silently)|内心|心里|心想|心里想|心の声|独白|속마음)"
    r"(?: to (?:my|him|her|them)self| hard| deeply| aloud)?:?[)*\]_]{1,3}(?=\s|[^\x00-\x7f])"
)


class _Musing(NamedTuple):
    """How reasoning begins in one language, folded: who thinks, and of what.

    `speech` are words for what the player will say: they begin no speech. `affairs` are words for its situation, which
    begin one at times.
    """

    who: tuple[str, ...]
    thinks: tuple[str, ...]
    speech: tuple[str, ...]
    affairs: tuple[str, ...]
    gap: str = r"[^.!?:\n…]{0,30}?"
    """The pattern of the words between the first two."""
    verb_first: bool = True
    past: tuple[str, ...] = ()
    """Words that put the thinking in the past, where the verb does not: who tells of it speaks."""


_I_SHALL = listed("""
    let me, let's, let us, i need, i should, i must, i have to, i've got to, i gotta, i want to, i'll, i will,
    i'm going to, i am going to, i'm trying, i am trying, i'm thinking, i am thinking
""")
_THINK = listed("""
    think, thinking, consider, analyze, analyse, assess, evaluate, figure out, work out, plan, strategize, reason,
    recall, work,
    decide, determine, weigh, brainstorm, break down, formulate, ponder, reflect, examine, understand, map out, prepare,
    craft, come up with, choose, see
""")
_HELPING = (
    r"(?: (?:to|just|first|now|really|also|quickly|start|begin|by|try|trying|actually|honestly|briefly|then"
    r"|quietly|on|be"
    r"|very|carefully|quick|here|get)){0,5} "
)
"""Words between who thinks and that it thinks in English: `I need you to understand` is no thought."""
_MUSINGS = (
    _Musing(
        (*_I_SHALL, *listed("we need, we should, we must, we have to, time to, need to, now to")),
        tuple(verb for verb in _THINK if verb != "see"),
        listed("""
        what to say, what i say, what i should say, what i can say, what i could say, what i want to say,
        what i need to say, what i will say, what i'll say, what i'm going to say, what should i say, what to tell them,
        what to write, what i should write, what to answer, what to pitch, what to post, what my pitch, what my speech,
        how to respond, how i respond, how i should respond, how to reply, how to answer, how i should answer,
        how to pitch, how to phrase, how to word, how to frame, how to present myself, how to approach this,
        how i should approach, how to convince them, how to persuade them, how to position myself, how best to,
        my pitch, my speech, my response, my reply, my answer here, the best response, the best pitch, the best answer,
        the right words, a good pitch, a good response, a good speech, what would be best to say, the right tone
        """),
        (),
        _HELPING,
    ),
    _Musing(
        _I_SHALL,
        _THINK,
        (),
        listed("""
        my strategy, the strategy, my approach, the best approach, the best strategy, the best move, my options,
        the options, the situation, my situation, the current situation, the current state, the game state,
        the state of the game, the dynamics, my position, my next move, my goal, my goals, my objective,
        what to do, what i should do, what's going on, what we have here, what we know, the other players,
        each player, the rules, through this, who is a threat, who to target, this carefully, this through,
        the context, the scenario
        """),
        _HELPING,
    ),
    _Musing(
        listed("我, 让, 先, 来, 好, 首先, 现在, 需要, 咱"),
        listed("考虑, 思考, 想想, 想一想, 想一下, 分析, 梳理, 琢磨, 斟酌, 构思, 理清, 评估, 想好"),
        listed("""
        说什么, 说些什么, 怎么说, 如何说, 如何发言, 怎么发言, 发言内容, 我的发言, 如何回应, 怎么回应, 如何回答,
        怎么回答, 如何回复, 该说, 措辞, 如何表达, 怎么表达, 如何说服
        """),
        listed("局势, 形势, 情况, 策略, 局面, 怎么做, 如何应对, 处境, 其他玩家, 各个玩家, 每个玩家, 当前"),
    ),
    _Musing(
        (),
        listed("""
        考えよう, 考えてみ, 考えましょう, 考える必要, 考えなければ, 考えないと, 考えなきゃ, 考えねば, 考えたい,
        考えます,
        分析し, 整理し, 検討し, 考慮し
        """),
        listed(
            "何を言, 何を話, 何と言, なんと言, どう言, どう話, どう答え, どう発言, 発言内容, 何を伝え, どう伝え, どう返"
        ),
        listed("状況, 戦略, 作戦, 方針, どうすべき, どう動, どうする, 立場"),
        verb_first=False,
    ),
    _Musing(
        (),
        listed("""
        생각해 보자, 생각해보자, 생각해 봐야, 생각해봐야, 생각해야, 생각해 보겠, 생각해보겠, 고민해, 분석해 보자,
        분석해보자, 분석해야, 분석해 보겠, 정리해 보자, 정리해보자, 정리해야, 고려해야
        """),
        listed("무슨 말, 뭐라고 말, 뭐라고 할, 어떻게 말, 할 말, 어떤 말, 어떻게 대답, 어떻게 답, 발언을, 발언할"),
        listed("상황, 전략, 어떻게 해야, 무엇을 해야"),
        verb_first=False,
    ),
    _Musing(
        listed("ich, lass mich, lasst mich, mir, mal"),
        listed("uberleg, nachdenk, denke, denken, abwag, analysier, planen, plane, entscheid, bedenk"),
        listed("""
        was ich sage, was ich jetzt sage, was ich ihnen sage, was soll ich sagen, was ich sagen, was ich schreib,
        wie ich antwort, wie ich reagier, wie ich mich prasentier, meine rede, meine antwort, meine aussage,
        meinen pitch, was zu sagen
        """),
        listed(
            "meine strategie, die situation, die lage, meine optionen, was ich tue, was ich tun, die spielsituation"
        ),
        verb_first=False,
    ),
    _Musing(
        (),
        listed("""
        reflechir, reflechis, reflechissons, penser, pensons, analyser, analysons, decider, preparer, determiner,
        examiner, examinons
        """),
        listed("""
        ce que je dois dire, ce que je vais dire, ce que je veux dire, ce que je peux dire, ce qu'il faut dire,
        quoi dire, que dire, comment repondre, comment presenter, comment formuler, mon discours, ma reponse,
        mon message a,
        ce que je dis
        """),
        listed("ma strategie, la situation, mes options, ce que je dois faire, mon approche"),
    ),
    _Musing(
        listed(
            "dejame, dejadme, dejenme, debo, tengo que, necesito, voy a, vamos a, pensemos, analicemos, me pregunto"
        ),
        listed("pens, reflexion, analiz, decid, consider, plane, prepar, evalu, determin"),
        listed("""
        que decir, que digo, lo que voy a decir, lo que debo decir, que debo decir, que deberia decir, que voy a decir,
        como responder, como presentar, como contestar, mi discurso, mi respuesta, mi mensaje
        """),
        listed("mi estrategia, la situacion, mis opciones, que debo hacer, que hacer, mi enfoque"),
    ),
    _Musing(
        listed("""
        deixe-me, deixa-me, deixa eu, deixe eu, vou, preciso, tenho que, devo, vamos, pensemos, fammi, fatemi, lasciami,
        lasciatemi, devo, dovrei, vediamo, pensiamo, analizziamo, ho bisogno
        """),
        listed("pens, reflet, analis, analizz, decid, consider, planej, prepar, riflett, valut, avali"),
        listed("""
        o que dizer, no que dizer, que vou dizer, que devo dizer, que digo, como responder, como me apresentar,
        meu discurso, minha resposta, minha mensagem, cosa dire, che dire, cosa dico, cosa dovrei dire, cosa diro,
        come rispondere, come presentar, il mio discorso, la mia risposta
        """),
        listed("""
        minha estrategia, a situacao, minhas opcoes, o que fazer, la mia strategia, la situazione, le mie opzioni,
        cosa fare
        """),
    ),
    _Musing(
        listed("давай, давайте, мне, я, надо, нужно, сначала, так, итак, хорошо, подумаю, подумаем"),
        listed("""
        подума, обдума, дума, проанализир, анализир, реш, обсужд, оцен, прикин, спланир, размысл, продума, сообраз
        """),
        listed("""
        что сказать, что мне сказать, что я скажу, что говорить, что написать, как ответить, как мне ответить,
        что ответить, как выступить, свою речь, моя речь, мою речь, свое выступление, свои ответ, как сформулировать
        """),
        listed("стратеги, ситуаци, вариант, что делать, положение, расклад"),
    ),
    _Musing(
        listed("musze, powinienem, powinnam, pozwol, niech, moze, trzeba, zastanowmy, zastanowie, pomyslmy"),
        listed("zastanow, pomysl, przemysl, przeanaliz, rozwaz, zdecyd, zaplan"),
        listed("co powiedziec, co mam powiedziec, co powiem, jak odpowiedziec, co napisac, moja wypowiedz, moja mowe"),
        listed("moja strateg, strategi, sytuacj, co zrobic"),
    ),
    _Musing(
        listed("laat me, laat mij, ik, ik moet, even"),
        listed("nadenk, denken, overweg, bedenk, analyseer, beslis, plannen"),
        listed("wat ik moet zeggen, wat ik zeg, wat ik ga zeggen, wat te zeggen, hoe ik reageer, mijn toespraak"),
        listed("mijn strategie, de situatie, mijn opties, wat ik moet doen"),
        verb_first=False,
    ),
    _Musing(
        (),
        listed("dusun, degerlendir, analiz et, planla, karar ver"),
        listed("ne soyle, ne diye, ne yazaca, nasil cevap, nasil yanit, konusma"),
        listed("stratejim, durumu, seceneklerim, ne yapmal"),
        verb_first=False,
    ),
    _Musing(
        listed("saya, aku, kami, mari, biarkan, toi, hay, minh, de toi, chung toi"),
        listed("pikir, memikir, pertimbang, menganalis, suy nghi, nghi, can nhac, phan tich, xem xet"),
        listed("""
        apa yang harus, apa yang akan saya kata, apa yang perlu, bagaimana menjawab, pidato saya, nen noi gi, noi gi,
        nen noi, tra loi the nao, bai phat bieu
        """),
        listed("strategi saya, situasi, chien luoc, tinh hinh, tinh huong"),
        past=listed("da, vua, sudah, telah, tadi, pernah, udah, sempat, semalam, kemarin, hom qua, toi qua, dem qua"),
    ),
    _Musing(
        (),
        listed("أفكر, دعني أحلل, نفكر, سأفكر, सोचना, सोचता, सोचने, सोचूं, सोच लूं, विचार कर, विश्लेषण"),
        listed("سأقول, أقول, أقوله, كيف أرد, क्या कहूँ, क्या कहूं, क्या बोलूं, क्या कहना, क्या बोलना, कैसे जवाब"),
        listed("استراتيجيتي, الوضع, الموقف, रणनीति, स्थिति"),
        verb_first=False,
    ),
)
"""First sentences of reasoning about what to say. Source: the reasoning of DeepSeek, Qwen and gpt-oss, in the languages
of Shi et al. 2022 and the most spoken others."""
_HESITATION = listed("""
    ok, okay, alright, all right, right, so, well, hm, hmm, hmmm, uh, first, now, let's see, wait, good, great, fine,
    sure, 好, 好的, 嗯, 首先, 那么, 现在, よし, まず, さて, うーん, えーと, 좋아, 음, 먼저, 자, also, also gut, gut,
    na gut,
    bien, bon, d'accord, alors, vale, bueno, a ver, bom, certo, va bene, allora, хорошо, так, ладно, итак, dobrze,
    no dobrze, tamam, peki, baik, oke, حسنا
""")

_NOT_PAST = r"(?!了|过|過| ?[봤왔]|л[аио]?(?![^\W_])|t(?![^\W_])|du[mkn]|ado\b)"
"""A pattern behind a stem: who says `I thought long about what to say` speaks."""


@cache
def _muses(affairs: bool) -> re.Pattern[str]:
    """Return a pattern for a first sentence that thinks about what to say, or with `affairs` about the game."""
    inside = r"[^.!?:\n…]"
    parts = []
    for musing in _MUSINGS:
        of = (*musing.speech, *(musing.affairs if affairs else ()))
        if not of:
            continue
        letter = r"(?<![^\W_])" if musing.thinks[0] < "\u0500" else ""
        who = rf"{letter}(?:{any_name(musing.who)}){musing.gap}" if musing.who else ""
        told = rf"(?!{inside}{{0,60}}?(?<![^\W_])(?:{any_name(musing.past)})(?![^\W_]))" if musing.past else ""
        thinks = rf"{told}{inside}{{0,60}}?{who}{letter}(?:{any_name(musing.thinks)}){_NOT_PAST}"
        subject = rf"{letter}(?:{any_name(of)})"
        if musing.verb_first:
            parts.append(rf"{thinks}{inside}{{0,40}}?{subject}")
        else:
            parts.append(rf"(?={thinks}){inside}{{0,120}}?{subject}")
    return re.compile(
        rf"[\s*_\"'(#>]{{0,8}}+(?:(?:{any_name(_HESITATION)})[,.!:…-]{{1,3}}\s{{0,2}}){{0,3}}+(?:{'|'.join(parts)})"
    )


_WORKED_AT = (
    r"(?:understand|analy[sz]|assess|evaluat|identify|consider|determin|brainstorm|draft|formulat|craft|review|refin"
    r"|deconstruct|outlin|recall|strategiz|structur|defin|select|finaliz|clarify|examin|weigh|establish|synthesi[sz]"
    r"|develop|construct|prioriti[sz]|decod|interpret|map|revis|verify|check|pinpoint|explor)(?:e|y|ing|is of|ment of)?"
)
_WORKS = Pattern(
    r"[\s>*_#(-]{0,8}+(?:\d{1,2}[.):] ?)?[*_#]{0,4}+(?:(?P<step>(?:step|phase|part) ?\d{1,2} ?[:.)-]{0,2}) ?)?"
    r"[*_]{0,3}+"
    rf"{_WORKED_AT}\b(?:[ ](?!\n)[\w'’&/-]{{1,20}}){{0,4}}?"
    r"(?: (?:goals?|objectives?|tasks?|prompts?|requests?|inputs?|instructions?|situation|scenario|context|constraints?"
    r"|persona|roles?|players?|opponents?|strateg(?:y|ies)|options?|tone|audience|state|board|pitch|speech|message|response"
    r"|answer|draft|votes?|position|rules|game|threats?|dynamics|approach|key (?:points|elements|factors)|arguments?"
    r"|requirements?|stakes|landscape|alliances?|angles?|output|format)\b[^.!?\n:]{0,40}(?<!\n)(?:[*_]{1,3}|:|$)"
    r"|(?(step)[*_]{0,3}:?[ \t]*$|(?!)))",
    re.MULTILINE,
)
"""A heading of a plan of work, folded: `1. **Understand the Goal:**`, `**Defining My Strategy**`, `## Step 1: Assess`.
Source: the summaries of Gemini's thinking."""
_MOST_OF_A_PLAN = 30  # lines
_OF_A_PLAN = Pattern(
    r"[\s>*_#•-]{0,8}+(?:\d{1,2}[.)] ?)?[*_]{0,3}(?:(?:my|current|main|overall|next|key|short-term|long-term) )?"
    r"(?:goals?|plan|strategy|situation|threats?|allies|risks?|tone|approach|objectives?|state|targets?|context|assessment"
    r"|priorit(?:y|ies)|steps?|considerations?|role|position|motives?|points|audience|persona|constraints?|tactics?"
    r"|目标|计划|策略|形势|局势|威胁|盟友|语气)[*_]{0,3} ?[:=]"
)
"""A labelled line of a plan, folded."""
_SHALL = r"(?:i|we)(?:'ll| will| should| must| need to| have to| want to)"
_OTHERS = r"(?:them|the others|the other players|everyone else|the rest)"
_SCHEMES = Pattern(
    r"[^\n]{0,300}?\b(?:"
    # how the player wants to appear
    r"(?:(?:i|we) (?:(?:just|also|really) )?(?:want|need|should|must|have|ought|aim|will try)(?: to)?"
    r"|(?:the key|the trick|my goal|my aim|the goal|the aim)(?: here| now)? is to) "
    r"(?:appear|seem|sound|look|come across as|come off as|present myself as|position myself as|portray myself as"
    r"|frame myself as) (?:\w+ ){0,3}?"
    r"(?:loyal|harmless|trustworthy|innocent|(?:non-?)?threatening|helpful|friendly|sincere|credible|humble|reliable"
    r"|neutral|likable|persuasive|cooperative|confident|genuine|valuable|useful)\b"
    # how its words should be, and what they should not tell
    rf"|{_SHALL} (?:keep|make) (?:it|this|my \w+) (?:\w+,? (?:and |but )?){{0,3}}?"
    r"(?:persuasive|convincing|believable|vague|compelling|under \d+|within)\b"
    rf"|{_SHALL} (?:be careful not to|avoid|try not to) "
    r"(?:reveal|mention|expos|giv(?:e|ing) away|let on|show my|tip)"
    rf"|(?:the|my) (?:pitch|speech|response|message|statement) (?:should|must|needs to|has to|could) "
    r"(?:be|focus|emphasi[sz]e|address|mention|include|sound|convey|highlight|avoid|stress)\b"
    r"|(?:maybe |perhaps )i (?:could|should|might|can) say\b|i (?:could|might) say something (?:like|along)"
    r"|(?:time|now|ready)(?:,? (?:i need|let me))? to (?:write|draft|craft|compose) (?:the|my) \w+"
    # what the others are to think
    rf"|(?:convince|persuade|get|make) {_OTHERS} (?:to |that )?(?:\w+ ){{0,2}}?(?:keep|trust|like|believe|spare"
    rf"|support|vote for"
    rf"|i(?:'m| am)?|me)\b|want {_OTHERS} to (?:think|believe|see me|trust me|feel)|how (?:do|can|should|could) i "
    rf"(?:convince|persuade|win over) {_OTHERS}"
    r")"
    # a strategy
    r"|(?:ok(?:ay)?,? |alright,? )?(?:thinking about (?:this|it|the \w+)(?: \w+ly)?|strategically(?: speaking)?"
    r"|from a (?:purely )?(?:strategic|game-theor\w+) (?:perspective|standpoint|point of view)"
    r"|as (?:player|agent) \w{1,30},? my (?:goal|task|aim|objective|job) is),? "
    r"|(?:ok(?:ay)?,? |alright,? |got it,? )?(?:let me|let's|let us|i'll) (?:\w+ )?break (?:this|it|things|that) down\b"
    # a heading of considerations
    r"|[\s*_#(]{0,8}+(?:(?:my|current|key|quick|main|overall|strategic|brief|game|situation|initial|some) ){1,3}"
    r"(?:(?:considerations?|factors|assessment|takeaways|state|analysis)(?: to \w+)?[*_]{0,3} ?:"
    r"|(?:points?|situation|objectives?|goals?|options|thoughts)(?: to \w+)?[*_]{0,3} ?:[*_]{0,3}[ \t]*(?=\n))"
    r"|[\s*_#(]{0,8}+(?:things to (?:consider|remember|keep in mind)|pros and cons)[*_]{0,3} ?:"
)
"""The first paragraph of a scheme, folded: how to appear, what to say and to hide, what the others are to think."""
_OF_THE_GAME = Pattern(
    rf"[\s*_\"(]{{0,8}}+(?:(?:ok(?:ay)?|alright|all right|hm+)[,.!:…]{{0,3}}\s{{1,2}}){{1,3}}+"
    r"(?:so,? (?:i'm|i am|i have|i've got) (?:in|to|a (?:pitch|speech|vote|decision))\b"
    rf"|(?:so,? )?(?:i {_NEEDS} (?:think (?:about|of|through)|decide|choose|consider|analy[sz]e"
    r"|convince the|persuade the|respond to the|come up|be careful|plan)\b"
    r"|(?:i'm|i am|we're|we are) (?:playing|in (?:a|this|the) game|given|supposed to)))"
    r"|(?:ok(?:ay)?,? |alright,? )?so,? (?:i'm|i am|we're|we are) (?:in|playing) (?:a|the|this) (?:\w+ ){0,3}?game "
    r"(?:with|where|called|of \d|and)\b"
)
"""First words on the game that is played, folded."""
_STRATEGIES = listed("""
    strategy, my strategy, explanation, strategy note, strategic note, strategic reasoning, rationale,
    hidden, hidden agenda, hidden motive, why this works, reason, reasons, justification, motive, intent,
    intention, tactic, tactics, strategie, estrategia, strategia, стратегия, 策略, 战略, 戦略, 전략
""")
"""Folded headings of notes on the words, which begin a paragraph of their own."""
_FIRST_NOTES = listed("""
    analysis, reflection, draft, planning, internal, private, secret, ooc, critique, objective, assessment, aside,
    sotto voce, 分析, 内心, 注, 备注, 旁白
""")
"""Folded headings of notes that stand as a paragraph before the words."""
_NOTED = (*_STRATEGIES, *_FIRST_NOTES)
_LINE_NOTES = (
    *_STRATEGIES,
    *listed("note, notes, private note, note to self, p.s. (private), ps (private), p.s. (secret), ps (secret)"),
)
"""Folded labels of notes that stand on a line of their own among other lines, anywhere."""
_FIRST_LINE_NOTES = (*_LINE_NOTES, *_FIRST_NOTES, "plan")
"""Folded labels of notes that stand on the first line of several."""
_RULE_SIGNS = "-=~*#_+`>| \n"
_RULE = Pattern(r"^[ \t]*(?:[-*_=—⸻•#][ \t]?){3,80}+$|^[ \t]*⸻[ \t]*$", re.MULTILINE)
"""A horizontal rule, also of other signs than Markdown's."""
_ENDS_A_CLAUSE = Pattern(r"[.!?…\n]")
_PAUSES = Pattern(r"(?:\.{2,3}|…)[ \t]+[^\n]+\s*\Z")
"""An ellipsis, and the rest of a speech on one line: `Let me think... yes, C has to go.`"""
_QUESTIONS = Pattern(r"(?:[^.!?\n]{1,200}\?)+\s*")
_HANDS_OVER = Pattern(r"[.,;]? (?:so )?here (?:is mine|it is|goes|we go|i am)\b")
"""Words behind a task that give what it asks for: `I was told to make a statement, so here goes:`."""
_PUTS_OFF = Pattern(
    r"\s*+(?:and |then |so )?(?:i(?:'ll| will| shall)|you(?:'ll| will) (?:hear|have)) (?:(?:then|also|surely) )?"
    r"(?:answer|decide|reply|respond|report|tell you|let you know|get back|come back|be back|give you|from me|my answer"
    r"|post|say more)\b[^.!?\n]{0,60}[.!…]?\s*+"
)
"""Words behind a thought that put the answer off: `Let me think about it. I'll answer tomorrow.`"""
_OF_ITSELF = Pattern(r"\b(?:i|me|my|we|us|our)\b")
_PARAGRAPH = Pattern(r"\n[ \t]*\n")
_PARAGRAPHS, _PARAGRAPH_ENDS = Pattern(r"\S[ \t]{0,8}\n[ \t]{0,8}\n"), Pattern(r"\n[ \t]{0,8}\n[ \t]{0,8}\Z")
_BESIDE = Pattern(
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
    r"|(?:p\.? ?s\.?|n\.?b\.?|note|aside) ?[(\[](?:not (?:to be )?(?:spoken|said|read|shared)|not for (?:the )?"
    r"(?:others|group|players)|unspoken|unsaid|for (?:my|your) eyes only)\b[^\n()\[\]]{0,40}[)\]] ?:"
    r"|(?:word|character) count:|\(\d{1,4} (?:words|characters)\))"
    # several drafts
    r"|[ \t*#]{0,6}(?:draft|version) ?2\b[ *]{0,3}[:)])"
    # what stands before an answer that it introduces
    r"|(?<=[.!?…])[\"')*]{0,2} (?:so,? )?here(?:'s| is) (?:my|the|a) (?:[a-z]+ ){0,2}"
    r"(?:pitch|speech|statement|message|response|reply):[*_]{0,2}\s*\n)"
)
"""A writer's note on its own words, folded and behind a line end."""
_SURE = Pattern(
    r"[.!?…][\"')*_]{0,3}[ \t]{0,8}\n\s{0,8}[(\[*_]{0,3}(?:my )?confidence(?: (?:level|score|rating))?[*_]{0,2} ?[:=]"
    r"[*_]{0,2} ?(?:\d[\d.,]{0,6} ?%?(?: ?/ ?\d{1,3})?|(?:very )?(?:high|low|medium|moderate))[)\]*_.]{0,3}\s*\Z"
)
"""How sure the writer is, on the last line below its folded words: `Confidence: 0.9`."""
_INTRODUCES = Pattern(
    r"\s*+(?:sure|certainly|of course|absolutely|okay|ok)[!,.]? (?:here(?:'s| is)|below is)"
    rf" (?:a|an|the|your) (?:[\w-]+,? ){{0,4}}{_PIECES}\b[^\n]{{0,80}}:"
)
"""A chatbot's first words for its user."""
_AGREES = Pattern(r"\A\s*(?:sure|certainly|of course|absolutely|okay|ok)[!,.] (?=here(?:'s| is) my )")
_THINKS_TO_ITSELF = (
    r"\A\W*(?:[\w ]{1,30}?(?:'s \(?(?:thoughts?|thinking)|(?:'s)? \(?(?:inner monologue|inner voice))\)?"
    r"|(?:assistant|ai|model|bot) (?:thoughts?|thinking)"
    r"|[\w ]{1,30}?[(（\[](?:inner (?:monologue|voice)|(?:inner |private |internal )?thoughts?|thinks?|thinking"
    r"|internal(?:ly)?|private(?:ly)?|secretly|silently|aside|to (?:my|him|her|them)self|in (?:my|his|her|their)"
    r" (?:head|mind)|not (?:said )?aloud|内心|心想|心里想|心の声|속마음)[)）\]][*_]{0,2}"
    r"|here(?:'s| is) my thought process):"
)
"""A label of the player's own thoughts, folded: `A (internally): ...`."""
_THINKS_TO_ITSELF_ALONE = Pattern(_THINKS_TO_ITSELF)
_ON_A_MARK = (
    r"[ \t](?:is|was|means|stands|reads) (?:written|printed|called|what|how|a word|the word|a tag|the tag|a label"
    r"|a mark|just a|only a|for|on|in)\b"
)
"""The words behind a mark that begins a sentence on it: `[Private] is written on every note of B's.`"""
_OF_THE_TASK = Pattern(
    # the task, the prompt and the form of the answer
    r"\bjson\b|\b(?:th(?:inking|ought) process|system prompt|analy[sz]e the request|(?:tackle|break down) (?:this|the)"
    r" (?:task|problem|request))\b"
    rf"|\A\W*(?:need to|must|should|just|let me|i'll) {_COMPOSES} (?:an? |the )?(?:\w+ )?{_PIECES}\b(?! of\b|,? but\b)"
    rf"|\A\W*{_COMPOSES[:-1]}|crafting|drafting|formulating|planning|considering) (?:an?|the|my) \w+\W*(?:\n|\Z)"
    # the player, named as the rules name it, and what it has to do
    rf"|\b(?:i'm|i am|we're|we are|as) (?:player|agent) \w{{1,30}}\b[^\n]{{0,120}}"
    rf"\b(?:should|need to|must|have to)\b{_TO_NONE}"
    rf"|(?:我|现在)是玩家{_TO_NONE}|我需要(?:理解|发言)|需要发言"
    r"|\b(?:ich bin|je suis|soy|jestem|sono|sou|я)\b (?:le |el |il |o )?"
    r"(?:spieler|joueur|jugador|gracz\w*|giocatore|jogador|игрок)\b[^\n]{0,80}\b"
    rf"(?:muss|soll|dois|debo|musze|devo|должен|должна|нужно)\b{_TO_NONE}"
    # two speakers
    rf"|{_THINKS_TO_ITSELF}"
    rf"|\A\W*(?:\[(?:analysis|secret|internal|private)\](?!{_ON_A_MARK})|\*?(?:internally|secretly|privately):)"
    r"|\b(?:strategically|secretly|privately)\b(?s:.*)\bpublicly,? i\b"
)
"""Words of a first paragraph that is about the task or the player, and not said in the game."""


_OTHERS_FIRST = Pattern(
    r"\s*+[*_#>\[(<]{0,3}(?:me|myself|action|tool|function|command|terminal|shell|bash|console|output|input"
    r"|speaker|player|voice)[*_\])>]{0,3} ?:|\s*+[$%] ?[a-z]|\s*+>>> "
)
"""The first label of a transcript or of a program's log, or its prompt, folded: `Tool: ...`, `$ ls`."""
_RESPONDS = Pattern(r"(?<=[^\W_])[^\w\n]{0,8}\n\s{0,8}here(?:'s| is) my (?:final )?(?:response|answer):")
"""Granite's words between thinking, whose beginning is in the prompt, and the answer: llama.cpp
models/templates/ibm-granite-granite-3.3-2B-Instruct.jinja."""


def _speaks_of_its_task(plain: str, *, alone: bool = True) -> bool:
    """Return whether the first paragraph of folded words is about the task; one that is all of them may be `alone`."""
    first, *below = _PARAGRAPH.split(plain.strip(), maxsplit=1)
    return (alone or bool(below)) and _OF_THE_TASK.search(first) is not None


_HIDDEN = Pattern(
    r"[\]{%<|>](?:(?<=\|)\|(?=[^|\n]{0,400}?\w{3})[^|\n]{1,400}\|\||(?<=>)![^\n]{1,400}?!<|(?<=%)%\w[^%\n]{0,400}%%"
    r"|(?<=\]):(?: # \(|[ \t]?(?:#|<>))|(?<=\{)(?:#|\{!)|(?<=[\n.!?…]%)%|(?<=[\n.!?…] %)%"
    r"|(?<=<)(?:[?!][a-z]|[a-z][^<>]{0,80}(?:\shidden\b|display: ?none|visibility: ?hidden))"
    r"|(?<=\{) ?(?:thinking|thoughts?|internal[^{}:\n]{0,20}|private[^{}:\n]{0,20}|inner[^{}:\n]{0,20}) ?:)"
)
"""Spoilers (`||words||`), comments of Markdown and templates, instructions of XML, hidden text of HTML, and thinking in
braces, folded and behind a line end."""
_SENTENCE_ON_A_MARK = Pattern(rf"{_ON_A_MARK}[^\n.!?]{{1,200}}[.!](?=[ \t]|\Z)[^\n]*\s*\Z")
_NAMES_A_MARK = Pattern(
    r"\b(?:what|the|an?|his|her|their|words?|tags?|marks?|labels?|notes?|wrote|writes?|says?|said|saw)[ \t]\Z",
    re.IGNORECASE,
)
_GOES_ON_FROM_A_MARK = Pattern(
    r"[ \t](?:means?|meant|is|was|tags?|marks?|labels?|(?:in|on) (?:his|her|their|its|your|every|the))\b|[ \t]?[.?!]"
)
_TO_ITSELF = Pattern(
    r"\n[ \t]{0,8}(?:[*_(\[]{0,3}(?:[\w .]{0,20} )?(?:to (?:my)?self|inner (?:voice|monologue|thoughts?)|ooc"
    r"|out of character)[*_]{0,2} ?:"
    r"|[*_(\[]{1,3}(?:thinks|thinking|to (?:my)?self|ooc|out of character)(?: to (?:my)?self)?[)*_\]]{1,3}"
    rf"(?!{_ON_A_MARK}) ?\w)"
)
"""A folded line of the writer to itself: `Note to self: ...`, `*to myself* ...`."""
_LEFT_LINE = Pattern(
    r"[.!?…\n][\"')*_]{0,3}[ \t]{0,8}\n[ \t]{0,8}(?:thoughts?|think|thinking|reasoning|analysis|思考|思考过程|推理"
    r"|内心独白)[ \t]{0,8}\n"
)
"""A line behind words that is left of a channel of thinking."""
_CALL_BEHIND = Pattern(
    r"(?:\A|\n)\s{0,4}tool_(?:code|call|outputs?)[ \t]*\n|"
    r"(?<![\w.`\"'])(?:to=)?functions\.[A-Za-z_]\w{0,40}(?![\w`\"'])|```tool_(?:code|calls?|outputs?|results?|responses?)"
    r"|(?P<code>(?:\A|[\n.!?…])[\"')*_]{0,3}\s{0,4}(?:\[|print\()?[a-z_]\w{1,40}\((?:\s?[a-z_]\w{0,40}\s?=)?\s?[\"'{\[]"
    r"[^\n]{0,2000}\)|\n\s{0,4}[a-z][a-z_]{2,40}\(\w{1,40}\)[ \t]{0,8}(?=\n|\Z)"
    r"|[\n,]\s{0,20}\"[\w -]{1,40}\"\s?:\s?(?:[\"\d{\[]|true|false|null))"
)
"""A call that begins a sentence or a line (`vote("C")`) or is a line (`pitch(text)`), a member of an object
(`"vote": "C"`) that begins one or stands behind a comma, or the name of a host's function (`functions.vote`)."""
_MEMBER_LINE = Pattern(
    r"(?:\A\s{0,8}|\n)[ \t]{0,4}[\"'`*_]{0,3}(?P<key>[a-z](?:[a-z]|[ _-](?=[a-z])){1,30})[\"'`*_]{0,3}[ \t]{0,2}"
    r"[:：=](?![:/=])"
)
"""The key of an object at the beginning of a line."""
_MEMBER_KEYS = Pattern(r"(?:\A|[;|,])[ \t]{0,4}([A-Za-z][\w ]{1,30})[ \t]?[:=](?![:/=])")
_LABELLED_LINE = Pattern(r"[ \t]{0,4}[^\s:：=][^\n:：=]{0,40}[:：=][ \t]{0,4}\S")
_MOST_ABOVE = 1_000  # characters above a line that are looked at
_STEPS = Pattern(r"\s*+[*_#]{0,4}\s?(?:step|schritt|etape|paso|passo|шаг|步骤) ?1\b")
"""A first step, of thinking or of a plan (`Step 1`): if a heading of the answer follows, it is unclear which."""
_SENTENCE_ENDS = Pattern(r"[.!?…。！？](?=[\s\"'”’)*_]|$)[\"'”’)*_]*")


def said_aloud(
    body: str, objects: Sequence[Object], names: Sequence[str], *, any_text: bool = False
) -> tuple[str, list[str]]:
    """Return the words of a reply in prose, and the thoughts in it; `names` are those that the words may have.

    With `any_text` lists and tags are words too. Raises `UnreadableReply` if there are no words, or if they cannot be
    told from objects, lists or tags around them.
    """
    wanted = UnreadableReply("The words cannot be told from what stands around them.")
    for each in objects:
        private = each.value is not None and any(map(is_private_field, each.value))
        if each.state != "strict" or each.fenced or each.call or private:
            raise wanted
    if not any_text and (
        _JSON_BEGINS.match(body)
        or goes_on_behind_its_end(body)
        or _holds_members(body, names)
        or _OTHERS_FIRST.match(folded(body))
    ):
        raise wanted
    if holds_call(body, any_text=any_text):
        raise wanted
    whole = list(islice(tags(folded(body), tuple(names)), 2))
    if len(whole) == 1:
        start, end = tag_content(whole[0])
        rest = without_wrappers(body[: whole[0].start()] + body[whole[0].end() :])
        return as_stated(_plain(body[start:end]), names, any_text=any_text), [rest] if rest.strip() else []
    body = _without_own_tags(without_wrappers(body), names)
    if not any_text and _is_about_words(folded(body)):
        raise UnreadableReply("The reply thinks aloud. Answer with the words alone.")
    body, scratch = without_scratch(body, names, comments=not any_text, alone=not any_text)
    words, hidden = _under_headings(body, tuple(names), any_text=any_text)
    hidden = [*scratch, *hidden]
    pairs = _PAIRED.finditer(_FORMATTING.sub("", words))
    if not any_text and any(_GESTURE.fullmatch(tag[1]) is None for tag in pairs):
        raise wanted
    _check(words, names, any_text=any_text)
    _check_undivided(words, any_text=any_text)
    words = _plain(words)
    if not words.strip(_RULE_SIGNS):
        raise UnreadableReply("The reply says nothing.")
    return words, hidden


def cuts_words(body: str, names: Sequence[str]) -> bool:
    """Return whether `said_aloud` drops words of any text above a heading that is an ordinary word: `**Final:** ...`.

    They may be thinking or a part of the speech.
    """
    body = _without_own_tags(without_wrappers(body), names)
    body, _ = without_scratch(body, names, comments=False)
    return _are_above_a_word(folded(body), *_headings_of_answer(folded(body), tuple(names)))


def aloud(words: str, names: Sequence[str], others: Sequence[str] = (), *, any_text: bool = False) -> str:
    """Remove from the words of a field its own headings and tags, thinking, and text for the fields named `others`.

    Raises `UnreadableReply` for a tag in them that seems to be private (`<plan>`) or another's, for a line that
    begins thinking, and, unless the words may be `any_text`, for a note on themselves (`**Strategy:** ...`) and for a
    rule that divides them.
    """
    if any(_is_private(tag[1], names) for tag in _PAIRED.finditer(words)) or goes_on_behind_its_end(words):
        raise UnreadableReply("The words cannot be told from what stands around them.")
    said, words = words, without(words, thought_spans(folded(words), names))
    if not (kept := is_private_field(names[0])):
        if has_words(said) and not has_words(words):
            raise UnreadableReply("The words are all thinking. Answer with the words alone.")
        words, _ = without_scratch(words, names)
    words, _ = _under_headings(words, tuple(names), any_text=any_text)
    if not kept:
        _check(words, names, any_text=any_text)
    if others and (other := _other_field(tuple(others)).search(folded(words))):
        words = words[: other.start()]
    if not kept:
        _check_undivided(words, any_text=any_text)
        if words.strip() and not words.strip(_RULE_SIGNS):
            raise UnreadableReply("The reply says nothing.")
    return _without_own_tags(words, names)


_AUDIENCE = Pattern(
    r"\s*+[*_]{0,2}[\[(（【]\s?(?P<name>(?:strictly )?(?:(?:private|internal|secret|confidential)(?:ly)?|psst))"
    r"(?: (?:message|note|whisper|dm))?\s?[\])）】][*_]{0,2}[ \t]*+[:：]?\s*+(?=\S)",
    re.IGNORECASE,
)
"""A label that says who hears a private message: `[Private] Meet me at noon.`"""


def audience_label(words: Any) -> str:
    """Return the label of an audience at the beginning of private words, or "" if there is none or its tag ends."""
    label = _AUDIENCE.match(words) if isinstance(words, str) else None
    if label is None or re.search(rf"[/／]\s?{re.escape(label['name'])}", words[label.end() :], re.IGNORECASE):
        return ""
    return label[0]


def as_stated(words: str, names: Sequence[str], *, any_text: bool = False, private: bool = False) -> str:
    """Return the words of a field of an object as they stand, without what the object has around all of them.

    That is a tag with one of the field's `names`, its own key, and one half of a pair of quotes.

    Headings, labels, lists and quotations are words there. Raises `UnreadableReply` if words that others hear open as
    thinking or hold a comment, a note on themselves, or a tag that seems to be private or another's; `any_text` may
    hold comments and notes, and words in `private`, to some players, think together with these.
    """
    words = _without_own_tags(words, names)
    if not any_text and _holds_members(words, names):
        raise UnreadableReply("The words hold another field. Answer with the words alone.")
    words = without_half_quotes(_without_own_key(words, names))
    if any(_is_private(tag[1], names) for tag in _PAIRED.finditer(words)) or goes_on_behind_its_end(words):
        raise UnreadableReply("The words cannot be told from what stands around them.")
    if is_private_field(names[0]):
        return words
    if holds_call(words, any_text=any_text):
        raise UnreadableReply("The words hold a tool call. Answer with the words alone.")
    plain = folded(with_plain_lines(words))
    thinks = _opens_as_thinking(plain, names, any_text=any_text) and not (private and _thinks_together(plain))
    thinks = thinks or (not any_text and _speaks_of_its_task(plain, alone=False))
    thinks = thinks or _THINKS_TO_ITSELF_ALONE.match(plain) is not None
    if thinks or (not any_text and "/" in words and _COMMENT.search(words)):
        raise UnreadableReply("The words begin as thinking. Answer with the words alone.")
    on_words = not any_text and (_speaks_of_words(plain) or _TO_ITSELF.search(f"\n{plain}") is not None)
    if on_words or _LEFT_LINE.search(plain) or _HIDDEN.search(f"\n{plain}"):
        raise UnreadableReply("The words hold a note on themselves. Answer with the words alone.")
    if holds_foreign_tag(words, (*names, *_ELEMENTS)) and not (any_text and _IN_ONE_TAG.fullmatch(words)):
        raise UnreadableReply("The words cannot be told from what stands around them.")
    if not any_text and holds_member(words, names):
        raise UnreadableReply("A line of the words names another field. Answer with the words alone.")
    return words


def holds_member(words: str, names: Sequence[str]) -> bool:
    """Return whether a line of words is a member of an object without its quotes: `vote: C`, `thinking: ...`.

    Its key is spelled as a schema spells it, in small letters, in words that are written in sentences. It is the first
    of the `names` below other words, or one of another field or of thinking. Lines below an announcement (`Our terms:`)
    are a list.
    """
    if ":" not in words and "=" not in words and "：" not in words:
        return False
    words = with_plain_lines(words)
    own = {names[0]} if names else set()
    first, _ = _first_and_last(words)
    written = words[first : first + 1].isupper()
    for line in _MEMBER_LINE.finditer(words):
        key, above = spaced(line["key"]), words[max(0, line.start() - _MOST_ABOVE) : line.start()].rstrip()
        if line.start() <= first:
            if key in _KEYS - own and words[line.end() :].partition("\n")[2].strip():
                return True
        elif written and key in _KEYS | own and not _is_listed(above):
            return True
    return False


def _holds_members(words: str, names: Sequence[str]) -> bool:
    """Return whether words are members of an object on one line: `text: Keep me; thought: B lies`."""
    every = [spaced(key) for key in _MEMBER_KEYS.findall(words.partition("\n")[0])]
    return (
        len(every) > 1 and _MEMBER_KEYS.match(words) is not None and all(key in _KEYS or key in names for key in every)
    )


def _is_listed(above: str) -> bool:
    """Return whether the text above a line announces a list, perhaps with other labelled lines of it below that."""
    lines = above.split("\n")
    while len(lines) > 1 and _LABELLED_LINE.match(lines[-1]):
        lines.pop()
    return lines[-1].rstrip().endswith((":", "：", ",", "，", ";"))


def _is_plan(plain: str) -> bool:
    """Return whether the first paragraph of folded words is a plan, two or more labelled lines, with words below it."""
    first, *below = _PARAGRAPH.split(plain.strip(), maxsplit=1)
    lines = first.split("\n")
    return bool(below) and 1 < len(lines) < _MOST_OF_A_PLAN and all(map(_OF_A_PLAN.match, lines))


def _is_about_words(plain: str) -> bool:
    """Return whether a reply is about its task, or has a plan or thinking above the words; all folded."""
    return _speaks_of_its_task(plain) or _is_plan(plain) or _RESPONDS.search(plain) is not None


def _thinks_aloud(plain: str, *, alone: bool = False) -> re.Match[str] | None:
    """Return the match of first words that think aloud, or None if folded words do not begin so.

    Words that are all of a reply (`alone`) think aloud as well if they begin with the situation (`Let me analyze the
    situation`), or with a scheme above another paragraph: both may be the beginning of a speech.
    """
    for found in (_THINKS_ALOUD.match(plain), _muses(alone).match(plain), _WORKS.match(plain)):
        if (
            found is not None
            and not _asks(plain, found)
            and not _ponders(plain)
            and not (plain[found.end() - 1] == "]" and _SENTENCE_ON_A_MARK.match(plain, found.end()))
            and (alone or not _is_announced(plain, found))
        ):
            return found
    if not alone:
        return None
    schemes = _SCHEMES.match(plain) if _PARAGRAPH.search(plain.strip()) else None
    return schemes or _OF_THE_GAME.match(plain)


_TOGETHER = Pattern(
    r"[\s*_\"(]{0,8}+(?:(?:ok(?:ay)?|alright|all right|so|well|hm+|now|listen)[,.!:]?\s{1,2}){0,3}+"
    r"(?:let's|let us|(?:we|you and i) (?:need to|should|must|have to)) (?:just |first )?(?:think|reason)"
    r"(?: about (?:this|it|that)| this| it| through| out loud| aloud| carefully| together){0,4}"
    r"(?:[:.,]|\s?[–—-]) ?[^\s:]"
)
"""The beginning of a plan with an ally, folded: `Let's think this through: C, then D.`"""
_OF_ONE_MIND = Pattern(
    rf"\bi(?:'d)? {_NEEDS}|\bi (?:could|might)\b|\b(?:convince|persuade|the user|my (?:goal|strategy))\b"
)
"""Words of one who thinks alone, folded."""


def _thinks_together(plain: str) -> bool:
    """Return whether folded words to an ally begin by thinking together with it, and not alone."""
    begins = _TOGETHER.match(plain)
    return (
        begins is not None and not _PARAGRAPH.search(plain.strip()) and not _OF_ONE_MIND.search(plain, begins.end() - 1)
    )


def _opens_as_thinking(plain: str, names: Sequence[str], *, any_text: bool) -> bool:
    """Return whether folded words begin with a line that only names thinking, think aloud, or think up to an answer.

    A heading of thinking is one if a heading with one of the `names` follows: `Thoughts: ...` above `Pitch: ...`. It is
    also one if it names thinking alone and other lines follow: `Thinking: ...` above the words. Thoughts for others or
    on something (`Here are my thoughts:`, `My thoughts on B:`) are speech.
    """
    if any(_stripped_line(plain, names)):
        return True
    if _thinks_aloud(plain) is not None:
        return True
    others = (*_thinking(tuple(names)), *_asides(names), *(name for name in REASONS if name not in names))
    first = next(headings(plain, others, heads_thinking), None)
    own = tuple(dict.fromkeys((*names, *SPEECH)))
    begins = first is not None and not has_words(_FENCE_ABOVE.sub("", plain[: first.start()]))
    if first is not None and begins and not plain[first.end() :].partition("\n")[0].strip(" \t*_:>"):
        addressed = first["lead"].strip() or (first["more"] or "").startswith((" on ", " about "))
        return (not addressed and spaced(first["name"]) in THINKING) or any(headings(plain, own, heads_thinking))
    if first is not None and begins and not any_text and not first["lead"].strip():
        name = spaced(first["name"])
        below = plain[first.end() :].partition("\n")[2]
        if name in THINKING and not name.startswith("my ") and has_words(below):
            return True
    return (begins or _STEPS.match(plain) is not None) and any(headings(plain, own, heads_thinking))


def _without_own_tags(words: str, names: Sequence[str]) -> str:
    """Remove tags with one of the names around all of the words, and one at their end or beginning that has no pair."""
    while "<" in words and (tag := tag_pattern((*names, "assistant")).fullmatch(folded(words).strip())):
        words = words.strip()[slice(*tag_content(tag))]
    first, last = (_FIRST_TAG.match(words), _LAST_TAG.search(words)) if "<" in words or "＜" in words else (None, None)
    if first is not None and last is not None and first["name"] == last["name"] and spaced(first["name"]) in names:
        inside = words[first.end() : last.start()]
        if not re.search(rf"[<＜][/／]?{re.escape(first['name'])}\b", inside):
            return inside
    for tag in (last, first):
        alone = tag is not None and len(re.findall(rf"[<＜/／]{re.escape(tag['name'])}\b", words)) == 1
        if tag is not None and alone and spaced(tag["name"]) in (*names, "assistant"):
            words = words.replace(tag[0], "")
    square = _IN_SQUARE_TAGS.fullmatch(words) if words.rstrip().endswith("]") else None
    if square is not None and spaced(square["name"]) in names:
        words = square["inner"].strip()
    command = _COMMAND.match(words)
    said = _TELLING.union(names[:1]) if command is not None and command["sign"] == "!" else {*names, *_SAYS}
    if command is not None and spaced(command["name"]) in said - _COMMANDED:
        words = words[command.end() :]
    return words


def _without_own_key(words: str, names: Sequence[str]) -> str:
    """Return words without the first of the names at their beginning, spelled as a key: `text: Keep me.`"""
    key = _MEMBER_LINE.match(words)
    if key is None or spaced(key["key"]) != names[0]:
        return words
    return words[key.end() :].lstrip("*_` \n\t" if key[0].lstrip()[0] in "*_`" else None)


def without_half_quotes(words: str) -> str:
    """Return sentences without a quote before or behind all of them that is the only one, as half of a pair is."""
    whole = words.strip()
    inner = whole.strip('"').strip()
    is_half = whole.count('"') == 1 and '"' in (whole[0], whole[-1])
    return inner if is_half and " " in inner and inner[-1] in ".!?…。！？" else words


def holds_call(words: str, *, any_text: bool = False) -> bool:
    """Return whether a call or an object stands beside words; a text that may be `any_text` may hold code."""
    if not any_text and (_ends_in_object(words) or _is_command(words)):
        return True
    found = _CALL_BEHIND.finditer(words) if any(sign in words for sign in ("(", '"', "functions.", "tool_")) else ()
    return any(
        not call["code"] or (not any_text and has_words(words[: call.start()] + words[call.end() :])) for call in found
    )


def _is_command(words: str) -> bool:
    """Return whether words are a statement with a call, a call with named arguments, or a command of another answer."""
    if "(" in words and (_CODE_BEFORE_A_CALL.search(words) or _CALL_ALONE.fullmatch(words)):
        return True
    command = _COMMAND.match(words)
    return (command is not None and spaced(command["name"]) in _COMMANDED) or _IN_A_SHELL.match(words) is not None


def _ends_in_object(said: str) -> bool:
    """Return whether an object with keys stands behind the words, on lines or in a sentence of its own.

    An object that words announce (`My terms: {"food": 3}`) is a part of them.
    """
    objects = scan(said) if "{" in said and '"' in said else []
    if not objects or not objects[-1].value or has_words(said[objects[-1].end :]):
        return False
    above = without_fences(said[: objects[-1].start]).rstrip(f" \t\n{REMOVED_MARK}[")
    return has_words(above) and above[-1:] in set(".!?…。！？\"'”’)*_")


def may_be_no_speech(words: str) -> bool:
    """Return whether `as_stated` may refuse the words, apart from a line that only names thinking."""
    if holds_call(words) or _COMMAND.match(words):
        return True
    if "//" in words or "/*" in words or holds_foreign_tag(words, ()) or holds_member(words, ()):
        return True
    plain = folded(with_plain_lines(words))
    if (
        _TO_ITSELF.search(f"\n{plain}")
        or _THINKS_ALOUD.match(plain)
        or _muses(False).match(plain)
        or _WORKS.match(plain)
        or _STEPS.match(plain)
        or _LEFT_LINE.search(plain)
        or _HIDDEN.search(f"\n{plain}")
    ):
        return True
    if _speaks_of_its_task(plain, alone=False) or _THINKS_TO_ITSELF_ALONE.match(plain):
        return True
    return _speaks_of_words(plain)


def holds_foreign_tag(words: str, own: Sequence[str]) -> bool:
    """Return whether words hold a pair of tags that stands apart, as of an instruction or of another's words.

    A pair is part of a sentence if it stands within one and holds at most `_MOST_WORDS` words (`the <role>admin</role>
    of all`). Tags in quotes, formatting such as `<b>`, and the `own` names are left out. An end without a beginning
    counts if words stand on both sides of it, and a beginning without an end if it begins a sentence or the next word.
    """
    if not any(sign in words for sign in "/／<＜⟨"):
        return False
    opened: dict[str, re.Match[str]] = {}
    ink = _first_and_last(words)
    for tag in _PAIR_TAG.finditer(words):
        name = spaced(tag["name"])
        if _ATTRIBUTED.search(tag[0]) and not (_FORMAT.fullmatch(name) or name in _ELEMENTS):
            return True
        if _FORMAT.fullmatch(name) or name in own:
            continue
        if not tag["slash"]:
            opened.setdefault(name, tag)
            continue
        begins = opened.pop(name, None)
        if begins is None:
            near = words[max(0, tag.start() - _NEAR_A_TAG) : tag.end() + _NEAR_A_TAG]
            offset = min(tag.start(), _NEAR_A_TAG)
            if ink[0] < tag.start() and tag.end() <= ink[1] and not in_sentence(near, offset, offset + len(tag[0])):
                return True
            continue
        start, end = begins.start(), tag.end()
        inside = words[begins.end() : tag.start()]
        within = _within(words[max(0, start - 2) : start]) and "\n" not in inside and len(inside.split()) <= _MOST_WORDS
        if not within and not is_quoted(words, start, end) and not _GESTURE.fullmatch(name):
            return True
    return any(_opens_apart(words, tag) for tag in opened.values())


def _opens_apart(words: str, tag: re.Match[str]) -> bool:
    """Return whether a tag that does not end begins a text, a line or a sentence, or is set before a word.

    Stage directions (`<sighs>`) and elements of HTML are speech.
    """
    start, end = tag.span()
    name = spaced(tag["name"])
    if tag["open"] not in "<＜⟨" or name in _ELEMENTS or _GESTURE.fullmatch(name) or is_quoted(words, start, end):
        return False
    if not words[end:].strip():
        return False
    before = words[max(0, start - _NEAR_A_TAG) : start].rstrip(" \t")
    if not before or before[-1] in "\n.!?…。！？":
        return True
    return words[end : end + 1].isalnum() and not words[start - 1].isalnum()


def _first_and_last(words: str) -> tuple[int, int]:
    """Return the positions of the first and the last letter or digit, the length and -1 if there are none."""
    first = next((index for index, sign in enumerate(words) if sign.isalnum()), len(words))
    return first, next((index for index in range(len(words) - 1, -1, -1) if words[index].isalnum()), -1)


def _within(before: str) -> bool:
    """Return whether a tag behind these two characters stands within a sentence."""
    return before[-1:] == " " and (before[:1].isalnum() or before[:1] in set(",;:"))


def _speaks_of_words(plain: str) -> bool:
    """Return whether folded words have a note that speaks of them as words, or a chatbot's words for its user."""
    plain = _AGREES.sub("", plain)
    return _INTRODUCES.match(plain) is not None or _BESIDE.search(f"\n{plain}") is not None


def _is_annotated(plain: str, own: Sequence[str]) -> bool:
    """Return whether folded words have a note on themselves, or a heading of strategy on a paragraph of its own."""
    if _speaks_of_words(plain) or _SURE.search(plain):
        return True
    names = tuple(name for name in {*_NOTED, *_FIRST_LINE_NOTES} if name not in own)
    for match in headings(plain, names, heads_thinking):
        if _is_line_of_note(plain, match):
            return True
        if spaced(match["name"]) not in _NOTED:
            continue
        decorated = match["mark"].strip(" -(\"'>|.0123456789") or match["close"].strip(")]\"'")
        if spaced(match["name"]) in _FIRST_NOTES:
            noted = not plain[: match.start()].strip() and bool(_PARAGRAPHS.search(plain))
        else:
            before = _PARAGRAPH_ENDS.search(plain, max(0, match.start() - _NEAR_A_TAG), match.start())
            noted = bool(decorated or before)
        if noted:
            return True
    return False


def _is_line_of_note(plain: str, match: re.Match[str]) -> bool:
    """Return whether a label without a word before it stands on a line of a note, with words on other lines."""
    if not match["colon"] or match["lead"].strip():
        return False
    above, below = plain[: match.start()], plain[match.end() :].partition("\n")[2]
    if not above.strip():
        return bool(below.strip()) and spaced(match["name"]) in _FIRST_LINE_NOTES
    return spaced(match["name"]) in _LINE_NOTES


_PONDERS = Pattern(r"\s*+[*(\[_]{1,3}(?:thinks?|thinking) (?:hard|deeply)[)*\]_]{1,3}[ \t][^\n]+")
"""A folded stage direction before words on its line: `*thinks hard* Deal!`"""
_ANNOUNCED = Pattern(
    r"\b(?:give|make|deliver|present) (?:an?|my|the|one|this) (?:[a-z]+ ){0,3}(?:pitch|speech|statement)\Z"
)
_GOES_ON_BEHIND_A_COLON = Pattern(r":[*_]{0,2}[ \t]*\S")


def _ponders(plain: str) -> bool:
    """Return whether folded words are one line behind a stage direction, and not in the first person."""
    return _PONDERS.fullmatch(plain.strip()) is not None and _OF_ITSELF.search(plain) is None


def _is_announced(plain: str, thinks: re.Match[str]) -> bool:
    """Return whether words that seem to think aloud announce those behind them: `I want to make a statement: ...`."""
    is_statement = _ANNOUNCED.search(plain, thinks.start(), thinks.end()) is not None
    return is_statement and _GOES_ON_BEHIND_A_COLON.match(plain, thinks.end()) is not None


def _asks(plain: str, thinks: re.Match[str]) -> bool:
    """Return whether words that seem to think aloud ask, or give at once what they were asked for.

    They put the answer off, only pause in a line that is the whole speech, ask in that sentence, or have nothing behind

    but questions: `I must produce an answer? No.` and `Let me think. Who lied?` are speech. A question of the writer to
    itself is not.
    """
    if _HANDS_OVER.match(plain, thinks.end()) or _PUTS_OFF.fullmatch(plain, thinks.end()):
        return True
    if _PAUSES.match(plain, thinks.end() - 1):
        return True
    if plain[thinks.end() - 1] not in ".!:…\n":
        ends = _ENDS_A_CLAUSE.search(plain, thinks.end())
        return ends is not None and ends[0] == "?"
    rest = plain[thinks.end() :]
    return _QUESTIONS.fullmatch(rest) is not None and _OF_ITSELF.search(rest) is None


def without_scratch(
    words: str, names: Sequence[str], *, comments: bool = True, alone: bool = False
) -> tuple[str, list[str]]:
    """Return the words without the writer's notes to itself, and these notes; `alone` they are all of a reply.

    Notes are `comments` (`// plan`), and thinking aloud up to a heading with one of the `names`. Raises
    `UnreadableReply` if thinking aloud has no such heading behind it, or if there is one behind steps, which may be a
    plan.
    """
    notes: list[str] = []
    if comments and ("//" in words or "/*" in words):
        notes = [each[0] for each in _COMMENT.finditer(words)]
        words = _COMMENT.sub("", words)
    plain = folded(words)
    thinks = _thinks_aloud(plain, alone=alone)
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
    plain = folded(with_plain_lines(words))
    noted = _TO_ITSELF.search(f"\n{plain}") is not None or (not any_text and _is_annotated(plain, names))
    if noted or _LEFT_LINE.search(plain) or _HIDDEN.search(f"\n{plain}"):
        raise UnreadableReply("The words hold a note on themselves. Answer with the words alone.")
    if not any_text and holds_member(words, names):
        raise UnreadableReply("A line of the words names another field. Answer with the words alone.")


def _check_undivided(words: str, *, any_text: bool) -> None:
    """Raise `UnreadableReply` if a horizontal rule divides the words, unless they may be `any_text`."""
    first, last = _first_and_last(words)
    if not any_text and any(first < rule.start() < last for rule in _RULE.finditer(words)):
        raise UnreadableReply("A line divides the words. Answer with the words alone.")


def _is_private(name: str, own: Sequence[str]) -> bool:
    plain = spaced(name)
    return plain not in own and (plain in THINKING or plain in NOTE_HEADINGS or is_private_field(plain))


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
    marks = words.count("```")
    if marks % 2 if fence is None else marks != 2 or words.endswith("```"):  # a part in a fence keeps both marks
        words = words[fence.end() if fence else 0 :].removesuffix("```").strip()
    words = without_half_quotes(_without_rules(words).strip())
    if words.endswith('"') and words.count('"') == 1 and words[-2:-1] and not words[-2].isdigit():
        words = words[:-1].rstrip()  # the end of a string whose beginning the host wrote
    for opens, closes in (('"""', '"""'), ('"', '"'), ("“", "”"), ("'", "'")):
        inside = words[len(opens) : -len(closes)]
        if words.startswith(opens) and words.endswith(closes) and len(words) >= 2 * len(opens) and opens not in inside:
            words = inside.strip()
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
    opens = None if first else _EMPHASIS_OPENS.match(left)
    left = left[opens.end() if opens else 0 :]
    return left if last < len(lines) else left[:-_CLOSING] + _EMPHASIS_CLOSES.sub("", left[-_CLOSING:])


def _is_rule(line: str) -> bool:
    marks = line.strip()
    return not marks or (len(marks) > 2 and not marks.strip("-*_"))


def _under_headings(body: str, names: tuple[str, ...], *, any_text: bool = False) -> tuple[str, list[str]]:
    """Return the text under the answer's headings, or all of it if there are none, and the rest.

    A label of the question's own (`Pitch: ...`) may stand below a plan. Raises `UnreadableReply` if words stand above a
    heading that is an ordinary word (`**Answer:** ...`), unless they may be `any_text` (`cuts_words`): they may be a
    plan or a part of the speech.
    """
    plain = folded(body)
    found, asides = _headings_of_answer(plain, names)
    if not found:
        return body, []
    if not any_text and _are_above_a_word(plain, found, asides):
        raise UnreadableReply("The words cannot be told from what stands above them. Answer with the words alone.")
    sections = sorted([*((*match.span(), True) for match in found), *((*match.span(), False) for match in asides)])
    words: list[str] = []
    hidden = [body[: sections[0][0]]]
    for index, (_, end, answer) in enumerate(sections):
        section = body[end : sections[index + 1][0] if index + 1 < len(sections) else len(body)]
        if answer:
            if len(words) == 1 and not words[0].strip():
                words.clear()
            words.append(section)
        else:
            hidden.append(section)
    return "\n".join(words), [each for each in map(str.strip, hidden) if each]


def _headings_of_answer(plain: str, names: tuple[str, ...]) -> tuple[list[re.Match[str]], list[re.Match[str]]]:
    """Return the headings of the answer in folded text, in order, and those of asides."""
    asides = list(headings(plain, _asides(names), heads_thinking, anywhere=False))
    anywhere = _begin_with(plain, asides)
    found = {match.start(): match for match in headings(plain, names, heads_thinking, anywhere=anywhere)}
    for match in headings(plain, _telling(names), heads_thinking):
        if match["colon"] and not match["lead"]:
            found.setdefault(match.start(), match)
    # a summary may have a note in it: `Note: ...` below its words is no heading of all of it
    return [found[start] for start in sorted(found) if not _is_note(found[start], plain)], asides


def _begin_with(plain: str, asides: Sequence[re.Match[str]]) -> bool:
    """Return whether a folded text begins with an aside, as in `analysis: ...` and then `final: ...`."""
    return bool(asides) and not plain[: asides[0].start()].strip()


def _telling(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in _TELLING or name not in SPEECH)


def _are_above_a_word(plain: str, found: Sequence[re.Match[str]], asides: Sequence[re.Match[str]]) -> bool:
    """Return whether words stand above the first heading of an answer, which is an ordinary word."""
    if not found or _begin_with(plain, asides):
        return False
    ordinary = spaced(found[0]["name"]) in SPEECH and spaced(found[0]["name"]) not in _TELLING
    return ordinary and not all(map(heads_thinking, plain[: found[0].start()].split("\n")))


def _is_note(heading: re.Match[str], plain: str) -> bool:
    """Return whether a heading is that of a note below other words."""
    return spaced(heading["name"]) in _NOTE_HEADINGS and has_words(plain[: heading.start()])


_NOTE_HEADINGS = frozenset(("note", "notes"))


def _asides(own: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for name in NOTE_HEADINGS if name not in own)


def last_sentence(words: str) -> str:
    """Return the words up to the end of their last whole sentence, or "" if there is none."""
    ends = [each.end() for each in _SENTENCE_ENDS.finditer(words)]
    return words[: ends[-1]].strip() if ends else ""


THINKING = listed("""
    thinking, thoughts, thought, thought process, my thoughts, my thinking, internal monologue, thinks,
    inner monologue, internal thoughts, inner thoughts, private thoughts, private thought, scratchpad,
    chain of thought, reasoning, reasoning content, internal reasoning, private reasoning, internal analysis,
    reasoning process, internal strategy, internal notes, step-by-step thinking, step by step thinking,
    private strategy, private notes,
    notes to self, note to self, private, internal, my reasoning steps, reasoning steps, private thinking,
    internal thinking, private analysis, thinking out loud, step-by-step reasoning, step by step reasoning,
    thinking process, my thought process, internally, deliberation, uberlegung, uberlegungen, gedanken, pensee, pensees,
    reflexion, pensamiento,
    pensamientos, pensamento, razonamiento, raisonnement, ragionamento, pensieri, mysli, myslenie, rozumowanie, мысли,
    размышления, 思考, 思考过程, 推理, 内心独白, 思考内容, 推理过程, 思维过程, 思路, 内心, 内心活动, 内心想法, 内心os,
    心里想, 心裡想,
    考える, 考え, 思考プロセス, 思考メモ, 思索, 생각, 사고, 추론, рассуждение, рассуждения, мышление, размышление,
    обдумывание, dusunce,
    dusunceler, akil yurutme, تفكير, التفكير, أفكار, विचार, सोच, ความคิด, suy nghi, suy luan, pemikiran, penalaran,
    gedachten,
    gedankengang, denkprozess, overweging, redenering, tankar, pensiero, riflessione, riflessioni, raciocinio, reflexao,
    心想, 心理活动, 心理活動, 心声, 心の声, 心の中, 内心の声, 独り言, 속마음, 속으로, 생각 과정, 사고 과정, 推論
""")
"""Folded headings of thinking, unless the question has a field of that name."""

NOTE_HEADINGS = listed("""
    analysis, reflection, strategy, my strategy, plan, my plan, planning, rationale, draft, hidden, why this works,
    explanation, notes, note, strategy note, strategic note, 分析, analyse, analisis, think, assessment, observation,
    observations, aside, sotto voce, attempt, first attempt, inner, silently, 注, 草稿, анализ, 분석
""")
"""Folded headings of text that is no part of an answer in words, if that has a heading of its own."""

_PRIVATE_NAMES = frozenset(("private", "internal", "internally"))
_THOUGHT_KINDS = frozenset((*THINKING, "think", "reason")) - _PRIVATE_NAMES
_CHANNELS_OF_THINKING = _THOUGHT_KINDS | {"analysis", "commentary"}
_KIND_KEYS = frozenset(("type", "kind", "step", "mode", "tool", "action", "name", "label", "tag", "role"))
_CHANNEL_KEYS = frozenset(("channel", "phase"))
_THOUGHT_FLAG = Pattern(r"(?:is )?(?:thoughts?|thinking|reasoning|hidden|private|internal)")


def says_that_it_thinks(value: Any, own: Collection[str]) -> bool:
    """Return whether a JSON object says that its words are thinking, under a key that is not one of its `own` fields.

    `{"type": "thinking", "text": "..."}`, `{"channel": "analysis", "content": "..."}`, `{"thought": true, "text": ""}`.
    """
    for key, part in value.items() if isinstance(value, Mapping) and len(value) > 1 else ():
        name = spaced(key)
        if name in own:
            continue
        if part is True and _THOUGHT_FLAG.fullmatch(name):
            return True
        kinds = _THOUGHT_KINDS if name in _KIND_KEYS else _CHANNELS_OF_THINKING if name in _CHANNEL_KEYS else ()
        if isinstance(part, str) and spaced(part) in kinds:
            return True
    return False


_TELLING = frozenset({"text", "pitch"})
"""Names of words that are no ordinary words."""

_KEYS = frozenset((*THINKING, *NOTE_HEADINGS, *REASONS)) | frozenset(
    listed("""
    vote, ballot, bid, action, action input, action parameters, parameters, arguments, claim, query, public speech,
    private thought, working memory, memory, thought process, observation, tool, function, role
""")
)
"""Folded keys of thinking and of fields in other answers."""

_COMMANDED = frozenset(
    listed("""
    vote, ballot, bid, act, action, claim, query, buy, sell, trade, kill, accuse, pass, whisper, w, tell, msg, message,
    dm, pm
""")
)
"""Names of commands that decide or reach one player: neither `/vote C` nor `/w B Meet me.` is a speech."""

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

_ROOTS = Pattern("思考|思索|思維|思维|思绪|思路|推理|推論|推论|内心|內心")
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
_BRACKETED = Pattern(
    rf"(?P<open>[{OPEN_BRACKETS}｛（(［\[{{](?:(?<=\[)\[|(?<=\{{)\{{|(?<!\[)))"
    r"(?=[ \t/／]{0,3}[tsrcip思推内心독속])[ \t]?(?P<slash>[/／]?)[ \t]?"
    r"(?P<name>think(?:ing)?|thoughts?|scratch ?pad|reasoning|chain of thought|cot"
    r"|(?:inner|internal) (?:monologue|thoughts?)|思考(?:过程)?|推理(?:过程)?|内心(?:独白|活动|想法|的声音)?"
    r"|心理活动|心里想|心想|心声|心の声|心の中|속마음|독백)"
    rf"[ \t]?(?:[{CLOSE_BRACKETS}｝）)］]|\]\]|\}}{{1,2}})",
    re.IGNORECASE,
)
_BRACKETS = rf"<>＜＞()（）{{}}｛｝［］{OPEN_BRACKETS}{CLOSE_BRACKETS}"
_ANY_TAG = Pattern(
    rf"(?P<open>[<＜(（{{｛［\[{OPEN_BRACKETS}])[ \t]?(?P<slash>[/／]?)[ \t]?"
    rf"(?P<name>[^\W\d_][^\n{_BRACKETS}\[\]\"=:：|/]{{0,30}}+)(?P<more>=[^\n{_BRACKETS}\[\]]{{0,80}})?"
    rf"[>＞)）}}｝］\]{CLOSE_BRACKETS}]"
)
"""A name in any language in any brackets."""
_SQUARE = Pattern(
    r"think(?:ing)?|thoughts?|reasoning|scratch[_ -]?pad|cot|internal|private|hidden|plan|思考(?:过程)?|推理|内心独白",
    re.IGNORECASE,
)  # [analysis] is a word
_ORDINARY = Pattern(
    r"analysis|reflections?|deliberations?|brainstorm(?:ing)?|internal|private|hidden|plan(?:ning)?|strategy|secret"
    r"|reasons?|reasoning|monologue|思考|推理",
    re.IGNORECASE,
)
"""Names of tags that are ordinary words as well."""
_SPACED_OUT = Pattern(r"<\s[^<>]*\s>")  # less-than and greater-than signs around a word
_COMMANDS = r"think(?:ing)?|thoughts?|reasoning|scratchpad|cot"
"""Names of commands and environments of TeX for thinking."""
# the ends of marks, by the name of the group that finds their beginning
_ENDS = {
    "channel": Pattern(r"<channel\|>|<\|(?:end|channel)\|?>(?:\s*(?:final|response|answer)\b(?:<\|message\|>)?)?"),
    "inner": Pattern(r"<\|inner_suffix\|>"),
    "unused": Pattern(r"<(?:unused|ctrl)95>|</(?:unused|ctrl)94>"),
    "comment": Pattern(r"-->"),
    "fence": Pattern(r"```|~~~|:::"),
    "aside": Pattern(r"[)）]"),
    "starred": Pattern(r"\*"),
    "bracketed": Pattern(r"[\]】]"),
    "command": Pattern(r"\}"),
    "environment": Pattern(rf"\\end\{{(?:{_COMMANDS})\}}", re.IGNORECASE),
    "angled": Pattern(r">"),
    "cloud": Pattern(r"\n|$"),
    "role": Pattern(r"<\|im_end\|>(?:\s*<\|im_start\|>\s*(?:answer|response|final|assistant)\b)?"),
    "terminal": Pattern(r"^(?:\.{3}|…)\s?done thinking\.?", re.IGNORECASE | re.MULTILINE),
    "details": Pattern(r"</details\s*>", re.IGNORECASE),
}
_ANSWER_LINE = Pattern(
    r"^[ \t]{0,8}(?:={3,8}|-{3,8}|[\[【〔])[ \t]?(?P<name>[^\W\d_][\w -]{0,30}?)[ \t]?"
    r"(?:={3,8}|-{3,8}|[\]】〕])[ \t]*$",
    re.MULTILINE,
)
"""A line that is a name between signs: `=== Speech ===`."""
_NESTS = Pattern(r"[(（\[【<{]|[)）\]】>}]")
_NOTES = r"(?:think(?:ing)?|thoughts?|reasoning|scratchpad|analysis|思考(?:过程)?|推理(?:过程)?)(?: process)?"
_ASIDE = (
    r"(?:(?:(?:inner|internal|private|secret)(?:\s(?:thoughts?|thinking|monologue|note))?"
    r"|aside|secretly|ooc|out of character|(?:[a-z]{2,10} )?to (?:my|him|her|them)?self"
    r"|thinking|thinks|thoughts?|monologue|gedanken?|denkt|denke|innerlich|pens[ée]es?|pense|pensando|piensa|pienso"
    r"|pensamientos?|pensamentos?|pensa|pensiero|pensieri|my[śs]li|мысли|мысль|думает|думаю|про себя"
    r"|размышлени[ея]|рассуждени[ея]|razonamiento|raisonnement|ragionamento|[üu]berlegung(?:en)?|rozumowanie|raciocínio)\b"
    r"|内心|內心|心想|心里想|心裡想|心里话|心声|心の声|心理活动|思考|独白|暗想|속마음|생각|속으로)"
)
# a quick test for the beginning of a mark: its bracket and two letters of its name
_BEGINS = (
    r"(?=(?:<<?+|[◁＜⟨〈‹【\[]|&lt;|[-=]{3,8}+(?![-=]))[\s/|]{0,7}+(?:[atrsdimpcbheu思推内][nhectlroim考理心]|[\w.-]{1,20}+:|[a-z]{2,12}_(?:think|thought|reason))"
    r"|<!|\\[trscb]|\th|[(（*\[【<][^\W\d_]|```(?!`)|~~~(?!~)|:::(?!:)|💭|(?:^|(?<=>))[*_]{0,3}[TR]|^(?:\.{3}|…)\s?d)"
)
_MARK = Pattern(
    rf"{_BEGINS}(?:(?P<tag>{_TAG})"
    r"|(?P<channel><\|channel\|?>\s*(?:thoughts?|thinking|analysis|reasoning)\b)"
    r"|(?P<inner><\|inner_prefix\|>)"
    r"|(?P<unused><(?:unused|ctrl)94>(?:\s*thoughts?\b)?)"
    r"|(?P<comment><!--)"
    rf"|(?P<fence>(?:```|~~~|:::)[ \t]*+(?:(?:{_NOTES}|plan)\b"
    rf"|\w{{0,12}}+[ \t]*+\n[\s#*_>]{{0,8}}+{_NOTES}[*_:：]{{0,4}}+[ \t]*+\n))"
    r"|(?P<details><details[^<>]{0,80}>\s*<summary[^<>]{0,80}>[^<>]{0,60}(?:think|thought|reason|思考|推理)[^<>]{0,60}</summary>)"
    # JSON reads `\t` as a tab
    rf"|(?P<command>(?:\\(?:{_COMMANDS})|\think(?:ing)?|\thoughts?)[ \t]?\{{)"
    rf"|(?P<environment>\\begin\{{(?:{_COMMANDS})\}})"
    rf"|(?P<aside>[(（]\s?{_ASIDE}[^()（）:：\n]{{0,30}}[:：])|(?P<starred>(?<!\*)\*(?!\*){_ASIDE}[^*:：\n]{{0,30}}[:：])"
    rf"|(?P<bracketed>[\[【]\s?{_ASIDE}[^\[\]【】:：\n]{{0,30}}[:：])|(?P<angled><{_ASIDE}[^<>:：\n]{{0,30}}[:：])|(?P<cloud>💭(?!(?<=\A💭)[^\n💭]*💭\s*\Z)(?=[^\n]*\w))"
    r"|(?P<role><\|im_start\|>\s*(?:think(?:ing)?|thoughts?|reasoning|analysis)\b)"
    r"|(?P<terminal>(?:^|(?<=>))[*_]{0,3}(?:Thinking|Reasoning)(?:\.{3}|…)[*_]{0,3}[ \t]*$)"
    r"|(?P<stray><channel\|>|<(?:unused|ctrl)95>|</ctrl94>|^(?:\.{3}|…)\s?done thinking\.?[ \t]*$))",
    re.IGNORECASE | re.MULTILINE,
)
# the pattern begins with one character class, so that the search skips to the next character in it
_SIGNS = r"<◁＜⟨〈‹【\[(（*💭"
_ANY = Pattern(
    rf"[{_SIGNS}=&`~:aTR.…\\\t-](?:(?<=[{_SIGNS}])|(?<=\\)(?:think|thought|reasoning|scratchpad|cot|begin)|(?<=\t)h(?:ink|ought)|(?<=[-=])[-=]{{2}}|(?<=&)lt;|(?<=`)``|(?<=~)~~|(?<=:)::"
    r"|(?<=a)(?:nalysis|ssistant)|(?<=T)hinking(?:\.{3}|…)|(?<=R)easoning(?:\.{3}|…)|(?<=[.…])\s?done thinking)"
)
# the first line of a channel of thinking whose tokens were stripped
_STRIPPED_LINE = Pattern(
    r"\s*+(?:[>▶▼▸▾⏳🤔🧠💭][ \t]?)?(?P<name>(?i:(?:think(?:ing)?|thoughts?|reasoning)(?: process)?|analysis"
    r"|commentary|思考(?:过程)?|(?:thought|reasoned) for [\w ]{1,20}"
    r"|推理(?:过程)?|内心独白))[ \t]*+(?:\n|\Z)"
)
# the channels of OpenAI's harmony format, with its special tokens and without them
_CHANNEL = Pattern(r"<\|channel\|>([^<]{0,80})\s*+(?:<\|constrain\|>[^<]{0,20})?<\|message\|>")
_TOKEN = Pattern(r"<\|[^<>|\n]{1,40}\|>")
_RECIPIENT = Pattern(r"(?:\A|(?<=assistant)|(?<=\n))\s{0,4}to=[\w.]{1,80}(?:\s?code)?\s{0,4}\Z")
"""The function that a message calls, in front of its channel."""
_FUNCTION = Pattern(r"\bto=(?:\w{1,40}\.){0,3}(\w{1,60})")
"""The function that a message is for."""
_CHANNEL_ENDS = Pattern(r"<\|(?:end|return|call|start|channel)\|>")
_STRIPPED = Pattern(r"\s*+(?:assistant)?\s*+analysis(?![a-z\s:,.;_-])")
# the beginning of an answer behind thinking that has no end of its own
_FINAL = Pattern(
    r"assistant\s?final(?:\s?json)?|assistant\s?commentary\s+to=[\w.]{1,60}(?:\s?json)?"
    r"|\[BEGIN FINAL (?:RESPONSE|ANSWER)\]"
    r"|<\|(?:begin_of_solution|START_RESPONSE|start_of_response)\|>"
)
# besides a heading of the question's own, an object, a fence, a tag or a box at the beginning of a line ends a thought
_ANSWER_BEGINS = Pattern(
    r"^[ \t]*(?:\{\s*[\"'“]|\[\s*\{|```|<[a-z_]{2,30}>|\\boxed|action:[ \t]*\w{1,40}[ \t]*\n+action input:)",
    re.MULTILINE,
)
_QUOTE_BELOW = Pattern(r"[*_:： \t]*+\n\s{0,8}>")
"""A block quote below the end of a line."""
_UNQUOTED = Pattern(r"^(?![ \t]*>)[ \t]*\S", re.MULTILINE)


_LONGEST_MARKS = 6
_LONGEST_MARK = 60  # characters of a tag of thinking up to the end of its name
_MARKS_OPEN = Pattern(r"[*_`~(（\[{\"“「『]+\Z")
_MARKS_CLOSE = Pattern(r"[*_`~)）\]}\"”」』]{1,6}")
_MIRRORED = str.maketrans("(（[{“「『", ")）]}”」』")
_NOTHING_FENCED = Pattern(r"(?:^|(?<=\n))(?P<fence>```|~~~)\w{0,12}+\s*+(?P=fence)[ \t]*+(?:\n|\Z)")
"""A fence that held nothing but thinking."""
_EMPTY = Pattern(r"<\s?(?:think|thinking|thought|reasoning)\s{0,3}/>", re.IGNORECASE)
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
    kept = _NOTHING_FENCED.sub(lambda fence: fence[0] if _ends_a_fence(fence, thoughts) else "", kept)
    return kept, tuple(thought for each in thoughts if (thought := each.strip()))


def _ends_a_fence(fence: re.Match[str], thoughts: Sequence[str]) -> bool:
    """Return whether two marks of fences at the end of a text are the end of one above, and a stray one."""
    above = fence.string[: fence.start()]
    return not thoughts and fence.end() == len(fence.string) and above.count(fence["fence"]) == 1


def _in_angles(text: str) -> str:
    """Replace names of thinking in other brackets (`【思考】`) by `<think>`, if they begin a line or have an end.

    Elsewhere, and in the brackets of quotations, a name without an end is a word.
    """
    text = _with_latin_marks(text)
    ends = {_plain_name(tag) for tag in islice(_ANY_TAG.finditer(text), _MOST_MARKS) if tag["slash"]}
    ends |= {_plain_name(tag) for tag in islice(_BRACKETED.finditer(text), _MOST_MARKS) if tag["slash"]}

    def plain(tag: re.Match[str]) -> str:
        abroad = tag.re.pattern == _ANY_TAG.pattern
        if abroad and not _is_abroad(tag):
            return tag[0]
        above = text[max(0, tag.start() - _NEAR) : tag.start()]
        begins = not above.rpartition("\n")[2].strip() and tag["open"] not in "「『«‹"
        begins = begins and (not abroad or tag["open"] in "<＜")
        if not begins and _plain_name(tag) not in ends:
            return tag[0]
        return f"<{'/' if tag['slash'] else ''}think>"

    return _BRACKETED.sub(plain, _ANY_TAG.sub(plain, text))


def _with_latin_marks(text: str) -> str:
    """Return a text in which the tags of thinking are Latin, also if some of their letters only look so: `<thіnk>`."""
    latin = with_latin(text)
    if latin == text:
        return text
    marks = (mark.span() for mark in islice(_MARK.finditer(latin), _MOST_MARKS))
    return replaced(text, latin, ((start, min(end, start + _LONGEST_MARK)) for start, end in marks))


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
    text = with_latin(text)
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
            content = text[channel.end() : position]
            content = _called(f"{to[0] if to else ''} {channel[1]}" if called else "", content)
            (said if aloud else thoughts).append(content)
        thoughts.append(_TOKEN.sub("", text[position:]))
        return "\n".join(said)
    spans = strict_spans(text) if "{" in text and _FINAL.search(text) else []
    finals = [each for each in _FINAL.finditer(text) if not _inside(spans, each.start())]
    if finals:
        thoughts.append(text[: finals[-1].start()])
        return _called(finals[-1][0], text[finals[-1].end() :])
    if _STRIPPED.match(text):
        thoughts.append(text)
        return ""
    return text


def _called(header: str, content: str) -> str:
    """Return the content of a message with the function that its header calls, so that the reader judges its name."""
    function = _FUNCTION.search(header) if content.lstrip().startswith("{") else None
    return content if function is None else f"functions.{function[1]} {content}"


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
    position, opened, index = 0, False, 0
    last_end = max((mark.start() for mark in marks if _is_end(mark)), default=-1)
    for mark in marks:
        start, end = mark.span()
        while index < len(spans) and spans[index][1] <= start:
            index += 1
        # within a mark that has its own end, or in a string of a whole object
        if start < position or (not opened and index < len(spans) and spans[index][0] < start):
            continue
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
    if opened and all_seen and (answer := _answer_line(text, position, own)) is not None:
        thoughts += ["".join(kept), text[position : answer.start()]]
        kept = [text[answer.end() :]]
    elif opened or not all_seen:
        thoughts.append(text[position:])
    else:
        kept.append(text[position:])
    yield from _unmarked(kept)


def _answer_line(text: str, position: int, own: Collection[str]) -> re.Match[str] | None:
    """Return the only line of signs and a name of the answer (`=== Speech ===`), which ends thinking, or None."""
    found = [each for each in _ANSWER_LINE.finditer(text, position) if spaced(each["name"]) in (*own, *SPEECH)]
    return found[0] if len(found) == 1 else None


def _end_of(text: str, mark: re.Match[str], kind: str) -> tuple[int, int]:
    """Return the span of the end of a mark that has an end of its own, which is the end of the text if it lacks one.

    Brackets within the mark's own are part of it, and a fence ends with the sign that began it.
    """
    end = mark.end()
    if kind in {"aside", "bracketed", "angled", "command"}:
        depth, opens = 1, mark[0][-1 if kind == "command" else 0]
        pair = (opens, {"(": ")", "（": "）", "[": "]", "【": "】", "<": ">", "{": "}"}[opens])
        for sign in _NESTS.finditer(text, end):
            depth += (sign[0] == pair[0]) - (sign[0] == pair[1])
            if not depth:
                return sign.span()
        return len(text), len(text)
    if kind == "terminal" and (quoted := _QUOTE_BELOW.match(text, end)):
        after = _UNQUOTED.search(text, quoted.end())
        return (after.start(), after.start()) if after else (len(text), len(text))
    signs = _ENDS[kind]
    for closes in signs.finditer(text, end):
        if kind != "fence" or closes[0] == mark[0][:3]:
            return closes.span()
    return len(text), len(text)


def _unmarked(kept: Sequence[str]) -> Iterator[str]:
    """Yield the pieces between thoughts without the marks around a thought: `**` of `**<think>so</think>** Hello`."""
    pieces = [*kept]
    for index in range(1, len(pieces)):
        before, behind = pieces[index - 1], pieces[index]
        opens = _MARKS_OPEN.search(before[-_LONGEST_MARKS:])
        if opens and (marks := _MARKS_CLOSE.match(behind)) and marks[0] == _closing(opens[0]):
            pieces[index - 1], pieces[index] = before[: len(before) - len(opens[0])], behind[marks.end() :]
    yield from pieces


def _closing(marks: str) -> str:
    return marks[::-1].translate(_MIRRORED)


def _is_word(text: str, mark: re.Match[str], *, ends: bool, strict: bool) -> bool:
    """Return whether a tag is a word of a sentence; `ends` is whether the end of a tag follows.

    If `strict`, raises `UnreadableReply` if a tag in a sentence may be either.
    """
    start, end = mark.span()
    if is_quoted(text, start, end) or (mark["square"] and _is_spoken_of(text, start, end)):
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


def _is_spoken_of(text: str, start: int, end: int) -> bool:
    """Return whether a text of one line speaks of the mark in square brackets in it: `What does [thinking] mean?`"""
    if "\n" in text.strip():
        return False
    if not has_words(text[:start]):
        return _SENTENCE_ON_A_MARK.match(text, end) is not None
    above = text[max(0, start - _NEAR) : start]
    return _NAMES_A_MARK.search(above) is not None and _GOES_ON_FROM_A_MARK.match(text, end) is not None


def _inside(spans: Sequence[tuple[int, int]], offset: int) -> bool:
    before = bisect_right(spans, (offset,)) - 1
    return before >= 0 and spans[before][0] < offset < spans[before][1]


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
    Between two alike rules (`---`) it ends at the second, and in a block quote with that. A heading that has nothing
    between it and the answer was left unfinished: all below it is thinking.
    """
    spans: list[tuple[int, int]] = []
    ends: list[int] | None = None
    for match in chain(_stripped_line(plain, own), headings(plain, _thinking(tuple(own)), heads_thinking)):
        whole = (
            re.sub(r"[\s_-]+", " ", match["lead"] + match["name"]) if match.re.pattern != _STRIPPED_LINE.pattern else ""
        )
        if (spans and match.start() < spans[-1][1]) or whole in own:
            continue
        start = match.start()
        if ends is None:
            ends = [each.start() for each in headings(plain, own, heads_thinking)]
            ends = sorted([*ends, *(each.start() for each in _ANSWER_BEGINS.finditer(plain))])
        index = bisect_right(ends, start)
        end = ends[index] if index < len(ends) else len(plain)
        rule = _RULE_ABOVE.search(plain, max(0, start - _NEAR), start)
        closes = _rule_below(rule["sign"]).search(plain, match.end()) if rule else None
        if rule is not None and closes is not None and closes.start() <= end:
            start, end = max(rule.start(), spans[-1][1] if spans else 0), closes.end()
        elif plain.startswith(">", start) or _QUOTE_BELOW.match(plain, match.end()):
            quoted = start if plain.startswith(">", start) else plain.index(">", match.end())
            if after := _UNQUOTED.search(plain, max(quoted, match.end())):
                end = min(end, after.start())
        elif not has_words(plain[match.end() : end]):
            end = len(plain)
        spans.append((start, end))
    return spans


_FENCE_ABOVE = Pattern(r"(?:'''|~~~)\w{0,12}")
_RULE_ABOVE = Pattern(r"(?:^|(?<=\n))[ \t]{0,8}(?P<sign>[-*_=~+#'])(?P=sign){2,80}\w{0,12}[ \t]{0,8}\n\s{0,8}\Z")
"""A rule, or the beginning of a fence, above a folded line."""


@cache
def _rule_below(sign: str) -> re.Pattern[str]:
    """Return a pattern for a rule of the same sign."""
    return re.compile(rf"^[ \t]{{0,8}}{re.escape(sign)}{{3,80}}[ \t]{{0,8}}(?:\n|\Z)", re.MULTILINE)
