"""One cursor in time, the transcript's rows and their pane, the marks of a search, and the page on paper."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agentsim.engine.panel import Board, Chart, Overview, Piece, Scene, Series, Tile
from agentsim.records.history import History
from agentsim.report.page import render
from tests.report.sample import document, sample
from tests.report.test_browser import ALL, Opened, browser

__all__ = ["browser"]

LAST = 20
MARK = "[...document.querySelectorAll('.now-line')].map(line => parseFloat(line.getAttribute('d').slice(1)))"


@pytest.fixture
def page_file(tmp_path: Path) -> Path:
    """The sample with empty rounds up to the twentieth, a board and a standing that know every round."""
    doc = document()
    doc["rounds"] += [{"index": at, "title": f"Turn {at}", "events": []} for at in range(4, LAST + 1)]
    tiles = tuple(Tile(x, 0, f"place {x}") for x in range(4))
    scenes = tuple(Scene(f"After {at}", tiles, (Piece("A", at % 4, 0),), round=at) for at in range(LAST + 1))
    lines = Series("A", tuple(map(float, range(LAST + 1)))), Series("B", (5.0,) * (LAST + 1))
    standing = Chart("Votes", "line", tuple(map(str, range(LAST + 1))), lines, rounds=tuple(range(LAST + 1)))
    file = tmp_path / "page.html"
    panels = [Board("Ground", 4, 1, scenes)]
    text = render(History.model_validate(doc), panels, ALL, name="run", css=packaged(), overview=Overview(standing))
    file.write_text(text, encoding="utf-8")
    return file


def packaged() -> str:
    return (Path(__file__).parents[2] / "agentsim" / "report" / "logs.css").read_text("utf-8")


def place_of(page: Page, turn: int) -> None:
    """Everything that shows time shows this turn."""
    title = page.locator(f"section.round[data-turn='{turn}'] h3").inner_text()
    expect(page.locator("#cursor output")).to_have_text(title)
    expect(page.locator("#cursor input")).to_have_value(str(turn))
    expect(page.locator(".stage .caption")).to_have_text(f"After {turn}")
    expect(page.locator("section.round.now")).to_have_attribute("data-turn", str(turn))
    start, band = page.evaluate(
        "Object.values(['start', 'band']).map(k => +document.querySelector('.timed').dataset[k])"
    )
    assert page.evaluate(MARK) == [pytest.approx(start + (turn + 0.5) * band)]


def test_the_cursor_moves_board_chart_transcript_and_address_together(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        page = opened.page
        place_of(page, LAST)
        page.locator("#cursor input").fill("7")
        place_of(page, 7)
        assert page.evaluate("location.hash") == "#turn=7"
        expect(page.locator(".stage .stepper")).not_to_be_visible()  # one Play bar moves all
        page.locator("#cursor input").fill("3")
        place_of(page, 3)
        page.locator("#cursor").get_by_role("button", name="Next").press("Enter")
        place_of(page, 4)
        chart = page.locator("svg.timed").bounding_box()
        assert chart is not None
        page.mouse.click(chart["x"] + chart["width"] - 2, chart["y"] + chart["height"] / 2)
        place_of(page, LAST)


def test_arrow_keys_move_the_cursor_but_not_while_one_types(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        page = opened.page
        for key, turn in (
            ("ArrowRight", LAST),
            ("ArrowLeft", LAST - 1),
            ("ArrowLeft", LAST - 2),
            ("ArrowRight", LAST - 1),
        ):
            page.keyboard.press(key)
            place_of(page, turn)
        page.locator("#find").focus()
        page.keyboard.press("ArrowLeft")
        place_of(page, LAST - 1)


def test_an_address_names_a_turn(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        page = opened.page
        page.goto("about:blank")
        page.goto(f"{page_file.as_uri()}#turn=17")
        place_of(page, 17)
        page.evaluate("location.hash = '#turn=1'")
        place_of(page, 1)
        turns = page.locator("#split .exchange.now").evaluate_all("all => all.map(row => row.dataset.turn)")
        assert set(turns) == {"1"}, "what was said and thought in it"
        page.evaluate("location.hash = '#turn=999'")
        place_of(page, LAST)
        page.evaluate("location.hash = '#e9'")
        place_of(page, int(page.locator("section.round:has(#e9)").get_attribute("data-turn") or -1))
        expect(page.locator("#e9")).to_have_class(re.compile(r"\bchosen\b"))


def test_words_and_thoughts_are_those_of_the_cursors_turn(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        page, rows = opened.page, opened.page.locator("#split .exchange")
        visible = "[...document.querySelectorAll('#split .exchange')].filter(e => e.checkVisibility())"
        seen = f"{visible}.map(e => e.dataset.turn)"
        for turn, shown in ((1, "1"), (2, "1"), (9, "3")):  # of turns without any the last before that has some
            page.evaluate(f"location.hash = '#turn={turn}'")
            place_of(page, turn)
            assert set(page.evaluate(seen)) == {shown}
        page.fill("#find", "a")
        assert len(set(page.evaluate(seen))) > 1, "a search looks at all"
        page.keyboard.press("Escape")
        page.check("#follow input")
        assert all(row.is_visible() for row in rows.all())


def test_the_slider_marks_where_another_takes_the_lead(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        marks = "[...document.querySelectorAll('#leads option')].map(option => option.value)"
        assert opened.page.evaluate(marks) == ["6"], "A passes B's five there"


def test_the_pane_of_a_row_has_prompt_reply_and_tries(browser: Browser, page_file: Path) -> None:
    """D's vote of round 1 was asked again after an illegal answer: both attempts stand there, unfolded."""
    with Opened(browser, page_file) as opened:
        page, pane = opened.page, opened.page.locator("#pane")
        expect(pane).to_have_text("Select an event for details.")
        row = page.locator("#list article:has(.badge):has(.prompt)", has_text="Re-asked").first
        assert row.evaluate("row => row.offsetHeight") <= 30
        row.locator("h4").click()
        expect(pane.locator("h4")).to_have_text(row.locator("h4").inner_text())
        expect(pane.locator(".badge")).to_contain_text("Re-asked")
        speakers = pane.locator(".prompt .speaker").all_inner_texts()
        assert {"reply", "reply, attempt 2"} <= set(speakers)
        assert all(part.is_visible() for part in pane.locator(".prompt pre").all())
        assert row.locator(".prompt pre").first.is_hidden(), "the row stays a row"
        first = row.get_attribute("id")
        page.locator("#list").focus()
        page.keyboard.press("ArrowDown")
        chosen = page.locator("#list .chosen").get_attribute("id")
        ids = opened.shown()
        assert (first, chosen) in list(pairwise(ids))
        expect(pane.locator(".role > a")).to_have_attribute("href", f"#{chosen}")


