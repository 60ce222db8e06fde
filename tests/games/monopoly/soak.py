"""Whole games of drawn decisions, every wave of them checked: a part of the tests, and by itself as long as one likes.

`python -m tests.games.monopoly.soak 2000` plays 2,000 games and says what happened in them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from time import perf_counter
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.play import GamePlay
from agentsim.engine.reading import Decision
from agentsim.engine.request import Choice, Range, Request
from agentsim.games.monopoly import GAME
from agentsim.games.monopoly.actions import Build, Bundle, Managed, Sale
from agentsim.games.monopoly.board import HOTEL, SPACES
from agentsim.games.monopoly.bots.randomly import randomly
from agentsim.games.monopoly.requests import ManageEstate, MonopolyRequest
from tests.games.monopoly.ledger import Ledger


def talkative(request: Request[Any], luck: Stream) -> Decision:
    """bot/random, which says and thinks something now and then."""
    decision = randomly(request, luck)
    words = {"public_speech": "Well.", "private_thought": "Hm."} if luck.random() < 0.05 else {}
    known = {name: text for name, text in words.items() if name in type(decision).model_fields}
    return decision.model_copy(update=known)


def soak(seed: int, players: int, **config: Any) -> tuple[Counter[str], list[str]]:
    """One whole game; what happened in it by name, and its log as it would be written.

    After every wave the state is checked (by the kernel), the board that is shown equals what the events come to,
    and everything that is offered is legal.
    """
    ids = "ABCDEFGH"[:players]
    play = GamePlay(GAME, GAME.config.from_toml({"max_turns": 200, **config}), ids, seed)
    ledger = Ledger(seed)
    heard, shown = 0, None
    wave = play.start()
    while wave is not None:
        for told in play.log[heard:]:
            ledger.hear(told)
        heard = len(play.log)
        decisions = []
        for ask in wave.asks:
            request = ask.request
            assert isinstance(request, MonopolyRequest)
            ledger.seen[request.kind] += 1
            if request.view is not shown:
                ledger.assert_is(request.view)
                shown = request.view
            if ask.index % 7 == 0:
                assert_offered_is_legal(request)
            decision = talkative(request, play.luck(ask))
            request.check(decision)
            decisions.append(decision)
        ledger.raising = wave.asks[0].request.player if wave.asks[0].request.kind == "raise_cash" else (
            ledger.raising if wave.asks[0].request.kind in {"answer_trade", "react"} else None
        )
        wave = play.answer(decisions)
    for told in play.log[heard:]:
        ledger.hear(told)
    ledger.assert_over(ids)
    assert play.outcome is not None
    final = {standing.player: standing.score["cash"] for standing in play.outcome.standings}
    assert final == ledger.cash
    ledger.seen["ended by the last one left" if len(ledger.out) == players - 1 else "ended at the cap"] += 1
    return ledger.seen, [f"{told.event.kind} {told.to} {told.event.data()} {told.event.content}" for told in play.log]


def assert_offered_is_legal(request: MonopolyRequest[Any]) -> None:
    """The fallback and every listed option can be executed, and there is more than one thing to choose."""
    fallback = request.fallback()
    request.check(fallback)
    options: Mapping[str, Any] = request.options()
    for name, option in options.items():
        if isinstance(option, Choice):
            assert len(option.values) > 1, "asked only where there is a choice"
            for value in option.values:
                request.check(fallback.model_copy(update={name: value}))
        if isinstance(option, Range):
            assert option.low < (option.high or sys.maxsize)
    if isinstance(request, ManageEstate):
        _every_step(request)


def _every_step(request: ManageEstate) -> None:
    estate, seat, cash = request.view.estate(), request.seat, request.you.cash
    bundles = [Bundle(mortgages=(position,)) for position in estate.mortgageable(seat)]
    bundles += [
        Bundle(unmortgages=(position,)) for position in estate.liftable(seat) if SPACES[position].redemption <= cash
    ]
    bundles += [
        Bundle(builds=(Build(position=lot, type="hotel" if estate.level[lot] == HOTEL - 1 else "house"),))
        for lot in estate.buildable(seat)
        if SPACES[lot].house_cost <= cash
    ]
    bundles += [
        Bundle(sells=(Sale(position=lot, type="hotel" if estate.level[lot] == HOTEL else "house"),))
        for lot in estate.sellable(seat)
    ]
    for bundle in bundles:
        request.check(Managed(action=bundle))


def main(games: int) -> None:
    """Play them in every size and form, and print how often each thing happened."""
    seen: Counter[str] = Counter()
    begun = perf_counter()
    for seed in range(games):
        form = ("open", "sealed")[seed % 2]
        happened, _ = soak(seed, 2 + seed // 2 % 7, auction=form, start_cash=(1500, 400)[seed // 14 % 2], max_turns=400)
        seen += happened
    for name, count in sorted(seen.items()):
        print(f"{count:9,} {name}")
    print(f"{games} games in {perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
