"""A model server that costs next to nothing: a completion to every request, after a fixed time.

It runs in a process of its own, so that its CPU is not measured:

    with loopback(latency_s=0.2) as url: ...
    python -m benchmarks.loopback --latency 0.2     # prints its port, serves until its input ends

The request's checksum chooses one of several replies, and replaces `{n}` in a reply. With `caches` the server has a
prefix cache, as OpenAI describes theirs: the beginning of a prompt that was already answered counts as cached, from
1,024 tokens on, in steps of 128. A token is four bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import socket
import subprocess
import sys
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

__all__ = ["REPLY", "loopback"]

REPLY = json.dumps({"choice": "green", "reasoning": "It was chosen least often, and I expect others to follow. " * 3})


_ROUNDED_UP_S = 0.001  # seconds; `epoll` waits whole milliseconds
_TOKEN, _STEP, _LEAST = 4, 128, 1_024  # bytes per token; tokens per step of the cache, and its minimum
# the size of a society's prompt, since a run warns if usage is far below what it sent
_USAGE = {"prompt_tokens": 2_200, "completion_tokens": 60, "total_tokens": 2_260}


def _answer(reply: str, usage: Mapping[str, object] = _USAGE) -> bytes:
    """Return the HTTP response with this completion."""
    said = {"role": "assistant", "content": reply}
    body = json.dumps(
        {
            "id": "chatcmpl-0123456789",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "loopback",
            "choices": [{"index": 0, "finish_reason": "stop", "logprobs": None, "message": said}],
            "usage": usage,
        }
    ).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: keep-alive\r\n\r\n"
    return head % len(body) + body


class _Replies:
    """The responses to requests, with the cached part of the prompt if there is a cache."""

    def __init__(self, replies: Sequence[str], *, caches: bool) -> None:
        self._replies, self._caches = replies, caches
        self._whole = None if caches or len(replies) > 1 or "{n}" in replies[0] else _answer(replies[0])
        self._cached: set[int] = set()  # checksums of cached prefixes, at every step

    def answer(self, body: bytes) -> tuple[bytes, Callable[[], None]]:
        """Return the response, and a function to call when it is sent."""
        if self._whole is not None:
            return self._whole, lambda: None
        number = zlib.crc32(body)
        reply = self._replies[number % len(self._replies)].replace("{n}", f"{number:08x}")
        if not self._caches:
            return _answer(reply), lambda: None
        prompt = "".join(message["content"] for message in json.loads(body)["messages"]).encode()
        steps, so_far = [], 0
        for start in range(0, len(prompt) - _STEP * _TOKEN + 1, _STEP * _TOKEN):
            so_far = zlib.crc32(prompt[start : start + _STEP * _TOKEN], so_far)
            steps.append(so_far)
        met = next((index for index, step in enumerate(steps) if step not in self._cached), len(steps)) * _STEP
        tokens, out = len(prompt) // _TOKEN, len(reply.encode()) // _TOKEN
        usage = {
            "prompt_tokens": tokens,
            "completion_tokens": out,
            "total_tokens": tokens + out,
            "prompt_tokens_details": {"cached_tokens": met if met >= _LEAST else 0},
        }
        return _answer(reply, usage), lambda: self._cached.update(steps)


class _Server:
    """A server for any number of kept connections, in a loop of its own.

    A response is sent when it is due. asyncio would leave the wait to `epoll`, which rounds it up to a whole
    millisecond.
    """

    def __init__(self, listening: socket.socket, latency_s: float, replies: _Replies) -> None:
        self._listening, self._latency_s, self._replies = listening, latency_s, replies
        self._connections: dict[int, socket.socket] = {}
        self._held: dict[int, bytes] = {}  # the bytes of incomplete requests
        # due time, connection, response, and a function to call, in order of time
        self._due: deque[tuple[float, socket.socket, bytes, Callable[[], None]]] = deque()
        self._epoll = select.epoll()

    def run(self, until: int) -> None:
        """Serve until the file `until` reaches its end."""
        for file in (until, self._listening.fileno()):
            self._epoll.register(file, select.EPOLLIN)
        while True:
            left = self._due[0][0] - time.monotonic() if self._due else 1.0
            for file, _ in self._epoll.poll(max(0.0, left - _ROUNDED_UP_S)):
                if file == until:
                    if not os.read(until, 1_024):
                        return
                elif file == self._listening.fileno():
                    connection, _ = self._listening.accept()
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._connections[connection.fileno()], self._held[connection.fileno()] = connection, b""
                    self._epoll.register(connection, select.EPOLLIN)
                else:
                    self._read(file)
            while self._due and self._due[0][0] <= time.monotonic():
                _, connection, answer, answered = self._due.popleft()
                answered()
                if connection.fileno() >= 0:  # closed if the client gave up
                    with suppress(ConnectionError):
                        connection.send(answer)

    def _read(self, file: int) -> None:
        try:
            data = self._connections[file].recv(65_536)
        except ConnectionError:
            data = b""
        if not data:
            self._connections.pop(file).close()
            return
        held = self._held[file] + data
        end = held.find(b"\r\n\r\n")
        if end >= 0:
            _, named, rest = held[:end].lower().partition(b"content-length:")
            if len(held) >= end + 4 + (int(rest.split(b"\r\n", 1)[0]) if named else 0):  # whole; no client pipelines
                answer, answered = self._replies.answer(held[end + 4 :])
                self._due.append((time.monotonic() + self._latency_s, self._connections[file], answer, answered))
                held = b""
        self._held[file] = held


@contextmanager
def loopback(latency_s: float = 0.0, *replies: str, caches: bool = False) -> Iterator[str]:
    """Yield the base URL of a server in another process, which ends with the block."""
    command = [sys.executable, "-m", "benchmarks.loopback", "--latency", str(latency_s)]
    command += ["--caches"] * caches + ["--replies", *(replies or [REPLY])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.stdin.close()
            process.wait(10)


def main() -> None:
    """Serve in this process. The port is the first line of stdout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--replies", nargs="+", default=[REPLY], help="the texts of completions")
    parser.add_argument("--caches", action="store_true", help="say what was met in a prefix cache")
    given = parser.parse_args()
    with socket.create_server(("127.0.0.1", 0), backlog=2_048) as listening:
        print(listening.getsockname()[1], flush=True)
        _Server(listening, given.latency, _Replies(given.replies, caches=given.caches)).run(sys.stdin.fileno())


if __name__ == "__main__":
    main()
