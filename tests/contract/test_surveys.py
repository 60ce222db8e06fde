"""Surveys in every game: the game is the same with and without them, and no later prompt mentions them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.event import LoggedEvent
from agentsim.engine.request import Ask
from agentsim.engine.simulate import Simulation, simulate
from agentsim.engine.survey import Interview, Survey, SurveyAnswers
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.records.tables import run_tables
from agentsim.runs.replay import prove
from tests.amounts import amounts, some_of
from tests.contract.harness import FEW, GAMES, case, on_server, some_bot
from tests.contract.test_runs import TEXT, text_without_volatile
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import resume_run

every_game = pytest.mark.parametrize("name", GAMES)
some_games = some_of("name", GAMES, *FEW)
"""For tests of resuming: a run costs ten times as much as a game of the kernel."""
QUESTIONS: list[dict[str, Any]] = [
    {"name": "trust", "ask": "Whom would you trust with a heron?", "options": ["a crane", "an ibis", "a stork"]},
    {"name": "count", "ask": "How many herons are there?", "least": 0, "most": 9},
    {"name": "why", "ask": "Why do herons wait?", "chars": 40},
]
BELIEF: dict[str, Any] = {
    "name": "wins",
    "ask": "Who will win the heron?",
    "among": "players",
    "probabilities": True,
    "truth": "winner",
}
TABLE = {"every": 1, "at_end": True, "questions": QUESTIONS}
INTERVIEW = Interview.model_validate(TABLE, strict=False)
MARKS = ("heron", "off the record", "an ibis", "Because of the fish")
ANSWERS = SurveyAnswers(answers={"trust": "an ibis", "count": 7, "why": "Because of the fish."})


def by_kind(name: str) -> tuple[Interview, ...]:
    """Return an interview before and after each kind of decision, with questions about players."""
    about = {"name": "worth", "ask": "Is {player} a heron?", "about": "others", "options": ["yes", "no"]}
    questions = [BELIEF, {**about, "probabilities": True}, {"name": "best", "ask": "A heron?", "among": "others"}]
    kinds = [request.kind for request in case(name).game.requests]
    tables = [{"before": kind, "after": kind, "questions": questions} for kind in kinds]
    return tuple(Interview.model_validate(table, strict=False) for table in tables)


def played(name: str, seed: int, *interviews: Interview) -> Simulation:
    of = case(name)
    answers = {"survey": ANSWERS} if interviews == (INTERVIEW,) else {}
    bot = some_bot(of.game)
    return simulate(of.game, of.config, of.players, answers, bot=bot, seed=seed, staff=of.staff, interviews=interviews)


def of_the_game(course: Simulation) -> list[tuple[Ask, Any]]:
    pairs = [pair for wave, decisions in course.waves for pair in zip(wave.asks, decisions, strict=True)]
    return [(ask, decision) for ask, decision in pairs if not isinstance(ask.request, Survey)]


def told(log: tuple[LoggedEvent, ...]) -> list[Any]:
    """Return all fields of the events but the number of the decision."""
    return [(entry.event, repr(entry.to), entry.round, entry.by, entry.decision is None) for entry in log]


@every_game
@amounts("seed", 1, 2)
@pytest.mark.parametrize("held", ["rounds", "kinds"])
def test_the_game_with_surveys_is_the_game_without(name: str, held: str, seed: int) -> None:
    interviews = (INTERVIEW,) if held == "rounds" else by_kind(name)
    without, surveyed = played(name, seed), played(name, seed, *interviews)
    assert len(surveyed.asks()) > len(without.asks()), "nothing was asked: this proved nothing"
    assert told(without.log) == told(surveyed.log)
    assert without.outcome == surveyed.outcome
    ours, theirs = of_the_game(without), of_the_game(surveyed)
    assert [(ask.request, ask.nth, decision) for ask, decision in ours] == [
        (ask.request, ask.nth, decision) for ask, decision in theirs
    ]
    assert [ask.request.prompt() for ask, _ in ours] == [ask.request.prompt() for ask, _ in theirs]


@every_game
def test_an_interview_before_a_decision_shows_what_that_decision_will_show(name: str) -> None:
    """Those who decide are asked, before with the prompt of the decision, after with what they have heard since."""
    course = played(name, 1, *by_kind(name))
    waves = [wave for wave, _ in course.waves]
    asked = 0
    for number, wave in enumerate(waves):
        survey = wave.asks[0].request
        if not isinstance(survey, Survey):
            continue
        asked += 1
        moment, kind = str(survey.moment).split(" ", 1)
        others = reversed(waves[:number]) if moment == "after" else waves[number:]
        decided = next(each for each in others if not isinstance(each.asks[0].request, Survey))
        for ask in wave.asks:
            assert isinstance(ask.request, Survey)
            about = next(each.request for each in decided.asks if each.request.player == ask.request.player)
            assert (about.kind, ask.request.about) == (kind, about)
            assert moment == "after" or not ask.request.news
    assert asked, "nothing was asked: this proved nothing"


@some_games
def test_a_run_with_surveys_around_decisions_resumes_at_any_of_them(name: str, tmp_path: Path) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        plain = on_server(name, server.url(), tmp_path / "plain")
        decisions = load_history(plain.files.history).decisions
        kind = next(each.kind for each in reversed(decisions) if not each.player.startswith("@"))
        asked = ", ".join(f"{key} = {json.dumps(value)}" for key, value in BELIEF.items())
        held = f"interviews=[{{before = '{kind}', after = '{kind}', every = 1, questions = [{{{asked}}}]}}]"
        live = on_server(name, server.url(), tmp_path, held)
        assert (plain.status, live.status) == ("completed", "completed"), live.error
        lines = live.files.journal.read_bytes().splitlines(keepends=True)
        surveys = [index for index, line in enumerate(lines, start=1) if b'"kind":"survey"' in line]
        assert surveys, "nothing was asked: this proved nothing"
        for cut in sorted({surveys[0] - 1, surveys[0], surveys[-1]}):
            if not lines[cut - 1].startswith(TEXT):
                files = RunFiles(tmp_path, f"cut{cut}")
                files.journal.write_bytes(b"".join(lines[:cut]))
                assert resume_run(files, env={}) is not None
                assert text_without_volatile(files) == text_without_volatile(live.files)
    assert prove(live.files).complete
    ours, theirs = load_history(live.files.history), load_history(plain.files.history)
    assert ours.outcome == theirs.outcome
    assert [(each.kind, each.content) for part in ours.rounds for each in part.events] == [
        (each.kind, each.content) for part in theirs.rounds for each in part.events
    ]
    moments = {row[2] for row in run_tables(ours)["beliefs"].rows}
    assert moments == {f"before {kind}", f"after {kind}"}


@every_game
def test_no_prompt_of_the_game_holds_a_question_or_an_answer(name: str) -> None:
    course = played(name, 1, INTERVIEW)
    for ask, _ in of_the_game(course):
        text = ask.request.prompt().text()
        assert not [mark for mark in MARKS if mark in text], ask
    later = [ask.request.prompt().text() for ask in course.asks() if isinstance(ask.request, Survey)]
    assert not [text for text in later if "Because of the fish" in text], "not even a later survey shows an answer"


@every_game
def test_a_survey_shows_its_player_nothing_that_it_did_not_hear(name: str) -> None:
    """A survey shows the player's latest prompt and the lines that it heard since; `privacy` holds for both."""
    course = played(name, 1, INTERVIEW)
    latest: dict[str, Ask] = {}
    for ask in course.asks():
        if isinstance(ask.request, Survey):
            assert ask.request.about is latest[ask.request.player].request
            assert len("".join(ask.request.news)) <= 4_100
        else:
            latest[ask.request.player] = ask


