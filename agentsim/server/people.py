"""People: the persons in the seats of one run, from their links to their completion codes.

`seats` renders their pages, `people_file` stores their records. The secret token of a link is never logged.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

from agentsim.games import find
from agentsim.players.page_form import answers_to, questionnaire
from agentsim.players.web import WebPlayer, WebQuestion
from agentsim.records.history import FINISHED
from agentsim.records.journal import read_journal
from agentsim.records.people_file import PeopleFile, PersonRecord
from agentsim.records.run_files import RunFiles
from agentsim.runs.game_in_progress import restored_scenario, stamp
from agentsim.runs.run import Run
from agentsim.scenario.scenario import Scenario
from agentsim.scenario.toml_tables import PeopleTable
from agentsim.server.changes import ChangeSignal

VisitStage: TypeAlias = Literal[
    "welcome", "before", "waiting", "game", "after", "done", "declined", "taken", "paused", "withdrawn"
]
LEAVABLE: Final = frozenset({"before", "waiting", "game", "paused", "after"})
"""The stages in which a person has begun and is not done, and so may withdraw."""
_RECORDED_S = 5.0  # the most seconds to wait until an answer is in the journal


class PersonSeat(ChangeSignal):
    """One person's seat, which signals changes to the person's pages."""

    def __init__(self, people: People, player: str, web: WebPlayer | None) -> None:
        super().__init__()
        self.people, self.player = people, player
        self._web = web
        if web is not None:
            web.changed = self.notify
            if self.left:
                web.withdraw()

    @property
    def record(self) -> PersonRecord:
        """The stored record of the person."""
        return self.people.file.people[self.player]

    @property
    def path(self) -> str:
        """The path of the person's page, whose last part is the secret token."""
        return f"/seat/{self.record.token}"

    @property
    def question(self) -> WebQuestion | None:
        """The question that the person is asked now, or None."""
        return None if self._web is None else self._web.question

    @property
    def stage(self) -> VisitStage:
        """The person's stage in the experiment."""
        table, record, state = self.people.table, self.record, self.people.state
        if self.left:
            return "withdrawn"
        if self.player in self.people.filled:
            return "taken"
        if record.consented_at is None:
            return "declined" if record.declined_at is not None else "welcome"
        if table.before and record.before is None:
            return "before"
        if state == "over":
            return "after" if table.after and record.after is None else "done"
        return "waiting" if state == "gathering" else "game" if state == "playing" else "paused"

    @property
    def ready(self) -> bool:
        """True if the game may begin as far as this person is concerned."""
        return self.record.ready_at is not None

    @property
    def left(self) -> bool:
        """True if the person has withdrawn from the study."""
        return self.record.withdrawn_at is not None

    async def submit(self, step: str, given: Mapping[str, Sequence[str]]) -> None:
        """Handle a form of the person's page. A form that is sent twice or too late changes nothing.

        Raises `FieldProblem` if an answer is not valid.
        """
        now, stage, file = stamp(datetime.now(UTC)), self.stage, self.people.file
        if step in {"agree", "decline"} and stage in {"welcome", "declined"}:
            agreed = step == "agree"
            values = {"consented_at": now, "declined_at": None} if agreed else {"declined_at": now}
            file.change(self.player, arrived_at=self.record.arrived_at or now, **values)
        elif step == stage and stage in {"before", "after"}:
            questions = self.people.table.before if stage == "before" else self.people.table.after
            file.change(self.player, **{stage: answers_to(questionnaire(questions), given)})
        elif step == "answer" and stage == "game" and (asked := self.question) is not None and _is_of(given, asked):
            asked.submit(given)
            await self.people.wait_until_journaled(asked)
        elif step == "withdraw" and stage in LEAVABLE:
            file.change(self.player, withdrawn_at=now)
            if self._web is not None:
                self._web.withdraw()
        if self.stage not in {"welcome", "declined", "before", "withdrawn", "taken"} and not self.ready:
            file.change(self.player, ready_at=now)
        if self.stage == "done" and self.record.finished_at is None:
            file.change(self.player, finished_at=now)
        self.people.notify()


