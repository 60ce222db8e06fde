"""The rules of the auction, one by one, as the seed and the specification state them."""

from __future__ import annotations

import json
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

from agentsim.cli.app import app
from agentsim.engine.event import Everyone
from agentsim.errors import ScenarioError
from agentsim.games.auction import GAME
from agentsim.games.auction.bidding import BidCast, BidMade, Reasoned
from agentsim.games.auction.config import AuctionConfig
from agentsim.games.auction.items import THEMES, draw
from agentsim.games.auction.lots import AuctionBegan, AuctionEnded, ItemLost, ItemOffered, Paid
from tests.amounts import each_row
from tests.games.auction.auction import (
    FORMATS,
    SEALED,
    budgets,
    game_state,
    listed,
    passes,
    play,
    ranks,
    requests,
    rows,
    sales,
    told,
    verdicts,
    waves_of,
)

REQUIRED = THEMES["blaster"].required

# the order of processing


@pytest.mark.parametrize(("order", "winner"), [("AB", "A"), ("BA", "B")])
def test_of_equal_bids_the_first_in_the_shuffled_order_counts(order: str, winner: str) -> None:
    played = play("Compass 60", {"A": [50], "B": [50]}, [order])
    first, second = tuple(order)
    assert verdicts(played, iteration=1) == [(first, 50, "", 0), (second, 50, "LowerThanHighBid", 50)]
    assert sales(played) == [("Compass", winner, 50)]


def test_the_order_is_shuffled_afresh_in_every_iteration() -> None:
    played = play("Compass 60", {"A": [10, 20, 30], "B": [10, 20, 30]}, ["AB", "BA", "AB"])
    assert [bid.team for bid in played.events(BidMade) if bid.valid] == ["A", "B", "A"]


def test_every_order_is_equally_likely() -> None:
    """Who comes first, second and third in 1000 iterations of 20 items: 5 degrees of freedom, p = 0.001."""
    rising = lambda request, rng: BidCast(bid=request.state.iteration)  # noqa: E731 # one line, used once
    items = ", ".join(["Compass 60"] * 20)
    played = play(items, {"A": [], "B": [], "C": []}, bot=rising, budget=2_000, max_iterations=50)
    bids = [bid.team for bid in played.events(BidMade)]
    orders = Counter("".join(bids[start : start + 3]) for start in range(0, len(bids), 3))
    assert set(orders) == {"".join(order) for order in permutations("ABC")}
    assert orders.total() == 1_000
    assert sum((count - 1_000 / 6) ** 2 / (1_000 / 6) for count in orders.values()) < 20.52


# which bids are valid


@each_row(
    "bid, reason",
    [
        (60, "LowerThanHighBid"),
        (59, "LowerThanHighBid"),
        (61, ""),
        (100, ""),
        (101, "OverBudget"),
        (10**17, "OverBudget"),
        (0, "Pass"),
        (None, "Unreadable"),
    ],
)
def test_a_bid_must_be_higher_than_the_high_bid_and_within_the_budget(bid: int | None, reason: str) -> None:
    played = play("Compass 60", {"A": [60], "B": [bid]}, ["AB"], budget=100)
    assert verdicts(played, iteration=1)[1] == ("B", bid or 0, reason, 60)
    assert sales(played)[0][1:] == (("B", bid) if not reason else ("A", 60))


@pytest.mark.parametrize(("bid", "reason"), [(1, ""), (0, "Pass"), (101, "OverBudget")], ids=["one", "zero", "over"])
def test_the_first_bid_must_be_above_zero_and_within_the_budget(bid: int, reason: str) -> None:
    played = play("Compass 60", {"A": [bid], "B": []}, ["AB"], budget=100)
    assert verdicts(played, iteration=1)[0] == ("A", bid, reason, 0)


def test_where_several_reasons_apply_the_budget_comes_first() -> None:
    """B has 10 left and bids 20, which is neither payable nor above 30."""
    played = play("Compass 60, Kettle -5", {"A": [0, 0, 30], "B": [90, 0, 20]}, ["AB", "AB", "AB"], budget=100)
    assert verdicts(played, 2, 1) == [("A", 30, "", 0), ("B", 20, "OverBudget", 30)]


def test_who_has_nothing_left_passes_when_it_passes() -> None:
    played = play("Compass 60, Kettle -5", {"A": [100, 0, 0], "B": []}, ["AB", "AB", "AB"], budget=100)
    assert verdicts(played, 2) == [("A", 0, "Pass", 0), ("B", 0, "Pass", 0)]


