"""Bots: scripted bidders. Each is a pure function of the request and of its own random streams.

A bot's private values last for the game (`Stream.per_game`); other draws are made at every decision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentsim.engine.chance import Stream
from agentsim.engine.decision import Decision
from agentsim.engine.game import Bot
from agentsim.games.auction.bidding import Bid, BidCast
from agentsim.games.auction.lots import AuctionBegan

STEPS = 5  # the highest value of `bot/truthful`, in steps


def step(terms: AuctionBegan) -> int:
    """Return the raise of `bot/truthful`: a twenty-fifth of the budget, at least 10."""
    return max(10, terms.budget // 25)


def private_value(request: Bid, rng: Stream) -> int:
    """Return the value of the present item to `bot/truthful`, drawn once per item.

    It is uniform over five steps for a required item that the team lacks, and over one step for any other. With up to
    20 teams it is rounded down to a multiple of their number, plus the team's seat, so that no two values tie (the
    textbook's values are continuous).
    """
    state, terms = request.state, request.terms
    lacks = state.item.required and all(item.name != state.item.name for item in state.you.acquired)
    drawn = rng.per_game(f"value/{state.round}").integer(1, step(terms) * (STEPS if lacks else 1))
    seats = len(terms.teams)
    if seats > 20:
        return drawn
    return (drawn // seats) * seats + list(terms.teams).index(request.player) + 1


def _up_to(request: Bid, most: int, raise_: int, words: tuple[str, str, str]) -> tuple[int, str]:
    """Raise by `raise_`, up to `most`. `words` are for a sealed bid, for a pass and for a raise."""
    state, (shut, left, raised) = request.state, words
    if request.terms.sealed:
        return most, shut
    if state.leading or most <= state.high.amount:
        return 0, left
    return min(state.high.amount + raise_, most), raised


def _truthful(request: Bid, rng: Stream) -> tuple[int, str]:
    value = private_value(request, rng)
    worth = f"It is worth {value} to me"
    words = f"{worth}.", f"{worth}, so I leave it there.", f"{worth}, so I raise."
    return _up_to(request, min(value, request.state.you.budget), step(request.terms), words)


def _fair(request: Bid) -> int:
    """Return the budget divided by the missing components still to be sold, or a tenth of that for any other item."""
    state, terms = request.state, request.terms
    owned = {item.name for item in state.you.acquired}
    to_come = terms.items if request.shuffled else terms.items[state.round - 1 :]
    missing = {item.name for item in to_come if item.required} - owned
    share = state.you.budget // max(1, len(missing))
    return share if state.item.name in missing else share // 10


def _sniper(request: Bid, rng: Stream) -> tuple[int, str]:
    state = request.state
    most = min(state.you.budget, _fair(request) * 3 // 2)
    if request.terms.sealed:
        return most, "One shot."
    if state.leading:
        return 0, "Mine so far."
    if state.iteration == 1 and request.terms.max_iterations > 1:
        return 0, "I show nothing yet."
    jump = state.high.amount + max(1, state.high.amount // 2)
    if jump <= most:
        return jump, "Now, and by a leap."
    return (most, "My last word.") if most > state.high.amount else (0, "Too dear.")


def _hoarder(request: Bid, rng: Stream) -> tuple[int, str]:
    left, budget = max(1, len(request.terms.items) - request.state.round + 1), request.state.you.budget
    most, want = min(budget, 2 * budget // left), "I want it, whatever it is."
    return _up_to(request, most, max(1, most // 4), (want, "I keep my money for the next one.", want))


def _random(request: Bid, rng: Stream) -> tuple[int, str]:
    state, mood = request.state, rng.random()
    budget, high = state.you.budget, state.high.amount
    if mood < 0.3:
        return 0, "Not this one."
    if mood < 0.4:
        return budget + rng.integer(1, 50), "All I have and more."
    if mood < 0.5:
        return rng.integer(0, high), "Perhaps they forget the last bid."
    most = min(budget, high + max(1, request.terms.budget // 10))
    return (rng.integer(high + 1, most), "Why not?") if most > high else (0, "I cannot.")


def _policy(choose: Callable[[Bid, Stream], tuple[int, str]]) -> Bot:
    def policy(request: Any, rng: Stream) -> Decision:
        assert isinstance(request, Bid), f"no policy for {request.kind}"
        amount, why = choose(request, rng)
        return BidCast(bid=amount, reasoning=why)

    return policy


BOTS: Mapping[str, Bot] = {
    "random": _policy(_random),
    "truthful": _policy(_truthful),
    "sniper": _policy(_sniper),
    "hoarder": _policy(_hoarder),
}
