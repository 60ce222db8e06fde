"""The fields of an answer: the names that a reply may use for each, and the values that its words and numbers mean.

A value is a name on a list, a whole number, yes or no. `player c` and `**C**.` mean the choice `C`, `$12` and
`12 credits` the number 12, `deal` yes. The rules are the same for every field of every game.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from pydantic_core import PydanticCustomError

from agentsim.engine.decision import Real, whole
from agentsim.engine.letters import composed
from agentsim.engine.options import MISSING, Kind, LegalValues, Synonyms
from agentsim.engine.reading.text import BLANK, bare, cased, compact, folded, listed, spaced, uncrossed, untitled
from agentsim.patterns import Pattern

# -- names of fields

_NAMES: Mapping[str, tuple[str, ...]] = {
    "vote": listed("vote for, ballot"),
    "bid": listed("bid amount, offer"),
    "public speech": listed("""
        public, speech, say, said, aloud, to the table, spoken, comment, comments, table talk, talk, chat, dialogue,
        banter, quip, line, announcement
    """),
    "private thought": listed("private thoughts, private, thought, thoughts"),
    "partner": listed("approach, sidebar, sidebar with, talk to, target, player"),
    "accept": listed("accepted, response, reply"),
    "ask": listed("whom, who"),
    "summary": listed("note, notes, memory"),
    "query": listed("question, tool"),
    "content": listed("text, message, body, post, words, speech, statement, comment"),
}
"""Other names of a field, by its own."""
_PRIVATE = Pattern(
    r"memory|think|thought|reason|plan|analy|reflect|scratch|strateg|explan|private|secret|note", re.IGNORECASE
)


def is_private_field(name: str) -> bool:
    """Return whether a name is that of words that no other player hears: a memory, a thought, a reason."""
    return _PRIVATE.search(name) is not None


def other_names(name: str) -> tuple[str, ...]:
    """Return the folded names that a field of this name may have besides its own."""
    return _NAMES.get(spaced(name), ())


GENERIC = listed("answer, final, final answer, choice, decision, selection, pick, response, verdict")
"""Names that the only deciding field has in any question."""

REASONS = listed("explanation, reasoning, reason, reasons, why, rationale, justification, because, argument")
"""Names of the words that explain a decision."""

REASON_FIELDS = REASONS[:3]

SPEECH = listed("""
    text, message, speech, statement, words, content, answer, response, reply, my pitch, pitch, public,
    public statement, public message, public speech, say, spoken, said, output, final answer, final response,
    final message, final pitch, final, final version, final draft, revised, revised version, speak, spoken words,
    utterance, remark, 发言, 发言内容, 公开发言, 最终发言, 演讲,
    演说, 陈述, 回答, 回复, 答复, 说, 公开, 発言, 発言内容, スピーチ, 返答, 返事, 발언, 발언 내용, 연설, 답변, 대답,
    rede, ansprache,
    aussage, wortmeldung, antwort, discours, reponse, declaration, discurso, respuesta, declaracion, resposta,
    declaracao,
    discorso, risposta, dichiarazione, речь, ответ, выступление, сообщение, wypowiedz, przemowa, odpowiedz, toespraak,
    antwoord,
    konusma, cevap
""")
"""Names of the words in an answer that is nothing else."""

INNER_KEYS = frozenset(
    listed("""
    id, name, player, value, choice, candidate, target, answer, team, amount, number, bid, player_id, playerid, vote,
    type, action, credits, partner, selected
""")
)
"""Keys of a value within an object that stands for it: `{"id": "C", "note": "..."}` means `C`."""

# -- words for values

_YES = frozenset(
    listed("""
    accept, accepted, agree, agreed, certainly, deal, gladly, of course, ok, okay, sure, true, with pleasure, y, yeah,
    yep, yes, yup, ja, oui, si, sim, tak, да, はい, 是, 是的, 好, 好的, 可以, 同意, 接受, 네, 예
""")
)
_NO = frozenset(
    listed("""
    decline, declined, false, n, nah, never, no, no deal, no thanks, nope, not interested, refuse, reject, rejected,
    nein, non, nao, nie, нет, いいえ, 不, 否, 不同意, 不接受, 拒绝, 拒否, 아니요
""")
)
_CHOICES = {"accept": _YES, "reject": _NO, "decline": _NO, "yes": _YES, "no": _NO}
_NO_NUMBER = frozenset(
    listed("""
    drop out, fold, n/a, nil, no, no bid, none, nothing, null, out, pass, passing, skip, withdraw, zero, passe, passo,
    paso, pas, pasuje, пас, пасую, パス, 放弃, 弃权, 不出价, 跳过, 过, 패스