# a valid bid


def test_a_valid_bid_is_the_high_bid_at_once_within_the_iteration() -> None:
    played = play("Compass 60", {"A": [30], "B": [20], "C": [40]}, ["ABC"])
    assert verdicts(played, iteration=1) == [("A", 30, "", 0), ("B", 20, "LowerThanHighBid", 30), ("C", 40, "", 30)]


def test_valid_bids_are_appended_to_the_history_in_the_order_of_processing_and_others_are_not() -> None:
    played = play("Compass 60", {"A": [30], "B": [10], "C": [20], "D": [5_000]}, ["BCAD"])
    state = game_state(requests(played, "A")[1])["CurrentRound"]
    assert state["BidsHistoryForCurrentItem"] == {
        "1": {"Bid": 10, "TeamName": "B"},
        "2": {"Bid": 20, "TeamName": "C"},
        "3": {"Bid": 30, "TeamName": "A"},
    }
    assert state["CurrentHighestBid"] == {"Bid": 30, "TeamName": "A"}


def test_all_teams_of_an_iteration_bid_on_the_same_state_which_is_before_any_of_their_bids() -> None:
    played = play("Compass 60", {"A": [30], "B": [40], "C": [50]}, ["ABC"])
    assert waves_of(played) == ["ABC", "ABC"]
    states = [game_state(request)["CurrentRound"] for request in requests(played)[:3]]
    assert states == [states[0]] * 3
    assert states[0]["CurrentHighestBid"] == {"Bid": 0, "TeamName": None}
    assert states[0]["BidsHistoryForCurrentItem"] == {}


def test_a_new_item_begins_with_no_high_bid_and_no_history() -> None:
    played = play("Compass 60, Gyroscope 40", {"A": [30], "B": []})
    begins = [game_state(request)["CurrentRound"] for request in requests(played, "B")]
    assert [(state["RoundNumber"], state["RoundIteration"]) for state in begins] == [(1, 1), (1, 2), (2, 1)]
    assert begins[2]["CurrentHighestBid"] == {"Bid": 0, "TeamName": None}
    assert begins[2]["BidsHistoryForCurrentItem"] == {}


def test_a_valid_bid_is_public_and_one_that_does_not_count_is_its_teams_own_affair() -> None:
    played = play("Compass 60", {"A": [30], "B": [20], "C": [5_000], "D": [None]}, ["ABCD"])
    heard = [(entry.event.data()["team"], entry.to, entry.by) for entry in told(played, BidMade)[:4]]
    assert heard == [("A", Everyone, "A"), ("B", ("B",), "B"), ("C", ("C",), "C"), ("D", ("D",), "D")]


def test_reasoning_is_heard_by_its_team_alone_and_cut_where_it_is_too_long() -> None:
    said = {"A": "x" * 30, "B": "y" * 20, "C": ""}
    talks = lambda request, rng: BidCast(bid=0, reasoning=said[request.player])  # noqa: E731 # used once
    played = play("Compass 60", {"A": [], "B": [], "C": []}, ["ABC"], bot=talks, reasoning_chars=20)
    heard = [(entry.event.content, entry.to) for entry in told(played, Reasoned)]
    assert heard == [("x" * 14 + " [cut]", ("A",)), ("y" * 20, ("B",))]


# when a round ends


@each_row(
    "bids, iterations",
    [
        ({"A": [], "B": []}, 1),
        ({"A": [30], "B": []}, 2),
        ({"A": [30, 0, 50], "B": [0, 40]}, 4),
        ({"A": [30, 0], "B": [0, 30]}, 2),
        ({"A": [30, 0], "B": [0, 5_000]}, 2),
        ({"A": [30, 0], "B": [0, None]}, 2),
    ],
)
def test_a_round_ends_with_the_iteration_in_which_nobody_raises(bids: Any, iterations: int) -> None:
    assert len(play("Compass 60", bids).waves) == iterations


@pytest.mark.parametrize(("limit", "price"), [(1, 1), (3, 3), (10, 10), (None, 10)], ids=str)
def test_a_round_ends_at_the_iteration_limit(limit: int | None, price: int) -> None:
    bids = {"A": [1, 0, 3, 0, 5, 0, 7, 0, 9, 0][:price], "B": [0, 2, 0, 4, 0, 6, 0, 8, 0, 10][:price]}
    played = play("Compass 60", bids, max_iterations=limit)
    assert len(played.waves) == price
    assert sales(played) == [("Compass", "AB"[(price + 1) % 2], price)]


