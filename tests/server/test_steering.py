"""The experimenter's forms over HTTP: hold, step, announce, ask, fork, stop, resume; and who may not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from agentsim.records.journal import read_journal
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.records.tables import survey_answers
from agentsim.runs.replay import prove
from tests.report.test_browser import browser
from tests.server.site import ISLAND, Held, ServedSite, hosted, until

__all__ = ["browser"]

SAID = "The judges are watching."


@pytest.fixture
def held() -> Iterator[Held]:
    with Held().in_thread() as server:
        yield server


@pytest.fixture
def site(tmp_path: Path, held: Held) -> Iterator[ServedSite]:
    """An island of three models that its own process serves; calls wait until the test lets them go."""
    with hosted(tmp_path, ISLAND.format(url=held.url())) as running:
        yield running


@contextmanager
def seated(home: Path, bots: str = "") -> Iterator[tuple[ServedSite, str]]:
    """An island on which a person has the first seat, and a bot each of `bots`; the path of the person's link."""
    text = ISLAND.format(url="http://127.0.0.1:9").replace('id = "A"', 'id = "A"\nmodel = "web"')
    for player in bots:
        text = text.replace(f'id = "{player}"', f'id = "{player}"\nmodel = "bot/random"')
    with hosted(home, text) as site:
        (link,) = re.findall(r"http://[^\"]*(/seat/[^\"]+)", site.get("/runs/run/steer", Cookie=site.cookie()).text)
        yield site, link


def run_of(site: ServedSite) -> RunFiles:
    return RunFiles(site.logs, "run")


def act(site: ServedSite, what: str, name: str = "run", **fields: str) -> None:
    answer = site.steer(f"/runs/{name}/steer/{what}", fields)
    assert answer.status == 303, answer.text


def decided(files: RunFiles) -> int:
    return files.journal.read_text("utf-8").count('"record":"decision"')


def _has(files: RunFiles, count: int) -> bool:
    return decided(files) == count


def asked(held: Held, words: str) -> int:
    """How many calls had these words in their prompt."""
    return sum(words in json.dumps(each.body, ensure_ascii=False) for each in held.received)


def test_a_held_run_is_let_go_decision_by_decision(site: ServedSite, held: Held) -> None:
    files = run_of(site)
    until(lambda: len(held.received) == 1, "the first call")
    act(site, "pause")
    held.let()
    until(lambda: decided(files) == 1, "the call that was on its way is answered")
    for number in (2, 3, 4):  # the third is the last pitch, the fourth the first of three votes of one moment
        act(site, "step")
        until(partial(_has, files, number), f"decision {number}")
        assert "Paused" in site.get("/runs/run/steer", Cookie=site.cookie()).text
        assert len(held.received) == number, "no other call has begun"
    act(site, "resume")
    until(files.history.is_file, "the end")
    prove(files)


def test_the_narrator_is_heard_at_once_in_every_later_prompt_and_on_the_page(site: ServedSite, held: Held) -> None:
    files = run_of(site)
    until(lambda: len(held.received) == 1, "the first call")
    act(site, "pause")
    held.let()
    until(lambda: decided(files) == 1, "the first pitch")
    page = site.get("/runs/run").text
    stream = re.search(r'data-stream="([^"]+)"', page)
    assert stream is not None
    with site.stream(stream[1].replace("&amp;", "&")) as live:
        act(site, "announce", said=f"  {SAID}\n")
        assert SAID in live.upto(SAID)
        act(site, "resume")
        live.upto('id="standings"')
    until(files.history.is_file, "the end")
    assert asked(held, SAID) == len(held.received) - 1
    history = load_history(files.history)
    (event,) = (each for part in history.rounds for each in part.events if each.content == SAID)
    assert (event.role, event.visibility) == ("narrator", "all")
    prove(files)


def test_what_is_announced_in_the_middle_of_a_moment_comes_after_it(site: ServedSite, held: Held) -> None:
    files = run_of(site)
    held.let(4)
    until(lambda: decided(files) == 4, "three pitches and a vote")
    act(site, "announce", said=SAID)
    held.let()
    until(files.history.is_file, "the end")
    assert asked(held, SAID) == len(held.received) - 6
    prove(files)


def test_a_player_is_asked_off_the_record_while_the_game_is_held(site: ServedSite, held: Held) -> None:
    files = run_of(site)
    until(lambda: len(held.received) == 1, "the first call")
    act(site, "pause")
    held.let()
    until(lambda: decided(files) == 1, "the first pitch")
    act(site, "ask", player="A", ask="Whom do you trust?", options="B\nC")
    until(lambda: decided(files) == 2, "the answer")
    assert "Paused" in site.get("/runs/run/steer", Cookie=site.cookie()).text
    act(site, "resume")
    until(files.history.is_file, "the end")
    history = load_history(files.history)
    (answer,) = survey_answers(history)
    assert (answer.decision.player, answer.question.ask, answer.answer in {"B", "C"}) == (
        "A",
        "Whom do you trust?",
        True,
    )
    assert asked(held, "Whom do you trust?") == 1
    prove(files)


def test_a_stopped_run_is_played_on(site: ServedSite, held: Held) -> None:
    files = run_of(site)
    held.let(3)
    until(lambda: decided(files) == 3, "three pitches")
    act(site, "stop")
    assert read_journal(files.journal).stops[-1].status == "interrupted"
    assert "it can be resumed" in site.get("/runs/run/steer", Cookie=site.cookie()).text
    act(site, "go-on")
    held.let()
    until(lambda: '"status":"completed"' in files.history.read_text("utf-8"), "the end")
    prove(files)


