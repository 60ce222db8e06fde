"""The page of every game in a browser: what its first screen shows, and that it fits a telephone, a tablet, a desk."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from agentsim.results import RecordedRun, run_in
from tests.amounts import some_of
from tests.contract.harness import on_server
from tests.fakes.replies import first_by_schema
from tests.fakes.server import FakeServer
from tests.report.test_browser import WIDER, Opened, browser

__all__ = ["browser"]

GAMES = ("agent_island_bots", "auction", "monopoly_bots", "market_bots", "smith_1962", "werewolf_bots", "society_bots")
CONFIGS = some_of("config", GAMES, "auction", "monopoly_bots", "smith_1962")
"""The pages that are drawn in every run: a table, a board, and charts."""
SCREENS = {1280: 900, 390: 844}
WHOLE = ".lead", ".why", ".facts", "#turns", "#example"
"""Who won, why, what it cost, where it turned, what was said against what was thought: on the first screen in full."""
SPOKEN = {
    **dict.fromkeys(("market_bots", "monopoly_bots"), "Said, thought and done"),
    "agent_island_bots": "Said, explained and done",
    "auction": "Thought and done",
    "society_bots": "Said and done",
    "werewolf_bots": "Said and thought",
}
"""What the bots of each game give words to; those of Smith's experiment neither speak nor think."""


@pytest.fixture(scope="module")
def pages(
    request: pytest.FixtureRequest,
    run_of_config: Callable[[str], RecordedRun],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Path]:
    """The page of each config that is asked for; games are played before the browser has the event loop."""
    wanted = [item.callspec.params["config"] for item in request.session.items if hasattr(item, "callspec")
              and "config" in item.callspec.params and item.path == request.path]  # fmt: skip
    folder = tmp_path_factory.mktemp("pages")
    return {each: run_of_config(each).page(folder / f"{each}.html") for each in {*wanted}}


def bottom(page: Page, selector: str) -> float:
    found: float = page.evaluate("some => document.querySelector(some).getBoundingClientRect().bottom", selector)
    return found


@CONFIGS
def test_the_first_screen_answers_the_five_questions(pages: dict[str, Path], browser: Browser, config: str) -> None:
    with Opened(browser, pages[config]) as opened:
        example = opened.page.locator("#example")
        if config in SPOKEN:
            expect(example.get_by_role("heading")).to_have_text(SPOKEN[config])
            for part in SPOKEN[config].lower().replace(" and", ",").split(", "):
                side = {"explained": "explanation"}.get(part, part)
                expect(example.locator(".did" if part == "done" else f".of-{side} .said")).not_to_be_empty()
        else:
            expect(example).to_contain_text("No decision has words beside a thought or an action.")
        for width, height in SCREENS.items():
            opened.page.set_viewport_size({"width": width, "height": height})
            assert {part: bottom(opened.page, part) > height for part in WHOLE} == dict.fromkeys(WHOLE, False), width
            assert bottom(opened.page, "#course .plot svg") < height


def wordy(body: Mapping[str, Any]) -> str:
    """A model that says and thinks as much as it may."""
    return re.sub(r'"text \w+"', json.dumps("I say this at length, and then again. " * 14), first_by_schema(body))


def test_long_words_of_models_push_nothing_off_the_first_screen(browser: Browser, tmp_path: Path) -> None:
    with FakeServer(wordy).in_thread() as server, ThreadPoolExecutor(1) as elsewhere:  # the browser has this loop
        files = elsewhere.submit(on_server, "agent_island", server.url(), tmp_path).result().files
    with Opened(browser, run_in(files).page(files.page)) as opened:
        for width, height in SCREENS.items():
            opened.page.set_viewport_size({"width": width, "height": height})
            assert {part: bottom(opened.page, part) > height for part in WHOLE} == dict.fromkeys(WHOLE, False), width
            for side in opened.page.locator("#example .side").all():
                assert side.evaluate("e => e.scrollHeight > e.clientHeight + 1"), "words are cut, none is missing"


@CONFIGS
def test_the_page_of_a_game_fits_every_screen(pages: dict[str, Path], browser: Browser, config: str) -> None:
    """Every fold of a panel is open; of a long transcript the first rows stand for all, which are made alike."""
    with Opened(browser, pages[config]) as opened:
        page = opened.page
        folds = "document.querySelectorAll('.result details, #panels > figure > details')"
        page.evaluate(f"for (const part of {folds}) part.open = true")
        rows = "['#list article', '#split article', '.thread']"
        page.evaluate(
            f"for (const some of {rows}) [...document.querySelectorAll(some)].slice(60).forEach(e => e.remove())"
        )
        for width in (390, 768, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate(WIDER) == [], width
        cut = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
        assert page.evaluate(cut) == 0, "no table is cut off on a desk"
