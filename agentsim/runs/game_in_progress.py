"""GameInProgress: a run's game as far as it is played, with decisions from a journal or made live.

`journaled_wave` restores a wave's decisions from a journal, and `GameInProgress.advance` gives them to the rules.
`loop` does so between live waves; `GameInProgress.replay` does so alone: to prove or rebuild a history, to fork, and to
follow a run while another process plays it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import product
from typing import Any, NamedTuple, cast

from agentsim.engine.codec import json_fields
from agentsim.engine.decision import Decision
from agentsim.engine.event import LoggedEvent
from agentsim.engine.game import Game
from agentsim.engine.play import GamePlay
from agentsim.engine.reading import READER_VERSION
from agentsim.engine.request import Ask, Wave
from agentsim.errors import DecisionError, JournalMismatch
from agentsim.games import find
from agentsim.models.base import UNADJUSTED, Attempt
from agentsim.records.fallback_rates import fallback_rates
from agentsim.records.history import Branch, History, build_history
from agentsim.records.journal import DecisionRecord, JournalContents, Parse, Totals
from agentsim.records.versions import package_versions
from agentsim.runs.decide import decision_without_reply
from agentsim.scenario.scenario import Scenario


class DecidedWave(NamedTuple):
    """One wave with the decisions made so far, by place.

    `is_whole` if every request has one: the rules get them next.
    """

    wave: Wave
    records: dict[int, DecisionRecord]
    decisions: dict[int, Decision]

    @property
    def is_whole(self) -> bool:
        return len(self.decisions) == len(self.wave.asks)


@dataclass
class GameInProgress:
    """A scenario's game with its decisions so far; `wave` is the next to decide, or None if the game is over."""

    scenario: Scenario
    game: Game
    play: GamePlay
    wave: Wave | None = field(init=False)
    decisions: list[DecisionRecord] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.wave = self.play.start()

    @classmethod
    def of_journal(cls, contents: JournalContents) -> GameInProgress:
        """Start the game of a journal. Raises `JournalMismatch` if its first line does not describe a run."""
        return cls.of_scenario(*restored_scenario(contents), contents)

    @classmethod
    def of_scenario(cls, scenario: Scenario, game: Game, contents: JournalContents) -> GameInProgress:
        """Start the game of a scenario, with the steering of the journal."""
        return cls(scenario, game, new_play(scenario, game, contents))

    def replay(self, contents: JournalContents) -> Iterator[DecidedWave]:
        """Play on with the journal's decisions, and yield each wave before the rules get its decisions.

        The last wave may not be whole; a later call goes on from there, with newer records of the journal. Raises
        `JournalMismatch` if the rules ask something else than the journal answers, or if a wave is not whole and later
        ones are recorded.
        """
        while self.wave is not None:
            self.wave = self.play.steered(self.wave)
            found = journaled_wave(contents, self.wave)
            yield found
            if not found.is_whole:
                if found.wave.number < contents.last_wave:
                    raise JournalMismatch(f"wave {found.wave.number} is not whole, though later ones are recorded")
                return
            self.advance(found)

    def advance(self, found: DecidedWave) -> None:
        """Add the decisions of a wave; if it is whole, pass them to the rules in the order of its requests."""
        self.decisions += found.records.values()
        if found.is_whole:
            self.wave = self.play.answer([found.decisions[ask.place] for ask in found.wave.asks])

    @property
    def final_status(self) -> str | None:
        """The status of a game that is over, or None.

        It is `degraded` if the share of fallbacks is above `limits.max_fallback_rate`, of the run or of a player with
        enough decisions (`LEAST_DECISIONS`). Surveys and bots do not count.
        """
        if self.play.outcome is None:
            return None
        limit = self.scenario.limits.max_fallback_rate
        own = [each for each in self.decisions if each.survey is None]
        found = fallback_rates((record.index, record.player, record.source) for record in own)
        return "degraded" if limit is not None and found.worst > limit else "completed"

    def history(self, status: str, contents: JournalContents, volatile: Mapping[str, Any]) -> History:
        """Build the history so far; the journal has the attempts at requests without a decision.

        `volatile` is the part that differs between executions: name, times, versions (`volatile_of`).
        """
        undecided = contents.undecided()
        return self._build_history(
            self.play.log,
            self.decisions,
            status=status,
            fork=None if self.scenario.branch is None else self._fork(self.scenario.branch, undecided),
            undecided=undecided,
            outcome=self.play.outcome,
            volatile=volatile,
        )

    def history_since(self, told: int, decisions: Sequence[DecisionRecord]) -> History:
        """Build a history of only these decisions and the events after the first `told`, as an update of a page."""
        log = self.play.log[told:]
        return self._build_history(log, decisions, first=told + 1, status="interrupted", outcome=None, volatile={})

    def _build_history(self, log: Sequence[LoggedEvent], decisions: Sequence[DecisionRecord], **more: Any) -> History:
        return build_history(
            game=self.game.name,
            rules_version=self.game.rules_version,
            seed=cast("int", self.scenario.seed),
            scenario=self.scenario.game_settings(),
            players=[plan.player_record for plan in self.scenario.seats],
            rounds=self.play.table.rounds,
            log=log,
            decisions=decisions,
            asides=self.play.asides,
            **more,
        )

    def _fork(self, branch: Branch, undecided: Sequence[tuple[str, Attempt]]) -> Branch:
        """Return the branch's record with the usage that its parent paid for and the usage of its own."""
        players = [plan.id for plan in self.scenario.seats]
        kept = [record for record in self.decisions if branch.inherits(record.wave, record.index)]
        own = [record for record in self.decisions if not branch.inherits(record.wave, record.index)]
        used = {"inherited": Totals.of(kept, players), "paid": Totals.of(own, players, undecided)}
        return branch.model_copy(update=used)


