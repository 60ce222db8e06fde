"""A raw-socket server on loopback that speaks each wire by its path, well-behaved or not as the base path says.

`http://127.0.0.1:PORT/<scenario>/v1`; scenarios are the functions `_<name>` of `FakeServer._scenarios`, and
`http_<status>` for any status. What stands after a `~` (`rate_limited~b`) only gives a scenario counters of its
own. `GET /_stats` answers `{"started": {...}, "completed": {...}}` and `GET /_requests` what was received.

    async with FakeServer() as server: ...         # in the running loop
    with FakeServer().in_thread() as server: ...   # in a thread
    python -m tests.fakes.server --port 0          # prints its port, serves until it is stopped
"""

from __future__ import annotations

import argparse
import asyncio
import http
import json
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self, TypeAlias

from tests.fakes.replies import envelope, first_by_schema, varied_by_schema
from tests.fakes.wires import as_chat, from_chat, wire_of

__all__ = ["FakeServer", "Raw", "Received", "Reply", "on_wire"]


@dataclass(frozen=True)
class Received:
    """One request that was received; header names are in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Raw:
    """A whole answer, for reply functions that return more than a text."""

    status: int = 200
    body: bytes | str | dict[str, Any] | list[Any] = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"

    def encoded(self, *, keep_alive: bool = True) -> bytes:
        body = self.body if isinstance(self.body, (bytes, str)) else json.dumps(self.body)
        content = body.encode() if isinstance(body, str) else body
        reason = http.HTTPStatus(self.status).phrase if self.status in set(http.HTTPStatus) else "Odd"
        headers = {
            "Content-Type": self.content_type,
            "Content-Length": str(len(content)),
            "Connection": "keep-alive" if keep_alive else "close",
            **self.headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"HTTP/1.1 {self.status} {reason}\r\n{head}\r\n".encode() + content


Reply: TypeAlias = Callable[[dict[str, Any]], "str | Raw"]
"""A function from the body of a request, in the form of chat completions, to a text or a whole answer."""


class FakeServer:
    """The server. Its settings may be changed while it runs; counters and `received` grow in the order of arrival."""

    def __init__(
        self,
        reply: Reply = first_by_schema,
        *,
        latency_s: float | Callable[[Any], float] = 0.0,
        retry_after: str | None = "0.01",
        drip_s: float = 0.01,
        port: int = 0,
    ) -> None:
        self.reply, self.latency_s, self.retry_after, self.drip_s = reply, latency_s, retry_after, drip_s
        self.port = port
        self.received: list[Received] = []
        self.started: Counter[str] = Counter()
        self.completed: Counter[str] = Counter()
        self.in_flight = self.most_in_flight = 0
        self.connections: set[_Connection] = set()
        self.connections_made = 0
        self._server: asyncio.Server | None = None

    def url(self, scenario: str = "ok") -> str:
        """Return the base URL that plays a scenario."""
        return f"http://127.0.0.1:{self.port}/{scenario}/v1"

    async def __aenter__(self) -> FakeServer:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", self.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for connection in list(self.connections):
            connection.transport.abort()
        await asyncio.sleep(0)
        await self._server.wait_closed()

    @contextmanager
    def in_thread(self) -> Iterator[Self]:
        """Serve from a thread with its own event loop, for tests that start loops or processes themselves."""
        ready, loop = threading.Event(), asyncio.new_event_loop()
        done = asyncio.Event()

        async def serve() -> None:
            async with self:
                ready.set()
                await done.wait()

        thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
        thread.start()
        assert ready.wait(10), "the fake server did not start"
        try:
            yield self
        finally:
            loop.call_soon_threadsafe(done.set)
            thread.join(10)
            loop.close()

    def answer(self, connection: _Connection, received: Received) -> None:
        """Record a request and play the scenario that its path names."""
        name = received.path.split("/")[1]
        if name in {"_stats", "_requests"}:
            stats: Any = {"started": self.started, "completed": self.completed}
            connection.send(Raw(body=stats if name == "_stats" else [asdict(one) for one in self.received]))
            return
        self.received.append(received)
        self.started[name] += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        connection.pending = name
        behaviour = name.partition("~")[0]
        latency = self.latency_s(received.body) if callable(self.latency_s) else self.latency_s
        if latency:
            loop = asyncio.get_running_loop()
            connection.timer = loop.call_later(latency, self._play, connection, behaviour, name, received)
        else:
            self._play(connection, behaviour, name, received)

    def _play(self, connection: _Connection, behaviour: str, name: str, received: Received) -> None:
        if behaviour == "hang":
            return
        if behaviour == "drip":
            connection.drip(self.drip_s)
        elif behaviour == "reset":
            connection.reset()
        elif behaviour == "reset_in_body":
            connection.reset(Raw(body=envelope("x" * 1000)).encoded()[:500])
        elif behaviour == "truncated_body":
            connection.break_off(Raw(body=envelope("never whole")).encoded()[:-40])
        else:
            self._finish(connection, name, on_wire(received, self._scenario(behaviour, self.started[name], received)))

    def _finish(self, connection: _Connection, name: str, raw: Raw) -> None:
        self.completed[name] += 1
        connection.send(raw)

    def _scenario(self, behaviour: str, nth: int, received: Received) -> Raw:
        if behaviour.startswith("http_"):
            return on_wire(
                received, Raw(int(behaviour[5:]), {"error": {"message": "the server is unwell", "code": None}})
            )
        if behaviour == "rate_limited" and nth == 1:
            wait = {} if self.retry_after is None else {"Retry-After": self.retry_after}
            return Raw(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, wait)
        if behaviour == "flaky" and nth == 1:
            return Raw(503, "upstream connect error", content_type="text/plain")
        if behaviour in {"ok", "rate_limited", "flaky"}:
            asked = as_chat(wire_of(received.path), received.body)
            said = self.reply(asked)
            return said if isinstance(said, Raw) else Raw(body=envelope(said, model=asked["model"]))
        return _FAULTS.get(behaviour, Raw(404, f"no scenario {behaviour}", content_type="text/plain"))


def on_wire(received: Received, raw: Raw) -> Raw:
    """Return a chat answer in the format of the request's wire, or any other answer unchanged."""
    if not isinstance(raw.body, dict):
        return raw
    status, body = from_chat(wire_of(received.path), raw.status, raw.body)
    return replace(raw, status=status, body=body)


