"""The four personalities: every number that is said of them, read off whole games; and what games between them are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from statistics import median
from typing import Any

import pytest

from agentsim.engine.chance import Chance, Stream
from agentsim.engine.decision import Decision
from agentsim.engine.play import GamePlay
from agentsim.engine.request import Request
from agentsim.engine.simulate import Simulation, simulate
from agentsim.games.monopoly import GAME, trade
from agentsim.games.monopoly.auctions import AuctionBid
from agentsim.games.monopoly.board import GROUPS, SPACES
from agentsim.games.monopoly.bots import BOTS
from agentsim.games.monopoly.building import Built, Bundle, Managed, ManageEstate, able, change_estate
from agentsim.games.monopoly.buying import BuyOrAuction
from agentsim.games.monopoly.config import MonopolyConfig
from agentsim.games.monopoly.jail import JailAction
from agentsim.games.monopoly.match import DeedMoved, GameEnded
from agentsim.games.monopoly.phase import DoEstate, DoTrade, PhaseChoice
from agentsim.games.monopoly.state import View
from agentsim.games.monopoly.talk import Spoke
from agentsim.games.monopoly.trade import (
    AnswerTrade,
    Proposal,
    Proposed,
    ProposeTrade,
    Terms,
    TradeAccepted,
    TradeDiscarded,
    TradeProposed,
)

pytestmark = pytest.mark.xdist_group("monopoly bots")  # they share the games

FOUR = ("shark", "professor", "hustler", "turtle")
RESERVES = {"shark": (100, 200), "professor": (400, 600), "hustler": (200, 400), "turtle": (800, 1200)}
GAMES = 16


def _each_its_own(request: Request[Any], rng: Stream) -> Decision:
    return BOTS[request.player](request, rng)


@cache
def _played(seed: int) -> Simulation:
    """One game; the seats rotate with the seed."""
    first = seed % len(FOUR)
    return simulate(GAME, {}, FOUR[first:] + FOUR[:first], bot=_each_its_own, seed=seed)


def _games() -> list[Simulation]:
    return [_played(seed) for seed in range(GAMES)]


def _decided(kind: type[Request[Any]], player: str | None = None) -> Iterator[tuple[Any, Any]]:
    """(request, decision) of this kind, in every game; of a phase's one question, the part that is of it."""
    for played in _games():
        for wave, decisions in played.waves:
            for ask, decision in zip(wave.asks, decisions, strict=True):
                request: Any = ask.request
                if player not in {None, request.player}:
                    continue
                if isinstance(request, kind):
                    yield request, decision
                elif isinstance(decision, PhaseChoice) and kind.kind in request.kinds:
                    yield from ((request, part) for part in _part(kind, decision.action))


def _part(kind: type[Request[Any]], action: Any) -> Iterator[Decision]:
    """What the one decision of a phase says to this question; nothing of the estate where it is a trade."""
    if kind is ProposeTrade:
        yield Proposed(action=Proposal(propose_trade=isinstance(action, DoTrade), **dict(action)))
    elif not isinstance(action, DoTrade):
        yield Managed(action=action if isinstance(action, DoEstate) else Bundle())


def _after(request: ManageEstate, action: Any) -> int:
    """The cash that a bundle leaves."""
    steps = change_estate(request.view.estate(), request.seat, request.you.cash, action)
    gets = {"sell", "mortgage"}
    return request.you.cash + sum(step.amount if step.kind in gets else -step.amount for step in steps)


def _terms(request: ProposeTrade, proposal: Proposal) -> Terms:
    return Terms(request.seat, request.view.seat(str(proposal.target_player)), proposal.offer, proposal.request)


# games


def test_games_end_after_some_hundred_turns_and_hardly_ever_at_the_cap() -> None:
    """The big measurement is `benchmarks.monopoly`: a median of 150 to 400, at most 2% at the cap."""
    turns = [played.events(GameEnded)[0].turns for played in _games()]
    assert 130 <= median(turns) <= 400, turns
    assert sum(each >= MonopolyConfig().max_turns for each in turns) <= 1


