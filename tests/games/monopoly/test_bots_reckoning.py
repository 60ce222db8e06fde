"""What the personalities reckon with: how often spaces are visited, what deeds are worth, what a debt takes."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from agentsim.engine.simulate import simulate
from agentsim.games.monopoly import GAME
from agentsim.games.monopoly.auctions import AuctionBid, AuctionLot
from agentsim.games.monopoly.board import DECKS, GROUPS, HOTELS, HOUSES, JAIL, SPACES, destination
from agentsim.games.monopoly.bots import BOTS, best_deal, judged, npv, raised, sites, stakes, worst_rent
from agentsim.games.monopoly.building import change_estate
from agentsim.games.monopoly.debts import RaiseCash
from agentsim.games.monopoly.landing_odds import THROWS, stops
from agentsim.games.monopoly.phase import PhaseAction
from agentsim.games.monopoly.state import BANK, Seat, View
from agentsim.games.monopoly.talk import Memory
from agentsim.games.monopoly.trade import Side, Terms

ORANGE, RED, BROWN = (GROUPS[group] for group in ("orange", "red", "brown"))

NOTHING = Memory()


def _view(
    deeds: Mapping[int, tuple[int, int]] | None = None,
    *,
    cash: tuple[int, ...] = (1500, 1500, 1500),
    at: tuple[int, ...] = (0, 0, 0),
    mortgaged: tuple[int, ...] = (),
    bank_houses: int | None = None,
) -> View:
    """`deeds` by position: (seat, houses); the bank has what is left, or so many `bank_houses`."""
    deeds = deeds or {}
    counts = [houses for _, houses in deeds.values()]
    return View(
        turn=30,
        active=0,
        roll=None,
        seats=tuple(
            Seat(name, name, cash[seat], at[seat], jailed=False, failed=0, cards=(), bankrupt=False)
            for seat, name in enumerate("ABC")
        ),
        owner=tuple(deeds.get(position, (BANK, 0))[0] for position in range(40)),
        houses=tuple(deeds.get(position, (BANK, 0))[1] for position in range(40)),
        mortgaged=tuple(position in mortgaged for position in range(40)),
        bank_houses=HOUSES - sum(houses for houses in counts if houses < 5) if bank_houses is None else bank_houses,
        bank_hotels=HOTELS - counts.count(5),
    )


def _held(lots: tuple[int, ...], seat: int = 0, houses: int = 0) -> dict[int, tuple[int, int]]:
    return dict.fromkeys(lots, (seat, houses))


def _debt(view: View, owed: int) -> RaiseCash:
    return RaiseCash(
        player="A",
        view=view,
        memory=NOTHING,
        words=30,
        chars=600,
        max_turns=200,
        start_cash=1500,
        auctioned=True,
        since=1,
        offers=(),
        owed=owed,
        creditor="B",
        why="rent",
        may_propose=False,
    )


# odds


def test_throws_are_those_of_two_dice() -> None:
    assert sum(THROWS) == pytest.approx(1)
    assert THROWS[7] == pytest.approx(6 / 36)
    assert THROWS[:2] == (0, 0)


def test_stops_are_those_of_a_token_that_is_driven_round() -> None:
    """By a second hand: 30,000 turns, cards drawn with replacement."""
    dice, visits, position = random.Random(1), [0] * 40, 0
    turns = 30_000
    for _ in range(turns):
        for doubles in range(3):
            one, two = dice.randint(1, 6), dice.randint(1, 6)
            if one == two and doubles == 2:
                position = JAIL
                break
            position = (position + one + two) % 40
            jailed = False
            while True:
                visits[position] += 1
                kind = SPACES[position].kind
                card = dice.choice(DECKS[kind]) if kind in DECKS else None
                jailed = kind == "go_to_jail" or (card is not None and card.effect == "go_to_jail")
                to = destination(card, position) if card else None
                if jailed or to is None:
                    break
                position = to
            if jailed:
                position = JAIL
            if jailed or one != two:
                break
    for space, often in zip(SPACES, stops(), strict=True):
        assert visits[space.position] / turns == pytest.approx(often, abs=5 * (often / turns) ** 0.5), space.name


def test_no_street_is_visited_as_often_as_illinois() -> None:
    streets = [space.position for space in SPACES if space.kind == "street"]
    assert max(streets, key=stops().__getitem__) == 24


# worth


def test_a_group_is_worth_more_the_more_of_it_is_held_and_the_more_pay_for_it() -> None:
    for group, lots in GROUPS.items():
        ladder = stakes(3)[group]
        assert len(ladder) == len(lots) + 1
        assert list(ladder) == sorted(ladder)
        assert ladder[0] == 0
        assert ladder[-1] >= stakes(1)[group][-1]


def test_a_deed_is_worth_more_where_it_completes_a_group_or_keeps_one_from_another() -> None:
    alone = npv(_view(), 0, 19, 2, {})
    mine = npv(_view(_held((16, 18))), 0, 19, 2, {})
    theirs = npv(_view(_held((16, 18), seat=1)), 0, 19, 2, {})
    assert mine > theirs > alone


def test_a_trade_that_makes_a_rival_strong_is_judged_by_the_harm_too() -> None:
    view = _view({16: (1, 0), 18: (1, 0), 19: (0, 0)})
    terms = Terms(1, 0, Side(cash=200), Side(properties=(19,)))
    mine, theirs = judged(view, terms, 0, {})
    assert theirs > 200
    assert mine < 200 - SPACES[19].mortgage
    fair = Terms(1, 0, Side(cash=200 - int(mine) + int(theirs)), Side(properties=(19,)))
    assert judged(view, fair, 0, {})[0] > 0


def test_a_mortgaged_deed_is_worth_less_by_what_it_costs_to_lift() -> None:
    terms = Terms(1, 0, Side(properties=(39,)), Side(cash=100))
    clear, pledged = (judged(_view({39: (1, 0)}, mortgaged=mortgaged), terms, 0, {})[0] for mortgaged in ((), (39,)))
    assert clear - pledged >= SPACES[39].redemption - SPACES[39].redemption // 3


def test_the_worst_rent_is_the_highest_that_one_landing_can_cost() -> None:
    def worst(view: View) -> int:
        return worst_rent(view.owner, view.houses, view.mortgaged, 0)

    assert worst(_view()) == 0
    assert worst(_view({39: (0, 0), 5: (1, 0), 15: (1, 0)})) == 50
    assert worst(_view(_held(ORANGE, seat=1))) == 32
    assert worst(_view(_held(ORANGE, seat=1, houses=3))) == 600
    assert worst(_view({12: (2, 0), 28: (2, 0)})) == 120
    assert worst(_view({39: (1, 0)}, mortgaged=(39,))) == 0


# offers


def test_the_best_deal_completes_a_group_and_leaves_the_target_its_margin() -> None:
    view = _view({16: (0, 0), 18: (0, 0), 19: (1, 0)})
    deal = best_deal(view, 0, {}, 1400, (0.0, 50.0, 0.0))
    assert deal is not None
    assert (deal.group, deal.target, deal.takes) == ("orange", 1, (19,))
    terms = Terms(0, 1, Side(properties=deal.gives, cash=max(0, deal.cash)), Side(properties=deal.takes))
    assert judged(view, terms, 1, {})[0] >= 50
    assert judged(view, terms, 0, {})[0] > 0


def test_no_deal_is_made_beyond_the_budget_or_while_the_bank_has_a_part() -> None:
    view = _view({16: (0, 0), 18: (0, 0), 19: (1, 0)})
    assert best_deal(view, 0, {}, 50, (0.0, 0.0, 0.0)) is None
    assert best_deal(_view({16: (0, 0), 18: (1, 0)}), 0, {}, 1400, (0.0, 0.0, 0.0)) is None


# bids


def test_a_bid_rises_by_half_of_what_is_left_to_the_limit_and_is_the_limit_where_bids_are_sealed() -> None:
    def bid(high: int, *, sealed: bool) -> int:
        lot = AuctionLot(19, high, "B" if high else "", high + 1, ("B",), sealed=sealed)
        request = AuctionBid(
            player="A",
            view=_view(),
            memory=NOTHING,
            words=30,
            chars=600,
            max_turns=200,
            start_cash=1500,
            auctioned=True,
            lot=lot,
        )
        shark: Any = BOTS["shark"]
        decision = shark(request, None)
        amount: int = decision.action.bid
        return amount

    most = bid(0, sealed=True)
    assert most >= SPACES[19].price
    assert bid(0, sealed=False) == (most + 1) // 2
    assert bid(most - 1, sealed=False) == most
    assert bid(most, sealed=False) == 0


# building


def test_a_site_lists_buildings_evenly_as_far_as_the_bank_has_them() -> None:
    (site,) = sites(_view(_held(ORANGE)), 0)
    assert len(site.positions) == 15
    assert site.types.count("hotel") == 3
    assert site.spent[-1] == 1500
    assert [sorted(site.positions[start : start + 3]) for start in range(0, 15, 3)] == [[16, 18, 19]] * 5
    (short,) = sites(_view(_held(ORANGE), bank_houses=4), 0)
    assert len(short.positions) == 4
    assert not list(sites(_view(_held(ORANGE), mortgaged=(16,)), 0))
    assert not list(sites(_view(_held(ORANGE, houses=5)), 0))


def test_what_a_site_gains_are_the_throws_that_bring_the_others_there() -> None:
    (site,) = sites(_view(_held(BROWN), at=(0, 36, 20)), 0)
    assert site.positions[0] == 3
    assert site.gained[0] == pytest.approx((20 - 2 * 4) * 6 / 36), "seven from 36 to 3; nobody else can come there"


# debts


def test_a_debt_takes_lone_deeds_first_then_buildings_and_hotels_even_without_houses_in_the_bank() -> None:
    view = _view({**_held(ORANGE, houses=3), 5: (0, 0)}, cash=(0, 0, 0))
    assert raised(_debt(view, 80)).mortgages == (5,)
    assert not raised(_debt(view, 80)).sells
    more = raised(_debt(view, 300))
    assert more.mortgages == (5,)
    assert len(more.sells) == 4
    stuck = raised(_debt(_view(_held(RED, houses=5), cash=(0, 0, 0), bank_houses=0), 100))
    assert [(sale.position, sale.type) for sale in stuck.sells] == [
        (lot, kind) for lot in RED for kind in ("hotel", "house", "house", "house", "house")
    ]


def test_every_debt_that_can_be_paid_is_paid_in_a_few_legal_steps() -> None:
    """Positions of random games, debts from one dollar to all that there is."""
    dice, paid = random.Random(5), 0
    for seed in range(2):
        asked = simulate(GAME, {"max_turns": 100}, "ABC", bot="random", seed=seed).asks()
        for request in (ask.request for ask in asked if isinstance(ask.request, PhaseAction)):
            estate, cash = request.view.estate(), request.you.cash
            owed = cash + dice.randint(1, max(1, estate.liquidation_value(request.seat)))
            if cash + estate.liquidation_value(request.seat) < owed:
                continue
            steps = 0
            while cash < owed:
                steps += 1
                assert steps < 30
                seats = tuple(replace(seat, cash=cash) for seat in request.view.seats)
                now = View(
                    turn=1,
                    active=0,
                    roll=None,
                    seats=seats,
                    owner=tuple(estate.owner),
                    houses=tuple(estate.houses),
                    mortgaged=tuple(estate.mortgaged),
                    bank_houses=estate.bank_houses,
                    bank_hotels=estate.bank_hotels,
                )
                debt = RaiseCash(
                    player=request.player,
                    view=now,
                    memory=NOTHING,
                    words=30,
                    chars=600,
                    max_turns=200,
                    start_cash=1500,
                    auctioned=True,
                    since=1,
                    offers=(),
                    owed=owed,
                    creditor="bank",
                    why="tax",
                    may_propose=False,
                )
                part = raised(debt).bundle
                assert not part.empty
                done = change_estate(estate, request.seat, cash, part)
                cash += sum(step.amount for step in done)
            paid += 1
    assert paid > 100