def test_the_winner_pays_its_bid_and_takes_the_item() -> None:
    played = play("Compass 60, Kettle -5", {"A": [30, 0, 0], "B": [0, 40, 0, 7]}, budget=100)
    assert sales(played) == [("Compass", "B", 40), ("Kettle", "B", 7)]
    assert budgets(played) == {"B": 53, "A": 100}
    assert [(paid.team, paid.amount, paid.budget) for paid in played.events(Paid)] == [("B", 40, 60), ("B", 7, 53)]
    assert [entry.to for entry in told(played, Paid)] == [Everyone, Everyone]
    assert rows(played, "results")[0]["CollectedItems"] == '["Compass", "Kettle"]'


def test_an_item_without_a_valid_bid_is_lost() -> None:
    played = play("Compass 60, Kettle -5", {"A": [5_000], "B": [None]})
    assert [lost.item.name for lost in played.events(ItemLost)] == ["Compass", "Kettle"]
    assert played.events(Paid) == []
    assert [row["CollectedItems"] for row in rows(played, "results")] == ["[]", "[]"]
    assert budgets(played) == {"A": 1_000, "B": 1_000}


# the leader


def test_the_leader_is_asked_too_and_may_outbid_itself() -> None:
    played = play("Compass 60", {"A": [30, 45], "B": []}, ["AB"])
    assert waves_of(played) == ["AB", "AB", "AB"]
    assert sales(played) == [("Compass", "A", 45)]


def test_the_leader_is_left_in_peace_where_the_config_says_so() -> None:
    played = play("Compass 60", {"A": [30, 50], "B": [0, 40], "C": []}, ["ABC"], ask_leader=False)
    assert waves_of(played) == ["ABC", "BC", "AC", "BC"]
    assert sales(played) == [("Compass", "A", 50)]


# the items


def test_the_items_are_sold_in_the_listed_order_each_once() -> None:
    played = play("Compass 60, Kettle -5, Compass 30")
    assert [(offered.round, offered.item.name, offered.item.quality) for offered in played.events(ItemOffered)] == [
        (1, "Compass", 60),
        (2, "Kettle", 5),
        (3, "Compass", 30),
    ]


def test_the_order_can_be_shuffled_and_the_static_list_does_not_tell() -> None:
    items = "Compass 60, Kettle -5, Gyroscope 40"
    config = AuctionConfig.from_toml({"items": {"scenario": "x", "items": listed(items)}})
    assert not isinstance(config.items, str)
    compass, kettle, gyroscope = config.items.items
    script = {"items": [[gyroscope, compass, kettle]]}
    played = play(items, chance=script, item_order="shuffled")
    assert [offered.item.name for offered in played.events(ItemOffered)] == ["Gyroscope", "Compass", "Kettle"]
    assert [item.name for item in requests(played)[0].terms.items] == ["Compass", "Kettle", "Gyroscope"]
    assert "in an order drawn at random" in requests(played)[0].prompt().rules[0]


def test_every_shuffle_of_the_items_comes_up() -> None:
    orders = set()
    for seed in range(60):
        played = play("Compass 60, Kettle -5, Gyroscope 40", seed=seed, item_order="shuffled")
        orders.add("".join(offered.item.name[0] for offered in played.events(ItemOffered)))
    assert orders == {"".join(order) for order in permutations("CKG")}


@pytest.mark.parametrize("seed", [0, 7, 123])
def test_random_items_are_those_of_the_seed(seed: int) -> None:
    played = play("random", seed=seed)
    drawn = draw("random", seed)
    assert tuple(offered.item for offered in played.events(ItemOffered)) == drawn
    assert sorted(item.name for item in drawn if item.required) == sorted(REQUIRED)
    assert len(drawn) == 15
    (began,) = played.events(AuctionBegan)
    assert began.scenario == f"random-{seed}"
    assert {row["ScenarioID"] for name in ("detailed_logs", "results") for row in rows(played, name)} == {
        f"random-{seed}"
    }


# the ranking


def _end(*sold: str, items: str, **config: Any) -> dict[str, Any]:
    """The scores and ranks where these teams win the items at these prices: `_end("A 10", "B 20", items=...)`."""
    bids: dict[str, list[int]] = {team: [] for team in "ABC"}
    for sale in sold:
        winner, price = sale.split()
        for team in bids:
            bids[team] += [int(price) if team == winner else 0, 0]
    played = play(items, bids, **config)
    assert [f"{team} {price}" for _, team, price in sales(played)] == list(sold)
    return {place.player: (place.rank, *place.score.values()) for place in played.outcome.standings}


