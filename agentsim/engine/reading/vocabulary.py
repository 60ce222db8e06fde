"""Vocabulary: the words by which replies name, decide and refuse, as data: small letters, no diacritics (`folding`).

Languages: English, German, French, Spanish, Portuguese, Italian, Dutch, Polish, Russian, Chinese, Japanese, Korean. A
word is added here and nowhere else. How words are looked for stands in `claims`, what makes a doubt in `doubts`.
"""

from __future__ import annotations

from collections.abc import Mapping

from agentsim.engine.reading.folding import folded

__all__ = [
    "ASIDES",
    "GENERIC",
    "LABELS",
    "LEAD_IN",
    "NO",
    "NOTHING",
    "PASS",
    "REASONS",
    "SENTENCES",
    "SPEECH",
    "THINKING",
]
__all__ += ["UNITS", "VALUES", "VERB", "WRAPPERS", "YES"]


def _words(text: str) -> tuple[str, ...]:
    """The words and phrases of a text, which commas part."""
    return tuple(dict.fromkeys(folded(" ".join(word.split())) for word in text.split(",")))


LABELS: Mapping[str, tuple[str, ...]] = {
    "vote": _words(
        """
            vote, ballot, voted for, vote for, voting for, vote to eliminate, stimme, votum, wahl, ich stimme fur,
            stimme fur, je vote pour, voix, voto, voto por, voto per, mi voto, meu voto, il mio voto, stem, glos, moj
            glos, glosuje na, голос, мой голос, голосую за, 投票, 票, 我的投票, 我投票给, 投票给, 投票先, 투표
        """
    ),
    "bid": _words(
        """
            bid, bid amount, offer, gebot, mein gebot, angebot, enchere, mon enchere, offre, mon offre, oferta, mi
            oferta, puja, mi puja, lance, meu lance, offerta, la mia offerta, bod, ставка, моя ставка, 出价,
            出價, 我的出价,
            报价, 入札, 入札額, 입찰
        """
    ),
    "against": _words(
        "eliminate, eliminated, elimination, to eliminate, eliminating, out, ausscheiden, elimino, elimine"
    ),
    "for": _words(
        "winner, the winner, my winner, winning player, gewinner, sieger, vainqueur, ganador, vencedor, vincitore"
    ),
    "partner": _words("partner, approach, sidebar, sidebar with, talk to, target, player"),
    "accept": _words("accept, accepted, response, reply"),
    "ask": _words("ask, whom, who"),
    "summary": _words(
        """
            summary, my summary, note, notes, my note, my notes, memory, notiz, notatka, resume
        """
    ),
    "query": _words("query, my query, question, tool"),
}
"""What a field is called besides its own name."""

GENERIC = _words(
    """
        answer, choice, decision, selection, pick, response, verdict, antwort, entscheidung, auswahl, wahl, reponse,
        choix, respuesta, eleccion, resposta, escolha, decisao, risposta, scelta, decisione, antwoord, keuze,
        odpowiedz, wybor, decyzja, ответ, выбор, решение, 答案, 回答, 选择, 選擇, 决定, 答え, 選択, 決定, 답
    """
)
"""What the one field that decides may be called in any question."""

REASONS = _words(
    """
        explanation, reasoning, reason, reasons, why, rationale, justification, because, argument, begrundung, grund,
        erklarung, raison, raisons, explication, razon, razones, explicacion, motivo, explicacao, justificativa,
        justificacion, motivazione, spiegazione, uzasadnienie, powod, wyjasnienie, причина, объяснение, обоснование,
        почему, 理由, 原因, 解释, 解釋, 説明, 이유, toelichting, reden, uitleg, note, comment
    """
)
"""What the words beside a decision may be called; the first three are names of fields."""

SPEECH = _words(
    """
        text, message, speech, statement, words, content, answer, response, reply, my pitch, pitch, public, public
        statement, public message, public speech, say, spoken, said, output, final answer, final response, final
        message, final pitch, final
    """
)
"""What the words of an answer that is nothing else may be called."""

