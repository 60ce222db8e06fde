"""Control: pauses a run that this process plays, steps it decision by decision, and steers it between its waves.

`engine.steering` defines the recorded actions; `steering` has the forms that ask for them.
"""

from __future__ import annotations

import asyncio

from agentsim.engine.play import GamePlay
from agentsim.engine.request import Ask, Wave
from agentsim.engine.steering import Announcement, Aside, Steer
from agentsim.engine.survey import Survey
from agentsim.errors import UsageError
from agentsim.runs.run import Run
from agentsim.server.changes import ChangeSignal


class Control:
    """The experimenter's actions on one run while it is played."""

    def __init__(self, run: Run) -> None:
        self.paused = False
        self._run = run
        self._steps = 0
        self._changes = ChangeSignal()
        self._begun = 0  # the highest wave that was started here; the journal knows those on record
        self._between = False  # whether the next wave is waiting to start, so that a steering action may come before it
        self._aside = 0  # the wave of an aside, which is asked even while the game is paused
        self._asides = 0  # the number of asides that were asked
        self._play: GamePlay | None = None
        self._ended = False
        self._stands = asyncio.Event()  # set once the game is at the end of its journal, or over
        run.before_wave = self.before_wave

    @property
    def announces(self) -> bool:
        """True if the game's players hear announcements."""
        return bool(self._run.game.announcements)

    @property
    def waits(self) -> bool:
        """True if the run is paused between two waves, so that an announcement comes before the next question."""
        return self.paused and self._between

    def pause(self) -> None:
        """Start no further decision. Calls in flight are still answered."""
        self.paused, self._steps = True, 0

    def resume(self) -> None:
        """Start decisions again."""
        self.paused = False
        self._changes.notify()

    def step(self) -> None:
        """Start one more decision, and pause after it."""
        self.paused = True
        self._steps += 1
        self._changes.notify()

    async def announce(self, said: str) -> None:
        """Let the narrator say this before the next wave. Raises `UsageError` if the game has no announcements."""
        if not self.announces:
            raise UsageError(f"{self._run.game.title} has no announcements")
        await self._steer(Announcement(said=" ".join(said.split())))

    async def ask(self, aside: Aside) -> None:
        """Ask players off the record before the next wave. Raises `UsageError` if one of them cannot be asked."""
        known = [plan.id for plan in self._run.scenario.players]
        if unknown := [player for player in aside.players if player not in known]:
            raise UsageError(f"there is no player {unknown[0][:80]!r} (valid: {', '.join(known)})")
        await self._steer(aside)

    async def _steer(self, does: Steer) -> None:
        """Record the action before the next wave that has not started, once the recorded decisions are replayed."""
        contents = self._run.journal.contents
        await self._stands.wait()  # until the game is at the end of its journal
        if self._ended or (self._play is not None and self._play.outcome is not None):
            raise UsageError("the run is over")
        if isinstance(does, Aside):
            asked = {record.player for record in contents.decisions.values() if record.kind != Survey.kind}
            asked |= self._play.asked if self._play is not None else set()
            if unasked := [player for player in does.players if player not in asked]:
                raise UsageError(
                    f"{', '.join(unasked)}: has not been asked anything yet, and a question off the record refers to "
                    "the latest one; ask again later"
                )
        self._run.journal.append_steering(max(contents.last_begun_wave, self._begun) + 1, does)
        self._changes.notify()

    def show_progress(self) -> None:
        """Record that the game is at the end of its journal and waits for people."""
        self._stands.set()

    def ended(self) -> None:
        """Record that the run is over, so that later actions are refused."""
        self._ended = True
        self._stands.set()

    async def before_wave(self, play: GamePlay, wave: Wave) -> Wave:
        """Wait until a wave may start, and return it, or the wave of a steering action that comes before it."""
        self._play = play
        contents = self._run.journal.contents
        if any((wave.number, ask.place) not in contents.decisions for ask in wave.asks):
            self._stands.set()
        if wave.number <= contents.last_begun_wave:
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
            await self._changes.next_change.wait()

    async def before_decision(self, ask: Ask) -> None:
        """Wait until this decision may start."""
        await asyncio.sleep(0)  # bots decide without waiting, which would starve the pages of this process
        while self.paused and ask.wave != self._aside:
            if self._steps:
                self._steps -= 1
                return
            await self._changes.next_change.wait()
