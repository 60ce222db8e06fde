"""Objects that a reply writes as XML or YAML, and their conversion to JSON.

`<action>work</action><hours>2</hours>`, and `action: work` with `hours: 2` on the next line, become
`{"action": "work", "hours": "2"}`. Block scalars (`text: |` above indented lines) are read too. The whole reply must
be such an object, and its keys must be names of the question; any other text stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, TypeAlias

from agentsim.engine.reading.text import spaced
from agentsim.patterns import Pattern

Members: TypeAlias = dict[str, Any]

_DEEPEST = 4  # levels of objects
_MOST_PARTS = 200  # elements or lines
_ELEMENT = Pattern(
    r"\s*+<\s?(?P<name>[A-Za-z][\w-]{0,40})(?P<attributes>(?:\s+[\w-]{1,40}\s?=\s?(?:\"[^\"<>]{0,8000}\"|'[^'<>]{0,8000}')){0,20})"
    r"\s?(?:/>|>(?P<inner>(?s:.*?))<\s?/\s?(?P=name)\s?>)"
)
_ATTRIBUTE = Pattern(r"([\w-]{1,40})\s?=\s?(?:\"([^\"<>]{0,8000})\"|'([^'<>]{0,8000})')")
_EMPTY = Pattern(r"\s*+<\s?[A-Za-z][\w-]{0,40}\s[^<>]{1,16000}/>\s*+\Z")
"""One tag with attributes and nothing in it."""
_SIGNS = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
_ESCAPED = Pattern("|".join(_SIGNS))
_AROUND = Pattern(
    r"\s*+(?:```\w{0,12}[ \t]*\n|-{3}[ \t]*\n)(?P<inner>(?s:.*?))\n(?:```|-{3}|\.{3})(?:\s{1,8}```)?\s*\Z"
)
_LINE = Pattern(
    r"(?P<indent>[ \t]*)(?:- )?[\"']?(?P<key>[A-Za-z][\w -]{0,40}?)[\"']?[ \t]?:(?:[ \t]+(?P<value>\S[^\n]*?))?[ \t]*"
)
_BLOCK = Pattern(r"(?P<style>[|>])[+-]?\d?[+-]?(?:[ \t]+#[^\n]*)?")


def as_json(body: str, names: Collection[str], deciding: Collection[str], *, nested: bool, cut: bool = False) -> str:
    """Return the object that a text writes as XML or YAML, as JSON, or the text itself.

    `names` are the folded names that the object may have as keys; at least one key must be one of the `deciding`
    names or hold an object. Unless the answer has `nested` fields, XML stays as it is and is read as tags, except for a
    tag with attributes alone, and so does YAML without a fence or a block scalar, which is read as labels. YAML that
    may be `cut` has no end to tell that its last value is whole, unless a fence ends it.
    """
    inside = found["inner"] if (found := _AROUND.match(body)) else body
    if inside.lstrip().startswith("<") and (nested or _EMPTY.match(inside)):
        members = _elements(inside, names, 0)
    elif ":" in inside and (found is not None or not cut):
        members = _lines(inside, names, nested=nested or found is not None)
    else:
        return body
    if not members or not any(spaced(key) in deciding or isinstance(part, dict) for key, part in members.items()):
        return body
    return json.dumps(members, ensure_ascii=False)


def _elements(text: str, names: Collection[str], depth: int) -> Members | None:
    found: Members = {}
    position = 0
    for _ in range(_MOST_PARTS):
        element = _ELEMENT.match(text, position)
        if element is None:
            break
        key = element["name"]
        if key in found or (depth == 0 and spaced(key) not in names):
            return None
        value = _value(element, names, depth)
        if value is None:
            return None
        found[key] = value
        position = element.end()
    return found if found and not text[position:].strip() else None


def _value(element: re.Match[str], names: Collection[str], depth: int) -> Any:
    attributes = {key: double or single for key, double, single in _ATTRIBUTE.findall(element["attributes"])}
    inner = element["inner"] or ""
    if "<" in inner and depth < _DEEPEST and (members := _elements(inner, names, depth + 1)) is not None:
        return {**attributes, **members}
    if attributes:
        return None if inner.strip() else attributes
    return _ESCAPED.sub(lambda sign: _SIGNS[sign[0]], inner.strip()) if inner.strip() else {}


def _lines(text: str, names: Collection[str], *, nested: bool) -> Members | None:
    lines = text.strip("\n").expandtabs(4).split("\n")
    if len(lines) > _MOST_PARTS:
        return None
    members, index, blocks = _mapping(lines, 0, 0, names)
    return members if index == len(lines) and (nested or blocks) else None


def _mapping(lines: list[str], index: int, depth: int, names: Collection[str]) -> tuple[Members, int, int]:
    """Parse the mapping at one indent: return its members, the index of the line behind, and its number of blocks."""
    found: Members = {}
    indent, blocks = None, 0
    while index < len(lines):
        if not lines[index].strip():
            index += 1
            continue
        line = _LINE.fullmatch(lines[index])
        width = len(line["indent"]) if line else -1
        indent = width if indent is None else indent
        if line is None or width != indent or line["key"] in found or (depth == 0 and spaced(line["key"]) not in names):
            break
        index += 1
        value = line["value"] or ""
        if block := _BLOCK.fullmatch(value):
            words, index = _indented(lines, index, indent)
            joint = "\n" if block["style"] == "|" else " "
            found[line["key"]], blocks = joint.join(words).strip(), blocks + 1
        elif not value and depth < _DEEPEST:
            found[line["key"]], index, inner = (
                _mapping(lines, index, depth + 1, names) if _is_deeper(lines, index, indent) else ("", index, 0)
            )
            blocks += inner
        else:
            found[line["key"]] = _unquoted(value)
    return found, index, blocks


def _is_deeper(lines: list[str], index: int, indent: int) -> bool:
    following = next((line for line in lines[index:] if line.strip()), "")
    return len(following) - len(following.lstrip()) > indent


def _indented(lines: list[str], index: int, indent: int) -> tuple[list[str], int]:
    """Return the stripped lines of a block scalar and the index of the line behind it."""
    words: list[str] = []
    while index < len(lines) and (not lines[index].strip() or len(lines[index]) - len(lines[index].lstrip()) > indent):
        words.append(lines[index].strip())
        index += 1
    return words, index


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