THINKING = _words(
    """
        thinking, thoughts, thought, thought process, my thoughts, my thinking, internal monologue, thinks, inner
        monologue, internal thoughts, inner thoughts, private thoughts, private thought, scratchpad, chain of thought,
        reasoning, internal reasoning, private reasoning, internal analysis, reasoning process, internal strategy,
        private strategy, private notes, notes to self, note to self, private, internal, my reasoning steps,
        reasoning steps, private thinking, internal
        thinking, private analysis, thinking out loud, step-by-step reasoning, step by step reasoning, thinking
        process, deliberation, uberlegung, uberlegungen, gedanken, pensee, pensees, reflexion, pensamiento,
        pensamientos, pensamento, razonamiento, raisonnement, ragionamento, pensieri, mysli, myslenie, rozumowanie,
        мысли, размышления, 思考, 思考过程, 推理, 内心独白
    """
)
"""Headings of what is not said aloud, where the question has no field of that name."""

ASIDES = _words(
    """
        analysis, reflection, strategy, my strategy, plan, my plan, planning, rationale, draft, hidden, why this
        works, explanation, notes, note, strategy note, strategic note, 分析, analyse, analisis
    """
)
"""Headings of what is no part of an answer in words that has a heading of its own."""

WRAPPERS = frozenset(
    _words(
        """
        action, answer, args, arguments, content, data, decision, final, final_answer, finalanswer, function,
        function_call, functioncall, input, json, make_decision, message, output, parameters, params, reply, response,
        result, tool_call, tool_input, toolcall, toolinput
    """
    )
)
"""Keys whose object is the answer, one level of them."""

PASS = frozenset(
    _words(
        """
        drop out, eu passo, fold, i drop out, i fold, i pass, i will pass, i withdraw, i'll pass, i'm out, ich passe,
        ik pas, io passo, je passe, n/a, nil, no, no bid, none, nothing, null, out, pas, paso, pass, passe, passing,
        passo, pasuje, skip, withdraw, yo paso, zero, пас, пасую, я пас, パス, パスします, 不出价, 弃权,
        我不出价, 我放弃, 放弃, 跳过, 过, 패스
    """
    )
)
"""Answers that stand for a number that is no offer."""

NOTHING = frozenset(
    _words(
        """
        -, aucun, do nothing, i do nothing, i pass, i propose no trade, i propose nothing, keiner, n/a, na, nadie,
        nessuno, niemand, niemanden, nikogo, nikt, nil, ninguem, ninguno, no, no action, no changes, no offer, no one,
        no partner, no player, no proposal, no query, no trade, no-one, nobody, nobody else, none, none of them,
        noone, nothing, null, pass, personne, propose nothing, skip, никого, никто, いない, なし, 无, 无人,
        没人, 没有人, 誰も, 없음
    """
    )
)
"""Answers that name none of the others, or nothing to do."""

YES = frozenset(
    _words(
        """
        sure thing, sounds good, let's do it, let's talk, lets talk, lo acepto, 当然, 当然可以, 可以, 接受吧, 没问题,
        absolutely, accept, accepted, accetto, aceito, acepto, agree, agreed, akceptuje, certainly, deal, gladly, i
        accept, i agree, i do, ich akzeptiere, ich nehme an, it's a deal, j'accepte, ja, of course, ok, okay, oui, si,
        sim, sure, tak, true, with pleasure, y, yeah, yep, yes, yup, да, принимаю, согласен, はい, 同意, 好,
        好的, 我接受, 承諾,
        接受, 是, 是的, 네, 예
    """
    )
)

NO = frozenset(
    _words(
        """
        lo rechazo, 我不接受, 不接受, 我不同意, 不行, 不了,
        decline, declined, false, i decline, i do not accept, i don't accept, i refuse, i reject, ich lehne ab, je
        refuse, n, nah, nao, nein, never, nie, no, no deal, no thank you, no thanks, non, nope, not interested,
        odrzucam, rechazo, recuso, refuse, reject, rejected, rifiuto, нет, отказываюсь, отклоняю, いいえ, 不,
        不同意, 否, 我拒绝,
        拒否, 拒绝, 아니요
    """
    )
)

VALUES: Mapping[str, frozenset[str]] = {"accept": YES, "reject": NO, "decline": NO, "yes": YES, "no": NO}
"""Other words for choices of these names."""

