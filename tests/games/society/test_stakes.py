"""Stakes: commons that can be overused, unequal skills, exchange with promises, shocks, and worlds that have them."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from agentsim.engine import Choice, Everyone
from agentsim.games.society.config import SocietyConfig
from agentsim.games.society.evening import AgentDied, Regrown
from agentsim.games.society.exchange import Accepted, Offered, PromiseEnded
from agentsim.games.society.founding import SkillsDrawn
from agentsim.games.society.requests import Act
from agentsim.games.society.shocks import LostToShock, ShockStruck
from agentsim.games.society.stakes import PRESETS, Preset
from agentsim.games.society.work import Worked
from tests.games.society.society import play, rejections, request
from tests.games.society.town import Town, accept, giving, message, offer, post, work

SEA: dict[str, Any] = {"commons_capacity": 1_000, "commons_regrowth": 0.5, "farm_rate": 2, "actions_per_day": 1}
"""Among three agents: 30 food at most."""
MARKET: dict[str, Any] = {"exchange": True, "actions_per_day": 2, "days": 10}
TRADES = {**MARKET, "actions_per_day": 3}


def shown(asked: Act) -> str:
    return asked.prompt().text()


# -- commons


def town(stock: str, **config: Any) -> Town:
    return Town(pool=f"0 0 0 0 {stock}", **{**SEA, **config})


@pytest.mark.parametrize(
    ("stock", "made"), [("30", "2"), ("15", "1"), ("0.08", "0.01"), ("0.07", "0"), ("0.01", "0"), ("0", "0")]
)
def test_farming_makes_as_much_of_its_yield_as_the_commons_hold_of_their_capacity(stock: str, made: str) -> None:
    there = town(stock).tick({1: work("farm", 1)})
    assert there.events(Worked)[0].made == round(100 * float(made))


def test_what_is_farmed_leaves_the_commons_before_the_next_agent_farms() -> None:
    there = town("30").tick({1: work("farm", 1), 2: work("farm", 1)})
    assert [event.made for event in there.events(Worked)] == [200, 187], "2 of 28/30, to the nearest hundredth"
    (grown,) = there.events(Regrown)
    assert grown.harvest == 387


def test_no_work_takes_more_than_the_commons_hold() -> None:
    """At a rate that empties them many times over."""
    there = town("0.03", farm_rate=1_000_000).tick({1: work("farm", 8), 2: work("farm", 8)})
    assert [event.made for event in there.events(Worked)] == [3, 0]
    assert there.state.pool["commons"] == 0


@pytest.mark.parametrize(
    ("stock", "grown"), [("0", 0), ("30", 0), ("15", 375), ("10", 333), ("0.01", 0), ("0.02", 1), ("29.99", 0)]
)
def test_the_commons_grow_logistically_every_evening(stock: str, grown: int) -> None:
    """0.5 x S x (1 - S / 30), to the nearest hundredth, halves up."""
    (event,) = town(stock).day().events(Regrown)
    assert event.regrown == grown


def test_the_commons_never_grow_beyond_their_capacity() -> None:
    (event,) = town("20", commons_regrowth=50).day().events(Regrown)
    assert event.stock == 3_000


@pytest.mark.parametrize("kind", ["generate", "gather"])
def test_other_work_draws_nothing_from_the_commons(kind: str) -> None:
    there = town("30").tick({1: work(kind, 1)})
    assert there.events(Worked)[0].made
    assert there.events(Regrown)[0].harvest == 0


def test_a_tax_takes_its_part_of_what_was_farmed() -> None:
    laws = [{"title": "T", "terms": [{"kind": "tax", "resource": "food", "percent": 50}]}]
    there = town("30", laws=laws).tick({1: work("farm", 1)})
    assert (there.events(Worked)[0].made, there.pool) == (200, "1 0 0 0")


def test_an_agent_is_told_how_full_the_commons_are_and_what_they_do() -> None:
    there = town("15").day({2: work("farm", 1)})
    words = shown(there.asked[1])
    assert "The commons hold 17.73 of 30 food." in words
    assert "Work drew 1 from the commons, and 3.73 grew again." in words
    assert "nothing where they are empty" in words
    assert "commons" not in shown(Town().asked[1])


# -- skills


def test_skills_are_drawn_by_the_seed_between_one_less_and_one_more_the_spread() -> None:
    one, again, other = (play(agents=30, skill_spread=0.4, seed=seed) for seed in (1, 1, 2))
    drawn = [[event.skills for event in played.events(SkillsDrawn)] for played in (one, again, other)]
    assert drawn[0] == drawn[1] != drawn[2]
    every = [skill for skills in drawn[0] for skill in skills.values()]
    assert 60 <= min(every) < 70
    assert 130 < max(every) <= 140


def test_a_spread_of_zero_makes_all_alike_and_says_nothing() -> None:
    played = play(agents=3, skill_spread=0)
    assert not played.events(SkillsDrawn)
    assert "skill" not in shown(request(played, 1))


def test_skill_multiplies_what_work_makes_and_is_shown_to_its_own_agent() -> None:
    played = play({1: ["work generate 2"]}, agents=2, skill_spread=0.5, hours_per_day=2)
    mine, others = (event.skills for event in played.events(SkillsDrawn))
    (worked,) = played.events(Worked)
    assert worked.made == (2 * 285 * mine["energy"] + 100) // 200
    assert f"energy {mine['energy'] / 100:g}," in shown(request(played, 1))
    assert all(
        entry.to == (f"agent{entry.event.agent}",) for entry in played.log if isinstance(entry.event, SkillsDrawn)
    )
    assert mine != others


# -- exchange


def test_an_accepted_offer_moves_both_sides_at_once() -> None:
    there = Town("9 0 0", "1 4 0", **MARKET).tick({1: offer(2, "3 food", "1.5 energy")})
    there.tick({2: accept(1)})
    assert (there.told(Accepted)[0].to, there.refused()) == (("p2", "p1"), [])
    assert there.state.yesterday
    assert there.state.yesterday.traded == {"food": 300, "energy": 150}
    assert there.state.held == {**there.state.held, "food": 800, "energy": 200}, "the evening took one each from both"


def test_what_one_of_both_does_not_hold_is_moved_from_neither() -> None:
    there = Town("3 9 0", "9 9 0", "9 9 0", **TRADES).tick({1: offer(0, "3 food", "1 energy")})
    there.tick({1: giving(3, "food", 1), 2: accept(1)})
    assert there.refused() == [(2, "agent #1 does not hold 3 food any more")]
    assert (there.held(1), there.held(2)) == ("2 9 0", "9 9 0")
    there = Town("3 9 0", "9 0.5 0", **MARKET).tick({1: offer(0, "3 food", "1 energy")}).tick({2: accept(1)})
    assert there.refused() == [(2, "you hold 0.5 energy, not 1")]


def test_an_offer_is_accepted_once_though_two_accept_it_in_one_turn() -> None:
    there = Town("9 9 0", "9 9 0", "9 9 0", **TRADES).tick({1: offer(0, "3 food", "1 energy")})
    there.tick({3: accept(1), 2: accept(1)})
    assert [event.agent for event in there.events(Accepted)] == [3]
    assert there.refused() == [(2, "there is no open offer 1 to you")]


@pytest.mark.parametrize(
    ("agent", "said", "why"),
    [
        (3, accept(1), "there is no open offer 1 to you"),
        (1, accept(1), "there is no open offer 1 to you"),
        (2, accept(7), "there is no open offer 7 to you"),
        (1, offer(1, "1 food", "1 energy"), "that is yourself"),
        (1, offer(9, "1 food", "1 energy"), "Invalid action data: recipient_agent_id"),
        (1, offer(2, "99 food", "1 energy"), "you hold 8 food, not 99"),
        (1, offer(2, "1 food", "1 energy", "mine"), "a part that is promised for later has days from 1"),
        (1, offer(2, "1 food", "1 energy", "none", 2), "a part that is promised for later has days from 1"),
        (1, offer(2, "1 food", "1 energy", "theirs", 10), "it would be due after the last day"),
    ],
    ids=str,
)
def test_an_offer_or_acceptance_that_cannot_be_is_rejected(agent: int, said: dict[str, Any], why: str) -> None:
    there = Town("8 9 0", "9 9 0", "9 9 0", **TRADES).tick({1: offer(2, "1 food", "1 energy")})
    there.tick({agent: said})
    assert [(number, reason.startswith(why)) for number, reason in there.refused()] == [(agent, True)]


def test_no_agent_accepts_its_own_offer() -> None:
    there = Town(**TRADES).tick({1: offer(0, "1 food", "1 energy")}).tick({1: accept(1)})
    assert there.refused() == [(1, "that is your own offer")]


def test_an_agent_has_five_open_offers_at_most() -> None:
    there = Town("9 9 0", "9 9 0", **{**MARKET, "actions_per_day": 7})
    for _ in range(6):
        there.tick({1: offer(0, "1 food", "1 energy")})
    assert there.refused() == [(1, "you have 5 open offers")]


def test_an_offer_ends_on_its_last_evening() -> None:
    there = Town("9 9 0", "9 9 0", **MARKET, offer_days=2).day({1: offer(0, "1 food", "1 energy")})
    assert there.asked[2].world.offers[0].closes == 2
    assert there.day().asked[2].world.offers == ()


def test_the_offers_of_a_dormant_agent_wait_and_those_of_the_dead_end() -> None:
    there = Town("1 0 0", "9 9 0", **MARKET, offer_days=9, permadeath=True, starvation_days=1)
    there.day({1: offer(0, "1 food", "1 energy")})
    assert there.status(1) == "dormant"
    there.day({2: accept(1)})
    assert there.refused() == [(2, "agent #1 is dormant")]
    assert there.events(AgentDied)
    assert there.asked[2].world.offers == ()
    assert there.tick({2: offer(1, "1 food", "1 energy")}).refused() == [(2, "agent #1 is dead")]


@pytest.mark.parametrize(("to", "heard"), [(2, {"p1", "p2"}), (0, Everyone)])
def test_what_comes_of_an_offer_to_one_agent_is_private_and_of_one_to_any_public(to: int, heard: Any) -> None:
    there = Town("9 9 0", "9 9 0", "9 9 0", **MARKET).tick({1: offer(to, "1 food", "1 energy", "theirs", 1)})
    entries = there.told(Offered)
    entries += there.tick({2: accept(1)}).told(Accepted)
    entries += there.day().told(PromiseEnded)
    assert len(entries) == 3
    for entry in entries:
        assert (entry.to if heard is Everyone else set(entry.to)) == heard


def promised(*agents: str, **config: Any) -> Town:
    """Agent 1 has given 2 food to agent 2 for 3 energy that are due on the evening of the next day."""
    there = Town(*(agents or ("9 9 0", "9 9 0", "9 9 0")), **{**MARKET, **config})
    return there.tick({1: offer(0, "2 food", "3 energy", "theirs", 1)}).tick({2: accept(1)})


def test_a_promise_is_kept_by_gifts_and_each_is_told_as_it_is_kept() -> None:
    there = promised()
    assert "promise" in shown(there.asked[2])
    there.tick({2: giving(1, "energy", 1), 3: giving(1, "energy", 5)})
    assert there.events(PromiseEnded) == []
    there.tick({2: giving(1, "energy", 2)})
    (event,) = there.events(PromiseEnded)
    assert (event.agent, event.recipient, event.result, event.given) == (2, 1, "kept", 300)


def test_a_promise_is_broken_on_the_evening_on_which_it_is_due_with_what_was_given() -> None:
    there = promised().day({2: giving(1, "energy", 1)})
    (event,) = there.events(PromiseEnded)
    assert (event.result, event.given, event.due) == ("broken", 100, 2)
    assert not there.day().events(PromiseEnded)
    assert "breaks promise 1" in shown(there.asked[3])


def test_of_two_promises_the_one_that_is_due_first_is_kept_first() -> None:
    there = Town("9 9 0", "9 9 0", **{**MARKET, "actions_per_day": 5}).tick(
        {1: offer(2, "1 food", "1 energy", "theirs", 3)}
    )
    there.tick({1: offer(2, "1 food", "1 energy", "theirs", 1)}).tick({2: accept(1)}).tick({2: accept(2)})
    there.tick({2: giving(1, "energy", 1)})
    assert [(event.promise, event.result) for event in there.events(PromiseEnded)] == [(2, "kept")]


def test_a_dormant_agent_breaks_its_promise_and_the_dead_are_free() -> None:
    there = promised("9 9 0", "0 1 0", "9 9 0")
    assert there.status(2) == "active"
    there = promised("9 9 0", "0 0.5 0")
    assert there.status(2) == "dormant"
    assert [event.result for event in there.day().events(PromiseEnded)] == ["broken"]
    there = Town("9 9 0", "0 0 0", **MARKET, permadeath=True, starvation_days=1)
    there.tick({1: offer(2, "1 food", "3 energy", "theirs", 5)}).tick({2: accept(1)})
    assert [event.result for event in there.day().events(PromiseEnded)] == ["void"]


def test_there_is_no_exchange_where_it_is_off() -> None:
    there = Town(actions_per_day=2).tick({1: offer(0, "1 food", "1 energy")})
    assert there.refused() == [(1, "Unknown action: offer")]
    assert '{"action": "offer"' not in shown(there.asked[2])


# -- talk


def test_without_talk_there_are_no_posts_and_no_messages() -> None:
    there = Town(talk=False, actions_per_day=2).tick({1: post("hello"), 2: message(1, "hello"), 3: "hello"})
    assert there.refused() == [
        (1, "Unknown action: forum_post"),
        (2, "Unknown action: direct_message"),
        (3, "Failed to parse action"),
    ]
    assert '{"action": "forum_post"' not in shown(there.asked[1])
    kinds = [each["properties"]["action"]["enum"] for each in there.asked[1].schema()["properties"]["action"]["anyOf"]]
    assert ["forum_post"] not in kinds


def test_without_talk_groups_have_no_messages() -> None:
    silent, talking = (Town(talk=talk, institutions=True).asked[1].legal["action.action"] for talk in (False, True))
    assert isinstance(silent, Choice)
    assert isinstance(talking, Choice)
    assert set(talking.values) - set(silent.values) >= {"forum_post", "forum_reply", "direct_message"}
    assert len(set(talking.values) - set(silent.values)) == 4, "and one of groups"


def test_a_silent_society_has_citizens_who_do_not_try_to_speak() -> None:
    played = play(bot="citizen", agents=10, talk=False, days=10, actions_per_day=3, institutions=True)
    assert [each for each in rejections(played) if "Unknown action" in each] == []


# -- shocks


def shock(what: str, percent: int = 50, **more: Any) -> dict[str, Any]:
    return {"shocks": [{"day": 2, "what": what, "percent": percent, "title": "Storm", **more}], "actions_per_day": 1}


def test_a_shock_takes_a_share_of_what_each_agent_holds_as_its_day_begins() -> None:
    there = Town("9 9 5", "2.01 9 0", "0 0 0 dead", **shock("held", resource="food"), permadeath=True)
    there.day()
    assert [there.held(agent) for agent in (1, 2)] == ["4 8 5", "0.5 8 0"], "of 1.01 a half, rounded up, is gone"
    assert "Storm: a loss" in shown(there.asked[1])
    (struck,) = there.told(ShockStruck)
    assert (struck.event.lost, struck.to) == ({"food": 451}, Everyone)
    assert [(entry.event.agent, entry.to) for entry in there.told(LostToShock)] == [(1, ("p1",)), (2, ("p2",))]


def test_a_shock_takes_a_share_of_the_pool_and_of_the_commons() -> None:
    there = Town(pool="10 10 10 10", **shock("pool", 30)).day()
    assert there.pool == "7 7 7 10"
    there = town("30", **shock("commons", 10)).day()
    assert there.state.pool["commons"] == 2_700


def test_a_shock_of_all_takes_all_and_no_more() -> None:
    there = Town("9 9 5", "9.01 9.99 0", **shock("held", 100)).day()
    assert there.held(2) == "0 0 0"


def test_lower_rates_hold_for_their_days_and_are_told_on_each() -> None:
    there = Town(**shock("rates", 40, resource="food", days=2), days=9)
    made: list[int] = []
    for day in range(1, 5):
        assert ("Today work makes 40% less food." in shown(there.asked[1])) is (day in {2, 3})
        there.day({1: work("farm", 1), 2: work("generate", 1)})
        farmed, generated = there.events(Worked)
        made.append(farmed.made)
        assert generated.made == 150
    assert made == [200, 120, 120, 200]


def test_of_two_shocks_on_one_resource_the_worse_holds() -> None:
    shocks = [{"day": 1, "what": "rates", "percent": percent, "resource": "food"} for percent in (30, 50)]
    assert Town(shocks=shocks).tick({1: work("farm", 1)}).events(Worked)[0].made == 100


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"shocks": [{"day": 31, "what": "held", "percent": 1}]}, "no day 31"),
        ({"shocks": [{"day": 0, "what": "held", "percent": 1}]}, "greater than or equal to 1"),
        ({"shocks": [{"day": 1, "what": "held", "percent": 0}]}, "greater than or equal to 1"),
        ({"shocks": [{"day": 1, "what": "held", "percent": 101}]}, "less than or equal to 100"),
        ({"shocks": [{"day": 1, "what": "commons", "percent": 1}]}, "no commons"),
        ({"shocks": [{"day": 1, "what": "held", "percent": 1, "days": 2}]}, "days are of rates"),
        ({"skill_spread": 1.01}, "at most 1"),
        ({"commons_start": 2}, "at most 1"),
        ({"preset": "utopia"}, "'classic', 'commons'"),
    ],
)
def test_what_cannot_be_at_stake_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        SocietyConfig.from_toml(given)


# -- worlds


@pytest.mark.parametrize("name", get_args(Preset))
def test_a_preset_is_a_set_of_defaults_that_a_config_overrides_and_a_record_keeps(name: Preset) -> None:
    config = SocietyConfig.from_toml({"preset": name})
    assert {key: getattr(config, key) for key in PRESETS[name] if isinstance(PRESETS[name][key], bool)} == {
        key: value for key, value in PRESETS[name].items() if isinstance(value, bool)
    }
    other = SocietyConfig.from_toml({"preset": name, "farm_rate": 3.21, "shocks": [], "exchange": False})
    assert (other.farm_rate, other.shocks, other.exchange) == (321, (), False)
    for each in (config, other):
        again = SocietyConfig.from_toml(each.model_dump(mode="json", by_alias=True))
        assert again == each


def test_a_journal_keeps_the_numbers_that_its_preset_had(monkeypatch: pytest.MonkeyPatch) -> None:
    record = SocietyConfig.from_toml({"preset": "commons"}).model_dump(mode="json", by_alias=True)
    monkeypatch.setitem(PRESETS["commons"], "farm_rate", 1)
    monkeypatch.setitem(PRESETS["commons"], "skill_spread", 0.5)
    config = SocietyConfig.from_toml(record)
    assert (config.farm_rate, config.skill_spread) == (800, 0)


def test_a_world_without_a_preset_is_classic_with_nothing_at_stake() -> None:
    config = SocietyConfig.from_toml({})
    assert config == SocietyConfig.from_toml({"preset": "classic"})
    assert (config.commons_capacity, config.skill_spread, config.shocks) == (0, 0, ())
    assert (config.exchange, config.talk) == (False, True)


def test_shocks_of_a_preset_after_the_last_day_are_left_out() -> None:
    assert [each.day for each in SocietyConfig.from_toml({"preset": "scarcity", "days": 10}).shocks] == [8]


@pytest.mark.parametrize("name", get_args(Preset))
@pytest.mark.parametrize("bot", ["random", "citizen", "selfish", "conditional", "fair", "farmer"])
def test_every_bot_plays_every_world(name: Preset, bot: str) -> None:
    played = play(agents=5, bot=bot, preset=name, days=4, actions_per_day=3)
    assert played.outcome.standings
