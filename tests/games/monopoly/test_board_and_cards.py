"""The board and the cards as data, held to checksums that were made from independent sources."""

from __future__ import annotations

import pytest

from agentsim.games.monopoly.board import (
    CARDS,
    CHANCE,
    COMMUNITY_CHEST,
    DECKS,
    DEEDS,
    GROUPS,
    HOTEL,
    SPACES,
    STREETS,
    Card,
    Space,
    destination,
)
from tests.amounts import each_row
from tests.games.monopoly.table import Game

DECK = pytest.mark.parametrize(("deck", "moving", "money"), [(CHANCE, 10, 35), (COMMUNITY_CHEST, 2, 435)])


def streets() -> list[Space]:
    return [SPACES[position] for position in STREETS]


def test_forty_spaces_where_they_belong() -> None:
    kinds = [space.kind for space in SPACES]
    assert [space.position for space in SPACES] == list(range(40))
    assert (len(DEEDS), len(STREETS)) == (28, 22)
    assert {kind: kinds.count(kind) for kind in ("railroad", "utility", "chance", "community_chest", "tax")} == {
        "railroad": 4,
        "utility": 2,
        "chance": 3,
        "community_chest": 3,
        "tax": 2,
    }
    corners = [SPACES[position].kind for position in (0, 10, 20, 30)]
    assert corners == ["go", "jail", "free_parking", "go_to_jail"]
    assert [space.position for space in SPACES if space.kind == "chance"] == [7, 22, 36]
    assert [space.position for space in SPACES if space.kind == "community_chest"] == [2, 17, 33]


def test_groups() -> None:
    assert [len(lots) for lots in GROUPS.values()] == [2, 4, 3, 3, 2, 3, 3, 3, 3, 2]
    assert GROUPS["orange"] == (16, 18, 19)
    assert sorted(lot for lots in GROUPS.values() for lot in lots) == sorted(DEEDS)


def test_prices_mortgages_and_what_lifting_costs() -> None:
    assert sum(SPACES[position].price for position in DEEDS) == 5690
    assert sum(SPACES[position].mortgage for position in DEEDS) == 2845
    assert sum(SPACES[position].redemption for position in DEEDS) == 3131


def test_hotels_everywhere_would_cost() -> None:
    assert sum(HOTEL * space.house_cost for space in streets()) == 13_750


@each_row("houses, total", [*enumerate([391, 1915, 5620, 14_110, 18_030, 21_850])])
def test_rents(houses: int, total: int) -> None:
    assert sum(space.rents[houses] for space in streets()) == total


def test_rents_rise_with_every_building() -> None:
    for space in streets():
        assert list(space.rents) == sorted(set(space.rents))
        assert len(space.rents) == HOTEL + 1


def test_taxes() -> None:
    assert {space.position: space.tax for space in SPACES if space.tax} == {4: 200, 38: 100}


@DECK
def test_a_deck_has_sixteen_cards(deck: tuple[Card, ...], moving: int, money: int) -> None:
    assert len({card.id for card in deck}) == 16
    travels = [card for card in deck if destination(card, 7) is not None or card.effect == "go_to_jail"]
    assert len(travels) == moving


@DECK
def test_the_fixed_money_of_a_deck(deck: tuple[Card, ...], moving: int, money: int) -> None:
    """As it comes out of the rules, for whoever draws it among four players."""
    total = 0
    for card in deck:
        if card.effect in {"receive", "pay", "receive_each", "pay_each"}:
            name, space = ("chance", 7) if deck is CHANCE else ("chest", 2)
            game = Game(**{name: card.id}).land(space)
            total += game.gains.get("A", 0)
    assert total == money


def test_each_deck_has_one_card_out_of_jail_and_one_into_it() -> None:
    for deck in DECKS.values():
        effects = [card.effect for card in deck]
        assert effects.count("jail_card") == effects.count("go_to_jail") == 1


@each_row(
    "card, targets",
    [
        ("C01", (39, 39, 39)),
        ("C02", (0, 0, 0)),
        ("C03", (24, 24, 24)),
        ("C04", (11, 11, 11)),
        ("C05", (15, 25, 5)),
        ("C06", (15, 25, 5)),
        ("C07", (12, 28, 12)),
        ("C10", (4, 19, 33)),
        ("C14", (5, 5, 5)),
    ],
)
def test_where_the_chance_cards_lead(card: str, targets: tuple[int, int, int]) -> None:
    assert tuple(destination(CARDS[card], start) for start in (7, 22, 36)) == targets


@pytest.mark.parametrize(("card", "house", "hotel"), [("C12", 25, 100), ("H14", 40, 115)])
def test_repairs_by_house_and_hotel(card: str, house: int, hotel: int) -> None:
    assert (CARDS[card].amount, CARDS[card].per_hotel) == (house, hotel)
