"""drive: plays a game to its end, wave by wave: from the journal as far as it goes, then live.

Decisions reach the rules in request order, whatever order they came in; a wave's decisions are on disk before
the rules see any of them. Who answers, and how, is `dispatcher`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import product

from agentsim.engine.decision import Decision
from agentsim.engine.event import LoggedEvent
from agentsim.engine.play import Ask, GamePlay, Wave
from agentsim.errors import AgentsimError, DecisionError, JournalMismatch, RunStopped
from agentsim.history.journal import Contents, DecisionRecord, Parse
from agentsim.players.model import BotPlayer
from agentsim.runner.dispatcher import Dispatcher
from agentsim.runner.referee import Ruling, decision_record_of, without_reply


async def drive(play: GamePlay, dispatcher: Dispatcher) -> None:
    """Play to the end; the dispatcher's decisions grow with every decision, whether this returns or raises."""
    news = _News(play.log, dispatcher)
    wave = play.start()
    while wave is not None:
        if dispatcher.before is not None:
            wave = await dispatcher.before(play, wave)
        news.before(wave)
        dispatcher.watcher.stands(play.table.progress)
        dispatcher.watcher.wave(wave, play.table.rounds[-1])
        try:
            decisions = await _settle(play, wave, dispatcher)
        except (AgentsimError, asyncio.CancelledError):
            _, whole = recalled(dispatcher.journal.contents, wave)
            if whole is not None:  # the stop came behind its last decision: a replay of the journal plays it as well
                play.answer(whole)
            raise
        wave = play.answer(decisions)
    dispatcher.journal.sync()
    news.at_the_end()


class _News:
    """Tells the watcher what happened, once; where people play, what prompts recount is left to the prompts."""

    def __init__(self, log: Sequence[LoggedEvent], dispatcher: Dispatcher) -> None:
        self._log, self._dispatcher = log, dispatcher
        self._told = self._recounted = 0  # places in the log before which all was told, or what people cannot read

    def before(self, wave: Wave) -> None:
        """What is new when a wave is about to be decided."""
        people = bool(self._dispatcher.people)
        new = [told for told in self._log[self._told :] if not (people and told.event.in_prompt)]
        self._dispatcher.watcher.told(new)
        self._told = len(self._log)
        if not people or self._dispatcher.asks_person(wave):
            self._recounted = len(self._log)

    def at_the_end(self) -> None:
        """All that was not told yet, and no prompt recounted."""
        left = [told for told in self._log[self._recounted : self._told] if told.event.in_prompt]
        self._dispatcher.watcher.told([*left, *self._log[self._told :]])


async def _settle(play: GamePlay, wave: Wave, dispatcher: Dispatcher) -> list[Decision]:
    """The wave's decisions, as the referee or a bot made them: `tests/contract` shows that their JSON says the same."""
    recorded, seats = dispatcher.journal.contents, dispatcher.seats
    decisions: dict[int, Decision] = {}
    live: list[Ask] = []
    for ask in wave.asks:
        seat, entry = seats[ask.request.player], recall(recorded, ask)
        if entry is not None:
            decisions[ask.place] = restored(ask, entry)
        elif isinstance(seat, BotPlayer):
            if dispatcher.gate is not None:
                await dispatcher.gate(ask)
            decision = decisions[ask.place] = seat.decide(ask, play.bot_rng(ask))
            entry = decision_record_of(ask, Ruling(decision, "bot"))
            dispatcher.journal.decided(entry, sync=False)
        else:
            live.append(ask)
            continue
        dispatcher.decisions.append(entry)
        dispatcher.watcher.decided(entry)
    if not all(isinstance(seats[ask.request.player], BotPlayer) for ask in wave.asks):
        if live and wave.number < recorded.last_wave:
            raise not_whole(wave)
        dispatcher.wave(wave.asks)
        decisions |= await _settle_live(live, dispatcher)
        dispatcher.journal.sync()
    return [decisions[ask.place] for ask in wave.asks]


