"""Vocabulary: the words by which replies name and answer, as data: small letters, no diacritics (`text.folded`).

Also how patterns look for one of many words or phrases. Languages: English, German, French, Spanish, Portuguese,
Italian, Dutch, Polish, Russian, Chinese, Japanese, Korean. A word is added here, a whole sentence to `sentences`, and
what makes a doubt to `doubts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from agentsim.engine.reading.text import folded


def _words(text: str) -> tuple[str, ...]:
    """The words and phrases of a text, which commas part."""
    return tuple(dict.fromkeys(folded(" ".join(word.split())) for word in text.split(",")))


def _any_of(text: str) -> frozenset[str]:
    return frozenset(_words(text))


LABELS: Mapping[str, tuple[str, ...]] = {
    "vote": _words("""
        vote, ballot, voted for, vote for, voting for, vote to eliminate, stimme, votum, wahl, ich stimme fur,
        stimme fur, je vote pour, voix, voto, voto por, voto per, mi voto, meu voto, il mio voto, stem, glos, moj glos,
        glosuje na, голос, мой голос, голосую за, 投票, 票, 我的投票, 我投票给, 投票给, 投票先, 투표
    """),
    "bid": _words("""
        bid, bid amount, offer, gebot, mein gebot, angebot, enchere, mon enchere, offre, mon offre, oferta, mi oferta,
        puja, mi puja, lance, meu lance, offerta, la mia offerta, bod, ставка, моя ставка, 出价, 出價, 我的出价, 报价,
        入札, 入札額, 입찰
    """),
    "against": _words(
        "eliminate, eliminated, elimination, to eliminate, eliminating, out, ausscheiden, elimino, elimine"
    ),
    "for": _words(
        "winner, the winner, my winner, winning player, gewinner, sieger, vainqueur, ganador, vencedor, vincitore"
    ),
    "public speech": _words("public speech, public, speech, say, said, aloud, to the table, spoken"),
    "private thought": _words("private thought, private thoughts, private, thought, thoughts"),
    "partner": _words("partner, approach, sidebar, sidebar with, talk to, target, player"),
    "accept": _words("accept, accepted, response, reply"),
    "ask": _words("ask, whom, who"),
    "summary": _words("summary, my summary, note, notes, my note, my notes, memory, notiz, notatka, resume"),
    "query": _words("query, my query, question, tool"),
}
"""What a field is called besides its own name."""

GENERIC = _words("""
    answer, final, choice, decision, selection, pick, response, verdict, antwort, entscheidung, auswahl, wahl, reponse,
    choix, respuesta, eleccion, resposta, escolha, decisao, risposta, scelta, decisione, antwoord, keuze, odpowiedz,
    wybor, decyzja, ответ, выбор, решение, 答案, 回答, 选择, 選擇, 决定, 答え, 選択, 決定, 답
""")
"""What the one field that decides may be called in any question."""

REASONS = _words("""
    explanation, reasoning, reason, reasons, why, rationale, justification, because, argument, begrundung, grund,
    erklarung, raison, raisons, explication, razon, razones, explicacion, motivo, explicacao, justificativa,
    justificacion, motivazione, spiegazione, uzasadnienie, powod, wyjasnienie, причина, объяснение, обоснование,
    почему, 理由, 原因, 解释, 解釋, 説明, 이유, toelichting, reden, uitleg, note, comment
""")
"""What the words beside a decision may be called."""

REASON_FIELDS = REASONS[:3]
"""Names of fields of such words: explanation, reasoning, reason."""

SPEECH = _words("""
    text, message, speech, statement, words, content, answer, response, reply, my pitch, pitch, public,
    public statement, public message, public speech, say, spoken, said, output, final answer, final response,
    final message, final pitch, final
