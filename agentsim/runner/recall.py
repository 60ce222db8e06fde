"""recall: what a journal answers to the requests of a game that is played again, and that it fits them.

Reading the journal is `history.contents`; what is done where it has no answer is up to whoever plays.
"""

from __future__ import annotations

from agentsim.engine.play import Ask, Wave
from agentsim.engine.reading import Decision
from agentsim.errors import DecisionError, JournalMismatch
from agentsim.history.contents import Contents
from agentsim.history.entry import Entry

__all__ = ["not_whole", "recall", "recalled", "restored"]


def recalled(recorded: Contents, wave: Wave) -> tuple[list[Entry], list[Decision] | None]:
    """The journal's answers to a wave, and its decisions, None where one of them is not recorded.

    Raises `JournalMismatch` where the rules ask something else than the journal answers.
    """
    found = [(ask, entry) for ask in wave.asks if (entry := recall(recorded, ask)) is not None]
    decisions = [restored(ask, entry) for ask, entry in found]
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


def restored(ask: Ask, entry: Entry) -> Decision:
    """The decision of an entry, checked again; `JournalMismatch` where it is not one this request allows."""
    request = ask.request
    # a fallback may say more than a reply can, such as the narrator's lines
    answer = type(request.fallback()) if entry.source == "fallback" else request.answer
    try:
        decision: Decision = answer.model_validate(dict(entry.decision))
        request.check(decision)
    except ValueError:
        raise JournalMismatch(f"decision {entry.index}: what is recorded is no answer to {entry.kind}") from None
    except DecisionError as error:
        raise JournalMismatch(f"decision {entry.index}: {error}") from None
    return decision
