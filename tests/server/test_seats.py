"""People and models play by browser: what each is sent is its own, and a killed server goes on where it was."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from agentsim.records.journal import read_journal
from agentsim.records.run_files import RunFiles
from agentsim.runs.replay import prove
from tests.chromium import chromium
from tests.fakes.replies import first_by_schema
from tests.fakes.server import FakeServer
from tests.server.stage import PRIVATE, Person, Stage, play, seated

MODEL_SECRET = "what-only-a-model-thinks"
HEAD = """
game = "{game}"
seed = 11

[people]
consent = "Do you agree to take part?"
completion = "Hand this in."
[[people.before]]
name = "age"
ask = "How old are you?"
least = 18
most = 99
[[people.after]]
name = "fun"
ask = "Was it fun?"
options = ["yes", "no"]

[providers.fake]
base_url = "{url}"
[defaults]
model = "fake/model"
{config}
"""
WEB = "".join(f'[[players]]\nid = "{player}"\nmodel = "web"\n' for player in ("Ann", "Bob", "Cleo"))
MODELS = '[[players]]\nid = "Dan"\n[[players]]\nid = "Eve"\n'
ITEMS = [{"Name": f"Lot {number}", "Quality": 80 + number, "IsRequired": False} for number in range(3)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def thinking(body: Mapping[str, Any]) -> str:
    """A model's reply whose private words are marked."""
    said = json.loads(first_by_schema(body))
    return json.dumps({name: MODEL_SECRET if name in PRIVATE else value for name, value in said.items()})


@pytest.fixture(scope="module")
def models() -> Iterator[FakeServer]:
    with FakeServer(thinking).in_thread() as server:
        yield server


@pytest.fixture
def stage_of(models: FakeServer, tmp_path: Path) -> Iterator[Any]:
    made: list[Stage] = []

    def begin(game: str, config: str = "", players: str = WEB + MODELS) -> Stage:
        made.append(Stage(tmp_path, HEAD.format(game=game, url=models.url(), config=config) + players))
        return made[-1]

    yield begin
    for stage in made:
        stage.close()


def assert_private(people: list[Person]) -> None:
    """What each was sent, and what stood on each page, holds nothing that is another's alone."""
    for person in people:
        received = person.received()
        assert person.complaints == []
        assert MODEL_SECRET not in received
        assert "fake/model" not in received, "a participant does not learn who is a model"
        for other in people:
            if other is not person:
                assert other.secret not in received
                assert other.path not in received


def assert_game_shown(people: list[Person]) -> None:
    """The game's panels stood on each page while it was played, and stand there at the end."""
    for person in people:
        assert person.tap.seen.count(b'id="figure-1"') > 1, "they came again as the game went on"
        assert person.page.locator("#panels figure").count()


def assert_on_record(stage: Stage, people: list[Person]) -> dict[str, Any]:
    files = RunFiles(stage.folder / "logs", "one")
    prove(files)
    text = files.journal.read_text(encoding="utf-8") + files.history.read_text(encoding="utf-8") + stage.said
    kept: dict[str, Any] = json.loads((stage.folder / "logs" / "one.people").read_text(encoding="utf-8"))["people"]
    assert (stage.folder / "logs" / "one.people").stat().st_mode & 0o777 == 0o600
    entries = read_journal(files.journal).decisions.values()
    for person in people:
        record = kept[person.player]
        assert record["token"] not in text, "a link's secret part is in a log"
        assert record["code"] in person.dom
        assert (record["before"], record["after"]) == ({"age": 18}, {"fun": "yes"})
        assert [each.source for each in entries if each.player == person.player] == ["human"] * person.answers
    return kept


