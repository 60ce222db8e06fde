"""The layers around the answer in a reply: JSON within strings of JSON, code around a call, and made-up turns.

A JSON string that holds `{"vote": "C"}` is decoded to that object, `speak("Hello")` becomes `Hello`, and a reply is cut
at its first end of a turn (`<|im_end|>`). This repeats until a pass changes nothing, at most `_MOST_LAYERS` times.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from html import unescape
from itertools import islice
from typing import Any
from urllib.parse import unquote

from agentsim.engine.markup import NO_SPEAKERS, Speakers, first_turn, is_of_another, plain_signs, without_rest
from agentsim.engine.reading.calls import calls
from agentsim.engine.reading.fields import is_private_field
from agentsim.engine.reading.notations import as_json
from agentsim.engine.reading.speech import says_that_it_thinks
from agentsim.engine.reading.text import decoded, scan, spaced, strict_spans
from agentsim.engine.wording import cleaned
from agentsim.errors import DecisionError, UnreadableReply
from agentsim.patterns import Pattern

_MOST_LAYERS = 6  # levels of JSON within JSON strings
_MOST_REMAINS = 100  # quotes in a text that are looked at
_FENCED = Pattern(r"```\w{0,12}\s*+(?P<inner>[\"\[{].*[\"}\]])\s*+```\Z", re.DOTALL)
# Gemma's and Gemini's code around a call
_WRAPPERS = (
    Pattern(r"<tool_code>((?:(?!</?tool_code>).)*)</tool_code>", re.DOTALL),
    Pattern(r"print\(([a-z].*)\)", re.DOTALL),
    Pattern(r"(?:(?:await|return|(?:const|let|var) \w{1,30} ?=)\s{1,4}){1,3}([a-z]\w{0,40}\(.*\));?", re.DOTALL),
    Pattern(r"default_api\.(\w{1,40}\(.*\))", re.DOTALL),
)
_CALL = Pattern(r"[a-z]\w{1,30}\(\s*+(?:(\w{1,30})\s?:\s?)?(\"(?:[^\"\\]|\\.)*+\")\s*+\)", re.DOTALL)
_FUNCTOOLS = Pattern(r"(?:functools|functions|tool_calls)\s?(\[\s*\{.*)", re.DOTALL)
_BOX = Pattern(r"\$*\s?(?:\\(?:boxed|fbox|text|textbf|mathrm)|b?oxed|ext)\s?\{((?:[^{}]|\{[^{}]*\})*)\}\s?\$*")
"""LaTeX around an answer; JSON reads the first letters of `\\boxed` and `\\text` as escapes."""
_ESCAPE = Pattern(r"\\(?:u(?P<u>[\da-fA-F]{4})|x(?P<x>[\da-fA-F]{2})|(?P<sign>[nrt\"'/\\*_.!#()\[\]<>|~-]))")
_TELLING_ESCAPE = Pattern(
    r"(?:(?<=\w)|(?<=[\da-fA-F]{4}))\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2})|\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2})(?=[\w\\])"
    r"|(?<=\w)\\'(?=\w)"
)
"""An escape in a word, which is not one that words are about."""
_ENTITY = Pattern(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,30});")
_TELLING_ENTITY = Pattern(r"(?<=\w)&(?:#?\w{1,30});|&(?:#?\w{1,30});(?=[\w/!])|^&gt;(?=\s)|(?<=\w )&amp;(?= \w)", re.M)
_HIDDEN_SIGN = Pattern(
    r"(?<=[\w<＜(\[|/;])(?:&(?:amp;){0,3}(?:(?:ZeroWidthSpace|NoBreak|shy|zwnj|zwj|lrm|rlm)"
    r"|#0{0,4}(?:173|820[3-7]|828[89]|65279)|#[xX]0{0,4}(?:[aA][dD]|200[b-fB-F]|206[0-4]|[fF][eE][fF][fF]));"
    r"|\\{1,4}u(?:00[aA][dD]|200[b-fB-F]|206[0-4]|[fF][eE][fF][fF])|%[eE]2%80%8[b-fB-F])(?=[\w>＞)\]|/&\\%])"
)
"""An escape of a sign that is not seen, between others of a tag."""
_TAG = Pattern(r"[<＜][^<>＜＞\n]{1,80}[>＞]")
_TELLING_PERCENT = Pattern(r"[A-Za-z.,!?]%20[A-Za-z]")
_ABOUT_CODE = Pattern(
    r"[`{]|://|\b(?:html|xml|json|unicode|ascii|latex|markdown|python|entit(?:y|ies)|escape[ds]?|escaping|backslash(?:es)?"
    r"|ampersands?|print|strings?|characters?)\b",
    re.IGNORECASE,
)
_CDATA, _CDATA_ENDS = "<![CDATA[", "]]>"
_ESCAPED_OBJECT = Pattern(r"[\[{]\s*\\\"")
_ESCAPED_LINES = Pattern(r"\\n\\n|(?<=[.!?…:;,\"”’)*])\\n(?=[^a-z]|$)")
_UNESCAPED_QUOTE = Pattern(r"(?<!\\)(?:\\\\)*\"")
_MEMBER = Pattern(r"\s*(?P<quote>[\"“])?(?P<key>[\w -]{1,40}?)[\"”]\s*[:：]")
_NEXT_MEMBER = Pattern(r",\s*\"")
_ENDS_AN_OBJECT = Pattern(r"[\"”]\s*}[\s}\]]*\Z")
_LATER_MEMBER = Pattern(r"[\"”]\s*,\s*[\"“](?P<key>[\w -]{1,40})[\"”]\s*[:：]")
"""A member of an object behind the string of another: `Hi", "thought": `."""
_QUOTED_KEY = r"[\"“'‘][^\"“”'‘’\n]{1,60}[\"”'’]\s{0,9}[:：=]"
_ANY_KEY = rf"(?:{_QUOTED_KEY}|[^\W\d][\w-]{{0,40}}\s{{0,9}}[:：=])"
_GAP = r"(?:\s|\\n){0,99}"
_REMAINS = Pattern(
    rf"[\"”]{_GAP}(?:[}}\])]|//|,{_GAP}(?:[}}\])]|\Z)|[,;]{_GAP}{_ANY_KEY}|{_QUOTED_KEY}"
    rf"|(?<=\n)[ \t]{{0,99}}{_ANY_KEY})"
    rf"|'{_GAP}(?:}}|,{_GAP}['\"][^'\"\n]{{1,60}}['\"]\s{{0,9}}:)|(?<![:;=8xX-])}}[\s}}`]{{0,99}}\Z"
)
"""A pattern of the rest of an object behind the end of a string: `"}`, `", "sure": true}`, `")`."""
_HOLDS_A_MEMBER = Pattern(r"[\"”]\s*:\s*[\"“]")
_CLOSES_ALONE = Pattern(r"[\"”']?[\s\"”}\])\.,;`]*")
_HALF_OBJECT = Pattern(r"[\s\[]*+(?:```\w{0,12}[\s\[]*+)?\{\s*+[\"'“][^\"'“”\n]{1,60}[\"'”]\s*+[:：]")
"""The beginning of an object up to its first key."""
_OBJECT_BEGINS = Pattern(
    r"\s*+(?:(?:```\w{0,12}|json)\s++)?\{?\s*+"
    r"(?:[\"“']?(?P<key>[\w -]{1,40}?))?(?:[\"”']\s{0,9}[:=]|=)\s{0,9}[\"“]"
)
"""The beginning of an object up to its first string, also without its first signs: `"text": "`, `text": "`."""


def turn_of(text: str, speakers: Speakers = NO_SPEAKERS, *, in_object: bool = False) -> str:
    """Return the model's own turn, decoded and without its header; `speakers` are the names in the question.

    A text that stands `in_object` is cut at control tokens alone, and not at headers without tokens.
    """
    for _ in range(_MOST_LAYERS):
        before = text
        plain = plain_signs(_without_hidden_signs(text))
        turn = own_turn(_unescaped(without_cdata(plain)), speakers, in_object=in_object)
        text = _unquoted(_uncalled(without_rest(turn)))
        if text == before:
            break
    return text


def own_turn(text: str, speakers: Speakers = NO_SPEAKERS, *, in_object: bool = False) -> str:
    """Return a text up to the first end of a turn that is not within a valid or repaired JSON object."""
    turn = first_turn(text, speakers=speakers, tokens_alone=in_object)
    if turn == text or "{" not in text:
        return turn
    try:
        spans = [(each.start, each.end) for each in scan(text) if each.state in {"strict", "repaired"}]
    except DecisionError:
        return turn
    return first_turn(text, spans, speakers, tokens_alone=in_object) if spans else turn


def without_cdata(text: str) -> str:
    """Return a text without the marks of XML's CDATA around all of it, or around all that is in a tag."""
    parts, position = [], 0
    while (start := text.find(_CDATA, position)) >= 0 and (end := text.find(_CDATA_ENDS, start)) >= 0:
        before, behind = text[position:start], text[end + len(_CDATA_ENDS) : end + 200].lstrip()
        whole = before.rstrip()[-1:] in {"", ">"} and behind[:1] in {"", "<"}
        parts += [before, text[start + len(_CDATA) : end] if whole else text[start : end + len(_CDATA_ENDS)]]
        position = end + len(_CDATA_ENDS)
    return "".join((*parts, text[position:])) if parts else text


