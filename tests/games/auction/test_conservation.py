"""What no auction can do, whoever bids: make or lose money, sell a thing twice, log what did not happen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.game import Bot
from agentsim.engine.request import Request
from agentsim.engine.simulate import Simulation, simulate
from agentsim.games.auction import GAME
from agentsim.games.auction.bidding import Bid, BidCast
from agentsim.games.auction.bots import BOTS
from agentsim.games.auction.items import Item
from agentsim.games.auction.lots import ItemLost, ItemOffered, ItemSold, Paid
from agentsim.games.auction.state import PRICING, Auction, Offer, Team
from tests.amounts import each_row, examples
from tests.games.auction.auction import FORMATS, rows


def wild(request: Request[Any], rng: Stream) -> Decision:
    """Any number at all, often at the edges of what is valid, and sometimes none."""
    assert isinstance(request, Bid)
    high, budget = request.state.high.amount, request.state.you.budget
    edges = [None, 0, 1, high, high + 1, budget, budget + 1, 10**18 - 1]
    place = rng.below(len(edges) + 4)
    return BidCast(bid=edges[place] if place < len(edges) else rng.integer(0, 2 * budget + 2))


Config: TypeAlias = dict[str, Any]
POLICIES: dict[str, Bot] = {**BOTS, "wild": wild}
NAMES = st.sampled_from(["Compass", "Gyroscope", "Matrix", "Engine"])
CATALOGUES = st.lists(
    st.tuples(NAMES, st.integers(1, 100)).map(
        lambda drawn: {"Name": drawn[0], "Quality": drawn[1], "IsRequired": drawn[0] != "Engine"}
    ),
    min_size=1,
    max_size=8,
)


@st.composite
def auctions(draw: st.DrawFn) -> tuple[Config, Simulation]:
    """A whole auction of 2 to 6 teams, each with a policy of its own."""
    players = "ABCDEF"[: draw(st.integers(2, 6))]
    policies = {player: draw(st.sampled_from(sorted(POLICIES))) for player in players}
    format_ = draw(st.sampled_from(FORMATS))
    config: Config = {
        "items": {"scenario": "drawn", "items": draw(CATALOGUES)},
        "format": format_,
        "budget": draw(st.sampled_from([1, 2, 9, 100, 1_000, 10**9])),
        "item_order": draw(st.sampled_from(["listed", "shuffled"])),
    }
    if format_ == "ascending":
        config |= {"max_iterations": draw(st.integers(1, 6)), "ask_leader": draw(st.booleans())}

    def each_its_own(request: Request[Any], rng: Stream) -> Decision:
        return POLICIES[policies[request.player]](request, rng)

    return config, simulate(GAME, config, players, bot=each_its_own, seed=draw(st.integers(0, 10**6)))


@examples(150)
@given(auctions())
def test_money_is_conserved_and_nobody_owes(drawn: tuple[Config, Simulation]) -> None:
    """`check()` has been clean after every wave, or the game would not have ended; here the log says the same."""
    config, played = drawn
    budget = config["budget"]
    left = {place.player: place.score["budget"] for place in played.outcome.standings}
    paid = played.events(Paid)
    assert all(payment.amount >= 0 and payment.budget >= 0 for payment in paid)
    assert sum(left.values()) + sum(payment.amount for payment in paid) == budget * len(left)
    for team, rest in left.items():
        assert budget - sum(payment.amount for payment in paid if payment.team == team) == rest


@examples(100)
@given(auctions())
def test_every_item_is_sold_once_or_lost(drawn: tuple[Config, Simulation]) -> None:
    config, played = drawn

    def named(items: Sequence[Item]) -> list[dict[str, Any]]:
        return sorted((item.to_json() for item in items), key=str)

    ended = [event.item for event in (*played.events(ItemSold), *played.events(ItemLost))]
    offered = [event.item for event in played.events(ItemOffered)]
    assert named(offered) == named(ended) == sorted(config["items"]["items"], key=str)
    held = [name for row in rows(played, "results") for name in json.loads(row["CollectedItems"])]
    assert sorted(held) == sorted(event.item.name for event in played.events(ItemSold))


@examples(100)
@given(auctions())
def test_the_log_has_one_row_a_team_an_iteration(drawn: tuple[Config, Simulation]) -> None:
    _, played = drawn
    asked = [
        (request.state.round, request.state.iteration, request.player)
        for request in (ask.request for ask in played.asks())
        if isinstance(request, Bid)
    ]
    logged = [(row["RoundID"], row["IterationID"], row["TeamName"]) for row in rows(played, "detailed_logs")]
    assert len(logged) == len(set(logged))
    assert sorted(logged) == sorted(asked)


def _recomputed(detailed: list[dict[str, Any]], format_: str, budget: int, teams: Sequence[str]) -> list[list[Any]]:
    """The results that `detailed_logs` alone leads to, by a second hand: the seed's rules written out again."""
    left = dict.fromkeys(teams, budget)
    won: dict[str, list[dict[str, Any]]] = {team: [] for team in teams}
    by_round: dict[int, list[dict[str, Any]]] = {}
    for row in detailed:
        by_round.setdefault(row["RoundID"], []).append(row)
    for bids in by_round.values():
        high, leader, before = 0, None, []
        for bid in bids:
            amount, team = bid["BidAmount"], bid["TeamName"]
            assert bid["CurrentHighBidBefore"] == high
            if bid["FailReason"] == "Unreadable":
                assert amount == 0
                reason = "Unreadable"
            elif amount == 0:
                reason = "Pass"
            elif amount > left[team]:
                reason = "OverBudget"
            elif format_ == "ascending" and amount <= high:
                reason = "LowerThanHighBid"
            else:
                reason = ""
            assert (bid["FailReason"], bid["IsValid"]) == (reason, reason == "")
            if not reason:
                before.append((team, amount))
            if not reason and amount > high:
                high, leader = amount, team
        if leader is None:
            continue
        won[leader].append(bids[0])
        if format_ == "all_pay":
            for team, amount in before:
                left[team] -= amount
        elif format_ == "sealed_second_price":
            left[leader] -= max([amount for team, amount in before if team != leader], default=0)
        else:
            left[leader] -= high
    scored = []
    for team in teams:
        best: dict[str, int] = {}
        for lot in won[team]:
            if lot["IsRequired"]:
                best[lot["ItemName"]] = max(best.get(lot["ItemName"], 0), lot["ItemQuality"])
        scored.append((team, [lot["ItemName"] for lot in won[team]], len(best), sum(best.values()), left[team]))
    ranked = [[*row, 1 + sum(other[2:] > row[2:] for other in scored)] for row in scored]
    return sorted(ranked, key=lambda row: row[-1])


