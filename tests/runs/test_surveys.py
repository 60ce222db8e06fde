"""Interviews of a scenario: their times and players, bad replies, limits, forks, people, the table and the page."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.request import Request
from agentsim.engine.survey import Interview, Survey, SurveyAnswers, SurveyBot, decided_by
from agentsim.errors import ScenarioError
from agentsim.games import find
from agentsim.records.load import load_history
from agentsim.records.tables import run_tables
from agentsim.report.page import PageOptions, page_of
from agentsim.runs.fork import ForkPoint
from agentsim.runs.game_in_progress import new_play
from agentsim.runs.replay import prove
from agentsim.runs.run import RunResult
from agentsim.scenario.load import load
from tests.amounts import one_in
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.players.filled import Filled
from tests.players.test_human import Screen
from tests.playing import branch_of, play_scenario, resume_run
from tests.runs.island import stable

TRUST = {"name": "trust", "ask": "Whom do you trust?", "options": ["all", "some", "none"]}
WHY = {"name": "why", "ask": "Why <b>so</b>?"}


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with FakeServer(varied_by_schema).in_thread() as fake:
        yield fake


def scenario(url: str, *interviews: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "game": "agent_island",
        "seed": 5,
        "defaults": {"model": "fake/echo", "retry_wait_s": 0.0},
        "providers": {"fake": {"base_url": url}},
        "players": [{"id": player} for player in "ABCD"],
        "interviews": list(interviews),
        **changes,
    }


def play(source: dict[str, Any], logs: Path, stem: str = "run") -> RunResult:
    return play_scenario(load(source), logs, env={}, stem=stem)


def rows(result: RunResult) -> list[dict[str, Any]]:
    table = run_tables(load_history(result.files.history))["survey"]
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def is_survey(body: Mapping[str, Any]) -> bool:
    return bool(body["response_format"]["json_schema"]["name"] == "survey")


@pytest.mark.parametrize(
    ("when", "held"),
    [
        ({"rounds": [1]}, [1]),
        ({"rounds": [3, 1, 99]}, [1, 3]),
        ({"every": 2}, [2]),
        ({"at_end": True}, [3]),
        ({"every": 1, "at_end": True}, [1, 2, 3]),
        ({"rounds": [99]}, []),
    ],
    ids=str,
)
@one_in(2)
def test_an_interview_is_held_at_the_end_of_its_rounds(
    when: dict[str, Any], held: list[int], server: FakeServer, tmp_path: Path
) -> None:
    result = play(scenario(server.url(), {**when, "questions": [TRUST]}), tmp_path)
    assert [row["round"] for row in rows(result)] == [number for number in held for _ in "ABCD"]
    assert prove(result.files).complete


def test_a_sample_is_drawn_by_the_seed_and_stays(server: FakeServer, tmp_path: Path) -> None:
    source = scenario(server.url(), {"every": 1, "sample": 2, "questions": [TRUST]})
    once, again = rows(play(source, tmp_path, "one")), rows(play(source, tmp_path, "two"))
    assert once == again
    assert {len({row["player"] for row in once if row["round"] == number}) for number in (1, 2, 3)} == {2}
    assert len({row["player"] for row in once}) == 2
    drawn = {
        tuple(dict.fromkeys(row["player"] for row in rows(play({**source, "seed": seed}, tmp_path, f"s{seed}"))))
        for seed in range(6)
    }
    assert len(drawn) > 1


def test_named_players_alone_are_asked(server: FakeServer, tmp_path: Path) -> None:
    found = rows(play(scenario(server.url(), {"rounds": [1], "players": ["C", "A"], "questions": [TRUST]}), tmp_path))
    assert [row["player"] for row in found] == ["A", "C"]


@pytest.mark.parametrize(
    ("interview", "line"),
    [
        ({"questions": [TRUST]}, "interviews.0: says not when it is held: rounds, every, at_end, before or after"),
        ({"every": 1, "questions": [TRUST, TRUST]}, "interviews.0.questions.1.name: two questions are called trust"),
        ({"every": 1, "players": ["Z"], "questions": [WHY]}, "interviews.0.players: no player is called Z"),
        ({"rounds": [0], "questions": [WHY]}, "interviews.0.rounds.0: must be"),
        ({"every": 1, "questions": []}, "interviews.0: asks nothing: it needs questions or a battery"),
        ({"before": "votes", "questions": [TRUST]}, "interviews.0.before: agent_island has no decision votes (did you"),
        ({"after": "x", "questions": [TRUST]}, "(valid: answer_approach, approach, pitch, "),
        ({"every": 1, "questions": [{**TRUST, "truth": "winner"}]}, "truth is of questions with probabilities"),
        ({"every": 1, "questions": [{**WHY, "probabilities": True}]}, "probabilities are of options, or among players"),
        ({"every": 1, "questions": [{**TRUST, "among": "others"}]}, "among stands without options, least and most"),
        (
            {"every": 1, "questions": [{**TRUST, "probabilities": True, "truth": "role"}]},
            "interviews.0.questions.0.truth: agent_island has no fact role",
        ),
        ({"every": 1, "battery": "roles"}, "interviews.0.battery: there is no battery roles of this game"),
        (
            {"every": 1, "questions": [{**TRUST, "name": "t_B"}, {**TRUST, "name": "t", "about": "others"}]},
            "two questions are called t_B",
        ),
        ({"every": 1, "questions": [{**WHY, "least": 3}]}, "a number's question needs least and most"),
        ({"every": 1, "questions": [{**TRUST, "chars": 3}]}, "chars is of open questions"),
        ({"every": 1, "questions": [{**TRUST, "options": ["a", "a"]}]}, "two or more different answers"),
        ({"every": 1, "questions": [{**WHY, "name": "a b"}]}, "interviews.0.questions.0.name: must"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_said_in_one_line(interview: dict[str, Any], line: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(scenario("http://127.0.0.1:1/v1", interview))
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_bad_reply_is_asked_again_and_then_there_is_no_answer(tmp_path: Path) -> None:
    """A survey without an answer is counted in `usage`, and does not make a game degraded."""

    def silent(body: dict[str, Any]) -> str:
        return "I would rather not say {" if is_survey(body) else varied_by_schema(body)

    with FakeServer(silent).in_thread() as server:
        result = play(scenario(server.url(), {"every": 1, "questions": [TRUST, WHY]}), tmp_path)
    assert result.status == "completed"
    found = rows(result)
    assert {(row["answer"], row["source"]) for row in found} == {(None, "fallback")}
    assert result.history["usage"]["fallbacks"] == len(found) / 2 == result.history["usage"]["reasks"]
    history = load_history(result.files.history)
    page = page_of(history, PageOptions(), name="run", directory=tmp_path)
    assert "8 of 8 brought no usable answer" in page or "12 of 12 brought no usable answer" in page
    assert prove(result.files).complete


def test_a_budget_that_ends_in_a_survey_is_resumed_there(server: FakeServer, tmp_path: Path) -> None:
    source = scenario(server.url(), {"every": 1, "at_end": True, "questions": [TRUST]})
    whole = play(source, tmp_path, "whole")
    surveyed = [each["index"] for each in whole.history["decisions"] if "survey" in each]
    for stem, calls in (("middle", surveyed[1]), ("end", surveyed[-1] - 1)):
        stopped = play({**source, "limits": {"max_calls": calls, "concurrency": 1}}, tmp_path, stem)
        assert (stopped.status, stopped.history["outcome"]) == ("stopped_budget", None)
        assert prove(stopped.files).decisions == calls
        resumed = resume_run(stopped.files, env={}, max_calls=999)
        assert resumed is not None
        assert stable(resumed.files) == stable(whole.files)


def test_a_fork_at_a_survey_keeps_the_game_or_gives_chance_another_way(server: FakeServer, tmp_path: Path) -> None:
    source = scenario(server.url(), {"rounds": [1], "questions": [TRUST]})
    parent = play(source, tmp_path, "parent")
    at = next(each["index"] for each in parent.history["decisions"] if "survey" in each)
    said = '{"trust": "none"}'
    branch = branch_of(ForkPoint.of(parent.files, at), instead=said, paired=True).play_sync()
    changed = [
        (one, other)
        for one, other in zip(parent.history["decisions"], branch.history["decisions"], strict=True)
        if one["decision"] != other["decision"]
    ]
    assert [(one["index"], other["decision"]) for one, other in changed] in (
        [(at, {"answers": {"trust": "none"}})],
        [],  # it had that value before
    )
    assert branch.history["outcome"] == parent.history["outcome"]
    other = branch_of(ForkPoint.of(parent.files, at), number=1).play_sync()
    assert prove(other.files).complete
    asked, asked_again = (
        [
            (entry.index, entry.kind, entry.decision, [attempt.messages for attempt in entry.attempts])
            for entry in result.typed_history.decisions[: at - 1]
        ]
        for result in (parent, other)
    )
    assert asked_again == asked, "texts may stand at other places of another history"


AROUND = {"before": "vote", "after": "vote", "battery": ["who_wins", "trust"]}


def test_a_game_interviewed_around_votes_is_the_same_at_any_concurrency_and_in_a_fork(
    server: FakeServer, tmp_path: Path
) -> None:
    source = scenario(server.url(), AROUND)
    parent = play(source, tmp_path, "parent")
    alone = play({**source, "limits": {"concurrency": 1}}, tmp_path, "alone")
    assert stable(parent.files) == stable(alone.files)
    plain = play(scenario(server.url()), tmp_path, "plain")
    assert plain.history["outcome"] == parent.history["outcome"]
    votes = [each["index"] for each in parent.history["decisions"] if each["kind"] == "vote"]
    surveys = [each["index"] for each in parent.history["decisions"] if "survey" in each]
    for at in (votes[0], surveys[0], surveys[-1]):
        branch = branch_of(ForkPoint.of(parent.files, at), paired=True).play_sync()
        assert branch.history["outcome"] == parent.history["outcome"]
        assert prove(branch.files).complete


def test_a_survey_around_a_decision_asks_those_who_decide_and_says_when(server: FakeServer, tmp_path: Path) -> None:
    result = play(scenario(server.url(), {**AROUND, "rounds": [2]}), tmp_path)
    found = rows(result)
    moments = [row["moment"] for row in found]
    assert moments == sorted(moments, reverse=True), "before comes first"
    assert {(row["round"], row["moment"]) for row in found} == {(2, "before vote"), (2, "after vote")}
    decisions = load_history(result.files.history).decisions
    voters = {each.player for each in decisions if (each.kind, each.round) == ("vote", 2)}
    assert {row["player"] for row in found} == voters
    assert len(voters) == 3, "one is out of the game"


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_survey_before_a_decision_comes_before_it_and_one_after_it_after(
    moment: str, server: FakeServer, tmp_path: Path
) -> None:
    result = play(scenario(server.url(), {moment: "vote", "rounds": [2], "questions": [TRUST]}), tmp_path)
    decisions = load_history(result.files.history).decisions
    votes = [each.index for each in decisions if (each.kind, each.round) == ("vote", 2)]
    surveys = [each for each in decisions if each.survey is not None]
    assert {each.survey.moment for each in surveys if each.survey is not None} == {f"{moment} vote"}
    held = [each.index for each in surveys]
    assert max(held) < min(votes) if moment == "before" else min(held) > max(votes)


def test_a_bot_answers_at_random_or_as_it_knows() -> None:
    interview = Interview.model_validate({"every": 1, "questions": [TRUST]}, strict=False)

    class Asked(Request[SurveyAnswers]):
        pass

    survey = Survey(player="A", about=Asked(player="A"), news=(), questions=interview.questions, interview=0, round=1)

    def deaf(request: Request[Any], rng: Stream) -> Decision:
        raise AssertionError("it does not know surveys")

    def knows(request: Request[Any], rng: Stream) -> Decision:
        return SurveyAnswers(answers={"trust": "some"})

    drawn = {decided_by(deaf, survey, Stream(str(number))).model_dump_json() for number in range(40)}
    assert len(drawn) == 3
    assert decided_by(SurveyBot(knows), survey, Stream("1")) == SurveyAnswers(answers={"trust": "some"})


def test_a_person_is_asked_at_the_terminal_and_at_a_page() -> None:
    built = load(scenario("http://127.0.0.1:1/v1", {"rounds": [1], "questions": [TRUST, WHY]}))
    game = find(built.game)
    course = new_play(built, game)
    wave = course.start()
    while wave is not None and not isinstance(wave.asks[0].request, Survey):
        wave = course.answer([game.bots["random"](ask.request, course.bot_rng(ask)) for ask in wave.asks])
    assert wave is not None
    screen = Screen("trust: some", "why: because", "")
    meant = {"trust": "some", "why": "because"}
    assert wave.asks[0].request.parse(screen.answer(wave.asks[0])).decision.model_dump() == {"answers": meant}
    assert "off the record" in screen.text
    assert Filled(wave.asks[0].request, "some", "because").answer() == meant
    course.close()


def test_the_page_shows_shares_and_words_and_another_players_page_does_not(server: FakeServer, tmp_path: Path) -> None:
    result = play(scenario(server.url(), {"every": 1, "questions": [TRUST, WHY]}), tmp_path)
    history = load_history(result.files.history)
    page = page_of(history, PageOptions(), name="run", directory=tmp_path)
    assert "Survey, trust: Whom do you trust?" in page
    assert "Survey, why: Why &lt;b&gt;so&lt;/b&gt;?" in page
    assert "off the record" in page
    words = next(row["answer"] for row in rows(result) if row["question"] == "why" and row["player"] == "B")
    assert words in page
    seen = page_of(history, PageOptions(as_seen_by="A"), name="run", directory=tmp_path)
    others = [row["answer"] for row in rows(result) if row["question"] == "why" and row["player"] != "A"]
    assert not [said for said in others if said in seen]


def test_an_older_history_without_surveys_has_an_empty_table(server: FakeServer, tmp_path: Path) -> None:
    result = play(scenario(server.url()), tmp_path)
    assert "interviews" not in result.history["scenario"]
    assert rows(result) == []
    assert '"survey"' not in json.dumps(result.history)