def test_hits_of_a_search_are_marked_and_counted(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        page = opened.page
        page.fill("#find", "VOTE")
        visible = "[...document.querySelectorAll('#list article:not([hidden])')]"
        parts = f"{visible}.map(e => [...e.querySelectorAll('.role .who, h4, :scope > .badges, :scope > .said')])"
        words = f"{parts}.flat().map(p => p.textContent.toLowerCase().split('vote').length - 1)"
        hits, rows = sum(page.evaluate(words)), len(opened.shown())
        assert hits > rows > 1
        expect(page.locator("#tally")).to_have_text(f"{rows} of 27 events, {hits} hits")
        marks = "[...CSS.highlights.get('found')].map(range => range.toString().toLowerCase())"
        marked = page.evaluate(marks)
        assert set(marked) == {"vote"}
        assert len(marked) >= hits
        page.keyboard.press("Escape")
        page.fill("#find", "")
        assert page.evaluate("CSS.highlights.has('found')") is False


def test_the_next_event_is_sought_by_the_label_of_its_kind(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        page = opened.page
        page.locator("#cursor .kinds").select_option(label="Elimination")
        page.get_by_role("button", name="Jump to").press("Enter")
        expect(page.locator("#list .chosen")).to_have_attribute("data-kind", "eliminated")


def test_on_a_very_long_page_the_chosen_event_says_how_to_fork_there(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentsim.report.timeline.MOST_FORKS", 1)
    file = tmp_path / "page.html"
    file.write_text(render(sample(), [], ALL, name="run", css=packaged()), encoding="utf-8")
    with Opened(browser, file) as opened:
        page = opened.page
        event = page.locator("#list article:has(> .at)").first
        number = event.locator("> .at").text_content() or ""
        assert re.fullmatch(r"decision \d+", number)
        for _ in range(2):
            event.click()
            expect(page.locator("#pane .at")).to_have_text(f"{number}, agentsim fork run --at {number.split()[1]}")


def test_on_paper_every_event_is_whole_and_controls_are_gone(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        page = opened.page
        page.emulate_media(media="print")
        for part in ("#cursor", "#filters", "#pane", ".contents"):
            expect(page.locator(part).first).to_be_hidden()
        cut = """[...document.querySelectorAll('#list, #list article, #list article > .said')]
            .filter(e => (e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1)
                && getComputedStyle(e).overflowX !== 'visible').length"""
        assert page.evaluate(cut) == 0
        assert len(opened.shown()) == 27
        assert page.locator("#e3 > .said").evaluate("said => getComputedStyle(said).whiteSpace") == "pre-wrap"
        private = page.locator("#list article.private > .sight")
        assert private.count() > 0
        assert all(sight.is_visible() for sight in private.all()), "who saw it is said on paper, too"
        assert all(why.is_visible() for why in page.locator("#list .badge .why").all())
