"""A small game that passes every check, and versions of it with one fault each.

Players have secret roles, whisper to each other and vote in secret; the player with most votes is announced. A player
that repeats its vote is told so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

from agentsim.engine import (
    Bot,
    Choice,
    Decision,
    Event,
    Everyone,
    Game,
    GameConfig,
    LoggedEvent,
    Options,
    Outcome,
    PlayerId,
    Prompt,
    RandomDraw,
    Request,
    Stream,
    Table,
    Text,
    quoted,
    ranked,
)
from agentsim.engine.panel import Frame, Panel
from agentsim.testing import Case

PLAYERS = ("Ann", "Ben", "Cid")


class Dealt(Event, heading="Your role", content="{player} is the {role}."):
    player: str
    role: str
    luck: int


class Whispered(Event, heading="{player} whispers", words="text"):
    player: str
    text: str


class Repeated(Event, content="That is nothing new.", private=("player",)):
    player: str

    @property
    def turned_away(self) -> bool:
        return True


class Confided(Event, heading="A secret", content="", private=("player",)):
    player: str


class Recorded(Event, heading="For the record", content=""):
    pass


class Nameless(Event, heading="", content="Something."):
    pass


class Counted(Event, heading="Votes", content="{votes}."):
    votes: dict[str, int]


class Cast(Decision):
    words: str
    vote: str


class Vote(Request[Cast]):
    """For whom, and what do you whisper to the next player?"""

    others: tuple[str, ...]
    heard: tuple[str, ...]
    before: str | None
    extra: Any = None
    fault: ClassVar[str] = ""
    asked: ClassVar[int] = 0
    chance: ClassVar[Stream] = Stream("planted")

    def options(self) -> Options:
        vote: Options = {} if self.fault == "unchecked vote" else {"vote": Choice(self.others)}
        return {"words": Text(60, "a whisper"), **vote}

    def prompt(self) -> Prompt:
        Vote.asked += 1
        drawn = self.chance.below(10**9)
        hole = {"chance in a prompt": drawn, "counter in a prompt": self.asked, "hole in a prompt": None}
        rules = "You play a game of votes in secret: most votes win, and each player may whisper to the next one."
        return Prompt(
            rules=("" if self.fault == "no rules" else rules, f"You are {self.player}."),
            history=self.heard,
            state=(
                f"The others are {' and '.join(self.others)}. {hole.get(self.fault, '')}",
                f"Your last vote was for {self.before or 'nobody'}.",
            ),
            question=(f"For whom do you vote, and what do you whisper? {self.answer_line}",),
        )

    def warning(self, decision: Cast) -> str:
        return "That is nothing new." if decision.vote == self.before and self.fault != "no warning" else ""

    def fallback(self) -> Cast:
        first = self.others[self.extra] if self.fault == "unshown rule" else self.others[0]
        return Cast(words="", vote=self.player if self.fault == "illegal fallback" else first)


@dataclass
class Votes:
    cast: dict[str, str] = field(default_factory=dict)
    broken: bool = False

    def check(self) -> Sequence[str]:
        return ["a vote is a vote"] if self.broken and self.cast else []


def randomly(request: Request[Any], rng: Stream) -> Decision:
    assert isinstance(request, Vote)
    return Cast(words="psst", vote=rng.pick(request.others))


class Forgetful:
    """A bot whose state counts its calls."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, request: Request[Any], rng: Stream) -> Decision:
        self.asked += 1
        return Cast(words="psst", vote=request.others[self.asked // 7 % 2])  # type: ignore[attr-defined] # of a Vote


class Planted(Game):
    """The game; `fault` names its fault, "" is none."""

    name: ClassVar[str] = "planted"
    title: ClassVar[str] = "Planted"
    summary: ClassVar[str] = "votes and whispers"
    rules_version: ClassVar[int] = 1
    config: ClassVar[type[GameConfig]] = GameConfig
    requests: ClassVar[tuple[type[Request[Any]], ...]] = (Vote,)
    staff: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, fault: str = "") -> None:
        self.fault, self.played = fault, 0
        self.bots: Mapping[str, Bot] = {"random": Forgetful() if fault == "stateful bot" else randomly}  # type: ignore[misc] # a fault may be that of a bot
        told: tuple[type[Event], ...] = (Dealt, Counted, Nameless, Repeated)
        told += {"private event for no player": (Confided,), "event of no player": (Recorded,)}.get(fault, ())
        declared = told if fault == "undeclared event" else (*told, Whispered)
        self.events = declared  # type: ignore[misc] # a fault may be what it declares

    def admit(self, config: Any, players: Sequence[PlayerId]) -> None:
        return None

    async def play(self, table: Table, config: Any) -> Outcome:
        Vote.unshown = {} if self.fault in {"unshown value", "unshown rule"} else {"extra": "faults are put there"}
        Vote.fault, state, order = self.fault, Votes(broken=self.fault == "broken invariant"), list(table.players)
        self.played += 1
        table.watch(state)
        roles = ["spy", "guard", "cook"]
        if self.fault != "lot by seat":
            roles = table.chance.stream("roles").shuffled(roles)
        luck = [table.chance.stream("luck").below(10**9) for _ in table.players]
        for player, role, own in zip(table.players, roles, luck, strict=True):
            table.tell(Dealt(player, role, own), to=Everyone if self.fault == "role told to all" else (player,))
        kept: list[str] = []
        for _ in range(3):
            table.round("Vote")
            if self.fault == "set order":
                order = list(set(order))
            for player in order:
                ballot = await table.ask(self.vote(table, state, player, kept, luck))
                following = table.players[(table.players.index(player) + 1) % len(table.players)]
                hearers = () if self.fault.endswith("event for no player") else (player, following)
                if self.fault == "private event for no player":
                    table.tell(Confided(player), to=(), by=player)
                elif self.fault == "event of no player":
                    table.tell(Recorded(), to=())
                else:
                    table.tell(Whispered(player, ballot.words), to=hearers, by=player)
                if ballot.vote == state.cast.get(player):
                    table.tell(Repeated(player), to=(player,), by=player)
                state.cast[player] = ballot.vote
                assert ballot.vote, "a vote is for a player"
                kept.append(ballot.words)
        votes = [list(state.cast.values()).count(player) for player in table.players]
        counted = [*votes[1:], 0] if self.fault == "uncounted vote" else votes
        table.tell(Counted(dict(zip(table.players, counted, strict=True))), to=Everyone)
        if self.fault == "nameless event":
            table.tell(Nameless(), to=Everyone)
        scores = [(player, won, {"votes": won}) for player, won in zip(table.players, votes, strict=True)]
        return Outcome("voted", ranked(scores[1:] if self.fault == "no standing" else scores))

    def vote(self, table: Table, state: Votes, player: str, kept: list[str], luck: list[int]) -> Vote:
        """Return the request, with the content of the fault."""
        log: Sequence[LoggedEvent] = table.log if self.fault == "the whole log" else table.heard(player)
        heard = [told_as_line(told, raw=self.fault == "raw words") for told in log]
        heard = heard[-2:] if self.fault == "window on history" else heard
        extra = {
            "votes in a view": dict(state.cast),
            "luck in a view": luck[0],
            "whispers in a view": list(kept),
            "mutable request": kept,
            "global counter": self.played,
            "unshown value": len(heard),
            "unshown rule": len(heard) % 2,
        }.get(self.fault)
        others = tuple(other for other in table.players if other != player)
        before = state.cast.get(player)
        return Vote(player=player, others=others, heard=tuple(heard), before=before, extra=extra)

    def invariants(
        self, steps: Iterable[LoggedEvent | Request[Any]], players: Sequence[PlayerId]
    ) -> Iterator[str | RandomDraw]:
        for event in (step.event for step in steps if isinstance(step, LoggedEvent)):
            if isinstance(event, Counted) and sum(event.votes.values()) != len(players):
                yield "every vote is counted"
            elif isinstance(event, Dealt) and event.role == "spy":
                yield RandomDraw("who is the spy", tuple(players), event.player)

    def panels(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> list[Panel]:
        return []

    def tables(self, log: Sequence[LoggedEvent], players: Sequence[PlayerId]) -> Mapping[str, Frame]:
        return {} if self.fault == "a table that comes and goes" and not log else {"votes": Frame(("player",), ())}


def told_as_line(told: LoggedEvent, *, raw: bool = False) -> str:
    event = told.event
    return f"{event.heading}: {event.content}" if raw else quoted(event=event.heading, text=event.content)


SOUND, SET_ORDER = Planted(), Planted("set order")


def case(fault: str = "", **changes: Any) -> Case:
    """Return the case of the game with this fault; another process can import `SOUND` and `SET_ORDER`."""
    name = {"": "SOUND", "set order": "SET_ORDER"}.get(fault, "none")
    return Case(f"{__name__}:{name}", cast("Game", Planted(fault)), PLAYERS, {}, **{"seeds": 5, **changes})