def journaled_wave(contents: JournalContents, wave: Wave) -> DecidedWave:
    """Return the journal's decisions of a wave, checked and read again. Raises `JournalMismatch`."""
    if wave.number > contents.last_wave:
        return DecidedWave(wave, {}, {})
    records = {ask.place: record for ask in wave.asks if (record := _journaled_record(contents, ask)) is not None}
    asks = {ask.place: ask for ask in wave.asks}
    return DecidedWave(
        wave, records, {place: restored_decision(asks[place], record) for place, record in records.items()}
    )


def _journaled_record(contents: JournalContents, ask: Ask) -> DecisionRecord | None:
    """Return the journal's answer to this request, or None. Raises `JournalMismatch` if it answers another request."""
    if (record := contents.decisions.get((ask.wave, ask.place))) is None:
        return None
    request = ask.request
    found = (request.kind, request.player, request.fingerprint, ask.index)
    if found != (record.kind, record.player, record.fingerprint, record.index):
        raise JournalMismatch(
            f"decision {ask.index} (wave {ask.wave}, place {ask.place}): the journal answers {record.kind} of "
            f"{record.player} [{record.fingerprint}], the rules ask {request.kind} of {request.player} "
            f"[{request.fingerprint}]: the game's code has changed since"
        )
    return record


def restored_decision(ask: Ask, record: DecisionRecord) -> Decision:
    """Return the decision of a record after checking it and reading its reply again.

    Raises `JournalMismatch` if the request does not allow it, or if the reply says something else.
    """
    request = ask.request
    # a fallback with a reading is the game's own decision for a lost reply, and is read again; others are the request's
    unread = record.source == "fallback" and record.parse is None
    fallback = decision_without_reply(request, record.attempts) if unread else None
    # a fallback may say more than a reply can, such as the lines of a narrator
    answer = request.answer if fallback is None else type(fallback)
    try:
        decision: Decision = answer.model_validate(dict(record.decision))
        request.check(decision)
    except ValueError:
        raise JournalMismatch(f"decision {record.index}: what is recorded is no answer to {record.kind}") from None
    except DecisionError as error:
        raise JournalMismatch(f"decision {record.index}: {error}") from None
    if not (_says(ask, record, decision) if fallback is None else decision == fallback):
        origin = "its reply says" if fallback is None else "the fallback is"
        raise JournalMismatch(f"decision {record.index} of {record.player}: what is recorded is not what {origin}")
    return decision