_FAULTS = {
    "bad_key": Raw(401, {"error": {"message": "Incorrect API key provided.", "code": "invalid_api_key"}}),
    "no_credit": Raw(402, {"error": {"message": "Insufficient credits.", "code": 402}}),
    "forbidden": Raw(403, {"error": {"message": "Not yours.", "code": 403}}),
    "moderated": Raw(403, {"error": {"message": "Flagged.", "code": 403, "metadata": {"reasons": ["violence"]}}}),
    "unknown_model": Raw(404, {"error": {"message": "model 'nosuch' not found", "code": "model_not_found"}}),
    "quota": Raw(429, {"error": {"message": "Pay.", "type": "insufficient_quota", "code": "insufficient_quota"}}),
    "context": Raw(400, {"error": {"message": "Too many.", "code": "context_length_exceeded"}}),
    "bad_parameter": Raw(400, {"error": {"message": "Unsupported value.", "param": "temperature"}}),
    "redirect": Raw(302, b"", {"Location": "http://127.0.0.1:1/elsewhere"}),
    "html_200": Raw(200, "<html><b>Log in</b> to the proxy</html>", content_type="text/html"),
    "error_200": Raw(200, {"error": {"message": "upstream died", "code": 502}}),
    "bad_json": Raw(200, b'{"choices": [{"message": {"content": "hel'),
    "empty_body": Raw(200, b""),
    "empty_choices": Raw(200, {"id": "x", "model": "m", "choices": []}),
    "empty_text": Raw(200, envelope("")),
    "refusal": Raw(200, envelope(None, message={"content": None, "refusal": "I cannot."})),
    "content_filter": Raw(200, envelope(None, finish_reason="content_filter")),
    "bad_utf8": Raw(200, b'{"choices": "\xff\xfe"}'),
    "deep_json": Raw(200, b"[" * 100_000),
}


class _Connection(asyncio.Protocol):
    transport: asyncio.Transport

    def __init__(self, server: FakeServer) -> None:
        self.server = server
        self.pending: str | None = None
        self.timer: asyncio.TimerHandle | None = None
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.connections.add(self)
        self.server.connections_made += 1

    def connection_lost(self, _error: Exception | None) -> None:
        self.server.connections.discard(self)
        if self.timer is not None:
            self.timer.cancel()
        self._over()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._buffer.startswith(b"\x16\x03"):  # a TLS handshake; real servers do
            self.break_off(Raw(400, "this is http").encoded(keep_alive=False))
            return
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            length = int(headers.get("content-length", "0"))
            if len(self._buffer) < end + 4 + length:
                return
            content, self._buffer = self._buffer[end + 4 : end + 4 + length], self._buffer[end + 4 + length :]
            method, path, _ = head.split(" ", 2)
            body = json.loads(content) if content else None
            self.server.answer(self, Received(method, path, headers, body))

    def send(self, raw: Raw) -> None:
        self._over()
        self.transport.write(raw.encoded())

    def drip(self, interval_s: float) -> None:
        """Send the head of an answer, then one space per interval for ever, so that a read timeout never fires."""
        self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n")

        def drop() -> None:
            self.transport.write(b" ")
            self.timer = asyncio.get_running_loop().call_later(interval_s, drop)

        drop()

    def break_off(self, data: bytes) -> None:
        self.transport.write(data)
        self.transport.close()

    def reset(self, begun: bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n") -> None:
        """Send these bytes and reset the connection: in the middle of the headers, or later."""
        self.transport.write(begun)
        connected = self.transport.get_extra_info("socket")
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def _over(self) -> None:
        if self.pending is not None:
            self.pending = None
            self.server.in_flight -= 1


_REPLIES: dict[str, Reply] = {"first": first_by_schema, "varied": varied_by_schema}


async def _serve(server: FakeServer) -> None:
    async with server:
        print(server.port, flush=True)
        await asyncio.Event().wait()


def main() -> None:
    """Serve in this process; the port is the first line of stdout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--retry-after", default="0.01")
    parser.add_argument("--reply", choices=sorted(_REPLIES), default="first")
    given = parser.parse_args()
    server = FakeServer(_REPLIES[given.reply], latency_s=given.latency, retry_after=given.retry_after, port=given.port)
    asyncio.run(_serve(server))


if __name__ == "__main__":
    main()