def test_every_personality_wins_some_games_and_none_wins_most() -> None:
    wins = Counter(_winner(_played(seed)) for seed in range(GAMES))
    assert max(wins.values()) <= GAMES * 2 // 3, wins
    seed = GAMES
    while set(wins) != set(FOUR):  # one wins a game in twelve
        assert seed < 5 * GAMES, wins
        wins[_winner(_played(seed))] += 1
        seed += 1


def _winner(played: Simulation) -> str:
    name: str = played.events(GameEnded)[0].results[0].player
    return name


def test_trades_are_proposed_by_all_accepted_and_make_groups_whole() -> None:
    proposers = Counter(event.proposer for played in _games() for event in played.events(TradeProposed))
    accepted = [len(played.events(TradeAccepted)) for played in _games()]
    assert set(proposers) == set(FOUR)
    assert sum(accepted) >= 3 * GAMES
    assert sum(_made_whole(played) for played in _games()) >= GAMES


def _made_whole(played: Simulation) -> int:
    """Groups that a trade made whole."""
    owner: dict[int, str | None] = {}
    found = 0
    for event in played.events(DeedMoved):
        owner[event.position] = event.taker
        lots = GROUPS[SPACES[event.position].group]
        found += event.why == "trade" and all(owner.get(lot) == event.taker for lot in lots)
    return found


def test_all_of_them_build_and_none_of_them_proposes_what_cannot_be() -> None:
    assert {event.player for played in _games() for event in played.events(Built)} == set(FOUR)
    assert not [event for played in _games() for event in played.events(TradeDiscarded)]


def test_they_speak_briefly_the_hustler_most_and_the_turtle_least() -> None:
    spoken = Counter(event.player for played in _games() for event in played.events(Spoke))
    pitched = Counter(event.proposer for played in _games() for event in played.events(TradeProposed))
    talk = spoken + pitched
    asked = Counter(ask.request.player for played in _games() for ask in played.asks())
    words = [len(event.text.split()) for played in _games() for event in played.events(Spoke)]
    words += [len(event.pitch.split()) for played in _games() for event in played.events(TradeProposed)]
    assert max(words) < 30
    assert set(spoken) == set(FOUR)
    assert max(talk, key=talk.__getitem__) == "hustler"
    assert min(talk, key=talk.__getitem__) == "turtle"
    assert all(spoken[player] < asked[player] / 10 for player in FOUR), "a speech is an event: not at every decision"


@pytest.mark.parametrize(
    ("players", "config"),
    [(2, {}), (8, {}), (4, {"auction": "sealed"}), (4, {"auction_min_step": 10}), (3, {"official_third_turn": True})],
)
def test_they_play_by_every_option_and_at_every_table(players: int, config: dict[str, Any]) -> None:
    """Every decision is checked; a bot that breaks a rule fails here."""
    ids = [f"{FOUR[seat % 4]}{seat}" for seat in range(players)]

    def policy(request: Request[Any], rng: Stream) -> Decision:
        return BOTS[request.player.rstrip("0123456789")](request, rng)

    played = simulate(GAME, {"max_turns": 120, **config}, ids, bot=policy, seed=players)
    assert played.events(GameEnded)
    assert not played.events(TradeDiscarded)


@pytest.mark.parametrize("bot", FOUR)
def test_a_bot_is_a_function_of_the_request_and_of_its_stream(bot: str) -> None:
    """Asked again with the request as its journal holds it, in the other order, it decides the same."""
    kinds = {kind.kind: kind for kind in GAME.requests}
    game = GamePlay(GAME, MonopolyConfig(max_turns=60), "ABC", 7)
    taken: list[tuple[str, str, int, Decision]] = []
    wave = game.start()
    while wave is not None:
        decisions = [BOTS[bot](ask.request, game.bot_rng(ask)) for ask in wave.asks]
        taken += [
            (json.dumps(ask.request.to_json()), ask.request.kind, ask.nth, decision)
            for ask, decision in zip(wave.asks, decisions, strict=True)
        ]
        wave = game.answer(decisions)
    for data, kind, nth, decision in reversed(taken):
        request = kinds[kind].restore(json.loads(data))
        rng = Chance(7).once(f"bot/{request.player}/{kind}/{nth}", per_game=f"bot/{request.player}/lasting")
        assert BOTS[bot](request, rng) == decision


