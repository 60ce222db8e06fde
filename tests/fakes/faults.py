"""The faults of a model service (F01 to F42), as answers of the fake server.

`FaultyServer` decides when a fault happens; `tests/matrix` says what a run must make of it.
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
"""A scenario of the fake server, or a function from the body of a request to an answer."""


def seat_of(body: dict[str, Any]) -> str:
    """Return the seat that a request is for, from its persona (`seat B`), or ""."""
    found = re.search(r"\bseat (\w)", str(body["messages"]))
    return found[1] if found else ""


class FaultyServer(FakeServer):
    """A server that plays `fault` to requests `first` to `last` of one seat (None: of all), and else answers well.

    A seat is asked one request at a time, so the fault meets the same requests at any concurrency.
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
    """Return a token usage, with a quarter of the characters as prompt tokens."""
    prompt = sum(len(message["content"]) for message in body["messages"]) // 4
    return {"prompt_tokens": prompt, "completion_tokens": 5, "total_tokens": prompt + 5}


def said(body: dict[str, Any]) -> Raw:
    """Return a good answer: a text, or a call of the function that the request forces."""
    return called()(body) if "tools" in body else answer(varied_by_schema)(body)


def called(*calls: tuple[str | None, str | None], text: str | None = None) -> Callable[[dict[str, Any]], Raw]:
    """Answer with calls of functions, each (name, arguments); None is the right name, or good arguments."""

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
    """Answer with this text; `choice` is added to the choice."""

    def reply(body: dict[str, Any]) -> Raw:
        return Raw(body=envelope(content(body), model=body["model"], **choice) | {"usage": usage(body)})

    return reply


def wrapped(before: str, after: str) -> Callable[[dict[str, Any]], Raw]:
    """Answer with a good reply between two texts."""
    return answer(lambda body: before + varied_by_schema(body) + after)


def mapped(change: Callable[[str, Any], Any]) -> Callable[[dict[str, Any]], Raw]:
    """Answer with a good reply whose values are replaced by `change(key, value)`; NaN is possible."""
    return answer(lambda body: json.dumps({k: change(k, v) for k, v in json.loads(varied_by_schema(body)).items()}))


def reshaped(change: Callable[[str], str]) -> Callable[[dict[str, Any]], Raw]:
    """Answer with the text of a good reply after `change`."""
    return answer(lambda body: change(varied_by_schema(body)))


def with_text(words: str) -> Callable[[dict[str, Any]], Raw]:
    """Answer with a good reply whose free texts are these words; choices and numbers stay."""
    return mapped(lambda key, value: words if isinstance(value, str) and value.startswith("text ") else value)


def bomb(megabytes: int) -> Callable[[dict[str, Any]], Raw]:
    """Answer with a small gzip of a large body, which is packed when it is first sent, since that takes long."""
    packed = cache(lambda: gzip.compress(b" " * (megabytes * 10**6), compresslevel=9))
    return lambda _body: Raw(200, packed(), {"Content-Encoding": "gzip"})
