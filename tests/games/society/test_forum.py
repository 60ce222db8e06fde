"""The forum: what each agent is shown by every feed, and that the events alone tell what was shown."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.play import GamePlay
from agentsim.engine.request import Request
from agentsim.errors import ScenarioError
from agentsim.games.society import GAME
from agentsim.games.society.forum import Post, score
from agentsim.games.society.requests import Act
from agentsim.games.society.tables import exposure
from agentsim.games.society.talk import ForumOpened
from agentsim.games.society.topology import drawn
from agentsim.scenario.load import load
from tests.games.society.society import acted
from tests.games.society.town import Town, post, reply

FEEDS: tuple[dict[str, Any], ...] = (
    {"feed": "all"},
    {"feed": "ranked"},
    {"feed": "neighbours", "topology": "ring"},
    {"feed": "neighbours", "topology": "small_world", "degree": 6, "rewiring": 0.5},
    {"feed": "ranked", "topology": "scale_free"},
)


def chatter(request: Request[Any], rng: Stream) -> Decision:
    """Words of every length, some of them replies, and a little sleep."""
    assert isinstance(request, Act)
    words = "word " * rng.integer(1, 150)
    if request.posts and rng.random() < 0.5:
        return acted({"action": "forum_reply", "parent_message_id": rng.pick(request.posts).id, "content": words})
    return acted("idle") if rng.random() < 0.3 else acted({"action": "forum_post", "content": words})


def shown(play: GamePlay, config: dict[str, Any], bot: Any = chatter) -> Iterator[Act]:
    """Every question of a game, in order."""
    wave = play.start()
    while wave is not None:
        yield from (ask.request for ask in wave.asks if isinstance(ask.request, Act))
        wave = play.answer([bot(ask.request, play.bot_rng(ask)) for ask in wave.asks])


def game(agents: int = 12, seed: int = 5, **config: Any) -> GamePlay:
    settings = {"days": 6, "start_food": 4, "start_energy": 4, "feed_tokens": 1_000, **config}
    return GamePlay(GAME, GAME.config.from_toml(settings), [f"p{each}" for each in range(1, agents + 1)], seed)


@pytest.mark.parametrize("config", FEEDS, ids=lambda config: "-".join(map(str, config.values())))
def test_exposure_is_what_the_prompts_showed(config: dict[str, Any]) -> None:
    play, seen = game(**config), []
    for act in shown(play, config):
        numbers = [
            json.loads(line)["post"] for line in act.prompt().text().splitlines() if line.startswith('{"post": ')
        ]
        assert numbers == [each.id for each in act.posts]
        seen += [(act.world.day, act.world.tick, act.you.agent, number) for number in reversed(numbers)]
    rows = exposure(play.log).rows
    assert [(day, turn, agent, number) for day, turn, _, agent, _, number, *_ in rows] == seen
    assert len({agent for _, _, agent, *_ in seen}) == 12
    assert max(len(act.posts) for act in shown(game(**config), config)) < 20, (
        "the room of the posts was too small for all"
    )


def test_who_fell_asleep_was_shown_nothing_then() -> None:
    play = game(feed="all")
    asked = [(act.world.day, act.world.tick, act.you.agent) for act in shown(play, {})]
    assert len(asked) < 6 * 3 * 12, "some slept, or this would prove little"
    assert {(row[0], row[1], row[3]) for row in exposure(play.log).rows} <= set(asked)


def test_what_one_agent_heard_tells_of_no_exposure() -> None:
    play = game(feed="all")
    list(shown(play, {}))
    assert not exposure([told for told in play.log if told.heard_by("p3")]).rows


def test_neighbours_are_shown_the_posts_of_each_other_alone() -> None:
    play = game(feed="neighbours", topology="ring", degree=4)
    for act in shown(play, {}):
        assert {each.author for each in act.you.posts} <= set(act.you.neighbours)
        assert not act.world.posts
        assert len(act.you.neighbours) == 4
        assert f"Your neighbours: {', '.join(f'#{each}' for each in act.you.neighbours)}." in act.prompt().text()


def test_a_ranked_feed_goes_by_replies_and_age() -> None:
    town = Town(feed="ranked", actions_per_day=4)
    town.tick({1: post("First"), 2: post("Second")}).tick({3: reply(1, "Yes")}).tick({2: reply(1, "No")})
    assert [each.id for each in town.asked[1].world.posts] == [2, 3, 4, 1], (
        "1 has two replies; of the rest the newer counts"
    )
    text = town.asked[1].prompt().text()
    assert "Posts of the forum, the highest score last (4):" in text
    assert "1 and the number of replies that a post has, halved for each day of its age" in text
    assert '{"post": 1, "day": 1, "from": "#1", "replies": 2, "text": "First"}' in text


def test_a_score_is_halved_with_each_day() -> None:
    old, new = Post(1, 1, 1, "", None, "a", replies=3), Post(2, 3, 1, "", None, "b")
    assert 2 ** score(old, 3) == pytest.approx(4 / 4)
    assert 2 ** score(new, 3) == 1


def test_posts_that_stand_in_the_forum_are_named_elsewhere() -> None:
    town = Town().tick({1: post("A long story")}).tick({2: reply(1, "Well told, #1")})
    text = town.asked[1].prompt().text()
    assert text.count("A long story") == 1
    assert text.count("Well told") == 1
    assert '"event": "Agent #2: post 2, a reply to 1"}' in text


def test_older_rules_tell_nothing_of_the_feed() -> None:
    town = Town(feed_tokens=0).tick({1: post("A story")})
    assert not [told for told in town.play.log if isinstance(told.event, ForumOpened)]
    assert town.asked[1].prompt().text().count("A story") == 2, "a prompt may leave posts out, so none is named instead"


# -- topologies


def degrees(topology: Any, agents: int, degree: int = 4, rewiring: float = 0.1, seed: str = "1") -> list[int]:
    network = drawn(topology, agents, degree, rewiring, Stream(seed))
    assert list(network) == list(range(1, agents + 1))
    for agent, others in network.items():
        assert agent not in others
        assert all(agent in network[other] for other in others), "ties go both ways"
    return sorted(map(len, network.values()))


def test_all_are_neighbours_in_a_complete_network() -> None:
    assert drawn("complete", 9, 4, 0.1, Stream("1")) == {}


@pytest.mark.parametrize("agents", [2, 3, 5, 100])
def test_in_a_ring_all_have_as_many_neighbours(agents: int) -> None:
    most = min(4, agents - 1) // 2 * 2 or 1
    assert set(degrees("ring", agents)) <= {most, min(2, agents - 1)}


@pytest.mark.parametrize("rewiring", [0.0, 0.1, 1.0])
def test_rewiring_moves_ties_and_makes_none(rewiring: float) -> None:
    assert sum(degrees("small_world", 200, 6, rewiring)) == 200 * 6
    ring, small = (drawn("ring", 200, 6, 0, Stream("1")), drawn("small_world", 200, 6, rewiring, Stream("1")))
    if rewiring == 0:
        assert ring == small
    else:
        assert degrees("small_world", 200, 6, rewiring)[0] < 6 < degrees("small_world", 200, 6, rewiring)[-1]


def test_a_scale_free_network_has_hubs() -> None:
    """Barabasi and Albert: P(k) = 2 m (m + 1) / (k (k + 1) (k + 2)), so a half has m = 2 neighbours."""
    found = Counter(each for seed in range(20) for each in degrees("scale_free", 500, 4, seed=str(seed)))
    assert sum(found.values()) == 10_000
    assert found[2] / 10_000 == pytest.approx(0.5, abs=0.03)
    assert found[3] / 10_000 == pytest.approx(0.2, abs=0.03)
    assert max(found) > 40, "no such agent is in a ring or a small world"
    assert min(found) == 2


def test_a_network_out_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "ties.csv").write_text("# who knows whom\n1,2\n\n3 , 2\n", "utf-8")
    text = 'game = "society"\nseed = 1\n[game_config]\ndays = 1\nfeed = "neighbours"\ntopology = "ties.csv"\n'
    (tmp_path / "s.toml").write_text(f'{text}[[players]]\nid = "agent"\ncount = 4\nmodel = "bot/idle"\n', "utf-8")
    config: Any = load(tmp_path / "s.toml").config
    assert drawn(config.topology, 4, 4, 0, Stream("1")) == {1: (2,), 2: (1, 3), 3: (2,), 4: ()}
    with pytest.raises(ScenarioError, match="ties has ties of agent 3"):
        GAME.admit(config, ["a", "b"])


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"topology": "ring"}, "feed must be neighbours or ranked"),
        ({"feed": "neighbours"}, "needs a topology"),
        ({"feed": "ranked", "degree": 3}, "degree must be even"),
        ({"feed": "ranked", "topology": {"name": "t", "text": "1,2\n4;5"}}, "line 2 must be the numbers of two agents"),
        ({"feed": "ranked", "topology": {"name": "t", "text": "2,2"}}, "line 1 must be"),
    ],
)
def test_what_cannot_be_a_feed_is_told(config: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        GAME.config.from_toml(config)


# -- exposure effects


def test_a_planted_effect_of_exposure_is_recovered() -> None:
    """Agents post `red` by themselves with 0.1, and with 0.35 more where the newest post that they are shown is red."""
    base, copied = 0.1, 0.35

    def copies(request: Request[Any], rng: Stream) -> Decision:
        assert isinstance(request, Act)
        seen = bool(request.posts) and request.posts[-1].text == "red"
        return acted({"action": "forum_post", "content": "red" if rng.random() < base + copied * seen else "blue"})

    config = {"feed": "neighbours", "topology": "small_world", "daily_food": 0, "daily_energy": 0, "days": 20}
    estimates = []
    for seed in range(10):
        play = game(12, seed, **config)
        list(shown(play, {}, copies))
        estimates.append(effect(play))
    covered = sum(abs(found - copied) < 1.96 * error for found, error in estimates)
    assert covered >= 8, "95% intervals"
    mean = sum(found for found, _ in estimates) / 10
    error = math.sqrt(sum(each**2 for _, each in estimates)) / 10
    assert abs(mean - copied) < 1.96 * error
    assert mean > 10 * error, "and it is told from none"


def effect(play: GamePlay) -> tuple[float, float]:
    """How much oftener agents wrote red after red, of the tables alone, and the standard error of that."""
    tables = {
        name: [dict(zip(frame.columns, row, strict=True)) for row in frame.rows]
        for name, frame in GAME.tables(play.log, play.table.players).items()
    }
    text = {row["post"]: row["text"] for row in tables["posts"]}
    newest = {row["decision"]: row["post"] for row in tables["exposure"] if row["place"] == 1}
    wrote = Counter[tuple[bool, bool]]()
    for row in tables["posts"]:
        wrote[text.get(newest.get(row["decision"])) == "red", row["text"] == "red"] += 1
    count = {after: wrote[after, True] + wrote[after, False] for after in (True, False)}
    rate = {after: wrote[after, True] / count[after] for after in count}
    return rate[True] - rate[False], math.sqrt(sum(rate[each] * (1 - rate[each]) / count[each] for each in count))
