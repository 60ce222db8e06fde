"""Patterns: regular expressions that are compiled when they are first used.

A command imports some hundreds of them and uses few; to compile all takes longer than the rest of its start.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any


class Pattern:
    """A regular expression with the methods of `re.Pattern`, compiled at the first call of one of them."""

    def __init__(self, pattern: str, flags: int | re.RegexFlag = 0) -> None:
        self.pattern, self._flags = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self._flags)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled.search(text, start, end)

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled.match(text, start, end)

    def fullmatch(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled.fullmatch(text, start, end)

    def finditer(self, text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        return self._compiled.finditer(text, start, end)

    def findall(self, text: str, start: int = 0, end: int = sys.maxsize) -> list[Any]:
        return self._compiled.findall(text, start, end)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str, count: int = 0) -> str:
        return self._compiled.sub(new, text, count)

    def split(self, text: str, maxsplit: int = 0) -> list[str]:
        return self._compiled.split(text, maxsplit)