def _says(ask: Ask, record: DecisionRecord, decision: Decision) -> bool:
    """Return whether the last reply, read again, is this decision. True for decisions without a reply."""
    if record.source == "bot" or (record.source == "human" and not record.attempts):
        return True
    reply = record.attempts[-1].completion if record.attempts else None
    if reply is None or record.parse is None:
        return False
    truncated = reply.ended_early
    # The settings it was read with follow from the scenario and the changes of a fork. They decide whether a reply is
    # unreadable, not what it says.
    for repair, last_attempt in product(
        (record.parse.repaired, not record.parse.repaired), (False, True)[: 1 + truncated]
    ):
        with suppress(DecisionError):
            reading = ask.request.parse(reply.text, truncated=truncated, last_attempt=last_attempt, repair=repair)
            is_lost = reading.rejection is not None
            same = reading.decision == decision and Parse.of(reading) == record.parse
            if same and is_lost == (record.source == "fallback"):
                return True
    return False


def restored_scenario(contents: JournalContents) -> tuple[Scenario, Game]:
    """Return the scenario and game of a journal. Raises `JournalMismatch` if its first line does not describe a run."""
    head = contents.head
    try:
        scenario = Scenario.restore(head["scenario"], head["run"], seed=int(head["seed"]))
        if "fork" in head:
            scenario = replace(scenario, branch=Branch.restore(head["fork"]))
    except (KeyError, TypeError, ValueError) as error:
        raise JournalMismatch(f"the journal's first line does not describe a run: {error}") from None
    return with_filled_seats(scenario, contents.filled), find(scenario.game)


def with_filled_seats(scenario: Scenario, bots: Mapping[str, str]) -> Scenario:
    """Return the scenario with these bots in the seats of people who did not come."""
    players = tuple(plan.filled(bots[plan.id]) if plan.id in bots else plan for plan in scenario.players)
    return replace(scenario, players=players) if bots else scenario


def new_play(scenario: Scenario, game: Game, contents: JournalContents | None = None) -> GamePlay:
    """Return the game of a scenario, ready to start, with the steering of the journal if there is one."""
    assert scenario.seed is not None, "a run has its seed before it plays"
    players = [plan.id for plan in scenario.players]
    names = {plan.id: plan.called for plan in scenario.players if plan.called is not None}
    salts = {} if scenario.branch is None else dict(scenario.branch.salts)
    return GamePlay(
        game,
        scenario.config,
        players,
        scenario.seed,
        staff=scenario.staff,
        names=names,
        salts=salts,
        interviews=scenario.interviews,
        steering=None if contents is None else contents.steered,
    )


def head_of(scenario: Scenario, game: Game, name: str, now: datetime) -> dict[str, Any]:
    """Return the first record of the journal for a scenario that has a seed."""
    return {
        "game": game.name,
        "rules_version": game.rules_version,
        "reader": READER_VERSION,
        "seed": scenario.seed,
        "name": name,
        "started_at": stamp(now),
        "versions": package_versions(),
        "scenario": scenario.game_settings(),
        "run": scenario.run_settings(),
        **({} if scenario.branch is None else {"fork": scenario.branch.model_dump(mode="json")}),
    }


def volatile_of(scenario: Scenario, contents: JournalContents, name: str, now: str, wall_s: float) -> dict[str, Any]:
    """Return the history's `volatile`; `wall_s` are the seconds of all sessions."""
    run = scenario.run_settings()
    void = contents.void_calls()
    negotiated = {
        model: json_fields(adjustments)
        for model, adjustments in sorted(contents.negotiated.items())
        if adjustments != UNADJUSTED
    }
    return {
        "name": name,
        "started_at": contents.head["started_at"],
        "finished_at": now,
        "wall_s": round(wall_s, 3),
        "versions": contents.head["versions"],
        "run": {"concurrency": run["limits"]["concurrency"], **run},
        **({"replies": list(contents.replies)} if contents.replies else {}),
        # these calls were made, but the undisturbed run's `usage` has none of them
        **({"void_calls": void} if void else {}),
        **({"filled": dict(sorted(contents.filled.items()))} if contents.filled else {}),
        **({"negotiated": negotiated} if negotiated else {}),
    }


def stamp(moment: datetime) -> str:
    """Return a UTC moment as ISO 8601 with milliseconds and `Z`."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
