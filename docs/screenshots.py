"""Pictures of pages: the README's, and for a look at all of them every game's page and a batch's.

`python docs/screenshots.py` takes the README's anew. `python docs/screenshots.py DIR` plays a game of each kind and a
batch by bots, and writes pictures of each page to DIR: first screen, panels, transcript, split view, at 1280 and 390
px, light and dark.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, ViewportSize, sync_playwright
from typer.testing import CliRunner

from agentsim.cli.app import app
from agentsim.results import run_in
from agentsim.scenario.load import load
from tests.playing import play_scenario

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "page.png"
ISLAND = """
game = "agent_island"
seed = 5
players = [
    {id = "Ada", model = "bot/grudge"},
    {id = "Bruno", model = "bot/loyal"},
    {id = "Chioma", model = "bot/random"},
    {id = "Dmitri", model = "bot/grudge"},
    {id = "Elif", model = "bot/random"},
    {id = "Farid", model = "bot/loyal"},
]
"""
COLORS = 96
"""Of the README's picture, which is two points a pixel and small."""
GAMES = ("agent_island_bots", "auction", "monopoly_bots", "society_bots", "market_bots", "smith_1962", "werewolf_bots")
PARTS = ("top", "panels", "timeline", "split")
SIZES = (1280, 900), (390, 844)


def page_of(config: Path, logs: Path, name: str) -> Path:
    """The page of a game that its bots play."""
    result = play_scenario(load(config), logs, env={}, stem=name)
    return run_in(result.files).page(result.files.page)


def island(logs: Path) -> Path:
    """The page of the README's picture."""
    config = logs / "island.toml"
    config.write_text(ISLAND, encoding="utf-8")
    return page_of(config, logs, "island")


def pages(logs: Path) -> Iterator[tuple[str, Path]]:
    """Every page by its name."""
    for config in GAMES:
        yield config, page_of(ROOT / "configs" / f"{config}.toml", logs / config, config)
    games = logs / "batch"
    for words in (
        ["batch", str(ROOT / "configs" / "agent_island_bots.toml"), "--games", "4", "--out", str(games)],
        ["report", str(games), "--html"],
    ):  # fmt: skip
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
    yield "batch", games / "index.html"


def look(browser: Browser, page: Path, name: str, to: Path) -> None:
    """Pictures of the parts that the page has."""
    for width, height in SIZES:
        for scheme in ("light", "dark"):
            tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            tab.goto(page.as_uri())
            for part in PARTS:
                if tab.locator(f"#{part}").count() or part == "top":
                    tab.evaluate("id => document.getElementById(id)?.scrollIntoView()", part)
                    tab.screenshot(path=to / f"{name}-{part}-{width}-{scheme}.png")
            tab.close()


def readme(browser: Browser, page: Path) -> None:
    """The README's picture: the first screen of a page."""
    size: ViewportSize = {"width": 1100, "height": 800}
    tab = browser.new_page(viewport=size, device_scale_factor=2, color_scheme="light", reduced_motion="reduce")
    tab.goto(page.as_uri())
    Image.open(io.BytesIO(tab.screenshot())).convert("RGB").quantize(COLORS).save(PICTURE, optimize=True)


def main() -> None:
    """Play, render, look; games are played before, since the browser has the loop."""
    with tempfile.TemporaryDirectory() as logs:
        to = Path(sys.argv[1]) if sys.argv[1:] else None
        found = [*pages(Path(logs))] if to else [("", island(Path(logs)))]
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for name, page in found:
                if to:
                    to.mkdir(parents=True, exist_ok=True)
                    look(browser, page, name, to)
                else:
                    readme(browser, page)
            browser.close()


if __name__ == "__main__":
    main()
