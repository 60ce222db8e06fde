"""Doubts: whether the words around a decision turn it around: deny it, quote it, condition it, take it back.

Words count in the clause of the decision, or as a retraction behind it; what an explanation says besides does not. To
ask again costs one call, and a decision that was not meant costs the game. All texts here are folded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeAlias

from agentsim.engine.reading.vocabulary import any_phrase, any_word

Doubt: TypeAlias = Literal["", "before", "after"]
"""Where the words stand that make a decision doubtful, if any do."""

_WIDEST = 240  # characters before a decision that are its clause at most
_OF_ITS_OWN = re.compile(r"[:=\ufffc]")  # a line with a label or an object announces no other
_IN_A_BLOCK = re.compile(r"\s*+>")  # of a quotation
_CLAUSE_BEGINS = re.compile(r"[.!?;](?=[\s\"')*_])|\n\s*\n")


_FILLERS = any_word(r"""
    to; ever; just; simply; want; going; be; do; give; giving; say; saying; write; writing; answer; answering
    ; reply; replying; respond; send; vote; voting; cast; follow; obey; with; by; as; the; a(?= \w{2}); this; that
    ; my; your
    ; is; format; for; bid; bidding; offer; choose; output; would; will; could; should; did; do; can; shall; have
    ; am
""")
_DENIED = any_word(r"""
    not; never; no; cannot; refus\w{1,4}; declin\w{1,4}; without; against; anything but; anyone but; rather than
    ; instead of; non; nao; nicht; kein\w{0,2}; jamais; nunca; jamas; mai; nigdy; nie; никогда; не
""")
_NEGATED = re.compile(rf"(?:{_DENIED}|n't|不|別|别|没)(?:[^\w.!?]+{_FILLERS})*[^\w.!?]*$")
_SPEAKING = any_word(r"""
    told; says; said; (?:they|others|people) say; asks? (?:me|us); asked (?:me|us|for|that|everyone); wrote
    ; writes?; posted; sent; wants?; wanted; suggest\w*; claim\w*; propos(?:es|ed); promis\w*; urg(?:es|ed)
    ; begg?(?:s|ed); orders?; ordered; instruct(?:s|ed); demand\w*; recommend\w*; advis\w*; tells?; quot\w*
    ; repeat\w*; according to; announce[sd]?; whisper\w*; shout\w*; pitch was; sagte; sagt; schrieb; dit; disait
    ; dijo; dice; disse; powiedzial\w*; napisal\w*; сказал\w*; написал\w*
""")
_SHOWING = r"""
    examples?; e\.g; for instance; template; sample; placeholder; should look like; would look like; looks like
    ; something like; such as; must be given as; has to be given as; valid (?:answers?|repl\w+|votes?|bids?)
    ; options? (?:is|are|include)
    ; (?:rules?|prompt|schema|system|game|instructions?) (?:wants?|says?|said|demands?|expects?|asks?|requires?|shows?)
    ; beispiel; exemple; ejemplo; exemplo; esempio; przyklad\w*; пример\w*
"""
_FORMAT = re.compile(any_word("format; schema; structure; form; shape; layout"))
_ANSWERED = re.compile(
    rf"\b(?:in|using|with|following|per|to|under|match\w*|into)\b[^.\n]{{0,60}}{_FORMAT.pattern}|\bmy\b"
)
_PAST = r"(?:last|previous|earlier|prior) (?:round|turn|time|iteration|vote|item|auction|day|game|lot)"
_FUTURE = r"""
    (?:next|later|future) (?:round|turn|time|iteration|vote|item|auction|day|game|lot)s?; tomorrow; soon; later
    ; in round \d+,? i; prochaine?; demain; proxim[ao]; manana; amanha; domani; prossim[ao]; morgen; nachste\w*
    ; nastepn\w*; jutro; следующ\w*; завтра
