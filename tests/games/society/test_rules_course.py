"""A whole game: simultaneous decisions, random order, first stocks, and its end."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import pytest
from pydantic import ValidationError

from agentsim.engine.decision import Decision
from agentsim.engine.event import Everyone
from agentsim.engine.simulate import Simulation, simulate
from agentsim.errors import ScenarioError
from agentsim.games.society import GAME
from agentsim.games.society.config import PERSONALITIES, SocietyConfig
from agentsim.games.society.evening import SocietyEnded
from agentsim.games.society.founding import SocietyBegan
from agentsim.games.society.requests import Acted
from agentsim.games.society.talk import Posted
from agentsim.games.society.work import Traded
from tests.games.society.town import (
    Town,
    build,
    contribute,
    giving,
    law,
    message,
    minimum,
    naming,
    post,
    propose,
    repeal,
    tax,
    vote,
    work,
)


def simulated(agents: int = 4, bot: Any = "idle", **config: Any) -> Simulation:
    """Play a whole game from its regular beginning."""
    return simulate(GAME, {"days": 1, **config}, [f"agent{number}" for number in range(1, agents + 1)], bot=bot)


def began(agents: int, **config: Any) -> SocietyBegan:
    (event,) = simulated(agents, **config).events(SocietyBegan)
    assert isinstance(event, SocietyBegan)
    return event


# one moment


def test_a_tick_is_one_wave_of_all_who_are_awake() -> None:
    town = Town("9 9 9", "9 9 9", "0 0 0 dormant", "0 0 0 dead", "9 9 9", permadeath=True)
    assert town.active == [1, 2, 5]


def test_a_day_has_its_ticks() -> None:
    played = simulated(3, days=2, actions_per_day=4)
    assert [len(wave.asks) for wave, _ in played.waves] == [3] * 8
    asked = [ask.request for ask in played.asks("agent1")]
    assert [(act.world.day, act.world.tick) for act in asked] == [(d, t) for d in (1, 2) for t in (1, 2, 3, 4)]  # type: ignore[attr-defined] # all are acts


def test_everybody_sees_the_world_as_it_stood_when_the_tick_began() -> None:
    """The actions of a tick are in no request of that tick, and in all of the next."""
    town = Town()
    before = {number: act.prompt().text() for number, act in town.asked.items()}
    acts = dict(town.asked)
    town.tick({1: post("News of now"), 2: propose(title="A plan"), 3: giving(0, "food", 7)})
    assert {number: act.prompt().text() for number, act in acts.items()} == before
    for act in town.asked.values():
        assert "News of now" in act.prompt().text()
        assert "A plan" in act.prompt().text()
        assert act.world.pool["food"] == 200_700


def test_actions_happen_in_a_fresh_random_order_in_every_tick() -> None:
    """All six orders of three agents appear about equally often in 120 ticks: 5 degrees of freedom, p = 0.001."""

    def posts(request: Any, rng: Any) -> Decision:
        return Acted.model_validate({"action": post("x")})

    played = simulated(3, posts, days=30, actions_per_day=4, start_food=50, start_energy=50)
    authors = [event.agent for event in played.events(Posted)]
    orders = Counter(tuple(authors[start : start + 3]) for start in range(0, len(authors), 3))
    assert set(orders) == set(permutations((1, 2, 3)))
    assert sum((count - 20) ** 2 / 20 for count in orders.values()) < 20.52


def test_of_two_who_want_the_last_of_something_the_first_in_the_order_gets_it() -> None:
    """The second one's action is illegal by then, since the food is gone."""
    for first, second in ((1, 2), (2, 1)):
        town = Town("5 5 5", "5 5 5", "5 5 50", voting_days=1)
        town.decree(propose("infrastructure", build())).tick({3: contribute(1, 48)})
        town.tick({first: contribute(1, 2), second: contribute(1, 2)})
        assert town.refused() == [(second, "project 1 needs no materials")]


def test_votes_of_one_tick_are_all_counted_whatever_their_order() -> None:
    town = Town(*["9 9 9"] * 4, voting_days=1)
    town.day({1: propose()}, {4: vote(1), 2: vote(1, "no"), 3: vote(1), 1: vote(1, "no")}, {2: vote(1, "yes")})
    assert len(town.state.assembly.laws) == 1


