"""Tags in a reply that are not control tokens: wrappers such as `<answer>`, fences, and tags that hold a field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from agentsim.engine.reading.text import any_name, has_words, masked

_WRAPPER = re.compile(
    r"</?(?=[a-z])(?:answer|response|output|final(?:_answer)?|json|result|reply|xml|message|root)(?:[\s=][^<>]{0,80})?>"
    r"|\[/?(?:ANSWER|RESPONSE|OUTPUT|FINAL)\]",
    re.IGNORECASE,
)
_FENCE = re.compile(r"(?:```|~{3,})[\w+-]{0,20}")
_HOLDS = 8_000  # the most characters in a tag
_CLOSES = re.compile(r"[<\[]\s?/")


@lru_cache(2)
def without_wrappers(text: str) -> str:
    """Replace wrapper tags (`<answer>`, `[/RESPONSE]`) by blanks, so that positions stay the same."""
    return _WRAPPER.sub(lambda tag: " " * len(tag[0]), text) if "<" in text or "[" in text else text


def goes_on_behind_its_end(text: str) -> bool:
    """Return whether words stand behind the end tag of an answer that has no beginning: `Hello.</answer>User: hi`."""
    for tag in _WRAPPER.finditer(text) if "</" in text or "[/" in text else ():
        name = re.sub(r"\W", "", tag[0]).casefold()
        begun = re.search(rf"[<\[]{name}\b", text[: tag.start()], re.IGNORECASE)
        if tag[0][1] == "/" and not begun and has_words(text[: tag.start()]) and has_words(text[tag.end() :]):
            return True
    return False


def without_fences(text: str) -> str:
    """Replace the marks of fences by blanks, so that positions stay the same."""
    return masked(text, [each.span() for each in _FENCE.finditer(text)], " ")


@cache
def tag_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern for `<name>value</name>` and `[name]value[/name]` with any of the folded names."""
    name = any_name(names)
    return re.compile(
        rf"<\s?(?P<a>{name})\s?>(?P<x>[^<>]{{0,{_HOLDS}}})<\s?/\s?(?:{name})?\s?>"
        rf"|\[(?P<b>{name})\](?P<y>[^\[\]<>]{{0,{_HOLDS}}})\[/(?:{name})\]"
    )


def tags(plain: str, names: Sequence[str]) -> Iterator[re.Match[str]]:
    """Yield the complete tags with these names in a folded text."""
    return tag_pattern(tuple(names)).finditer(plain) if names and _CLOSES.search(plain) else iter(())


def tag_name(tag: re.Match[str]) -> str:
    return next(tag[name] for name in "ab" if tag[name] is not None)


def tag_content(tag: re.Match[str]) -> tuple[int, int]:
    """Return the span of a tag's content."""
    return next(tag.span(name) for name in "xy" if tag[name] is not None)
