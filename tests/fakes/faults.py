"""Faults: every way in which a model service answers wrongly (F01 to F42), as answers of the fake server.

When a fault strikes is `FaultyServer`'s; what a run must make of it is told in `tests/matrix`.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from tests.fakes.replies import envelope, varied_by_schema
from tests.fakes.server import FakeServer, Raw, Received, on_wire
from tests.fakes.wires import as_chat, wire_of

__all__ = [
    "Fault",
    "FaultyServer",
    "answer",
    "bomb",
    "called",
    "mapped",
    "reshaped",
    "said",
    "seat_of",
    "usage",
    "with_text",
    "wrapped",
]

Fault: TypeAlias = "str | Callable[[dict[str, Any]], Raw]"
"""A scenario of the fake server, or an answer made from the request's body."""


def seat_of(body: dict[str, Any]) -> str:
    """Whose request it is: personas in these tests say `seat B`."""
    found = re.search(r"\bseat (\w)", str(body["messages"]))
    return found[1] if found else ""


class FaultyServer(FakeServer):
    """Plays `fault` to requests number `first` to `last` of one seat (None: of all), and answers the others well.

    A seat is asked one thing at a time, so that the same requests are struck however many run at once.
    """

    def __init__(self, fault: Fault = "ok", seat: str | None = "B", first: int = 1, last: int = 10**9) -> None:
        super().__init__(varied_by_schema, retry_after=None)
        self.fault, self.seat, self.first, self.last = fault, seat, first, last
        self.rebuilt = False
        self.struck = threading.Event()
        self.asked: Counter[str] = Counter()

    def _play(self, connection: Any, behaviour: str, name: str, received: Received) -> None:
        asked = as_chat(wire_of(received.path), received.body)
        seat = seat_of(asked)
        self.asked[seat] += 1
        struck = self.seat in {None, seat} and self.first <= self.asked[seat] <= self.last
        fault = self.fault if struck and not self.rebuilt else said
        if struck:
            self.struck.set()
        if isinstance(fault, str):
            super()._play(connection, fault, name, received)
        else:
            self._finish(connection, name, on_wire(received, fault(asked)))


def usage(body: dict[str, Any]) -> dict[str, Any]:
    """Tokens as a real server would count them, roughly."""
    prompt = sum(len(message["content"]) for message in body["messages"]) // 4
    return {"prompt_tokens": prompt, "completion_tokens": 5, "total_tokens": prompt + 5}


def said(body: dict[str, Any]) -> Raw:
    """A proper answer: a text, or a call of the function that the request forces."""
    return called()(body) if "tools" in body else answer(varied_by_schema)(body)


def called(*calls: tuple[str | None, str | None], text: str | None = None) -> Callable[[dict[str, Any]], Raw]:
    """Calls of functions, each by (name, arguments); None is the right name, or proper arguments."""

    def reply(body: dict[str, Any]) -> Raw:
        function = body["tools"][0]["function"]
        schema = {"json_schema": {"schema": function["parameters"]}}
        proper = varied_by_schema(body | {"response_format": schema})
        made = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {
                    "name": function["name"] if name is None else name,
                    "arguments": proper if arguments is None else arguments,
                },
            }
            for number, (name, arguments) in enumerate(calls or [(None, None)])
        ]
        parts = {"role": "assistant", "content": text, "tool_calls": made}
        return answer(lambda _body: None, finish_reason="tool_calls", message=parts)(body)

    return reply


def answer(content: Callable[[dict[str, Any]], str | None], **choice: Any) -> Callable[[dict[str, Any]], Raw]:
    """An answer with this text; `choice` is added to its choice."""

    def reply(body: dict[str, Any]) -> Raw:
        return Raw(body=envelope(content(body), model=body["model"], **choice) | {"usage": usage(body)})

    return reply


def wrapped(before: str, after: str) -> Callable[[dict[str, Any]], Raw]:
    """A proper reply with something around it."""
    return answer(lambda body: before + varied_by_schema(body) + after)


def mapped(change: Callable[[str, Any], Any]) -> Callable[[dict[str, Any]], Raw]:
    """A proper reply, each of its values replaced by `change(key, value)`; NaN and bare words stay possible."""
    return answer(lambda body: json.dumps({k: change(k, v) for k, v in json.loads(varied_by_schema(body)).items()}))


def reshaped(change: Callable[[str], str]) -> Callable[[dict[str, Any]], Raw]:
    """A proper reply, changed as text."""
    return answer(lambda body: change(varied_by_schema(body)))


def with_text(words: str) -> Callable[[dict[str, Any]], Raw]:
    """A proper reply whose free texts are these words; choices and numbers stay."""
    return mapped(lambda key, value: words if isinstance(value, str) and value.startswith("text ") else value)


def bomb(megabytes: int) -> Callable[[dict[str, Any]], Raw]:
    """A small gzip of a large answer, packed when it is first sent: who only collects tests does not wait for it."""
    packed = cache(lambda: gzip.compress(b" " * (megabytes * 10**6), compresslevel=9))
    return lambda _body: Raw(200, packed(), {"Content-Encoding": "gzip"})
