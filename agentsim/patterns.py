"""Patterns: regular expressions that are compiled when they are first used.

A command imports some hundreds of them and uses few; to compile all takes longer than the rest of its start.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "split")


class Pattern:
    """A regular expression with the methods of `re.Pattern`, compiled when the first of them is called."""

    def __init__(self, pattern: str, flags: int | re.RegexFlag = 0) -> None:
        self.pattern, self._flags = pattern, flags

    if TYPE_CHECKING:

        def search(self, text: str, start: int = 0, end: int = sys.maxsize, /) -> re.Match[str] | None: ...
        def match(self, text: str, start: int = 0, end: int = sys.maxsize, /) -> re.Match[str] | None: ...
        def fullmatch(self, text: str, start: int = 0, end: int = sys.maxsize, /) -> re.Match[str] | None: ...
        def finditer(self, text: str, start: int = 0, end: int = sys.maxsize, /) -> Iterator[re.Match[str]]: ...
        def findall(self, text: str, start: int = 0, end: int = sys.maxsize, /) -> list[Any]: ...
        def sub(self, new: str | Callable[[re.Match[str]], str], text: str, /, count: int = 0) -> str: ...
        def split(self, text: str, /, maxsplit: int = 0) -> list[str]: ...

    else:

        def __getattr__(self, name: str) -> Any:
            """Compile it and keep its methods, which are found without this function from then on."""
            if name not in _METHODS:
                raise AttributeError(f"a pattern has no {name}", name=name, obj=self)
            compiled = re.compile(self.pattern, self._flags)
            vars(self).update({each: getattr(compiled, each) for each in _METHODS})
            return getattr(compiled, name)