def _unescaped(text: str) -> str:
    """Return a text with its escapes decoded if all of it is escaped: `don\\u2019t`, `It&#39;s B &amp; me`.

    It is if each of its backslashes or ampersands begins an escape, and one of these is in a word or beside one. A text
    about code, and one with a brace, stays as it is.
    """
    if not any(sign in text for sign in "\\&%") or _ABOUT_CODE.search(text):
        return text
    if _TELLING_ESCAPE.search(text) and "\\" not in _ESCAPE.sub("", text) and not _quotes_both(text):
        return cleaned(_ESCAPE.sub(_sign, text))
    plain_angles = "<" in text or ">" in text
    if not plain_angles and _TELLING_ENTITY.search(text) and "&" not in _ENTITY.sub("", text):
        return cleaned(unescape(text).replace("\xa0", " "))
    if _TELLING_PERCENT.search(text) and not any(map(str.isspace, text)):
        return cleaned(unquote(text))
    return text


def _without_hidden_signs(text: str) -> str:
    """Return a text without escapes of signs that are not seen in its tags: `<thi&#8203;nk>`.

    In words they stay, because the scripts of many languages join letters by such signs.
    """
    if not any(sign in text for sign in "&\\%"):
        return text
    return _TAG.sub(lambda tag: _HIDDEN_SIGN.sub("", tag[0]), text)


