"""A site as a person has it: `agentsim serve` in a process of its own, and runs of other processes whose calls wait."""

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
from typing import Any
from urllib.parse import urlencode

from tests.cli.command_line import program
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer, Received

__all__ = ["Answer", "Held", "ServedSite", "Stream", "answer_to", "hosted", "people", "playing", "served", "until"]

PATIENCE_S = 30.0


def until(found: Callable[[], Any], what: str) -> Any:
    """What is found, as soon as it is."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if value := found():
            return value
        time.sleep(0.01)  # polls another process
    raise AssertionError(f"{what}: not within {PATIENCE_S:.0f} s")


@dataclass(frozen=True)
class Answer:
    """What came back to one request."""

    status: int
    headers: Mapping[str, str]
    text: str


@dataclass
class ServedSite:
    """A server's address, and what its process has said."""

    host: str
    port: int
    process: subprocess.Popen[str]
    logs: Path
    keys: dict[str, str] = field(default_factory=dict)
    """What the server has said beside its address: by what one may do, the key of it."""
    said: str = ""
    """All of it."""

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    def heard(self, text: str) -> None:
        """Take what the process has said, and the keys in it."""
        self.said += text
        for line in text.splitlines():
            if "key=" in line:
                self.keys["watch" if "To watch" in line else "steer"] = line.strip().rpartition("key=")[2]

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """One request over a connection of its own; a header's `_` stands for `-`."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE_S)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            reply = connection.getresponse()
            return Answer(reply.status, dict(reply.getheaders()), reply.read().decode())
        finally:
            connection.close()

    def cookie(self, may: str = "steer") -> str:
        """The cookie of who has followed the link with a key."""
        answer = self.get(f"/enter?key={self.keys[may]}")
        assert answer.status == 303, answer.text
        return answer.headers["Set-Cookie"].partition(";")[0]

    def steer(self, path: str, fields: Mapping[str, str]) -> Answer:
        """A form that the experimenter sends."""
        return self.post(path, fields, Cookie=self.cookie())

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, None, **headers)

    def post(self, path: str, fields: Mapping[str, str], **headers: str) -> Answer:
        """A form, as a page of the site itself sends it."""
        own = {"Content_Type": "application/x-www-form-urlencoded", "Origin": self.url, "Sec_Fetch_Site": "same-origin"}
        return self.ask("POST", path, urlencode(fields).encode(), **{**own, **headers})

    @contextmanager
    def stream(self, path: str, **headers: str) -> Iterator[Stream]:
        """The server-sent events of an address."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE_S)
        try:
            connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            with connection.getresponse() as reply:  # it may hold the socket after its connection has let go of it
                yield Stream(reply)
        finally:
            connection.close()


class Stream:
    """Server-sent events as they come."""

    def __init__(self, reply: http.client.HTTPResponse) -> None:
        self.reply = reply
        self.status = reply.status
        self.last_id = ""

    def event(self) -> tuple[str, str]:
        """The next one's type and data; comments and waits are passed over. Empty at the end of the stream."""
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
        """All data up to that of the event that holds these words."""
        found = ""
        while words not in found:
            kind, data = self.event()
            assert kind, f"the stream ended without {words!r}"
            found += data
        return found


@contextmanager
def served(logs: Path, *words: str) -> Iterator[ServedSite]:
    """`agentsim serve` over a folder, on a free port."""
    given = [*words] if "--port" in words else ["--port", "0", *words]
    command = program("serve", "--logs-dir", str(logs), *given)
    with subprocess.Popen(
        command, cwd=logs.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
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
    """A server whose replies wait until they are let go, one by one."""

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
        """Let every reply go at once, before the first call."""
        self._free = 1_000_000

    def let(self, count: int = 1_000_000) -> None:
        """Let so many replies go, those that are still to come included."""

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
) -> Iterator[subprocess.Popen[str]]:
    """A run in a process of its own, by default of three models: 3 pitches, 3 votes, 2 pitches and the jury's vote."""
    config = logs.parent / f"{name}.toml"
    config.write_text(text.format(url=server.url()), encoding="utf-8")
    command = program(
        *("run", "--config", str(config), "--name", name, "--logs-dir", str(logs), "--display", "none", "--no-html"),
        *words,
    )
    with subprocess.Popen(
        command, cwd=logs.parent, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
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
def hosted(home: Path, text: str, *words: str, name: str = "run") -> Iterator[ServedSite]:
    """A game that is played and served by one process: `agentsim run --serve`, on a free port."""
    config, errors = home / f"{name}.toml", home / "stderr.txt"
    config.write_text(text, encoding="utf-8")
    own = ("--serve", "--port", "0", "--display", "none", "--no-html", "--name", name)
    with (
        errors.open("w", encoding="utf-8") as said,
        subprocess.Popen(
            program("run", str(config), *own, *words), cwd=home, stdout=subprocess.PIPE, stderr=said, text=True
        ) as process,
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
def people(home: Path, seats: int, *words: str, name: str = "run") -> Iterator[tuple[ServedSite, list[str]]]:
    """A game with so many people, played and served by a process of its own; the paths of their links."""
    with hosted(home, SEATED.format(seats=seats), *words, name=name) as site:
        assert site.process.stdout is not None
        yield site, [site.process.stdout.readline().strip().partition(f":{site.port}")[2] for _ in range(seats)]


def answer_to(question: str, said: str) -> dict[str, str]:
    """The form that answers the question of a seat's page: these words, and the first of what can be chosen."""
    form = question[question.rindex("<form", 0, question.rindex('name="seat-decision"')) :]
    found = {"seat-step": "answer", "seat-decision": re.findall(r'name="seat-decision" value="(\d+)"', form)[0]}
    found |= dict.fromkeys(re.findall(r'<textarea[^>]* name="([^"]+)"', form), said)
    for field_name, value in re.findall(r'type="radio" name="([^"]+)" value="([^"]*)"', form):
        found.setdefault(field_name, value)
    return found