UNITS = (
    r"hours?|hrs?|h|credits?|dollars?|usd|eur|euros?|pln|gbp|pounds?|coins?|points?|bucks|cr|units?|gold"
    r"|money|zl|zloty|zlotych|rub"
    r"|元|円|块|积分|点|руб(?:лей)?|кредит(?:ов|а)?|credit[oi]s?|kredit[eyow]*"
)

LEAD_IN = frozenset(
    _words(
        """
        a, above, all, alright, also, and, answer, are, as, asi, based, below, certainly, conclusion, considering,
        daher, decision, donc, endgultige, everything, final, finally, following, for, formal, hence, here, here's, i,
        i'm, il, im, in, is, json, jury, la, ma, me, mein, meine, meu, mi, mijn, minha, mio, moj, moja, moje, mon, my,
        now, of, official, ok, okay, on, ostateczny, overall, player, private, public, que, quindi, reply, requested,
        required, response, round, secret, so, sure, that, the, then, therefore, this, thus, well, wiec, with, итак,
        мои, моя, 我的, 最终, 私の
    """
    )
)
"""Words that may stand before a label without changing what it says."""

_AUX = (
    r"(?:'ll|will|would|'d|do|hereby|therefore|thus|now|am|'m|shall|must|have to|choose to|decide to"
    r"|decided to|have decided to"
    r"|'ve decided to|want to|would like to|like to|am going to|'m going to|going to|also|officially|formally"
    r"|hence|simply"
    r"|happily|gladly|firmly|strongly|reluctantly|finally|secretly|intend to|need to|should|'ve chosen to|so|,)"
)
_I = rf"\b(?:i|we|im|ill)\s{{0,2}}(?:{_AUX}\s{{1,2}}){{0,4}}"

# nothing, or what is offered: "I accept 450 for it" is another offer
_OFFER = (
    r"(?=[\s*_\"']*(?:[.!,;:\n-]|$|(?:it|this|that (?:offer|trade|deal)|the (?:offer|trade|deal|proposal"
    r"|terms|invitation|exchange)"
    r"|your|his|her|their|an? |because|since|and|to talk|\w+'s)(?!\w)))"
)