@each_row(
    "items, sold, expected",
    [
        (
            "Compass 10, Gyroscope 10, Matrix 99",
            ["A 400", "A 400", "B 10"],
            {"A": (1, 2, 20, 200), "B": (2, 1, 99, 990), "C": (3, 0, 0, 1_000)},
        ),
        (
            "Compass 50, Gyroscope 51",
            ["A 10", "B 900"],
            {"B": (1, 1, 51, 100), "A": (2, 1, 50, 990), "C": (3, 0, 0, 1_000)},
        ),
        (
            "Compass 50, Gyroscope 50",
            ["A 11", "B 10"],
            {"B": (1, 1, 50, 990), "A": (2, 1, 50, 989), "C": (3, 0, 0, 1_000)},
        ),
        (
            "Compass 50, Gyroscope 50",
            ["A 10", "B 10"],
            {"A": (1, 1, 50, 990), "B": (1, 1, 50, 990), "C": (3, 0, 0, 1_000)},
        ),
        (
            "Compass 30, Compass 80, Compass 50, Gyroscope 81",
            ["A 10", "A 10", "A 10", "B 30"],
            {"B": (1, 1, 81, 970), "A": (2, 1, 80, 970), "C": (3, 0, 0, 1_000)},
        ),
        (
            "Compass 1, Kettle -100, Teapot -100",
            ["A 10", "B 10", "B 10"],
            {"A": (1, 1, 1, 990), "C": (2, 0, 0, 1_000), "B": (3, 0, 0, 980)},
        ),
    ],
)
def test_ranked_by_distinct_required_items_then_quality_then_budget(
    items: str, sold: list[str], expected: dict[str, Any]
) -> None:
    assert _end(*sold, items=items) == expected


def test_nobody_has_won_where_the_first_place_is_shared() -> None:
    played = play()
    assert ranks(played) == {"A": 1, "B": 1}
    assert played.outcome.winner is None
    (ended,) = played.events(AuctionEnded)
    assert ended.heading == "A, B share the first place"


def test_the_game_ends_when_every_item_was_offered() -> None:
    played = play("Compass 60, Kettle -5", {"A": [10], "B": []})
    assert played.outcome.reason == "all items were offered"
    assert played.outcome.winner == "A"
    assert isinstance(played.log[-1].event, AuctionEnded)


# sealed formats


@each_row(
    "format_, bids, order, sale, left",
    [
        ("sealed_first_price", [30, 50, 40], "ABC", ("B", 50), [100, 50, 100]),
        ("sealed_first_price", [50, 50, 40], "BAC", ("B", 50), [100, 50, 100]),
        ("sealed_first_price", [50, 50, 40], "CAB", ("A", 50), [50, 100, 100]),
        ("sealed_second_price", [30, 50, 40], "BCA", ("B", 40), [100, 60, 100]),
        ("sealed_second_price", [30, 50, 40], "ACB", ("B", 40), [100, 60, 100]),
        ("sealed_second_price", [0, 50, 0], "ABC", ("B", 0), [100, 100, 100]),
        ("sealed_second_price", [50, 50, 1], "CAB", ("A", 50), [50, 100, 100]),
        ("sealed_second_price", [101, 50, 20], "ABC", ("B", 20), [100, 80, 100]),
        ("all_pay", [30, 50, 40], "ABC", ("B", 50), [70, 50, 60]),
        ("all_pay", [50, 50, 0], "BAC", ("B", 50), [50, 50, 100]),
        ("all_pay", [30, 101, None], "ABC", ("A", 30), [70, 100, 100]),
    ],
)
def test_each_format_has_its_price(
    format_: str, bids: list[int | None], order: str, sale: tuple[str, int], left: list[int]
) -> None:
    played = play(
        "Compass 60", {team: [bid] for team, bid in zip("ABC", bids, strict=True)}, [order], format=format_, budget=100
    )
    assert sales(played) == [("Compass", *sale)]
    assert budgets(played) == dict(zip("ABC", left, strict=True))


@pytest.mark.parametrize("format_", SEALED)
def test_a_sealed_bid_is_one_an_item_and_need_not_top_what_nobody_sees(format_: str) -> None:
    played = play("Compass 60, Kettle -5", {"A": [50, 5], "B": [20, 6], "C": [50, 0]}, ["ABC", "ABC"], format=format_)
    assert waves_of(played) == ["ABC", "ABC"]
    assert [reason for _, _, reason, _ in verdicts(played)] == ["", "", ""]
    assert [bid.iteration for bid in played.events(BidMade)] == [1] * 6


