"""Tool calls that a reply writes out in its text, as the JSON objects that they mean.

`<invoke name="vote"><parameter name="vote">C</parameter></invoke>` in any model's tags, `vote(vote="C")`,
`[TOOL_CALLS]vote[ARGS]{"vote": "C"}` and `call:vote{vote:"C"}` all mean
`{"name": "vote", "arguments": {"vote": "C"}}`. `engine.markup` lists the tags; `markup.plain_tags` has given them one
spelling before they are read here.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentsim.engine.decision import Real
from agentsim.engine.reading.text import Decoder, Object, Work, bounded, decoded, spaced
from agentsim.errors import DecisionError
from agentsim.patterns import Pattern

_MOST_PARTS = 1_000  # tags of calls in a reply
_MOST_CALLS = 100  # calls written as Python
_LONGEST_CALL = 20_000  # characters

_NS = r"(?:[\w.-]{1,20}[:_])?"
_PARTS = Pattern(
    rf"<{_NS}(?:parameter|param|argument|arg)(?:\s{{1,2}}(?:name|key)\s?=|=)\s?[\"']?(?P<key>[\w -]{{1,60}}?)[\"']?"
    r"(?P<more>\s[^<>]{0,120})?>"
    rf"|<{_NS}arg_key(?::\w+)?>\s{{0,4}}(?P<glm>[\w -]{{1,60}}?)\s{{0,4}}</{_NS}arg_key(?::\w+)?>\s{{0,4}}"
    rf"<{_NS}arg_value(?::\w+)?>"
    rf"|(?P<end></{_NS}(?:parameter|param|argument|arg_value|arg)(?::\w+)?\s?>)"
    rf"|<{_NS}(?:invoke|call|function|tool)(?:\s{{1,2}}(?:name|tool)\s?=|=)\s?[\"']?(?P<name>[\w.:-]{{1,60}})[\"']?[^<>]{{0,80}}>"
    rf"|<{_NS}tool_call(?::\w+)?>\s{{0,4}}(?P<bare>[\w.:-]{{1,60}})\s{{0,4}}(?=<{_NS}(?:tool_sep|arg_key))"
    rf"|(?P<over></{_NS}(?:invoke|call|function|tool_call)(?::\w+)?\s?>)"
)
_NAMED = Pattern(
    r"(?:"
    r"<(?:[\w.-]{1,20}:)?(?:invoke|call|function|tool)(?:\s{1,2}(?:name|tool)\s?=|=)\s?[\"']?(?P<tag>[\w.:-]{1,60})[\"']?[^<>]{0,80}>"
    r"(?:\s{0,4}(?:<(?:json|arguments|parameters)\b[^<>]{0,40}>|<\|open\|>json[^<>|]{0,40}<\|sep\|>))?"
    r"|(?:<tool_calls?>|<[|｜]tool▁call▁begin[|｜]>(?:function)?(?:<[|｜]tool▁sep[|｜]>)?|<\|tool_call_begin\|>|\[TOOL_CALLS\]"
    r"|(?:<\|tool_call>|<start_function_call>|(?<![\w.:/]))call:(?:default_api:)?|<\|tool_call\|>|<\|python_tag\|>)"
    r"\s{0,4}(?:functions\.)?(?P<name>[\w.-]{1,60}?)(?::\d{1,3})?\s{0,4}"
    r"(?:<tool_sep>|<[|｜]tool▁sep[|｜]>|<\|tool_call_argument_begin\|>|(?:\[CALL_ID\]\w{1,40})?\[ARGS\]|\n|\Z)"
    r"|✿FUNCTION✿[:：]?\s{0,4}(?P<qwen>[\w.-]{1,60})\s{0,4}✿ARGS✿[:：]?"
    r"|(?<![\w.])functions\.(?P<id>[\w.-]{1,60}?)(?::\d{1,3})?(?:<\|tool_call_argument_begin\|>)?"
    r"|(?:(?<![^\W_])(?:assistant\s{0,2})?commentary\s{0,2}|(?<![\w<]))(?:to|recipient)=(?:functions\.)?"
    r"(?P<to>[\w.-]{1,60}?)(?:\s{0,2}<\|channel\|>\s?commentary)?\s{0,2}(?:<\|constrain\|>)?(?:json|code)?"
    r"\s{0,2}(?:<\|message\|>)?"
    r")\s{0,4}(?:```\w{0,10}\s{0,4})?\Z"
)
_NAMES = ("tag", "name", "qwen", "id", "to")
_CALL = Pattern(
    r"(?<![\w.])(?:(?P<module>[A-Za-z_]\w{0,30})\.){0,3}(?P<name>[A-Za-z_]\w{0,40})\(\s{0,20}"
    r"(?:(?P<key>[A-Za-z_]\w{0,40})\s{0,4}=(?!=)|(?=[\"'{]|\w{0,40}\s{0,4}\Z))"
)
_STRING = r"\"\"\"(?s:.*?)\"\"\"|'''(?s:.*?)'''|\"(?:[^\"\\]|\\(?s:.))*+\"|'(?:[^'\\]|\\(?s:.))*+'"
_WHOLE_CALL = Pattern(
    r"\s*+(?:```\w{0,12}\s++)?(?:print\(|\[)?(?:[A-Za-z_]\w{0,30}\.)?(?!print\()([A-Za-z_]\w{1,40})\("
    rf"\s{{0,20}}(?:[A-Za-z_]\w{{0,40}}\s?[=:]\s?)?(?:{_STRING})\s{{0,20}}\)[)\]]?\s*+(?:```)?\s*+"
)
_REACT_CALL = Pattern(r"^[ \t]*+Action:[ \t]*+(\w{1,40})[ \t]*+\n++[ \t]*+Action Input:", re.MULTILINE)
"""The call of a ReAct loop: Yao et al. 2022."""
_PIECE = Pattern(rf"{_STRING}|[\"'](?s:.*)|[(\[{{}}\])]")
"""A string, also one that does not end, or a bracket."""
_PRINTS, _PRINTED = Pattern(r"print\(\s{0,20}\Z"), Pattern(r"\s{0,20}\)")
_BEGINS_A_LINE = Pattern(r"(?:^|\n|\[|print\(|=)[ \t]*\Z")
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}
_LITERAL = Pattern(r"\s*(?:[\[{\"]|(?:true|false|null)\s*\Z)")


@dataclass
class _Group:
    """The arguments of one call, collected tag by tag."""

    start: int
    end: int
    name: str = ""
    members: list[tuple[str, Any]] = field(default_factory=list)


def function_called(text: str) -> str:
    """Return the name of the function that a whole text calls with one string, or that ReAct calls in it, or "".

    `think` for `think("...")`, for `print(think("..."))`, and for the lines `Action: think` and `Action Input: ...`.
    """
    call = _WHOLE_CALL.fullmatch(text) or _REACT_CALL.search(text)
    return "" if call is None else next(filter(None, call.groups()))


def calls(body: str, own: Collection[str], functions: Collection[str]) -> list[Object]:
    """Return the calls of a text that are written in tags or as Python, from left to right and without overlaps.

    `own` are the folded names of the question's fields, `functions` those of its functions. A Python call must name one
    of the functions, or begin a line (or stand behind `[`, `print(` or `=`) with an own name as its first argument's.
    Raises `AmbiguousReply` if an argument stands twice with different values, or if there are too many tags.
    """
    found = [*_tagged(body)] if "<" in body and "</" in body else []
    if "(" in body:
        found += _pythonic(body, own, functions)
    found.sort(key=lambda each: each.start)
    return [each for index, each in enumerate(found) if not index or each.start >= found[index - 1].end]


def named_calls(body: str, objects: Sequence[Object]) -> Iterator[Object]:
    """Yield the objects; one behind a function's name becomes its call: `{"name": ..., "arguments": {...}}`."""
    position = 0
    for each in objects:
        window = max(position, each.start - 300)
        name = _NAMED.search(body, window, each.start) if each.value is not None else None
        position = each.end
        if name is None:
            yield each
        else:
            value = {"name": next(filter(None, name.group(*_NAMES))), "arguments": each.value}
            yield replace(each, start=name.start(), value=value)


