"""Later interviews of a run that was played: they change nothing of it, go on where they stopped, and are found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentsim.engine.panel import Chart, DataTable
from agentsim.errors import ScenarioError, UsageError
from agentsim.records.interviews import later_interviews
from agentsim.records.load import load_history
from agentsim.records.run_files import RunFiles
from agentsim.records.tables import run_tables
from agentsim.report.game_panels import survey_panels
from agentsim.report.page import PageOptions, page_of
from agentsim.runs.interview import InterviewPlan, InterviewResult, RunInterview
from agentsim.runs.replay import prove
from agentsim.runs.run import RunOptions, RunResult
from agentsim.scenario.load import load
from agentsim.scenario.scenario import LimitOverrides
from tests.fakes.replies import varied_by_schema
from tests.fakes.server import FakeServer
from tests.playing import play_scenario


@pytest.fixture(scope="module")
def server() -> Iterator[FakeServer]:
    with FakeServer(varied_by_schema).in_thread() as fake:
        yield fake


@pytest.fixture
def played(server: FakeServer, tmp_path: Path) -> RunResult:
    source = {
        "game": "agent_island",
        "seed": 5,
        "defaults": {"model": "fake/echo", "retry_wait_s": 0.0},
        "providers": {"fake": {"base_url": server.url()}},
        "players": [{"id": player} for player in "ABCD"],
    }
    return play_scenario(load(source), tmp_path, env={}, stem="run")


def held(files: RunFiles, plan: InterviewPlan, **limits: int) -> InterviewResult:
    return RunInterview(files, plan, RunOptions({}), LimitOverrides(**limits)).play_sync()


def of_run(files: RunFiles) -> Mapping[str, bytes]:
    return {path.name: path.read_bytes() for path in (files.journal, files.history)}


WINS = InterviewPlan(batteries=("who_wins",), at=(5, 12))


def test_players_answer_as_they_would_have_been_asked_and_the_run_stays(played: RunResult) -> None:
    before = of_run(played.files)
    result = held(played.files, WINS)
    assert result.error is None
    assert of_run(played.files) == before
    assert prove(played.files).complete
    assert result.path.name == "run.at5_at12.interview"
    asked = result.interview.decisions
    recorded = {each.index: each for each in load_history(played.files.history).decisions}
    for survey in asked[:4]:
        (said,) = survey.attempts
        heard = " ".join(text for message in said.messages for text in [message.text])
        assert "off the record" in heard
        assert "Who will win this game?" in heard
    decided = recorded[5].attempts[0].messages
    own = next(each for each in asked if each.player == recorded[5].player and each.survey and each.survey.round == 1)
    assert own.attempts[0].messages[0] == decided[0], "the rules and the persona are those of the decision"


def test_tables_and_the_page_find_the_answers_and_an_export_of_the_run_is_as_before(
    played: RunResult, tmp_path: Path
) -> None:
    without = run_tables(load_history(played.files.history))
    held(played.files, replace(WINS, at=(5,)))
    history = load_history(played.files.history)
    tables = run_tables(history)
    changed = {name for name, frame in tables.items() if frame != without[name]}
    assert changed == {"survey", "beliefs"}
    rows = [dict(zip(tables["beliefs"].columns, row, strict=True)) for row in tables["beliefs"].rows]
    assert {(row["moment"], row["fact"], row["decision"]) for row in rows} == {("later, at 5", "winner", None)}
    winner = None if history.outcome is None else history.outcome.winner
    assert {row["outcome"] for row in rows if row["happened"]} == {winner}
    for answer in {row["player"] for row in rows}:
        assert sum(float(str(row["probability"])) for row in rows if row["player"] == answer) == pytest.approx(1)
    page = page_of(history, PageOptions(), name="run", directory=tmp_path)
    assert "Survey, wins: Who will win this game?" in page
    assert "later, at 5" in page
    assert "later, at 5" not in page_of(history, PageOptions(as_seen_by="A"), name="run", directory=tmp_path)


def test_paths_of_beliefs_are_in_the_order_of_the_game_whichever_was_asked_first(played: RunResult) -> None:
    for at in (12, 5):
        held(played.files, replace(WINS, at=(at,), label=f"asked-{at}"))
    panels = list(survey_panels(load_history(played.files.history)))
    (path,) = (each for each in panels if isinstance(each, Chart))
    (table,) = (each for each in panels if isinstance(each, DataTable))
    assert [title.partition(", ")[2] for title in path.x] == ["later, at 5", "later, at 12"]
    assert [str(row[0]).partition(", ")[2] for row in table.rows] == ["later, at 5"] * 4 + ["later, at 12"] * 4


@pytest.mark.parametrize("calls", [0, 1, 3])
def test_a_budget_stops_it_and_the_same_command_goes_on_without_paying_twice(
    played: RunResult, calls: int, server: FakeServer
) -> None:
    stopped = held(played.files, WINS, max_calls=calls)
    assert stopped.error is not None
    assert len(stopped.interview.decisions) <= calls
    before = len(server.received)
    whole = held(played.files, WINS, max_calls=99)
    assert (whole.error, len(whole.interview.decisions)) == (None, 8)
    assert len(server.received) - before == 8 - calls
    again = held(played.files, WINS)
    assert len(server.received) - before == 8 - calls
    assert [each.decision for each in again.interview.decisions] == [
        each.decision for each in whole.interview.decisions
    ]


def test_it_goes_on_after_a_kill_at_any_line(played: RunResult) -> None:
    whole = held(played.files, WINS)
    lines = whole.path.read_bytes().splitlines(keepends=True)
    for cut in range(1, len(lines)):
        whole.path.write_bytes(b"".join(lines[:cut]) + lines[cut][:20])
        found = held(played.files, WINS)
        assert [each.decision for each in found.interview.decisions] == [
            each.decision for each in whole.interview.decisions
        ]
    whole.path.write_bytes(b"")
    assert load_history(played.files.history).later == (), "killed before its first line"
    assert len(held(played.files, WINS).interview.decisions) == 8


def test_another_model_answers_at_the_end_and_is_named_in_the_table(played: RunResult, tmp_path: Path) -> None:
    found = held(
        played.files, InterviewPlan(batteries=("trust",), model="bot/random", players=("B", "C"), label="bots")
    )
    assert [each.player for each in found.interview.decisions] == ["B", "C"]
    history = load_history(played.files.history)
    page = page_of(history, PageOptions(), name="run", directory=tmp_path)
    assert "Survey, trust: How far do you trust each other player?" in page
    table = run_tables(history)["survey"]
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    assert {(row["player"], row["model"], row["moment"]) for row in rows} == {
        (player, "bot/random", "later, at the end") for player in "BC"
    }
    assert {row["about"] for row in rows if row["player"] == "B"} == {None, "A", "C", "D"}


def test_questions_come_from_a_file(played: RunResult, tmp_path: Path) -> None:
    asked = tmp_path / "ask.toml"
    asked.write_text('[[questions]]\nname = "mood"\nask = "How are you?"\noptions = ["well", "ill"]\n')
    found = held(played.files, InterviewPlan(asked))
    assert {*json.loads(json.dumps(found.interview.decisions[0].decision["answers"]))} == {"mood"}
    assert [each.label for each in later_interviews(played.files)] == ["end"]


@pytest.mark.parametrize(
    ("plan", "line"),
    [
        (InterviewPlan(), "asks nothing: give --ask FILE or --battery BATTERY"),
        (InterviewPlan(batteries=("who_win",)), "--battery: there is no battery who_win (did you mean who_wins?)"),
        (InterviewPlan(batteries=("roles",)), "there is no battery roles of this game"),
        (InterviewPlan(batteries=("trust",), at=(99,)), "run: has no decision 99 (valid: 1 to "),
        (InterviewPlan(batteries=("trust",), players=("Z",)), "run: no player is called Z (valid: A, B, C, D)"),
        (InterviewPlan(batteries=("trust",), label="a/b"), "is not the name of a run"),
        (InterviewPlan(batteries=("trust",), label="a.b"), "--label a.b: cannot contain a dot"),
    ],
    ids=str,
)
def test_what_cannot_be_asked_is_one_line_and_writes_nothing(played: RunResult, plan: InterviewPlan, line: str) -> None:
    with pytest.raises((UsageError, ScenarioError)) as caught:
        held(played.files, plan)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(played.files.directory.glob("*.interview"))


def test_other_questions_need_a_label_of_their_own(played: RunResult) -> None:
    held(played.files, WINS)
    with pytest.raises(UsageError, match="other questions, moments or models"):
        held(played.files, replace(WINS, batteries=("trust",)))


@pytest.mark.parametrize("content", ["a journal", "half a line", "no text", "another kind of head"])
def test_a_file_that_is_no_interview_is_named_and_left_out(played: RunResult, content: str) -> None:
    held(played.files, replace(WINS, label="good"))
    journal = played.files.journal.read_bytes()
    path = played.files.directory / "run.x.interview"
    path.write_bytes(
        {
            "a journal": journal,
            "half a line": journal[:50],
            "no text": b"\xff\x00" * 9,
            "another kind of head": b'{"record": "head", "interview": {"questions": NaN}}\n',
        }[content]
    )
    with pytest.warns(UserWarning, match=r"run\.x\.interview: left out, since it is not a readable interview: ."):
        assert load_history(played.files.history).status == "completed"
    with pytest.warns(UserWarning, match="left out"):
        assert [each.label for each in later_interviews(played.files)] == ["good"]


def test_an_interview_is_not_written_through_a_link(played: RunResult, tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"")
    (played.files.directory / "run.mine.interview").symlink_to(tmp_path / "other")
    with pytest.raises(
        UsageError, match=r"run\.mine\.interview: another process holds this interview, or it is no file"
    ):
        held(played.files, replace(WINS, label="mine"))
    assert (tmp_path / "other").read_bytes() == b""


def test_the_files_of_a_run_include_its_interviews(played: RunResult) -> None:
    result = held(played.files, WINS)
    assert result.path in played.files.written
