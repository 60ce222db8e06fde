"""A model server that writes down what it was asked and what it has wholly sent, in a process of its own.

Equal requests get equal answers, after the same few milliseconds. Some prompts first get a text that does not answer
the question, so that games ask again. A prompt is identified by a digest of its messages.

    with witness(folder) as server: ...
    python -m benchmarks.witness --log FILE    # prints its base URL, serves until its input ends
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer, Raw, Received

__all__ = ["Heard", "Witness", "prompt_digest", "witness"]

_LEAST_S, _SPREAD_MS = 0.010, 40
_EVERY_ODD = 7
"""One prompt in so many is answered with words that decide nothing."""
_FENCE, _FENCE_S = "_fence", 0.001


def prompt_digest(messages: Iterable[tuple[str, str]]) -> str:
    """Return the digest of a prompt's roles and texts."""
    return hashlib.sha256(json.dumps([list(message) for message in messages]).encode()).hexdigest()


@dataclass(frozen=True)
class Heard:
    """How often each prompt was asked, and when each answer was handed to the kernel whole, by `time.monotonic()`."""

    asked: Counter[str]
    sent: tuple[tuple[str, float], ...]

    def unread(self, read: Counter[str], until: float) -> list[float]:
        """Return the times of the answers sent until `until` that are not in `read`."""
        sent = [(prompt, at) for prompt, at in self.sent if at <= until]
        left = Counter(prompt for prompt, _ in sent) - read
        return [at for prompt, of in left.items() for at in [at for each, at in sent if each == prompt][-of:]]


class Witness:
    """The client's side of the server.

    It serves one client process at a time, so that every call belongs to a process.
    """

    def __init__(self, url: str, log: Path) -> None:
        self.url = url
        self._log, self._read = log, 0

    def heard(self) -> Heard:
        """Return what the server heard since the last call, including all that ended processes have sent."""
        fence = self.url.removesuffix("/ok/v1") + f"/{_FENCE}"
        with urllib.request.urlopen(fence, timeout=30) as answer:  # sent once all other connections are closed
            answer.read()
        with self._log.open("rb") as file:
            file.seek(self._read)
            new = file.read()
        self._read += len(new)
        lines = [line.split() for line in new.decode().splitlines()]
        sent = tuple((prompt, float(at)) for what, prompt, at in lines if what == "sent")
        return Heard(Counter(prompt for what, prompt, _ in lines if what == "asked"), sent)


class _Server(FakeServer):
    def __init__(self, log: int) -> None:
        super().__init__(_reply, latency_s=_latency)
        self._log = log
        self._fences: list[Any] = []

    def answer(self, connection: Any, received: Received) -> None:
        if received.path == f"/{_FENCE}":
            self._fences.append(connection)
            self._let_pass()
            return
        connection.prompt = _prompt(received.body)
        self._note("asked", connection.prompt)
        super().answer(connection, received)
        self.received.clear()  # a long benchmark asks for gigabytes

    def _finish(self, connection: Any, name: str, raw: Raw) -> None:
        super()._finish(connection, name, raw)
        if not connection.transport.is_closing() and not connection.transport.get_write_buffer_size():
            self._note("sent", connection.prompt)

    def _note(self, what: str, prompt: str) -> None:
        os.write(self._log, f"{what} {prompt} {time.monotonic()!r}\n".encode())

    def _let_pass(self) -> None:
        if len(self.connections) > len(self._fences):
            asyncio.get_running_loop().call_later(_FENCE_S, self._let_pass)
            return
        for connection in self._fences:
            connection.send(Raw())
        self._fences.clear()


def _prompt(body: dict[str, Any]) -> str:
    return prompt_digest((message["role"], message["content"]) for message in body["messages"])


def _reply(body: dict[str, Any]) -> str:
    return "I would rather not say." if int(_prompt(body), 16) % _EVERY_ODD == 0 else varied_by_schema(body)


def _latency(body: dict[str, Any]) -> float:
    return _LEAST_S + int(_prompt(body), 16) % _SPREAD_MS / 1_000


@contextmanager
def witness(folder: Path) -> Iterator[Witness]:
    """Yield a server that ends with the block and logs into the folder."""
    log = folder / "witness.log"
    command = [sys.executable, "-m", "benchmarks.witness", "--log", str(log)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield Witness(process.stdout.readline().strip(), log)
        finally:
            process.stdin.close()
            process.wait(10)


async def _serve(log: Path) -> None:
    over = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin.fileno(), over.set)
    async with _Server(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)) as server:
        print(server.url(), flush=True)
        await over.wait()


def main() -> None:
    """Serve in this process. The base URL is the first line of stdout."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--log", type=Path, required=True, help="where lines are appended: asked or sent, prompt, time")
    asyncio.run(_serve(parser.parse_args().log))


if __name__ == "__main__":
    main()