""")
)
"""Words that make no offer, in the place of a number."""
_NOTHING = frozenset(
    listed("""
    -, do nothing, n/a, na, nil, no, no action, no changes, no offer, no one, no partner, no player, no proposal,
    no query, no trade, no-one, nobody, none, none of them, noone, nothing, null, pass, skip, niemand, personne, nadie,
    ninguem, nessuno, nikt, никто, 無, 无, 无人, 没有人, なし, 없음
""")
)
"""Words for none of the choices, or for doing nothing."""

_UNITS = (
    r"hours?|hrs?|h|credits?|dollars?|usd|eur|euros?|pln|gbp|pounds?|coins?|points?|bucks|cr|units?|gold|money|zl|zloty"
    r"|zlotych|rub|元|円|块|积分|点|руб(?:лей)?|кредит(?:ов|а)?|cr[eé]dit[oi]?s?|kredit[eyow]*"
)
_UNIT_BEHIND = Pattern(rf"(?P<number>.*\d)\s*(?:{_UNITS})", re.IGNORECASE)
_UNIT_BEFORE = Pattern(
    r"(?:usd|eur|gbp|pln|us\$|cr\.?|#|(?:agent|proposal|post|law|project|id)[\s_]*#?)\s*(?P<number>\d.*)", re.IGNORECASE
)
_ADVERBS = Pattern(
    r"[\s,]+(?:this (?:time|round|turn|one)|for now|now|today|tonight|again|please|thanks?|thank you|danke|merci"
    r"|gracias|obrigad[oa]|grazie|dziekuje|спасибо)$"
)

_LONGEST = 400  # characters of a name or a number with its decoration; longer texts are neither
_AROUND = f"*_`{BLANK}"
_NO_NAMES: Final[frozenset[str]] = frozenset()
_BETWEEN = Pattern(r"\s*(?:[,;>\n]|\band\b|(?<=\S)\s+-\s+(?=\S))\s*")
_PAIRS = {('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("[", "]"), ("(", ")"), ("<", ">")}


def inner(given: Any) -> Any:
    """Return the value in a list of one, or in an object that stands for it: `C` for `["C"]` and `{"id": "C"}`.

    Such an object has one value under the keys of `INNER_KEYS`, or an `id`, and else only strings. Anything else is
    returned as it is.
    """
    if isinstance(given, list) and len(given) == 1:
        return inner(given[0])
    if not isinstance(given, Mapping):
        return given
    known: dict[str, Any] = {}
    others = []
    for name, value in given.items():
        if (key := folded(name).strip()) in INNER_KEYS:
            known[key] = value
        else:
            others.append(value)
    plain = all(isinstance(value, (str, int, float)) and not isinstance(value, bool) for value in known.values())
    if not plain or not all(isinstance(value, str) for value in others):
        return given
    alike = {str(value) for value in known.values()}
    return known["id"] if "id" in known else known.popitem()[1] if len(alike) == 1 else given


def named(given: str, names: Iterable[str]) -> str | None:
    """Return the one name that a text means, or None if it means none or several.

    An exact match wins. Else names are compared in five ways, and the first that matches any name decides: without case
    and decoration (`**ana**`); also without accents; without a title (`player ana`); without separators (`player_1`);
    without both. A text that begins with `-` or `!` means none.
    """
    known, exact = tuple(names), given.strip()
    return exact if exact in known else _named(exact, _word(exact), known)


def _named(given: str, word: str, known: tuple[str, ...]) -> str | None:
    if not word or word[0] in "-!":
        return None
    short, (spelled, plain, shorter, joined, shortest) = untitled(word), _alike(known)
    levels = (
        spelled.get(word if given.isascii() else bare(cased(given)), _NO_NAMES),
        plain.get(word, _NO_NAMES),
        plain.get(short, _NO_NAMES) | shorter.get(word, _NO_NAMES),
        joined.get(compact(word), _NO_NAMES) | joined.get(compact(short), _NO_NAMES),
        shortest.get(compact(short), _NO_NAMES),
    )
    found = next(filter(None, levels), _NO_NAMES)
    return next(iter(found)) if len(found) == 1 else None


@lru_cache(256)
def _alike(known: tuple[str, ...]) -> tuple[dict[str, frozenset[str]], ...]:
    """Index names by their forms in the five comparisons of `named`."""
    found: tuple[dict[str, frozenset[str]], ...] = ({}, {}, {}, {}, {})
    for name in known:
        plain = _word(name)
        short = untitled(plain)
        forms = (bare(cased(name)), plain, short, compact(plain), compact(short))
        for names, left in zip(found, forms, strict=True):
            names[left] = names.get(left, _NO_NAMES) | {name}
    return found


def _word(given: str) -> str:
    """Fold a name or number and strip its decoration; return "" if it is longer than `_LONGEST`.

    A word that says no loses the cross behind it: `No ❌` is `no`.
    """
    if len(given) > _LONGEST:
        return ""
    given = composed(given)
    word = bare(folded(given))
    if word.startswith("!") and (said := uncrossed(given)) and bare(folded(said)) in _NO | _NO_NUMBER:
        return bare(folded(said))
    return word


def chosen(given: Any, values: Sequence[Any], if_null: Any = MISSING, synonyms: Synonyms | None = None) -> Any:
    """Return the choice that JSON or a text means, or `MISSING`; null, false and "nobody" mean `if_null`.

    Choices are compared as in `named`, then with `synonyms`, then with words for yes and no (`deal` means `accept`).
    If None is one of the values, null and "nobody" mean that.
    """
    given = given if isinstance(given, str) else inner(given)
    if_null = if_null if if_null in values or not values else MISSING  # null means `if_null` only if that is legal
    if given is None or given is False:
        return None if given is None and None in values else if_null
    if isinstance(given, int) and not isinstance(given, bool):
        return given if given in values else chosen(str(given), values, if_null, synonyms)
    if not isinstance(given, str):
        return MISSING
    by_name = {str(value): value for value in values if value is not None}
    word, exact = _word(given.strip()), given.strip()
    name = exact if exact in by_name else _named(exact, word, tuple(by_name))
    if name is not None:
        return by_name[name]
    word = _ADVERBS.sub("", word)
    for words_for in (synonyms or {}, _CHOICES):
        for value, words in words_for.items():
            if value in by_name and word in words:
                return by_name[value]
    if word in _NOTHING:
        return None if None in values else if_null
    return MISSING


def amount(given: Any, if_null: Any = MISSING) -> Any:
    """Return the whole number that JSON or a text means, or `MISSING`: 12 for `$12` and `12 credits`.

    Null and "pass" mean `if_null`.
    """
    given = inner(given)
    if given is None or given is False:
        return if_null if given is None else MISSING
    if isinstance(given, (int, Real)):
        return _whole(given)
    text = given.strip(_AROUND) if isinstance(given, str) else ""
    if not text or len(text) > _LONGEST:
        return MISSING
    text = re.sub(r"[.!]$", "", text)
    while len(text) > 1 and (text[0], text[-1]) in _PAIRS:
        text = re.sub(r"[.!]$", "", text[1:-1].strip("*_` \n"))
    if _ADVERBS.sub("", _word(text)) in _NO_NUMBER:
        return if_null
    text = re.sub(r"^(?:bid|offer|raise to)\s+(?=\S*\d)", "", text, flags=re.IGNORECASE)
    for unit in (_UNIT_BEHIND, _UNIT_BEFORE):
        if match := unit.fullmatch(text):
            text = match["number"].strip()
    return _whole(_in_plain_digits(text))


_COMMAS = {"，": ",", "٬": ","}


def _in_plain_digits(text: str) -> str:
    """Return a text with the decimal digits of any script as ASCII ones: `１５０` is 150, and `15²` stays."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(sign)) if sign.isdecimal() else _COMMAS.get(sign, sign) for sign in text)


