"""spelt: parts of JSON that were written before: what many objects share, or what there was time for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agentsim.engine.codec import json_line

__all__ = ["SpeltList", "SpeltObject", "json_of"]


class Spelt:
    """A value that nobody changes any more, with its JSON."""

    json: bytes


class SpeltObject(dict[str, Any], Spelt):
    """An object; whoever merges something into it makes a plain one."""

    def __init__(self, value: Mapping[str, Any], write: Callable[[Any], bytes] = json_line) -> None:
        super().__init__(value)
        self.json = json_of(value, write)


class SpeltList(list[Any], Spelt):
    """A list of objects that may have spelt members, or of other values."""

    def __init__(self, values: Iterable[Any]) -> None:
        super().__init__(values)
        self.json = b"[%b]" % b",".join([json_of(each) if isinstance(each, dict) else json_line(each) for each in self])


def json_of(value: Mapping[str, Any], write: Callable[[Any], bytes] = json_line) -> bytes:
    """The JSON of an object whose members may be spelt; the others are left to `write`."""
    out: list[bytes] = []
    plain: dict[str, Any] = {}
    for name, member in value.items():
        if isinstance(member, Spelt):
            if plain:
                out.append(write(plain)[1:-1])
                plain = {}
            out.append(b"%b:%b" % (write(name), member.json))
        else:
            plain[name] = member
    if plain:
        out.append(write(plain)[1:-1])
    return b"{%b}" % b",".join(out)
