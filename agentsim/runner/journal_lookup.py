"""Journal lookup: finds the answers of a journal to the requests of a game, and checks that they fit."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

from agentsim.engine.play import Ask, Wave
from agentsim.engine.reading import Decision
from agentsim.errors import DecisionError, JournalMismatch
from agentsim.history.contents import Contents, Entry
from agentsim.history.record import Parse

__all__ = ["not_whole", "recall", "recalled", "restored"]


def recalled(recorded: Contents, wave: Wave) -> tuple[list[Entry], list[Decision] | None]:
    """The journal's answers to a wave, and its decisions, None where one of them is not recorded.

    Raises `JournalMismatch` where the rules ask something else than the journal answers.
    """
    found = [(ask, entry) for ask in wave.asks if (entry := recall(recorded, ask)) is not None]
    decisions = [restored(recorded, ask, entry) for ask, entry in found]
    return [entry for _, entry in found], decisions if len(found) == len(wave.asks) else None


def not_whole(wave: Wave) -> JournalMismatch:
    """The error where a decision of a wave is missing, and later ones are recorded."""
    return JournalMismatch(f"wave {wave.number} is not whole, though later ones are recorded")


def recall(recorded: Contents, ask: Ask) -> Entry | None:
    """The journal's answer to this request, if it has one; `JournalMismatch` where it answers another question."""
    entry = recorded.entries.get((ask.wave, ask.place))
    if entry is None:
        return None
    request = ask.request
    found = (request.kind, request.player, request.fingerprint(), ask.index)
    expected = (entry.kind, entry.player, entry.fingerprint, entry.index)
    if found != expected:
        raise JournalMismatch(
            f"decision {ask.index} (wave {ask.wave}, place {ask.place}): the journal answers {entry.kind} of "
            f"{entry.player} [{entry.fingerprint}], the rules ask {request.kind} of {request.player} "
            f"[{request.fingerprint()}]: the game's code has changed since"
        )
    return entry


def restored(recorded: Contents, ask: Ask, entry: Entry) -> Decision:
    """The decision of an entry, checked again, and its reply read again where today's reader is the one that read it.

    `JournalMismatch` where it is not one this request allows, or not what the reply says.
    """
    request = ask.request
    fallback = request.fallback() if entry.source == "fallback" else None
    # a fallback may say more than a reply can, such as the narrator's lines
    answer = request.answer if fallback is None else type(fallback)
    try:
        decision: Decision = answer.model_validate(dict(entry.decision))
        request.check(decision)
    except ValueError:
        raise JournalMismatch(f"decision {entry.index}: what is recorded is no answer to {entry.kind}") from None
    except DecisionError as error:
        raise JournalMismatch(f"decision {entry.index}: {error}") from None
    if recorded.read_alike and not (_says(ask, entry, decision) if fallback is None else decision == fallback):
        origin = "its reply says" if fallback is None else "the fallback is"
        raise JournalMismatch(f"decision {entry.index} of {entry.player}: what is recorded is not what {origin}")
    return decision


def _says(ask: Ask, entry: Entry, decision: Decision) -> bool:
    """Whether the last reply, read again, is this decision; what no reply led to is not in doubt."""
    if entry.source == "bot" or (entry.source == "human" and not entry.tries):
        return True
    reply = entry.tries[-1].completion if entry.tries else None
    if reply is None or entry.parse is None:
        return False
    cut = reply.finish_reason == "length"
    # Which of them it was read with follows from the scenario, and what a fork changed in it; they differ in what they
    # take to be unreadable, not in what a reply says.
    for repair, last in product((entry.parse.repaired, not entry.parse.repaired), (False, True)[: 1 + cut]):
        with suppress(DecisionError):
            reading = ask.request.parse(reply.text, cut=cut, last=last, repair=repair)
            if reading.decision == decision and Parse.of(reading) == entry.parse:
                return True
    return False