# what there is to begin with


def test_everybody_begins_alike() -> None:
    event = began(100)
    assert (event.food, event.energy, event.materials) == (1_000, 1_000, 500)
    assert {resource: total.pool for resource, total in event.totals.items()} == {
        "food": 200_000,
        "energy": 100_000,
        "materials": 50_000,
        "land": 100_000,
    }


@pytest.mark.parametrize(
    ("agents", "pool"),
    [
        (2, (4_000, 2_000, 1_000, 2_000)),
        (12, (24_000, 12_000, 6_000, 12_000)),
        (250, (500_000, 250_000, 125_000, 250_000)),
    ],
)
def test_the_pool_is_scaled_by_the_number_of_agents(agents: int, pool: tuple[int, ...]) -> None:
    assert tuple(total.pool for total in began(agents).totals.values()) == pool


def test_the_pool_of_a_config_is_that_of_a_hundred_agents() -> None:
    event = began(3, pool_food=0.5, pool_land=7, start_food=2.25)
    assert (event.totals["food"].pool, event.totals["land"].pool, event.food) == (1, 21, 225)  # 0.015 is 0.01


def test_one_agent_is_no_society() -> None:
    with pytest.raises(ScenarioError):
        GAME.admit(SocietyConfig.from_toml({}), ["a"])


@pytest.mark.parametrize(("agents", "seed"), [(100, 1), (100, 2), (7, 1), (2, 3)])
def test_personalities_are_dealt_evenly_also_within_each_population(agents: int, seed: int) -> None:
    """Among consecutive agents, as of one `[[players]]` table, counts of personalities differ by at most one."""
    played = simulate(GAME, {"days": 1}, [f"p{n}" for n in range(agents)], bot="idle", seed=seed)
    (event,) = played.events(SocietyBegan)
    dealt = [being.personality for being in event.agents]
    for start in range(agents):
        for end in range(start + 1, agents + 1):
            counts = [dealt[start:end].count(each) for each in PERSONALITIES]
            assert max(counts) - min(counts) <= 1


def test_personalities_are_dealt_reproducibly_and_by_seed() -> None:
    dealt = {
        seed: [
            [being.personality for being in event.agents]
            for _ in range(2)
            for event in simulate(GAME, {"days": 1}, ["a", "b", "c"], bot="idle", seed=seed).events(SocietyBegan)
        ]
        for seed in range(12)
    }
    assert all(first == second for first, second in dealt.values())
    assert len({tuple(first) for first, _ in dealt.values()}) > 3


def test_the_neutral_have_no_words_of_their_own() -> None:
    for act in Town(*["9 9 9"] * 5).asked.values():
        assert ("Of each proposal you ask" in act.prompt().text()) is (act.you.personality != "neutral")


# how it ends


def test_it_ends_after_its_days() -> None:
    town = Town(days=2).day().day()
    assert (town.wave, town.outcome.reason) == (None, "all days are over")


@pytest.mark.parametrize("last", ["0 0 0", "0 0 0 dormant", "0 0 0 dead"])
def test_it_ends_where_all_are_dormant_or_dead(last: str) -> None:
    town = Town("0 5 5", last, permadeath=True).day()
    assert (town.wave, town.outcome.reason) == (None, "no agent is active")


def test_idle_agents_are_all_dormant_by_the_end_of_day_11() -> None:
    played = simulated(5, days=30)
    (event,) = played.events(SocietyEnded)
    assert (event.day, event.reason, event.survival) == (11, "no agent is active", 0)


def test_until_the_first_law() -> None:
    town = Town(until="first_law", voting_days=1, laws=[law(tax(1))]).day({1: propose("other")}, {1: vote(1)})
    assert town.wave is not None  # a founding law or another type of proposal does not count
    town.day({1: propose("law", repeal(1))}, {1: vote(2)})
    assert town.wave is not None, "a repeal is no law"
    town.day({1: propose("law")}, {1: vote(3)})
    assert town.outcome.reason == "the first law was passed"


def test_until_the_first_project() -> None:
    town = Town("9 9 90", "9 9 9", until="first_project", voting_days=1).decree(propose("infrastructure", build()))
    assert town.wave is not None  # it is begun, but not built
    town.day({1: contribute(1, 50)})
    assert (town.state.day, town.outcome.reason) == (2, "the first project was built")


