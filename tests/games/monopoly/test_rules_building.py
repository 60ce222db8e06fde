"""Rules 97 to 121: building, selling, mortgages. Numbers are those of the reference list."""

from __future__ import annotations

import pytest

from agentsim.errors import IllegalDecision
from agentsim.games.monopoly.board import GROUPS, SPACES
from agentsim.games.monopoly.building import (
    Built,
    Bundle,
    HouseOrHotel,
    ManageEstate,
    Mortgaged,
    Sold,
    Unmortgaged,
    carry_out,
)
from tests.amounts import each_row
from tests.games.monopoly.answers import manage
from tests.games.monopoly.table import Game, refusal

TWENTY_FOUR = "31:4 32:4 34:4 26:4 27:4 29:4"
THIRTY = f"{TWENTY_FOUR} 21:2 23:2 24:2"
"""Houses that D has, out of 32."""
TWELVE_HOTELS = "31:H 32:H 34:H 26:H 27:H 29:H 21:H 23:H 24:H 11:H 13:H 14:H"


def refused(hand: str, reason: str, *, d: str = "", **changes: list[int]) -> None:
    """A may not do this with such an estate, and nothing of it happens."""
    game = Game(A=hand, D=d)
    before = (game.deeds(), game.stock)
    with pytest.raises(IllegalDecision, match=reason):
        game.does(**changes)
    assert (game.deeds(), game.stock, game.gains) == (*before, {})


def test_097_needs_the_whole_group() -> None:
    refused("16 18", "whole orange group", build=[16])


@pytest.mark.parametrize("position", [5, 12])
def test_railroads_and_utilities_are_not_built_on(position: int) -> None:
    refused("5 15 25 35 12 28", "no lot to build on", build=[position])


def test_098_even_building() -> None:
    game = Game(A="16 18 19").does(build=[16])
    assert (game.deeds(), game.gains) == (["16:1", "18", "19"], {"A": -100})
    with pytest.raises(IllegalDecision, match="even"):
        game.does(build=[16])
    assert game.does(build=[18]).does(build=[19]).does(build=[16]).deeds() == ["16:2", "18:1", "19:1"]


def test_even_building_within_one_bundle_in_any_order() -> None:
    refused("16 18 19", "even", build=[16, 16])
    assert Game(A="16 18 19").does(build=[16, 16, 19, 18]).deeds() == ["16:2", "18:1", "19:1"]


@pytest.mark.parametrize(("group", "cost"), [("brown", 50), ("pink", 100), ("yellow", 150), ("dark_blue", 200)])
def test_what_a_house_costs(group: str, cost: int) -> None:
    lots = GROUPS[group]
    assert Game(A=" ".join(map(str, lots))).does(build=lots[:1]).gains == {"A": -cost}


def test_100_hotel() -> None:
    game = Game(A="16:4 18:4 19:4")
    assert game.stock == (20, 12)
    game.does(build=[-19])
    assert (game.deeds(), game.stock, game.gains) == (["16:4", "18:4", "19:H"], (24, 11), {"A": -100})
    (built,) = game.events(Built)
    assert (built.before, built.after, built.houses, built.hotels) == (4, 5, 24, 11)


def test_101_hotel_needs_four_on_every_lot_or_a_hotel() -> None:
    refused("16:4 18:4 19:3", "even", build=[-16])
    assert Game(A="16:4 18:4 19:H").does(build=[-16, -18]).deeds() == ["16:H", "18:H", "19:H"]


def test_103_house_shortage() -> None:
    game = Game(A="16 18 19", D=THIRTY)
    assert game.stock == (2, 12)
    game.does(build=[16, 18])
    with pytest.raises(IllegalDecision, match="no house left"):
        game.does(build=[19])
    assert (game.stock, game.gains) == ((0, 12), {"A": -200})


def test_104_four_houses_are_needed_even_for_a_hotel_in_a_shortage() -> None:
    most = f"{TWENTY_FOUR.replace('29:4', '29:3')}"
    for build in ([16], [-16]):
        refused("16:3 18:3 19:3", "no house left", d=most, build=build)


def test_a_hotel_may_follow_its_own_houses_in_one_bundle() -> None:
    game = Game(A="1 3").does(build=[1, 1, 1, 1, -1, 3, 3, 3, 3])
    assert (game.deeds(), game.gains, game.stock) == (["1:H", "3:4"], {"A": -450}, (28, 11))


