"""What no game of Monopoly can do, whoever plays: see `ledger` for what is held against what, after every wave.

`soak` run by itself plays thousands of games; here are as many as show every kind of thing that can happen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.chance import Chance
from agentsim.engine.event import LoggedEvent
from agentsim.errors import IllegalDecision
from agentsim.games.monopoly.board import JAIL, SPACES, STREETS
from agentsim.games.monopoly.building import Bundle, HouseOrHotel, Step, change_estate
from agentsim.games.monopoly.state import BANK, Estate, State
from agentsim.games.monopoly.trade import Side
from tests.amounts import each_row, examples
from tests.games.monopoly.answers import bid, side
from tests.games.monopoly.coverage import KINDS, missing
from tests.games.monopoly.ledger import Ledger
from tests.games.monopoly.soak import crisis, drawn_config, drawn_hands, shuffled_decks, soak
from tests.games.monopoly.table import Game

FORMS = ("open", "sealed")
GAMES, RUINS, CRISES = range(16), range(4), 1000
"""Seeds: enough for every kind of thing, most of them several times over."""


@pytest.mark.slow
def test_games_and_crises_show_every_question_card_and_debt_and_all_that_comes_of_them() -> None:
    """What there is to be seen, by name, is `coverage.KINDS`; one that is not seen any more needs more crises."""
    seen: Counter[str] = Counter()
    for seed in GAMES:
        seen += soak(seed, 2 + seed % 7, **drawn_config(seed))[0]
    for seed in RUINS:
        seen += soak(seed, 2, start_cash=60, max_turns=200)[0]
    for seed in range(CRISES):
        seen += crisis(seed, 2 + seed % 7, turns=5, **drawn_config(seed))
    assert not missing(seen)
    assert set(seen) <= set(KINDS), "every kind has its name in the list"


@examples(60)
@given(seed=st.integers(0, 10**9), players=st.integers(2, 8), form=st.sampled_from(FORMS), step=st.integers(1, 60))
def test_any_crisis(seed: int, players: int, form: str, step: int) -> None:
    crisis(seed, players, turns=8, auction=form, auction_min_step=step, official_third_turn=bool(seed % 2))


@pytest.mark.parametrize("form", FORMS)
def test_the_same_seed_and_choices_make_the_same_log(form: str) -> None:
    first, second, other = (written(soak(seed, 4, auction=form, max_turns=60)[1]) for seed in (3, 3, 4))
    assert first == second != other


def written(log: Sequence[LoggedEvent]) -> list[str]:
    return [f"{told.event.kind} {told.to} {told.event.data()} {told.event.content}" for told in log]


# -- any bundle, any trade

PLACES = st.integers(-1, 40)
TYPES = st.sampled_from(["house", "hotel"])
BUNDLES = st.builds(
    Bundle,
    sells=st.lists(st.builds(HouseOrHotel, position=st.sampled_from(STREETS), type=TYPES), max_size=6).map(tuple),
    mortgages=st.lists(PLACES, max_size=2).map(tuple),
    unmortgages=st.lists(PLACES, max_size=2).map(tuple),
    builds=st.lists(st.builds(HouseOrHotel, position=st.sampled_from(STREETS), type=TYPES), max_size=6).map(tuple),
)
ESTATES = ("16 18 19 1:4 3:4", "16:4 18:4 19:H 5m", "6:1 8:2 9:1 12m 28", "37:H 39:H 21:3 23:3 24:4")


@examples(300)
@given(hand=st.sampled_from(ESTATES), cash=st.sampled_from([0, 50, 400, 3000]), bundle=BUNDLES)
def test_any_bundle_is_refused_or_sound(hand: str, cash: int, bundle: Bundle) -> None:
    game = Game(A=f"${cash} {hand}")
    estate = game.state.estate.copy()
    try:
        steps = change_estate(estate, 0, cash, bundle)
    except IllegalDecision:
        return
    assert not list(estate.check())
    assert estate.owner == game.state.estate.owner
    for step in steps:
        cash += step.amount if step.kind in {"sell", "mortgage"} else -step.amount
        assert cash >= 0
    assert liquidation_value_after(game.state.estate, steps) >= estate.liquidation_value(0), (
        "no bundle makes money out of nothing"
    )


def liquidation_value_after(before: Estate, steps: Sequence[Step]) -> int:
    """What the estate could bring at most after these steps: what comes in goes out of it."""
    received = sum(step.amount for step in steps if step.kind in {"sell", "mortgage"})
    spent = sum(step.amount for step in steps if step.kind in {"unmortgage", "build"})
    return before.liquidation_value(0) - received + spent


SIDES = st.builds(
    Side,
    properties=st.lists(st.integers(0, 39), max_size=3).map(tuple),
    cash=st.integers(-1, 450),
    jail_cards=st.integers(0, 2),
)


@examples(150)
@given(seed=st.integers(0, 10**6), gives=SIDES, wants=SIDES)
def test_any_trade_is_discarded_or_sound(seed: int, gives: Side, wants: Side) -> None:
    """`trade` checks the state afterwards."""
    game = Game(**drawn_hands("ABCD", Chance(seed).stream("hands")))
    before = sum(game.cash.values())
    mortgaged = [
        position for position in (*gives.properties, *wants.properties) if game.state.estate.mortgaged[position]
    ]
    game.trade("B", gives, wants)
    due = sum(SPACES[position].interest for position in mortgaged) if game.gains or game.asked else 0
    assert sum(game.cash.values()) in {before, before - due}


# -- the checks themselves can fail


BREAKS: dict[str, Callable[[State], object]] = {
    "cash changes by named payments": lambda state: state.change(0, cash=1),
    "cash is not below zero": lambda state: state.move_cash(0, 1, 9999),
    "houses on lots and in the bank": lambda state: setattr(state.estate, "bank_houses", 33),
    "hotels on lots and in the bank": lambda state: setattr(state.estate, "bank_hotels", 11),
    "buildings are even": lambda state: [state.estate.change("build", 16) for _ in range(2)],
    "whole groups": lambda state: state.give_deed(18, 1),
    "clear groups": lambda state: state.estate.mortgaged.__setitem__(19, True),
    "what the bank holds is clear": lambda state: state.estate.mortgaged.__setitem__(39, True),
    "only deeds are held": lambda state: state.give_deed(0, 1),
    "on streets alone": lambda state: state.estate.houses.__setitem__(5, 1),
    "the bank's or a living player's": lambda state: state.give_deed(39, 2),
    "the bankrupt hold nothing": lambda state: state.give_card("chance", BANK, 2),
    "stands there": lambda state: state.change(0, jailed=True),
    "failed at most twice": lambda state: state.put(0, JAIL, jailed=True, failed=3),
    "counted in jail alone": lambda state: state.put(0, 0, failed=1),
    "the token is on the board": lambda state: state.put(0, 40),
    "every chance card": lambda state: state.decks["chance"].put_back("C09"),
    "every community_chest card": lambda state: state.give_card("community_chest", BANK, 0),
}


@each_row("broken", BREAKS)
def test_a_broken_invariant_is_named(broken: str) -> None:
    state = Game(A="16:1 18:1 19:1 5", C="out").state
    assert state.check() == []
    BREAKS[broken](state)
    assert any(broken in line for line in state.check())


def test_a_broken_invariant_is_named_every_time() -> None:
    state = Game(A="16").state
    state.give_deed(0, 1)
    assert state.check() == state.check() != []


def test_an_impossible_position_cannot_be_set_up() -> None:
    with pytest.raises(AssertionError, match="even"):
        Game(A="16:3 18 19")
    with pytest.raises(AssertionError, match="whole groups"):
        Game(A="16:1 18:1")


def test_the_ledger_disagrees_with_a_board_that_is_not_so() -> None:
    game = Game(A="16")
    ledger = Ledger(shuffled_decks(1))
    ledger.begin_at(game.state)
    game.trade("B", side(16), side(cash=5)).auction(6, B=[bid(3)])
    view = game.asked[-1].view  # type: ignore[attr-defined] # every question of Monopoly has one
    with pytest.raises(AssertionError):
        ledger.assert_is(view)
    for told in game.table.log:
        ledger.hear(told)
    assert ledger.cash == game.cash
