"""Talk: what was said, offered and answered, as players remember it: the newest in full, the rest digested.

Turns go in blocks. Lines are dropped a block at a time, or half a window at a time where people talk too much,
so that what a player is shown stays as it was for as long as it can. How a line reads in a prompt is `prompts`.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agentsim.engine.event import Event
from agentsim.engine.prompt import NARRATOR
from agentsim.games.monopoly.board import SPACES
from agentsim.games.monopoly.events import (
    Bankrupted,
    Built,
    DeedMoved,
    Narrated,
    Paid,
    Spoke,
    Thought,
    TradeAccepted,
    TradeDiscarded,
    TradeProposed,
    TradeRejected,
)

MOST_SAID = 1600
"""Characters of remarks in full, about 400 tokens."""
MOST_TRADED = 700
"""Characters of trades in short, about 175 tokens."""
MOST_SUMMED = 1200
"""Characters of summaries, about 300 tokens."""
THOUGHTS = 5
ANSWERS = 10  # of one player to another that are remembered


@dataclass(frozen=True, slots=True)
class Remark:
    """One line of the table's history: a player's words, or a trade with its terms, or its answer."""

    turn: int
    name: str
    kind: str
    text: str = ""
    to: str = ""
    gives: str = ""
    takes: str = ""

    @property
    def size(self) -> int:
        """About the characters of its line in a prompt."""
        return 40 + len(self.text) + len(self.gives) + len(self.takes)


@dataclass(frozen=True, slots=True)
class Offer:
    """A trade that was offered, without its pitch; `answer` is empty where there is none yet."""

    turn: int
    name: str
    to: str
    gives: str
    takes: str
    answer: str = ""

    @property
    def size(self) -> int:
        """About the characters of its line in a prompt."""
        return 90 + len(self.gives) + len(self.takes)


@dataclass(frozen=True, slots=True)
class Thinking:
    """A thought of one's own, and the turn in which it was thought."""

    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class Rejection:
    """How many of one's latest offers to a player were rejected."""

    name: str
    rejected: int
    offers: int


@dataclass(frozen=True, slots=True)
class Memory:
    """What one player remembers; `earlier` are summaries, oldest first.

    `trades` are offers of the last ten turns (`talk_turns`) that are no longer among the `remarks`.
    `discarded` says why its last proposal of this turn could not be, where it could not.
    """

    earlier: tuple[str, ...]
    remarks: tuple[Remark, ...]
    thoughts: tuple[Thinking, ...]
    rejections: tuple[Rejection, ...]
    discarded: str = ""
    trades: tuple[Offer, ...] = ()


@dataclass
class Block:
    """Some turns (10, as a rule): what was said, and what happened as far as a digest tells it."""

    first: int
    last: int
    remarks: list[Remark] = field(default_factory=list)
    bought: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    rents: Counter[str] = field(default_factory=Counter)
    built: Counter[str] = field(default_factory=Counter)
    trades: Counter[str] = field(default_factory=Counter)
    bankrupt: list[str] = field(default_factory=list)

    def digest(self) -> str:
        """Two or three sentences of what happened, from the events alone."""
        done = [f"{name} bought {_few(got)}" for name, got in self.bought.items()]
        done += [f"{name} built {count}" for name, count in self.built.items()]
        done += [f"{name} took ${amount} in rent" for name, amount in self.rents.items()]
        count = self.trades["proposed"]
        traded = f"{count} trade{' was' if count == 1 else 's were'} proposed and {self.trades['accepted']} accepted."
        fallen = f" {', '.join(self.bankrupt)} went bankrupt." if self.bankrupt else ""
        turns = f"Turns {self.first} to {self.last}"
        return f"{turns}: {'; '.join(done) or 'nothing was bought or built'}. {traded}{fallen}"


def _few(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} deeds"