SENTENCES: Mapping[str, tuple[str, ...]] = {
    # `§` is the value; `vote` decides for a player, `against` against one
    "vote": (
        rf"{_I}(?:vote|voting)(?: for)? §",
        rf"{_I}cast(?:ing)? (?:my|this) (?:vote|ballot)(?: in favou?r of| for)? §",
        r"\bmy (?:final |official |secret |jury )?(?:vote|ballot) (?:is for|is|goes to|goes for|will be"
        r"|would be|will go to) §",
        r"\bmy (?:final |official |secret |jury )?(?:vote|ballot) (?:would go to|would be for|is cast for"
        r"|falls on|stands with) §",
        r"\b(?:ich )?(?:stimme|votiere|wahle)(?: hiermit| daher| also)?(?: fur)? §",
        r"\bmeine (?:stimme|wahl) (?:geht an|gilt|ist|bekommt|fallt auf) §",
        r"\bje (?:vote|choisis|voterai|vais voter|donne ma voix)(?: pour| a)? §",
        r"\bmon (?:vote|choix) (?:est|va a|va pour|se porte sur|est pour) §",
        r"\b(?:voto|votare|votarei|votero|elijo|escojo|escolho|scelgo)(?: por| a| em| per| no| na)? §",
        r"\b(?:mi|meu|il mio) (?:voto|eleccion|scelta) (?:es|va|vai|e)(?: para| per| a| por| em)? §",
        r"\b(?:glosuje|zaglosuje|wybieram|oddaje(?: moj)? glos)(?: na)? §",
        r"\bmoj glos (?:to|idzie na|oddaje na|pada na|jest na) §",
        r"\bik stem(?: op| voor)? §",
        r"\bя (?:голосую|проголосую|выбираю)(?: за)? §",
        r"\bмой (?:голос|выбор)[ :-]{0,3}(?: за)? §",
        r"我(?:的票)?(?:投票给|投票給|投给|投給|选择|選擇|投|选|的投票是|的选择是) ?§",
    ),
    "against": (
        rf"{_I}(?:vote|voting) (?:against|to eliminate|to remove|to vote out|to evict|out) §",
        rf"{_I}cast(?:ing)? (?:my|this) (?:vote|ballot) (?:against|to eliminate) §",
        rf"{_I}(?:eliminate|remove) §",
        r"\bmy (?:final |official |secret )?(?:vote|ballot) (?:is against|is to eliminate|to eliminate is) §",
        r"\bich stimme (?:gegen|fur den ausschluss von|fur die elimination von) §",
        r"\bje vote (?:contre|pour eliminer|pour l'elimination de) §",
        r"\b(?:voto|votare|votarei) (?:contra|contro|para eliminar a?|por eliminar a|per eliminare"
        r"|pela eliminacao de) §",
        r"\bglosuje (?:przeciw(?:ko)?|za eliminacja|za wyrzuceniem) §",
        r"\bя голосую против §",
        r"我(?:投票)?(?:淘汰|投票淘汰) ?§",
    ),
    "bid": (
        rf"{_I}(?:bid|offer|bidding|raise to|raise my bid to|raise the bid to|open at|open with) §",
        r"\b(?:my|our) (?:final |opening |next )?(?:bid|offer) (?:is|will be|would be|stands at|of) §",
        r"\bich (?:biete|setze) §",
        r"\bmein (?:gebot|angebot) (?:ist|lautet|betragt) §",
        r"\bj'(?:offre|encheris(?: a)?) §",
        r"\bje (?:mise|propose|mets|surencheris a) §",
        r"\bmon (?:offre|enchere) est(?: de)? §",
        r"\b(?:ofrezco|pujo|oferto|apuesto|ofereco|offro|rilancio a|dou um lance de)(?: por)? §",
        r"\b(?:mi oferta|mi puja|minha oferta|meu lance|la mia offerta) (?:es|e)(?: de| di)? §",
        r"\b(?:licytuje|oferuje|daje|moja oferta to) §",
        r"\b(?:я )?(?:ставлю|предлагаю) §",
        r"\bмоя ставка[ :-]{0,3} ?§",
        r"我(?:出价|出價|出|报价|的出价是) ?§",
    ),
    "partner": (
        rf"{_I}(?:approach|talk to|talk with|speak to|speak with|meet with|meet|invite|chat with|whisper to) §",
        rf"{_I}(?:take|pull) § aside\b",
        r"\bich nehme § beiseite\b",
        r"我想(?:和|跟|与|找) ?§ ?(?=私下|单独|谈|聊|说)",
    ),
    "choice": (
        rf"{_I}(?:choose|pick|select|go with|opt for|settle on|go for|going with|going for) §",
        r"\bmy (?:final )?(?:choice|pick|answer|decision|selection) (?:is|would be|will be) §",
        r"\bthe answer is §",
        r"\bich (?:wahle|nehme) §",
        r"\bje choisis §",
        r"我(?:选择|選擇|选) ?§",
    ),
    # the value comes first
    "before": (
        r"§ it is(?=[*_\"' ]{0,3}[.!,\n]|[*_\"' ]{0,3}$)",
        r"§ (?:gets|receives|has|earns) my vote\b",
        r"§ is my (?:vote|choice|pick|answer)\b",
        r"§ ?に投票",
    ),
    "pass": (
        rf"{_I}(?:pass|fold|withdraw|drop out|bow out|sit (?:this|it) (?:one )?out|skip)\b",
        r"\b(?:i'm|we're) out\b",
        r"\b(?:i|we) (?:do not|don't|won't|will not|am not going to)(?: want to| wish to)? bid\b(?! (?:more"
        r"|over|above|higher|than|against|\d|\{))",
        r"\b(?:ich passe|je passe|yo paso|eu passo|io passo|ik pas|пасую)\b",
    ),
    "yes": (rf"{_I}(?:accept|agree)\b{_OFFER}",),
    "no": (
        rf"{_I}(?:decline|reject|refuse)\b{_OFFER}",
        r"\b(?:i|we) (?:do not|don't|won't|will not|cannot|can't|must not)(?: want to)? (?:accept"
        r"|agree)\b(?! (?:with|that))",
    ),
}
"""Sentences of the first person that decide, by what they decide."""

VERB = rf"{_I}§"
"""A choice that is itself the verb: `I'll buy it`."""