def test_three_people_and_two_models_finish_an_island_though_the_server_is_killed(
    browser: Browser, stage_of: Any
) -> None:
    stage: Stage = stage_of("agent_island")
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with seated(browser, stage, Bob=phone, Cleo={"java_script_enabled": True}) as people:
        play(people, lambda: sum(person.answers for person in people) >= 5)
        stage.kill()
        stage.again()
        play(people)
        assert stage.result().startswith("one: completed")
        assert_private(people)
        assert_on_record(stage, people)
        assert_game_shown(people)
        assert people[1].page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "config"),
    [
        ("auction", '[game_config]\nitems = "items.json"\nbudget = 300\n'),
        ("monopoly", "[game_config]\nmax_turns = 6\n"),
        ("werewolf", "[game_config]\nmax_days = 2\n"),
    ],
    ids=["auction", "monopoly", "werewolf"],
)
def test_three_people_and_two_models_finish_the_other_games(
    browser: Browser, stage_of: Any, tmp_path: Path, game: str, config: str
) -> None:
    (tmp_path / "items.json").write_text(json.dumps(ITEMS), encoding="utf-8")
    more = '[[players]]\nid = "Fay"\nmodel = "bot/random"\n' * (game == "werewolf")
    stage: Stage = stage_of(game, config, WEB + MODELS + more)
    with seated(browser, stage) as people:
        play(people, lambda: sum(person.answers for person in people) >= 3)
        stage.kill()
        stage.again()
        play(people)
        assert_private(people)
        assert_on_record(stage, people)
        assert_game_shown(people)
        assert bool(people[0].page.locator("#panels .stage svg").count()) == (game == "monopoly")


def serious(page: Any) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found if each["impact"] in {"serious", "critical"}
    ]


DUO = '[[players]]\nid = "Ann"\nmodel = "web"\n[[players]]\nid = "bot"\ncount = 2\nmodel = "bot/random"\n'


def test_a_person_plays_by_keyboard_alone_and_axe_finds_nothing_serious(browser: Browser, stage_of: Any) -> None:
    """From the consent to the code: Tab, the arrow keys, letters and Enter."""
    stage: Stage = stage_of("agent_island", players=DUO)
    with seated(browser, stage) as (ann,):
        page, seen = ann.page, set[str]()
        for _ in range(200):
            if (at := ann.at) not in seen:
                seen.add(at)
                assert serious(page) == []
            if at == "done":
                break
            if at in {"game", "waiting"}:
                page.wait_for_timeout(50)
                continue
            _typed(ann)
        assert {"welcome", "before", "asked", "after", "done"} <= seen
        assert_on_record(stage, [ann])


def _typed(person: Person) -> None:
    """Reach every field of the form by Tab, answer it, and send it with the keyboard."""
    page = person.page
    asked, before = person.at == "asked", page.url
    page.evaluate("document.activeElement.blur()")
    for _ in range(60):
        page.keyboard.press("Tab")
        what = page.evaluate(
            """() => { const e = document.activeElement; return e.closest('#seat form')
                ? `${e.tagName} ${e.type} ${e.inputMode} ${e.name} ${e.value}` : ''; }"""
        )
        if re.match("TEXTAREA|INPUT text", what):
            page.keyboard.type("18" if " numeric " in what else f"{person.player} speaks")
        elif what.startswith("INPUT radio"):
            page.keyboard.press("Space")
        elif what.startswith("BUTTON"):
            with page.expect_navigation(wait_until="domcontentloaded"):
                page.keyboard.press("Enter")
            person.answers += asked
            return
    raise AssertionError(f"the keyboard does not reach the button of {before}")


@pytest.mark.slow
def test_a_page_that_had_come_when_the_server_was_killed_goes_on_when_it_is_back(
    browser: Browser, stage_of: Any
) -> None:
    """What a page asks for after itself no longer comes then: it has its scripts from the pages before."""
    stage: Stage = stage_of("agent_island", players=WEB)
    with seated(browser, stage) as people:
        play(people, lambda: any(person.answers for person in people))
        ann = people[0]
        ann.tap.refused, upto = b"GET /static/", ann.answers + 2
        play(people, lambda: ann.answers >= upto, most=200)
        assert ann.answers == upto
        assert ann.page.evaluate("document.styleSheets[0].cssRules.length") > 10


def test_without_its_script_the_page_is_a_plain_form(browser: Browser, stage_of: Any) -> None:
    stage: Stage = stage_of("agent_island", players=DUO)
    with seated(browser, stage, Ann={"java_script_enabled": False}) as (ann,):
        page = ann.page
        page.click("button[value=agree]")
        page.fill("[name=age]", "18")
        page.click("#seat button")
        for _ in range(60):
            stage_now = page.locator("#seat").get_attribute("data-stage")
            if page.locator("[name=seat-decision]").count():
                for box in page.locator("#seat textarea").all():
                    box.fill("Ann speaks")
                if page.locator("[type=radio]").count():
                    page.locator("[type=radio]").first.check()
                page.click("#seat form button")
                ann.answers += 1
            elif stage_now == "after":
                page.check("[value=yes]")
                page.click("#seat button")
            elif stage_now == "done":
                break
            else:
                page.reload()
        ann.dom = page.content()
        assert_on_record(stage, [ann])