""")
"""What the words of an answer that is nothing else may be called."""

THINKING = _words("""
    thinking, thoughts, thought, thought process, my thoughts, my thinking, internal monologue, thinks,
    inner monologue, internal thoughts, inner thoughts, private thoughts, private thought, scratchpad,
    chain of thought, reasoning, internal reasoning, private reasoning, internal analysis, reasoning process,
    internal strategy, internal notes, step-by-step thinking, step by step thinking, private strategy, private notes,
    notes to self, note to self, private, internal, my reasoning steps, reasoning steps, private thinking,
    internal thinking, private analysis, thinking out loud, step-by-step reasoning, step by step reasoning,
    thinking process, deliberation, uberlegung, uberlegungen, gedanken, pensee, pensees, reflexion, pensamiento,
    pensamientos, pensamento, razonamiento, raisonnement, ragionamento, pensieri, mysli, myslenie, rozumowanie, мысли,
    размышления, 思考, 思考过程, 推理, 内心独白
""")
"""Headings of what is not said aloud, where the question has no field of that name."""

ASIDES = _words("""
    analysis, reflection, strategy, my strategy, plan, my plan, planning, rationale, draft, hidden, why this works,
    explanation, notes, note, strategy note, strategic note, 分析, analyse, analisis
""")
"""Headings of what is no part of an answer in words that has a heading of its own."""

WRAPPERS = _any_of("""
    action, answer, args, arguments, content, data, decision, final, final_answer, finalanswer, function,
    function_call, functioncall, input, json, make_decision, message, output, parameters, params, reply, response,
    result, tool_call, tool_input, toolcall, toolinput
""")
"""Keys whose object is the answer, one level of them."""

PASS = _any_of("""
    drop out, eu passo, fold, i drop out, i fold, i pass, i will pass, i withdraw, i'll pass, i'm out, ich passe,
    ik pas, io passo, je passe, n/a, nil, no, no bid, none, nothing, null, out, pas, paso, pass, passe, passing, passo,
    pasuje, skip, withdraw, yo paso, zero, пас, пасую, я пас, パス, パスします, 不出价, 弃权, 我不出价, 我放弃, 放弃,
    跳过, 过, 패스
""")
"""Answers that stand for a number that is no offer."""

NOTHING = _any_of("""
    -, aucun, do nothing, i do nothing, i pass, i propose no trade, i propose nothing, keiner, n/a, na, nadie, nessuno,
    niemand, niemanden, nikogo, nikt, nil, ninguem, ninguno, no, no action, no changes, no offer, no one, no partner,
    no player, no proposal, no query, no trade, no-one, nobody, nobody else, none, none of them, noone, nothing, null,
    pass, personne, propose nothing, skip, никого, никто, いない, なし, 无, 无人, 没人, 没有人, 誰も, 없음
""")
"""Answers that name none of the others, or nothing to do."""

YES = _any_of("""
    sure thing, sounds good, let's do it, let's talk, lets talk, lo acepto, 当然, 当然可以, 可以, 接受吧, 没问题,
    absolutely, accept, accepted, accetto, aceito, acepto, agree, agreed, akceptuje, certainly, deal, gladly, i accept,
    i agree, i do, ich akzeptiere, ich nehme an, it's a deal, j'accepte, ja, of course, ok, okay, oui, si, sim, sure,
    tak, true, with pleasure, y, yeah, yep, yes, yup, да, принимаю, согласен, はい, 同意, 好, 好的, 我接受, 承諾, 接受,
    是, 是的, 네, 예
""")

PLAIN_YES_OR_NO = _any_of("""
    yes, no, yeah, yep, nope, ja, nein, oui, non, si, sim, nao, tak, nie, да, нет, accept, reject, decline, deal,
    no deal, accepted, rejected, i accept, i decline, i reject, agreed, 好, 好的, 当然可以, 可以, 不, 是, はい, いいえ,
    네, 아니요, sure thing
""")
"""Those that are an answer also before a reason."""

NO = _any_of("""
    lo rechazo, 我不接受, 不接受, 我不同意, 不行, 不了, decline, declined, false, i decline, i do not accept,
    i don't accept, i refuse, i reject, ich lehne ab, je refuse, n, nah, nao, nein, never, nie, no, no deal,
    no thank you, no thanks, non, nope, not interested, odrzucam, rechazo, recuso, refuse, reject, rejected, rifiuto,
    нет, отказываюсь, отклоняю, いいえ, 不, 不同意, 否, 我拒绝, 拒否, 拒绝, 아니요
