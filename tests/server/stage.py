"""A game with people: a server in a process, and browsers whose received bytes are kept."""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from tests.cli.processes import CommandProcess

PRIVATE = ("thought", "private_thought", "explanation", "reasoning")
"""The fields that no other player sees."""


class Tap:
    """A proxy to a server that keeps every byte which the server sent.

    With a certificate it terminates TLS, like a proxy before the server; `target` may be set later.
    """

    def __init__(self, port: int = 0, certificate: Path | None = None) -> None:
        self.target, self.seen = port, bytearray()
        self.refused = b""  # requests with this prefix are cut off, as if the server was killed before
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if certificate is not None else None
        if self._tls is not None and certificate is not None:
            self._tls.load_cert_chain(certificate)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listening.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                try:
                    near = near if self._tls is None else self._tls.wrap_socket(near, server_side=True)
                    far = socket.create_connection(("127.0.0.1", self.target))
                except OSError:  # the server is down, or the browser rejects the certificate
                    near.close()
                    continue
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._pump, args=(source, sink, sink is near), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket, sent: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                if sent:
                    self.seen += data
                elif self.refused and data.startswith(self.refused):
                    break
                sink.sendall(data)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


class Stage:
    """A run that is played and served in a process, which can be killed and resumed."""

    def __init__(self, folder: Path, scenario: str, *overrides: str) -> None:
        self.folder, self.links = folder, dict[str, str]()
        (folder / "people.toml").write_text(scenario, encoding="utf-8")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        changes = [word for change in overrides for word in ("--set", change)]
        self._begin("run", "people.toml", "--name", "one", *changes)

    def _begin(self, *words: str) -> None:
        given = (*words, "--serve", "--port", str(self.port), "--display", "none", "--no-html")
        self.errors = (self.folder / "stderr.txt").open("a", encoding="utf-8")
        self.process = CommandProcess(*given, cwd=self.folder, stdout=subprocess.PIPE, stderr=self.errors)
        assert self.process.stdout is not None
        assert self.process.stdout.readline().startswith("http://"), self.said
        links = {}
        for _ in range(len(self.links) or (self.folder / "people.toml").read_text().count('"web"')):
            player, _, link = self.process.stdout.readline().strip().partition(": ")
            links[player] = link
        assert self.links in ({}, links), "a link is another one after the restart"
        self.links = links

    @property
    def said(self) -> str:
        return (self.folder / "stderr.txt").read_text(encoding="utf-8")

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()
        self.errors.close()

    def again(self) -> None:
        """Resume the run in a new process."""
        self._begin("resume", "one")

    def result(self) -> str:
        """Return the first line of the result, once the game is over."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(15)
        self.process.kill()
        self.process.communicate()
        self.errors.close()


class Person:
    """A person with a link and a browser who answers all questions."""

    def __init__(self, browser: Browser, stage: Stage, player: str, **context: Any) -> None:
        self.player, self.secret, self.stage = player, f"only-{player}-knows-{player * 3}", stage
        self.tap = Tap(stage.port)
        self.context = browser.new_context(**context)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda line: self._noted(line.type, line.text))
        self.path = re.sub(r"^http://[^/]+", "", stage.links[player])
        self.answers = 0
        self.dom = ""
        self.choose: Callable[[Page], None] | None = None

    def _noted(self, kind: str, text: str) -> None:
        if kind == "error" and "Failed to load resource" not in text and "net::ERR" not in text:
            self.complaints.append(text)

    def open(self) -> None:
        self.page.goto(f"http://127.0.0.1:{self.tap.port}{self.path}", wait_until="domcontentloaded")

    @property
    def at(self) -> str:
        """The stage that the page shows, `asked` if it has a question, or `error`."""
        found = self.page.evaluate(
            """() => { const part = document.getElementById('seat');
                if (!part) return 'error';
                return part.querySelector('[name=seat-decision]') ? 'asked' : part.dataset.stage; }"""
        )
        self.dom += self.page.content()
        return str(found)

    def act(self) -> str:
        """Do what the page asks for, or wait briefly if it asks nothing; return the stage."""
        at = self.at
        if at == "welcome":
            self.page.click("button[value=agree]")
        elif at in {"before", "after", "asked"}:
            self.fill()
            self.page.click("#seat form button[type=submit]")
            self.answers += at == "asked"
        elif at == "error":
            self.open()
        else:
            self.page.wait_for_timeout(50)
        return at

    def fill(self) -> None:
        """Fill in the form with the first choices and with texts."""
        self.page.evaluate(
            """([secret, open, hidden]) => {
                const seen = (e) => e.checkVisibility();
                for (let again = 0; again < 4; again++)
                    for (const radio of document.querySelectorAll('#seat input[type=radio]')) {
                        const group = [...document.getElementsByName(radio.name)];
                        if (seen(radio) && !group.some((each) => each.checked)) radio.click();
                    }
                for (const one of document.querySelectorAll('#seat select'))
                    if (seen(one) && !one.value) one.selectedIndex = 1;
                for (const box of document.querySelectorAll('#seat textarea, #seat input:not([type])')) {
                    if (!seen(box) || box.value) continue;
                    const hint = document.getElementById(`${box.id}-hint`)?.textContent ?? '';
                    const number = box.inputMode === 'numeric';
                    if (number) box.value = hint.match(/\\d+/)?.[0] ?? '0';
                    else if (!hint.includes('empty for none'))
                        box.value = hidden.includes(box.name) ? secret : open;
                }
            }""",
            [self.secret, f"{self.player} speaks", list(PRIVATE)],
        )

    def received(self) -> str:
        """Return everything that the server sent to this person, and all contents of the page."""
        return self.tap.seen.decode("utf-8", "replace") + self.dom

    def close(self) -> None:
        self.context.close()
        self.tap.close()


@contextlib.contextmanager
def seated(browser: Browser, stage: Stage, **contexts: dict[str, Any]) -> Iterator[list[Person]]:
    """Open a page for each link, and yield the people."""
    people = [Person(browser, stage, player, **contexts.get(player, {})) for player in stage.links]
    try:
        for person in people:
            person.open()
        yield people
    finally:
        for person in people:
            person.close()


def play(people: list[Person], until: Callable[[], bool] = lambda: False, most: int = 1_000) -> None:
    """Let all people act until all are done, or `until` is true."""
    for _ in range(most):
        if until() or {person.act() for person in people} == {"done"}:
            return
    raise AssertionError([(person.player, person.at, person.answers) for person in people])
