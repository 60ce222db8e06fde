"""A site as a person has it: `agentsim serve` in a process, and runs in other processes whose calls wait."""

from __future__ import annotations

import asyncio
import http.client
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlencode

from tests.cli.processes import CommandProcess
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer, Received

__all__ = ["Answer", "Held", "ServedSite", "Stream", "answer_to", "hosted", "people", "playing", "served", "until"]

PATIENCE_S = 30.0
Started: TypeAlias = CommandProcess | subprocess.Popen[str]


def until(found: Callable[[], Any], what: str) -> Any:
    """Return the first true result of `found`, which is polled."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if value := found():
            return value
        time.sleep(0.01)  # polls another process
    raise AssertionError(f"{what}: not within {PATIENCE_S:.0f} s")


@dataclass(frozen=True)
class Answer:
    """The answer to one request."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass
class ServedSite:
    """A running server: its address, and the output of its process."""

    host: str
    port: int
    process: Started
    logs: Path
    keys: dict[str, str] = field(default_factory=dict)
    """The keys that the server has printed, by permission: `watch` or `steer`."""
    said: str = ""
    """All output so far."""

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def heard(self, text: str) -> None:
        """Add output of the process, and the keys in it."""
        self.said += text
        for line in text.splitlines():
            if "key=" in line:
                self.keys["watch" if "To watch" in line else "steer"] = line.strip().rpartition("key=")[2]

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """Send one request over its own connection; `_` in a header's name stands for `-`."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE_S)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            reply = connection.getresponse()
            return Answer(reply.status, dict(reply.getheaders()), reply.read().decode())
        finally:
            connection.close()

    def cookie(self, may: str = "steer") -> str:
        """Follow the link with a key, and return its cookie."""
        answer = self.get(f"/enter?key={self.keys[may]}")
        assert answer.status == 303, answer.text
        return answer.headers["Set-Cookie"].partition(";")[0]

    def steer(self, path: str, fields: Mapping[str, str]) -> Answer:
        """Send a form with the experimenter's cookie."""
        return self.post(path, fields, Cookie=self.cookie())

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, None, **headers)

    def post(self, path: str, fields: Mapping[str, str], **headers: str) -> Answer:
        """Send a form as a page of the site itself does."""
        own = {"Content_Type": "application/x-www-form-urlencoded", "Origin": self.url, "Sec_Fetch_Site": "same-origin"}
        return self.ask("POST", path, urlencode(fields).encode(), **{**own, **headers})

    @contextmanager
    def stream(self, path: str, **headers: str) -> Iterator[Stream]:
        """Open the server-sent events of an address."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE_S)
        try:
            connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            with connection.getresponse() as reply:  # the response may hold the socket after its connection is closed
                yield Stream(reply)
        finally:
            connection.close()


class Stream:
    """Server-sent events as they arrive."""

    def __init__(self, reply: http.client.HTTPResponse) -> None:
        self.reply = reply
        self.status = reply.status
        self.last_id = ""

    def event(self) -> tuple[str, str]:
        """Return the type and data of the next event, without comments, or two empty strings at the end."""
        kind, data = "message", list[str]()
        while line := self.reply.readline().decode():
            name, _, value = line.rstrip("\n").partition(":")
            value = value.removeprefix(" ")
            if name == "id":
                self.last_id = value
            elif name == "event":
                kind = value
            elif name == "data":
                data.append(value)
            elif not line.strip() and data:
                return kind, "\n".join(data)
        return "", ""

    def upto(self, words: str) -> str:
        """Return all data up to the event that contains these words."""
        found = ""
        while words not in found:
            kind, data = self.event()
            assert kind, f"the stream ended without {words!r}"
            found += data
        return found


@contextmanager
def served(logs: Path, *words: str, start: Callable[..., Started] = CommandProcess) -> Iterator[ServedSite]:
    """Run `agentsim serve` on a folder, on a free port; `start` takes what `CommandProcess` takes."""
    given = [*words] if "--port" in words else ["--port", "0", *words]
    with start(
        *("serve", "--logs-dir", str(logs), *given), cwd=logs.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.startswith(("http://", "https://")), process.stderr and process.stderr.read()
            host, _, port = address.partition("://")[2].partition(":")
            site = ServedSite(host, int(port or 443), process, logs)
            assert process.stderr is not None
            while "steer" not in site.keys:
                site.heard(process.stderr.readline())
            yield site
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE_S)


class Held(FakeServer):
    """A server whose replies wait until the test releases them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(varied_by_schema, **settings)
        self._waiting: list[tuple[Any, str, str, Received]] = []
        self._free = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    def _play(self, connection: Any, behaviour: str, name: str, received: Received) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting.append((connection, behaviour, name, received))
        self._let()

    def _let(self) -> None:
        while self._waiting and self._free > 0:
            self._free -= 1
            super()._play(*self._waiting.pop(0))

    def let_all(self) -> None:
        """Release all replies, before the first call."""
        self._free = 1_000_000

    def let(self, count: int = 1_000_000) -> None:
        """Release this number of replies, present and future."""

        def more() -> None:
            self._free += count
            self._let()

        until(lambda: self._loop, "the first call")
        assert self._loop is not None
        self._loop.call_soon_threadsafe(more)