def _quotes_both(text: str) -> bool:
    """Return whether a text has apostrophes with and without a backslash, as code has."""
    return text.count("'") > text.count("\\'") > 0


def _sign(escape: re.Match[str]) -> str:
    code = escape["u"] or escape["x"]
    return chr(int(code, 16)) if code else {"n": "\n", "r": "\n", "t": "\t"}.get(escape["sign"], escape["sign"])


def _uncalled(text: str) -> str:
    """Return the argument of a call that is written as code and has one: `"Hi"` for `speak("Hi")`.

    An argument with a name becomes an object: `{"text": "Hi"}` for `pitch(text: "Hi")`. Any other text only loses
    code around it, such as `print(...)`.
    """
    inner = text.strip()
    for wrapper in _WRAPPERS:
        if inside := wrapper.fullmatch(inner):
            inner = inside[1].strip()
    if (listed := _FUNCTOOLS.match(inner)) or (listed := _BOX.fullmatch(inner)):
        inner = listed[1].strip()
    call = _CALL.fullmatch(inner)
    if call is None:
        return text if inner == text.strip() else inner
    key, value = call.groups()
    if key is None:
        return str(value)
    return f"{{{json.dumps(key)}: {value}}}"


def _unquoted(text: str) -> str:
    """Return the text that a JSON string encodes, with or without its outer quotes, or the text itself."""
    inner = text.strip()
    if fence := _FENCED.match(inner):
        inner = fence["inner"]
    if len(inner) > 1 and inner[0] == '"' == inner[-1]:
        spelt = _string(inner)
    elif _ESCAPED_OBJECT.match(inner):
        spelt = _string(f'"{inner}"')
    elif '\\"' in inner or ("\\n" in inner and _ESCAPED_LINES.search(inner)):
        spelt = None if _UNESCAPED_QUOTE.search(inner) else _string(f'"{inner}"')
    else:
        return text
    return text if spelt is None else spelt


