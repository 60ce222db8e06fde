"""Screenshots of the main views of the site for docs/: `python -m tests.server.screenshots [DIR]`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from agentsim.scenario.load import load
from tests.playing import play_scenario
from tests.server.site import ISLAND, Held, hosted, playing, served

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Play games, one of them stopped in its middle, and take each view."""
    to = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs"
    with tempfile.TemporaryDirectory() as home:
        logs = Path(home) / "logs"
        logs.mkdir()
        for config in ("auction", "market_bots", "werewolf_bots", "monopoly_bots", "agent_island_bots"):
            play_scenario(load(ROOT / "configs" / f"{config}.toml"), logs, env={}, stem=config)
        views(Path(home), logs, to)


def views(home: Path, logs: Path, to: Path) -> None:
    """Take the screenshots; the browser has the event loop, so the games are played before."""
    with Held().in_thread() as held, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with served(logs) as site, playing(held, logs, "live", text=ISLAND):
            held.let(4)
            page = browser.new_context(viewport={"width": 1120, "height": 760}).new_page()

            def take(view: str, path: str, ready: str) -> None:
                page.goto(site.url + path)
                page.locator(ready).first.wait_for()
                if view == "live":
                    page.locator("#timeline").scroll_into_view_if_needed()
                    page.locator("article[data-kind=pitch]").nth(1).click()
                page.screenshot(path=to / f"serve_{view}.png")

            page.goto(f"{site.url}/enter?key={site.keys['steer']}")
            take("list", "/", "#runs")
            take("live", "/runs/live", "article[data-kind=pitch]")
        with hosted(home, ISLAND.format(url=held.url()), name="steered") as site:
            page = browser.new_context(viewport={"width": 1120, "height": 760}).new_page()
            page.goto(f"{site.url}/enter?key={site.keys['steer']}")
            page.goto(f"{site.url}/runs/steered/steer")
            page.get_by_role("button", name="Pause").click()
            held.let(2)
            page.reload()
            page.screenshot(path=to / "serve_steer.png")
        browser.close()


if __name__ == "__main__":
    main()
