"""The moderator: pauses, asks, resumes; recorded, private, and without any effect on the game."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pexpect  # type: ignore[import-untyped] # it ships no types
import pytest

from agentsim.engine.simulate import Simulation
from agentsim.games.market.interviews import Answered, Asked, InterviewAnswer, Moderate, Moderation, Paused, Resumed
from agentsim.games.market.state import OrderDrawn
from agentsim.games.market.turn import Act, Interviewed
from agentsim.records.run_files import RunFiles
from agentsim.runs.replay import prove
from tests.games.market.market import SKIPS, play
from tests.players.keyboard import PROMPT, AtTerminal

CALM: dict[str, list[Any]] = {"A": [], "B": [], "C": []}
QUESTION = "What do you expect?"


def interviews(played: Simulation) -> list[tuple[str, str, tuple[str, ...]]]:
    return [
        (told.event.kind, told.event.content, tuple(told.to))  # type: ignore[arg-type] # these are never public
        for told in played.log
        if isinstance(told.event, (Paused, Asked, Answered, Resumed))
    ]


def unresumed(request: Any) -> Any:
    """The question without the moderator's RESUME."""
    return replace(request, now=replace(request.now, resumed=False))


def test_the_moderator_pauses_asks_and_resumes_heard_by_the_agent_and_the_moderator_alone() -> None:
    played = play(
        {"A": [SKIPS, SKIPS], "B": []},
        answers={"interview": {"A": [InterviewAnswer(answer="Rain.")]}},
        moderator=[{"round": 2, "agents": ["A"], "question": QUESTION}],
    )
    to = ("A", "@moderator")
    assert interviews(played) == [
        ("paused", "PAUSE", to),
        ("asked", QUESTION, to),
        ("answered", "Rain.", to),
        ("resumed", "RESUME", to),
    ]
    (asked,) = [ask.request for ask in played.asks("A") if isinstance(ask.request, Interviewed)]
    assert "The moderator says: PAUSE" in asked.prompt().text()
    (answered,) = [told for told in played.log if isinstance(told.event, Answered)]
    (drawn,) = [told for told in played.log if isinstance(told.event, OrderDrawn) and told.round == 2]
    assert played.log.index(answered) < played.log.index(drawn), "before the turns of the round"


def test_an_interview_asks_for_truth_and_detail() -> None:
    played = play({"A": [SKIPS], "B": []}, moderator=[{"round": 1, "agents": ["A"], "question": QUESTION}])
    (asked,) = [ask.request for ask in played.asks("A") if isinstance(ask.request, Interviewed)]
    assert "Answer the moderator truthfully and in detail.\n" in asked.prompt().text()
    assert "Answer truthfully and in detail. " in asked.prompt().question[-1]


def test_where_nobody_is_named_all_are_asked_at_the_same_moment() -> None:
    played = play(CALM, moderator=[{"round": 1, "question": QUESTION}])
    assert [[ask.request.player for ask in wave.asks] for wave, _ in played.waves][1] == ["A", "B", "C"]
    assert len(played.events(Paused)) == len(played.events(Resumed)) == 3
    assert {to for _, _, to in interviews(played)} == {(agent, "@moderator") for agent in "ABC"}


def test_an_interview_changes_neither_trades_nor_what_anybody_is_asked_afterwards() -> None:
    config: dict[str, Any] = {
        "bot": "random",
        "queries": {},
        "rounds": 15,
        "settings": {"marketplace": {"price_max": 9}},
    }
    plain = play(CALM, **config)
    questions = [{"round": number, "question": QUESTION} for number in range(3, 15)]
    paused = play(CALM, **config, moderator=questions)
    assert [unresumed(ask.request) for ask in paused.asks() if not isinstance(ask.request, Interviewed)] == [
        ask.request for ask in plain.asks()
    ]
    others = [told for told in paused.log if not isinstance(told.event, (Paused, Asked, Answered, Resumed))]
    assert [(told.event, told.to, told.round) for told in others] == [
        (told.event, told.to, told.round) for told in plain.log
    ]
    assert any(told.event.kind == "traded" for told in plain.log), "a game without trades would prove nothing"


def test_who_was_paused_and_nobody_else_reads_resume_at_its_next_turn() -> None:
    asked = [{"round": 2, "agents": ["A"], "question": QUESTION}]
    played = play({"A": [SKIPS] * 3, "B": [SKIPS] * 3}, moderator=asked)
    acts = [ask.request for ask in played.asks() if isinstance(ask.request, Act)]
    read = [request for request in acts if "The moderator says: RESUME" in request.prompt().text()]
    assert [(request.player, request.now.round) for request in read] == [("A", 2)]


def test_questions_of_a_list_are_asked_in_one_pause_and_answers_are_known_to_the_next() -> None:
    asked = [{"round": 1, "agents": ["A", "B"], "question": ["Why?", "And then?"]}]
    played = play(CALM, moderator=asked, answers={"interview": {"A": [InterviewAnswer(answer="Rain.")] * 2}})
    kinds = [kind for kind, _, to in interviews(played) if to == ("A", "@moderator")]
    assert kinds == ["paused", "asked", "answered", "asked", "answered", "resumed"]
    last = [ask.request for ask in played.asks("A") if isinstance(ask.request, Interviewed)][-1]
    assert (last.question, last.earlier) == ("And then?", ('{"question": "Why?", "answer": "Rain."}',))