def _whole(value: Any) -> Any:
    try:
        return whole(value)
    except PydanticCustomError:
        return MISSING


def yes_or_no(given: Any) -> Any:
    """Return the truth value that JSON or a word means (`deal` is True), or `MISSING`."""
    given = inner(given)
    if isinstance(given, int) and given in {0, 1}:
        return bool(given)
    word = _ADVERBS.sub("", _word(given.strip())) if isinstance(given, str) else ""
    return True if word in _YES else False if word in _NO else MISSING


def several(given: Any, values: Sequence[Any], if_null: Any = MISSING, synonyms: Synonyms | None = None) -> Any:
    """Return the values of a list, also of one in words (`A, C and B`); null, false and "nobody" mean `if_null`.

    An entry that means none of the values stays as it is. At most one entry more than there are values is read.
    """
    given = None if given is False else given
    if given is None or (isinstance(given, str) and _word(given.strip()) in _NOTHING):
        return if_null
    if isinstance(given, str):
        given = [part for part in _parted(given[:_LONGEST].strip("[]() \n"), values) if part.strip()]
    if not isinstance(given, list):
        given = [given]
    meant = [(each, chosen(each, values, MISSING, synonyms)) for each in given[: len(values) + 1]]
    return [each if found is MISSING else found for each, found in meant]