# reserves


@pytest.mark.parametrize("player", FOUR)
def test_whatever_is_bought_built_bid_or_traded_leaves_the_reserve(player: str) -> None:
    least, _ = RESERVES[player]
    left: dict[str, list[int]] = {"buy": [], "bid": [], "manage": [], "propose": [], "accept": []}
    for request, decision in _decided(BuyOrAuction, player):
        if decision.action == "buy":
            left["buy"].append(request.you.cash - SPACES[request.position].price)
    for request, decision in _decided(AuctionBid, player):
        if decision.action.bid:
            left["bid"].append(request.you.cash - decision.action.bid)
    for request, decision in _decided(ManageEstate, player):
        if decision.action.builds or decision.action.unmortgages:
            left["manage"].append(_after(request, decision.action))
    for request, decision in _decided(ProposeTrade, player):
        proposal = decision.action
        if proposal.propose_trade and proposal.offer.cash > proposal.request.cash:
            fees = trade.interest_on(request.view.mortgaged, proposal.request.properties)
            left["propose"].append(request.you.cash - proposal.offer.cash - fees)
    for request, decision in _decided(AnswerTrade, player):
        offer, wanted = request.terms.offer, request.terms.request
        if decision.action == "accept" and wanted.cash > offer.cash:
            left["accept"].append(request.you.cash + offer.cash - wanted.cash)
    for occasion, amounts in left.items():
        assert all(amount >= least for amount in amounts), (occasion, min(amounts))
    assert left["buy"]
    assert left["bid"]
    assert left["manage"]


@pytest.mark.parametrize("player", FOUR)
def test_reserves_are_those_of_the_matrix_and_move_within_them(player: str) -> None:
    least, most = RESERVES[player]
    bot: Any = BOTS[player]
    found = {
        bot.reserve(request.view, request.seat, Chance(seed).stream("x"))
        for seed, (request, _) in enumerate(_decided(ManageEstate, player))
    }
    assert least <= min(found) < max(found) <= most


# the shark


def test_the_shark_buys_everything_unless_it_would_be_left_with_less_than_100() -> None:
    bought = [
        (request.you.cash - SPACES[request.position].price, decision)
        for request, decision in _decided(BuyOrAuction, "shark")
    ]
    assert all(decision.action == ("buy" if left >= 100 else "auction") for left, decision in bought)
    assert len({decision.action for _, decision in bought}) == 2


def test_the_shark_builds_as_soon_as_it_has_a_group_and_the_money() -> None:
    """After its decision no building that it could have paid for above 200 is left unbuilt."""
    built = 0
    for request, decision in _decided(ManageEstate, "shark"):
        estate, seat = request.view.estate(), request.seat
        if not able(estate, "build", seat) or decision.action.unmortgages:
            continue
        built += len(decision.action.builds)
        left = _after(request, decision.action)
        change_estate(estate, seat, request.you.cash, decision.action)
        groups = {SPACES[build.position].group for build in decision.action.builds}
        cheapest = [
            SPACES[lot].house_cost for lot in able(estate, "build", seat) if SPACES[lot].group in groups or not groups
        ]
        assert not cheapest or left - min(cheapest) < 200, (request.you.cash, decision)
    assert built


def test_the_shark_mortgages_what_stands_alone_to_build() -> None:
    assert any(decision.action.mortgages and decision.action.builds for _, decision in _decided(ManageEstate, "shark"))


