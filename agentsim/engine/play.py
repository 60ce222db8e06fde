"""Play: a game in progress, step by step; only this module numbers waves and decisions.

There is no event loop and no IO: `simulate` steps a game in tests, `runs.loop` in runs, with the same numbers.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from agentsim.engine.chance import Chance, Stream
from agentsim.engine.decision import Decision
from agentsim.engine.event import Everyone, LoggedEvent, PlayerId
from agentsim.engine.game import Game, GameConfig, Outcome
from agentsim.engine.request import Ask, Request, Wave
from agentsim.engine.steering import (
    ANNOUNCED_SINCE,
    ANNOUNCED_SO_FAR,
    Announced,
    Announcement,
    Aside,
    LatestRequests,
    Steer,
    survey,
)
from agentsim.engine.survey import Interview, Survey, SurveyQuestion, Surveys, names_of
from agentsim.engine.table import Requests, Table
from agentsim.errors import RulesBroken

_NEVER = (None, 0)


class GamePlay:
    """One game in progress: `start`, then `answer` with each wave's decisions until there is an `outcome`.

    `salts` are texts by wave, which change chance once that wave is decided. `interviews` are held in
    waves of their own that the rules do not see. `steering` are an experimenter's actions by the number of
    the wave that they precede; it may grow while the game is played: see `steered`.
    """

    def __init__(
        self,
        game: Game,
        config: GameConfig,
        players: Sequence[PlayerId],
        seed: int | str,
        *,
        staff: Iterable[str] = (),
        names: Mapping[PlayerId, str] | None = None,
        script: Mapping[str, Sequence[Any]] | None = None,
        salts: Mapping[int, str] | None = None,
        interviews: Sequence[Interview] = (),
        steering: Mapping[int, Sequence[Steer]] | None = None,
    ) -> None:
        self.game = game
        self._salts = salts or {}
        self.table = Table(players, Chance(seed, script), staff, names)
        self.table.events, self.table.requests = frozenset((*game.events, Announced)), frozenset(game.requests)
        self.outcome: Outcome | None = None
        self._repeats_announcements = game.announcements == "restated"
        left_out = (Announced,) if self._repeats_announcements else ()
        self._surveys = Surveys(interviews, self.table, left_out) if interviews else None
        self._due: deque[Requests] = (
            deque()
        )  # waves to ask before the rules' next one: surveys, and a wave after an aside
        self._pending_result: Requests | Outcome | None = (
            None  # the rules' result, until the surveys before it are held
        )
        self._latest_result: Requests | Outcome = ()  # the rules' latest result
        self._steering = {} if steering is None else steering
        self._actions_applied = 0  # number of applied actions before this wave
        self._announced: tuple[str, ...] = ()  # with the line that introduces them
        self._latest: LatestRequests = {}
        self._names = names_of(players, self.table.names)
        self._first_aside = len(interviews)
        self.asides: list[Aside] = []
        """The questions asked off the record; their surveys are numbered after the scenario's interviews."""
        self._rules = game.play(self.table, config)
        self._wave = self._index = 0
        self._counts: Counter[tuple[PlayerId, str]] = Counter()  # requests so far, by player and kind

    @property
    def log(self) -> Sequence[LoggedEvent]:
        """All events told so far."""
        return self.table.log

    @property
    def asked(self) -> AbstractSet[PlayerId]:
        """The players that the rules have asked anything; only they can be asked off the record."""
        return self._latest.keys()

    def start(self) -> Wave | None:
        """Run the rules to the first wave; return it, or None if the game needs no decision."""
        return self._step(None)

    def answer(self, decisions: Sequence[Decision]) -> Wave | None:
        """Give the rules the wave's decisions, in request order; return the next wave, or None if the game is over."""
        return self._step(decisions)

    def steered(self, wave: Wave) -> Wave:
        """Apply the new actions of an experimenter before this wave; return the wave to decide now."""
        for action in self._steering.get(wave.number, ())[self._actions_applied :]:
            self._actions_applied += 1
            if isinstance(action, Announcement):
                wave = self._announce(wave, action.said)
            else:
                wave = self._ask_aside(wave, action)
        return wave

    def _announce(self, wave: Wave, said: str) -> Wave:
        self.table.tell(Announced(said), to=Everyone)
        self._announced = (
            *(self._announced or (ANNOUNCED_SO_FAR if self._repeats_announcements else ANNOUNCED_SINCE,)),
            said,
        )
        return Wave(wave.number, tuple(ask._replace(announced=self._announced) for ask in wave.asks))

    def _ask_aside(self, wave: Wave, aside: Aside) -> Wave:
        """Return the wave of these questions; the given wave comes after it."""
        number = self._first_aside + len(self.asides)
        self.asides.append(aside)
        if self._latest.keys().isdisjoint(aside.players):
            return wave
        for ask in wave.asks:
            self._counts[ask.request.player, ask.request.kind] -= 1
        self._index -= len(wave.asks)
        self._wave -= 1
        if self._pending_result is None:
            self._pending_result = self._latest_result
        else:
            self._due.appendleft(tuple(ask.request for ask in wave.asks))
        return self._number(tuple(self.interview(aside.questions, aside.players, number)))

    def interview(self, questions: Sequence[SurveyQuestion], players: Iterable[PlayerId], number: int) -> list[Survey]:
        """Return surveys of these players as they would be asked now, without asking them.

        Players that the rules have not asked anything are left out. `number` is the index of the interview.
        """
        known = [self._latest[player] for player in players if player in self._latest]
        rounds, events = self.table.rounds, len(self.table.log)
        return [
            survey(questions, number, about, self._events_since(told), rounds, players=self._names, events=events)
            for about, told in known
        ]

    def _events_since(self, events_before: int) -> list[LoggedEvent]:
        """Return the events told after the first `events_before`, without announcements that follow the question."""
        return [
            logged
            for logged in self.table.log[events_before:]
            if not (isinstance(logged.event, Announced) and logged.event.said in self._announced)
        ]

    def bot_rng(self, ask: Ask, chance: Chance | None = None) -> Stream:
        """Return the stream that a bot draws from for this one decision, from the game's chance or another."""
        request = ask.request
        bot = f"bot/{request.player}"
        # `lasting`: its streams last for the whole game. No key ever changes: others would change all games' draws
        return (chance or self.table.chance).once(f"{bot}/{request.kind}/{ask.nth}", per_game=f"{bot}/lasting")

    def close(self) -> None:
        """Abandon the game in its current state."""
        self._rules.close()

    def _step(self, decisions: Sequence[Decision] | None) -> Wave | None:
        if (salt := self._salts.get(self._wave)) is not None:
            self.table.chance.add_salt(salt)
        self._actions_applied = 0
        if self._pending_result is None:  # else these are the answers to a survey
            self._pending_result = self._advance(decisions)
            if self._surveys is not None:
                decided, asked = (
                    () if isinstance(result, Outcome) else result
                    for result in (self._latest_result, self._pending_result)
                )
                over = isinstance(self._pending_result, Outcome)
                self._due.extend(self._surveys.due(decided, asked, over=over))
        if self._due:
            return self.steered(self._number(self._due.popleft()))
        reached, self._pending_result = self._pending_result, None
        if isinstance(reached, Outcome):
            self.outcome = reached
            return None
        if self._surveys is not None and reached is not self._latest_result:  # else an aside was held before it
            self._surveys.remember_asked(reached)
        self._latest_result = reached
        return self.steered(self._number(reached))

    def _advance(self, decisions: Sequence[Decision] | None) -> Requests | Outcome:
        """Run the rules to their next requests or their end."""
        if not self._repeats_announcements:
            self._announced = ()
        try:
            requests = self._rules.send(decisions)
        except StopIteration as stop:
            outcome = stop.value
            assert isinstance(outcome, Outcome), "the rules must return an Outcome"
            self._verify()
            return outcome
        if not isinstance(requests, tuple) or [item for item in requests if not isinstance(item, Request)]:
            self._rules.close()
            raise RulesBroken("the rules awaited something that is not a request to the table")
        self._verify()
        return requests

    def _number(self, requests: Requests) -> Wave:
        self._wave += 1
        asks, events_before, now = [], len(self.table.log), len(self.table.rounds) - 1
        for place, request in enumerate(requests):
            self._index += 1
            self._counts[key := (request.player, request.kind)] += 1
            if not isinstance(request, Survey):
                self.table.latest[request.player] = self._index
                if self._latest.get(request.player, _NEVER)[0] is not request:
                    self._latest[request.player] = request, events_before
            asked_in = request.round if isinstance(request, Survey) else now
            asks.append(Ask(self._index, self._wave, place, self._counts[key], request, self._announced, asked_in))
        return Wave(self._wave, tuple(asks))

    def _verify(self) -> None:
        if self.table.watched is not None and (broken := self.table.watched.check()):
            raise RulesBroken(f"after wave {self._wave}: {'; '.join(broken)}")
