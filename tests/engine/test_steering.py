"""What an experimenter does between two moments of a game: heard from then on, on record, and played again the same."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import agentsim
from agentsim.engine.game import Game
from agentsim.engine.play import GamePlay
from agentsim.engine.random_policy import random_decision
from agentsim.engine.request import Wave
from agentsim.engine.steering import Announcement, Aside, Steer
from agentsim.engine.survey import Interview, Survey, SurveyQuestion
from agentsim.games import find
from agentsim.models.keys import Variables
from agentsim.records.events import told_events
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.records.tables import survey_answers
from agentsim.report.page import PageOptions, page_of
from agentsim.results import run_in
from agentsim.runs.fork import ForkPoint
from agentsim.runs.replay import prove
from agentsim.runs.run import Run, RunOptions, create_run
from tests.amounts import one_in
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import branch_of, open_run
from tests.runs.island import BOTS, FOUR, scenario_text

SAID = "The judges are watching; be brief."
ASKED = Aside(players=("A", "C"), questions=(SurveyQuestion(name="mood", ask="How do you feel?", chars=80),))


def steer(session: Run, doing: dict[int, list[Steer]]) -> list[Wave]:
    """Have a session steered before these waves, as counted when they come up; all that were decided."""
    waves: list[Wave] = []
    left = {number: list(does) for number, does in doing.items()}

    async def before(play: GamePlay, wave: Wave) -> Wave:
        for does in left.pop(wave.number, ()):
            session.journal.append_steering(wave.number, does)
        waves.append(play.steered(wave))
        return waves[-1]

    session.before_wave = before
    return waves


def opened(tmp_path: Path, url: str, name: str, players: str = FOUR) -> Run:
    config = tmp_path / f"{name}.toml"
    config.write_text(scenario_text(url, players), encoding="utf-8")
    return create_run(config, tmp_path, RunOptions(Variables({})), name=name)


def played(tmp_path: Path, url: str, doing: dict[int, list[Steer]], name: str = "run") -> tuple[RunFiles, list[Wave]]:
    session = opened(tmp_path, url, name)
    waves = steer(session, doing)
    result = asyncio.run(session.play())
    assert result.status == "completed", result.error
    return result.files, waves


@pytest.fixture
def url() -> Any:
    with FakeServer(varied_by_schema).in_thread() as server:
        yield server.url()


def test_an_announcement_is_in_the_next_prompts_in_all_later_ones_and_in_the_log(tmp_path: Path, url: str) -> None:
    files, waves = played(tmp_path, url, {2: [Announcement(said=SAID)]})
    assert SAID not in "".join(ask.prompt().text() for ask in waves[0].asks)
    for wave in waves[1:]:
        for ask in wave.asks:
            assert ask.prompt().text().count(SAID) == 1, (wave.number, ask.request.player)
    history = load_history(files.history)
    (event,) = (event for part in history.rounds for event in part.events if SAID in event.content)
    assert (event.role, event.visibility, event.kind) == ("narrator", "all", "narrator_announced")
    assert told_events(history, find("agent_island"))
    prove(files)


def test_an_aside_is_asked_off_the_record_and_changes_no_later_prompt(tmp_path: Path, url: str) -> None:
    plain, before = played(tmp_path, url, {}, "plain")
    files, waves = played(tmp_path, url, {5: [ASKED]})
    asides = [wave for wave in waves if isinstance(wave.asks[0].request, Survey)]
    assert [[ask.request.player for ask in wave.asks] for wave in asides] == [["A", "C"]]
    others = [ask.prompt() for wave in waves if wave not in asides for ask in wave.asks]
    assert others == [ask.prompt() for wave in before for ask in wave.asks]
    history, same = load_history(files.history), load_history(plain.history)
    answers = list(survey_answers(history))
    assert [(each.decision.player, each.question.name, bool(each.answer)) for each in answers] == [
        ("A", "mood", True),
        ("C", "mood", True),
    ]
    assert history.outcome == same.outcome
    assert [event.content for part in history.rounds for event in part.events] == [
        event.content for part in same.rounds for event in part.events
    ]
    prove(files)


def test_what_was_announced_before_an_aside_is_in_the_question_and_after_it_in_the_game(
    tmp_path: Path, url: str
) -> None:
    files, waves = played(tmp_path, url, {2: [Announcement(said=SAID), ASKED], 3: [Announcement(said="Go on.")]})
    aside, game = waves[1], waves[2]
    assert isinstance(aside.asks[0].request, Survey)
    assert all(SAID in ask.prompt().text() and "Go on." not in ask.prompt().text() for ask in aside.asks)
    assert all(ask.prompt().text().count(SAID) == ask.prompt().text().count("Go on.") == 1 for ask in game.asks)
    prove(files)


def test_a_steered_run_that_was_stopped_is_resumed_to_the_same_history(tmp_path: Path, url: str) -> None:
    doing: dict[int, list[Steer]] = {2: [Announcement(said=SAID), ASKED], 5: [Announcement(said="Go on.")]}
    whole, _ = played(tmp_path, url, doing, "whole")
    for stop in (2, 3, 4, 6):
        session = opened(tmp_path, url, f"stopped{stop}")
        steered = steer(session, doing)
        inner = session.before_wave
        assert inner is not None

        async def before(play: GamePlay, wave: Wave, inner: Any = inner, stop: int = stop) -> Wave:
            found: Wave = await inner(play, wave)
            if found.number == stop:
                raise asyncio.CancelledError
            return found

        session.before_wave = before
        stopped = asyncio.run(session.play())
        assert stopped.status == "interrupted"
        again = open_run(stopped.files)
        steer(again, {number: does for number, does in doing.items() if number > steered[-1].number})
        result = asyncio.run(again.play())
        assert result.status == "completed", result.error
        wanted, found = (json.loads(files.history.read_text("utf-8")) for files in (whole, result.files))
        del wanted["volatile"], found["volatile"]
        assert found == wanted
        prove(result.files)


@pytest.mark.parametrize("at", [1, 6, 8, 10, 12])
@one_in(3)
def test_a_fork_keeps_what_was_steered_before_it_and_nothing_after(tmp_path: Path, url: str, at: int) -> None:
    files, _ = played(tmp_path, url, {2: [Announcement(said=SAID), ASKED], 4: [Announcement(said="Go on.")]})
    parent = ForkPoint.of(files, at)
    result = asyncio.run(branch_of(parent).play())
    assert result.status == "completed", result.error
    text = result.files.history.read_text("utf-8")
    assert (SAID in text) == (parent.ask.wave >= 2)
    assert ("Go on." in text) == (parent.ask.wave >= 4)
    prove(result.files)


def test_an_interview_of_the_scenario_and_an_aside_are_told_apart(tmp_path: Path, url: str) -> None:
    interviews = '[[interviews]]\nrounds = [1]\nquestions = [{name = "who", ask = "Who wins?", options = ["A", "B"]}]\n'
    config = tmp_path / "both.toml"
    config.write_text(scenario_text(url, FOUR) + interviews, encoding="utf-8")
    session = create_run(config, tmp_path, RunOptions(Variables({})), name="both")
    waves = steer(session, {3: [ASKED, Announcement(said=SAID)]})
    result = asyncio.run(session.play())
    assert result.status == "completed", result.error
    names = [each.question.name for each in survey_answers(load_history(result.files.history))]
    assert sorted(set(names)) == ["mood", "who"]
    assert all(SAID in ask.prompt().text() for wave in waves if wave.number > 3 for ask in wave.asks)
    prove(result.files)


def test_bots_play_on_through_both(tmp_path: Path) -> None:
    session = opened(tmp_path, "http://127.0.0.1:1/v1", "bots", BOTS)
    steer(session, {1: [Announcement(said=SAID), Aside(players=("B",), questions=ASKED.questions)]})
    result = asyncio.run(session.play())
    assert result.status == "completed", result.error
    prove(result.files)


def test_a_player_who_was_never_asked_is_not_asked_aside(tmp_path: Path, url: str) -> None:
    files, waves = played(tmp_path, url, {1: [Aside(players=("nobody",), questions=ASKED.questions)]})
    assert not [wave for wave in waves if isinstance(wave.asks[0].request, Survey)]
    prove(files)


@pytest.mark.parametrize("said", ["", "two\nlines", "x" * 2001])
def test_an_announcement_is_one_line_of_words(said: str) -> None:
    with pytest.raises(ValueError, match="said"):
        Announcement(said=said)


def test_games_say_whether_they_allow_announcements() -> None:
    games = ("agent_island", "werewolf", "auction", "monopoly", "market", "society")
    assert [name for name in games if not find(name).announcements] == []
    assert Game.announcements is False


@pytest.mark.parametrize("config", ["werewolf_bots", "agent_island_bots"])
def test_a_page_shows_what_the_narrator_announced(tmp_path: Path, config: str) -> None:
    path = Path(__file__).parents[2] / "configs" / f"{config}.toml"
    session = create_run(path, tmp_path, RunOptions(Variables({})), name="run")
    waves = steer(session, {3: [Announcement(said=SAID)]})
    result = asyncio.run(session.play())
    assert result.status == "completed", result.error
    assert SAID in "".join(ask.prompt().text() for ask in waves[-1].asks), "it is heard to the end"
    assert SAID in run_in(result.files).page(tmp_path / "page.html").read_text("utf-8")
    prove(result.files)


@pytest.mark.parametrize("game", ["auction", "market", "monopoly", "society"])
def test_a_game_whose_prompts_are_made_from_its_state_restates_what_was_announced(tmp_path: Path, game: str) -> None:
    tiny = Path(agentsim.__file__).parent / "games" / game / "tiny.toml"
    session = create_run(tiny, tmp_path, RunOptions(Variables({})), name="run")
    waves = steer(session, {2: [Announcement(said=SAID)], 4: [Announcement(said="Go on.")]})
    result = asyncio.run(session.play())
    assert result.status == "completed", result.error
    for wave in waves:
        for ask in wave.asks:
            said = ask.prompt().text()
            assert (said.count(SAID), said.count("Go on.")) == (int(wave.number >= 2), int(wave.number >= 4))
    prove(result.files)
    assert SAID in page_of(load_history(result.files.history), PageOptions(), name="run", directory=tmp_path)


@pytest.mark.parametrize("name", ["agent_island", "werewolf", "monopoly", "market", "society"])
def test_a_survey_says_each_announcement_once(name: str) -> None:
    """Those of a scheduled interview and of an aside, wherever the game's own prompts tell what was announced."""
    game = find(name)
    players = [f"P{index}" for index in range(5)]
    mood = SurveyQuestion(name="mood", ask="How do you feel?", options=("well", "ill"))
    steering: dict[int, list[Steer]] = {wave: [Announcement(said=f"Said before {wave}.")] for wave in range(1, 9)}
    steering[3].append(Aside(players=tuple(players), questions=(mood,)))
    interviews = [Interview(questions=(mood,), every=1)]
    play = GamePlay(game, game.config(), players, 3, interviews=interviews, steering=steering)
    wave, asides, scheduled = play.start(), 0, 0
    while wave is not None and wave.number < 40:
        for ask in wave.asks:
            if isinstance(ask.request, Survey):
                asides, scheduled = asides + (ask.request.interview == 1), scheduled + (ask.request.interview == 0)
                prompt = ask.prompt()
                text = "\n".join(map(str, (*prompt.history, *prompt.state)))
                said = [text.count(f"Said before {number}.") for number in range(1, min(wave.number, 8) + 1)]
                assert said == [1] * len(said)
        wave = play.answer([random_decision(ask.request, play.bot_rng(ask)) for ask in wave.asks])
    assert (asides > 0, scheduled > 0) == (True, True)
