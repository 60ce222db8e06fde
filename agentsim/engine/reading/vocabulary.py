"""Vocabulary: the words by which replies name, decide, refuse and doubt, as data. Small letters, no diacritics (`folding`).

Languages: English, German, French, Spanish, Portuguese, Italian, Dutch, Polish, Russian, Chinese, Japanese, Korean. A word is
added here and nowhere else; how it is looked for stands in `claims` and `doubts`.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["GENERIC", "LABELS", "LEAD_IN", "NO", "NOTHING", "PASS", "REASONS", "SENTENCES", "SPEECH", "THINKING", "UNITS"]
__all__ += ["ASIDES", "VALUES", "WRAPPERS", "YES"]

LABELS: Mapping[str, tuple[str, ...]] = {
    "vote": (
        *("vote", "ballot", "voted for", "vote for", "voting for", "vote to eliminate", "stimme", "votum", "wahl"),
        *("ich stimme fur", "stimme fur", "je vote pour", "voix", "voto", "voto por", "voto per", "mi voto", "meu voto"),
        *("il mio voto", "stem", "glos", "moj glos", "glosuje na", "голос", "мой голос", "голосую за", "投票", "票", "我的投票"),
        *("我投票给", "投票给", "投票先", "투표"),
    ),
    "bid": (
        *("bid", "bid amount", "offer", "gebot", "mein gebot", "angebot", "enchere", "mon enchere", "offre"),
        *("mon offre", "oferta", "mi oferta", "puja", "mi puja", "lance", "meu lance", "offerta", "la mia offerta", "bod"),
        *("ставка", "моя ставка", "出价", "出價", "我的出价", "报价", "入札", "入札額", "입찰"),
    ),
    "partner": ("partner", "approach", "sidebar", "sidebar with", "talk to", "target", "player"),
    "accept": ("accept", "accepted", "response", "reply"),
    "ask": ("ask", "whom", "who"),
    "summary": ("summary", "my summary", "note", "notes", "my note", "my notes", "memory", "notiz", "notatka", "resume"),
    "query": ("query", "my query", "question", "tool"),
}
"""What a field is called besides its own name."""

GENERIC = (
    *("answer", "choice", "decision", "selection", "pick", "response", "verdict", "antwort", "entscheidung"),
    *("auswahl", "wahl", "reponse", "choix", "decision", "respuesta", "eleccion", "resposta", "escolha", "decisao"),
    *("risposta", "scelta", "decisione", "antwoord", "keuze", "odpowiedz", "wybor", "decyzja", "ответ", "выбор", "решение"),
    *("答案", "回答", "选择", "選擇", "决定", "答え", "選択", "決定", "답"),
)
"""What the one field that decides may be called in any question."""

REASONS = (
    *("explanation", "reasoning", "reason", "reasons", "why", "rationale", "justification", "because", "argument"),
    *("begrundung", "grund", "erklarung", "raison", "raisons", "explication", "razon", "razones", "explicacion"),
    *("motivo", "explicacao", "justificativa", "justificacion", "motivazione", "spiegazione", "uzasadnienie", "powod"),
    *("wyjasnienie", "причина", "объяснение", "обоснование", "почему", "理由", "原因", "解释", "解釋", "説明", "이유"),
    *("toelichting", "reden", "uitleg", "note", "comment"),
)
"""What the words beside a decision may be called."""

SPEECH = (
    *("text", "message", "speech", "statement", "words", "content", "answer", "response", "reply", "my pitch", "pitch"),
    *("public", "public statement", "public message", "public speech", "say", "spoken", "said", "output", "final answer"),
    *("final response", "final message", "final pitch", "final"),
)
"""What the words of an answer that is nothing else may be called."""

THINKING = (
    *("thinking", "thoughts", "thought", "thought process", "my thoughts", "my thinking", "internal monologue", "thinks"),
    *("inner monologue", "internal thoughts", "inner thoughts", "private thoughts", "private thought", "scratchpad"),
    *("chain of thought", "reasoning", "internal reasoning", "private reasoning", "internal analysis", "reasoning process"),
    *("internal strategy", "private strategy", "private notes", "notes to self", "note to self", "private", "internal"),
    *("private thinking", "internal thinking", "private analysis", "thinking out loud", "step-by-step reasoning"),
    *("step by step reasoning", "thinking process", "deliberation", "uberlegung", "uberlegungen", "gedanken", "pensee"),
    *("pensees", "reflexion", "pensamiento", "pensamientos", "pensamento", "razonamiento", "raisonnement", "ragionamento"),
    *("pensieri", "mysli", "myslenie", "rozumowanie", "мысли", "размышления", "思考", "思考过程", "推理", "思考过程", "内心独白"),
)
"""Headings of what is not said aloud, where the question has no field of that name."""

ASIDES = (
    *("analysis", "reflection", "strategy", "my strategy", "plan", "my plan", "planning", "rationale", "draft", "hidden"),
    *("why this works", "explanation", "notes", "note", "strategy note", "strategic note", "分析", "analyse", "analisis"),
)
"""Headings of what is no part of an answer in words that has a heading of its own."""

WRAPPERS = frozenset(
    (
        *("answer", "response", "result", "output", "decision", "action", "final", "final_answer", "finalanswer"),
        *("arguments", "parameters", "args", "input", "params", "tool_input", "toolinput", "function", "function_call"),
        *("tool_call", "toolcall", "functioncall", "reply", "data", "json", "make_decision", "content", "message"),
    )
)
"""Keys whose object is the answer, one level of them."""

PASS = frozenset(
    (
        *("pass", "i pass", "i'll pass", "i will pass", "passing", "fold", "i fold", "skip", "withdraw", "i withdraw"),
        *("no bid", "no", "none", "nothing", "null", "nil", "n/a", "drop out", "i drop out", "i'm out", "out", "zero"),
        *("ich passe", "passe", "je passe", "paso", "yo paso", "passo", "eu passo", "io passo", "pas", "pasuje", "ik pas"),
        *("пас", "я пас", "пасую", "放弃", "我放弃", "弃权", "不出价", "我不出价", "过", "跳过", "パス", "パスします", "패스"),
    )
)
"""Answers that stand for a number that is no offer."""

NOTHING = frozenset(
    (
        *("nobody", "no one", "noone", "no-one", "none", "null", "nil", "n/a", "na", "nothing", "no player", "nobody else"),
        *("pass", "skip", "no", "niemand", "keiner", "niemanden", "personne", "aucun", "nadie", "ninguno", "ninguem"),
        *("nessuno", "nikt", "nikogo", "никто", "никого", "没有人", "无人", "无", "没人", "誰も", "なし", "いない", "없음"),
        *("none of them", "no partner", "-", "no trade", "no proposal", "no offer", "i propose nothing", "propose nothing"),
        *("i propose no trade", "no changes", "no action", "do nothing", "i do nothing", "no query", "i pass", "pass"),
    )
)
"""Answers that name none of the others."""

YES = frozenset(
    (
        *("yes", "y", "yeah", "yep", "yup", "true", "accept", "accepted", "i accept", "i do", "i agree", "agree", "agreed"),
        *("sure", "ok", "okay", "of course", "certainly", "absolutely", "gladly", "deal", "it's a deal", "with pleasure"),
        *("ja", "oui", "si", "sim", "tak", "да", "是", "是的", "好", "好的", "同意", "接受", "我接受", "はい", "承諾", "예", "네"),
        *("ich nehme an", "ich akzeptiere", "j'accepte", "acepto", "aceito", "accetto", "akceptuje", "принимаю", "согласен"),
    )
)
NO = frozenset(
    (
        *("no", "n", "nope", "nah", "false", "decline", "declined", "i decline", "reject", "rejected", "i reject"),
        *("i refuse", "refuse", "no deal", "no thanks", "no thank you", "not interested", "i don't accept"),
        *("i do not accept", "never", "nein", "non", "nao", "nie", "нет", "否", "不", "不同意", "拒绝", "我拒绝", "いいえ", "拒否"),
        *("아니요", "ich lehne ab", "je refuse", "rechazo", "recuso", "rifiuto", "odrzucam", "отказываюсь", "отклоняю"),
    )
)

VALUES: Mapping[str, frozenset[str]] = {"accept": YES, "reject": NO, "decline": NO, "yes": YES, "no": NO}
"""Other words for choices of these names."""

UNITS = (
    r"hours?|hrs?|h|credits?|dollars?|usd|eur|euros?|pln|gbp|pounds?|coins?|points?|bucks|cr|units?|gold|money|zl|zloty|zlotych|rub"
    r"|元|円|块|积分|点|руб(?:лей)?|кредит(?:ов|а)?|credit[oi]s?|kredit[eyow]*"
)

LEAD_IN = frozenset(
    (
        *("so", "thus", "hence", "therefore", "and", "then", "here", "here's", "is", "are", "i", "i'm", "im", "my", "the"),
        *("this", "final", "official", "formal", "secret", "private", "jury", "for", "of", "round", "answer", "response"),
        *("reply", "decision", "conclusion", "in", "finally", "ok", "okay", "sure", "certainly", "alright", "below"),
        *("following", "as", "requested", "required", "json", "well", "now", "overall", "based", "on", "all", "that"),
        *("above", "everything", "considering", "also", "player", "with", "a", "public", "below", "me"),
        *("meine", "mein", "endgultige", "daher", "also", "mon", "ma", "donc", "mi", "asi", "que", "meu", "minha", "il", "la"),
        *("mio", "quindi", "moj", "moja", "moje", "ostateczny", "wiec", "mijn", "мои", "моя", "итак", "我的", "最终", "私の"),
    )
)
"""Words that may stand before a label without changing what it says."""

_AUX = (
    r"(?:'ll|will|would|'d|do|hereby|therefore|thus|now|am|'m|shall|must|have to|choose to|decide to|decided to|have decided to"
    r"|'ve decided to|want to|would like to|like to|am going to|'m going to|going to|also|officially|formally|hence|simply"
    r"|happily|gladly|firmly|strongly|reluctantly|finally|secretly|intend to|need to|should|'ve chosen to|so|,)"
)
_I = rf"\b(?:i|we)\s{{0,2}}(?:{_AUX}\s{{1,2}}){{0,4}}"

SENTENCES: Mapping[str, tuple[str, ...]] = {
    # `§` is the value, with which the sentence ends; what decides for somebody stands under `vote`, against under `against`
    "vote": (
        rf"{_I}(?:vote|voting)(?: for)? §",
        rf"{_I}cast(?:ing)? (?:my|this) (?:vote|ballot)(?: in favou?r of| for)? §",
        r"\bmy (?:final |official |secret |jury )?(?:vote|ballot) (?:is for|is|goes to|goes for|will be|would be|will go to) §",
        r"\bmy (?:final |official |secret |jury )?(?:vote|ballot) (?:would go to|would be for|is cast for|falls on|stands with) §",
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
        r"\b(?:voto|votare|votarei) (?:contra|contro|para eliminar a?|por eliminar a|per eliminare|pela eliminacao de) §",
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
    ),
    "choice": (
        rf"{_I}(?:choose|pick|select|go with|opt for|settle on|go for) §",
        r"\bmy (?:final )?(?:choice|pick|answer|decision|selection) (?:is|would be|will be) §",
        r"\bthe answer is §",
        r"\bich (?:wahle|nehme) §",
        r"\bje choisis §",
        r"我(?:选择|選擇|选) ?§",
    ),
    # the value comes first
    "before": (r"§ it is(?=[*_\"' ]{0,3}[.!,\n]|[*_\"' ]{0,3}\Z)", r"§ (?:gets|receives|has|earns) my vote\b", r"§ is my (?:vote|choice|pick|answer)\b", r"§ ?に投票"),
    "pass": (
        rf"{_I}(?:pass|fold|withdraw|drop out|bow out|sit (?:this|it) (?:one )?out|skip)\b",
        r"\b(?:i'm|we're) out\b",
        r"\b(?:i|we) (?:do not|don't|won't|will not|am not going to)(?: want to| wish to)? bid\b(?! (?:more|over|above|higher|than|against|\d|\{))",
        r"\b(?:ich passe|je passe|yo paso|eu passo|io passo|ik pas|пасую)\b",
    ),
    "yes": (rf"{_I}(?:accept|agree)\b(?! (?:with|that))",),
    "no": (
        rf"{_I}(?:decline|reject|refuse)\b(?! to (?:answer|say))",
        r"\b(?:i|we) (?:do not|don't|won't|will not|cannot|can't|must not)(?: want to)? (?:accept|agree)\b(?! (?:with|that))",
    ),
}
"""Sentences of the first person that decide, by what they decide."""

VERB = rf"{_I}§"
"""A choice that is itself the verb: `I'll buy it`."""
