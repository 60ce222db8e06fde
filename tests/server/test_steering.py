"""The experimenter's forms over HTTP: hold, step, announce, ask, fork, stop, resume, start; and who may not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from agentsim.history.journal import read_journal
from agentsim.history.load import load_history
from agentsim.history.run_files import RunFiles
from agentsim.history.tables import survey_answers
from agentsim.runner.replay import prove
from tests.report.test_browser import browser
from tests.server.site import ISLAND, Held, ServedSite, served, until

__all__ = ["browser"]

SAID = "The judges are watching."


@pytest.fixture
def held() -> Iterator[Held]:
    with Held().in_thread() as server:
        yield server


@contextmanager
def _served(folder: Path, url: str) -> Iterator[ServedSite]:
    (folder / "logs").mkdir()
    (folder / "configs").mkdir()
    (folder / "configs" / "island.toml").write_text(ISLAND.format(url=url), encoding="utf-8")
    with served(folder / "logs") as running:
        yield running


@pytest.fixture
def site(tmp_path: Path, held: Held) -> Iterator[ServedSite]:
    """A server with an island of three models to start, whose calls wait until the test lets them go."""
    with _served(tmp_path, held.url()) as running:
        yield running


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedSite]:
    """One for the tests that start no run."""
    with _served(tmp_path_factory.mktemp("still"), "http://127.0.0.1:9/v1") as running:
        yield running


def started(site: ServedSite, name: str = "run", **fields: str) -> RunFiles:
    answer = site.steer("/new/island.toml", {"run_name": name, **fields})
    assert (answer.status, answer.headers.get("Location")) == (303, f"/runs/{name}"), answer.text
    return RunFiles(site.logs, name)


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
    files = started(site)
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
    files = started(site)
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
    files = started(site)
    held.let(4)
    until(lambda: decided(files) == 4, "three pitches and a vote")
    act(site, "announce", said=SAID)
    held.let()
    until(files.history.is_file, "the end")
    assert asked(held, SAID) == len(held.received) - 6
    prove(files)


def test_a_player_is_asked_off_the_record_while_the_game_is_held(site: ServedSite, held: Held) -> None:
    files = started(site)
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
    files = started(site)
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
    held.let_all()
    files = started(site)
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
    held.let_all()
    files = started(site)
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


def test_the_form_of_a_configuration_follows_its_schema(still: ServedSite) -> None:
    page = still.get("/new/island.toml", Cookie=still.cookie()).text
    assert 'href="/new/island.toml"' in still.get("/new", Cookie=still.cookie()).text
    field = re.search(r'<input name="seed"[^>]*>', page)
    assert field is not None
    assert 'type="number"' in field[0]
    assert 'value="5"' in field[0]
    assert '<select name="game_config.memory">' in page
    assert 'name="limits.max_calls"' in page
    assert re.search(r'<input name="players.0.model"', page)
    assert "US dollars, checked before each call" in page


def test_what_the_form_changes_is_what_is_played(site: ServedSite, held: Held) -> None:
    held.let_all()
    files = started(site, **{"seed": "11", "players.1.model": "bot/random", "defaults.temperature": "0.2"})
    until(files.history.is_file, "the end")
    history = load_history(files.history)
    assert history.seed == 11
    assert [each.model for each in history.players] == ["fake/echo", "bot/random", "fake/echo"]
    assert history.players[0].temperature == 0.2


def test_a_form_that_cannot_be_played_starts_nothing(still: ServedSite) -> None:
    answer = still.steer("/new/island.toml", {"run_name": "run", "players.1.model": "bot/nosuch"})
    assert answer.status == 400
    assert "nosuch" in answer.text
    assert not (still.logs / "run.jsonl").exists()
    assert still.steer("/new/../run.toml", {}).status == 404


@pytest.mark.parametrize("cookie", ["", "wrong", "agentsim-{port}=x", "agentsim-{port}={almost}"])
def test_without_the_key_nothing_is_steered(still: ServedSite, cookie: str) -> None:
    sent = cookie.format(port=still.port, almost=still.keys["steer"][:-1])
    for path in ("/runs/run/steer", "/new", "/new/island.toml", "/runs/run/what-if/1"):
        assert still.get(path, Cookie=sent).status in {403, 404}, path
    for form in ("/runs/run/steer/pause", "/new/island.toml", "/runs/run/what-if/1"):
        assert still.post(form, {}, Cookie=sent).status == 403, form
    assert not list(still.logs.glob("*.jsonl"))


def test_a_chance_to_win_is_drawn_before_and_after_a_decision(site: ServedSite, held: Held) -> None:
    held.let_all()
    files = started(site)
    until(files.history.is_file, "the end")
    history = load_history(files.history)
    votes = [each for part in history.rounds for each in part.events if each.kind == "vote"]
    found = site.get(f"/runs/run/what-if?event={votes[0].seq}", Cookie=site.cookie())
    assert found.status == 303
    where = found.headers["Location"]
    assert where == f"/runs/run/what-if/{votes[0].metadata['decision']}"
    assert "Play branches" in site.get(where, Cookie=site.cookie()).text
    assert site.steer(where, {"branches": "5"}).status == 303
    page = until(
        lambda: (text := site.get(where, Cookie=site.cookie()).text) and "More branches" in text and text,
        "the branches",
    )
    assert "Chance to win" in page
    assert "before it: 5 games, after it: 5 games" in page
    for player in "ABC":
        assert f"{player} before it" in page
        assert f"{player} after it" in page
    assert "What it changed" in page
    assert len(list(site.logs.glob("run_at*.json"))) == 10
    narrated = next(each for part in history.rounds for each in part.events if each.kind == "eliminated")
    assert site.get(f"/runs/run/what-if?event={narrated.seq}", Cookie=site.cookie()).status == 303
    assert site.get("/runs/run/what-if?event=9999", Cookie=site.cookie()).status == 400
    assert site.steer(where, {"branches": "100000"}).status == 400


def test_the_links_of_people_and_who_has_come_stand_behind_the_experimenters_key(site: ServedSite) -> None:
    text = ISLAND.format(url="http://127.0.0.1:9").replace('id = "A"', 'id = "A"\nmodel = "web"')
    (site.logs.parent / "configs" / "people.toml").write_text(text, encoding="utf-8")
    answer = site.steer("/new/people.toml", {"run_name": "run"})
    assert (answer.status, answer.headers.get("Location")) == (303, "/runs/run/steer"), answer.text
    page = site.get("/runs/run/steer", Cookie=site.cookie()).text
    (link,) = re.findall(r"http://[^\"]*(/seat/[^\"]+)", page)
    assert "has not come" in page
    assert site.get("/runs/run/steer").status == 403
    assert link not in site.get("/runs/run").text
    assert link not in site.get("/runs/run", Cookie=site.cookie()).text
    assert site.post(link, {"seat-step": "agree"}).status == 303
    until(lambda: "is asked now" in site.get("/runs/run/steer", Cookie=site.cookie()).text, "the first question")
    assert site.post(link, {"seat-step": "withdraw"}).status == 303
    page = site.get("/runs/run/steer", Cookie=site.cookie()).text
    assert ("has left the study" in page, link in page) == (True, False)


def test_a_stopped_run_with_people_goes_on_from_its_page_with_the_same_links(site: ServedSite) -> None:
    text = ISLAND.format(url="http://127.0.0.1:9").replace('id = "A"', 'id = "A"\nmodel = "web"')
    (site.logs.parent / "configs" / "people.toml").write_text(text, encoding="utf-8")
    site.steer("/new/people.toml", {"run_name": "run"})
    page = site.get("/runs/run/steer", Cookie=site.cookie()).text
    (link,) = re.findall(r"http://[^\"]*(/seat/[^\"]+)", page)
    act(site, "stop")
    act(site, "go-on")
    assert link in site.get("/runs/run/steer", Cookie=site.cookie()).text
    assert site.get(link).status == 200


def test_what_is_said_to_a_waiting_room_is_heard_from_the_first_question_on(site: ServedSite) -> None:
    """Also after the run was stopped there and goes on; a question off the record needs one of the game before it."""
    text = ISLAND.format(url="http://127.0.0.1:9").replace('id = "A"', 'id = "A"\nmodel = "web"', 1)
    text = text.replace('id = "B"', 'id = "B"\nmodel = "bot/random"').replace(
        'id = "C"', 'id = "C"\nmodel = "bot/random"'
    )
    (site.logs.parent / "configs" / "people.toml").write_text(text, encoding="utf-8")
    site.steer("/new/people.toml", {"run_name": "run"})
    (link,) = re.findall(r"http://[^\"]*(/seat/[^\"]+)", site.get("/runs/run/steer", Cookie=site.cookie()).text)
    act(site, "stop")
    act(site, "go-on")
    act(site, "announce", said=SAID)
    answer = site.steer("/runs/run/steer/ask", {"player": "A", "ask": "How are you?"})
    assert answer.status == 400
    assert "A: has not been asked anything yet" in answer.text
    files = RunFiles(site.logs, "run")
    assert list(read_journal(files.journal).steered) == [1]
    assert site.post(link, {"seat-step": "agree"}).status == 303
    question = until(lambda: (text := site.get(link).text) and 'name="seat-decision"' in text and text, "a question")
    assert SAID in question
    act(site, "ask", player="A", ask="How are you?")


def test_the_forms_work_in_a_browser(browser: Browser, site: ServedSite, held: Held) -> None:
    """What a browser sends of itself with a form is what the site takes for its own."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{site.url}/enter?key={site.keys['steer']}")
        expect(page).to_have_url(f"{site.url}/")
        page.get_by_role("link", name="Start a run").click()
        page.get_by_role("link", name="island.toml").click()
        page.locator("input[name=run_name]").fill("run")
        page.get_by_role("button", name="Play", exact=True).click()
        expect(page).to_have_url(f"{site.url}/runs/run")
        page.get_by_role("link", name="Steer").click()
        page.get_by_role("button", name="Pause").click()
        expect(page.locator("dd").first).to_have_text("Paused")
        assert site.keys["steer"] not in page.evaluate("document.cookie + location.href")
