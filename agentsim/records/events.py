"""Events of histories: the log as the game told it, interactions between players, and where two runs diverge.

Pairs are summed from the interactions that events declare (`Event.interactions`). `report.game_panels` shows them.
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
from agentsim.records.history import History

T = TypeVar("T")


def told_events(history: History, game: Game) -> list[LoggedEvent]:
    """Return the log as the rules told it. Raises `UsageError` if an event is not one of this game's."""
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


def compute_from_log(
    make: Callable[[Sequence[LoggedEvent], Sequence[PlayerId]], T], log: Sequence[LoggedEvent], history: History
) -> T:
    """Return what `make` derives from a log and its players. Raises `UsageError` if the events do not fit together.

    Each event may be valid by itself. Only the game's code finds the conflict, and may fail with any error.
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
class InteractionCount:
    """The count of one kind of interaction of one player with another in one round.

    `times` is the count, `after_naming` how many of them followed a public mention of the other in that round; `amount`
    is the sum of what was given, or None if the action has no amounts; `turned` is how often the pair turned with it.
    """

    round: int
    action: str
    sign: Sign
    times: int = 0
    after_naming: int = 0
    amount: float | None = None
    turned: int = 0


@dataclass(frozen=True, eq=False)
class Pair:
    """The interactions of `who` with `whom`, by round, then in the order in which they first occurred.

    The pair turns with an interaction of the opposite sign to the last that was not neutral. `turns` are the rounds of
    the turns, with the new sign, in order.
    """

    who: PlayerId
    whom: PlayerId
    actions: tuple[InteractionCount, ...]
    turns: tuple[tuple[int, Sign], ...]

    def times(self, sign: Sign) -> int:
        return sum(action.times for action in self.actions if action.sign == sign)

    @property
    def named(self) -> int:
        """The number of rounds in which `who` named `whom` in public."""
        return len({action.round for action in self.actions if action.action == NAMED})

    def after_naming(self, sign: Sign) -> int:
        """Return the number of rounds in which `who` named `whom` in public and then interacted with that sign."""
        return len({action.round for action in self.actions if action.sign == sign and action.after_naming})


def pairs(log: Iterable[LoggedEvent], players: Sequence[PlayerId], names: Mapping[PlayerId, str]) -> list[Pair]:
    """Return every pair with any interaction of `who` with `whom`, in the order of the players.

    Public words name the players whose id or name they contain, each once per event; `names` has the names of players
    that the game does not call by their id.
    """
    seats = {player: index for index, player in enumerate(players)}
    naming = Naming([*zip(players, players, strict=True), *((name, player) for player, name in names.items())])
    books: dict[tuple[PlayerId, PlayerId], _Book] = {}
    past = Past()
    for told in log:
        for interaction in (*_named(told, naming), *told.event.interactions(past)):
            who, whom = between = interaction.who, interaction.whom
            if who != whom and who in seats and whom in seats:
                if (book := books.get(between)) is None:
                    book = books[between] = _Book()
                book.enter(told, interaction)
        past.add(told.event)
    ordered = sorted(books, key=lambda between: (seats[between[0]], seats[between[1]]))
    return [books[between].pair(*between) for between in ordered]


def _named(told: LoggedEvent, naming: Naming) -> Sequence[Interaction]:
    who = told.by
    if who is None or told.event.words is None or not isinstance(told.to, EveryoneType):
        return ()
    return [Interaction(who, player, NAMED) for player in dict.fromkeys(naming.named(told.event.content))]


@dataclass(slots=True)
class _Book:
    """The running counts of one pair; `named` are the events of each round in which the other was named."""

    actions: dict[tuple[int, str, Sign], InteractionCount] = field(default_factory=dict)
    named: dict[int, list[LoggedEvent]] = field(default_factory=dict)
    turns: list[tuple[int, Sign]] = field(default_factory=list)
    last: Sign = NEITHER

    def enter(self, told: LoggedEvent, interaction: Interaction) -> None:
        naming = self.named.setdefault(told.round, [])
        if interaction.action == NAMED:
            if naming and naming[-1] is told:
                return
            naming.append(told)
        key = (told.round, interaction.action, interaction.sign)
        if (action := self.actions.get(key)) is None:
            action = self.actions[key] = InteractionCount(*key)
        action.times += 1
        # naming in the very event of the action does not count as before it
        action.after_naming += interaction.action != NAMED and bool(naming) and naming[0] is not told
        if interaction.amount is not None:
            action.amount = (action.amount or 0) + interaction.amount
        if interaction.sign != NEITHER:
            if interaction.sign + self.last == 0:
                action.turned += 1
                self.turns.append((told.round, interaction.sign))
            self.last = interaction.sign

    def pair(self, who: PlayerId, whom: PlayerId) -> Pair:
        actions = sorted(self.actions.values(), key=lambda action: action.round)
        return Pair(who, whom, tuple(actions), tuple(self.turns))


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first items where two lists differ, with their number, counted from 1; None on a side that has ended."""

    number: int
    one: dict[str, Any] | None
    other: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first decision and the first event that differ, or None, and the ranks in both runs by player.

    `decisions_after` counts, for each run, the decisions from the first that differs on; a rank is None if the game has
    no outcome. `settings` are the players with different models, `scores` the different scores by player.
    """

    decision: FirstDifference | None
    event: FirstDifference | None
    decisions_after: tuple[int, int]
    ranks: dict[str, tuple[int | None, int | None]]
    settings: dict[str, tuple[str | None, str | None]]
    scores: dict[str, dict[str, tuple[Any, Any]]]

    @property
    def same(self) -> bool:
        return self.decision is None and self.event is None and all(one == other for one, other in self.ranks.values())


def divergence(one: History, other: History) -> Divergence:
    """Compare two histories of one game, decision by decision and event by event."""
    decision = _first_difference(_comparable_decisions(one), _comparable_decisions(other))
    before = len(one.decisions) if decision is None else decision.number - 1
    models = [{player.id: player.model for player in history.seated} for history in (one, other)]
    both = [[] if history.outcome is None else history.outcome.standings for history in (one, other)]
    ranks = [{standing.player: standing.rank for standing in standings} for standings in both]
    scores = [{standing.player: standing.score for standing in standings} for standings in both]
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


def _first_difference(one: Iterable[dict[str, Any]], other: Iterable[dict[str, Any]]) -> FirstDifference | None:
    pairs = enumerate(zip_longest(one, other), start=1)
    return next((FirstDifference(number, mine, theirs) for number, (mine, theirs) in pairs if mine != theirs), None)


def _comparable_decisions(history: History) -> Iterator[dict[str, Any]]:
    for decision in history.decisions:
        yield {"player": decision.player, "kind": decision.kind, "decision": decision.decision}


def _told(history: History) -> Iterator[dict[str, Any]]:
    for part in history.rounds:
        for event in part.events:
            said = {name: getattr(event, name) for name in ("kind", "heading", "content", "data", "visibility")}
            yield {"round": part.title, **said}