"""
_SUPPOSING = rf"""
    if; unless; in case; provided that; assuming; suppose; supposing; were (?:i|it|we|he|she|they)
    ; had (?:i|it|we); whether; until; before; falls; wenn; sinon; jesli; jezeli; gdyby; если
    ; (?<!what i )would (?:say|have|write|answer); could (?:say|have|write|also); might; maybe; perhaps; possibly
    ; tempted to; was going to; were going to; used to; almost; thought about; thinking (?:of|about); could answer
    ; may expect; might expect; considered; considering whether; {_PAST}; previously; yesterday; {_FUTURE}
    ; imagine; let's say; lets say; assume; in theory; theoretically; hypothetically; what if; pretend\w*
    ; i (?:tell|told|promise|promised) \w+; under no circumstances; at no point; by no means
    ; in no (?:universe|world|way|case); on no account; hardly; scarcely
    ; (?:it is|it's) (?:false|untrue|wrong|not true) that; i doubt; i hate (?:that|to); wrong answer
    ; (?:a )?mistake to; round \d+[ \t]*$
"""
# words before a decision that make it another's, an example, or a condition
_TURNED = re.compile(
    rf"{any_word(_SHOWING + ';' + _SUPPOSING)}|\b(?={_SPEAKING})(?<!\bi )(?<!\byou )(?<!\bi've )(?<!\bas )(?<!'ve )"
    r"|'s (?:pitch|plan|line|vote|bid|message|note|ballot|reply|answer|post)\s*(?::|is|was|will|would|reads?|says?)"
    r"|\b(?:reads|votes)\s?:|options:"
    r"|说[:，,\s]|說|と言|比如|例如|例えば|示例|格式|如果|もし|要是|下一?[轮次回]|明天|次回|来期"
)
_SPOKEN_OF = r"(?:wants?|wanted|said|says|told|asked|asks|wrote|posted|expects?|suggests?)"
_AFTER = re.compile(
    rf"^\W*(?:in |during )?(?:the |my )?(?:{_PAST}|in round \d|previously|yesterday)\b"
    r"|^\W*(?:\w+\s){0,3}(?:in|during|at) the last\b|^\W*and (?:lost|won)\b"
    r"|^\W*(?:\w+\s){0,2}before(?:\s(?:and|but)\b|[.,!]|\s*$)"
    r"|^[\W_]*(?:what|how (?:you|they|one|i am)|wrote|said|says|according|as (?:an )?example|no longer|not\W*$)"
    rf"|^[\W_]*(?:and|which|that|as|like|but)\b[^.!?\n]{{0,30}}\b{_SPOKEN_OF}\b"
    r"|^[\W_]*(?:is|was|are|would be|isn't|wasn't)\s+(?:n't|not|no|no longer|what|how|wrong"
    r"|the (?:format|example|template)|an example|a (?:mistake|typo|joke|lie|test|trap))\b"
    r"|^\s*\?|^[\W_]*(?:isn't|wasn't)\b"
)
# words of a second thought in any sentence, in one of the languages
_SECOND_THOUGHTS = """
    nein; doch; lieber; non(?=[,.!]); plutot; attendez; enfin,? non; espera; espere; mejor dicho; anzi; aspetta
    ; czekaj; raczej; warte; нет; постой; подожди
"""
_HEDGES = any_phrase(rf"""
    or; hmm+; maybe; perhaps; possibly; instead; unless; only if; if; wait; nope; actually; oder; ou; lub; albo; или
    ; pending; subject to; tentative\w*; provisional\w*; placeholder; to be confirmed; depending; depends; at least that
    ; provided; as long as; only with; when you; plus; but i (?:can't|cannot|won't|don't)
    ; rather; scratch; were (?:it|i|we|he|she|they); but for; if not; not sure; i guess not; no(?=\s*[,.!])
    ; {_SECOND_THOUGHTS}
""")
_HEDGED = re.compile(rf"(?<![^\s,(-]){_HEDGES}(?=[\s,.!)?]|$)|还是|或者")
_BECAUSE = re.compile(
    any_word("because; since; as; for; so that; weil; da; parce que; car; porque; perche; bo; poniewaz; потому что")
    + "|因为"
)
_COMMENTED = re.compile(r"(?:^|[.;])\s*(?:or|maybe|perhaps|not|if|unless|could|might|except|but)\b")
_TAKING_BACK = any_word(rf"""
    scratch (?:that|it|this); second thoughts?; (?:take|taking) (?:that|it|this|my (?:vote|bid|word)s?) back
    ; changed to; chang(?:e|ed|ing) (?:my|it|this|that|the) ?(?:mind|vote|answer|bid|choice|decision|to)?; i meant
    ; what i mean; never ?mind; disregard; ignore (?:that|this|the|my|it|what)
    ; (?:just|only) (?:kidding|joking|teasing); kidding; joking; correction; corrected; i retract\w*
    ; retract(?:ed|ing)?; i withdraw my; withdrawn; revis(?:e|ed|ing) (?:my|that|this|it); reconsider\w*
    ; strike that; undo; (?:do|did|does)(?:n't| not) (?:really |actually |truly )?mean
    ; not my (?:real |actual |final |true )?(?:vote|answer|bid|choice|decision)
    ; not (?:a|the) (?:real |actual |final )?(?:vote|bid|answer|decision)
    ; (?:do|does|did|should)(?:n't| not) count; cancel (?:that|it|this|my); oops; whoops; my mistake; by mistake
    ; i was wrong; i am wrong; hmm+; hold on; hang on; on reflection; upon reflection
    ; withdraw (?:that|this|it|my); after all, (?:no|i); thinking again; no wait; wait (?:a|no)
    ; let me (?:rethink|think again|try again|reconsider|correct|change|start over|redo); start over
    ; forget (?:that|it|what i); not what i (?:want|mean|meant); make (?:that|it); i refuse; i disagree with that
    ; for real (?:now|this time); the opposite; ich nehme (?:das|es) zuruck; doch nicht; moment mal; korrektur
    ; je retire; je reviens sur; (?:en fait|finalement),? (?:je|non|plutot); me retracto; perdon; rectifico
    ; my apologies; apologies; should have been; that should (?:be|say|read); got (?:that|it) wrong
    ; pardon(?: me)?; my bad; quatsch; psych; treat this as; replace \w+ with; is (?:invalid|void)
    ; the wrong (?:candidate|player|name|one|number|answer|vote|bid); typo; misspoke; better(?=\s*:); na verdade
    ; ripensandoci; wlasciwie; jednak; zmieniam; chwila; передумал\w*; вернее; точнее; {_SECOND_THOUGHTS}
""")
_RETRACTED = re.compile(
    rf"{_TAKING_BACK}|不对|等等|改为|改成|やっぱり|算了"
    r"|wait(?<=\bwait)(?<!(?:can|not|n't) wait)(?<!to wait)(?<!(?:will|must) wait)(?<!could wait)(?<!should wait)"
    r"(?=[,!.]| - |\s*$)"
)
_TURNS = re.compile(
    r"(?:^|[.!?\n({-]|--)[\s*_\"'(]{0,6}"
    r"(?:no(?=\s*[,.!;:-]|\s+(?:wait|i|sorry|actually|make|scratch|let|rather|on|my)\b|\s*$)|nope"
    r"|wait(?! (?:and|for|until|to))|instead(?! of)|unless|edit|update|mejor|nao|nie(?= |,)|лучше|いや|不|or(?! else)"
    r"|rather(?=[,\s]+(?:i|let|make|my)\b)"
    r"|but (?:no|wait|actually|maybe|i (?:change|mean|take|would rather|won't|do not|don't))"
    r"|actually(?=[,\s]+(?:no|let|make|change|scratch|go with|my"
    r"|i(?:'d|'ll|'m)? (?:vote|bid|choose|change|pick|mean|want))\b|[\s,]*[^\s.]{1,20}[.!]?\s*(?:$|\n)))(?![a-z'-])"
)


def clause_before(text: str, start: int) -> str:
    """What stands before a place in its own clause; the line before where that one announces it, or runs on."""
    before = text[max(0, start - _WIDEST) : start]
    lead, _, tail = before.rpartition("\n")
    if not tail.strip("\t \"'*_#>`-([{<~|"):  # at the beginning of a line
        lead = lead.rstrip()
        line = lead.rpartition("\n")[2]
        announces = lead.endswith((":", ",", "...", "-"))
        if lead.endswith((".", "!", "?", ";", "|")) or not lead or (not announces and _OF_ITS_OWN.search(line)):
            return tail
        before = f"{line}{before[len(lead) :]}"
        ends = [each.end() for each in _CLAUSE_BEGINS.finditer(line)]
    else:
        ends = [each.end() for each in _CLAUSE_BEGINS.finditer(before)]
    return before[ends[-1] :] if ends else before


def same_sentence(text: str, end: int) -> str:
    """What stands behind a place in its sentence."""
    tail = text[end : end + _WIDEST]
    ends = re.search(r"[.!?](?=[\s\"')*_\u3000-\u9fff]|$)|\n", tail)
    return tail[: ends.start() + 1] if ends else tail


def doubted(text: str, start: int, end: int) -> Doubt:
    """What of the clause of a decision denies it, quotes it, shows it as a format, or makes it depend on something."""
    quoted = text[start - 1 : start] == '"' and text[start : start + 1] != "{"
    in_a_block = _IN_A_BLOCK.match(text, text.rfind("\n", 0, start) + 1, start) is not None
    return _doubt(clause_before(text, start), same_sentence(text, end), quoted=quoted, in_a_block=in_a_block)


@lru_cache(256)  # a reply that repeats itself is looked at once
def _doubt(clause: str, after: str, *, quoted: bool, in_a_block: bool) -> Doubt:
    if in_a_block or (quoted and re.search(r"\w", clause[:-1])):  # in the midst of a quotation
        return "before"
    if _NEGATED.search(clause) or _TURNED.search(clause):
        return "before"
    if _FORMAT.search(clause) and not _ANSWERED.search(clause):
        return "before"
    reason = _BECAUSE.search(after)
    hedged = _AFTER.search(after) or _HEDGED.search(after[: reason.start()] if reason else after)
    return "after" if hedged else ""


def doubted_by_comment(comment: str) -> bool:
    """Whether a comment in an object takes back or hedges what the object says."""
    words = re.sub(r"//|/\*|\*/|#", " ", comment)
    return taken_back(f". {words}", lambda piece: False) or _COMMENTED.search(words) is not None


def taken_back(tail: str, another: Callable[[str], bool]) -> bool:
    """Whether the words behind a decision take it back, or go on with `another` one in its sentence."""
    if _RETRACTED.search(tail) or _TURNS.search(tail):
        return True
    sentence = same_sentence(tail, 0)
    reason = _BECAUSE.search(sentence)
    cuts = [0, *(each.end() for each in re.finditer(r"[,;()/:.]| - | then\b", sentence)), len(sentence)]
    pieces = [sentence[one:two] for one, two in pairwise(cuts) if not (reason and one > reason.start())]
    return any(another(piece.strip(" ,;()/:.-")) for piece in pieces[:6])
