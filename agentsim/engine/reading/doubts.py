"""Doubts: whether the words around a decision turn it around: deny it, quote it, condition it, take it back.

Words count in the clause of the decision, or as a retraction behind it; what an explanation says besides does not. To
ask again costs one call, and a decision that was not meant costs the game. All texts here are folded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Literal, TypeAlias

__all__ = ["Doubt", "clause_before", "doubted", "doubted_by_comment", "taken_back"]

Doubt: TypeAlias = Literal["", "before", "after"]
"""Where the words stand that make a decision doubtful, if any do."""

_WIDEST = 240  # characters before a decision that are its clause at most
_CLAUSE_BEGINS = re.compile(r"[.!?;](?=[\s\"')*_])|\n\s*\n")

_FILLERS = (
    r"(?:to|ever|just|simply|want|going|be|do|give|giving|say|saying|write|writing|answer|answering|reply"
    r"|replying|respond"
    r"|send|vote|voting|cast|follow|obey|with|by|as|the|a|this|that|my|your|is|format|for|bid|bidding|offer"
    r"|choose|output|with)"
)
_NEGATED = re.compile(
    r"(?:\b(?:not|never|no|cannot|refus\w{1,4}|declin\w{1,4}|without|nicht|kein\w{0,2}|jamais|nunca|jamas|mai"
    r"|nigdy|nie"
    r"|никогда|не|against|anything but|anyone but|rather than|instead of)|n't|不|別|别|没)"
    rf"(?:[^\w.!?]+{_FILLERS})*[^\w.!?]*$"
)
_QUOTED = re.compile(
    r"(?<!\bi )(?<!\byou )(?<!\bi've )(?<!\bas )(?<!'ve )\b(?:told|says|(?:they|others|people) say|said"
    r"|asks? (?:me|us)|asked (?:me|us|for|that|everyone)|wrote"
    r"|writes?|wants?|wanted|suggest\w*|claim\w*|propos(?:es|ed)|promis\w*|urg(?:es|ed)|begg?(?:s|ed)|orders?"
    r"|ordered|instruct(?:s|ed)"
    r"|demand\w*|recommend\w*|advis\w*|tells?|quot\w*|repeat\w*|according to|announce[sd]?|whisper\w*"
    r"|shout\w*|pitch was|'s (?:pitch|plan|line|vote|bid|message)"
    r"|sagte|sagt|schrieb|dit|disait|dijo|dice|disse|powiedzial\w*|napisal\w*|сказал\w*|написал\w*)\b"
    r"|说[:，,\s]|說|と言"
)
_REQUESTED = re.compile(
    r"\bas (?:you )?(?:requested|instructed|asked|told|demanded|required|suggested|promised|i said)\b"
)
_SHOWN = re.compile(
    r"\b(?:examples?|e\.g|for instance|template|sample|placeholder|should look like|would look like"
    r"|looks like|something like"
    r"|such as|must be given as|has to be given as|valid (?:answers?|repl\w+|votes?|bids?)|options? (?:is|are"
    r"|include)|options:"
    r"|(?:the |a )?(?:rules?|prompt|schema|system|game|instructions?) (?:want|wants|says?|said|demands?"
    r"|expects?|asks?|require[sd]?|shows?)"
    r"|beispiel|exemple|ejemplo|exemplo|esempio|przyklad\w*|пример\w*|比如|例如|例えば)\b|示例|格式"
)
_FORMAT = re.compile(r"\b(?:format|schema|structure|form|shape|layout)\b")
_ANSWERED = re.compile(
    r"\b(?:in|using|with|following|per|to|under|match\w*|into)\b[^.\n]{0,60}\b(?:format|schema|structure|form"
    r"|shape|layout)\b|\bmy\b"
)
_PAST = (
    r"(?:last|previous|earlier|prior) (?:round|turn|time|iteration|vote|item|auction|day|game|lot)"
    r"|previously|yesterday|back in round"
)
_CONDITION = re.compile(
    r"\b(?:if|unless|in case|provided that|assuming|suppose|supposing|were (?:i|it|we|he|she|they)|had (?:i"
    r"|it|we)|whether|until|before|falls|wenn"
    rf"|sinon|jesli|jezeli|gdyby|если|(?<!what i )would (?:say|have|write|answer)|could (?:say|have|write)"
    rf"|might|maybe|perhaps|possibly|tempted to"
    rf"|was going to|were going to|used to|almost|{_PAST}|could also|thought about|considered"
    rf"|considering whether)\b|如果|もし|要是"
)
_AFTER = re.compile(
    rf"^\W*(?:in |during )?(?:the |my )?(?:{_PAST}|in round \d)\b|"
    r"^[\W_]*(?:what|how (?:you|they|one|i am)|wrote|said|says|according|as (?:an )?example|no longer|not\W*$)"
    r"|^[\W_]*(?:is|was|are|would be|isn't|wasn't)\s+(?:n't|not|no|no longer|what|how|wrong|the (?:format"
    r"|example|template)|an example"
    r"|a (?:mistake|typo|joke|lie|test|trap))\b|^\s*\?|^[\W_]*(?:isn't|wasn't)\b"
)
_HEDGED = re.compile(
    r"(?:^|[\s,(-])(?:or|hmm+|maybe|perhaps|possibly|instead|unless|only if|if|wait|nope|actually|oder|ou|lub"
    r"|albo|или|rather|scratch"
    r"|were (?:it|i|we|he|she|they)|but for|if not|not sure|i guess not|no(?=\s*[,.!]))(?=[\s,.!)?]|$)|还是|或者"
)
_COMMENTED = re.compile(r"(?:^|[.;])\s*(?:or|maybe|perhaps|not|if|unless|could|might|except|but)\b")
_BECAUSE = re.compile(
    r"\b(?:because|since|as|for|so that|weil|da|parce que|car|porque|perche|bo|poniewaz|потому что)\b|因为"
)
_RETRACTED = re.compile(
    r"\b(?:scratch (?:that|it|this)|second thoughts?|thinking (?:it|about it) over again|take (?:that|it|this"
    r"|my (?:vote|bid|word)s?) back|taking (?:that|it|this) back"
    r"|chang(?:e|ed|ing) (?:my|it|this|that|the) ?(?:mind|vote|answer|bid|choice|decision|to)?|changed to"
    r"|i meant|what i mean|never ?mind|disregard|ignore (?:that|this|the|my|it|what)"
    r"|(?:just|only) (?:kidding|joking|teasing)|kidding|joking|correction|corrected|i retract\w*|retract(?:ed"
    r"|ing)?|i withdraw my|withdrawn|revis(?:e|ed|ing) (?:my|that|this|it)"
    r"|reconsider\w*|strike that|undo|(?:do|did|does)(?:n't| not) (?:really |actually |truly )?mean"
    r"|not my (?:real |actual |final |true )?(?:vote|answer|bid|choice|decision)"
    r"|not (?:a|the) (?:real |actual |final )?(?:vote|bid|answer|decision)|(?:do|does|did|should)(?:n't"
    r"| not) count|cancel (?:that|it|this|my)|oops|whoops|my mistake|by mistake|i was wrong|i am wrong"
    r"|hmm+|on reflection|upon reflection|withdraw (?:that|this|it|my)|after all, (?:no|i)|thinking again"
    r"|hold on|hang on|no wait|wait[,!. -]|wait (?:a|no)|let me (?:rethink|think again|try again|reconsider"
    r"|correct|change|start over|redo)|start over|forget (?:that|it|what i)"
    r"|not what i (?:want|mean|meant)|make (?:that|it) |i refuse|i disagree with that|for real (?:now"
    r"|this time)|the opposite"
    r"|ich nehme (?:das|es) zuruck|doch nicht|moment|korrektur|je retire|je reviens sur|non plutot|en fait"
    r"|finalement|me retracto|mejor dicho|perdon|rectifico"
    r"|na verdade|alias|anzi|ripensandoci|wlasciwie|jednak|zmieniam|chwila|передумал\w*|нет, |вернее"
    r"|точнее)\b|不对|等等|改为|改成|やっぱり|算了"
)
_TURNS = re.compile(
    r"(?:^|[.!?\n({-]|--)[\s*_\"'(]{0,6}(?:no(?! one| longer| other| matter| doubt| need| real|body| player"
    r"| more)|nope|wait|actually|hmm+|instead|rather|unless"
    r"|correction|edit|update|nein|doch|lieber|non|plutot|mejor|nao|nie(?= |,)|raczej|нет|лучше|いや|不"
    r"|but (?:no|wait|actually|then|maybe|really|i)|or (?:maybe|rather|perhaps|no)|or)(?![\w'-])"
)


def clause_before(text: str, start: int) -> str:
    """What stands before a place in its own clause; the line before where that one announces it, or runs on."""
    before = text[max(0, start - _WIDEST) : start]
    lead, _, tail = before.rpartition("\n")
    if not tail.strip("\t \"'*_#>`-([{<~|"):  # at the beginning of a line
        lead = lead.rstrip()
        if lead.endswith((".", "!", "?", ";", "|")) or not lead:
            return tail
        line = lead.rpartition("\n")[2]
        before = f"{line}{before[len(lead) :]}"
        ends = [each.end() for each in _CLAUSE_BEGINS.finditer(line)]
    else:
        ends = [each.end() for each in _CLAUSE_BEGINS.finditer(before)]
    return before[ends[-1] :] if ends else before


def same_sentence(text: str, end: int) -> str:
    """What stands behind a place in its sentence."""
    tail = text[end : end + _WIDEST]
    ends = re.search(r"[.!?](?=[\s\"')*_]|$)|\n", tail)
    return tail[: ends.start() + 1] if ends else tail


def doubted(text: str, start: int, end: int) -> Doubt:
    """What of the clause of a decision denies it, quotes it, shows it as a format, or makes it depend on something."""
    clause = clause_before(text, start)
    aloud = _REQUESTED.sub(" ", clause)
    if text[start - 1 : start] == '"' and re.search(r"\w", clause[:-1]) and text[start : start + 1] != "{":
        return "before"  # a sentence within somebody's marks
    if _NEGATED.search(clause) or _QUOTED.search(aloud) or _SHOWN.search(clause) or _CONDITION.search(clause):
        return "before"
    if _FORMAT.search(clause) and not _ANSWERED.search(clause):
        return "before"
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if line.lstrip().startswith(">"):  # a quotation as a block
        return "before"
    after = same_sentence(text, end)
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
    return any(another(piece.strip(" ,;()/:.")) for piece in pieces[:6])
