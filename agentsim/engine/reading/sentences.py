"""Sentences: those of the first person that decide, as data, in the languages of `vocabulary`, and where they stand.

What a sentence claims is `claims`' business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from agentsim.engine.reading.text import MOST_CLAIMS, bounded, folded
from agentsim.engine.reading.vocabulary import any_begun, any_phrase

_AUX = any_phrase(r"""
    'll; will; would; 'd; do; hereby; therefore; thus; now; am; 'm; shall; must; have to; choose to; decide to
    ; decided to; have decided to; 've decided to; want to; would like to; like to; am going to; 'm going to; going to
    ; also; officially; formally; hence; simply; happily; gladly; firmly; strongly; reluctantly; finally; secretly
    ; intend to; need to; should; 've chosen to; so; ,
""")
FIRST_PERSON = rf"\b(?:i|we|im|ill)(?=\s{{0,2}}[\w',])\s{{0,2}}(?:{_AUX}\s{{1,2}}){{0,4}}"
"""How sentences of the first person begin, up to their verb."""

# nothing, or what is offered: "I accept 450 for it" is another offer
_OFFER = (
    r"(?=[\s*_\"']*(?:[.!,;:\n-]|$|(?:it|this|(?:that|the|your|his|her|their) (?:offer|trade|deal|proposal"
    r"|terms|invitation|exchange)|because|since|and|to talk|\w+'s)(?!\w)))"
)

_ENDS = r"[\s*_\"')]*(?:[.!,;:\n-]|$|"
# what a pass may be of: "I'm out of words" is none
_OF_IT = (
    rf"(?={_ENDS}(?:on (?:this|it|that)|this (?:one|time|round|item|lot|auction)|from (?:this|the|it)|here"
    r"|for (?:now|this)|because|since|now|again)\b))"
)
DONE = (
    rf"(?={_ENDS}(?:it|this(?: \w+)?|now|please|because|since|for (?:it|doubles|\$?\d+)"
    r"|the (?:property|deed|dice|fine|card|space|lot|railroad|utility|street)|50|\$50)\b))"
)
"""What may follow a verb that decides: nothing, or what it is done to: "I roll my eyes" rolls no dice."""

SENTENCES: Mapping[str, tuple[str, ...]] = {
    # `§` is the value; `vote` decides for a player, `against` against one
    "vote": (
        rf"{FIRST_PERSON}(?:vote|voting)(?: for)? §",
        rf"{FIRST_PERSON}cast(?:ing)? (?:my|this) (?:vote|ballot)(?: in favou?r of| for)? §",
        r"\bmy (?:final |official |secret |jury )?(?:vote|ballot)(?: for (?:the )?winner)? (?:is for|is"
        r"|goes to|goes for|will be|would be|will go to) §",
        r"\bmy (?:final |official |secret |jury )?(?:vote|ballot) (?:would go to|would be for|is cast for"
        r"|falls on|stands with) §",
        r"(?:^|\n|[.!?]\s)\W{0,3}vote(?=\s)(?: for)? §",
        r"\b(?:ich )?(?:stimme|votiere|wahle)(?: hiermit| daher| also)?(?: fur)? §",
        r"\bmeine (?:stimme|wahl) (?:geht an|gilt|ist|bekommt|fallt auf) §",
        r"\bje (?:vote|choisis|voterai|vais voter|donne ma voix)(?: pour| a)? §",
        r"\bma voix va a §",
        r"\bmon (?:vote|choix) (?:est|va a|va pour|se porte sur|est pour) §",
        r"\b(?:voto|votare|votarei|votero|elijo|escojo|escolho|scelgo)(?: por| a| em| per| no| na)? §",
        r"\b(?:mi|meu|il mio) (?:voto|eleccion|scelta) (?:es|va|vai|e)(?: para| per| a| por| em| no| na)? §",
        r"\b(?:glosuje|zaglosuje|wybieram|oddaje(?: moj)? glos)(?: na)? §",
        r"\bmoj glos (?:to|idzie na|oddaje na|pada na|jest na) §",
        r"\bik stem(?: op| voor)? §",
        r"\bя (?:голосую|проголосую|выбираю)(?: за)? §",
        r"\bмой (?:голос|выбор)[ :-]{0,3}(?: за)? §",
        r"我(?:的票)?(?:投票给|投票給|投给|投給|选择|選擇|投|选|的投票是|的选择是) ?§",
    ),
    "against": (
        rf"{FIRST_PERSON}(?:vote|voting) (?:against|to eliminate|to remove|to vote out|to evict|out) §",
        rf"{FIRST_PERSON}cast(?:ing)? (?:my|this) (?:vote|ballot) (?:against|to eliminate) §",
        rf"{FIRST_PERSON}(?:eliminate|remove) §",
        r"\blet(?: us|'s) (?:eliminate|remove|vote out) §",
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
        rf"{FIRST_PERSON}(?:bid|offer|bidding|raise to|raise my bid to|raise the bid to|open at|open with) §",
        r"\b(?:my|our) (?:final |opening |next )?(?:bid|offer) (?:is|will be|would be|stands at|of) §",
        r"(?:^|\n|[.!?]\s)\W{0,3}(?:raise to|bid)(?=\s) §",
        r"\bfinal (?:bid|offer)(?=\s+[$\d]) §",
        r"\b(?:ich (?:biete|setze)|ik bied) §",
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
        rf"{FIRST_PERSON}(?:approach|talk (?:to|with)|speak (?:to|with)|meet with|meet|invite|chat with|whisper to) §",
        rf"{FIRST_PERSON}(?:take|pull) § aside\b",
        r"\bich nehme § beiseite\b",
        r"我想(?:和|跟|与|找) ?§ ?(?=私下|单独|谈|聊|说)",
    ),
    "choice": (
        rf"{FIRST_PERSON}(?:choose|pick|select|go with|opt for|settle on|go for|going with|going for) §",
        r"\bmy (?:final )?(?:choice|pick|answer|decision|selection) (?:is|would be|will be) §",
        r"\bthe answer is §",
        r"\bich (?:wahle|nehme) §",
        r"\bje choisis §",
        r"我(?:选择|選擇|选) ?§",
    ),
    # the value comes first
    "before": (
        r"§ it is(?=[*_\"' ]{0,3}[.!,\n]|[*_\"' ]{0,3}$)",
        r"§ (?:gets|receives|has|earns) my vote\b(?! of)",
        r"§ is my (?:vote|choice|pick|answer)\b",
        r"§ is the one i'm voting for",
        r"§ ?に投票(?!し(?:ません|ない))",
        r"§ ?에게 투표(?!하지)",
    ),
    "pass": (
        r"\bi(?:'d| would) rather not (?:take|talk|approach|propose|bid|meet)\b",
        rf"{FIRST_PERSON}(?:pass|fold|withdraw|drop out|bow out|sit (?:this|it) (?:one )?out|skip)\b{_OF_IT}",
        rf"\b(?:i'm|we're|i am|we are) out\b{_OF_IT}",
        r"\b(?:i|we) (?:do not|don't|won't|will not|am not going to)(?: want to| wish to)? bid\b(?! (?:more"
        r"|over|above|higher|than|against|\d|\{))",
        r"\b(?:ich passe|je passe|yo paso|eu passo|io passo|ik pas|пасую)\b",
    ),
    "yes": (
        rf"{FIRST_PERSON}(?:accept|agree)\b{_OFFER}",
        r"\b(?:j'accepte|acepto|aceito|accetto|akceptuje|принимаю|ich akzeptiere|ik accepteer"
        r"|ich nehme (?:es |das |das angebot )?an)\b(?! que| che| ze)",
        r"(?:我接受|承諾します|수락합니다)(?=\W|$)",
    ),
    "no": (
        r"\b(?:je (?:refuse|rejette|decline)|rechazo|recuso|rifiuto|odrzucam|отклоняю|ich lehne"
        r"|ik weiger)\b(?! que| che| de)",
        r"(?:我拒绝|拒否します|거절합니다)(?=\W|$)",
        rf"{FIRST_PERSON}(?:decline|reject|refuse)\b{_OFFER}",
        r"\b(?:i|we) (?:do not|don't|won't|will not|cannot|can't|must not)(?: want to)? (?:accept"
        r"|agree)\b(?! (?:with|that))",
    ),
}
"""Sentences of the first person that decide, by what they decide."""

VERB = rf"{FIRST_PERSON}§"
"""A choice that is itself the verb: `I'll buy it`."""


_WORD = r"[^\s.,;:!?]{1,40}"
_VALUE = re.compile(rf"{_WORD}+(?: {_WORD}+)?\Z")
_LONGEST = 2 * 40 + 1  # characters of a value before a verb
_EDGE = r"\b"
_ME = FIRST_PERSON.removeprefix(_EDGE)
_MOST_BEGINNINGS = 3 * MOST_CLAIMS


class _Phrase(NamedTuple):
    """A sentence as it is looked for; `verb` follows the value where that comes first."""

    whole: re.Pattern[str]
    begins: str
    verb: re.Pattern[str] | None


def said(plain: str, sentences: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Which of the sentences are said, each by its place among them, and where: as if each were searched for alone.

    `§` in a sentence is its value, the group of that name.
    """
    starts: list[int] | None = None
    for place, sentence in enumerate(sentences):
        phrase = _phrase(sentence)
        if phrase.verb is not None:
            found = _behind_values(plain, phrase.whole, phrase.verb)
        elif not phrase.begins:
            found = phrase.whole.finditer(plain)
        else:
            if starts is None:
                scan = _beginnings(tuple(sentences))
                starts = [each.start() for each in bounded(scan.finditer(plain), _MOST_BEGINNINGS)]
            found = _from(plain, phrase.whole, starts)
        for match in found:
            yield place, match