def test_106_hotel_shortage() -> None:
    refused("16:4 18:4 19:4", "no hotel left", d=TWELVE_HOTELS, build=[-19])


def test_107_no_fifth_house_no_second_hotel() -> None:
    assert Game(A="16:4 18:4 19:4").does(build=[16]).deeds() == ["16:H", "18:4", "19:4"]
    refused("16:H 18:H 19:H", "has its hotel", build=[-16])


@pytest.mark.parametrize("named", ["house", "hotel", None])
def test_a_building_defaults_to_what_can_stand_there_in_buying_as_in_selling(named: str | None) -> None:
    entry = HouseOrHotel.model_validate({"position": 16, **({"type": named} if named else {})})
    for hand, bundle, after in (
        ("16:4 18:4 19:4", Bundle(builds=(entry,)), "16:H"),
        ("16:H 18:4 19:4", Bundle(sells=(entry,)), "16:4"),
    ):
        game = Game(A=hand)
        carry_out(game.match, 0, bundle)
        assert game.deeds()[0] == after


def test_five_houses_on_a_lot_are_four_and_the_hotel() -> None:
    game = Game(A="1 3").does(build=[1] * 5 + [3] * 5)
    assert (game.deeds(), game.stock) == (["1:H", "3:H"], (32, 10))


def test_a_hotel_on_bare_ground_is_refused() -> None:
    refused("1 3", "four houses", build=[-1])


def test_109_location_and_jail_do_not_matter() -> None:
    game = Game(A="jail 16 18 19").turn((1, 2), A=[manage(build=[16, 18])])
    assert (game["A"].jailed, game.deeds()) == (True, ["16:1", "18:1", "19"])


def test_110_the_first_who_asks_gets_the_last_house() -> None:
    game = Game(A="16 18 19", B="6 8 9", D=THIRTY.replace("21:2", "21:3"))
    assert game.stock[0] == 1
    game.does(build=[16])
    with pytest.raises(IllegalDecision, match="no house left"):
        game.does("B", build=[6])


def test_building_needs_the_cash() -> None:
    refused("$99 16 18 19", r"\$1 short", build=[16])
    assert Game(A="$100 16 18 19").does(build=[16]).cash["A"] == 0


def test_a_bundle_is_all_or_nothing() -> None:
    refused("$150 16 18 19", "short", build=[16, 18])


def test_anothers_lots_are_not_built_on() -> None:
    refused("", "whole orange group", d="16 18 19", build=[16])


# -- selling


def test_112_even_selling() -> None:
    refused("16:1 18:1 19:2", "even", sell=[16])
    game = Game(A="16:1 18:1 19:2").does(sell=[19]).does(sell=[16])
    assert (game.deeds(), game.gains) == (["16", "18:1", "19:1"], {"A": 100})


def test_selling_pays_half_and_gives_the_house_back() -> None:
    game = Game(A="37:1 39:1").does(sell=[39])
    assert (game.gains, game.stock) == ({"A": 100}, (31, 12))
    assert game.does(build=[39]).gains == {"A": -100}


def test_113_hotel_down_one_step() -> None:
    game = Game(A="16:4 18:4 19:H")
    assert game.stock == (24, 11)
    game.does(sell=[-19])
    assert (game.deeds(), game.stock, game.gains) == (["16:4", "18:4", "19:4"], (20, 12), {"A": 50})


def test_a_hotel_does_not_break_down_without_four_houses_in_the_bank() -> None:
    refused("16:H 18:H 19:H", "four houses", d=THIRTY, sell=[-19])


def test_115_selling_the_group_to_the_ground() -> None:
    game = Game(A="$0 16:H 18:H 19:H", D=THIRTY)
    assert game.stock == (2, 9)
    game.does(sell=[-16, -18, -19, *[16, 18, 19] * 4])
    assert (game.cash["A"], game.deeds(), game.stock) == (750, ["16", "18", "19"], (2, 12))
    assert sum(sold.amount for sold in game.events(Sold)) == 750