def _string(written: str) -> str | None:
    try:
        spelt = json.loads(written, strict=False)
    except (ValueError, RecursionError):
        return None
    return cleaned(spelt) if isinstance(spelt, str) else None


def with_braces(body: str, names: Collection[str], speech: str = "") -> str:
    """Return the object that a reply is without its first characters, or the reply itself.

    Some hosts begin the object for the model, so that the reply is only the rest of it: `"vote": "C"}` or
    `vote": "C"}` for the folded `names` of fields, `Hi"}` for the field `speech`. Without `speech`, one member that
    has no closing brace is a label and stays.
    """
    if body.lstrip().startswith(("{", "[", "`")) or '"' not in body:
        return body
    member = _MEMBER.match(body)
    several = speech or body.rstrip().endswith("}") or _NEXT_MEMBER.search(body)
    if member is not None and spaced(member["key"]) in names and several:
        whole = f"{{{'' if member['quote'] else chr(34)}{body.strip()}"
        tries = [whole, whole + "}"]
    elif speech and _ENDS_AN_OBJECT.search(body):
        tries = [f'{{"{speech}": "{body.strip()}']
    else:
        return body
    return next((each for each in tries if isinstance(_json(each), Mapping)), body)


def is_part_of_object(body: str, names: Collection[str]) -> bool:
    """Return whether a text begins with a member that has one of the `names`, or goes on or ends as an object does."""
    member = _MEMBER.match(body)
    if (member is not None and spaced(member["key"]) in names) or _end_of_string(body, names) >= 0:
        return True
    begins = _OBJECT_BEGINS.match(body)
    if begins is None or begins["key"] is None:
        return begins is not None
    return spaced(begins["key"]) in names and body.count('"') % 2 == 1


def holds_remains(text: str) -> bool:
    """Return whether a text seems to be part of an object: it begins as one, or goes on as one behind a quote."""
    return _OBJECT_BEGINS.match(text) is not None or _end_of_string(text) >= 0


def _end_of_string(text: str, names: Collection[str] = ()) -> int:
    """Return the position at which a text, as the string of an object, ends and the object goes on, or -1.

    It is a quote that none before it has opened, or a later member with one of the names, outside of objects.
    """
    if not any(sign in text for sign in "\"”'}"):
        return -1
    found = [each.start() for each in _LATER_MEMBER.finditer(text) if spaced(each["key"]) in names]
    found += [end.start()] if (end := _ENDS_AN_OBJECT.search(text)) else []
    found += [each.start() for each in islice(_REMAINS.finditer(text), _MOST_REMAINS) if _is_unopened(text, each)]
    spans = strict_spans(text) if found and "{" in text else []
    return min((offset for offset in found if not any(start < offset < end for start, end in spans)), default=-1)


def _is_unopened(text: str, remains: re.Match[str]) -> bool:
    """Return whether no quote or bracket before what may be the rest of an object is the beginning of its signs."""
    before, sign = text[: remains.start()], remains[0].lstrip()[:1]
    if sign in {"'", "}"}:
        return "{" not in before
    last = remains[0][-1]
    if last in ")]" and before.count("(" if last == ")" else "[") > before.count(last):
        return False
    return before.count("“") <= before.count("”") if sign == "”" else before.count('"') % 2 == 0


def decoded_value(
    given: Any, names: Collection[str], speakers: Speakers = NO_SPEAKERS, keys: Collection[str] = ()
) -> Any:
    """Return the value of a field without the layers around it: `Hi` for the string `{"speech": "Hi"}`.

    Decoded are strings that hold JSON or a call. Of an object, the value under the only key that is one of the field's
    `names` is taken. Raises `UnreadableReply` if a string begins as an object of these names but cannot be parsed, or
    goes on as one with one of the `keys`, and for a message of another role.
    """
    for _ in range(_MOST_LAYERS):
        if is_of_another(given):
            raise UnreadableReply("A text of the JSON object holds a message of another role.")
        if says_that_it_thinks(given, names):
            raise UnreadableReply("A text of the JSON object holds thinking. Answer with the words alone.")
        before = given
        if isinstance(given, Mapping):
            inside = [part for key, part in given.items() if spaced(key) in names]
            given = inside[0] if len(inside) == 1 else given
        elif isinstance(given, str):
            given = _decoded_text(given, names, speakers, keys)
        if given is before or (isinstance(given, str) and given == before):
            break
    return given