def _parted(text: str, values: Sequence[Any]) -> Iterator[str]:
    """Yield the entries of a list that is written out; a value that itself holds `and` stays whole."""
    joint = sorted({folded(str(value)) for value in values if _BETWEEN.search(str(value))}, key=len, reverse=True)
    plain, start = folded(text), 0
    while joint and (found := re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, joint))})(?!\w)").search(plain, start)):
        yield from _BETWEEN.split(text[start : found.start()])
        yield text[found.start() : found.end()]
        start = found.end()
    yield from _BETWEEN.split(text[start:])


def is_no_number(value: Any) -> bool:
    """Return whether a value is NaN or holds one."""
    value = list(value.values()) if isinstance(value, Mapping) else value
    return any(map(is_no_number, value)) if isinstance(value, list) else value != value  # noqa: PLR0124 - NaN is not itself


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an answer: its path (`action.bid`), its option, and the value that null means."""

    path: str
    option: LegalValues
    if_null: Any = MISSING
    synonyms: Synonyms | None = None
    known: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The values of texts that were read already: a reply repeats many."""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    @property
    def kind(self) -> Kind:
        return self.option.kind

    @property
    def values(self) -> Sequence[Any]:
        """The legal values of a choice or a list; empty for other kinds."""
        return self.option.values if self.kind in {"choice", "list"} else ()

    @property
    def decides(self) -> bool:
        """True if the field is a decision of its own: a choice, a number, or yes or no."""
        return self.kind in {"choice", "number", "yes_no"}

    def read(self, given: Any) -> Any:
        """Return the legal value that is meant, or `MISSING`."""
        if not isinstance(given, str):
            return self.option.read(given, self.if_null, self.synonyms)
        if given not in self.known:
            self.known[given] = self.option.read(given, self.if_null, self.synonyms)
        return self.known[given]


def fields_of(
    parts: Mapping[str, LegalValues], null_values: Mapping[str, Any], synonyms: Synonyms, path: str = ""
) -> Iterator[Field]:
    """Yield every field, each record's own fields behind it; fields within lists and variants are left out."""
    for name, option in parts.items():
        own_path = f"{path}{name}"
        yield Field(own_path, option, null_values.get(own_path, MISSING), synonyms)
        yield from fields_of(option.parts or {}, null_values, synonyms, f"{own_path}.")


def names_of(fields: Sequence[Field], kind: str) -> dict[str, tuple[str, ...]]:
    """Return the folded names of each field by path, its own first; `kind` is that of the question.

    A name that is another field's own is left out. The only words that others hear may have any name of `SPEECH` that
    no other field has: `{"action": "buy", "message": "Mine!"}`.
    """
    deciding = [each.path for each in fields if each.decides]
    speech = not deciding and sum(each.kind == "words" for each in fields) == 1
    speech = speech and not any(each.kind == "variant" for each in fields)
    own = {each.path: spaced(each.name) for each in fields}
    owner = {own[each.path]: each.path for each in fields if each.kind != "record"}
    found: dict[str, tuple[str, ...]] = {}
    for each in fields:
        name = own[each.path]
        names = [name, *_NAMES.get(name, ())]
        if deciding == [each.path]:
            names += [*GENERIC, *map(spaced, each.path.split(".")[:-1])]
        if each.kind == "words" and name in REASON_FIELDS:
            names += REASONS
        elif each.kind == "words" and speech:
            names += [spaced(kind), *_NAMES.get(kind, ()), *SPEECH]
        found[each.path] = tuple(dict.fromkeys(name for name in names if owner.get(name, each.path) == each.path))
    heard = [
        each.path
        for each in fields
        if each.kind == "words" and "." not in each.path and not is_private_field(each.name)
    ]
    if len(heard) == 1 and not speech:
        taken = {name for path, names in found.items() if path != heard[0] for name in (own[path], *names)}
        found[heard[0]] = tuple(dict.fromkeys((*found[heard[0]], *(name for name in SPEECH if name not in taken))))
    return found