@some_games
def test_a_run_with_surveys_resumes_and_is_proved(name: str, tmp_path: Path) -> None:
    with FakeServer(varied_by_schema).in_thread() as server:
        live = on_server(name, server.url(), tmp_path, f"interviews={_toml()}")
        assert live.status == "completed", live.error
        assert prove(live.files).complete
        lines = live.files.journal.read_bytes().splitlines(keepends=True)
        surveys = [index for index, line in enumerate(lines, start=1) if b'"kind":"survey"' in line]
        assert surveys, "nothing was asked: this proved nothing"
        cuts = {surveys[0] - 1, surveys[0], surveys[-1] - 1, len(lines) - 1}
        for cut in sorted(cut for cut in cuts if not lines[cut].startswith(TEXT)):
            files = RunFiles(tmp_path, f"cut{cut}")
            files.journal.write_bytes(b"".join(lines[:cut]))
            assert resume_run(files, env={}) is not None
            assert text_without_volatile(files) == text_without_volatile(live.files)
    history = load_history(live.files.history)
    table = run_tables(history)["survey"]
    asked = [each for each in history.decisions if each.survey is not None]
    assert len(table.rows) == 3 * len(asked)
    options = {"trust": ("a crane", "an ibis", "a stork"), "count": range(10)}
    for row in (dict(zip(table.columns, row, strict=True)) for row in table.rows):
        question = str(row["question"])
        assert row["answer"] in options[question] if question in options else isinstance(row["answer"], str)
        assert row["source"] == "model"


def _toml() -> str:
    questions = ", ".join(
        "{" + ", ".join(f"{key} = {value!r}" for key, value in question.items()) + "}" for question in QUESTIONS
    )
    return f"[{{every = 1, at_end = true, questions = [{questions}]}}]"