def _tagged(body: str) -> Iterator[Object]:
    decoder = Decoder(Work())
    group: _Group | None = None
    pending: tuple[str, int, str] | None = None
    for part in bounded(_PARTS.finditer(body), _MOST_PARTS):
        if pending is not None:
            key, start, more = pending
            if not part["end"]:
                continue  # a tag within an argument is part of its text
            assert group is not None, "an argument is of a group"
            group.members.append((key, _value(body[start : part.start()], more)))
            group.end, pending = part.end(), None
            continue
        name, key = part["name"] or part["bare"], part["key"] or part["glm"]
        if name or (key and group is not None and has_prose(body[group.end : part.start()])):
            yield from _object(group, decoder)
            group = _Group(part.start(), part.end(), name or "")
        if key:
            group = group or _Group(part.start(), part.end())
            pending = (key, part.end(), part["more"] or "")
        elif part["over"] and group is not None:
            group.end = part.end()
            yield from _object(group, decoder)
            group = None
    if pending is not None and group is not None:
        yield Object(group.start, len(body), "cut", call=True)
    else:
        yield from _object(group, decoder)


def has_prose(text: str) -> bool:
    """Return whether a text has anything but tags and blanks."""
    return bool(re.sub(r"<[^<>]{0,200}>", "", text).strip())