@examples(200)
@given(auctions())
def test_results_can_be_recomputed_from_detailed_logs_alone(drawn: tuple[Config, Simulation]) -> None:
    config, played = drawn
    teams = sorted(place.player for place in played.outcome.standings)
    expected = _recomputed(rows(played, "detailed_logs"), config["format"], config["budget"], teams)
    found = [
        [row["TeamName"], json.loads(row["CollectedItems"]), *list(row.values())[3:]] for row in rows(played, "results")
    ]
    assert found == expected


# the state knows when it is broken

COMPASS = Item("Compass", 60, True)


def _settled() -> Auction:
    """A has bought the compass for 30 of its 100, and a kettle is on sale for which B has bid 20."""
    teams = {team: Team(team, team, 100) for team in "AB"}
    auction = Auction(teams, (COMPASS, Item("Kettle", 5, False)), 100, PRICING["ascending"])
    auction.offer(COMPASS)
    auction.iteration += 1
    auction.place("A", 30)
    auction.settle()
    auction.offer(auction.items[1])
    auction.iteration += 1
    auction.place("B", 20)
    return auction


def change(auction: Auction, team: str, **changed: Any) -> None:
    """Break one team."""
    auction.teams[team] = replace(auction.teams[team], **changed)


def test_a_state_that_the_rules_made_is_sound() -> None:
    assert list(_settled().check()) == []


@each_row(
    "break_, words",
    [
        (lambda auction: change(auction, "B", budget=101), "money left and money paid"),
        (lambda auction: change(auction, "B", budget=-1), "B: no budget below zero"),
        (lambda auction: change(auction, "B", acquired=(COMPASS,)), "B holds what it won and nothing else"),
        (lambda auction: change(auction, "A", acquired=()), "A holds what it won and nothing else"),
        (lambda auction: setattr(auction, "round", 3), "every round but the present one"),
        (lambda auction: auction.offers.append(Offer("A", 20)), "open bids rise"),
        (lambda auction: auction.offers.append(Offer("A", 71)), "A can pay its bid"),
    ],
)
def test_a_broken_state_says_so(break_: Any, words: str) -> None:
    auction = _settled()
    break_(auction)
    assert any(words in line for line in auction.check())


def test_an_invalid_bid_cannot_be_placed() -> None:
    with pytest.raises(AssertionError, match="only a valid bid"):
        _settled().place("A", 20)
