"""Events of histories: the log as the game told it, what players did for or against each other, where two runs part.

Pairs are summed up from the interactions that events declare (`engine.interaction`). `report.game_panels` shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TypeVar

from agentsim.engine.event import (
    NAMED,
    NEITHER,
    Audience,
    Event,
    Everyone,
    EveryoneType,
    Interaction,
    LoggedEvent,
    Past,
    PlayerId,
    Sign,
)
from agentsim.engine.game import Game
from agentsim.engine.steering import Announced
from agentsim.engine.wording import Naming
from agentsim.errors import AgentsimError, UsageError
from agentsim.history.record import History

T = TypeVar("T")


def told_events(history: History, game: Game) -> list[LoggedEvent]:
    """The log as the rules told it; `UsageError` where an event is none of this game's."""
    known: tuple[type[Event], ...] = (Announced, *game.events)
    kinds = {event.kind: event for event in known}
    log = []
    for part in history.rounds:
        for record in part.events:
            try:
                event = kinds[record.kind].restore(record.data, record.content)
            except (KeyError, ValueError):
                what = f"event {record.seq} ({record.kind[:40]})"
                raise UsageError(f"{what} is none of {game.name}, rules version {game.rules_version}") from None
            to: Audience = Everyone if record.visibility == "all" else tuple(record.visibility)
            log.append(LoggedEvent(event, to, part.index, _by(record.role), record.metadata.get("decision")))
    return log


def _by(role: str) -> PlayerId | None:
    if role == "narrator":
        return None
    return role.removeprefix("player ") if role.startswith("player ") else f"@{role}"


def derived(
    make: Callable[[Sequence[LoggedEvent], Sequence[PlayerId]], T], log: Sequence[LoggedEvent], history: History
) -> T:
    """What `make` derives from a log and its players; `UsageError` where the events do not fit each other.

    Each event may be valid by itself. Only the game's code finds out, and may fail with any error.
    """
    try:
        return make(log, [player.id for player in history.seated])
    except AgentsimError:
        raise
    except Exception as error:
        problem = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise UsageError(
            f"its events do not fit together in {history.game}, rules version {history.rules_version} ({problem})"
        ) from error


@dataclass(slots=True)
class Deed:
    """One kind of thing that one did towards the other in one round.

    `times` is how often, `after_naming` how often of those after naming the other in public in that round; `amount` is
    all that was given by it, None where the deed has none; `turned` how often the pair turned with it.
    """

    round: int
    deed: str
    sign: Sign
    times: int = 0
    after_naming: int = 0
    amount: float | None = None
    turned: int = 0


@dataclass(frozen=True, eq=False)
class Pair:
    """What `who` did towards `whom`: deeds by round, those of a round in the order in which they were first done.

    The pair turns with a deed against the other if the last one before it that was not neither was for it, and with one
    for the other if that was against it. `turns` are the rounds in which it did and what it turned to, in order.
    """

    who: PlayerId
    whom: PlayerId
    deeds: tuple[Deed, ...]
    turns: tuple[tuple[int, Sign], ...]

    def times(self, sign: Sign) -> int:
        return sum(deed.times for deed in self.deeds if deed.sign == sign)

    @property
    def named(self) -> int:
        """Rounds in which the other was named in public."""
        return len({deed.round for deed in self.deeds if deed.deed == NAMED})

    def after_naming(self, sign: Sign) -> int:
        """Rounds in which the other was named in public, and then something of that sign was done to it."""
        return len({deed.round for deed in self.deeds if deed.sign == sign and deed.after_naming})


def pairs(log: Iterable[LoggedEvent], players: Sequence[PlayerId], names: Mapping[PlayerId, str]) -> list[Pair]:
    """Every pair of which `who` did anything towards `whom`, in the order of the players.

    Public words name the players whose id or name is in them (`names`, where a game calls players otherwise), each
    once an event.
    """
    seats = {player: place for place, player in enumerate(players)}
    naming = Naming([*zip(players, players, strict=True), *((name, player) for player, name in names.items())])
    books: dict[tuple[PlayerId, PlayerId], _Book] = {}
    past = Past()
    for told in log:
        for interaction in (*_named(told, naming), *told.event.interactions(past)):
            between = interaction.who, interaction.whom
            if interaction.who != interaction.whom and seats.keys() >= set(between):
                books.setdefault(between, _Book()).enter(told, interaction)
        past.add(told.event)
    ordered = sorted(books, key=lambda between: (seats[between[0]], seats[between[1]]))
    return [books[between].pair(*between) for between in ordered]