# the professor


def test_the_professor_builds_only_above_15_percent_a_turn() -> None:
    """Counted by hand: the throws that take each rival onto each lot, times the rent that is gained."""
    built = 0
    for request, decision in _decided(ManageEstate, "professor"):
        if decision.action.builds:
            built += 1
            spent, gained = _return(request.view, request.seat, [build.position for build in decision.action.builds])
            assert gained > 0.15 * spent
    assert built > 10


def _return(view: View, seat: int, builds: list[int]) -> tuple[int, float]:
    """(dollars spent, rent expected from the rivals' next throws)."""
    spent, gained = 0, 0.0
    for lot, count in Counter(builds).items():
        space, houses = SPACES[lot], view.houses[lot]
        spent += count * space.house_cost
        gain = space.rents[houses + count] - space.rents[houses] * (1 if houses else 2)
        for number in view.living:
            if number != seat:
                there = view.seats[number].position
                hits = sum((there + one + two) % 40 == lot for one in range(1, 7) for two in range(1, 7))
                gained += hits / 36 * gain
    return spent, gained


def test_the_professor_bids_up_to_the_net_present_value_and_not_a_dollar_more() -> None:
    """It withdraws when the bid that is needed is above the value, or above what its reserve leaves."""
    bot: Any = BOTS["professor"]
    withdrawn = 0
    for request, decision in _decided(AuctionBid, "professor"):
        most = min(bot.worth(request, request.lot.position), request.you.cash - RESERVES["professor"][0])
        bid = decision.action.bid
        withdrawn += not bid
        assert request.lot.least <= bid <= most if bid else request.lot.least > most
        sealed = replace(request, lot=replace(request.lot, sealed=True, high=0, leader="", least=1))
        assert bot(sealed, Chance(1).stream("x")).action.bid == max(0, most)
    assert withdrawn > 10


def test_the_professor_accepts_what_is_neutral_or_better() -> None:
    bot: Any = BOTS["professor"]
    answers = [
        (bot.gain(request) >= 0 and bot.affords(request), decision.action)
        for request, decision in _decided(AnswerTrade, "professor")
    ]
    assert all(action == ("accept" if good else "reject") for good, action in answers)
    assert {action for _, action in answers} == {"accept", "reject"}


def test_the_professor_wants_orange_and_red_first() -> None:
    """At the opening no group is worth more, for its price, than these two."""
    bot: Any = BOTS["professor"]
    request = next(request for request, _ in _decided(BuyOrAuction) if set(request.view.owner) == {-1})
    worth = {
        group: sum(bot.worth(request, lot) for lot in lots) / sum(SPACES[lot].price for lot in lots)
        for group, lots in GROUPS.items()
    }
    assert sorted(worth, key=worth.__getitem__, reverse=True)[:2] == ["orange", "red"]


# the hustler


def test_the_hustler_proposes_every_turn_when_it_can() -> None:
    """It passes only where it has neither cash above its reserve nor a deed that somebody could pay for."""
    proposed = passed = 0
    for request, decision in _decided(ProposeTrade, "hustler"):
        if request.when not in {"before", "jail"} or request.made:
            continue
        view, estate = request.view, request.view.estate()
        if decision.action.propose_trade:
            proposed += 1
            assert trade.why_not(estate, view.seats, _terms(request, decision.action)) == ""
            assert decision.action.pitch
        else:
            passed += 1
            rivals = [view.seats[number] for number in view.living if number != request.seat]
            assert request.you.cash <= RESERVES["hustler"][1] + 40
            assert not estate.tradeable(request.seat) or all(rival.cash < 50 for rival in rivals)
    assert proposed > 50 * passed


def test_the_hustler_bids_in_every_auction_that_it_can_afford() -> None:
    """Until somebody bids nine tenths of the printed price."""
    able = 0
    for request, decision in _decided(AuctionBid, "hustler"):
        lot = request.lot
        if not lot.building and lot.least <= min(
            SPACES[lot.position].price * 9 // 10, request.you.cash - RESERVES["hustler"][0]
        ):
            able += 1
            assert decision.action.bid >= lot.least
    assert able > 10


