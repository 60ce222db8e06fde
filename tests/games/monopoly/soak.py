"""Games of drawn decisions, every wave of them checked: a part of the tests, and by itself as long as one likes.

`python -m tests.games.monopoly.soak 2000` plays 2,000 whole games and as many crises, and says what happened in them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from agentsim.engine.chance import Chance, Stream
from agentsim.engine.event import Told
from agentsim.engine.play import GamePlay
from agentsim.engine.reading import Decision
from agentsim.engine.request import Choice, Range, Request
from agentsim.games.monopoly import GAME
from agentsim.games.monopoly.actions import Build, Bundle, Managed, Sale
from agentsim.games.monopoly.board import GROUPS, HOTEL, HOTELS, HOUSES, SPACES
from agentsim.games.monopoly.bots.randomly import randomly
from agentsim.games.monopoly.cards import DECKS, JAIL_CARDS
from agentsim.games.monopoly.requests import ManageEstate, MonopolyRequest
from agentsim.games.monopoly.turn import play_turn
from tests.games.monopoly.ledger import Ledger
from tests.games.monopoly.table import DECK_NAMES, Game

EVERY = 7  # of how many requests all options are tried


def talkative(request: Request[Any], luck: Stream) -> Decision:
    """bot/random, which says and thinks something now and then."""
    decision = randomly(request, luck)
    words = {"public_speech": "Well.", "private_thought": "Hm."} if luck.random() < 0.05 else {}
    known = {name: text for name, text in words.items() if name in type(decision).model_fields}
    return decision.model_copy(update=known)


class Watch:
    """Looks at every wave of one game: what is shown must be what the events come to, and what is offered legal."""

    def __init__(self, ledger: Ledger, log: Sequence[Told]) -> None:
        self.ledger, self._log = ledger, log
        self._heard = self._asked = 0
        self._shown: Any = None

    def listen(self) -> None:
        """Enter what has been told since."""
        while self._heard < len(self._log):
            self.ledger.hear(self._log[self._heard])
            self._heard += 1

    def decide(self, request: Request[Any], luck: Stream) -> Decision:
        """A drawn decision, after a look at the question."""
        assert isinstance(request, MonopolyRequest)
        self.listen()
        self.ledger.seen[request.kind] += 1
        self.ledger.asked(request)
        if request.view is not self._shown:
            self._shown = request.view
            self.ledger.assert_is(request.view)
        self._asked += 1
        if self._asked % EVERY == 0:
            assert_offered_is_legal(request)
        decision = talkative(request, luck)
        request.check(decision)
        return decision


def soak(seed: int, players: int, **config: Any) -> tuple[Counter[str], list[str]]:
    """One whole game: what happened in it by name, and its log as it would be written."""
    ids = "ABCDEFGH"[:players]
    play = GamePlay(GAME, GAME.config.from_toml(config), ids, seed)
    watch = Watch(Ledger(shuffled_decks(seed)), play.log)
    wave = play.start()
    while wave is not None:
        wave = play.answer([watch.decide(ask.request, play.luck(ask)) for ask in wave.asks])
    watch.listen()
    ledger = watch.ledger
    ledger.assert_over()
    assert play.outcome is not None
    assert {standing.player: standing.score["cash"] for standing in play.outcome.standings} == ledger.cash
    ledger.seen["ended by the last one left" if len(ledger.out) == players - 1 else "ended at the cap"] += 1
    return ledger.seen, [f"{told.event.kind} {told.to} {told.event.data()} {told.event.content}" for told in play.log]


def crisis(seed: int, players: int = 4, turns: int = 12, **config: Any) -> Counter[str]:
    """Some turns from a drawn position in which much is built and mortgaged and nobody has much cash."""
    luck = Chance(seed).stream("crisis")
    ids = "ABCDEFGH"[:players]
    hands = drawn_hands(ids, luck)
    held = [JAIL_CARDS[name] for word, name in DECK_NAMES.items() for hand in hands.values() if word in hand.split()]
    tops = {name: [card for card in cards if card not in held] for name, cards in shuffled_decks(seed).items()}
    decks = {word: " ".join(tops[name]) for word, name in DECK_NAMES.items()}
    game = Game(ids, config=config, **decks, **hands)
    game.table.chance = Chance(seed)
    state = game.state
    watch = Watch(Ledger({name: deck.order for name, deck in state.decks.items()}), game.table.log)
    watch.ledger.begin_at(state)
    for _ in range(turns):
        game.table.round("next")
        play = play_turn(game.match, state.active)
        try:
            wave = play.send(None)
            while True:
                assert not state.check()
                wave = play.send([watch.decide(request, luck) for request in wave])
        except StopIteration:
            assert not state.check()
        if state.over:
            break
        state.active = state.after(state.active)[0]
        state.version += 1
    watch.listen()
    watch.ledger.assert_over()
    return watch.ledger.seen


def shuffled_decks(seed: int | str) -> dict[str, list[str]]:
    """The decks of a game with this seed."""
    chance = Chance(seed)
    return {name: chance.stream(f"deck/{name}").shuffled([card.id for card in cards]) for name, cards in DECKS.items()}


def drawn_hands(ids: str, luck: Stream) -> dict[str, str]:
    """A legal position, by player: whole groups with buildings, deeds in many hands, mortgages, jail, little cash."""
    hands: dict[str, list[str]] = {player: [f"@{luck.below(len(SPACES))}"] for player in ids}
    houses, hotels = HOUSES, HOTELS
    built, pledged, purses = luck.pick(((0.5, 0.5, (0, 3, 12, 30, 60, 400)), (0.0, 0.95, (0, 0, 0, 3))))
    owners = ids if built else ids[0] * 8 + ids  # one with everything mortgaged ruins whoever has it to take
    for lots in GROUPS.values():
        if SPACES[lots[0]].house_cost and luck.random() < built:
            levels = sorted(luck.pick(((0, 0, 1), (1, 1, 1), (3, 4, 4), (4, 4, 5), (5, 5, 5)))[: len(lots)])
            needed = sum(level for level in levels if level < HOTEL)
            if needed <= houses and levels.count(HOTEL) <= hotels:
                houses, hotels = houses - needed, hotels - levels.count(HOTEL)
                owner = luck.pick(ids)
                hands[owner] += [
                    f"{lot}:{'H' if level == HOTEL else level}" for lot, level in zip(lots, levels, strict=True)
                ]
                continue
        for lot in lots:
            if luck.random() < 0.8:
                hands[luck.pick(owners)].append(f"{lot}{'m' * (luck.random() < pledged)}")
    for player in ids:
        hands[player].append(f"${luck.pick(purses)}")
        if luck.random() < 0.2:
            hands[player].append(f"jail:{luck.below(3)}")
    for card in ("chance", "chest"):
        if luck.random() < 0.5:
            hands[luck.pick(ids)].append(card)
    return {player: " ".join(parts) for player, parts in hands.items()}


def assert_offered_is_legal(request: MonopolyRequest[Any]) -> None:
    """The fallback and every listed option can be executed, and there is more than one thing to choose."""
    fallback = request.fallback()
    request.check(fallback)
    for name, option in request.options().items():
        if isinstance(option, Choice):
            assert len(option.values) > 1, "asked only where there is a choice"
            for value in option.values:
                request.check(fallback.model_copy(update={name: value}))
        if isinstance(option, Range):
            assert option.low < (option.high or sys.maxsize)
    if isinstance(request, ManageEstate):
        for bundle in single_steps(request):
            request.check(Managed(action=bundle))


def single_steps(request: ManageEstate) -> list[Bundle]:
    """Every single thing that is listed and that the player has the cash for."""
    estate, seat, cash = request.view.estate(), request.seat, request.you.cash
    level = estate.level
    built = [lot for lot in estate.buildable(seat) if SPACES[lot].house_cost <= cash]
    lifted = [position for position in estate.liftable(seat) if SPACES[position].redemption <= cash]
    sales = [Sale(position=lot, type="hotel" if level[lot] == HOTEL else "house") for lot in estate.sellable(seat)]
    builds = [Build(position=lot, type="hotel" if level[lot] == HOTEL - 1 else "house") for lot in built]
    return [
        *(Bundle(mortgages=(position,)) for position in estate.mortgageable(seat)),
        *(Bundle(unmortgages=(position,)) for position in lifted),
        *(Bundle(sells=(sale,)) for sale in sales),
        *(Bundle(builds=(build,)) for build in builds),
    ]


def main(games: int) -> None:
    """Play games and crises of every size and form, and print how often each thing happened."""
    seen: Counter[str] = Counter()
    begun = perf_counter()
    for seed in range(games):
        size, form = 2 + seed // 2 % 7, ("open", "sealed")[seed % 2]
        happened, _ = soak(seed, size, auction=form, start_cash=(1500, 400)[seed // 14 % 2], max_turns=400)
        seen += happened + crisis(seed, size, auction=form)
    for name, count in sorted(seen.items()):
        print(f"{count:9,} {name}")
    print(f"{games} games and {games} crises in {perf_counter() - begun:.1f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
