"""A model server that costs next to nothing: one fixed completion to every request, after a fixed time.

It runs in a process of its own, so that its CPU is nobody's who is measured:

    with loopback(latency_s=0.2) as url: ...
    python -m benchmarks.loopback --latency 0.2     # prints its port, serves until its input ends
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
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["REPLY", "loopback"]

REPLY = json.dumps({"choice": "green", "reasoning": "It was chosen least often, and I expect others to follow. " * 3})


_ROUNDED_UP_S = 0.001  # `epoll` waits whole milliseconds


def _answer(reply: str) -> bytes:
    """The whole answer with this completion."""
    said = {"role": "assistant", "content": reply}
    body = json.dumps(
        {
            "id": "chatcmpl-0123456789",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "loopback",
            "choices": [{"index": 0, "finish_reason": "stop", "logprobs": None, "message": said}],
            # as many as a prompt of a society has: of far fewer than were sent, a run warns
            "usage": {"prompt_tokens": 2_200, "completion_tokens": 60, "total_tokens": 2_260},
        }
    ).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: keep-alive\r\n\r\n"
    return head % len(body) + body


class _Server:
    """Answers on as many kept connections as there are, in a loop of its own.

    An answer leaves when it is due; asyncio leaves the wait to `epoll`, which rounds it up to a whole millisecond.
    """

    def __init__(self, listening: socket.socket, latency_s: float, answer: bytes) -> None:
        self._listening, self._latency_s, self._whole = listening, latency_s, answer
        self._connections: dict[int, socket.socket] = {}
        self._held: dict[int, bytes] = {}  # of requests that are not whole yet
        self._due: deque[tuple[float, socket.socket]] = deque()  # when whom is answered, in that order
        self._epoll = select.epoll()

    def run(self, until: int) -> None:
        """Serve until this file has ended."""
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
                connection = self._due.popleft()[1]
                if connection.fileno() >= 0:  # whoever gave up has closed it
                    with suppress(ConnectionError):
                        connection.send(self._whole)

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
            if len(held) >= end + 4 + (int(rest.split(b"\r\n", 1)[0]) if named else 0):  # whole; nobody sends two
                self._due.append((time.monotonic() + self._latency_s, self._connections[file]))
                held = b""
        self._held[file] = held


@contextmanager
def loopback(latency_s: float = 0.0, reply: str = REPLY) -> Iterator[str]:
    """The base URL of a server in another process, which ends with the block."""
    command = [sys.executable, "-m", "benchmarks.loopback", "--latency", str(latency_s), "--reply", reply]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.stdin.close()
            process.wait(10)


def main() -> None:
    """Serve in this process; the port is the first line of stdout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--reply", default=REPLY, help="the text of every completion")
    given = parser.parse_args()
    with socket.create_server(("127.0.0.1", 0), backlog=2_048) as listening:
        print(listening.getsockname()[1], flush=True)
        _Server(listening, given.latency, _answer(given.reply)).run(sys.stdin.fileno())


if __name__ == "__main__":
    main()
