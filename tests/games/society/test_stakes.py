"""Commons, unequal skills and shocks, and the presets that have them."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from pydantic import ValidationError

from agentsim.engine import Everyone
from agentsim.games.society.config import PRESETS, Preset, SocietyConfig
from agentsim.games.society.evening import Regrown
from agentsim.games.society.founding import SkillsDrawn
from agentsim.games.society.requests import Act
from agentsim.games.society.shocks import LostToShock, ShockStruck
from agentsim.games.society.work import Worked
from tests.amounts import each_row
from tests.games.society.society import play, rejections, request
from tests.games.society.town import Town, message, post, work

SEA: dict[str, Any] = {"commons_capacity": 1_000, "commons_regrowth": 0.5, "farm_rate": 2, "actions_per_day": 1}
"""The commons of three agents: at most 30 food."""


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
    """The rate of the work would empty the commons many times over."""
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
    assert "On day 1 work drew 1 food from the commons, which then grew by 3.73 to 17.73." in words
    assert "nothing if they are empty" in words
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


def test_a_silent_society_has_citizens_who_do_not_try_to_speak() -> None:
    played = play(bot="citizen", agents=10, talk=False, days=10, actions_per_day=3)
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


@each_row(
    "given, says",
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
    other = SocietyConfig.from_toml({"preset": name, "farm_rate": 3.21, "shocks": []})
    assert (other.farm_rate, other.shocks) == (321, ())
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
    assert config.talk


def test_shocks_of_a_preset_after_the_last_day_are_left_out() -> None:
    assert [each.day for each in SocietyConfig.from_toml({"preset": "scarcity", "days": 10}).shocks] == [8]


@pytest.mark.parametrize("name", get_args(Preset))
@pytest.mark.parametrize("bot", ["random", "citizen", "selfish", "conditional", "fair", "farmer"])
def test_every_bot_plays_every_world(name: Preset, bot: str) -> None:
    played = play(agents=5, bot=bot, preset=name, days=4, actions_per_day=3)
    assert played.outcome.standings