@pytest.mark.parametrize("houses", [1, 2, 3, 4])
def test_houses_sold_to_the_ground(houses: int) -> None:
    game = Game(A=f"$0 16:{houses} 18:{houses} 19:{houses}").does(sell=[16, 18, 19] * houses)
    assert (game.cash["A"], game.stock) == (150 * houses, (32, 12))


def test_nothing_to_sell() -> None:
    refused("16 18 19", "no building", sell=[16])
    refused("", "not yours", d="16:1 18:1 19:1", sell=[16])


# -- mortgages


@each_row("position, lent", [(39, 200), (37, 175), (1, 30), (5, 100), (12, 75), (34, 160)])
def test_116_mortgage(position: int, lent: int) -> None:
    game = Game(A=str(position)).does(mortgage=[position])
    assert (game.gains, game.deeds()) == ({"A": lent}, [f"{position}m"])
    assert [(event.position, event.amount) for event in game.events(Mortgaged)] == [(position, lent)]


@each_row("position, cost", [(39, 220), (3, 33), (5, 110), (37, 193), (12, 83), (11, 77)])
def test_118_lifting(position: int, cost: int) -> None:
    game = Game(A=f"{position}m").does(unmortgage=[position])
    assert (game.gains, game.deeds()) == ({"A": -cost}, [str(position)])
    assert [(event.position, event.amount) for event in game.events(Unmortgaged)] == [(position, cost)]


def test_interest_is_a_tenth_rounded_up() -> None:
    assert {position: SPACES[position].interest for position in (1, 6, 9, 12, 37)} == {1: 3, 6: 5, 9: 6, 12: 8, 37: 18}


def test_119_a_mortgaged_lot() -> None:
    refused("39m", "mortgaged already", mortgage=[39])
    refused("", "not yours", d="39m", unmortgage=[39])
    refused("39", "not mortgaged", unmortgage=[39])
    game = Game(B="39m").land(39)
    assert (game.gains, game.owner(39)) == ({}, "B")


def test_a_deed_that_is_listed_twice_is_mortgaged_or_lifted_once() -> None:
    """A list is a set of deeds: small models name one again, and mean no more by it."""
    mortgaged = Game(A="39 5").does(mortgage=[39, 5, 39])
    assert (mortgaged.gains, mortgaged.deeds()) == ({"A": 200 + 100}, ["5m", "39m"])
    lifted = Game(A="39m").does(unmortgage=[39, 39])
    assert (lifted.gains, lifted.deeds()) == ({"A": -220}, ["39"])


def test_lifting_needs_the_cash() -> None:
    refused("$219 39m", r"\$1 short", unmortgage=[39])


def test_no_mortgage_in_a_group_with_buildings() -> None:
    refused("16 18:1 19:1", "sell the buildings", mortgage=[16])


def test_the_bundle_sells_then_mortgages_then_lifts_then_builds() -> None:
    game = Game(A="$0 37:1 39:1 5 1m 3").does(sell=[37, 39], mortgage=[5], unmortgage=[1], build=[1, 3])
    assert (game.cash["A"], game.deeds()) == (200 + 100 - 33 - 100, ["1:1", "3:1", "5m", "37", "39"])


def test_121_building_starts_again_when_the_whole_group_is_clear() -> None:
    refused("16m 18 19", "mortgaged", build=[18])
    assert Game(A="16m 18 19").does(unmortgage=[16], build=[18]).deeds() == ["16", "18:1", "19"]


@pytest.mark.parametrize("position", [-1, 0, 40, 10**6, 7])
def test_what_is_no_property_is_refused(position: int) -> None:
    for changes in ({"sell": [position]}, {"mortgage": [position]}, {"unmortgage": [position]}, {"build": [position]}):
        with pytest.raises(IllegalDecision):
            Game(A="1 3").does(**changes)


def test_who_holds_nothing_is_not_asked_to_manage() -> None:
    assert Game().turn((4, 6)).requests(ManageEstate) == []


def test_a_mountain_of_orders_is_refused() -> None:
    game = Game(A="1 3").turn((4, 6))
    assert "changes" in refusal(game.requests(ManageEstate)[0], manage(build=[1] * 10_000))


def test_a_hotel_that_is_not_there_is_not_sold() -> None:
    refused("16:1 18:1 19:1", "no hotel", sell=[-16])
    refused("16:H 18:H 19:H", "no second hotel", sell=[-16, -16])
