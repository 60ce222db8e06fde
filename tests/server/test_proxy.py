"""A server behind a proxy that ends TLS: its links, its cookies, and whose forms are taken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from agentsim.errors import UsageError
from agentsim.server.address import origin_of
from tests.amounts import each_row
from tests.cli.processes import in_a_process
from tests.models.test_transport import CERTIFICATE
from tests.report.test_browser import browser
from tests.server.site import ServedSite, hosted
from tests.server.stage import Tap

__all__ = ["browser"]

PUBLIC = "https://lab.example.org"
PEOPLE = """\
game = "agent_island"
[[players]]
id = "A"
model = "web"
[[players]]
id = "B"
model = "bot/random"
[[players]]
id = "C"
model = "bot/random"
"""


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedSite]:
    """A server whose proxy is played by the tests: what a proxy sends is sent to it."""
    with hosted(tmp_path_factory.mktemp("behind"), PEOPLE, "--public-url", PUBLIC) as site:
        yield ServedSite("127.0.0.1", port_of(site), site.process, site.logs, site.keys)


def port_of(site: ServedSite) -> int:
    """Where its proxy reaches it."""
    return int(re.findall(r"passes requests on to http://127\.0\.0\.1:(\d+)", site.said)[0])


def test_an_experiment_is_led_and_played_through_tls(tmp_path: Path, browser: Browser) -> None:
    proxy = Tap(certificate=CERTIFICATE)
    url = f"https://lab.localhost:{proxy.port}"
    with hosted(tmp_path, PEOPLE, "--public-url", url) as site:
        proxy.target = port_of(site)
        assert f"To watch: {url}/enter?key=" in site.said
        assert f"to steer: {url}/enter?key=" in site.said
        with (
            browser.new_context(ignore_https_errors=True) as lead,
            browser.new_context(ignore_https_errors=True) as person,
        ):
            page, seat = lead.new_page(), person.new_page()
            page.goto(f"{url}/enter?key={site.keys['steer']}")
            (cookie,) = lead.cookies()
            assert (cookie["name"], cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (
                f"__Host-agentsim-{proxy.port}", True, True, "Strict",
            )  # fmt: skip
            page.goto(f"{url}/runs/run/steer")
            link = page.get_by_label("Link of A").input_value()
            assert link.startswith(f"{url}/seat/")
            seat.goto(link)
            seat.click("button[value=agree]")
            seat.locator("textarea").first.fill("Said through the proxy.")
            seat.click("#seat form button[type=submit]")
            expect(seat.locator("#transcript, main").first).to_contain_text("Said through the proxy.")
            page.locator("form[action$=announce] [name=said]").fill("Be brief.")
            page.locator("form[action$=announce] button").click()
            expect(page.locator("body")).to_contain_text("Be brief.")
    proxy.close()


@pytest.mark.parametrize("host", ["lab.example.org", "lab.example.org:443", "127.0.0.1:{port}", "localhost"])
def test_a_form_of_the_public_site_is_taken_whichever_host_the_proxy_names(behind: ServedSite, host: str) -> None:
    sent = {"Host": host.format(port=behind.port), "Origin": PUBLIC, "X_Forwarded_Proto": "https"}
    entered = behind.get(f"/enter?key={behind.keys['steer']}", Host=sent["Host"])
    kept = entered.headers["Set-Cookie"]
    assert kept.startswith("__Host-agentsim-443=")
    assert "; Secure" in kept
    cookie = kept.partition(";")[0]
    answer = behind.post("/runs/run/steer/pause", {}, Cookie=cookie, **sent)
    assert (answer.status, answer.headers["Location"]) == (303, "/runs/run/steer")
    assert f'value="{PUBLIC}/seat/' in behind.get("/runs/run/steer", Cookie=cookie, Host=sent["Host"]).text


@pytest.mark.parametrize(
    "origin", ["http://lab.example.org", "https://lab.example.org:8443", "https://evil.invalid", "null",
               "http://127.0.0.1:{port}", "https://127.0.0.1:{port}"],
)  # fmt: skip
def test_a_form_of_any_other_origin_is_refused(behind: ServedSite, origin: str) -> None:
    cookie = behind.get(f"/enter?key={behind.keys['steer']}").headers["Set-Cookie"].partition(";")[0]
    forged = {
        "Origin": origin.format(port=behind.port),
        "X_Forwarded_Proto": "https",
        "X_Forwarded_Host": "evil.invalid",
    }
    assert behind.post("/runs/run/steer/announce", {"said": "forged"}, Cookie=cookie, **forged).status == 403
    assert "forged" not in behind.get("/runs/run/steer", Cookie=cookie).text


def test_every_page_behind_a_proxy_needs_a_key_and_the_sites_name(behind: ServedSite) -> None:
    assert behind.get("/").status == 403
    assert behind.get("/runs/run", Host="lab.example.org").status == 403
    assert behind.get("/static/logs.css", Host="lab.example.org").status == 200
    refused = behind.get("/static/logs.css", Host="evil.invalid")
    assert refused.status == 421
    assert f"This server answers to {PUBLIC} alone." in refused.text


def test_without_the_option_a_refusal_names_it(tmp_path: Path) -> None:
    with hosted(tmp_path, PEOPLE) as site:
        answer = site.post("/runs/run/steer/pause", {}, Origin=f"https://127.0.0.1:{site.port}")
        assert answer.status == 403
        assert "--public-url" in answer.text


@pytest.mark.parametrize("host", ["127.0.0.2", "LOCALHOST"])
def test_every_name_of_loopback_is_this_machine(tmp_path: Path, host: str) -> None:
    with hosted(tmp_path, PEOPLE, "--host", host) as site:
        assert site.host == host
        assert site.get("/").status == 200
        assert site.steer("/runs/run/steer/pause", {}).status == 303


@pytest.mark.parametrize(
    ("given", "origin"),
    [("https://lab.example.org", PUBLIC), ("HTTPS://LAB.example.org:443/", PUBLIC),
     ("http://lab.example.org:80", "http://lab.example.org"), ("https://[2001:DB8::1]:8443", "https://[2001:db8::1]:8443")],
)  # fmt: skip
def test_a_public_url_is_kept_as_browsers_name_an_origin(given: str, origin: str) -> None:
    assert origin_of(given) == origin


@each_row(
    "given", ["", "lab.example.org", "ftp://lab.example.org", "https://", "https://user@lab.example.org",
              "https://lab example.org", "https://lab.example.org:99999", "https://läb.example", "https://[::1",
              "https://evil.org\\@lab.example.org", "https://lab.example.org\x1b[31m"],
)  # fmt: skip
def test_what_is_no_public_url_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match="must be http or https and a host"):
        origin_of(given)


@pytest.mark.parametrize("path", ["/study", "/?a", "#a"])
def test_a_public_url_has_no_path(path: str) -> None:
    with pytest.raises(UsageError, match="a path is not supported; give the site a host name or a port of its own"):
        origin_of(f"{PUBLIC}{path}")


def test_a_path_is_refused_in_one_line(tmp_path: Path) -> None:
    said = in_a_process("serve", "--public-url", f"{PUBLIC}/study", cwd=tmp_path)
    assert (said.code, said.out) == (2, "")
    assert said.line.startswith(f"--public-url '{PUBLIC}/study': a path is not supported")
