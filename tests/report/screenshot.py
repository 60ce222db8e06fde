"""The README's picture: a game of bots, its page in a browser at a turn in the middle.

`python -m tests.report.screenshot` takes it anew.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from agentsim.results import run_in
from agentsim.runner.session import begin
from agentsim.scenario.load import load

__all__ = ["PICTURE"]

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "page.png"
TURN = 130


def main() -> None:
    """Play, render, look."""
    with tempfile.TemporaryDirectory() as logs:
        result = begin(load(ROOT / "configs" / "monopoly_bots.toml"), Path(logs), env={}, stem="monopoly-night")
        address = run_in(result.files).page(result.files.page).as_uri()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": 1180, "height": 920}, reduced_motion="reduce")
            page.goto(address)
            page.locator("input[type=range]").first.fill(str(TURN))
            page.evaluate("document.getElementById('panel-1').scrollIntoView()")
            page.screenshot(path=PICTURE)
            browser.close()


if __name__ == "__main__":
    main()
