"""Walk: one token driven by the game's own turns, to count where it rests. What is to be expected is `landing_odds`.

Turns, landings, cards and jail are those of `turn` and `landing`: no rule is written down a second time. What is taken
away is what would make a landing depend on the whole game before it, and what only keeps records: each card is drawn
from a full deck, every deed is another's and mortgaged, money is no object, and no event is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from agentsim.engine.chance import Chance, Stream
from agentsim.engine.request import Request
from agentsim.engine.table import Table
from agentsim.games.monopoly.board import DECKS, SPACES, Card, Deck, DeckName
from agentsim.games.monopoly.config import MonopolyConfig
from agentsim.games.monopoly.game import play_turn
from agentsim.games.monopoly.jail import JailAction, JailChoice
from agentsim.games.monopoly.landing_odds import IN_JAIL, JailPolicy
from agentsim.games.monopoly.match import Match
from agentsim.games.monopoly.question import Reacted, Spoken
from agentsim.games.monopoly.state import BANK, Estate, Seat, State

S = TypeVar("S", bound=Spoken[Any] | Reacted)
_TOKEN, _LANDLORD = 0, 1
_ANSWERS = {"leave": JailChoice(action="pay_fine"), "stay": JailChoice(action="roll_doubles")}
_FACES = [(first, second) for first in range(1, 7) for second in range(1, 7)]
_AT_ONCE = 12  # throws of one draw: 36**12 is the highest power below the 2**64 that a draw has room for


def walk(policy: JailPolicy, rolls: int, seed: int | str) -> list[int]:
    """How often the token rested on each of the 40 spaces, then (`IN_JAIL`) in the cell: one count for every roll.

    It starts on GO and ends with a whole turn, so that it may come to two rolls more than `rolls`. The same seed makes
    the same walk.
    """
    match = _Walk(policy, seed)
    while match.rolled < rolls:
        _finished(play_turn(match, _TOKEN))
        match.rest()
        match.state.change(_TOKEN, cards=())  # they came from decks that are full all the same
    return match.rests


class _Walk(Match):
    """A match of which nothing is kept but where the token rests after each roll."""

    def __init__(self, policy: JailPolicy, seed: int | str) -> None:
        names, chance = ["Token", "Landlord"], Chance(seed)
        decks: dict[DeckName, Deck] = {name: _FullDeck(name, chance.stream(f"deck/{name}")) for name in DECKS}
        estate = _Pledged(
            owner=[_LANDLORD if space.price else BANK for space in SPACES],
            mortgaged=[space.price > 0 for space in SPACES],
        )
        state = _Endless([Seat(name, name) for name in names], decks, estate)
        config = MonopolyConfig(proposals_per_phase=0)
        super().__init__(Table(names, chance), config, state)
        self.rests = [0] * (IN_JAIL + 1)
        self.rolled = 0
        self._answer: Any = _ANSWERS[policy]
        self._dice = _throws(chance.stream("dice"))

    def roll(self, number: int, purpose: Any) -> tuple[int, int]:
        """The next throw: whatever the one before has brought about is over."""
        self.rest()
        self.rolled += 1
        self.state.roll = dice = next(self._dice)
        return dice

    def rest(self) -> None:
        """Count where the token has come to by the latest roll, once."""
        if self.state.roll is not None:
            token = self.state.seats[_TOKEN]
            self.rests[IN_JAIL if token.jailed else token.position] += 1
            self.state.roll = None

    async def ask(self, number: int, kind: Callable[..., Request[S]], **fields: Any) -> S:
        assert kind is JailAction, "there is nothing else to choose"
        answer: S = self._answer
        return answer

    def move(self, number: int, to: int, by: Any) -> None:
        self.state.put(number, to)

    def pay(self, *args: Any) -> None:
        """Money is no object."""

    def tell(self, *args: Any, **kwargs: Any) -> None:
        """No player listens."""


class _Endless(State):
    """A game without a winner."""

    @property
    def over(self) -> bool:
        return False


class _Pledged(Estate):
    """Deeds with which the token has nothing to do."""

    def held(self, seat: int) -> list[int]:
        return []


class _FullDeck(Deck):
    """A deck to which every card has come back, shuffled in, before the next is drawn."""

    def __init__(self, name: DeckName, stream: Stream) -> None:
        super().__init__(())
        self._all, self._stream = DECKS[name], stream

    def draw(self) -> Card:
        return self._stream.pick(self._all)


def _throws(stream: Stream) -> Iterator[tuple[int, int]]:
    """Two dice, for ever."""
    while True:
        left = stream.below(len(_FACES) ** _AT_ONCE)
        for _ in range(_AT_ONCE):
            left, throw = divmod(left, len(_FACES))
            yield _FACES[throw]


def _finished(play: Any) -> None:
    """Run a turn in which no player is asked through the table, from its beginning to its end."""
    try:
        play.send(None)
    except StopIteration:
        return
    raise AssertionError("somebody was asked")