ISLAND = """\
game = "agent_island"
seed = 5
[defaults]
model = "fake/echo"
[providers.fake]
base_url = "{url}"
[[players]]
id = "A"
[[players]]
id = "B"
[[players]]
id = "C"
"""


@contextmanager
def playing(
    server: FakeServer, logs: Path, name: str = "run", *words: str, text: str = ISLAND
) -> Iterator[CommandProcess]:
    """Run a game in a process, by default of three models: 3 pitches, 3 votes, 2 pitches and the jury's vote."""
    config = logs.parent / f"{name}.toml"
    config.write_text(text.format(url=server.url()), encoding="utf-8")
    given = (
        *("run", "--config", str(config), "--name", name, "--logs-dir", str(logs), "--display", "none", "--no-html"),
        *words,
    )
    with CommandProcess(*given, cwd=logs.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=PATIENCE_S)


SEATED = """\
game = "agent_island"
seed = 5
[[players]]
id = "p"
count = {seats}
model = "web"
"""


@contextmanager
def hosted(
    home: Path, text: str, *words: str, name: str = "run", start: Callable[..., Started] = CommandProcess
) -> Iterator[ServedSite]:
    """Play and serve a game in one process, with `agentsim run --serve` on a free port."""
    config, errors = home / f"{name}.toml", home / "stderr.txt"
    config.write_text(text, encoding="utf-8")
    own = ("--serve", "--port", "0", "--display", "none", "--no-html", "--name", name)
    with (
        errors.open("w", encoding="utf-8") as said,
        start("run", str(config), *own, *words, cwd=home, stdout=subprocess.PIPE, stderr=said) as process,
    ):
        try:
            assert process.stdout is not None
            host, _, port = process.stdout.readline().strip().partition("://")[2].partition(":")
            assert host, errors.read_text("utf-8")
            site = ServedSite(host, int(port or 443), process, home / "logs")
            until(lambda: re.search(r"steer: .*key=.*\n", errors.read_text("utf-8")), "the link with the key")
            site.heard(errors.read_text("utf-8"))
            yield site
        finally:
            process.terminate()
            process.communicate(timeout=PATIENCE_S)


@contextmanager
def people(
    home: Path, seats: int, *words: str, name: str = "run", start: Callable[..., Started] = CommandProcess
) -> Iterator[tuple[ServedSite, list[str]]]:
    """Play and serve a game with this many people, and yield the site and the paths of their links."""
    with hosted(home, SEATED.format(seats=seats), *words, name=name, start=start) as site:
        assert site.process.stdout is not None
        yield site, [site.process.stdout.readline().strip().partition(f":{site.port}")[2] for _ in range(seats)]


def answer_to(question: str, said: str) -> dict[str, str]:
    """Return the form that answers the question of a seat's page, with these words and each first choice."""
    form = question[question.rindex("<form", 0, question.rindex('name="seat-decision"')) :]
    found = {"seat-step": "answer", "seat-decision": re.findall(r'name="seat-decision" value="(\d+)"', form)[0]}
    found |= dict.fromkeys(re.findall(r'<textarea[^>]* name="([^"]+)"', form), said)
    for field_name, value in re.findall(r'type="radio" name="([^"]+)" value="([^"]*)"', form):
        found.setdefault(field_name, value)
    return found