def test_until_the_first_dormancy() -> None:
    town = Town("9 9 9", "1 9 9", until="first_dormancy").day()
    assert town.wave is not None
    assert town.day().outcome.reason == "an agent fell dormant"


def test_until_the_first_death() -> None:
    town = Town("9 9 9", "0 0 0 dormant 3", until="first_death", permadeath=True).day()
    assert town.wave is not None
    assert town.day().outcome.reason == "an agent died"


def test_until_a_death_that_cannot_come_is_refused() -> None:
    for config in ({"until": "first_death"}, {"until": "first_kiss", "permadeath": True}):
        with pytest.raises(ValidationError):
            SocietyConfig.from_toml(config)


@pytest.mark.parametrize(
    ("rank_by", "ranks"),
    [("wealth", [1, 1, 3, 4]), ("food", [3, 1, 2, 3]), ("energy", [2, 3, 1, 4]), ("materials", [1, 2, 4, 2])],
)
def test_standings_go_by_wealth_or_what_the_config_says(rank_by: str, ranks: list[int]) -> None:
    """After the evening: 0 6 9 = 15, 8 2 5 = 15, 2 8 2 = 12, and a dormant agent with 0 0 5."""
    town = Town("1 7 9", "9 3 5", "3 9 2", "0 0 5 dormant", days=1, rank_by=rank_by).day()
    by_player = {place.player: place for place in town.outcome.standings}
    assert [by_player[f"p{number}"].rank for number in (1, 2, 3, 4)] == ranks
    assert by_player["p2"].score == {"wealth": 15, "active": 1, "food": 8, "energy": 2, "materials": 5}
    assert by_player["p4"].score["active"] == 0


def test_the_end_says_survival_inequality_laws_and_participation() -> None:
    town = Town("4 4 5", "4 4 5", "0 0 0", "0 0 0 dormant", days=1, voting_days=1, rank_by="wealth")
    town.day({1: propose()}, {2: vote(1), 1: naming("Ada")}, {1: message(2, "Well done"), 2: work("generate", 1)})
    (told,) = town.told(SocietyEnded)
    event: Any = told.event
    assert (event.day, event.survival, event.participation, event.laws, told.to) == (1, 0.5, 0.5, 1, Everyone)
    assert event.gini == 0.516  # of 0, 0, 11 and 12.5: (11 + 3 * 12.5) / (4 * 23.5)
    first = event.results[0]
    assert (first.agent, first.wealth, first.hours, first.rank, first.votes) == (2, 1_250, 1, 1, 1)
    second = event.results[1]
    assert (second.name, second.messages, second.proposals, second.status) == ("Ada", 1, 1, "active")


# the same for all watchers


def test_a_gift_is_known_to_two_and_work_to_one() -> None:
    town = Town().tick({1: giving(2, "food", 1)})
    assert town.told(Traded)[0].to == ("p1", "p2")
    for agent, knows in ((1, True), (2, True), (3, False)):
        assert ("Agent #1 gives 1 food" in town.asked[agent].prompt().text()) is knows


def test_the_config_is_held_to_sensible_numbers() -> None:
    bad: list[dict[str, Any]] = [
        {"days": 0},
        {"actions_per_day": 0},
        {"hours_per_day": 25},
        {"start_food": -1},
        {"start_food": 0.001},
        {"pool_land": float("inf")},
        {"pool_food": 10**10},
        {"threshold": 49},
        {"quorum": -1},
        {"efficiency_by_hours": []},
        {"efficiency_by_hours": [11]},
        {"personalities": []},
        {"personalities": ["greed"]},
        {"voting_days": 0},
        {"unheard_of": 1},
    ]
    for config in bad:
        with pytest.raises(ValidationError):
            SocietyConfig.from_toml(config)


def test_beyond_the_table_of_efficiencies_the_last_one_holds() -> None:
    town = Town("90 90 9", "9 9 9", hours_per_day=24, efficiency_by_hours=[1, 0.5], laws=[law(minimum(24))])
    assert town.tick({1: work("generate", 24)}).held(1) == "90 108 9"  # 24 x 1.5 x 0.5
