"""The batch page in a real browser: it opens without a request, its links lead beside it, foreign text is only text.

How panels are drawn is tested with the game page, which draws the same ones.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Browser

from agentsim.analysis.finished_games import Entrant, GameRecord, Vote
from agentsim.analysis.preference import own_makers
from agentsim.analysis.standings import standings
from agentsim.report.markup import find_css
from agentsim.report.page import GameLink, render_batch
from agentsim.studies.report_tables import panels
from tests.amounts import some_of
from tests.report.test_browser import CORPUS, Opened, browser

__all__ = ["browser"]

PAPER = 718
"""A4 upright between margins of one centimetre, in the pixels of a style sheet."""


def written(tmp_path: Path, payload: str) -> Path:
    """The page of six games of three models; every text that a history or a folder could bring holds the payload."""
    models = [f"{maker}{payload}/{maker}" for maker in "abc"]
    games = [
        GameRecord(
            f"g{number}",
            "any" + payload,
            number,
            tuple(
                Entrant(f"p{seat}", model, model, float((seat + number) % 3 + 1), seat + 1, seat + 1, 2, 2, 0, 0, 0.1)
                for seat, model in enumerate(models)
            ),
            (Vote("p0", "p1", ("p0", "p1", "p2"), False),),
            0.3,
        )
        for number in range(6)
    ]
    found = standings(games)
    links = [
        GameLink("one", "completed" + payload, 1, "w" + payload, 0.3, None),
        GameLink("two" + payload, "failed", None, None, None, f"two{payload}.html".replace("/", "")),
        GameLink("three", "degraded", 3, "p0", 0.1, "three.html", "27% (p1 54%)" + payload),
    ]
    file = tmp_path / "index.html"
    page = render_batch(
        panels(found, own_makers(games)),
        links,
        name="batch" + payload,
        facts=[("Games", "2 of 3 finished" + payload)],
        labels={line.label: index for index, line in enumerate(found.lines)},
        css=find_css(tmp_path),
        warning="1 of 3 games" + payload,
    )
    file.write_text(page, encoding="utf-8")
    return file


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_is_asked_for_and_nothing_sticks_out(browser: Browser, tmp_path: Path, width: int, scheme: str) -> None:
    file = written(tmp_path, "-" + "long" * 20)
    with Opened(browser, file, viewport={"width": width, "height": 900}, color_scheme=scheme) as opened:
        assert opened.requests == [file.as_uri()]
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        opened.page.emulate_media(media="print")
        opened.page.set_viewport_size({"width": PAPER, "height": 900})
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= PAPER, "on paper nothing can be moved"
        assert opened.page.locator("svg").count() == 2
        ground = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground != "rgba(0, 0, 0, 0)", "the policy lets the style sheet count"


def test_a_games_link_leads_to_the_page_beside_it(browser: Browser, tmp_path: Path) -> None:
    file = written(tmp_path, " ü?#%41")
    (tmp_path / "three.html").write_text("<title>third</title>", encoding="utf-8")
    with Opened(browser, file) as opened:
        hrefs = opened.page.evaluate("[...document.querySelectorAll('#games a')].map(a => a.href)")
        assert [unquote(href) for href in hrefs] == [
            f"file://{tmp_path}/two ü?#%41.html",
            f"file://{tmp_path}/three.html",
        ]
        opened.page.get_by_role("link", name="three").press("Enter")
        assert opened.page.title() == "third"


def test_what_is_not_known_of_a_game_is_a_dash(browser: Browser, tmp_path: Path) -> None:
    with Opened(browser, written(tmp_path, "")) as opened:
        cells = opened.page.locator("#games tr", has_text="failed").locator("td").all_inner_texts()
        assert cells == ["failed", "–", "–", "–", "unknown"]


@some_of("payload", CORPUS, "image", "close-script", "close-title", "url")
def test_foreign_text_is_only_text(browser: Browser, tmp_path: Path, payload: str) -> None:
    file = written(tmp_path, payload)
    with Opened(browser, file) as opened:
        page = opened.page
        assert page.title() == " ".join(f"batch{payload}".split())
        assert page.evaluate("window.PWN") is None
        assert opened.requests == [file.as_uri()]
        assert page.evaluate("document.scripts.length") == 0
        assert page.evaluate("document.querySelectorAll('img, iframe, [onload], [onerror], [onmouseover]').length") == 0
        assert page.evaluate("[...document.links].every(a => ['file:', ''].includes(a.protocol))")
        text = page.evaluate("document.body.textContent")
        for words in ("batch", "finished", "w", "two", "a"):
            assert words + payload in text, words
