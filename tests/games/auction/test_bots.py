"""Scripted bidders: what the textbook says of truthful ones, and what the others' names say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsim.engine.chance import Chance, Stream
from agentsim.engine.decision import Decision
from agentsim.engine.play import GamePlay
from agentsim.engine.request import Request
from agentsim.engine.simulate import Simulation, simulate
from agentsim.games.auction import GAME
from agentsim.games.auction.bidding import Bid, BidMade
from agentsim.games.auction.bots import BOTS, private_value, step
from agentsim.games.auction.config import AuctionConfig
from agentsim.games.auction.lots import ItemSold
from tests.amounts import examples
from tests.games.auction.auction import FORMATS, SEALED, bids_asked, listed, play, requests, sales

TEAMS = "ABCDEFGH"
REQUIRED = "Compass 60"
JUNK = "Kettle -60"


def _luck(seed: int, player: str, nth: int = 1) -> Stream:
    """What a bot draws from, by a second hand."""
    return Chance(seed).once(f"bot/{player}/bid/{nth}", per_game=f"bot/{player}/lasting")


def _values(played: Simulation, seed: int, round_: int = 1) -> list[tuple[int, str]]:
    """(private value, team) of a round, lowest first."""
    asked = {request.player: request for request in requests(played) if request.state.round == round_}
    return sorted((private_value(request, _luck(seed, team)), team) for team, request in asked.items())


def _of(count: int, items: str, bot: str, seed: int, **config: Any) -> Simulation:
    return play(items, {team: [] for team in TEAMS[:count]}, bot=bot, seed=seed, **config)


# truthful


@pytest.mark.parametrize("count", range(2, 9))
def test_truthful_ascending_ends_at_the_second_highest_value_within_one_step(count: int) -> None:
    """Default budget and iterations, which must be enough; required items and others."""
    for seed in range(40):
        played = _of(count, REQUIRED if seed % 2 else JUNK, "truthful", seed)
        *_, (second, _), (_, highest) = _values(played, seed)
        ((_, winner, price),) = sales(played)
        assert winner == highest
        assert second <= price <= second + step(requests(played)[0].terms)


@pytest.mark.parametrize("count", range(2, 9))
def test_truthful_second_price_has_the_same_winner_and_exactly_the_second_value(count: int) -> None:
    for seed in range(40):
        items = REQUIRED if seed % 2 else JUNK
        played = _of(count, items, "truthful", seed, format="sealed_second_price")
        *_, (second, _), (_, highest) = _values(played, seed)
        assert sales(played) == [(items.split()[0], highest, second)]
        assert sales(_of(count, items, "truthful", seed))[0][1] == highest


def test_a_truthful_bot_bids_its_value_once_where_bids_are_sealed() -> None:
    for format_ in SEALED:
        played = _of(4, REQUIRED, "truthful", 3, format=format_)
        assert sorted((bid.amount, bid.team) for bid in played.events(BidMade)) == _values(played, 3)


def test_a_truthful_bot_raises_by_one_fixed_step_or_to_its_value_and_leaves_its_own_lead_alone() -> None:
    for seed in range(20):
        played = _of(3, REQUIRED, "truthful", seed)
        values = {team: value for value, team in _values(played, seed)}
        for request, bid in _decided(played):
            state, value = request.state, values[request.player]
            if state.leading:
                assert bid == 0
            elif bid:
                assert bid == min(state.high.amount + step(request.terms), value)
            else:
                assert value <= state.high.amount


def test_values_belong_to_a_team_an_item_and_a_seed_and_last_for_all_iterations() -> None:
    played = _of(3, "Compass 60, Gyroscope 60", "truthful", 5)
    drawn: dict[tuple[str, int], set[int]] = {}
    for ask, request in bids_asked(played.asks()):
        value = private_value(request, _luck(5, request.player, ask.nth))
        drawn.setdefault((request.player, request.state.round), set()).add(value)
    assert all(len(values) == 1 for values in drawn.values())
    assert len({tuple(values) for values in drawn.values()}) > 1
    assert len({tuple(_values(_of(3, REQUIRED, "truthful", seed), seed)) for seed in range(10)}) > 5


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 8))
def test_no_two_teams_value_an_item_the_same(seed: int, count: int) -> None:
    values = [value for value, _ in _values(_of(count, REQUIRED, "truthful", seed, max_iterations=1), seed)]
    assert len(set(values)) == count


def test_what_a_team_lacks_is_worth_more_than_junk_and_second_copies() -> None:
    wanted = [value for seed in range(50) for value, _ in _values(_of(2, REQUIRED, "truthful", seed), seed)]
    other = [value for seed in range(50) for value, _ in _values(_of(2, JUNK, "truthful", seed), seed)]
    assert sum(wanted) > 3 * sum(other)
    played = _of(2, "Compass 60, Compass 50", "truthful", 1)
    ((_, winner, _), _) = sales(played)
    asked = next(request for request in requests(played, winner) if request.state.round == 2)
    assert private_value(asked, _luck(1, str(winner))) <= step(asked.terms) + len(asked.terms.teams)


# the others


def _decided(played: Simulation) -> list[tuple[Bid, int]]:
    decided = [decision.model_dump()["bid"] for _, decisions in played.waves for decision in decisions]
    return list(zip(requests(played), decided, strict=True))


def _mixed(policies: Mapping[str, str], **config: Any) -> Simulation:
    """Each team on the bot that stands by its name."""

    def each_its_own(request: Request[Any], rng: Stream) -> Decision:
        return BOTS[policies[request.player]](request, rng)

    return play("Compass 60, Kettle -20, Gyroscope 40", {team: [] for team in policies}, bot=each_its_own, **config)


def test_a_sniper_shows_nothing_at_first_and_then_leaps() -> None:
    leaps = 0
    for seed in range(20):
        for request, bid in _decided(_mixed({"A": "truthful", "B": "sniper", "C": "truthful"}, seed=seed)):
            state = request.state
            if request.player != "B":
                continue
            if state.iteration == 1 or state.leading:
                assert bid == 0
            elif bid:
                assert state.high.amount < bid <= state.you.budget
                leaps += bid >= state.high.amount * 3 // 2
    assert leaps > 5


def test_a_sniper_with_one_shot_takes_it() -> None:
    configs: list[dict[str, Any]] = [{"max_iterations": 1}, *({"format": format_} for format_ in SEALED)]
    for config in configs:
        played = _of(2, REQUIRED, "sniper", 1, **config)
        assert all(bid > 0 for _, bid in _decided(played))


def test_snipers_alone_wait_for_each_other_until_the_item_is_lost() -> None:
    """The seed's rule: where nobody bids in the first iteration, there is no second."""
    assert sales(_of(3, REQUIRED, "sniper", 1)) == [("Compass", None, 0)]


