"""Posts, replies, mentions, direct messages and names: their audiences and their limits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentsim.engine.event import Everyone
from agentsim.games.society.evening import Idled
from agentsim.games.society.talk import MessageSent, Posted, Renamed
from agentsim.games.society.turn import InvalidAction
from agentsim.games.society.voting import Reasoned
from tests.amounts import each_row
from tests.games.society.town import Town, message, naming, post, propose, reply, vote

NOT_WORDS: list[Any] = [None, 5, True, [], {}, ["Hello"], "", "   ", "\n", "\u200b\u200e\ufeff", "\u0000"]

# posts


def test_everybody_hears_a_post_and_sees_it_in_the_next_tick() -> None:
    town = Town().tick({2: post("  Good morning.  ")})
    (told,) = town.told(Posted)
    assert (told.event.post, told.event.agent, told.event.parent, told.event.text) == (1, 2, None, "Good morning.")
    assert told.to is Everyone
    for agent in (1, 2, 3):
        (seen,) = town.asked[agent].world.posts
        assert (seen.id, seen.day, seen.author, seen.text) == (1, 1, 2, "Good morning.")


@pytest.mark.parametrize("make", [post, lambda text: reply(1, text), lambda text: message(2, text)])
@pytest.mark.parametrize("content", NOT_WORDS)
def test_words_must_be_some(make: Any, content: Any) -> None:
    town = Town().tick({2: post("First")}).tick({1: make(content)})
    assert [agent for agent, _ in town.refused()] == [1]
    assert (town.state.forum.count, town.events(MessageSent)) == (1, [])


@pytest.mark.parametrize("make", [post, lambda text: reply(1, text), lambda text: message(2, text)])
def test_words_are_2000_characters_at_most(make: Any) -> None:
    town = Town().tick({2: post("First")})
    assert town.tick({1: make("ä" * 2_000)}).refused() == []
    town.tick({1: make("ä" * 2_001)})
    assert town.refused() == [(1, "Invalid action data: content must be at most 2000 characters, and has 2001.")]
    assert len(town.tick({1: make("x" * 10_000)}).refused()) == 1


def test_only_the_newest_posts_are_shown_and_older_ones_can_still_be_answered() -> None:
    town = Town(shown_posts=2, actions_per_day=5)
    town.tick({1: post("one"), 2: post("two"), 3: post("three")})
    assert [each.id for each in town.asked[1].world.posts] == [2, 3]
    town.tick({2: reply(1, "to one")})
    assert [notice.about for notice in town.notices(1)] == [4]


def test_a_reply_says_what_it_answers_and_its_author_is_told() -> None:
    town = Town().tick({1: post("Who farms?")}).tick({2: reply("1", "I do")})
    (told,) = town.told(Posted)
    assert (told.event.post, told.event.parent, told.event.agent, told.to) == (2, 1, 2, Everyone)
    (notice,) = town.notices(1)
    assert (notice.kind, notice.other, notice.about) == ("posted", 2, 2)
    assert '"event": "Agent #2: post 2, a reply to 1"}' in notice.line, "its words stand in the forum"
    assert [each.parent for each in town.asked[3].world.posts] == [None, 1]


def test_a_reply_to_oneself_is_no_news() -> None:
    town = Town().tick({1: post("Who farms?")}).tick({1: reply(1, "Nobody?")})
    assert (town.refused(), town.notices(1)) == ([], [])


@pytest.mark.parametrize("parent", [2, 10**17, 0, -1, None, "first", 1.5])
def test_a_reply_needs_a_post(parent: Any) -> None:
    town = Town().tick({1: post("Who farms?")}).tick({2: reply(parent, "I do")})
    assert ([agent for agent, _ in town.refused()], town.state.forum.count) == ([2], 1)


def test_a_post_of_the_same_tick_can_be_answered_where_it_comes_first() -> None:
    assert Town().tick({1: post("a"), 2: reply(1, "b")}).refused() == []
    assert Town().tick({2: reply(1, "b"), 1: post("a")}).refused() == [(2, "there is no post 1")]


@each_row(
    "text, called",
    [
        ("#2 and #3, come here", (2, 3)),
        ("agent 2, Agent #3", (2, 3)),
        ("AGENT 3 and agent2", (3, 2)),
        ("agents 2 and 3", (2, 3)),
        ("Agents #3, #2: hear", (3, 2)),
        ("@3", (3,)),
        ("agent 3, 2 food for you", (3,)),
        ("my agent. 3 of us", ()),
        ("reagent 3", ()),
        ("agent 4, agent 30, agent 0, agent 02", ()),
        ("#2, #2 and #2", (2,)),
        ("#1 that is me", ()),
        ("#4 #0 #02 #99999999 # 2", ()),
        ("agent#3!", (3,)),
        ("#23", ()),
        ("#２", ()),
        ("\\u00232", (2,)),  # a text that is escaped as a whole is decoded
    ],
)
def test_who_is_mentioned_by_number_is_told(text: str, called: tuple[int, ...]) -> None:
    town = Town().tick({1: post(text)})
    assert town.events(Posted)[0].mentions == called
    for agent in (1, 2, 3):
        assert [notice.kind for notice in town.notices(agent)] == (["posted"] if agent in called else [])


def test_who_is_answered_and_mentioned_is_told_once() -> None:
    town = Town().tick({1: post("Who?")}).tick({2: reply(1, "You, #1 and #3")})
    assert [[notice.about for notice in town.notices(agent)] for agent in (1, 3)] == [[2], [2]]


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("@Ada, come here", (1,)),
        ("Ada's farm and Bob", (1, 2)),
        ("Ada Lovelace", (1,)),
        ("Adamant, ada, ADA", ()),
        ("Bob and #1", (1, 2)),
        ("Route 66 is agent 3's road", (3, 2)),
    ],
)
def test_who_is_mentioned_by_name_is_told(text: str, called: tuple[int, ...]) -> None:
    names = {1: naming("Ada"), 2: naming("Route 66" if "Route" in text else "Bob")}
    town = Town(*["10 10 5"] * 4).tick(names).tick({4: post(text)})
    assert town.events(Posted)[0].mentions == called
    for agent in (1, 2, 3):
        assert [notice.kind for notice in town.notices(agent)] == (["posted"] if agent in called else [])


def test_a_name_is_that_of_the_agent_that_had_it_as_the_turn_began() -> None:
    town = Town(actions_per_day=9).tick({1: naming("Ada")})
    town.tick({1: naming("Bob"), 2: naming("Ada"), 3: post("Ada!")})
    assert town.events(Posted)[0].mentions == (1,)
    assert town.tick({3: post("Ada!")}).events(Posted)[0].mentions == (2,)


# direct messages


def test_only_the_two_of_a_direct_message_hear_it() -> None:
    town = Town().tick({1: message(3, "Between us: 4711")})
    (told,) = town.told(MessageSent)
    assert (told.event.agent, told.event.recipient, told.event.text) == (1, 3, "Between us: 4711")
    assert told.to == ("p1", "p3")
    assert "4711" in town.asked[3].prompt().text()
    assert "4711" not in town.asked[2].prompt().text()
    assert [(notice.kind, notice.other, "4711" in notice.line) for notice in town.notices(3)] == [("message", 1, True)]


@pytest.mark.parametrize("to", [0, 4, -1, None, "all", 2.5, 10**17])
def test_a_direct_message_needs_an_agent(to: Any) -> None:
    town = Town().tick({1: message(to, "Hello")})
    assert ([agent for agent, _ in town.refused()], town.events(MessageSent)) == ([1], [])


def test_nobody_writes_to_itself() -> None:
    assert Town().tick({1: message(1, "Hello")}).refused() == [(1, "that is yourself")]


def test_the_dead_read_nothing() -> None:
    town = Town("9 9 9", "0 0 0 dead", permadeath=True).tick({1: message(2, "Hello")})
    assert town.refused() == [(1, "agent #2 is dead")]


# names


def test_a_name_is_told_to_all_and_stands_beside_the_number() -> None:
    town = Town().tick({1: naming("  Ada   Lovelace ")}).tick({1: post("Hello")})
    assert town.asked[2].world.posts[0].name == "Ada Lovelace"
    assert town.asked[1].you.name == "Ada Lovelace"
    (told,) = Town().tick({1: naming("Ada")}).told(Renamed)
    assert (told.event.agent, told.event.name, told.to) == (1, "Ada", Everyone)


def test_a_name_may_be_changed() -> None:
    town = Town(actions_per_day=9).tick({1: naming("Ada")}).tick({1: naming("Bob")}).tick({2: naming("Ada")})
    assert (town.refused(), [each.name for each in town.state.citizens]) == ([], ["Bob", "Ada", ""])


def test_a_name_is_50_characters_at_most() -> None:
    assert Town().tick({1: naming("x" * 50)}).refused() == []
    assert Town().tick({1: naming("x" * 51)}).refused() == [
        (1, "Invalid action data: display_name must be at most 50 characters, and has 51.")
    ]


@each_row("name", NOT_WORDS)
def test_a_name_must_be_seen(name: Any) -> None:
    town = Town().tick({1: naming(name)})
    assert (len(town.refused()), town.state.citizen(1).name) == (1, "")


@each_row("name", ["\u3164", "\u2800\u2800", "\ufe0f", "\u034f", "\u115f\u1160", "\uffa0"])
def test_a_name_of_characters_that_look_like_nothing_is_none(name: str) -> None:
    town = Town().tick({1: naming(name)})
    assert (town.refused(), town.state.citizen(1).name) == ([(1, "a name must be something that can be seen")], "")


def test_hidden_characters_go_from_a_name() -> None:
    town = Town().tick({1: naming("A\u200bd\u202ea\x1b[31m\n")})
    assert town.state.citizen(1).name == "Ada"


@pytest.mark.parametrize(
    "name",
    ["Ada", "ADA", " ada ", "A\u200bda", "Ａｄａ", "Ad\u00e1", "\u0410da", "Ada\ufe0f", "A\u0301d\u0430"],
    ids=["same", "case", "space", "hidden", "wide", "accent", "cyrillic", "selector", "both"],
)
def test_nobody_takes_the_name_of_another(name: str) -> None:
    town = Town().tick({1: naming("Ada")}).tick({2: naming(name)})
    assert (town.refused(), town.state.citizen(2).name) == ([(2, "agent #1 has that name")], "")


def test_of_two_in_one_tick_the_first_in_the_order_has_the_name() -> None:
    town = Town().tick({3: naming("Ada"), 1: naming("Ada")})
    assert (town.refused(), town.state.citizen(3).name) == ([(1, "agent #3 has that name")], "Ada")


@each_row(
    "name",
    [
        *("Agent #2", "#2", "agent 2", "AGENT#2", "2", "(2)", "Ágent #２", "I am agent  2!", "Agent #02", "agent(2)"),
        *("Agent・2", "\ua4eegent 2", "agent/2", "agent [2]", "Agent №2", "No. 2", "agent\u200b2", "Agent two"),
    ],
)
def test_nobody_takes_the_number_of_another(name: str) -> None:
    town = Town().tick({1: naming(name)})
    assert (town.refused(), town.state.citizen(1).name) == ([(1, "that is the number of agent #2")], "")


@each_row(
    "name",
    [
        *("Agent #1", "#1", "Agent 99", "R2D2", "Agent Smith", "Route 3", "🦊", "राम", "1984", "Two Face", "Nolan 2"),
        *("Anna 李", "Иван", "Zoë"),
    ],
)
def test_other_names_are_free(name: str) -> None:
    town = Town().tick({1: naming(name)})
    assert (town.refused(), town.state.citizen(1).name) == ([], name)


@each_row(
    "name",
    [
        *("System", "SYSTEM", "The common pool", "Common Pool", "narrator", "The Society", "Assistant"),
        *("System message", "the System", "S.y.s.t.e.m"),
    ],
)
def test_nobody_takes_the_name_of_what_is_no_agent(name: str) -> None:
    town = Town().tick({1: naming(name)})
    assert (town.refused(), town.state.citizen(1).name) == ([(1, "that name is no agent's")], "")


def test_letters_of_a_script_that_looks_like_latin_do_not_stand_beside_latin_ones() -> None:
    town = Town().tick({1: naming("\u13aagent Smith")})
    assert (town.refused(), town.state.citizen(1).name) == ([(1, "a name must not mix letters that look alike")], "")


# idle, and reasons


def test_who_idles_changes_nothing_and_only_it_hears_why() -> None:
    town = Town().tick({1: {"action": "idle", "reasoning": " I wait. "}})
    told = town.told(Idled)[0]
    assert (told.event.agent, told.event.text, told.to) == (1, "I wait.", ("p1",))
    assert town.held(1) == "10 10 5"


@pytest.mark.parametrize("reasoning", [None, "", "x" * 2_000, "x" * 10_000])
def test_reasons_are_optional_and_never_a_reason_to_reject(reasoning: Any) -> None:
    """The rules set no limit to their length."""
    town = (
        Town()
        .tick({1: propose()})
        .tick({2: vote(1, reasoning=reasoning), 1: {"action": "idle", "reasoning": reasoning}})
    )
    assert (town.refused(), town.state.assembly.open[1].counts["yes"]) == ([], 1)


def test_only_the_voter_hears_its_reasons() -> None:
    town = Town().tick({1: propose()}).tick({2: vote(1, reasoning="It is fair")})
    assert [(told.event.agent, told.event.text, told.to) for told in town.told(Reasoned)] == [
        (2, "It is fair", ("p2",))
    ]


# replies without an action


@each_row(
    "said, reason",
    [
        ({"action": "dance"}, "Unknown action: dance"),
        ({"action": "rejected", "reason": "x"}, "Unknown action: rejected"),
        ({"act": "idle"}, "Unknown action: None"),
        ({"action": 5}, "Unknown action: 5"),
        ('{"action": "idle", "reasoning": "so', "Failed to parse action"),
        ("I say {nothing}", "Failed to parse action"),
    ],
)
def test_what_is_no_action_is_idle_with_the_reason_recorded_and_no_penalty(said: Any, reason: str) -> None:
    town = Town().tick({1: said})
    (told,) = town.told(InvalidAction)
    event: Any = told.event
    assert (event.kind, event.agent, event.reason, told.to) == ("invalid_action", 1, reason, ("p1",))
    assert event.content == f"Action rejected: {reason}"
    assert set(event.data()) >= {"action", "reason"}
    assert town.held(1) == "10 10 5"
    (notice,) = town.notices(1)
    assert json.loads(notice.line)["fact"] == f"Action rejected: {reason}"


def test_words_alone_are_a_post_and_of_long_ones_the_first_2000_characters() -> None:
    town = Town().tick({1: "Let us farm.", 2: "y" * 10_000})
    assert [event.text for event in town.events(Posted)] == ["Let us farm.", "y" * 2_000]
    assert town.refused() == []


def test_words_alone_are_invalid_where_actions_are_strict() -> None:
    town = Town(strict_actions=True).tick({1: "Let us farm.", 2: post("Yes")})
    assert (town.refused(), town.state.forum.count) == ([(1, "Failed to parse action")], 1)