def _decoded_text(text: str, names: Collection[str], speakers: Speakers, keys: Collection[str]) -> Any:
    """Return the object with one of the names that a text holds as JSON or a call, or the model's own turn in it.

    Raises `UnreadableReply` if the text begins as an object of these names or goes on as one, but cannot be parsed.
    """
    turn = turn_of(text, speakers, in_object=True)
    if (fence := _FENCED.match(turn.strip())) and "{" in turn:
        turn = fence["inner"]
    turn = as_json(turn, names, names, nested="<" in turn)
    value = _json(turn.strip()) if turn.lstrip()[:1] in {"{", "["} else None
    if value is None and turn.lstrip()[:1] not in {"{", "["}:
        turn, value = _within_object(turn, names, keys)
    own = next(iter(names))
    if value is None and turn.lstrip().startswith("{") and is_part_of_object(turn.lstrip()[1:], names):
        raise UnreadableReply("A text of the JSON object holds an object that cannot be read.")
    if value is None and not is_private_field(own) and _HALF_OBJECT.match(turn):
        raise UnreadableReply("A text of the JSON object holds an object that cannot be read.")
    if is_of_another(value):
        return value
    if isinstance(value, Mapping) and (named := _named(value, names)):
        return named
    called = _called(turn, names)
    return turn if called is None else called


def _within_object(text: str, names: Collection[str], keys: Collection[str]) -> tuple[str, Any]:
    """Return the words of a text that goes on or begins as the object that holds it, and that object if there is one.

    Raises `UnreadableReply` if the words cannot be told from the object.
    """
    own = json.dumps(next(iter(names)))
    if (end := _end_of_string(text, keys)) >= 0:
        words, rest = text[:end].rstrip(), text[end:]
        if _CLOSES_ALONE.fullmatch(rest) and not _HOLDS_A_MEMBER.search(words):
            return words, None
        if isinstance(value := _json(f"{{{own}: {json.dumps(words)}{rest[1:]}"), Mapping):
            return text, value
        raise UnreadableReply("A text of the JSON object goes on as an object. Answer with the words alone.")
    begins = _OBJECT_BEGINS.match(text)
    if begins is None or (begins["key"] is not None and spaced(begins["key"]) not in keys):
        return text, None
    words = text[begins.end() :]
    if (begins["key"] is not None and spaced(begins["key"]) not in names) or any(sign in words for sign in '"”{'):
        raise UnreadableReply("A text of the JSON object begins as an object. Answer with the words alone.")
    return words, None


def _named(value: Mapping[str, Any], names: Collection[str]) -> Mapping[str, Any] | None:
    """Return the object with exactly one of the names, which may be the arguments of a call, or None."""
    if sum(spaced(key) in names for key in value) == 1:
        return value
    parts = [_json(part) if isinstance(part, str) and part.lstrip()[:1] == "{" else part for part in value.values()]
    inside = [found for part in parts if isinstance(part, Mapping) and (found := _named(part, names))]
    return inside[0] if len(inside) == 1 else None


def _called(text: str, names: Collection[str]) -> Mapping[str, Any] | None:
    """Return the arguments of a text that is one call, if exactly one has one of the names; else None."""
    if not text.rstrip().endswith((")", "]")):
        return None
    found = calls(text, names, names)
    if (
        len(found) != 1
        or found[0].value is None
        or text[: found[0].start].strip(" [")
        or text[found[0].end :].strip(" ]")
    ):
        return None
    given = found[0].value["arguments"]
    return given if isinstance(given, Mapping) and sum(spaced(key) in names for key in given) == 1 else None


def _json(text: str) -> Any:
    try:
        return decoded(text)
    except (ValueError, RecursionError, DecisionError):
        return None