class People:
    """All people of one run. `state` is the state of its game."""

    def __init__(self, files: RunFiles, scenario: Scenario, filled: Mapping[str, str], run: Run | None) -> None:
        known = PeopleFile.load(files)
        players = [plan.id for plan in scenario.players if plan.name.kind == "web" or plan.id in filled]
        self.file = known if known is not None and run is None else PeopleFile.of(files, players)
        self.table = scenario.people or PeopleTable()
        self.game = find(scenario.game).title
        self.files, self.filled = files, dict(filled)
        self.state: Literal["gathering", "playing", "paused", "over"] = "over" if run is None else "gathering"
        self._run = run
        chairs = run.seats.by_id if run is not None else {}
        self.seats: dict[str, PersonSeat] = {}
        for player in self.file.people:
            chair = chairs.get(player)
            self.seats[player] = PersonSeat(self, player, chair if isinstance(chair, WebPlayer) else None)

    @classmethod
    def of_run(cls, run: Run) -> People | None:
        """Return the people of a run that is about to be played, or None if no seat is played on a page."""
        filled = run.journal.contents.filled
        if not filled and all(plan.name.kind != "web" for plan in run.scenario.players):
            return None
        return cls(run.files, run.scenario, filled, run)

    @classmethod
    def of_finished(cls, files: RunFiles) -> People | None:
        """Return the people of a run that is over, or None if it had none."""
        if PeopleFile.load(files) is None or not files.journal.is_file():
            return None
        contents = read_journal(files.journal)
        return cls(files, restored_scenario(contents)[0], contents.filled, None)

    @property
    def here(self) -> tuple[int, int]:
        """The number of people who are ready, and the number of seats that are waited for in all."""
        waited = [seat for player, seat in self.seats.items() if player not in self.filled and not seat.left]
        return sum(seat.ready for seat in waited), len(waited)

    def notify(self) -> None:
        """Wake the pages of all people, and the task that waits for them."""
        for seat in self.seats.values():
            seat.notify()

    async def gathered(self, run: Run) -> None:
        """Wait until all people are ready, unless the game has already begun.

        If `wait_s` seconds have passed since a person was first seen ready, the bot of the table takes the seats that
        are still empty. A person who has withdrawn is not waited for: the bot takes that seat too, or its decisions
        fall back if the table names no bot.
        """
        loop, ends = asyncio.get_running_loop(), None
        while empty := self.missing(run):
            ready, _ = self.here
            if ready and ends is None and self.table.wait_s is not None:
                ends = loop.time() + self.table.wait_s
            try:
                async with asyncio.timeout_at(ends):
                    await empty[0].next_change.wait()
            except TimeoutError:
                self._fill(self._empty(), run)
        if not _begun(run):
            self._fill([seat for seat in self.seats.values() if seat.left], run)
        self.state = "playing"
        self.notify()

    def missing(self, run: Run) -> list[PersonSeat]:
        """Return the seats whose person the game waits for before it begins."""
        return [] if _begun(run) else self._empty()

    def _empty(self) -> list[PersonSeat]:
        """Return the seats whose person has not arrived, withdrawn, or been replaced by a bot."""
        known = self.filled
        return [each for player, each in self.seats.items() if not (player in known or each.ready or each.left)]

    def _fill(self, empty: Sequence[PersonSeat], run: Run) -> None:
        """Put the bot of the table, if it names one, into these seats."""
        for seat in empty:
            if self.table.fill_with is not None and seat.player not in self.filled:
                run.fill(seat.player, self.table.fill_with)
                self.filled[seat.player] = self.table.fill_with

    def ended(self, status: str) -> None:
        """Record that the run stopped with this status: the game is over, or only paused."""
        self.state = "over" if status in FINISHED else "paused"
        self.notify()

    async def wait_until_journaled(self, asked: WebQuestion) -> None:
        """Wait until the answer to a question is in the journal, for at most `_RECORDED_S` seconds.

        A page then shows an answer as sent only once it is stored.
        """
        key, run = (asked.ask.wave, asked.ask.place), self._run
        assert run is not None, "a question is of a game that is played"
        loop = asyncio.get_running_loop()
        until = loop.time() + _RECORDED_S
        while key not in run.journal.contents.decisions and loop.time() < until:  # noqa: ASYNC110 - a file grows
            await asyncio.sleep(0.005)


def _begun(run: Run) -> bool:
    """Return whether any decision of this run is recorded. For a branch, decisions that it inherits do not count."""
    branch, records = run.scenario.branch, run.journal.contents.decisions.values()
    if branch is None:
        return bool(records)
    return any(not branch.inherits(each.wave, each.index) and each.index != branch.at for each in records)


def _is_of(given: Mapping[str, Sequence[str]], asked: WebQuestion) -> bool:
    """Return whether the form answers this question and not an earlier one."""
    return list(given.get("seat-decision", ())) == [str(asked.ask.index)]


def digest(token: str) -> str:
    """Return the digest of a secret token. Looking it up by digest leaks nothing about the token through timing."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
