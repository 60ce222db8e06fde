"""The site over a folder of runs: its address, its list, its pages, and what it refuses."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsim.records.fallback_rates import fallback_rates_in
from agentsim.records.load import list_runs, load_history
from agentsim.records.run_files import RunFiles
from agentsim.scenario.load import load
from tests.cli.command_line import ROOT, agentsim, trio
from tests.cli.processes import in_a_process
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import play_scenario
from tests.runs.island import decided
from tests.server.site import ServedSite, served

RUN = "/runs/done"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a finished run and a batch of two games with its page."""
    home = tmp_path_factory.mktemp("home")
    config = trio(home)
    play_scenario(load(config), home / "logs", env={}, stem="done")
    played = agentsim("batch", str(config), "--games", "2", "--out", "logs/few", "--jobs", "1", cwd=home)
    assert played.code == 0, played.err
    return home / "logs"


@pytest.fixture(scope="module")
def site(logs: Path) -> Iterator[ServedSite]:
    with served(logs) as running:
        yield running


def test_the_address_is_the_first_line_and_a_signal_ends_the_server(logs: Path) -> None:
    with served(logs) as site:
        assert site.host == "127.0.0.1"
        assert site.port > 0
        assert site.get("/").status == 200
        site.process.send_signal(signal.SIGINT)
        assert site.process.wait(20) == 0


def test_a_folder_that_does_not_exist_yet_is_said_and_served(tmp_path: Path) -> None:
    with served(tmp_path / "none") as site:
        assert site.get("/").status == 200
        assert f"{tmp_path / 'none'} does not exist yet; its runs are" in site.said


def test_a_taken_port_is_said_in_one_line(site: ServedSite, logs: Path) -> None:
    said = in_a_process("serve", "--logs-dir", str(logs), "--port", str(site.port), cwd=logs.parent)
    assert (said.code, said.out) == (2, "")
    assert said.line == f"--port {site.port}: Address already in use (0 takes a free one)"


def test_the_list_has_runs_with_status_game_players_winner_and_cost(site: ServedSite, logs: Path) -> None:
    page = site.get("/").text
    history = json.loads(RunFiles(logs, "done").history.read_text("utf-8"))
    row = page.partition('href="/runs/done"')[2].partition("</tr>")[0]
    for words in ("completed", "Agent Island: Deliberations", "bot/random", history["outcome"]["winner"], ">7<", "$0"):
        assert words in row, words
    assert 'href="/batches/few"' in page


def test_the_list_of_batches_says_which_models_won_how_often(site: ServedSite, logs: Path) -> None:
    won = Counter(run.winner_model for run in list_runs(logs / "few"))
    row = site.get("/").text.partition('href="/batches/few"')[2].partition("</tr>")[0]
    assert "wins:" in row
    for model, games in won.items():
        assert f"{model} {games}" in row


def test_the_list_says_what_was_lost_to_whom(tmp_path: Path) -> None:
    players = "".join(f'[[players]]\nid = "{player}"\nmodel = "lab/echo"\n' for player in "ABC")
    with FakeServer(lambda body: varied_by_schema(body) if decided(body)[1] != "vote" else "No.").in_thread() as server:
        text = f'game = "agent_island"\nseed = 7\n[providers.lab]\nbase_url = "{server.url()}"\n{players}'
        play_scenario(load(trio(tmp_path, text)), tmp_path / "logs", env={}, stem="lossy")
    lost = fallback_rates_in(load_history(RunFiles(tmp_path / "logs", "lossy").history)).whole.model
    with served(tmp_path / "logs") as site:
        row = site.get("/").text.partition('href="/runs/lossy"')[2].partition("</tr>")[0]
    assert lost > 0
    assert f">model {lost}</td>" in row


def test_a_batch_lists_its_runs_and_has_its_report(site: ServedSite, logs: Path) -> None:
    pytest.importorskip("scipy")
    page = site.get("/batches/few").text
    assert page.count('href="/batches/few/runs/') == 2
    assert 'href="/batches/few/report"' in page
    report = site.get("/batches/few/report")
    assert report.status == 200
    assert "<h1><bdi>few</bdi></h1>" in report.text or "few" in report.text.partition("</h1>")[0]
    assert "Exploratory:" in report.text or "Leaderboard" in report.text
    assert "<style" not in report.text, "the style sheet is the site's: its policy allows no other"
    link = report.text.partition('href="/batches/few/runs/')[2].partition('"')[0]
    assert site.get(f"/batches/few/runs/{link}").status == 200


def test_a_finished_run_has_its_page_without_a_stream(site: ServedSite) -> None:
    answer = site.get(RUN)
    assert answer.status == 200
    assert "data-stream" not in answer.text
    assert 'id="timeline"' in answer.text
    assert "Usage" in answer.text


def test_prompts_are_shown_when_they_are_asked_for(site: ServedSite) -> None:
    assert 'id="scenario"' not in site.get(RUN).text
    assert 'id="scenario"' in site.get(f"{RUN}?prompts").text


