"""Play: a game in progress, step by step; the numbering of waves and decisions lives here and nowhere else.

No loop, no IO: `simulate` steps it in tests, `runner.loop` in earnest, and both get the same numbers.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, NamedTuple

from agentsim.engine.chance import Chance, Stream
from agentsim.engine.decision import Decision
from agentsim.engine.event import Everyone, LoggedEvent, PlayerId
from agentsim.engine.game import Game, GameConfig, Outcome
from agentsim.engine.prompt import Prompt
from agentsim.engine.request import Request
from agentsim.engine.steering import HEARD, RESTATED, Announced, Announcement, Aside, Latest, Steer, restates, survey
from agentsim.engine.survey import Interview, Survey, Surveys
from agentsim.engine.table import Requests, Table
from agentsim.errors import RulesBroken

_NEVER = (None, 0)


class Ask(NamedTuple):
    """A request with its place: `index` counts all decisions from 1, `nth` those of this player and kind."""

    index: int  # type: ignore[assignment] # hides a method of tuples that is not needed here
    wave: int
    place: int
    nth: int
    request: Request[Any]
    announced: tuple[str, ...] = ()
    """What the narrator has announced since the rules made the request, or ever, below the line that says so."""

    def prompt(self) -> Prompt:
        """The question in words, with what was announced since it was made."""
        prompt = self.request.prompt()
        return replace(prompt, state=(*prompt.state, *self.announced)) if self.announced else prompt


class Wave(NamedTuple):
    """Requests to be decided at the same moment; `number` counts from 1."""

    number: int
    asks: tuple[Ask, ...]


class GamePlay:
    """One game being played: `start`, then `answer` with each wave's decisions until `outcome` is there.

    `salts` are words by wave: once that wave is decided, chance goes another way. `interviews` are held at the end of
    rounds, in waves of their own that the rules do not see. `steering` is what an experimenter did before a wave, by
    the wave's number; it may grow while the game is played: see `steered`.
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
        self.outcome: Outcome | None = None
        self._restates = restates(game)
        apart = (Announced,) if self._restates else ()
        self._surveys = Surveys(interviews, self.table, apart) if interviews else None
        self._due: deque[Requests] = deque()
        self._behind: Requests | Outcome | None = None  # what the rules came to, until the surveys before it are held
        self._reached: Requests | Outcome = ()  # what the rules came to last
        self._steering = {} if steering is None else steering
        self._done = 0  # of what is steered before this wave
        self._announced: tuple[str, ...] = ()  # below the line that says so
        self._latest: Latest = {}
        self._first_aside = len(interviews)
        self.asides: list[Aside] = []
        """What was asked off the record; their surveys are numbered after the scenario's interviews."""
        self._rules = game.play(self.table, config)
        self._wave = self._index = 0
        self._counts: Counter[tuple[PlayerId, str]] = Counter()

    @property
    def log(self) -> Sequence[LoggedEvent]:
        """Everything told so far."""
        return self.table.log

    @property
    def asked(self) -> AbstractSet[PlayerId]:
        """The players that the rules have asked anything: no other can be asked off the record."""
        return self._latest.keys()

    def start(self) -> Wave | None:
        """Run the rules to the first wave; None where the game needs no decision."""
        return self._step(None)

    def answer(self, decisions: Sequence[Decision]) -> Wave | None:
        """Give the wave's decisions, in request order; the next wave, or None when the game is over."""
        return self._step(decisions)

    def steered(self, wave: Wave) -> Wave:
        """What is to be decided now, once all is done that stands before this wave: for what was added since."""
        for does in self._steering.get(wave.number, ())[self._done :]:
            self._done += 1
            wave = self._announce(wave, does.said) if isinstance(does, Announcement) else self._ask_aside(wave, does)
        return wave

    def _announce(self, wave: Wave, said: str) -> Wave:
        self.table.tell(Announced(said), to=Everyone)
        self._announced = (*(self._announced or (RESTATED if self._restates else HEARD,)), said)
        return Wave(wave.number, tuple(ask._replace(announced=self._announced) for ask in wave.asks))

    def _ask_aside(self, wave: Wave, aside: Aside) -> Wave:
        """The wave of those questions; that which was to be decided comes after it."""
        number, rounds = self._first_aside + len(self.asides), self.table.rounds
        self.asides.append(aside)
        known = [self._latest[player] for player in aside.players if player in self._latest]
        if not known:
            return wave
        for ask in wave.asks:
            self._counts[ask.request.player, ask.request.kind] -= 1
        self._index -= len(wave.asks)
        self._wave -= 1
        if self._behind is None:
            self._behind = self._reached
        else:
            self._due.appendleft(tuple(ask.request for ask in wave.asks))
        return self._number(tuple(survey(aside, number, about, self._news(told), rounds) for about, told in known))

    def _news(self, told: int) -> list[LoggedEvent]:
        """What was told after so many events, without the announcements that stand below the question."""
        return [
            entry
            for entry in self.table.log[told:]
            if not (isinstance(entry.event, Announced) and entry.event.said in self._announced)
        ]

    def bot_rng(self, ask: Ask, chance: Chance | None = None) -> Stream:
        """The stream a bot draws from for this one decision: of the game's chance, or of another."""
        request = ask.request
        bot = f"bot/{request.player}"
        return (chance or self.table.chance).once(f"{bot}/{request.kind}/{ask.nth}", lasting=f"{bot}/lasting")

    def close(self) -> None:
        """Abandon the game where it stands."""
        self._rules.close()

    def _step(self, decisions: Sequence[Decision] | None) -> Wave | None:
        if (word := self._salts.get(self._wave)) is not None:
            self.table.chance.branch_seed(word)
        self._done = 0
        if self._behind is None:  # or these are the answers to a survey
            self._behind = self._advance(decisions)
            if self._surveys is not None:
                self._due.extend(self._surveys.due(over=isinstance(self._behind, Outcome)))
        if self._due:
            return self.steered(self._number(self._due.popleft()))
        reached, self._behind = self._behind, None
        if isinstance(reached, Outcome):
            self.outcome = reached
            return None
        if self._surveys is not None and reached is not self._reached:  # or an aside was held before it
            self._surveys.look(reached)
        self._reached = reached
        return self.steered(self._number(reached))

    def _advance(self, decisions: Sequence[Decision] | None) -> Requests | Outcome:
        """Run the rules to what they ask next, or to their end."""
        if not self._restates:
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
        asks, told = [], len(self.table.log)
        for place, request in enumerate(requests):
            self._index += 1
            self._counts[key := (request.player, request.kind)] += 1
            if not isinstance(request, Survey):
                self.table.latest[request.player] = self._index
                if self._latest.get(request.player, _NEVER)[0] is not request:
                    self._latest[request.player] = request, told
            asks.append(Ask(self._index, self._wave, place, self._counts[key], request, self._announced))
        return Wave(self._wave, tuple(asks))

    def _verify(self) -> None:
        if self.table.watched is not None and (broken := self.table.watched.check()):
            raise RulesBroken(f"after wave {self._wave}: {'; '.join(broken)}")
