"""The site of docs/: it is built strictly, has its reference from the code, and asks nothing of other hosts."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser

import agentsim
from tests.chromium import chromium
from tests.cli.command_line import ROOT
from tests.cli.test_help import COMMANDS

if importlib.util.find_spec("mkdocs") is None:
    pytest.skip("the group docs", allow_module_level=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site; a broken link, an anchor that is not there or a page without a place is a failure.

    mkdocs counts what it prints, so `--quiet` would let warnings pass.
    """
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_command_and_option_is_in_the_reference(site: Path) -> None:
    page = (site / "commands.html").read_text("utf-8")
    for name, command in COMMANDS.items():
        part = page.partition(f'<h3 id="{name}">')[2].partition("<h3")[0]
        options = {option for param in command.params for option in param.opts if option.startswith("--")}
        assert [option for option in options if f"<code>{option}" not in part and f" {option}" not in part] == [], name


def test_every_name_that_the_package_exports_is_in_the_reference(site: Path) -> None:
    page = (site / "python.html").read_text("utf-8")
    named = set(re.findall(r'<h3 id="\w+">agentsim\.(\w+)', page))
    assert named == set(agentsim.__all__) - {"__version__"}


def test_formulas_are_drawn_by_the_browser_itself(site: Path) -> None:
    page = (site / "inference.html").read_text("utf-8")
    assert page.count("<math") > 50
    assert "$" not in re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    assert "formula-" not in page


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    pages = [*site.rglob("*.html")]
    assert len(pages) > 35
    for page in pages:
        text = page.read_text("utf-8")
        tags = re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=[\"']?([^\"' >]+)", text)
        assert [target for target in tags if "//" in target] == [], page.name
    for sheet in site.rglob("*.css"):
        assert re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)]*", sheet.read_text("utf-8")) == [], sheet.name


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base
        pass


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("width", [1280, 390])
def test_in_a_browser_pages_ask_their_own_host_alone_and_are_as_wide_as_the_screen(
    address: str, browser: Browser, width: int
) -> None:
    asked: list[str] = []
    complaints: list[str] = []
    tab = browser.new_page(viewport={"width": width, "height": 800})
    tab.on("request", lambda request: asked.append(request.url))
    tab.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    for name in ("index", "commands", "scenario", "inference", "tutorial_study", "society"):
        tab.goto(f"{address}/{name}.html")
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, name
    tab.close()
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    assert complaints == []


@pytest.mark.parametrize("page", ["promises", "seeds/001_monopoly", "seeds/002_market"])
def test_long_names_of_tests_break_so_that_a_table_fits_its_page(address: str, browser: Browser, page: str) -> None:
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto(f"{address}/{page}.html")
    beyond = tab.locator(".md-typeset__scrollwrap").evaluate_all(
        "all => all.map(one => one.scrollWidth - one.clientWidth)"
    )
    assert beyond
    assert max(beyond) <= 0
    tab.close()


def test_a_search_finds_a_page(address: str, browser: Browser) -> None:
    tab = browser.new_page(viewport={"width": 1280, "height": 800})
    tab.goto(f"{address}/index.html")
    tab.get_by_role("textbox", name="Search").fill("max_cost_usd")
    tab.locator(".md-search-result__item").first.wait_for()
    tab.close()
