"""A run's page while another process plays it: it grows, and goes on where it was."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agentsim.records.run_files import RunFiles
from tests.report.test_browser import browser
from tests.server.site import Held, ServedSite, playing, served, until

__all__ = ["browser"]

PITCHES, VOTES = 3, 3
EVENT = re.compile(r'<article class="event[^"]*" id="([^"]+)"')


@pytest.fixture
def held() -> Iterator[Held]:
    with Held().in_thread() as server:
        yield server


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedSite]:
    """A server over a run that is over, for the tests that only look."""
    folder = tmp_path_factory.mktemp("finished") / "logs"
    folder.mkdir()
    with Held().in_thread() as server:
        server.let_all()
        with playing(server, folder) as run:
            assert run.wait(30) == 0
    with served(folder) as site:
        yield site


def _begun(logs: Path, name: str = "run") -> RunFiles:
    files = RunFiles(logs, name)
    until(lambda: files.journal.is_file() and files.journal.stat().st_size, "the journal")
    return files


def _stream(page: str) -> str:
    found = re.search(r'data-stream="([^"]+)"', page)
    assert found is not None
    return found[1].replace("&amp;", "&")


def test_events_of_a_run_of_another_process_come_as_they_happen(held: Held, logs: Path) -> None:
    with playing(held, logs) as run, served(logs) as site:
        _begun(logs)
        page = site.get("/runs/run")
        assert "Being played now" in page.text
        assert "being played now" in site.get("/").text
        before = EVENT.findall(page.text)
        with site.stream(_stream(page.text)) as stream:
            held.let(PITCHES)
            came = stream.upto('data-kind="pitch"')
            assert not set(EVENT.findall(came)) & set(before), "what the page has is not sent again"
            assert 'data-kind="vote"' not in came
            held.let()
            came += stream.upto('id="standings"')
            while (event := stream.event())[0] == "message":
                came += event[1]
            assert event == ("end", "")
        assert run.wait(30) == 0
        history = json.loads(RunFiles(logs, "run").history.read_text("utf-8"))
        shown = EVENT.findall(site.get("/runs/run").text)
        assert sorted([*before, *EVENT.findall(came)], key=shown.index) == shown
        assert len(shown) == sum(len(part["events"]) for part in history["rounds"])


def test_half_a_wave_is_not_shown(held: Held, logs: Path) -> None:
    """A vote that is in is nobody's business until all are: the rules have not told it."""
    with playing(held, logs), served(logs) as site:
        files = _begun(logs)
        held.let(PITCHES + 1)
        until(lambda: files.journal.read_text("utf-8").count('"record":"decision"') == PITCHES + 1, "one vote")
        page = site.get("/runs/run").text
        assert page.count('data-kind="pitch"') == PITCHES
        assert 'data-kind="vote"' not in page


def test_a_lost_stream_goes_on_where_it_was(held: Held, logs: Path) -> None:
    """By the header of a browser that tries again, and by the address."""
    with playing(held, logs), served(logs) as site:
        _begun(logs)
        address = _stream(site.get("/runs/run").text)
        with site.stream(address) as stream:
            held.let(PITCHES)
            first = EVENT.findall(stream.upto('data-kind="pitch"'))
            position = stream.last_id
        held.let()
        again = re.sub("from=[^&]*", f"from={position}", address)
        with site.stream(address, Last_Event_ID=position) as one, site.stream(again) as other:
            for stream in (one, other):
                rest = EVENT.findall(stream.upto('id="standings"'))
                assert first
                assert rest
                assert not set(first) & set(rest)


def test_a_position_that_is_none_begins_at_the_beginning(held: Held, logs: Path) -> None:
    positions = ["", "x", "0.0.0", "ffffffff.9.9", "a.b.c", "1.99999999999999999999.1", "é" * 80]
    with playing(held, logs), served(logs) as site:
        _begun(logs)
        held.let(PITCHES)
        until(lambda: site.get("/runs/run").text.count('data-kind="pitch"') == PITCHES, "the pitches")
        for position in positions:
            with site.stream("/runs/run/stream", Last_Event_ID=position.encode().decode("latin-1")) as stream:
                assert stream.upto('data-kind="pitch"').count('data-kind="pitch"') == PITCHES, position


def test_a_run_that_is_resumed_is_followed_on(held: Held, logs: Path) -> None:
    with served(logs) as site:
        with playing(held, logs) as run:
            files = _begun(logs)
            held.let(PITCHES)
            until(lambda: files.journal.read_text("utf-8").count('"record":"decision"') == PITCHES, "the pitches")
            run.kill()
            run.wait(30)
        page = site.get("/runs/run").text
        assert "it can be resumed" in page
        with site.stream(_stream(page)) as stream:
            held.let()
            from tests.cli.command_line import agentsim

            assert agentsim("resume", "run", "--no-html", "--display", "none", cwd=logs.parent).code == 0
            stream.upto('id="standings"')


def test_prompts_come_only_to_who_asked_for_them(held: Held, logs: Path) -> None:
    with playing(held, logs), served(logs) as site:
        _begun(logs)
        with site.stream("/runs/run/stream") as without, site.stream("/runs/run/stream?prompts") as both:
            held.let()
            assert '<details class="prompt">' not in without.upto('id="standings"')
            assert '<details class="prompt">' in both.upto('id="standings"')