@pytest.mark.parametrize(("most", "answered"), [(0, 1), (1, 2), (3, 3)])
def test_a_moderator_asks_on_in_one_pause_as_often_as_it_may(most: int, answered: int) -> None:
    asks = [Moderation(ask="A", question="Why?"), *[Moderation(ask="everybody", question="And?")] * 2]
    nobody = Moderation(ask="nobody")
    played = play(
        {"A": [SKIPS], "B": []},
        answers={
            "moderate": {"@moderator": [*asks[: 1 + most], *[nobody] * (2 if most > 2 else 1)]},
        },
        staff=["moderator"],
        follow_ups=most,
    )
    left = [ask.request.more for ask in played.asks("@moderator") if isinstance(ask.request, Moderate)]
    assert left == [None, *range(most, 0, -1), None]
    assert len([event for event in played.events(Answered) if event.agent == "A"]) == answered
    paused = [kind for kind, _, to in interviews(played) if to == ("B", "@moderator")]
    assert paused == (["paused", *["asked", "answered"] * (answered - 1), "resumed"] if most else [])
    kinds = [kind for kind, _, _ in interviews(played)]
    assert kinds[-1] == "resumed", "all resume when all is asked"
    assert not most or kinds.index("resumed") > max(at for at, kind in enumerate(kinds) if kind == "asked")


def test_staff_is_asked_at_every_turn_boundary_and_normally_asks_nothing() -> None:
    played = play({"A": [SKIPS, SKIPS], "B": []}, staff=["moderator"])
    kinds = [ask.request.kind for ask in played.asks()]
    assert kinds == ["briefing", "briefing", *["moderate", "action"] * 4]
    assert interviews(played) == []


def test_what_staff_asks_is_answered_and_shown_to_staff_and_to_no_other_agent() -> None:
    nobody = Moderation(ask="nobody")
    asks = [Moderation(ask="B", question="Why?"), nobody, Moderation(ask="everybody", question="And?"), nobody]
    rest = [nobody, nobody]
    played = play(
        {"A": [SKIPS, SKIPS], "B": []},
        answers={
            "moderate": {"@moderator": [*asks, *rest]},
            "interview": {"B": [InterviewAnswer(answer="Because.")] * 2},
        },
        staff=["moderator"],
    )
    boundaries = [ask.request for ask in played.asks("@moderator") if isinstance(ask.request, Moderate)]
    assert boundaries[1].interviews == ('{"agent": "B", "question": "Why?", "answer": "Because."}',)
    asked = [ask.request for ask in played.asks() if isinstance(ask.request, Interviewed)]
    assert [(request.player, request.question) for request in asked] == [("B", "Why?"), ("A", "And?"), ("B", "And?")]
    assert asked[2].earlier == ('{"question": "Why?", "answer": "Because."}',), "an agent knows its earlier answers"
    assert asked[1].earlier == ()
    for ask in played.asks():
        if isinstance(ask.request, Act):
            assert "Because" not in ask.request.prompt().text()


def test_an_answer_may_be_in_words_and_is_cut() -> None:
    played = play(
        {"A": [SKIPS], "B": []},
        answers={"interview": {"A": [lambda request: request.parse("I wait " * 20).decision]}},
        moderator=[{"round": 1, "agents": ["A"], "question": QUESTION}],
        answer_chars=40,
    )
    (answered,) = played.events(Answered)
    assert (len(answered.text) <= 40, answered.text.endswith("[cut]")) == (True, True)


SCENARIO = """
game = "market"
seed = 3
[defaults]
model = "bot/zi_c"
[game_config]
rounds = 300
queries = false
briefing = false
[game_config.stock]
wheat = 10
[staff.moderator]
model = "human"
[[players]]
id = "A"
[[players]]
id = "B"
"""


def seated(folder: Path) -> AtTerminal:
    config = folder / "game.toml"
    config.write_text(SCENARIO, encoding="utf-8")
    return AtTerminal("run", "--config", str(config), "--name", "run", "--no-html", "--display", "plain", cwd=folder)


def history_of(folder: Path) -> Any:
    return json.loads((folder / "logs" / "run.json").read_text(encoding="utf-8"))


RUNG = [PROMPT, r"you are asked next\. Ctrl-C again stops the run\.\s+> $"]
"""What is seen after Ctrl-C; on a busy machine the notice may come behind the prompt."""


def test_ctrl_c_at_a_terminal_asks_the_moderator_who_asks_an_agent_and_the_game_goes_on(tmp_path: Path) -> None:
    child = seated(tmp_path)
    child.expect("Round 3 begins")
    child.sendintr()
    child.expect(RUNG)
    child.sendline("ask: A\nquestion: Why so dear?\n")
    child.expect(PROMPT)
    child.sendline("nobody\n")  # it asks no more
    child.expect("winner: ")
    child.expect(pexpect.EOF)
    assert child.ended() == 0
    history = history_of(tmp_path)
    assert history["status"] == "completed"
    said = [
        (event["kind"], event["content"], event["visibility"])
        for part in history["rounds"]
        for event in part["events"]
        if "@moderator" in event["visibility"]
    ]
    to = ["A", "@moderator"]
    answer = "I draw a price at random, at which I cannot lose."
    assert said == [
        ("paused", "PAUSE", to),
        ("asked", "Why so dear?", to),
        ("answered", answer, to),
        ("resumed", "RESUME", to),
    ]
    asked = [each["decision"]["ask"] for each in history["decisions"] if each["player"] == "@moderator"]
    assert (asked.count("A"), asked.count("nobody")) == (1, 2 * 300), "and once whether it asks on"
    assert prove(RunFiles(tmp_path / "logs", "run")).complete


def test_a_second_ctrl_c_stops_the_run_which_can_be_resumed(tmp_path: Path) -> None:
    child = seated(tmp_path)
    child.expect("Round 3 begins")
    child.sendintr()
    child.expect(RUNG)
    child.sendintr()
    child.expect("agentsim resume run")
    child.expect(pexpect.EOF)
    assert child.ended() == 130
    assert history_of(tmp_path)["status"] == "interrupted"