def test_a_hoarder_bids_on_whatever_it_is_and_does_not_spend_all_at_once() -> None:
    played = _mixed({"A": "hoarder", "B": "hoarder"})
    firsts = [bid for request, bid in _decided(played) if request.state.iteration == 1]
    assert all(bid > 0 for bid in firsts), "junk too"
    for request, bid in _decided(played):
        state = request.state
        left = 3 - state.round + 1
        assert bid <= min(state.you.budget, 2 * state.you.budget // left)
        assert not (state.leading and bid)
    assert len(played.events(ItemSold)) == 3


def test_a_random_bot_makes_every_kind_of_bid() -> None:
    reasons = {bid.fail_reason for seed in range(10) for bid in _of(4, REQUIRED, "random", seed).events(BidMade)}
    assert reasons == {"", "Pass", "OverBudget", "LowerThanHighBid"}


# all of them


@pytest.mark.parametrize("format_", FORMATS)
@pytest.mark.parametrize("bot", BOTS)
def test_every_bot_plays_every_format_to_its_end(bot: str, format_: str) -> None:
    for seed in range(5):
        for items in ("random", "Compass 60"):
            played = _of(3, items, bot, seed, format=format_, budget=[1, 7, 100, 1_000, 10**9][seed])
            assert played.outcome.reason == "all items were offered"


@pytest.mark.parametrize("count", [2, 20, 21, 60])
def test_a_truthful_auction_can_have_many_teams(count: int) -> None:
    teams = [f"t{number}" for number in range(count)]
    config = {"items": {"scenario": "x", "items": listed(REQUIRED)}}
    assert simulate(GAME, config, teams, bot="truthful").events(ItemSold)


@examples(30)
@given(seed=st.integers(0, 10**6), bot=st.sampled_from(sorted(BOTS)), format_=st.sampled_from(FORMATS))
def test_a_bot_is_a_function_of_the_request_and_of_its_stream(seed: int, bot: str, format_: str) -> None:
    """Asked again with the request as its journal holds it, in any order, each decides the same."""
    config = AuctionConfig.from_toml({"items": {"scenario": "x", "items": listed("Compass 60, Kettle -5")}})
    config = config.model_copy(update={"format": format_})
    game = GamePlay(GAME, config, "ABC", seed)
    taken: list[tuple[dict[str, Any], int, Decision]] = []
    wave = game.start()
    while wave is not None:
        decisions = [BOTS[bot](ask.request, game.bot_rng(ask)) for ask in wave.asks]
        for ask, decision in zip(wave.asks, decisions, strict=True):
            ask.request.check(decision)
            taken.append((ask.request.to_json(), ask.nth, decision))
        wave = game.answer(decisions)
    for data, nth, decision in reversed(taken):
        request = Bid.restore(json.loads(json.dumps(data)))
        assert BOTS[bot](request, _luck(seed, request.player, nth)) == decision
