"""Replay: a run played again from its journal alone, to prove its history or to rebuild it.

The journal is appended to and synced; the history is derived from it. If they differ, the journal is right. No model is
called.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from pydantic_core import from_json

from agentsim.engine.codec import bytes_id
from agentsim.engine.wording import counted
from agentsim.errors import AgentsimError, JournalError, JournalMismatch, UsageError
from agentsim.lazy import dataclass
from agentsim.records.history import FINISHED, History, dump_history, history_bytes
from agentsim.records.journal import Journal, JournalContents, Stop, read_journal
from agentsim.records.load import parsed
from agentsim.records.run_files import RunFiles, read_history, write_history
from agentsim.records.versions import HISTORY_FORMAT
from agentsim.runs.game_in_progress import GameInProgress, volatile_of

_MISSING = object()
_TAIL = 4096


class ReplayDiffers(AgentsimError):
    """The history file does not tell the game of the journal."""


@dataclass(frozen=True)
class Proof:
    """The result of a proof: so many decisions lead to exactly this history; `complete` if the game ended."""

    decisions: int
    complete: bool
    history: Mapping[str, Any] = field(repr=False)


def without_volatile(history: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a history that must be the same in every execution of one game."""
    return {key: value for key, value in history.items() if key != "volatile"}


def prove(files: RunFiles) -> Proof:
    """Play the journal and compare the result with the history.

    Raises `JournalMismatch` if the rules ask something else than the journal answers, `ReplayDiffers` if the resulting
    history is not the one on disk, `JournalError` if either file cannot be used.
    """
    contents = read_journal(files.journal)
    try:
        raw = read_history(files.history)
        claimed = json.loads(raw.decode(), object_pairs_hook=_members)
        claimed["status"], {**claimed.get("volatile", {})}
    except FileNotFoundError:
        raise JournalError(f"{files.name}: there is no history to prove; `agentsim resume` ends the run") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise JournalError(f"{files.history.name}: is not a history") from None
    again = replayed(files.name, contents)
    status = _status(str(claimed["status"]), contents.stops, again.final_status)
    history = json.loads(dump_history(again.history(status, contents, claimed.get("volatile", {}))))
    one, other = without_volatile(claimed), without_volatile(history)
    if json.dumps(one) != json.dumps(other):
        raise ReplayDiffers(f"{files.name}: {_where('', one, other)}")
    if contents.history not in {None, bytes_id([raw])}:
        raise ReplayDiffers(f"{files.name}: the history's `volatile`, or its spelling, is not what was written")
    return Proof(len(again.decisions), again.final_status is not None, history)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object. Raises `ValueError` if a key occurs twice, since JSON readers disagree then."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key occurs twice")
    return members


def replayed(name: str, contents: JournalContents) -> GameInProgress:
    """Play a journal to its end.

    Raises `JournalMismatch` if the rules ask something else than it answers, `ReplayDiffers` if they ask for less.
    """
    played = GameInProgress.of_journal(contents)
    for found in played.replay(contents):
        if not found.is_whole:
            played.advance(found)
            break  # the rules never asked for later records
    played.play.close()
    if len(played.decisions) < len(contents.decisions):
        raise ReplayDiffers(
            f"{name}: the journal has {counted(len(contents.decisions), 'decision')}, "
            f"{len(played.decisions)} were asked"
        )
    return played


def _status(claimed: str, stops: Sequence[Stop], finished: str | None) -> str:
    """Return the status that the history must have.

    The game decides whether it is over, the journal how it was stopped.
    """
    if claimed not in FINISHED and (finished is None or (stops and stops[-1].status == claimed)):
        return claimed  # a killed process records no stop
    return finished or "interrupted"


def _where(path: str, claimed: Any, again: Any) -> str:
    """Describe the first place where two values differ."""
    if isinstance(claimed, dict) and isinstance(again, dict):
        for key in dict.fromkeys((*again, *claimed)):
            one, other = claimed.get(key, _MISSING), again.get(key, _MISSING)
            if one is _MISSING or other is _MISSING or json.dumps(one) != json.dumps(other):
                return _where(f"{path}.{key}".removeprefix("."), one, other)
        return f"{path or 'the file'}: the order of keys differs"
    if isinstance(claimed, list) and isinstance(again, list):
        for index, (one, other) in enumerate(zip(claimed, again, strict=False)):
            if json.dumps(one) != json.dumps(other):
                return _where(f"{path}.{index}", one, other)
        return f"{path}: {len(claimed)} in the history, {len(again)} in the replay"
    one, other = ("nothing" if value is _MISSING else json.dumps(value)[:80] for value in (claimed, again))
    return f"{path}: {one} in the history, {other} in the replay"


def is_over(files: RunFiles) -> bool:
    """Return whether the journal's last line ends the game, without reading the rest."""
    try:
        with files.journal.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            tail = file.read()
        line: Any = json.loads(tail.rstrip(b"\n").rpartition(b"\n")[2])
        return tail.endswith(b"\n") and line["record"] == "stop" and line["status"] in FINISHED
    except (OSError, ValueError, KeyError, TypeError):
        return False


def history_problem(files: RunFiles, *, closely: bool = False) -> str | None:
    """Return what is wrong with the history of a finished game, or None if it belongs to the journal.

    Checks that it is JSON and that its head matches; `closely`, which takes twice as long, also parses every record and
    checks the file against the digest in the journal.
    """
    if not files.history.is_file():
        return "is missing"
    try:
        raw = read_history(files.history)
        found = from_json(raw, allow_inf_nan=False)
    except (OSError, ValueError):
        return "is broken"
    if not isinstance(found, dict) or found.get("format") != HISTORY_FORMAT:
        return "is none"
    head = read_journal(files.journal, most_lines=1).head
    if any(found.get(key) != head[key] for key in ("game", "rules_version", "seed")):
        return "is another game's"
    if str(found.get("status")) not in FINISHED:
        return "is older than the game's end"
    del found  # free the memory of a large history before it is parsed again
    if closely:
        try:
            parsed(raw, files.history)
        except UsageError:
            return "is broken"
        if read_journal(files.journal).history not in {None, bytes_id([raw])}:
            return "is not what was written"
    return None


def rebuild_history(files: RunFiles) -> History:
    """Play a finished game again from its journal, and write its history.

    Raises `JournalError` if the journal cannot be used or its decisions do not end the game, `ReplayDiffers` if it has
    more decisions than the game asked.
    """
    contents = read_journal(files.journal)
    again = replayed(files.name, contents)
    if again.final_status is None:
        raise JournalMismatch(f"{files.journal.name} says that the game is over, and its decisions do not end it")
    end = contents.stops[-1]
    volatile = volatile_of(again.scenario, contents, files.name, end.at, contents.wall_s)
    history = again.history(again.final_status, contents, volatile)

    def named(digest: str) -> None:
        if end.history not in {None, digest}:  # with other limits, for example: the journal must name the new file
            journal = Journal.reopen(files.journal)
            journal.append_stop(end.status, end.at, 0.0, digest)
            journal.close()

    write_history(files, lambda: history_bytes(history), named)
    return history