def _named(told: LoggedEvent, naming: Naming) -> Iterator[Interaction]:
    if told.by is not None and told.event.words is not None and isinstance(told.to, EveryoneType):
        for player in dict.fromkeys(naming.named(told.event.content)):
            yield Interaction(told.by, player, NAMED)


@dataclass(slots=True)
class _Book:
    """What one did towards another; `named` are the events of each round in which the other was named."""

    deeds: dict[tuple[int, str, Sign], Deed] = field(default_factory=dict)
    named: dict[int, list[LoggedEvent]] = field(default_factory=dict)
    turns: list[tuple[int, Sign]] = field(default_factory=list)
    last: Sign = NEITHER

    def enter(self, told: LoggedEvent, interaction: Interaction) -> None:
        naming = self.named.setdefault(told.round, [])
        if interaction.deed == NAMED:
            if naming and naming[-1] is told:
                return
            naming.append(told)
        key = (told.round, interaction.deed, interaction.sign)
        deed = self.deeds.setdefault(key, Deed(*key))
        deed.times += 1
        # what was said by the very words that tell of a deed was not said before it
        deed.after_naming += interaction.deed != NAMED and bool(naming) and naming[0] is not told
        if interaction.amount is not None:
            deed.amount = (deed.amount or 0) + interaction.amount
        if interaction.sign != NEITHER:
            if interaction.sign + self.last == 0:
                deed.turned += 1
                self.turns.append((told.round, interaction.sign))
            self.last = interaction.sign

    def pair(self, who: PlayerId, whom: PlayerId) -> Pair:
        deeds = sorted(self.deeds.values(), key=lambda deed: deed.round)
        return Pair(who, whom, tuple(deeds), tuple(self.turns))


@dataclass(frozen=True, slots=True)
class Parted:
    """The first place where two lists of one kind differ, counted from 1; None on a side that has ended before."""

    place: int
    one: dict[str, Any] | None
    other: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first decision and the first event that differ (None: none does), and by player the ranks in both.

    `decisions_after` counts, for each, decisions from the first that differs on; a player's rank is None where the game
    has no outcome. `settings` are the seats whose model is not the same; `scores`, by player, those that are not.
    """

    decision: Parted | None
    event: Parted | None
    decisions_after: tuple[int, int]
    ranks: dict[str, tuple[int | None, int | None]]
    settings: dict[str, tuple[str | None, str | None]]
    scores: dict[str, dict[str, tuple[Any, Any]]]

    @property
    def same(self) -> bool:
        return self.decision is None and self.event is None and all(one == other for one, other in self.ranks.values())


def divergence(one: History, other: History) -> Divergence:
    """Compare two histories of one game, decision by decision and event by event."""
    decision = _first_difference(_decided(one), _decided(other))
    before = len(one.decisions) if decision is None else decision.place - 1
    models = [{player.id: player.model for player in history.seated} for history in (one, other)]
    places = [[] if history.outcome is None else history.outcome.standings for history in (one, other)]
    ranks = [{standing.player: standing.rank for standing in standings} for standings in places]
    scores = [{standing.player: standing.score for standing in standings} for standings in places]
    players = dict.fromkeys((*models[0], *models[1]))
    return Divergence(
        decision=decision,
        event=_first_difference(_told(one), _told(other)),
        decisions_after=(max(0, len(one.decisions) - before), max(0, len(other.decisions) - before)),
        ranks={player: (ranks[0].get(player), ranks[1].get(player)) for player in players},
        settings={
            player: (models[0].get(player), models[1].get(player))
            for player in players
            if models[0].get(player) != models[1].get(player)
        },
        scores={player: found for player in players if (found := _unlike(*(each.get(player, {}) for each in scores)))},
    )


def _unlike(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    both = {name: (one.get(name), other.get(name)) for name in dict.fromkeys((*one, *other))}
    return {name: pair for name, pair in both.items() if pair[0] != pair[1]}


def _first_difference(one: Iterable[dict[str, Any]], other: Iterable[dict[str, Any]]) -> Parted | None:
    pairs = enumerate(zip_longest(one, other), start=1)
    return next((Parted(place, mine, theirs) for place, (mine, theirs) in pairs if mine != theirs), None)


def _decided(history: History) -> Iterator[dict[str, Any]]:
    for decision in history.decisions:
        yield {"player": decision.player, "kind": decision.kind, "decision": decision.decision}


def _told(history: History) -> Iterator[dict[str, Any]]:
    for part in history.rounds:
        for event in part.events:
            said = {name: getattr(event, name) for name in ("kind", "heading", "content", "data", "visibility")}
            yield {"round": part.title, **said}