def _from(plain: str, whole: re.Pattern[str], starts: Sequence[int]) -> Iterator[re.Match[str]]:
    position = 0
    for start in starts:
        if start >= position and (match := whole.match(plain, start)):
            position = match.end()
            yield match


def _behind_values(plain: str, whole: re.Pattern[str], verb: re.Pattern[str]) -> Iterator[re.Match[str]]:
    position = 0
    for each in bounded(verb.finditer(plain), _MOST_BEGINNINGS):
        value = _VALUE.search(plain, max(position, each.start() - _LONGEST), each.start())
        if value is not None and (match := whole.match(plain, value.start())):
            position = match.end()
            yield match


@cache
def _phrase(sentence: str) -> _Phrase:
    # an escape is no text: folded, `\W` would be `\w`
    plain = "".join(part if part.startswith("\\") else folded(part) for part in re.split(r"(\\.)", sentence))
    before, slot, after = plain.partition("§")
    if slot and not before:
        return _Phrase(re.compile(rf"(?P<value>{_WORD}(?: {_WORD})?){after}"), "", re.compile(after))
    whole = before
    if slot and after:
        whole = rf"{before}(?P<value>{_WORD}?(?: {_WORD}?)??){after}"
    elif slot:
        # the value begins a word of its own; where words have no blanks between them, anywhere
        before = before.rstrip()
        whole = rf"{before}(?!(?<=[a-zа-я])[a-zа-я])(?P<value>[^\n]{{1,160}})"
    return _Phrase(re.compile(whole), before if before.startswith(_EDGE) else "", None)


@cache
def _beginnings(sentences: tuple[str, ...]) -> re.Pattern[str]:
    """Where one of the sentences may begin that begin with a word."""
    begins = [begins.removeprefix(_EDGE) for sentence in sentences if (begins := _phrase(sentence).begins)]
    mine = [each for each in begins if each.startswith(_ME)]
    either = [any_begun(each for each in begins if not each.startswith(_ME))]
    if mine:  # begin alike
        either.append(f"{_ME}(?:{'|'.join(each.removeprefix(_ME) for each in mine)})")
    return re.compile(rf"\b(?=\w)(?={'|'.join(filter(None, either))})")
