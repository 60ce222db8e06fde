"""The page of every game in a browser: every control works, nothing is loaded, and foreign text stays text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from agentsim.records.history import FINISHED
from agentsim.records.run_files import RunFiles
from agentsim.results import run_in
from tests.amounts import some_of
from tests.contract.harness import GAMES, on_server
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.report.test_browser import ALL, CORPUS, Opened, browser

__all__ = ["browser"]

USED = ("monopoly", "werewolf")
"""The games whose page is checked in every run: one with a board, one with many secrets."""
used = some_of("name", GAMES, *USED)
PAYLOADS = list(CORPUS.values())


def hostile(body: Mapping[str, Any]) -> str:
    """Reply as the schema asks, with an attack in each text, as far as it fits."""
    digest = int(hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest(), 16)

    def poisoned(value: Any, place: int) -> Any:
        if isinstance(value, dict):
            return {key: poisoned(part, place + count) for count, (key, part) in enumerate(value.items(), start=1)}
        if isinstance(value, list):
            return [poisoned(part, place + count) for count, part in enumerate(value)]
        if isinstance(value, str) and value.startswith("text "):
            return PAYLOADS[(digest + place) % len(PAYLOADS)]
        return value

    return json.dumps(poisoned(json.loads(varied_by_schema(body)), 0))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], RunFiles]:
    """Return a function from a game to the files of its tiny game among hostile models, played once."""

    @cache
    def play(name: str) -> RunFiles:
        logs = tmp_path_factory.mktemp("hostile")
        with FakeServer(hostile).in_thread() as server, ThreadPoolExecutor(1) as elsewhere:  # the browser has the loop
            result = elsewhere.submit(on_server, name, server.url(), logs).result()
        assert result.status in FINISHED, result.error  # markup is asked for again, and may cost a player its word
        said = [event.content for told in result.typed_history.rounds for event in told.events]
        assert any(payload in words for words in said for payload in PAYLOADS), "no attack was said"
        return result.files

    return play


@pytest.fixture
def pages(name: str, played: Callable[[str], RunFiles]) -> Path:
    """Write the page of a game with all options, and return its path."""
    files = played(name)
    return run_in(files).page(files.page, **asdict(ALL))


def use_everything(page: Page) -> int:
    """Use every control of the page and return the number of controls."""
    used = 0
    for select in page.locator("select:visible").all():
        for index in range(1, min(3, select.locator("option").count())):
            select.select_option(index=index)
            used += 1
        select.select_option(index=0)
    page.fill("#find", "<script")
    page.fill("#find", "")
    for part in page.locator("details:visible > summary").all()[:8]:
        part.press("Enter")
        used += 1
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    for button in page.locator("button:visible:not(:disabled)").all():
        button.press("Enter")
        used += 1
    for slider in page.get_by_role("slider").all():
        slider.fill("0")
        used += 1
    for spot in page.locator(".web .spot").all()[:3]:
        spot.dispatch_event("mouseenter")
        spot.dispatch_event("click")
        spot.dispatch_event("mouseleave")
        used += 1
    for link in page.locator("main a[href^='#']:visible").all()[:3]:
        link.press("Enter")
        used += 1
    page.keyboard.press("/")
    expect(page.locator("#find")).to_be_focused()
    return used


@used
def test_every_control_works_and_foreign_words_are_only_words(browser: Browser, name: str, pages: Path) -> None:
    with Opened(browser, pages, reduced_motion="reduce") as opened:
        page = opened.page
        assert use_everything(page) > 10
        assert page.evaluate("window.PWN") is None
        assert opened.requests == [pages.as_uri()]
        assert page.evaluate("document.scripts.length") == 1
        assert page.evaluate("document.querySelectorAll('img, iframe, [onload], [onerror], [onmouseover]').length") == 0
        assert page.evaluate("[...document.links].every(a => a.getAttribute('href').startsWith('#'))")
        text = page.evaluate("document.body.textContent")
        assert sum(payload in text for payload in PAYLOADS) > len(PAYLOADS) / 2, "they are there, as words"
        page.emulate_media(color_scheme="dark")
        assert len(page.screenshot()) > 10_000
        page.emulate_media(media="print")
        assert len(page.pdf()) > 10_000
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": 400, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, "nothing sticks out of a small screen"


@used
def test_as_one_player_saw_it_the_page_works_as_well(browser: Browser, name: str, pages: Path) -> None:
    files = RunFiles(pages.parent, pages.stem)
    first = json.loads(files.history.read_text(encoding="utf-8"))["players"][0]["id"]
    page = run_in(files).page(files.page, include_prompts=True, include_reasoning=True, as_seen_by=first)
    with Opened(browser, page, reduced_motion="reduce") as opened:
        assert use_everything(opened.page) > 5
        assert opened.page.evaluate("window.PWN") is None
        assert opened.requests == [page.as_uri()]
