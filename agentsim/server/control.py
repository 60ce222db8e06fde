"""Control: holds a run that this process plays, lets it go decision by decision, and has it steered between its waves.

What stands on record is `engine.steering`; the forms that ask for it are `steering`.
"""

from __future__ import annotations

import asyncio

from agentsim.engine.play import Ask, GamePlay, Wave
from agentsim.engine.steering import Announcement, Aside, Steer, allows_announcements
from agentsim.engine.survey import Survey
from agentsim.errors import UsageError
from agentsim.runner.run import Run
from agentsim.server.news import News


class Control:
    """What an experimenter may do to one run while it is played."""

    def __init__(self, run: Run) -> None:
        self.paused = False
        self._run = run
        self._steps = 0
        self._changes = News()
        self._begun = 0  # the highest wave that was let go here; of those on record the journal knows
        self._between = False  # whether the next wave waits to be let go, so that something may still come before it
        self._aside = 0  # the wave of an aside, which is held while the game is paused
        self._asides = 0  # how many were asked
        self._play: GamePlay | None = None
        self._ended = False
        self._stands = asyncio.Event()  # the game is where it is to go on, or has come to its end
        run.before = self.before

    @property
    def announces(self) -> bool:
        """Whether the game's players hear announcements."""
        return allows_announcements(self._run.game)

    @property
    def waits(self) -> bool:
        """Whether it is paused between two waves, so that what is said comes before the next question."""
        return self.paused and self._between

    def pause(self) -> None:
        """Let no further decision begin; calls that are on their way are still answered."""
        self.paused, self._steps = True, 0

    def resume(self) -> None:
        """Play on."""
        self.paused = False
        self._changes.announce()

    def step(self) -> None:
        """Let one more decision begin, and be paused behind it."""
        self.paused = True
        self._steps += 1
        self._changes.announce()

    async def announce(self, said: str) -> None:
        """Have the narrator say this before the next wave; `UsageError` where the game has no narrator to hear."""
        if not self.announces:
            raise UsageError(f"{self._run.game.title} has no announcements")
        await self._steer(Announcement(said=" ".join(said.split())))

    async def ask(self, aside: Aside) -> None:
        """Have players asked off the record before the next wave; `UsageError` for one who cannot be."""
        known = [plan.id for plan in self._run.scenario.players]
        if unknown := [player for player in aside.players if player not in known]:
            raise UsageError(f"there is no player {unknown[0][:80]!r} (valid: {', '.join(known)})")
        await self._steer(aside)

    async def _steer(self, does: Steer) -> None:
        """Put it on record before the next wave that has not begun, once the game stands where it is to go on."""
        contents = self._run.journal.contents
        await self._stands.wait()  # until what is on record was played again
        if self._ended or (self._play is not None and self._play.outcome is not None):
            raise UsageError("the run is over")
        if isinstance(does, Aside):
            asked = {entry.player for entry in contents.decisions.values() if entry.kind != Survey.kind}
            asked |= self._play.asked if self._play is not None else set()
            if unasked := [player for player in does.players if player not in asked]:
                raise UsageError(
                    f"{', '.join(unasked)}: has not been asked anything yet, and a question off the record refers to "
                    "the latest one; ask again later"
                )
        self._run.journal.steered(max(contents.begun, self._begun) + 1, does)
        self._changes.announce()

    def stands(self) -> None:
        """The game goes on from where its journal ends, once it is let: people are still to come."""
        self._stands.set()

    def ended(self) -> None:
        """The run is over; what waits to be said comes too late."""
        self._ended = True
        self._stands.set()

    async def before(self, play: GamePlay, wave: Wave) -> Wave:
        """Wait until the wave may begin; what is steered meanwhile comes before it."""
        self._play = play
        recorded = self._run.journal.contents
        if any((wave.number, ask.place) not in recorded.decisions for ask in wave.asks):
            self._stands.set()
        if wave.number <= recorded.begun:
            self._asides = len(play.asides)
            return wave
        self._between = True
        try:
            wave = await self._let_go(play, wave)
        finally:
            self._between = False
        self._begun = wave.number
        return wave

    async def _let_go(self, play: GamePlay, wave: Wave) -> Wave:
        while True:
            wave = play.steered(wave)
            if len(play.asides) > self._asides and isinstance(wave.asks[0].request, Survey):
                self._asides, self._aside = len(play.asides), wave.number
                return wave
            if not self.paused or self._steps:
                return wave
            await self._changes.news.wait()

    async def gate(self, ask: Ask) -> None:
        """Wait until this decision may begin."""
        await asyncio.sleep(0)  # bots decide at once, and the pages of this process want their turn
        while self.paused and ask.wave != self._aside:
            if self._steps:
                self._steps -= 1
                return
            await self._changes.news.wait()
