"""Conservation to the unit after every step of random games, and that a broken state is noticed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsim.engine.play import GamePlay
from agentsim.errors import RulesBroken
from agentsim.games.market import GAME
from agentsim.games.market.world import CAPITAL, Ledger
from tests.amounts import examples

CONFIG: dict[str, Any] = {
    "goods": ["wheat", "cloth"],
    "stock": {"wheat": 9, "cloth": 5},
    "artifacts": ["marketplace", "dialogue", "bank"],
    "settings": {"marketplace": {"price_max": 12}, "bank": {"capital": 40, "deposit_rate": 200}},
    "tools": ["calculator", "notebook"],
    "rounds": 12,
}


@examples(12)
@given(
    seed=st.integers(0, 10**6),
    simultaneous=st.booleans(),
    rules=st.fixed_dictionaries(
        {"quotes": st.sampled_from(["any", "best"]), "cancel_after_trade": st.booleans(), "single_unit": st.booleans()}
    ),
)
def test_goods_and_capital_are_conserved_after_every_step(seed: int, simultaneous: bool, rules: dict[str, Any]) -> None:
    table = {**CONFIG, "simultaneous": simultaneous}
    table["settings"] = {**CONFIG["settings"], "marketplace": {"price_max": 12, **rules}}
    play = GamePlay(GAME, GAME.config.from_toml(table), ["A", "B", "C", "D"], seed)
    wave = play.start()
    while wave is not None:
        accounts = play.table.watched.world.ledger.accounts.values()  # type: ignore[union-attr] # a Market
        assert sum(account.amount(CAPITAL) for account in accounts) == 4 * 100 + 40
        assert sum(account.amount("wheat") for account in accounts) == 4 * 9
        assert all(account.free(asset) >= 0 for account in accounts for asset in account.held)
        wave = play.answer([GAME.bots["random"](ask.request, play.bot_rng(ask)) for ask in wave.asks])
    assert play.outcome is not None


def test_a_unit_from_nowhere_stops_the_game() -> None:
    play = GamePlay(GAME, GAME.config.from_toml(CONFIG), ["A", "B"], 1)
    wave = play.start()
    assert wave is not None
    ledger: Ledger = play.table.watched.world.ledger  # type: ignore[union-attr] # a Market
    ledger._add("A", "wheat", 1)
    with pytest.raises(RulesBroken, match="wheat is neither made nor lost"):
        play.answer([GAME.bots["idle"](ask.request, play.bot_rng(ask)) for ask in wave.asks])


def test_a_promise_that_nobody_made_stops_the_game() -> None:
    play = GamePlay(GAME, GAME.config.from_toml(CONFIG), ["A", "B"], 1)
    wave = play.start()
    assert wave is not None
    play.table.watched.world.ledger.reserve("A", "wheat", 1)  # type: ignore[union-attr] # a Market
    with pytest.raises(RulesBroken, match="A: wheat is reserved for open promises and nothing else"):
        play.answer([GAME.bots["idle"](ask.request, play.bot_rng(ask)) for ask in wave.asks])


@pytest.mark.parametrize("verb", ["withdraw", "reserve", "release"])
def test_no_account_gives_what_it_has_not(verb: str) -> None:
    ledger = Ledger()
    ledger.open("A")
    ledger.issue("A", "wheat", 2)
    with pytest.raises(AssertionError):
        getattr(ledger, verb)("A", "wheat", 3)
    with pytest.raises(AssertionError):
        ledger.move("A", "A", "wheat", 3)
