"""The page of a game: stepped through by keys and mouse, read without a script, and hostile words are only words."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.processes import in_a_process
from tests.contract.golden import GOLDEN
from tests.fakes.replies import first_by_schema
from tests.fakes.server import FakeServer
from tests.report.test_browser import Opened, browser

__all__ = ["browser"]

PAYLOAD = '<img src=x onerror=window.PWN=1>\' onload="window.PWN=1" &lt;b&gt;'
NAME = "Ann"  # ids have letters and digits alone; what a hostile one would do is tested with the page itself
TURNS = 12
SCENARIO = """
game = "monopoly"
seed = 5
[game_config]
max_turns = {turns}
auction_min_step = 10
proposals_per_turn = 1
[defaults]
model = "bot/hustler"
[providers.lab]
base_url = "{url}"
[[players]]
id = "{name}"
model = "lab/echo"
prompt = "{payload}"
[[players]]
id = "Bea"
[[players]]
id = "Cyd"
"""


_OVERFULL = """slider => {
    const over = [];
    for (let turn = 0; turn <= Number(slider.max); turn++) {
        slider.value = turn;
        slider.dispatchEvent(new Event("input"));
        const ring = document.querySelector(".ground svg").getBoundingClientRect();
        const last = document.querySelector(".notes").lastElementChild.getBoundingClientRect();
        const inside = last.bottom <= ring.top + ring.height * 10 / 11;
        const beneath = document.querySelector(".ring .middle").getBoundingClientRect().top >= ring.bottom;
        if (!inside && !beneath) over.push([turn, last.bottom - ring.top, ring.height]);
    }
    return over;
}"""


def hostile(body: dict[str, Any]) -> str:
    """Whatever the first legal answer is, with these words; trades of cash for cash are proposed for their pitch."""
    reply = json.loads(first_by_schema(body))
    words = {"public_speech": f"said {PAYLOAD}", "private_thought": f"thought </script>{PAYLOAD}{' and so on' * 40}"}
    reply |= words
    if '"propose_trade"' in json.dumps(body["response_format"]):
        side = {"properties": [], "jail_cards": 0}
        sides = {"offer": {**side, "cash": 10}, "request": {**side, "cash": 5}}
        reply["action"] = {"do": "propose_trade", "target_player": "Bea", **sides, "pitch": f"pitch {PAYLOAD}"}
    return json.dumps(reply)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a game in which one player says, thinks and pitches markup."""
    folder = tmp_path_factory.mktemp("page")
    with FakeServer(hostile).in_thread() as server:
        fields = {"url": server.url(), "name": NAME, "payload": PAYLOAD.replace('"', '\\"'), "turns": TURNS}
        (folder / "game.toml").write_text(SCENARIO.format(**fields), encoding="utf-8")
        words = ("run", "--config", "game.toml", "--name", "run", "--display", "none", "--include-prompts")
        said = in_a_process(*words, cwd=folder)  # the browser has this process's event loop
    assert said.code == 0, said.err
    return folder / "logs" / "run.html"


@pytest.mark.slow
def test_the_board_is_stepped_through_by_keys_and_by_the_mouse(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file, reduced_motion="reduce") as opened:
        page = opened.page
        caption, slider = page.locator(".stage .caption").first, page.get_by_role("slider").first
        expect(caption).to_contain_text(f"Turn {TURNS}: ")
        slider.press("Home")
        expect(caption).to_have_text("Before the first turn")
        assert page.locator(".stage").first.locator(".owner").count() == 0
        slider.press("ArrowRight")
        expect(caption).to_have_text(f"Turn 1: {NAME}")
        box = slider.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] - 2, box["y"] + box["height"] / 2)
        expect(caption).to_contain_text(f"Turn {TURNS}: ")
        assert page.locator(".stage").first.locator(".owner").count() > 0
        page.get_by_role("button", name="Back").first.press("Enter")
        expect(caption).to_contain_text(f"Turn {TURNS - 1}: ")
        assert opened.requests == [page_file.as_uri()]


def test_the_golden_journal_has_a_page_with_the_board(tmp_path: Path) -> None:
    stem = "monopoly"
    for suffix in ("json", "jsonl"):
        shutil.copy(GOLDEN / f"{stem}.{suffix}", tmp_path)
    said = in_a_process("logs", stem, "--logs-dir", str(tmp_path), cwd=tmp_path)
    assert said.code == 0, said.err
    page = (tmp_path / f"{stem}.html").read_text(encoding="utf-8")
    turns = json.loads((tmp_path / f"{stem}.json").read_text(encoding="utf-8"))["rounds"][-1]["index"]
    assert f"Turn {turns}: " in page
    assert page.count('class="space') >= 40


def test_a_turn_s_words_stand_in_the_middle_of_its_board_and_only_as_words(browser: Browser, page_file: Path) -> None:
    with Opened(browser, page_file, reduced_motion="reduce") as opened:
        page = opened.page
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        slider, notes = page.get_by_role("slider").first, page.locator(".notes").first
        slider.press("Home")
        for _ in range(4):  # its first turn, and its second after the two others
            slider.press("ArrowRight")
        expect(notes).to_contain_text(f"{NAME}: “said {PAYLOAD}”")
        expect(notes).to_contain_text(f"{NAME}, to itself: “thought </script>{PAYLOAD} and so on")
        assert f"pitch {PAYLOAD}" in page.evaluate("document.body.textContent")
        page.fill("#find", PAYLOAD[:12])
        page.fill("#find", "")
        assert page.evaluate("window.PWN") is None
        assert page.evaluate("document.scripts.length") == 1
        assert page.evaluate("document.querySelectorAll('img, iframe, b, [onload], [onerror]').length") == 0
        assert opened.requests == [page_file.as_uri()]


@pytest.mark.parametrize(("width", "scheme"), [(1400, "dark"), (420, "light")])
def test_it_fits_its_window_and_nothing_runs_out_of_the_ring(
    browser: Browser, page_file: Path, width: int, scheme: Any
) -> None:
    look = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme, "reduced_motion": "reduce"}
    with Opened(browser, page_file, **look) as opened:
        page, slider = opened.page, opened.page.get_by_role("slider").first
        assert slider.evaluate(_OVERFULL) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_without_a_script_there_are_the_final_board_and_the_list_of_events(browser: Browser, page_file: Path) -> None:
    history = json.loads(page_file.with_suffix(".json").read_text(encoding="utf-8"))
    with Opened(browser, page_file, java_script_enabled=False) as opened:
        page = opened.page
        stage = page.locator(".stage").first
        assert f"Turn {TURNS}: " in stage.locator(".caption").inner_text()
        assert stage.locator(".space").count() == 40
        cells = stage.locator("tbody tr").all_inner_texts()
        for standing in history["outcome"]["standings"]:
            assert any(standing["player"] in row and f"{standing['score']['cash']:,}" in row for row in cells)
        assert page.locator("#timeline article").count() == sum(len(part["events"]) for part in history["rounds"])
        titles = page.locator("h2, h3").all_inner_texts()
        for title in ("Net worth", "Trades and what they were worth", "Landings against the long run"):
            assert title in titles