@pytest.mark.parametrize("path", ["/", RUN, "/batches/few", "/nothing", "/static/serve.js", f"{RUN}/stream"])
def test_every_answer_forbids_foreign_content(site: ServedSite, path: str) -> None:
    headers = site.get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["form-action"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Cache-Control"] == "no-store"
    assert "Access-Control-Allow-Origin" not in headers


def test_a_browser_keeps_a_script_under_an_address_that_names_its_text(site: ServedSite) -> None:
    addresses = re.findall(r'<script src="([^"]+)"', site.get(RUN).text)
    assert len(addresses) == 2
    for address in addresses:
        sent = site.get(address)
        assert sent.headers["Cache-Control"] == "max-age=31536000, immutable"
        assert hashlib.sha256(sent.text.encode()).hexdigest().startswith(address.partition("?")[2])
        assert site.get(f"{address}0").headers["Cache-Control"] == "no-store", "the text of another version"


def test_no_page_names_an_address_of_another_host(site: ServedSite) -> None:
    for path in ("/", RUN, f"{RUN}?prompts", "/batches/few", "/static/serve.js", "/static/page.js", "/static/logs.css"):
        text = site.get(path).text.replace("http://www.w3.org/2000/svg", "")  # a namespace's name
        assert "http://" not in text.replace(site.url, "")
        assert "https://" not in text


def test_a_page_has_no_inline_script_or_handler(site: ServedSite) -> None:
    for path in ("/", RUN, "/batches/few"):
        text = site.get(path).text
        assert "<script>" not in text
        assert " onclick=" not in text
        assert "javascript:" not in text


@pytest.mark.parametrize(
    "path",
    ["/runs/nothing", "/runs/..", "/runs/%2e%2e%2fsecret", "/runs/..%2fdone", "/runs/%2fetc%2fpasswd",
     "/batches/nothing", "/batches/..", "/batches/%2e%2e", "/batches/few/runs/..%2f..%2fdone", "/static/..%2fsite.py",
     "/runs/a%00b",
     "/runs/done/nothing"],
)  # fmt: skip
def test_a_path_that_leads_elsewhere_is_not_found(site: ServedSite, path: str) -> None:
    answer = site.get(path)
    assert answer.status == 404
    assert "Traceback" not in answer.text


def test_links_that_lead_out_of_the_folder_are_refused(site: ServedSite, logs: Path) -> None:
    outside = logs.parent / "outside"
    outside.mkdir()
    for path in (RunFiles(logs, "done").journal, RunFiles(logs, "done").history):
        (outside / path.name.replace("done", "away")).write_bytes(path.read_bytes())
        (logs / path.name.replace("done", "away")).symlink_to(outside / path.name.replace("done", "away"))
    (outside / "batch.json").write_text("{}", encoding="utf-8")
    (logs / "linked").symlink_to(outside)
    try:
        assert site.get("/runs/away").status == 404
        assert site.get("/batches/linked").status == 404
        assert 'href="/batches/linked"' not in site.get("/").text
        assert site.get("/").status == 200
    finally:
        for path in (logs / "away.json", logs / "away.jsonl", logs / "linked"):
            Path(path).unlink()


def test_a_name_is_only_text(site: ServedSite) -> None:
    answer = site.get("/runs/%3Cscript%3Ealert(1)%3C%2Fscript%3E")
    assert answer.status == 404
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.invalid"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
                {"Origin": "null"}],
)  # fmt: skip
def test_what_another_sites_page_sends_is_refused(site: ServedSite, headers: dict[str, str]) -> None:
    assert site.post("/", {}, **headers).status == 403


def test_a_page_of_the_site_itself_is_not(site: ServedSite) -> None:
    assert site.post("/", {}).status == 405


@pytest.mark.parametrize("host", ["evil.invalid", "evil.invalid:8800", "127.0.0.1.evil.invalid", ""])
def test_another_hosts_name_is_refused(site: ServedSite, host: str) -> None:
    """A name that another site has pointed at this machine would give its pages the answers."""
    assert site.get("/", Host=host).status in {400, 421}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machines_names_are_not(site: ServedSite, host: str) -> None:
    assert site.get("/", Host=f"{host}:{site.port}").status == 200


def test_a_body_that_is_too_long_is_refused(site: ServedSite) -> None:
    assert site.post("/", {"said": "x" * 300_000}).status == 413
    assert site.get("/").status == 200


def test_only_forms_are_taken(site: ServedSite) -> None:
    assert site.post("/", {"a": "b"}, Content_Type="application/json").status == 415


def test_a_run_that_cannot_be_read_is_in_the_list_and_harms_nothing_else(site: ServedSite, logs: Path) -> None:
    broken = logs / "broken.jsonl"
    broken.write_text('{"record": "run", "format": "agentsim-journal/2"}\n', encoding="utf-8")
    os.utime(broken)
    try:
        assert "unreadable" in site.get("/").text
        answer = site.get("/runs/broken")
        assert answer.status == 409
        assert "broken cannot be shown" in answer.text
        assert site.get(RUN).status == 200
    finally:
        broken.unlink()


def test_a_run_of_another_version_is_in_the_list_and_its_page_names_the_version(site: ServedSite, logs: Path) -> None:
    files = [shutil.copy(ROOT / "tests" / "golden" / "0.1.0" / name, logs) for name in ("island.json", "island.jsonl")]
    try:
        assert "was written by agentsim 0.1.0, and that version plays it" in site.get("/").text
        answer = site.get("/runs/island")
        assert (answer.status, "was written by agentsim 0.1.0, and that version" in answer.text) == (409, True)
    finally:
        for path in files:
            Path(path).unlink()