class Talk:
    """The memory of one table; players are seats, and all remember the same but for their own thoughts."""

    def __init__(self, names: Sequence[str], ids: Sequence[str], *, turns: int = 10, entries: int = 20) -> None:
        self._turns, self._entries = turns, entries
        self._names = list(names)
        self._seat = {player: number for number, player in enumerate(ids)}
        self._blocks: list[Block] = [Block(1, turns)]
        self._summaries: list[str] = []
        self._skipped = 0  # remarks at the front of what is shown that were too much
        self._thoughts: list[deque[Thinking]] = [deque(maxlen=THOUGHTS) for _ in names]
        self._answers: dict[tuple[int, int], deque[bool]] = {}
        self._discarded: dict[int, str] = {}
        self._offers: deque[Offer] = deque(maxlen=ANSWERS * turns)
        self._turn = 1
        self._shown: tuple[Remark, ...] = ()
        self._traded: tuple[Offer, ...] = ()
        self._memories: list[Memory | None] = [None] * len(names)

    def begin(self, turn: int) -> list[Block]:
        """A turn begins; the blocks that are old enough to be summed up, each once."""
        due: list[Block] = []
        self._turn = turn
        while self._discarded:
            seat, _ = self._discarded.popitem()
            self._memories[seat] = None
        if turn > (last := self._blocks[-1].last):
            self._blocks.append(Block(last + 1, last + self._turns))
            self._changed(aged=True)
        while self._is_due(self._blocks[0]):
            old = self._blocks.pop(0)
            self._skipped = max(0, self._skipped - len(old.remarks))
            due.append(old)
            self._changed(aged=True)
        return due

    def _is_due(self, oldest: Block) -> bool:
        """Summed up once it is over and nothing of it is shown in full, or once two others hold too much with it."""
        if len(self._blocks) == 1:
            return False
        unseen = bool(oldest.remarks) and self._skipped >= len(oldest.remarks)
        return unseen or (len(self._blocks) > 2 and sum(len(block.remarks) for block in self._blocks) > self._entries)

    def sum_up(self, summary: str) -> None:
        """What is remembered of a block from now on."""
        self._summaries.append(summary)
        while sum(map(len, self._summaries)) > MOST_SUMMED and len(self._summaries) > 1:
            del self._summaries[0]
        self._memories = [None] * len(self._memories)

    def hear(self, turn: int, event: Event) -> None:
        """Something happened; most of it says the board, and is only counted."""
        block = self._blocks[-1]
        match event:
            case Spoke() | Narrated():
                who = (event.name, "says") if isinstance(event, Spoke) else (NARRATOR, "tells")
                self._remark(Remark(turn, *who, event.text))
            case Thought():
                self._thoughts[self._seat[event.player]].append(Thinking(turn, event.text))
                self._memories[self._seat[event.player]] = None
            case TradeProposed():
                block.trades["proposed"] += 1
                self._discarded.pop(self._seat[event.proposer], None)
                terms = {"to": event.target_name, "gives": str(event.offer), "takes": str(event.request)}
                self._offers.append(Offer(turn, event.proposer_name, **terms))
                self._remark(Remark(turn, event.proposer_name, "offers", event.pitch, **terms))
            case TradeDiscarded():
                seat = self._seat[event.proposer]
                self._discarded[seat], self._memories[seat] = event.problem, None
            case TradeAccepted() | TradeRejected():
                accepted = isinstance(event, TradeAccepted)
                block.trades["accepted"] += accepted
                pair = (self._seat[event.proposer], self._seat[event.target])
                self._answers.setdefault(pair, deque(maxlen=ANSWERS)).append(accepted)
                verb = "accepts" if accepted else "rejects"
                self._offers[-1] = replace(self._offers[-1], answer=verb)
                self._remark(Remark(turn, event.target_name, verb, to=event.proposer_name))
            case DeedMoved(why="purchase" | "auction"):
                block.bought[event.taker_name].append(SPACES[event.position].name)
            case Paid(why="rent"):
                block.rents[event.names[event.payee or ""]] += event.amount
            case Built():
                block.built[event.name] += 1
            case Bankrupted():
                block.bankrupt.append(event.name)
            case _:
                pass

    def memory(self, seat: int) -> Memory:
        """What this player remembers now."""
        known = self._memories[seat]
        if known is None:
            rejections = []
            for other, name in enumerate(self._names):
                if answers := self._answers.get((seat, other)):
                    rejections.append(Rejection(name, answers.count(False), len(answers)))
            thoughts, discarded = tuple(self._thoughts[seat]), self._discarded.get(seat, "")
            said = (tuple(self._summaries), self._shown)
            known = Memory(*said, thoughts, tuple(rejections), discarded, self._traded)
            self._memories[seat] = known
        return known

    def _remark(self, remark: Remark) -> None:
        self._blocks[-1].remarks.append(remark)
        self._changed()

    def _changed(self, *, aged: bool = False) -> None:
        """What is shown follows from what was said alone, not from who was asked meanwhile.

        Trades in short are looked at again where remarks are dropped or ten turns are over (`aged`), not at every word:
        they stand before the remarks, which then could not be repeated from a cache.
        """
        remarks = [remark for block in self._blocks for remark in block.remarks]
        shown = remarks[self._skipped :]
        if sum(remark.size for remark in shown) > MOST_SAID:
            room = MOST_SAID // 2
            while shown and sum(remark.size for remark in shown) > room:
                shown.pop(0)
            self._skipped, aged = len(remarks) - len(shown), True
        if aged:
            self._traded = self._in_short(sum(remark.kind == "offers" for remark in shown))
        self._shown = tuple(shown)
        self._memories = [None] * len(self._memories)

    def _in_short(self, shown: int) -> tuple[Offer, ...]:
        """The newest offers of the last turns that fit, without the `shown` latest, which stand there in full."""
        found: deque[Offer] = deque()
        room = MOST_TRADED
        for offer in list(self._offers)[: len(self._offers) - shown][::-1]:
            room -= offer.size
            if room < 0 or offer.turn <= self._turn - self._turns:
                break
            found.appendleft(offer)
        return tuple(found)