def test_a_fork_has_another_player_another_message_or_another_decision(site: ServedSite, held: Held) -> None:
    held.let()
    files = run_of(site)
    until(files.history.is_file, "the end")
    old = load_history(files.history)
    for form in (
        {"at": "2", "words": "Vote for me, please."},
        {"at": "4", "instead": '{"vote": "B", "explanation": "no reason"}'},
        {"at": "3", "player": "C", "model": "bot/random"},
        {"at": "3", "set": "players.1.temperature=0.3"},
    ):
        answer = site.steer("/runs/run/steer/fork", form)
        assert answer.status == 303, answer.text
        branch = RunFiles(site.logs, answer.headers["Location"].rpartition("/")[2])
        until(branch.history.is_file, "the branch")
        history = load_history(branch.history)
        at = int(form["at"])
        assert history.fork is not None
        assert history.fork.at == at
        assert history.decisions[: at - 1] == old.decisions[: at - 1]
        if "words" in form:
            assert "Vote for me, please." in json.dumps(history.decisions[1].decision)
        if "instead" in form:
            assert history.decisions[3].decision["vote"] == "B"
        if "model" in form:
            assert history.players[2].model == "bot/random"
        prove(branch)


def test_what_cannot_be_done_is_said(site: ServedSite, held: Held) -> None:
    held.let()
    files = run_of(site)
    until(files.history.is_file, "the end")
    for what, form, why in (
        ("fork", {"at": "999"}, "has no decision 999"),
        ("fork", {"at": "x"}, "must be a whole number"),
        ("fork", {"at": "4", "instead": '{"vote": "Z"}'}, "--instead"),
        ("fork", {"at": "2", "player": "Z", "model": "bot/random"}, "no player"),
        ("fork", {"at": "2", "set": "seed=4"}, "cannot be changed by a fork"),
        ("announce", {"said": SAID}, "does not play the run"),
        ("nothing", {}, "no such form"),
    ):
        answer = site.steer(f"/runs/run/steer/{what}", form)
        assert 400 <= answer.status < 500, what
        assert why in answer.text, what


@pytest.mark.parametrize("cookie", ["", "wrong", "agentsim-{port}=x", "agentsim-{port}={almost}"])
def test_without_the_key_nothing_is_steered(site: ServedSite, held: Held, cookie: str) -> None:
    sent = cookie.format(port=site.port, almost=site.keys["steer"][:-1])
    assert site.get("/runs/run/steer", Cookie=sent).status == 403
    for act in ("pause", "announce", "fork", "stop"):
        assert site.post(f"/runs/run/steer/{act}", {"said": SAID, "at": "1"}, Cookie=sent).status == 403, act
    held.let()
    until(run_of(site).history.is_file, "the end")
    assert asked(held, SAID) == 0
    assert [path.name for path in site.logs.glob("*.jsonl")] == ["run.jsonl"]


def test_the_links_of_people_and_who_has_come_stand_behind_the_experimenters_key(tmp_path: Path) -> None:
    with seated(tmp_path) as (site, link):
        assert "has not come" in site.get("/runs/run/steer", Cookie=site.cookie()).text
        assert site.get("/runs/run/steer").status == 403
        assert link not in site.get("/runs/run").text
        assert link not in site.get("/runs/run", Cookie=site.cookie()).text
        assert site.post(link, {"seat-step": "agree"}).status == 303
        until(lambda: "is asked now" in site.get("/runs/run/steer", Cookie=site.cookie()).text, "the first question")
        assert site.post(link, {"seat-step": "withdraw"}).status == 303
        page = site.get("/runs/run/steer", Cookie=site.cookie()).text
        assert ("has left the study" in page, link in page) == (True, False)


def test_a_stopped_run_with_people_goes_on_from_its_page_with_the_same_links(tmp_path: Path) -> None:
    with seated(tmp_path) as (site, link):
        act(site, "stop")
        act(site, "go-on")
        assert link in site.get("/runs/run/steer", Cookie=site.cookie()).text
        assert site.get(link).status == 200


def test_what_is_said_to_a_waiting_room_is_heard_from_the_first_question_on(tmp_path: Path) -> None:
    """Also after the run was stopped there and goes on; a question off the record needs one of the game before it."""
    with seated(tmp_path, bots="BC") as (site, link):
        act(site, "stop")
        act(site, "go-on")
        act(site, "announce", said=SAID)
        answer = site.steer("/runs/run/steer/ask", {"player": "A", "ask": "How are you?"})
        assert answer.status == 400
        assert "A: has not been asked anything yet" in answer.text
        assert list(read_journal(run_of(site).journal).steered) == [1]
        assert site.post(link, {"seat-step": "agree"}).status == 303
        page = until(lambda: (text := site.get(link).text) and 'name="seat-decision"' in text and text, "a question")
        assert SAID in page
        act(site, "ask", player="A", ask="How are you?")


def test_the_forms_work_in_a_browser(browser: Browser, site: ServedSite, held: Held) -> None:
    """What a browser sends of itself with a form is what the site takes for its own."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{site.url}/enter?key={site.keys['steer']}")
        expect(page).to_have_url(f"{site.url}/")
        page.get_by_role("link", name="run", exact=True).click()
        expect(page).to_have_url(f"{site.url}/runs/run")
        page.get_by_role("link", name="Steer").click()
        page.get_by_role("button", name="Pause").click()
        expect(page.locator("dd").first).to_have_text("Paused")
        assert site.keys["steer"] not in page.evaluate("document.cookie + location.href")
