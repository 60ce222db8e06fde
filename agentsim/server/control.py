"""Control: holds a run that this process plays, lets it go decision by decision, and has it steered between its waves.

What stands on record is `engine.steering`; the forms that ask for it are `steering`.
"""

from __future__ import annotations

import asyncio

from agentsim.engine.play import Ask, GamePlay, Wave
from agentsim.engine.steering import Announcement, Aside, Steer, allows_announcements
from agentsim.engine.survey import Survey
from agentsim.errors import UsageError
from agentsim.runner.session import Session


class Control:
    """What an experimenter may do to one session while it is played."""

    def __init__(self, session: Session) -> None:
        self.paused = False
        self._session = session
        self._steps = 0
        self._changed = asyncio.Event()
        self._wave = 0  # the number of that which is decided now, or comes next
        self._between = False  # whether that wave has not begun, so that something may still come before it
        self._aside = 0  # the wave of an aside, which is held while the game is paused
        session.before = self.before

    @property
    def announces(self) -> bool:
        """Whether the game's players hear announcements."""
        return allows_announcements(self._session.game)

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
        self._wake()

    def step(self) -> None:
        """Let one more decision begin, and be paused behind it."""
        self.paused = True
        self._steps += 1
        self._wake()

    def announce(self, said: str) -> None:
        """Have the narrator say this before the next wave; `UsageError` where the game has no narrator to hear."""
        if not self.announces:
            raise UsageError(f"{self._session.game.title} has no announcements")
        self._steer(Announcement(said=" ".join(said.split())))

    def ask(self, aside: Aside) -> None:
        """Have players asked off the record before the next wave; `UsageError` for one who does not play."""
        known = [plan.id for plan in self._session.scenario.players]
        if unknown := [player for player in aside.players if player not in known]:
            raise UsageError(f"there is no player {unknown[0][:80]!r} (valid: {', '.join(known)})")
        self._steer(aside)

    def _steer(self, does: Steer) -> None:
        if self._session.journal.contents.stops and not self._wave:
            raise UsageError("the run is over")
        self._session.journal.steered(self._wave if self._between else self._wave + 1, does)
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def before(self, play: GamePlay, wave: Wave) -> Wave:
        """Wait until the wave may begin; what is steered meanwhile comes before it."""
        self._wave = wave.number
        recorded = self._session.journal.contents
        if wave.number <= recorded.last_wave or any(number == wave.number for number, _ in recorded.tries):
            return wave  # it has begun
        self._between = True
        try:
            while True:
                asides, wave = len(play.asides), play.steered(wave)
                if len(play.asides) > asides and isinstance(wave.asks[0].request, Survey):
                    self._aside = wave.number
                    return wave
                if not self.paused or self._steps:
                    return wave
                await self._changed.wait()
        finally:
            self._between = False

    async def gate(self, ask: Ask) -> None:
        """Wait until this decision may begin."""
        await asyncio.sleep(0)  # bots decide at once, and the pages of this process want their turn
        while self.paused and ask.wave != self._aside:
            if self._steps:
                self._steps -= 1
                return
            await self._changed.wait()
