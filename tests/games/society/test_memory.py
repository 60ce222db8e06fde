"""The memory of an agent: made of events that it heard, bounded, and shown in its prompt."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentsim.engine.request import Request
from agentsim.games.society.evening import Idle
from agentsim.games.society.requests import Act, Acted
from agentsim.games.society.turn import Noted
from benchmarks.society import FREE, talkative, waves
from tests.games.society.society import law, play, request
from tests.games.society.town import Town, giving, message, minimum, post, propose, reply, tax, vote, work
from tests.games.society.town import law as founding


def shown(asked: Act, title: str) -> list[Any]:
    """Return the values of the lines under a title of the prompt."""
    lines = "\n".join(asked.prompt().state).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"{title} ("))
    rest = lines[start + 1 :]
    end = next((number for number, line in enumerate(rest) if not line.startswith("{")), len(rest))
    return [json.JSONDecoder().raw_decode(line)[0] for line in rest[:end]]


def lived() -> Town:
    """Play two days in which agent 1 acts, and is concerned, in every way."""
    town = Town(actions_per_day=4, voting_days=1, laws=[founding(tax(10, "food"), minimum(8))])
    town.day(
        {1: work("farm", 2), 2: message(1, "Are you there?")},
        {1: post("Hello"), 2: propose(title="Bread")},
        {1: vote(1, reasoning="I am hungry"), 2: reply(1, "Hello #1")},
        {1: message(2, "Here"), 2: giving(1, "food", 2)},
    )
    return town.tick({2: message(1, "Good")})


def test_own_deeds_are_remembered_with_their_results() -> None:
    did = shown(lived().asked[1], "Your earlier actions")
    assert [(each["round"], each["event"]) for each in did] == [
        ("Day 1", "Agent #1 works 2 h (farm)"),
        ("Day 1", "Agent #1: post 1"),
        ("Day 2", "Agent #1 does nothing"),
    ]
    assert did[0]["fact"] == "3.8 food, 0.38 of it for the pool; 1 energy spent.", "what the tax took"
    assert did[1].keys() == {"round", "event"}, "the post stands in the forum, and is named here"


def test_messages_stay_as_threads_in_which_each_stands_once() -> None:
    asked = lived().asked[1]
    earlier = [(each["event"], each["words"]) for each in shown(asked, "Your messages")]
    assert earlier == [("Agent #2 to agent #1", "Are you there?"), ("Agent #1 to agent #2", "Here")]
    (new,) = shown(asked, "Events that affected you since your last turn")
    assert new["words"] == "Good"


def test_threads_are_told_apart_and_the_one_spoken_in_last_comes_last() -> None:
    town = Town(actions_per_day=5)
    for sender, words in ((2, "a"), (3, "b"), (2, "c")):
        town.tick({sender: message(1, words)})
    town.tick()
    assert [each["words"] for each in shown(town.asked[1], "Your messages")] == ["b", "a", "c"]


def test_votes_reasons_and_what_came_of_proposals_are_remembered() -> None:
    part = shown(lived().asked[1], "Your proposals and votes, and their results")
    assert [each["event"] for each in part] == [
        "Agent #1 votes yes on proposal 1",
        "Agent #1 to itself, on proposal 1",
        "Proposal 1 has passed: Bread",
    ]
    assert part[1]["words"] == "I am hungry"
    assert lived().asked[3].you.memory.told()[0].kind == "idled", "who did not vote has no part in it"


def test_gifts_replies_and_breaches_are_remembered() -> None:
    met = shown(lived().asked[1], "Earlier events that affected you")
    assert [each["event"] for each in met] == [
        "Agent #2: post 2, a reply to 1",
        "Agent #2 gives 2 food to agent #1",
        "Law 1: 3 agents worked less than 8 h",
    ]


def test_all_are_told_what_came_of_votes_and_who_broke_a_law() -> None:
    town = lived()
    lists = ("Results of proposals", "Other public events")
    events = {each["event"]: each["fact"] for title in lists for each in shown(town.asked[3], title)}
    assert events["Proposal 1 has passed: Bread"] == "1 yes, 0 no, 0 abstain."
    assert events["Law 1: 3 agents worked less than 8 h"] == "#1, #2, #3"


def test_the_name_of_the_other_stands_beside_what_it_did() -> None:
    town = (
        Town().tick({2: {"action": "set_name", "display_name": 'Ada "the wise" {of} Bo'}}).tick({2: message(1, "Hi")})
    )
    (notice,) = town.notices(1)
    assert json.loads(notice.line)["named"] == 'Ada "the wise" {of} Bo'


def test_a_memory_is_a_window_within_a_budget_and_says_what_is_not_shown() -> None:
    words = {2: [f"direct_message 1 {'x' * 300}"] * 9}
    asked = request(play(words, agents=2, days=9, shown_events=3, memory_chars=1_000), 1)
    assert len(asked.you.memory.told()) == 6
    assert asked.you.memory.older > 0
    text = asked.prompt().text()
    assert "Your messages (" in text
    assert " older):" in text
    past = sum(
        len(line)
        for title in ("Your earlier actions", "Your messages")
        for line in map(json.dumps, shown(asked, title))
    )
    assert 200 < past < 1_000
    none = request(play(words, agents=2, days=9, memory_chars=0), 1).prompt().text()
    assert "Your earlier actions" not in none
    assert "Events that affected you since your last turn (1):" in none


def test_looking_at_a_memory_changes_nothing_and_it_comes_back_from_json() -> None:
    asked = lived().asked[1]
    assert asked.you.memory.told() == asked.you.memory.told()
    again = Request.restore.__func__(Act, asked.to_json())  # type: ignore[attr-defined] # a classmethod
    assert again == asked
    assert again.prompt() == asked.prompt()
    for kind in {type(told.event) for told in lived().play.log}:
        assert list(again.you.memory.touched(kind)) == list(asked.you.memory.touched(kind))


# notes

IDLE = {"action": "idle", "reasoning": ""}


@pytest.mark.parametrize(
    "said",
    [
        {**IDLE, "note": "Farm first."},
        {"action": IDLE, "note": "Farm first."},
        {"action": {**IDLE, "note": "Farm first."}},
    ],
)
def test_a_note_is_for_its_agent_alone_and_is_shown_until_another_takes_its_place(said: Any) -> None:
    town = Town().tick({1: said})
    (told,) = town.told(Noted)
    assert (told.event.text, told.to) == ("Farm first.", ("p1",))
    for note in ("", None):
        town.tick({1: {**IDLE, "note": note}})
        assert 'Your note: {"note": "Farm first."}' in town.asked[1].prompt().text()
        assert "Farm first." not in town.asked[2].prompt().text()
    town.tick({1: {**IDLE, "note": "Sleep."}})
    assert 'Your note: {"note": "Sleep."}' in town.asked[1].prompt().text()


def test_a_long_note_is_cut_and_the_action_counts() -> None:
    town = Town(note_chars=20).tick({1: {**work(), "note": "y" * 90}})
    assert town.asked[1].you.note == "y" * 14 + " [cut]"
    assert (town.refused(), town.asked[1].you.hours) == ([], 1)


def test_an_action_that_is_rejected_when_its_turn_comes_leaves_its_note() -> None:
    town = Town().tick({1: {**giving(2, "food", 99), "note": "Less."}})
    assert [agent for agent, _ in town.refused()] == [1]
    assert town.asked[1].you.note == "Less."


def test_without_memory_no_note_is_asked_for_and_no_past_shown() -> None:
    played = play({1: ["work farm 3", "post Hello"]}, days=3, note_chars=0, memory_chars=0, prompt_tokens=0)
    asked = request(played, 1)
    assert (list(asked.schema()["properties"]), "note" in asked.options()) == (["action"], False)
    assert "note" not in asked.prompt().text()
    assert "Your earlier actions" not in asked.prompt().text()
    assert asked.parse(json.dumps({**IDLE, "note": "?"})).decision == Acted.model_validate({"action": IDLE})
    assert list(request(play(), 1).schema()["properties"]) == ["action", "note"]
    unasked = play({1: [Acted(action=Idle(), note="?")]}, days=2, note_chars=0)
    assert (unasked.events(Noted), request(unasked, 1).you.note) == ([], "")


# the whole prompt


def outside(asked: Act) -> list[str]:
    """Return the lines of posts and open proposals, which the limit of a prompt does not count."""
    return [line for line in asked.prompt().state if line.startswith(('{"post"', '{"proposal"'))]


def test_a_prompt_beside_posts_and_proposals_keeps_to_its_tokens_and_says_what_it_leaves_out() -> None:
    proposed = {**law("Law"), "description": "d" * 4_000}
    long: list[Any] = [f"forum_post #1 {'x' * 1_900}", proposed, f"direct_message 1 {'m' * 1_900}"]
    turns = dict.fromkeys(range(2, 21), long)
    turns[1] = [Acted(action=Idle(), note="n" * 4_000), "post mine"]
    config: dict[str, Any] = {"agents": 20, "actions_per_day": 3, "days": 2, "voting_days": 9, "memory_chars": 20_000}
    config["laws"] = [{**founding(tax(1)), "description": "d" * 4_000}] * 20
    asked = request(play(turns, **config), 1)
    text, talk = asked.prompt().text(), outside(asked)
    assert len(talk) == 20 + 19, "all of them, however long"
    assert len(text.encode()) - sum(len(line.encode()) + 1 for line in talk) <= 6_000 * 4
    assert "older):" in text
    for kept in ("n" * 4_000, "Agent #1: post", "What does agent #1 do?"):
        assert kept in text
    free = request(play(turns, **config, prompt_tokens=0), 1).prompt().text()
    assert len(free) > len(text) + 8_000


def test_no_prompt_of_the_most_talkative_agents_exceeds_its_tokens_beside_posts_and_proposals() -> None:
    largest = 0
    for _, wave in waves({**FREE, "days": 2}, 100, talkative, 1):
        for ask in wave.asks:
            assert isinstance(ask.request, Act)
            whole = ask.request.prompt().text()
            rest = len(whole.encode()) - sum(len(line.encode()) + 1 for line in outside(ask.request))
            largest = max(largest, rest)
    assert 22_000 < largest <= 24_000


def test_the_newest_open_proposals_are_shown_and_an_author_s_own() -> None:
    town = Town(shown_proposals=2, voting_days=2, actions_per_day=4)
    for number in range(4):
        town.tick({1: propose(title=f"Law {number}")})
    assert [each.title for each in town.asked[2].world.proposals] == ["Law 2", "Law 3"]
    assert "Open proposals (2, and 2 older):" in town.asked[2].prompt().text()
    assert [each.title for each in town.asked[1].you.proposals] == ["Law 0", "Law 1"]
    assert town.asked[2].warning(Acted.model_validate({"action": vote(1)})) == "", "it can be voted on all the same"