async def _settle_live(live: Sequence[Ask], dispatcher: Dispatcher) -> dict[int, Decision]:
    """Decide several requests at once, by place. Where one must stop the run, the others finish what they began."""
    if not live:
        return {}
    tasks = [asyncio.create_task(dispatcher.settle(ask)) for ask in live]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in tasks:
            if task not in dispatcher.in_flight:
                task.cancel()  # done, or only waiting for a turn that will not come
    except asyncio.CancelledError:
        for task in tasks:
            task.cancel()
        raise
    finally:
        results = await asyncio.gather(*tasks, return_exceptions=True)
    errors = [result for result in results if isinstance(result, Exception)]
    if errors:  # a mistake of ours before a planned stop: it must not be hidden by one
        raise min(errors, key=lambda error: isinstance(error, RunStopped))
    return {ask.place: task.result() for ask, task in zip(live, tasks, strict=True)}


def played_again(play: GamePlay, recorded: Contents) -> Iterator[tuple[Wave, list[DecisionRecord], bool]]:
    """Each wave of a journal's game with the answers on record, and whether that is all of them; then the next one."""
    wave = play.start()
    while wave is not None:
        entries, decisions = recalled(recorded, wave)
        yield wave, entries, decisions is not None
        wave = None if decisions is None else play.answer(decisions)


def recalled(recorded: Contents, wave: Wave) -> tuple[list[DecisionRecord], list[Decision] | None]:
    """The journal's answers to a wave, and its decisions, None where one of them is not recorded.

    Raises `JournalMismatch` where the rules ask something else than the journal answers.
    """
    found = [(ask, entry) for ask in wave.asks if (entry := recall(recorded, ask)) is not None]
    decisions = [restored(ask, entry) for ask, entry in found]
    return [entry for _, entry in found], decisions if len(found) == len(wave.asks) else None


def not_whole(wave: Wave) -> JournalMismatch:
    """The error where a decision of a wave is missing, and later ones are recorded."""
    return JournalMismatch(f"wave {wave.number} is not whole, though later ones are recorded")


def recall(recorded: Contents, ask: Ask) -> DecisionRecord | None:
    """The journal's answer to this request, if it has one; `JournalMismatch` where it answers another question."""
    if (key := (ask.wave, ask.place)) not in recorded.decisions:
        return None
    entry, request = recorded.decisions[key], ask.request
    found = (request.kind, request.player, request.fingerprint, ask.index)
    expected = (entry.kind, entry.player, entry.fingerprint, entry.index)
    if found != expected:
        raise JournalMismatch(
            f"decision {ask.index} (wave {ask.wave}, place {ask.place}): the journal answers {entry.kind} of "
            f"{entry.player} [{entry.fingerprint}], the rules ask {request.kind} of {request.player} "
            f"[{request.fingerprint}]: the game's code has changed since"
        )
    return entry


def restored(ask: Ask, entry: DecisionRecord) -> Decision:
    """The decision of an entry, checked again, and its reply read again.

    `JournalMismatch` where it is not one this request allows, or not what the reply says.
    """
    request = ask.request
    fallback = without_reply(request, entry.attempts) if entry.source == "fallback" else None
    # a fallback may say more than a reply can, such as the narrator's lines
    answer = request.answer if fallback is None else type(fallback)
    try:
        decision: Decision = answer.model_validate(dict(entry.decision))
        request.check(decision)
    except ValueError:
        raise JournalMismatch(f"decision {entry.index}: what is recorded is no answer to {entry.kind}") from None
    except DecisionError as error:
        raise JournalMismatch(f"decision {entry.index}: {error}") from None
    if not (_says(ask, entry, decision) if fallback is None else decision == fallback):
        origin = "its reply says" if fallback is None else "the fallback is"
        raise JournalMismatch(f"decision {entry.index} of {entry.player}: what is recorded is not what {origin}")
    return decision


def _says(ask: Ask, entry: DecisionRecord, decision: Decision) -> bool:
    """Whether the last reply, read again, is this decision; what no reply led to is not in doubt."""
    if entry.source == "bot" or (entry.source == "human" and not entry.attempts):
        return True
    reply = entry.attempts[-1].completion if entry.attempts else None
    if reply is None or entry.parse is None:
        return False
    cut = reply.ended_early
    # Which of them it was read with follows from the scenario, and what a fork changed in it; they differ in what they
    # take to be unreadable, not in what a reply says.
    for repair, last in product((entry.parse.repaired, not entry.parse.repaired), (False, True)[: 1 + cut]):
        with suppress(DecisionError):
            reading = ask.request.parse(reply.text, cut=cut, last=last, repair=repair)
            if reading.decision == decision and Parse.of(reading) == entry.parse:
                return True
    return False
