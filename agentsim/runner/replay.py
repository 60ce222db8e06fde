"""Replay: plays a run again from its journal alone, to prove its history or to rebuild one. No model is called.

A journal is appended to and synced, a history is derived. Where they differ, the journal is right.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from agentsim.engine.codec import text_id
from agentsim.engine.game import Game
from agentsim.engine.play import GamePlay
from agentsim.errors import AgentsimError, JournalError, JournalMismatch, UsageError
from agentsim.history.contents import Contents, Entry, Stop, read_head, read_journal
from agentsim.history.fold import dump_history
from agentsim.history.journal import Journal
from agentsim.history.load import load_history
from agentsim.history.record import FINISHED, FORMAT
from agentsim.history.run_files import RunFiles, write_whole
from agentsim.runner.journal_lookup import recalled
from agentsim.runner.plays import finished_status, folded, new_play, restored_scenario, volatile_of
from agentsim.scenario.scenario import Scenario

__all__ = ["Proof", "ReplayDiffers", "Replayed", "over", "prove", "rebuilt", "replayed", "unfit", "without_volatile"]

_MISSING = object()
_TAIL = 4096


class ReplayDiffers(AgentsimError):
    """The journal's game is not the one in the history file."""


@dataclass(frozen=True)
class Proof:
    """What was proved: so many decisions lead to exactly this history; `complete` where the game ended.

    `protected` where the journal's lines carry digests, `reread` where the replies were read again and say what was
    decided: neither holds for journals of earlier versions, the second only for the reader of today.
    """

    decisions: int
    complete: bool
    history: Mapping[str, Any]
    protected: bool
    reread: bool


