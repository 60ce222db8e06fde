"""A model server that costs next to nothing: one fixed completion to every request, after a fixed time.

It runs in a process of its own, so that its CPU is nobody's who is measured:

    with loopback(latency_s=0.2) as url: ...
    python -m benchmarks.loopback --latency 0.2     # prints its port, serves until its input ends
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["REPLY", "loopback"]

REPLY = json.dumps({"choice": "green", "reasoning": "It was chosen least often, and I expect others to follow. " * 3})


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
            "usage": {"prompt_tokens": 500, "completion_tokens": 60, "total_tokens": 560},
        }
    ).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: keep-alive\r\n\r\n"
    return head % len(body) + body


class _Connection(asyncio.Protocol):
    transport: asyncio.Transport

    def __init__(self, latency_s: float, answer: bytes) -> None:
        self._latency_s, self._whole = latency_s, answer
        self._wanted = -1  # bytes of the request under way; unknown until its head is whole
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._held += data
        while self._held:
            if self._wanted < 0:
                end = self._held.find(b"\r\n\r\n")
                if end < 0:
                    return
                head = self._held[:end].lower()
                _, named, rest = head.partition(b"content-length:")
                self._wanted = end + 4 + (int(rest.split(b"\r\n", 1)[0]) if named else 0)
            if len(self._held) < self._wanted:
                return
            self._held, self._wanted = self._held[self._wanted :], -1
            if self._latency_s:
                asyncio.get_running_loop().call_later(self._latency_s, self._answer)
            else:
                self._answer()

    def _answer(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(self._whole)


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


async def _serve(latency_s: float, answer: bytes) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(latency_s, answer), "127.0.0.1", 0, backlog=2_048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


def main() -> None:
    """Serve in this process; the port is the first line of stdout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--reply", default=REPLY, help="the text of every completion")
    given = parser.parse_args()
    asyncio.run(_serve(given.latency, _answer(given.reply)))


if __name__ == "__main__":
    main()
