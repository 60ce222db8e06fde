"""Games of drawn decisions, every wave of them checked: a part of the tests, and by itself as long as one likes.

`python -m tests.games.monopoly.soak 2000` plays 2,000 whole games and five times as many crises, prints how often each
kind of thing happened in them, and fails where one did not.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from time import perf_counter
from typing import Any

from agentsim.engine import Choice, Number
from agentsim.engine.chance import Chance, Stream
from agentsim.engine.decision import Decision
from agentsim.engine.event import LoggedEvent
from agentsim.engine.play import GamePlay
from agentsim.engine.request import Request
from agentsim.games.monopoly import GAME
from agentsim.games.monopoly.board import CARDS, DECKS, GROUPS, HOTEL, HOTELS, HOUSES, JAIL_CARDS, SPACES
from agentsim.games.monopoly.bots import randomly
from agentsim.games.monopoly.building import Bundle, HouseOrHotel, Managed, ManageEstate, able
from agentsim.games.monopoly.debts import Raise, RaiseCash, Raised
from agentsim.games.monopoly.game import play_turn
from agentsim.games.monopoly.phase import DoEstate, PhaseAction, PhaseChoice
from agentsim.games.monopoly.question import MonopolyRequest
from agentsim.games.monopoly.state import State, View
from tests.games.monopoly.coverage import KINDS, Coverage, missing
from tests.games.monopoly.ledger import Ledger
from tests.games.monopoly.table import DECK_NAMES, Game

EVERY = 7  # of how many requests all options are tried
CRISES = 5  # a whole game
CHEAP = 50  # dollars a house
HEIGHTS = ((0, 0, 1), (1, 1, 1), (3, 4, 4), (4, 4, 5), (5, 5, 5))
SCENES = (
    ((0.5, 0.5), 0.5, 0.8, HEIGHTS, (0, 3, 12, 30, 60, 400)),
    ((0.2, 0.2), 0.1, 0.8, HEIGHTS, (0, 12, 60, 400, 1000)),
    ((0.7, 0.7), 0.5, 0.3, HEIGHTS[2:], (0, 0, 60, 400, 1000)),
    ((0.9, 0.1), 0.9, 0.1, HEIGHTS[:3], (0, 0, 3, 30)),
    ((0.0, 0.0), 0.8, 0.8, HEIGHTS, (0, 0, 0, 3)),
)
"""How likely a group of cheap houses and of dear ones is built up, a deed mortgaged, a deed held; counts; cash."""
RARE = ("C10", "C12", "C15", "H09", "H14")  # cards by which most different things can happen


def talkative(request: Request[Any], rng: Stream) -> Decision:
    """bot/random, which says and thinks something now and then."""
    decision = randomly(request, rng)
    words = {"public_speech": "Well.", "private_thought": "Hm."} if rng.random() < 0.05 else {}
    known = {name: text for name, text in words.items() if name in type(decision).model_fields}
    return decision.model_copy(update=known)


class Watch:
    """Looks at every wave of one game: what is so and shown must be what the events come to, what is offered legal."""

    def __init__(self, ledger: Ledger, log: Sequence[LoggedEvent], state: State) -> None:
        self.ledger, self.coverage = ledger, Coverage(ledger)
        self._log, self._state = log, state
        self._heard = self._asked = 0
        self._now: View | None = None

    def listen(self) -> None:
        """Enter what has been told since, and hold it against the game as it is."""
        while self._heard < len(self._log):
            self.coverage.hear(self._log[self._heard])
            self.ledger.hear(self._log[self._heard])
            self._heard += 1
        self._now = replace(self._state, _seen=-1).view()  # made anew, whatever version it has
        self.ledger.assert_is(self._now)

    def wave(self, requests: Sequence[Request[Any]], lucks: Iterable[Stream]) -> list[Decision]:
        """Drawn decisions, after a look at the questions."""
        self.listen()
        assert requests, "a wave asks somebody"
        return [self._decide(request, rng) for request, rng in zip(requests, lucks, strict=True)]

    def _decide(self, request: Request[Any], rng: Stream) -> Decision:
        assert isinstance(request, MonopolyRequest)
        assert request.view == self._now, "what is shown is what is so"
        self.coverage.asked(request)
        self._asked += 1
        if self._asked % EVERY == 0:
            assert_offered_is_legal(request)
        decision = talkative(request, rng)
        request.check(decision)
        self.coverage.decided(request, decision)
        return decision


def soak(seed: int, players: int, **config: Any) -> tuple[Counter[str], Sequence[LoggedEvent]]:
    """One whole game: what happened in it by name, and its log."""
    ids = "ABCDEFGH"[:players]
    play = GamePlay(GAME, GAME.config.from_toml(config), ids, seed)
    wave = play.start()
    state = play.table.watched
    assert isinstance(state, State), "the kernel looks at it after every wave"
    watch = Watch(Ledger(shuffled_decks(seed)), play.log, state)
    while wave is not None:
        wave = play.answer(watch.wave([ask.request for ask in wave.asks], map(play.bot_rng, wave.asks)))
    watch.listen()
    watch.coverage.ended()
    assert play.outcome is not None
    assert {standing.player: standing.score["cash"] for standing in play.outcome.standings} == watch.ledger.cash
    return watch.coverage.seen, play.log


def crisis(seed: int, players: int = 4, turns: int = 12, **config: Any) -> Counter[str]:
    """Some turns from a drawn position in which much is built and mortgaged and nobody has much cash."""
    rng = Chance(seed).stream("crisis")
    ids = "ABCDEFGH"[:players]
    hands = drawn_hands(ids, rng)
    held = [JAIL_CARDS[name] for word, name in DECK_NAMES.items() for hand in hands.values() if word in hand.split()]
    shuffled = {name: [card for card in cards if card not in held] for name, cards in shuffled_decks(seed).items()}
    first = rng.pick((rng.pick(RARE), rng.pick(tuple(CARDS)), ""))
    tops = {name: sorted(cards, key=lambda card: card != first) for name, cards in shuffled.items()}
    decks = {word: " ".join(tops[name]) for word, name in DECK_NAMES.items()}
    game = Game(ids, config=config, together=True, **decks, **hands)
    game.table.chance = Chance(seed)
    state = game.state
    watch = Watch(Ledger({name: deck.order for name, deck in state.decks.items()}), game.table.log, state)
    watch.ledger.begin_at(state)
    for _ in range(turns):
        game.table.round("next")
        play = play_turn(game.match, state.active)
        try:
            wave = play.send(None)
            while True:
                assert not state.check()
                wave = play.send(watch.wave(wave, repeat(rng, len(wave))))
        except StopIteration:
            assert not state.check()
            watch.listen()
        if state.over:
            break
        state.active = state.after(state.active)[0]
        state.version += 1
    return watch.coverage.seen


def shuffled_decks(seed: int | str) -> dict[str, list[str]]:
    """The decks of a game with this seed."""
    chance = Chance(seed)
    return {name: chance.stream(f"deck/{name}").shuffled([card.id for card in cards]) for name, cards in DECKS.items()}


def drawn_hands(ids: str, rng: Stream) -> dict[str, str]:
    """A legal position, by player: whole groups with buildings, deeds in many hands, mortgages, jail, little cash."""
    hands: dict[str, list[str]] = {player: [f"@{drawn_start(rng)}"] for player in ids}
    bank_houses, bank_hotels = HOUSES, HOTELS
    built, pledged, held, heights, purses = rng.pick(SCENES)
    owners = ids if any(built) else ids[0] * 8 + ids  # one with everything mortgaged ruins whoever has it to take
    for lots in GROUPS.values():
        street = bool(SPACES[lots[0]].house_cost)
        if not street and rng.random() < 0.3:
            hands[rng.pick(ids)] += map(str, lots)
            continue
        if street and rng.random() < built[SPACES[lots[0]].house_cost > CHEAP]:
            counts = rng.pick(heights)[-len(lots) :]
            needed = sum(houses for houses in counts if houses < HOTEL)
            if needed <= bank_houses and counts.count(HOTEL) <= bank_hotels:
                bank_houses, bank_hotels = bank_houses - needed, bank_hotels - counts.count(HOTEL)
                owner = rng.pick(ids)
                hands[owner] += [
                    f"{lot}:{'H' if houses == HOTEL else houses}" for lot, houses in zip(lots, counts, strict=True)
                ]
                continue
        for lot in lots:
            if rng.random() < held:
                hands[rng.pick(owners)].append(f"{lot}{'m' * (rng.random() < pledged)}")
    for player in ids:
        hands[player].append(f"${rng.pick(purses)}")
        if rng.random() < 0.2:
            hands[player].append(f"jail:{rng.below(3)}")
    for card in ("chance", "chest"):
        if rng.random() < 0.5:
            hands[rng.pick(ids)].append(card)
    return {player: " ".join(parts) for player, parts in hands.items()}


def drawn_start(rng: Stream) -> int:
    """Anywhere, but mostly where the likeliest throw leads to a card or a tax."""
    aim = rng.pick([space.position for space in SPACES if space.kind in DECKS or space.tax])
    return rng.below(len(SPACES)) if rng.random() < 0.25 else (aim - 7) % len(SPACES)


def assert_offered_is_legal(request: MonopolyRequest[Any]) -> None:
    """The fallback and every listed option can be executed, and there is more than one thing to choose."""
    fallback = request.fallback()
    request.check(fallback)
    for name, option in request.options().items():
        if isinstance(option, Choice):
            assert len(option.values) > 1, "asked only where there is a choice"
            for value in option.values if "." not in name else ():
                request.check(fallback.model_copy(update={name: value}))
        if isinstance(option, Number):
            assert option.low < (option.high or sys.maxsize)
    if isinstance(request, ManageEstate):
        for bundle in single_steps(request):
            request.check(Managed(action=bundle))
    if isinstance(request, PhaseAction) and "manage_estate" in request.kinds:
        for bundle in single_steps(request):
            request.check(PhaseChoice(action=DoEstate(**dict(bundle))))
    if isinstance(request, RaiseCash):
        for bundle in single_steps(request):
            if bundle.sells or bundle.mortgages:
                request.check(Raised(action=Raise(sells=bundle.sells, mortgages=bundle.mortgages)))


def single_steps(request: MonopolyRequest[Any]) -> list[Bundle]:
    """Every single thing that is listed and that the player has the cash for."""
    estate, seat, cash = request.view.estate(), request.seat, request.you.cash
    houses = estate.houses
    built = [lot for lot in able(estate, "build", seat) if SPACES[lot].house_cost <= cash]
    lifted = [position for position in able(estate, "unmortgage", seat) if SPACES[position].redemption <= cash]
    sales = [
        HouseOrHotel(position=lot, type="hotel" if houses[lot] == HOTEL else "house")
        for lot in able(estate, "sell", seat)
    ]
    builds = [HouseOrHotel(position=lot, type="hotel" if houses[lot] == HOTEL - 1 else "house") for lot in built]
    return [
        *(Bundle(mortgages=(position,)) for position in able(estate, "mortgage", seat)),
        *(Bundle(unmortgages=(position,)) for position in lifted),
        *(Bundle(sells=(sale,)) for sale in sales),
        *(Bundle(builds=(build,)) for build in builds),
    ]


def played(seeds: Iterable[int]) -> Counter[str]:
    """What happened in one whole game and some crises for each seed, of every size and form."""
    seen: Counter[str] = Counter()
    for seed in seeds:
        seen += soak(seed, 2 + seed % 7, **drawn_config(seed))[0]
        for number in range(CRISES * seed, CRISES * (seed + 1)):
            seen += crisis(number, 2 + number % 7, **drawn_config(number))
    return seen


def main(games: int) -> int:
    """Play them, print how often each thing happened; how many kinds never did."""
    begun = perf_counter()
    seen = played(range(games))
    for name, count in sorted(seen.items()):
        print(f"{count:11,} {name}")
    never = missing(seen)
    for name in never:
        print(f"      NEVER {name}")
    took = perf_counter() - begun
    print(f"{games:,} games, {CRISES * games:,} crises, {took:.0f} s: {len(KINDS) - len(never)} of {len(KINDS)} kinds")
    return len(never)


def drawn_config(seed: int) -> dict[str, Any]:
    """Settings of every form."""
    rng = Chance(seed).stream("config")
    return {
        "auction": rng.pick(("open", "sealed")),
        "auction_min_step": rng.pick((1, 10)),
        "official_third_turn": rng.pick((False, True)),
        "proposals_per_phase": rng.pick((1, 1, 2)),
        "start_cash": rng.pick((1500, 1500, 400, 60)),
        "max_turns": rng.pick((40, 80, 160)),
        "questions": rng.pick(("together", "separate")),
        "raise_first": rng.pick((False, True)),
        "between_turns": rng.pick(("never", "when_it_matters", "when_it_matters", "after_every_roll")),
        "house_shortage": rng.pick(("auction", "auction", "seat_order")),
        "lift_on_receipt": rng.pick((False, True)),
    }


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)))