def without_volatile(history: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same in every execution of one game."""
    return {key: value for key, value in history.items() if key != "volatile"}


def prove(files: RunFiles) -> Proof:
    """Play the journal and compare with the history.

    Raises `JournalMismatch` where the rules ask something else than the journal answers, `ReplayDiffers`
    where the resulting history is not the one on disk, `JournalError` where either file cannot be used.
    """
    recorded = read_journal(files.journal)
    try:
        text = files.history.read_bytes().decode()
        claimed = json.loads(text, object_pairs_hook=_members)
        claimed["status"], {**claimed.get("volatile", {})}
    except FileNotFoundError:
        raise JournalError(f"{files.name}: there is no history to prove; `agentsim resume` ends the run") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise JournalError(f"{files.history.name}: is not a history") from None
    again = replayed(files.name, recorded)
    status = _status(str(claimed["status"]), recorded.stops, again.finished)
    history = again.folded(status, claimed.get("volatile", {}))
    if "warnings" not in claimed and not recorded.chain.protected:
        history.pop("warnings", None)  # histories of earlier versions have none
    _compare(files.name, without_volatile(claimed), without_volatile(history))
    if recorded.history not in {None, text_id(text)}:
        raise ReplayDiffers(f"{files.name}: the history's `volatile`, or its spelling, is not what was written")
    protected = bool(recorded.chain.protected)
    return Proof(len(again.entries), again.finished is not None, history, protected, recorded.read_alike)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's members; `ValueError` where a key stands twice, of which other readers may take the other."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key stands twice")
    return members


@dataclass(frozen=True)
class Replayed:
    """A journal's game as far as its decisions go."""

    recorded: Contents
    scenario: Scenario
    game: Game
    play: GamePlay
    entries: list[Entry]

    @property
    def finished(self) -> str | None:
        """What the end is called that the game came to; None where it came to none."""
        return None if self.play.outcome is None else finished_status(self.scenario, self.entries)

    def folded(self, status: str, volatile: Mapping[str, Any]) -> dict[str, Any]:
        """Its history."""
        return folded(
            self.scenario,
            self.game,
            self.play,
            entries=self.entries,
            undecided=self.recorded.undecided(),
            status=status,
            volatile=volatile,
        )


def replayed(name: str, recorded: Contents) -> Replayed:
    """Play a journal; `JournalMismatch` where the rules ask something else, `ReplayDiffers` where they ask for less."""
    scenario, game = restored_scenario(recorded.head)
    play = new_play(scenario, game)
    entries: list[Entry] = []
    wave = play.start()
    while wave is not None:
        found, decisions = recalled(recorded, wave)
        entries += found
        if decisions is None:
            break
        wave = play.answer(decisions)
    play.close()
    if len(entries) < len(recorded.entries):
        raise ReplayDiffers(f"{name}: the journal has {len(recorded.entries)} decisions, {len(entries)} were asked")
    return Replayed(recorded, scenario, game, play, entries)


def _status(claimed: str, stops: Sequence[Stop], finished: str | None) -> str:
    """What the history must call the run's end: the game says whether it is over, the journal how it was stopped."""
    if claimed not in FINISHED and (finished is None or (stops and stops[-1].status == claimed)):
        return claimed  # a killed process leaves no word of how it ended
    return finished or "interrupted"


def _compare(name: str, claimed: Mapping[str, Any], again: Mapping[str, Any]) -> None:
    if json.dumps(claimed) != json.dumps(again):
        raise ReplayDiffers(f"{name}: {_where('', claimed, again)}")


def _where(path: str, claimed: Any, again: Any) -> str:
    """The first place where two values differ, with what stands there."""
    if isinstance(claimed, dict) and isinstance(again, dict):
        for key in dict.fromkeys((*again, *claimed)):
            one, other = claimed.get(key, _MISSING), again.get(key, _MISSING)
            if one is _MISSING or other is _MISSING or json.dumps(one) != json.dumps(other):
                return _where(f"{path}.{key}".removeprefix("."), one, other)
        return f"{path or 'the file'}: the order of keys differs"
    if isinstance(claimed, list) and isinstance(again, list):
        for place, (one, other) in enumerate(zip(claimed, again, strict=False)):
            if json.dumps(one) != json.dumps(other):
                return _where(f"{path}.{place}", one, other)
        return f"{path}: {len(claimed)} in the history, {len(again)} in the replay"
    return f"{path}: {_shown(claimed)} in the history, {_shown(again)} in the replay"


def _shown(value: Any) -> str:
    return "nothing" if value is _MISSING else json.dumps(value)[:80]


def over(files: RunFiles) -> bool:
    """Whether a game has come to its end, told from the journal's last line, without reading the rest."""
    try:
        with files.journal.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            tail = file.read()
        line: Any = json.loads(tail.rstrip(b"\n").rpartition(b"\n")[2])
        return tail.endswith(b"\n") and line["record"] == "stop" and line["status"] in FINISHED
    except (OSError, ValueError, KeyError, TypeError):
        return False


def unfit(files: RunFiles, *, closely: bool = False) -> str | None:
    """What is wrong with the history beside the journal of a game that is over; None where it is that game's.

    Its head is looked at, and that it is JSON to its end; `closely`, which takes twice as long, every record as well,
    and that it is the file that the journal names.
    """
    if not files.history.is_file():
        return "is missing"
    try:
        raw = files.history.read_bytes()
        found = from_json(raw, allow_inf_nan=False)
    except (OSError, ValueError):
        return "is broken"
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        return "is none"
    head = read_head(files.journal)
    if any(found.get(key) != head[key] for key in ("game", "rules_version", "seed")):
        return "is another game's"
    if str(found.get("status")) not in FINISHED:
        return "is older than the game's end"
    if closely:
        try:
            load_history(files.history)
        except UsageError:
            return "is broken"
        if read_journal(files.journal).history not in {None, text_id(raw.decode())}:
            return "is not what was written"
    return None


def rebuilt(files: RunFiles) -> Mapping[str, Any]:
    """The history of a game that is over, played again from its journal and written.

    Raises `JournalError` where the journal cannot be used or does not end the game, `ReplayDiffers` where it says more.
    """
    recorded = read_journal(files.journal)
    again = replayed(files.name, recorded)
    if again.finished is None:
        raise JournalMismatch(f"{files.journal.name} says that the game is over, and its decisions do not end it")
    volatile = volatile_of(again.scenario, recorded, files.name, recorded.stops[-1].at, recorded.wall_s)
    history = again.folded(again.finished, volatile)
    text = dump_history(history)
    end = recorded.stops[-1]
    if end.history not in {None, text_id(text)}:  # other limits, say: the journal names what is written now
        journal = Journal.reopen(files.journal)
        journal.stopped(end.status, end.at, 0.0, text_id(text))
        journal.close()
    write_whole(files.history, text)
    return history