""")

VALUES: Mapping[str, frozenset[str]] = {"accept": YES, "reject": NO, "decline": NO, "yes": YES, "no": NO}
"""Other words for choices of these names."""

UNITS = (
    r"hours?|hrs?|h|credits?|dollars?|usd|eur|euros?|pln|gbp|pounds?|coins?|points?|bucks|cr|units?|gold|money|zl|zloty"
    r"|zlotych|rub|元|円|块|积分|点|руб(?:лей)?|кредит(?:ов|а)?|credit[oi]s?|kredit[eyow]*"
)

INNER_KEYS = _any_of("""
    id, name, player, value, choice, candidate, target, answer, team, amount, number, bid, player_id, playerid, vote,
    type, action, credits, partner, selected
""")
"""Keys whose value is the one in an object of one value and words."""

LEAD_IN = _any_of("""
    elimination, ballot, a, above, all, alright, also, and, answer, are, as, asi, based, below, certainly, conclusion,
    considering, daher, decision, donc, endgultige, everything, final, finally, following, for, formal, hence, here,
    here's, i, i'm, il, im, in, is, json, jury, la, ma, me, mein, meine, meu, mi, mijn, minha, mio, moj, moja, moje,
    mon, my, now, of, official, ok, okay, on, ostateczny, overall, player, private, public, que, quindi, reply,
    requested, required, response, round, secret, so, sure, that, the, then, therefore, this, thus, well, wiec, with,
    итак, мои, моя, 我的, 最终, 私の
""")
"""Words that may stand before a label without changing what it says."""


_LETTERS = re.compile(r"[\w ',]*?(?=[\w ',]?[?*+{]|[^\w ',]|\Z)")
_FIRST_GROUP = re.compile(r"\(\?:([^()\[\]]*)\)(?![?*+{])")


def any_name(names: Iterable[str]) -> str:
    """One of the folded names, of those that begin alike the longest; blanks may be underscores or dashes."""
    return _tree([tuple(r"[\s_-]{1,2}" if char == " " else re.escape(char) for char in name) for name in names])


def any_phrase(phrases: str) -> str:
    """One of the patterns of a text, which semicolons part; alternatives in one stand in brackets."""
    return _tree([_atoms(" ".join(phrase.split())) for phrase in phrases.split(";")])


def any_word(phrases: str) -> str:
    """As `any_phrase`, as whole words."""
    return rf"\b{any_phrase(phrases)}\b"


def any_begun(patterns: Iterable[str]) -> str:
    """One of the patterns, in no order; those that begin with alternatives are told apart by their first letters."""
    return _tree([_atoms(each) for pattern in patterns for each in _apart(pattern)])


def _atoms(phrase: str) -> tuple[str, ...]:
    """The letters with which a pattern begins, and the rest as one."""
    letters = _LETTERS.match(phrase)
    assert letters is not None, "it matches everywhere"
    rest = phrase[letters.end() :]
    return (*letters[0], f"(?:{rest})") if rest else tuple(letters[0])


def _apart(pattern: str) -> list[str]:
    """`(?:a|b)c` as `ac` and `bc`; any other pattern as it is."""
    group = _FIRST_GROUP.match(pattern)
    return [f"{each}{pattern[group.end() :]}" for each in group[1].split("|")] if group else [pattern]


def _tree(branches: Sequence[tuple[str, ...]]) -> str:
    """Branches, each of patterns that follow each other, as one pattern."""
    following: dict[str, list[tuple[str, ...]]] = {}
    for first, *rest in filter(None, branches):
        following.setdefault(first, []).append(tuple(rest))
    ends = "" if all(branches) else "?"
    parts = [f"{first}{_tree(rest)}" for first, rest in following.items()]
    return parts[0] if len(parts) == 1 and not ends else f"(?:{'|'.join(parts)}){ends}" if parts else ""