def _object(group: _Group | None, decoder: Decoder) -> Iterator[Object]:
    if group is not None and group.members:
        value = decoder.nested(group.members)
        said = {"name": group.name, "arguments": value} if group.name else value
        yield Object(group.start, group.end, "strict", said, call=True)


def _value(written: str, attributes: str) -> Any:
    """Parse an argument as JSON if it looks like JSON, unless its tag says that it is a string."""
    words = written.strip("\n")
    if re.search(r"string\s?=\s?[\"']?true|type\s?=\s?[\"']?string", attributes) or not _LITERAL.match(words):
        return words
    try:
        return decoded(words.strip())
    except (ValueError, RecursionError, DecisionError):
        return words


def _pythonic(body: str, own: Collection[str], functions: Collection[str]) -> Iterator[Object]:
    position = tried = 0
    while tried < _MOST_CALLS and (call := _CALL.search(body, position)):
        position, tried = call.end(), tried + 1
        name, key = spaced(_function(call["name"], call["module"])), call["key"] and spaced(call["key"])
        if name not in functions and (
            key not in own or not _BEGINS_A_LINE.search(body, max(0, call.start() - 80), call.start())
        ):
            continue
        start, end = call.start(), _closing(body, call.end("name"))
        value = None if end is None else _called(body[start:end])
        position = len(body) if end is None else end
        printed = _PRINTS.search(body, max(0, start - 30), start)
        if printed is not None and (closed := _PRINTED.match(body, position)):
            start, position = printed.start(), closed.end()
        yield Object(start, position, "broken" if value is None else "strict", value, call=True)


def _closing(body: str, start: int) -> int | None:
    """Return the end of the bracket that closes the one at `start`, or None if it is too far away or missing."""
    depth = 0
    for piece in _PIECE.finditer(body, start, min(len(body), start + _LONGEST_CALL)):
        if piece[0] in "([{":
            depth += 1
        elif piece[0] in ")]}":
            depth -= 1
            if depth <= 0:
                return piece.end()
        if depth > 50:
            return None
    return None


def _called(written: str) -> dict[str, Any] | None:
    """Return the function's name and the arguments of a Python call, or None if there is anything but literals.

    A single argument without a name gets the function's name, unless it is an object.
    """

    def on_one_line(string: re.Match[str]) -> str:
        return string[0] if string[0][:3] in {'"""', "'''"} else string[0].replace("\n", "\\n")

    if _joins_strings(written):
        return None
    source = re.sub(_STRING, on_one_line, written)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a reply must not print a warning
            call = ast.parse(source, mode="eval").body
        if not isinstance(call, ast.Call):
            return None
        called = call.func
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        inside = called.value if isinstance(called, ast.Attribute) else None
        name = _function(name, inside.id if isinstance(inside, ast.Name) else None)
        given: dict[str, Any] = {}
        for keyword in call.keywords:
            if keyword.arg is None or keyword.arg in given:
                return None
            given[keyword.arg] = _literal(keyword.value, source)
        if len(call.args) > 1 or (call.args and given):
            return None
        if call.args:
            only = _literal(call.args[0], source)
            given = only if isinstance(only, dict) else {name: only}
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    return {"name": name, "arguments": Decoder(Work()).pairs(list(given.items()))}


def _function(name: str, module: str | None) -> str:
    """Return the name of a function, which Llama writes as `vote.call(...)`."""
    return module if name == "call" and module else name


def _joins_strings(written: str) -> bool:
    """Return whether code has a comment or adjacent strings, which Python would join: not all of it would be heard."""
    end = 0
    for string in re.finditer(_STRING, written):
        between = written[end : string.start()]
        if "#" in between or (end and not re.search(r"[,:=(\[{]", between)):
            return True
        end = string.end()
    return "#" in written[end:]


def _literal(node: ast.expr, source: str) -> Any:
    """Return the JSON value of a literal. Raises `ValueError` for any other expression."""
    if isinstance(node, ast.Name) and node.id.casefold() in _CONSTANTS:
        return _CONSTANTS[node.id.casefold()]
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(each, source) for each in node.elts]
    if isinstance(node, ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in node.keys]
        if not all(isinstance(key, str) for key in keys):
            raise ValueError("a key is a string")
        return dict(zip(keys, (_literal(each, source) for each in node.values), strict=True))
    value = ast.literal_eval(node)
    if isinstance(value, str | bool | int | None):
        return value
    if isinstance(value, float):  # its spelling tells whether it can be a whole number
        return Real(ast.get_source_segment(source, node) or "nan")
    raise ValueError("no such literal in JSON")