def test_a_finished_run_has_no_stream(finished: ServedSite) -> None:
    with finished.stream("/runs/run/stream") as stream:
        for _ in range(20):
            if (found := stream.event()[0]) in {"end", ""}:
                break
        assert found == "end"


class Tab:
    """A page in a browser, with all that it complained about."""

    def __init__(self, browser: Browser, site: ServedSite, path: str, *, bypass_csp: bool = False) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, bypass_csp=bypass_csp)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.requests: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(site.url + path)

    def __enter__(self) -> Tab:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.context.close()
        assert kind is not None or self.complaints == []


def test_the_page_grows_and_its_search_cursor_and_pane_know_what_came(browser: Browser, held: Held, logs: Path) -> None:
    with playing(held, logs) as run, served(logs) as site:
        _begun(logs)
        with Tab(browser, site, "/runs/run") as tab:
            page = tab.page
            expect(page.locator("#connection")).to_have_text("live")
            assert page.locator("article[data-kind=pitch]").count() == 0
            held.let(PITCHES)
            expect(page.locator("#list article[data-kind=pitch]")).to_have_count(PITCHES)
            expect(page.locator("#by-kind option[value=pitch]")).to_have_count(1)
            page.locator("#by-kind").select_option("pitch")
            expect(page.locator("#tally")).to_contain_text(f"{PITCHES} of ")
            page.locator("#list article[data-kind=pitch]").nth(1).click()
            chosen = page.locator("#pane h4").inner_text()
            page.locator("#show-all").press("Enter")
            held.let()
            expect(page.locator("#standings")).to_be_visible()
            expect(page.locator("#connection")).to_have_text("")
            assert page.locator("#pane h4").inner_text() == chosen, "the chosen event stays chosen"
            rounds = page.locator("#timeline section.round").count()
            expect(page.locator("#cursor input[type=range]")).to_have_attribute("max", str(rounds - 1))
            assert run.wait(30) == 0
            seen = page.evaluate("[...document.querySelectorAll('#list article.event')].map(e => e.id)")
            assert seen == EVENT.findall(site.get("/runs/run").text.partition('id="list"')[2].partition('id="pane"')[0])
            assert all(url.startswith((site.url, "data:")) for url in tab.requests)


def test_jump_to_goes_to_the_next_event_of_a_kind_and_shows_all_of_it(browser: Browser, finished: ServedSite) -> None:
    with Tab(browser, finished, "/runs/run") as tab:
        page = tab.page
        votes = page.locator("#list article[data-kind=vote]").evaluate_all("all => all.map(e => e.id)")
        page.locator("#cursor .kinds").select_option("vote")
        for vote in votes[:3]:
            page.get_by_role("button", name="Jump to").press("Enter")
            expect(page.locator("article.chosen")).to_have_attribute("id", vote)
            title = page.locator(f"#{vote}").locator("xpath=..").locator("h3").inner_text()
            expect(page.locator("#cursor output")).to_have_text(title)


def test_the_cursor_plays_at_the_speed_that_is_chosen_and_brings_the_reasoning(
    browser: Browser, finished: ServedSite
) -> None:
    with Tab(browser, finished, "/runs/run", bypass_csp=True) as tab:
        page = tab.page
        waits = (
            "window.waits = []; const real = setInterval; window.setInterval = (f, ms) => (waits.push(ms), real(f, ms))"
        )
        page.evaluate(waits)
        page.locator("#cursor .speed").select_option("4")
        page.locator("#cursor .play").press("Enter")
        last = page.locator("#timeline section.round").count() - 1
        expect(page.locator("#cursor input[type=range]")).to_have_value(str(last))
        page.locator("#cursor .speed").select_option("0.5")
        page.locator("#cursor .play").press("Enter")
        waits = page.evaluate("waits.filter(Number)")
        assert waits[-1] == 8 * waits[0]
        page.locator("#cursor .play").press("Enter")
        page.locator("#cursor input[type=range]").fill("1")
        round_of_chosen = page.locator("article.chosen").locator("xpath=..")
        expect(round_of_chosen).to_have_attribute("data-turn", "1")


def test_a_page_whose_server_was_away_takes_up_where_it_was(browser: Browser, held: Held, logs: Path) -> None:
    with playing(held, logs):
        _begun(logs)
        with served(logs) as site, browser.new_context() as context:
            page = context.new_page()
            page.goto(f"{site.url}/runs/run")
            held.let(PITCHES)
            expect(page.locator("#list article[data-kind=pitch]")).to_have_count(PITCHES)
            site.process.kill()
            site.process.wait(30)
            expect(page.locator("#connection")).to_have_text("connection lost; trying again")
            held.let()
            with served(logs, "--port", str(site.port)):
                expect(page.locator("#standings")).to_be_visible(timeout=20_000)
                ids = page.evaluate("[...document.querySelectorAll('#list article.event')].map(e => e.id)")
                assert len(ids) == len(set(ids))
                assert page.locator("#list article[data-kind=pitch]").count() > PITCHES