@pytest.mark.parametrize("format_", SEALED)
def test_a_sealed_bid_is_heard_by_its_team_alone_and_tells_nothing_of_others(format_: str) -> None:
    """A, processed last, may not learn from its own event what B and C bid before."""
    played = play("Compass 60", {"A": [20], "B": [777], "C": [555]}, ["BCA"], format=format_)
    heard = {entry.event.data()["team"]: entry for entry in told(played, BidMade)}
    assert {team: entry.to for team, entry in heard.items()} == {team: (team,) for team in "ABC"}
    words = str((heard["A"].event.data(), heard["A"].event.heading, heard["A"].event.content))
    assert "777" not in words
    assert "555" not in words


@pytest.mark.parametrize("format_", SEALED)
def test_game_state_of_a_sealed_item_holds_nobodys_bid(format_: str) -> None:
    played = play("Compass 60, Kettle -5", {"A": [50], "B": [20]}, format=format_)
    for request in requests(played):
        state = game_state(request)["CurrentRound"]
        assert (state["CurrentHighestBid"], state["BidsHistoryForCurrentItem"]) == ({"Bid": 0, "TeamName": None}, {})


@pytest.mark.parametrize("format_", FORMATS)
def test_the_rules_in_the_prompt_are_those_of_the_format(format_: str) -> None:
    rules = requests(play(format=format_))[0].prompt().rules[0]
    assert ("one sealed bid" in rules) == (format_ != "ascending")
    assert ("after iteration 10" in rules) == (format_ == "ascending")
    assert ("second highest bid" in rules) == (format_ == "sealed_second_price")
    assert ("the losers too" in rules) == (format_ == "all_pay")


# the config


@pytest.mark.parametrize("teams", ["AB", "ABCDE"])
def test_a_budget_may_grow_with_the_number_of_teams(teams: str) -> None:
    played = play(bids={team: [] for team in teams}, budget={"base": 500, "per_team": 100})
    assert budgets(played) == dict.fromkeys(teams, 500 + 100 * len(teams))
    assert f"begins with a budget of {500 + 100 * len(teams)}." in requests(played)[0].prompt().rules[0]


def test_validate_warns_of_a_list_without_the_ten_required_names(tmp_path: Path) -> None:
    lines = ['game = "auction"', '[defaults]\nmodel = "bot/random"', '[[players]]\nid = "A"\ncount = 2']
    for items, warned in ((REQUIRED[:9], True), (REQUIRED, False)):
        (tmp_path / "few.json").write_text(json.dumps(listed(", ".join(f"{name} 60" for name in items))))
        path = tmp_path / "auction.toml"
        path.write_text("\n".join([*lines, '[game_config]\nitems = "few.json"']))
        said = CliRunner().invoke(app, ["validate", "--config", str(path)])
        assert said.exit_code == 0
        words = "game_config.items has 9 different required names, and the set has 10"
        assert (words in said.stderr) == warned


@each_row(
    "config, words",
    [
        *(({"format": format_, "max_iterations": 3}, "max_iterations is for ascending") for format_ in SEALED),
        *(({"format": format_, "ask_leader": False}, "ask_leader is for ascending") for format_ in SEALED),
        ({"format": "dutch"}, "Input should be 'ascending'"),
        ({"budget": 0}, "greater than or equal to 1"),
        ({"max_iterations": 0}, "greater than or equal to 1"),
        ({"item_order": "random"}, "'listed' or 'shuffled'"),
        ({"items": "standard"}, "random"),
        ({"items": {"scenario": "x", "items": []}}, "a list of 1 to 500 items"),
        ({"budget": "1000"}, "valid integer"),
    ],
)
def test_a_config_that_makes_no_sense_is_refused(config: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        AuctionConfig.from_toml({"items": "random", **config})


@pytest.mark.parametrize("count", [0, 1])
def test_one_team_alone_cannot_bid(count: int) -> None:
    with pytest.raises(ScenarioError, match=f"for 2 or more players, found {count}") as caught:
        GAME.admit(AuctionConfig.from_toml({"items": "random"}), list("AB")[:count])
    assert caught.value.key == "players"
    GAME.admit(AuctionConfig.from_toml({"items": "random"}), list("AB"))


def test_a_team_that_passes_throughout_still_plays() -> None:
    assert ranks(play("Compass 60", {"A": [10], "B": []}, bot=passes)) == {"A": 1, "B": 2}