def test_the_hustler_hoards_railroads_and_utilities() -> None:
    offered = [
        (request, decision)
        for request, decision in _decided(BuyOrAuction, "hustler")
        if SPACES[request.position].group in {"railroad", "utility"}
        and request.you.cash - SPACES[request.position].price >= RESERVES["hustler"][1]
    ]
    assert offered
    assert all(decision.action == "buy" for _, decision in offered)


def test_the_hustler_builds_by_moods_that_last() -> None:
    bot: Any = BOTS["hustler"]
    request = next(request for request, _ in _decided(ManageEstate, "hustler"))

    def mood(turn: int, nth: int) -> float:
        view = replace(request.view, turn=turn)
        value: float = bot.mood(view, Chance(1).once(f"bot/A/manage_estate/{nth}", per_game="bot/A/lasting"))
        return value

    assert mood(40, 1) == mood(59, 9)
    assert len({mood(turn, 1) for turn in range(0, 400, 20)}) == 20
    could = [
        (request.you.cash - min(SPACES[lot].house_cost for lot in lots), bool(decision.action.builds))
        for request, decision in _decided(ManageEstate, "hustler")
        if (lots := able(request.view.estate(), "build", request.seat))
    ]
    rich = [built for left, built in could if left >= RESERVES["hustler"][1]]
    assert 0 < sum(rich) < len(rich), "sometimes it builds, and sometimes it does not, with the same money"


# the turtle


def test_the_turtle_builds_only_with_three_times_the_cost_in_cash_and_nothing_mortgaged() -> None:
    built = 0
    for request, decision in _decided(ManageEstate, "turtle"):
        if decision.action.builds:
            built += 1
            cost = sum(SPACES[build.position].house_cost for build in decision.action.builds)
            assert request.you.cash >= 3 * cost
            assert not able(request.view.estate(), "unmortgage", request.seat)
    assert built


def test_the_turtle_lifts_its_mortgages_before_it_builds() -> None:
    lifted = 0
    for request, decision in _decided(ManageEstate, "turtle"):
        estate = request.view.estate()
        due = [SPACES[position].redemption for position in able(estate, "unmortgage", request.seat)]
        if due and request.you.cash - min(due) >= RESERVES["turtle"][0]:
            lifted += bool(decision.action.unmortgages)
            assert decision.action.unmortgages
            assert not decision.action.builds
    assert lifted


def test_the_turtle_rejects_four_offers_of_five_at_least_and_takes_only_overwhelming_ones() -> None:
    bot: Any = BOTS["turtle"]
    answers = list(_decided(AnswerTrade, "turtle"))
    accepted = [request for request, decision in answers if decision.action == "accept"]
    assert 0 < len(accepted) <= len(answers) / 5
    assert all(bot.gain(request) >= 250 for request in accepted)


def test_the_turtle_buys_cheap_and_hardly_bids() -> None:
    for request, decision in _decided(BuyOrAuction, "turtle"):
        if decision.action == "buy" and SPACES[request.position].price > 200:
            group = GROUPS[SPACES[request.position].group]
            rest = {request.view.owner[lot] for lot in group if lot != request.position}
            assert rest == {request.seat} or request.you.cash > 2400, "an expensive deed completes its group"
    bids = [
        (decision.action.bid, SPACES[request.lot.position].price)
        for request, decision in _decided(AuctionBid, "turtle")
    ]
    assert all(bid <= price * 3 / 4 for bid, price in bids)


def test_the_turtle_rolls_for_doubles_first() -> None:
    actions = {decision.action for _, decision in _decided(JailAction, "turtle")}
    assert actions == {"roll_doubles"}
    assert {decision.action for _, decision in _decided(JailAction, "shark")} > actions, "others pay as well"
