"""What makes two scenarios two conditions, and what does not."""

from __future__ import annotations

from typing import Any

from agentsim.records.folders import levels, named


def scenario(*players: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"game": "any", "players": [{"id": f"p{at}", **each} for at, each in enumerate(players)], **more}


def test_seed_name_prices_and_who_sits_where_are_no_condition() -> None:
    hot, cold = {"model": "a/x", "temperature": 1.2}, {"model": "b/y", "temperature": 0.7}
    swapped = {"model": "b/y", "temperature": 1.2}, {"model": "a/x", "temperature": 0.7}
    games = [
        scenario(hot, cold, seed=1, name="one", prices={"a/x": 1}),
        scenario(cold, hot, seed=2, name="two", prices={}),
        scenario(*swapped, seed=2),
    ]
    assert levels(games) == [{}, {}, {}]


def test_what_varies_is_named_by_key_and_level() -> None:
    games = [
        scenario({"temperature": 0.7}, {"temperature": 0.7}, game_config={"deep": {"on": True}, "same": 1}),
        scenario({"temperature": 0.7}, {"temperature": 1.2}, game_config={"deep": {"on": False}, "same": 1}),
        scenario({"temperature": 1.2}, {"temperature": 0.7}, game_config={"deep": {"on": False}, "same": 1}),
    ]
    found = levels(games)
    assert [named(each) for each in found] == [
        "game_config.deep.on=true, players.temperature=0.7",
        "game_config.deep.on=false, players.temperature=1 x 0.7, 1 x 1.2",
        "game_config.deep.on=false, players.temperature=1 x 0.7, 1 x 1.2",
    ]


def test_models_and_sizes_and_pairings_of_settings() -> None:
    one, other = scenario({"model": "a"}, {"model": "b"}), scenario({"model": "a"}, {"model": "a"})
    assert levels([one, other]) == [{}, {}]
    assert levels([one, other], models=True)[1] == {"players.model": "a"}
    assert levels([one, scenario({"model": "a"})]) == [{"players.count": 2}, {"players.count": 1}]
    crossed = scenario({"t": 1, "prompt": "x"}, {"t": 2, "prompt": "y"})
    straight = scenario({"t": 1, "prompt": "y"}, {"t": 2, "prompt": "x"})
    assert levels([crossed, straight, crossed]) == [{"players.together": number} for number in (1, 2, 1)]


def test_long_levels_that_begin_alike_are_numbered() -> None:
    found = levels([{"rules": "x" * 80 + end} for end in "ab"])
    assert [named(each, found)[-2:] for each in found] == ["#1", "#2"]
