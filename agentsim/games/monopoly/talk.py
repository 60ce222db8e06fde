"""Talk: what was said, offered and answered, as a player remembers it: the newest in full, the rest in short.

Turns go in blocks. Lines are dropped a block at a time, or half a window at a time where people talk too much,
so that what a player is shown stays as it was for as long as it can. How a block is summed up is `summarizing`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from agentsim.engine.event import Event, LogEntry, PlayerId
from agentsim.engine.prompt import NARRATOR
from agentsim.games.monopoly.memory import Memory, Offer, Rejection, Remark, Thinking
from agentsim.games.monopoly.trade import TradeAccepted, TradeDiscarded, TradeProposed, TradeRejected

MOST_SAID = 1600
"""Characters of remarks in full, about 400 tokens."""
MOST_TRADED = 700
"""Characters of trades in short, about 175 tokens."""
MOST_SUMMED = 1200
"""Characters of summaries, about 300 tokens."""
THOUGHTS = 5
ANSWERS = 10  # of one player to another that are remembered


# -- what is told


class _InWords(Event, words="text"):
    player: str
    name: str
    turn: int
    text: str


class Spoke(_InWords, heading="{name} says"):
    """What a player says to the whole table."""


class Thought(_InWords, heading="{name} thinks", private=("player",)):
    """What a player thinks; only that player hears it."""


class Narrated(_InWords, heading="The narrator, in place of {name}"):
    """What the narrator says where a player was asked and gave no usable answer: none of it is the player's words."""


class Summarized(Event, heading="The table talk in short", words="text"):
    """What players remember of some turns from now on, in the summarizer's words or in those of the digest."""

    forgets: ClassVar[bool] = True
    first: int
    last: int
    text: str


def remark(event: Event, turn: int) -> Remark | None:
    """The line of an event that is table talk; None where it is none."""
    match event:
        case Spoke():
            return Remark(turn, event.name, "says", event.text)
        case Narrated():
            return Remark(turn, NARRATOR, "tells", event.text)
        case TradeProposed():
            terms = (event.target_name, str(event.offer), str(event.request))
            return Remark(turn, event.proposer_name, "offers", event.pitch, *terms)
        case TradeAccepted() | TradeRejected():
            verb = "accepts" if isinstance(event, TradeAccepted) else "rejects"
            return Remark(turn, event.target_name, verb, to=event.proposer_name)
    return None


@dataclass(slots=True)
class _Block:
    """Some turns (10, as a rule), and how many remarks were made in them."""

    first: int
    last: int
    said: int = 0


class Talk:
    """One player's memory, made of what it hears; what all hear, all remember alike."""

    def __init__(self, player: PlayerId, *, players: Sequence[PlayerId], turns: int = 10, entries: int = 20) -> None:
        self._player, self._players, self._turns, self._entries = player, players, turns, entries
        self._turn = 1
        self._blocks = [_Block(1, turns)]
        self._shown: deque[Remark] = deque()
        self._size = 0  # of what is shown
        self._skipped = 0  # remarks at the front of the first block, and maybe the next, that were too much
        self._summaries: list[str] = []
        self._offers: deque[Offer] = deque(maxlen=ANSWERS * turns)
        self._traded: tuple[Offer, ...] = ()
        self._thoughts: deque[Thinking] = deque(maxlen=THOUGHTS)
        self._answers: dict[PlayerId, tuple[str, deque[bool]]] = {}
        self._discarded = ""
        self._memory: Memory | None = None

    def hear(self, entry: LogEntry) -> None:
        """Most of what happens says the board."""
        event = entry.event
        if type(event) not in _REMEMBERED:
            return
        self._reach(entry.round)
        self._memory = None
        match event:
            case Thought():
                self._thoughts.append(Thinking(entry.round, event.text))
            case TradeDiscarded():
                self._discarded = event.problem
            case TradeProposed() if event.proposer == self._player:
                self._discarded = ""
            case TradeAccepted() | TradeRejected() if event.proposer == self._player:
                name, answers = event.target_name, deque[bool](maxlen=ANSWERS)
                self._answers.setdefault(event.target, (name, answers))[1].append(isinstance(event, TradeAccepted))
            case Summarized():
                self._sum_up(event.text)
        if said := remark(event, entry.round):
            self._say(said)

    def due(self, turn: int) -> tuple[int, int] | None:
        """The oldest turns (the first and the last of them), where it is time to sum them up.

        It is once they are over and nothing of them is shown in full, or once two other blocks hold too much with them.
        """
        self._reach(turn)
        oldest, *others = self._blocks
        unseen = oldest.said and self._skipped >= oldest.said
        full = len(others) > 1 and sum(block.said for block in self._blocks) > self._entries
        return (oldest.first, oldest.last) if others and (unseen or full) else None

    def memory(self, turn: int) -> Memory:
        """What the player remembers in this turn."""
        self._reach(turn)
        if self._memory is None:
            self._memory = Memory(
                tuple(self._summaries),
                tuple(self._shown),
                tuple(self._thoughts),
                tuple(self._rejections()),
                self._discarded,
                self._traded,
            )
        return self._memory

    def _rejections(self) -> Iterator[Rejection]:
        for other in filter(self._answers.__contains__, self._players):
            name, answers = self._answers[other]
            yield Rejection(name, answers.count(False), len(answers))

    def _reach(self, turn: int) -> None:
        """It is this turn by now."""
        if turn <= self._turn:
            return
        self._turn, self._discarded, self._memory = turn, "", None
        while turn > (last := self._blocks[-1].last):
            self._blocks.append(_Block(last + 1, last + self._turns))
            self._shorten()

    def _say(self, said: Remark) -> None:
        if said.kind == "offers":
            self._offers.append(Offer(said.turn, said.name, said.to, said.gives, said.takes))
        elif said.to:
            self._offers[-1] = replace(self._offers[-1], answer=said.kind)
        self._blocks[-1].said += 1
        self._shown.append(said)
        self._size += said.size
        if self._size > MOST_SAID:
            while self._shown and self._size > MOST_SAID // 2:
                self._skipped += 1
                self._size -= self._shown.popleft().size
            self._shorten()

    def _sum_up(self, summary: str) -> None:
        """The oldest block is remembered by its summary from now on."""
        said = self._blocks.pop(0).said
        for _ in range(said - self._skipped):
            self._size -= self._shown.popleft().size
        self._skipped = max(0, self._skipped - said)
        self._shorten()
        self._summaries.append(summary)
        while sum(map(len, self._summaries)) > MOST_SUMMED and len(self._summaries) > 1:
            del self._summaries[0]

    def _shorten(self) -> None:
        """Look again at the trades in short: the newest of the last turns that fit, without those shown in full.

        This is done where remarks are dropped or a block is over, not at every word: trades in short stand before the
        remarks, which then could not be repeated from a cache.
        """
        shown = sum(said.kind == "offers" for said in self._shown)
        found: deque[Offer] = deque()
        room = MOST_TRADED
        for offer in list(self._offers)[: len(self._offers) - shown][::-1]:
            room -= offer.size
            if room < 0 or offer.turn <= self._turn - self._turns:
                break
            found.appendleft(offer)
        self._traded = tuple(found)


_REMEMBERED = {Spoke, Thought, Narrated, Summarized, TradeProposed, TradeDiscarded, TradeAccepted, TradeRejected}
