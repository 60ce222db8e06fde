"""The page in a real browser: it reads without a script, its script works, and foreign text is only text.

Set AGENTSIM_CHROMIUM to the browser's path where it is not found. Without a browser these tests are skipped,
but where the variable CI is set they fail: there, a skipped promise is a broken one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from agentsim.engine.panel import Board, Panel, Piece, Scene, Tile
from agentsim.records.history import History
from agentsim.report.markup import find_css
from agentsim.report.page import PageOptions, render
from agentsim.report.player_view import as_seen_by
from tests.amounts import one_in, some_of
from tests.chromium import chromium
from tests.report.sample import REASONING, document, panels, poisoned, poisoned_panels, sample

ALL = PageOptions(include_prompts=True, include_reasoning=True, include_usage=True)
WIDER = """[...document.querySelectorAll('main *, header *')].filter(e => {
        let box = e.parentElement;
        while (getComputedStyle(box).display === 'contents') box = box.parentElement;
        const { display, overflowX } = getComputedStyle(box);
        return e.checkVisibility() && !e.closest('svg') && display !== 'inline' && overflowX === 'visible'
            && e.getBoundingClientRect().right > box.getBoundingClientRect().right + 1;
    }).map(e => e.outerHTML.slice(0, 100))"""
"""Elements that stand out of their container, but for what it scrolls or cuts with a mark."""

CORPUS = {
    "script": "<script>window.PWN=1</script>",
    "attribute": '" onmouseover="window.PWN=1" x="',
    "image": "'><img src=x onerror=window.PWN=1>",
    "svg": "<svg/onload=window.PWN=1>",
    "close-script": "</script><script>window.PWN=1</script>",
    "comment": "<!--<script>window.PWN=1//-->",
    "close-style": "</style><img src=x onerror=window.PWN=1>",
    "close-title": "</title></textarea></pre><iframe srcdoc='<script>parent.PWN=1</script>'>",
    "url": "javascript:window.PWN=1//[click](javascript:window.PWN=1)",
    "template": "{{ ''.__class__ }}{% raw %}${window.PWN=1}",
    "entity": "&lt;script&gt;window.PWN=1&lt;/script&gt;&#x202e;",
    "css": "} body { background: url(https://example.invalid/x) } </style",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


# Contexts by their settings. Pages keep nothing, so that a test needs no more than a page for itself: half the work.
_CONTEXTS: WeakKeyDictionary[Browser, dict[str, BrowserContext]] = WeakKeyDictionary()


class Opened:
    """A page with everything it complained about and everything it asked for."""

    def __init__(self, browser: Browser, file: Path, **context: Any) -> None:
        contexts, key = _CONTEXTS.setdefault(browser, {}), repr(sorted(context.items()))
        if key not in contexts:
            contexts[key] = browser.new_context(**context)
        self.page: Page = contexts[key].new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.failures: dict[str, str | None] = {}
        self.page.on("requestfailed", lambda request: self.failures.update({request.url: request.failure}))
        self.page.goto(file.as_uri())

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.page.close()
        assert kind is not None or self.complaints == []

    def tick(self, box: str) -> None:
        """Tick a box by the keyboard: what comes into view gets its height only then, which moves a mouse's target.

        Buttons, links and summaries are pressed with Enter for the same reason.
        """
        self.page.press(box, "Space")
        expect(self.page.locator(box)).to_be_checked()

    def shown(self) -> list[str]:
        """The ids of the events of the timeline that are not filtered away."""
        ids: list[str] = self.page.evaluate(
            "[...document.querySelectorAll('#timeline article')].filter(e => e.checkVisibility()).map(e => e.id)"
        )
        return ids


def written(tmp_path: Path, history: History, some: list[Panel], options: PageOptions = ALL, name: str = "run") -> Path:
    file = tmp_path / "page.html"
    file.write_text(render(history, some, options, name=name, css=find_css(tmp_path)), encoding="utf-8")
    return file


@pytest.fixture
def page_file(tmp_path: Path) -> Path:
    return written(tmp_path, sample(), panels())


def test_nothing_is_complained_about_or_asked_for(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        assert opened.page.title() == "run – Agent Island: Deliberations"
        assert opened.complaints == []
        assert opened.requests == [page_file.as_uri()]
        # The policy lets the style sheet count: the page is not in the browser's default serif on white.
        assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(252, 251, 248)"


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_no_element_is_wider_than_its_container(browser: Browser, page_file: Path, width: int) -> None:
    """But for what its container scrolls or cuts with a mark."""
    with Opened(browser, page_file, viewport={"width": width, "height": 900}) as opened:
        opened.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        assert opened.page.evaluate(WIDER) == []


@pytest.mark.parametrize("width", [1200, 1920])
def test_the_usage_table_is_shown_whole(browser: Browser, tmp_path: Path, width: int) -> None:
    doc = document()
    for totals in (doc["usage"], *doc["usage"]["by_player"].values()):  # as much as a long game takes
        totals |= {"calls": 1234, "prompt_tokens": 1_234_567, "cached_tokens": 1_100_000}
        totals |= {"completion_tokens": 234_567, "reasoning_tokens": 198_765}
    file = written(tmp_path, History.model_validate(doc), panels())
    with Opened(browser, file, viewport={"width": width, "height": 900}) as opened:
        box = opened.page.locator(".scroll:has(> .usage)")
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth")


def test_a_table_on_a_telephone_fits_or_shows_that_it_goes_on(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file, viewport={"width": 390, "height": 844}) as opened:
        standings = opened.page.locator("#standings .scroll").first
        assert standings.evaluate("box => box.scrollWidth <= box.clientWidth")
        usage = opened.page.locator(".scroll:has(> .usage)")
        assert usage.evaluate("box => box.scrollWidth > box.clientWidth"), "or there is nothing to test"
        assert usage.evaluate("box => getComputedStyle(box).overflowX") == "auto"
        # The shadow at the edge stays where it is, and what hides it at the table's ends moves with the table.
        layers = usage.evaluate("box => getComputedStyle(box).backgroundAttachment")
        assert layers == "local, local, scroll, scroll"


def test_search_narrows_the_timeline_and_escape_widens_it(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        everything = opened.shown()
        opened.page.keyboard.press("/")
        assert opened.page.evaluate("document.activeElement.id") == "find"
        opened.page.keyboard.type("BIDDING war")
        expect(opened.page.locator("#tally")).to_have_text("1 of 27 events, 1 hit")
        assert opened.shown() == ["e9"]
        assert opened.page.locator("#round-3").is_hidden()
        opened.page.keyboard.press("Escape")
        expect(opened.page.locator("#tally")).to_have_text("27 events")
        assert opened.shown() == everything


def test_the_search_finds_what_was_said_and_thought(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        rows = opened.page.locator("#split .exchange")
        every = rows.count()
        opened.tick("#follow input")
        opened.page.fill("#find", REASONING[3, "C"][:30])
        expect(rows.locator("visible=true").first).to_contain_text(REASONING[3, "C"])
        assert 0 < sum(row.is_visible() for row in rows.all()) < every
        opened.page.keyboard.press("Escape")
        assert all(row.is_visible() for row in rows.all())


def test_folded_text_is_searched_where_that_is_asked_for_and_what_is_found_opens(
    browser: Browser, page_file: Path
) -> None:
    with Opened(browser, page_file) as opened:
        opened.page.fill("#find", "drifting together")
        expect(opened.page.locator("#tally")).to_have_text("0 of 27 events, 0 hits")
        opened.tick("#deep")
        expect(opened.page.locator("#tally")).to_have_text("2 of 27 events, 2 hits")
        expect(opened.page.locator("#e10 details.reasoning .said")).to_be_visible()
        opened.page.fill("#find", "")
        expect(opened.page.locator("#list details.reasoning[open]")).to_have_count(0)


def test_filters_by_player_kind_and_sight_combine(browser: Browser, page_file: Path) -> None:
    events = [e for r in sample().rounds for e in r.events]
    with Opened(browser, page_file) as opened:
        opened.page.select_option("#by-player", label="A")
        assert opened.shown() == [f"e{e.seq}" for e in events if e.role == "player A"]
        opened.page.select_option("#by-kind", "vote")
        assert opened.shown() == [f"e{e.seq}" for e in events if e.role == "player A" and e.kind == "vote"]
        opened.page.select_option("#by-sight", "public")
        assert opened.shown() == []
        opened.page.press("#show-all", "Enter")  # not the mouse: the page has just become shorter, and the button moves
        expect(opened.page.locator("#tally")).to_have_text("27 events")
        opened.page.select_option("#by-sight", "log")
        assert opened.shown() == ["e2"]


def test_a_round_is_shown_alone(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        opened.page.select_option("#by-round", "round-2")
        assert opened.shown() == [f"e{e.seq}" for e in sample().rounds[2].events]
        assert opened.page.locator("#round-1").is_hidden()
        opened.page.press("#show-all", "Enter")
        expect(opened.page.locator("#round-1")).to_be_visible()


@pytest.mark.parametrize("player", "ABCD")
@one_in(2)
def test_the_game_is_seen_as_one_player_saw_it(browser: Browser, page_file: Path, player: str) -> None:
    """As the page that `--as-seen-by` writes, whose words are what a search finds then; it is a view, not a promise."""
    history = sample()
    kept = as_seen_by(history, player)
    with Opened(browser, page_file) as opened:
        page = opened.page
        opened.tick("#whole")
        page.select_option("#as-seen-by", label=f"as {player} saw it")
        assert opened.shown() == [f"e{e.seq}" for r in kept.rounds for e in r.events]
        for section in ("#panels", "#standings", "#turns", "#example", "#split", "#players", "#scenario", "#usage"):
            assert page.locator(section).is_hidden(), section
        expect(page.locator("#one-view")).to_contain_text("this one still holds everything")
        own = {d.index for d in kept.decisions}
        shown = set(opened.shown())
        folds = page.evaluate(
            "[...document.querySelectorAll('#timeline article')].map(e => [e.id,"
            " [...e.querySelectorAll('.reasoning, .prompt, .badges')].map(fold => fold.checkVisibility())])"
        )
        decided = {f"e{e.seq}": e.metadata.get("decision") for r in history.rounds for e in r.events}
        for event, visible in folds:
            if event in shown:
                assert visible == [decided[event] in own] * len(visible), event
        opened.tick("#deep")
        page.fill("#find", REASONING[1, "D"][:30])
        assert bool(opened.shown()) == (player == "D"), "what another one thought is not found"
        page.press("#show-all", "Enter")
        expect(page.locator("#panels")).to_be_visible()
        expect(page.locator("#tally")).to_have_text("27 events")


def test_a_page_of_one_player_has_no_other_point_of_view(browser: Browser, tmp_path: Path) -> None:
    with Opened(browser, written(tmp_path, sample(), [], PageOptions(as_seen_by="A"))) as opened:
        assert opened.page.locator("#as-seen-by").count() == 0
        opened.page.select_option("#by-kind", "pitch")
        assert opened.shown()


def test_a_link_to_a_filtered_event_shows_it(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        opened.page.select_option("#by-sight", "log")
        opened.page.evaluate("location.hash = '#e9'")
        expect(opened.page.locator("#e9")).to_be_visible()


def test_a_board_is_stepped_through(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        page = opened.page
        caption, slider = page.locator(".stage .caption"), page.locator(".stage").get_by_role("slider")
        owned = page.locator(".stage .owner")
        expect(caption).to_have_text("Final")
        expect(page.locator(".stage .stepper output")).to_have_text("2 of 2")
        assert owned.evaluate_all("all => all.map(o => o.parentNode.querySelector('title').textContent)") == [
            "Fire, A, C, owner C"
        ]
        page.locator(".stage").get_by_role("button", name="Back").press("Enter")
        expect(caption).to_have_text("Set-up")
        assert owned.evaluate_all("all => all.map(o => o.parentNode.querySelector('title').textContent)") == [
            "Lookout over the long lagoon, D, owner D"
        ]
        expect(page.locator(".stage").get_by_role("button", name="Back")).to_be_disabled()
        slider.press("ArrowRight")
        expect(caption).to_have_text("Final")
        assert slider.get_attribute("aria-valuetext") == "Final"
        slider.press("Home")
        expect(caption).to_have_text("Set-up")


def a_ring(scenes: int) -> Board:
    """One piece that goes round."""
    spots = [*((x, 0) for x in range(4)), *((3, y) for y in range(1, 4))]
    tiles = tuple(Tile(x, y, f"{x}.{y}", short="x") for x, y in spots)
    made = tuple(
        Scene(f"Step {i}", tiles, (Piece("A", *spots[i % 7], held=i % 7 == 3),), (("A", i),), (f"line {i}", "same"))
        for i in range(scenes)
    )
    return Board("Ring", 4, 4, made, headings=("player", "step"), ring=True)


def test_a_board_plays_itself_to_the_end_and_pauses(browser: Browser, tmp_path: Path) -> None:
    with Opened(browser, written(tmp_path, sample(), [a_ring(30)])) as opened:
        page, caption = opened.page, opened.page.locator(".stage .caption")
        play = page.locator(".stage .play")
        page.clock.install()
        play.press("Enter")
        expect(caption).to_have_text("Step 0")
        page.clock.run_for(900 * 3)
        expect(caption).to_have_text("Step 3")
        expect(page.locator(".middle td")).to_have_text("3")
        expect(page.locator(".notes li").first).to_have_text("line 3")
        play.press("Enter")
        page.clock.run_for(5000)
        expect(caption).to_have_text("Step 3")
        page.locator(".stage").get_by_role("slider").press(" ")
        page.clock.run_for(60_000)
        expect(caption).to_have_text("Step 29")
        assert "Play" in play.inner_text()


def test_a_piece_stands_where_its_scene_puts_it(browser: Browser, tmp_path: Path) -> None:
    file = written(tmp_path, sample(), [a_ring(30)])
    with Opened(browser, file, reduced_motion="reduce") as opened:
        page = opened.page
        inside = """step => {
            const piece = document.querySelector(".piece").getBoundingClientRect();
            const space = document.querySelectorAll(".space")[step % 7].getBoundingClientRect();
            return piece.left >= space.left && piece.right <= space.right && piece.bottom <= space.bottom;
        }"""
        for step in (29, 0, 3, 12):
            page.locator(".stage").get_by_role("slider").fill(str(step))
            assert page.evaluate(inside, step)
            assert (page.locator(".piece.held").count() == 1) == (step % 7 == 3)


def test_on_a_telephone_a_ring_is_seen_whole_with_its_figures_beneath(browser: Browser, tmp_path: Path) -> None:
    with Opened(browser, written(tmp_path, sample(), [a_ring(3)]), viewport={"width": 390, "height": 844}) as opened:
        page = opened.page
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        drawing, middle = page.locator(".ground svg").bounding_box(), page.locator(".middle").bounding_box()
        assert drawing is not None
        assert middle is not None
        assert middle["y"] >= drawing["y"] + drawing["height"]
        assert page.locator(".space .short").first.is_visible()
        assert page.locator(".space .label").first.is_hidden()


def test_without_javascript_everything_can_be_read(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file, java_script_enabled=False) as opened:
        assert opened.page.locator("#filters").is_hidden()
        assert opened.page.locator("#timeline article").count() == 27
        assert opened.page.locator("#e9 .said").first.is_visible()
        prompt = opened.page.locator("#e9 details.prompt")
        assert prompt.locator("pre").first.is_hidden()
        prompt.locator("summary").press("Enter")
        assert prompt.locator("pre").first.is_visible()
        assert opened.page.locator(".stage .caption").inner_text() == "Final"
        assert opened.page.locator(".stage .space").count() == 4
        assert opened.page.locator(".stage .stepper").count() == 0
        assert opened.page.locator("#cursor").is_hidden()
        assert opened.page.locator("#pane").is_hidden()
        assert all(row.is_visible() for row in opened.page.locator("#split .exchange").all())
        said = opened.page.locator("#list article > .said")
        assert said.count() > 10
        assert all(part.is_visible() for part in said.all())
        assert opened.page.locator("#list").evaluate("list => getComputedStyle(list).overflowY") == "visible"


def test_the_focus_is_visible(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file) as opened:
        for _ in range(3):
            opened.page.keyboard.press("Tab")
        style = "getComputedStyle(document.activeElement)"
        assert opened.page.evaluate(f"{style}.outlineStyle") == "solid"
        assert opened.page.evaluate(f"{style}.outlineWidth") == "2px"


def test_a_network_shows_whose_ties_are_whose(browser: Browser, tmp_path: Path) -> None:
    """Pointing at a node leaves its own ties alone visible; a click keeps that, and a second one ends it."""
    with Opened(browser, written(tmp_path, sample(), panels())) as opened:
        page = opened.page
        told = "[...document.querySelectorAll('.web .arc.told title')].map(t => t.textContent)"
        page.locator(".web .spot").nth(0).dispatch_event("mouseenter")
        whispers = ["A to B, whispers: 4", "B to A, whispers: 1", "D to A, whispers: 3"]
        assert sorted(page.evaluate(told)) == whispers
        page.locator(".web .spot").nth(0).dispatch_event("mouseleave")
        assert page.evaluate(told) == []
        page.locator(".web .spot").nth(2).dispatch_event("click")
        page.locator(".web .spot").nth(2).dispatch_event("mouseleave")
        assert page.evaluate(told) == ["C to D, gifts: 2"]
        page.locator(".web .spot").nth(2).dispatch_event("click")
        assert page.evaluate(told) == []


@some_of("payload", CORPUS, "script", "attribute", "close-style", "template")
def test_foreign_text_is_shown_and_never_run(browser: Browser, tmp_path: Path, payload: str) -> None:
    doc = poisoned(document(), payload)
    file = written(tmp_path, History.model_validate(doc), poisoned_panels(payload), name="run" + payload)
    with Opened(browser, file) as opened:
        page = opened.page
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        page.fill("#find", payload[:20])  # the script handles foreign text, too
        page.fill("#find", "")
        for select in ("#by-player", "#by-kind", "#by-round", "#as-seen-by"):
            page.select_option(select, index=1)
            page.select_option(select, index=0)
        page.locator(".stage").get_by_role("slider").fill("0")
        expect(page.locator(".notes")).to_have_text("n0" + payload)
        for link in page.locator(".role > a").all()[:3]:
            link.press("Enter")
        assert page.evaluate("window.PWN") is None
        assert opened.complaints == []
        assert opened.requests == [file.as_uri()]
        assert page.evaluate("document.scripts.length") == 1
        assert page.evaluate("document.querySelectorAll('img, iframe, [onload], [onerror], [onmouseover]').length") == 0
        assert page.evaluate("[...document.links].every(a => a.getAttribute('href').startsWith('#'))")
        text = page.evaluate("document.body.textContent")
        first = doc["rounds"][1]["events"][0]
        game = doc["game"].replace("_", " ").title()
        assert page.title() == " ".join(f"run{payload} – {game}".split())
        for words in (
            first["heading"], doc["players"][0]["id"], first["content"],
            doc["players"][0]["model"], doc["outcome"]["reason"],
            doc["rounds"][1]["title"], "unreadable" + payload, "no answer within 30 s" + payload,
            doc["scenario"]["players"][1]["prompt"], doc["texts"][0],
            doc["decisions"][0]["attempts"][0]["messages"][0][0],
            "two" + payload, "i" + payload, "o" + payload, "run" + payload, "0.1.0" + payload,
            "T" + payload, "c" + payload, "v" + payload, "L" + payload,
            json.dumps("words" + payload)[1:-1],
        ):  # fmt: skip
            assert words in text, words
        headings = page.evaluate("[...document.querySelectorAll('h4')].map(h => h.innerText)")
        assert " ".join(first["heading"].split()) in headings, "it is not only there, a reader sees it"


def test_a_style_sheet_cannot_leave_its_element_or_load(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "logs.css").write_text(
        "@import 'https://example.invalid/a.css';\r\nbody { background: url(https://example.invalid/b.png) }\r\n"
        "</style><script>window.PWN=1</script>\nh1 { color: rgb(1, 2, 3) }",
        newline="",
    )
    file = written(tmp_path, sample(), [])
    with Opened(browser, file) as opened:
        assert opened.page.evaluate("window.PWN") is None
        assert set(opened.failures.values()) == {"csp"}, "the policy stops what the style sheet asks for"
        assert {file.as_uri(), *opened.failures} == set(opened.requests)
        assert ["violates" in complaint for complaint in opened.complaints] == [True, True]
        opened.complaints.clear()
        assert opened.page.locator("style").count() == 1
        assert opened.page.evaluate("document.styleSheets.length") == 1, "the hash fits in spite of the line ends"


def test_a_bidi_override_does_not_reorder_the_page(browser: Browser, tmp_path: Path) -> None:
    doc = document()
    doc["rounds"][1]["events"][0]["content"] = "I vote \u202eB ton\u202c A"
    with Opened(browser, written(tmp_path, History.model_validate(doc), [])) as opened:
        expect(opened.page.locator("#e3 .said")).to_have_text("I vote U+202EB tonU+202C A")
        expect(opened.page.locator("#e3 .said .chip").first).to_be_visible()
        left = "[...document.querySelectorAll('#e3 .chip')].map(chip => chip.getBoundingClientRect().left)"
        first, second = opened.page.evaluate(left)
        assert first < second, "in the order in which they were written"
